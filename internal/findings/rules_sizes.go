package findings

import (
	"fmt"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

// directionNames are the names of requests (0) and responses (1).
var directionNames = [2]string{"request", "response"}

// nearLimit finds bodies of at least half of Dubbo's payload limit.
func nearLimit(m *method, e *evidence) {
	for i, d := range []*direction{&m.request, &m.response} {
		n := d.near
		if n == nil || n.limit == 0 || 2*n.largest < n.limit {
			continue
		}
		largest, limit := int64(n.largest), int64(n.limit)
		what := directionNames[i]
		f := m.finding(n.at)
		f.Text = fmt.Sprintf("its largest %s has %s bytes, %s of Dubbo's default payload limit of %s bytes", what,
			report.Count(largest), share(largest, limit), report.Count(limit))
		if largest > limit {
			f.Text += "; Dubbo refuses it unless the limit is raised"
		}
		if n.cut {
			f.Text += "; the capture lacks a part of it"
		}
		f.Facts = []report.Fact{
			words("direction", what), fact("bodyBytes", largest), fact("limit", limit),
			fact("overHalf", n.messages), fact("whole", number01(!n.cut)),
		}
		f.Weight = n.bytes
		e.addCalls(f, n.messages)
	}
}

// refusals finds responses that a peer refused to send because of its payload limit.
func refusals(m *method, e *evidence) {
	s := m.refused
	if s == nil {
		return
	}
	f := m.finding(s.first)
	f.Text = fmt.Sprintf("%s refused: Data length too large: %s, max payload: %s", report.Plural(s.calls, "response"),
		report.Count(s.largest), report.Count(s.limit))
	f.Facts = []report.Fact{fact("calls", s.calls), fact("bodyBytes", s.largest), fact("limit", s.limit)}
	f.Weight = s.calls * s.largest
	e.addCalls(f, s.calls)
}

// waitedAfterLarge finds calls whose responses waited after large ones on the same connection.
func waitedAfterLarge(m *method, e *evidence) {
	w := m.waits
	if w == nil || w.calls == 0 {
		return
	}
	f := m.finding(w.at)
	f.Text = fmt.Sprintf("%s waited for its large responses, up to %s", report.Plural(w.calls, "other call"), report.Elapsed(w.longest))
	hit := most(w.methods, methodOrder)
	f.Text += ": " + methodCounts(hit)
	f.Facts = []report.Fact{
		fact("calls", w.calls), micros("longestMicros", w.longest), micros("totalMicros", w.total),
		fact("largeBodyBytes", largeResponse), fact("waitingFrame", w.waiter.frame), fact("methods", int64(len(hit))),
	}
	if w.unclear > 0 {
		f.Facts = append(f.Facts, fact("unclear", w.unclear))
	}
	f.Weight = m.response.frameBytes
	e.addCalls(f, w.calls)
}

const (
	leastNamesShare, leastNames = 20, 50 // percent of the bodies; bytes per body
	leastEnvelopeShare          = 60     // percent
)

// names finds bodies with many bytes of names of classes and fields.
func names(m *method, e *evidence) {
	for i, l := range m.samples {
		if l == nil {
			continue
		}
		n := l.classes[decode.ClassNames]
		if l.messages < leastSampled || 100*n < leastNamesShare*l.bodyBytes || n < leastNames*l.messages {
			continue
		}
		what := directionNames[i]
		f := m.finding(l.names)
		f.Text = fmt.Sprintf("class and field names are %s of its %s bytes (%s of %s per body, %s sampled)",
			share(n, l.bodyBytes), what, mean(n, l.messages), mean(l.bodyBytes, l.messages), report.Plural(l.messages, what))
		f.Facts = []report.Fact{
			words("direction", what), fact("nameBytes", n), fact("bodyBytes", l.bodyBytes), fact("looked", l.messages),
		}
		f.Weight = scaled(m.side(i).bodyBytes, n, l.bodyBytes)
		e.add(f)
	}
}

// side returns the requests (0) or responses (1).
func (m *method) side(i int) *direction {
	if i == 0 {
		return &m.request
	}
	return &m.response
}

// envelopes finds requests that consist mostly of versions, service, method and types.
func envelopes(m *method, e *evidence) {
	l := m.samples[0]
	if l == nil {
		return
	}
	n := l.classes[decode.ClassEnvelope]
	if l.messages < leastSampled || n == 0 || 100*n < leastEnvelopeShare*l.bodyBytes {
		return
	}
	f := m.finding(m.largestRequestAt)
	what := "versions, service, method and types are"
	if m.protocol != nil && !m.protocol.Numbered { // the others are in headers
		what = "names of the serialization and of types are"
	}
	f.Text = fmt.Sprintf("%s %s of its request bytes (%s of %s per request, %s sampled)", what,
		share(n, l.bodyBytes), mean(n, l.messages), mean(l.bodyBytes, l.messages), report.Count(l.messages))
	f.Facts = []report.Fact{fact("envelopeBytes", n), fact("bodyBytes", l.bodyBytes), fact("looked", l.messages)}
	f.Weight = scaled(m.request.bodyBytes, n, l.bodyBytes)
	e.add(f)
}
