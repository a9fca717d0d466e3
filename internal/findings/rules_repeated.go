package findings

import (
	"fmt"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
)

const (
	// maxTargets limits the pairs of a client and the target of a GET in memory.
	maxTargets = 1 << 16
	// A finding about repeated responses needs leastRepeated of them in the sampled calls of a method, which are leastRepeatedShare percent
	// of its responses to a GET, with leastRepeatedBytes in their bodies.
	leastRepeated, leastRepeatedShare, leastRepeatedBytes = 5, 20, 4 << 10
)

// whyRepeated says why a response was sent once more.
type whyRepeated uint8

const (
	noValidator whyRepeated = iota
	ignoredValidator
	notHonoured
)

var repeatedTexts = [...]string{
	noValidator:      "the server sends neither ETag nor Last-Modified, so the client cannot ask for changes only",
	ignoredValidator: "the client ignores ETag or Last-Modified: asked with If-None-Match or If-Modified-Since, the server can answer 304 without a body",
	notHonoured:      "the request has If-None-Match or If-Modified-Since, and the server sends the body nevertheless",
}

// targetKey is a client and a hash of the target of a GET.
type targetKey struct {
	client uint32
	target uint64
}

// lastResponse is the latest response to a targetKey.
type lastResponse struct {
	content   uint64 // hash of the body
	validator bool
}

// repeated counts the sampled responses to GETs of a method, and those of them that have the same body as the one before to the same
// client and target.
type repeated struct {
	responses, bodyBytes    int64
	repeated, repeatedBytes int64
	reasons                 [len(repeatedTexts)]int64
	first                   place
}

// addGET counts a sampled response with status 200 to a sampled GET.
func (k *Collector) addGET(c *call.Call, of *conn, m *method) {
	q, p := c.Request, c.Response
	if m.number == 0 || q.Sample == nil || p.Sample == nil || q.Sample.HTTP == nil || p.Sample.HTTP == nil || p.Next != nil || of.client.untracked {
		return
	}
	asked, answer := q.Sample.HTTP, p.Sample.HTTP
	if asked.Target == 0 || answer.Content == 0 || asked.NoStore || answer.NoStore {
		return
	}
	key := targetKey{of.client.number, asked.Target}
	last, known := k.targets[key]
	if !known && len(k.targets) >= maxTargets {
		return
	}
	k.targets[key] = lastResponse{answer.Content, answer.Validator}
	if m.repeated == nil {
		m.rarely().repeated = new(repeated)
	}
	r, n := m.repeated, int64(p.BodyLen)
	r.responses++
	r.bodyBytes += n
	if !known || last.content != answer.Content {
		return
	}
	if r.repeated == 0 {
		r.first = placeOf(p)
	}
	r.repeated++
	r.repeatedBytes += n
	switch {
	case asked.Conditional:
		r.reasons[notHonoured]++
	case last.validator:
		r.reasons[ignoredValidator]++
	default:
		r.reasons[noValidator]++
	}
}

// repeatedResponses finds GETs whose responses bring the same body again, where 304 would do.
func repeatedResponses(m *method, e *evidence) {
	r := m.repeated
	if r == nil || r.repeated < leastRepeated || 100*r.repeated < leastRepeatedShare*r.responses || r.repeatedBytes < leastRepeatedBytes {
		return
	}
	f := m.finding(r.first)
	f.Text = fmt.Sprintf("%s of %s had the same body as the one before, for the same client and target (%s, %s per response): %s",
		report.Count(r.repeated), report.Plural(r.responses, "sampled response"), report.Volume(r.repeatedBytes), mean(r.repeatedBytes, r.repeated),
		reasons(repeatedTexts[:], r.reasons[:]))
	f.Facts = []report.Fact{
		fact("repeated", r.repeated), fact("looked", r.responses), fact("repeatedBytes", r.repeatedBytes), fact("bodyBytes", r.bodyBytes),
		fact("withoutValidator", r.reasons[noValidator]), fact("validatorIgnored", r.reasons[ignoredValidator]),
		fact("conditionNotHonoured", r.reasons[notHonoured]),
	}
	f.Weight = scaled(m.response.bodyBytes, r.repeatedBytes, r.bodyBytes)
	e.add(f)
}
