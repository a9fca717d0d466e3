package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// leastErrorShare is the minimum share of failed calls in percent.
const leastErrorShare = 1

// errorRates finds methods with many failed calls.
func errorRates(m *method, e *evidence) {
	if m.calls < leastCalls || 100*m.errors < leastErrorShare*m.calls || m.errors == 0 {
		return
	}
	kinds := slices.Clone(m.failures)
	slices.SortFunc(kinds, func(a, b failure) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.status, b.status))
	})
	f := m.finding(kinds[0].first)
	f.Facts = []report.Fact{fact("errors", m.errors), fact("calls", m.calls)}
	var list []string
	for _, k := range kinds {
		name := "exceptions"
		text := report.Plural(k.calls, "exception")
		switch {
		case k.status != rpc.NoStatus:
			name = fmt.Sprintf("status%d", k.status)
			text = strings.TrimSpace(fmt.Sprintf("%s status %d %s", report.Count(k.calls), k.status, k.text))
		case k.text != "":
			name, text = "aborted", report.Count(k.calls)+" "+k.text
		}
		list = append(list, text)
		f.Facts = append(f.Facts, fact(name, k.calls))
	}
	f.Text = fmt.Sprintf("%s of %s fail (%s): %s", report.Count(m.errors), report.Plural(m.calls, "call"), share(m.errors, m.calls), someOf(list, 3))
	f.Verb, f.Args = "calls", []string{"--service", m.service, "--method", m.name, "--error", "*"}
	if m.service == "?" {
		f.Verb, f.Args = "", nil // the requests are not known
	}
	f.Weight = scaled(m.request.frameBytes+m.response.frameBytes, m.errors, m.calls)
	e.add(f)
}

// threads finds servers with an exhausted thread pool.
func threads(k *Collector, e *evidence) {
	for _, x := range k.servers {
		f := report.Finding{Subject: x.server, Frame: x.first.frame, File: x.first.file, Weight: x.bytes}
		f.Text = fmt.Sprintf("had no thread for %s (status %d %s)", report.Plural(x.calls, "call"), x.status, x.text)
		f.Facts = []report.Fact{fact("calls", x.calls)}
		f.Verb, f.Args = "calls", []string{"--server", x.server, "--status", strconv.Itoa(int(x.status))}
		e.add(f)
	}
}

// unansweredCalls finds requests without a response for longer than the slowest response of the method took.
func unansweredCalls(m *method, e *evidence) {
	u := m.unanswered
	if u == nil {
		return
	}
	if t := e.totals; t.NoResponses() { // one finding instead of one for each method
		if !slices.ContainsFunc(e.list, func(f report.Finding) bool { return f.Kind == e.kind }) {
			e.add(report.Finding{
				Subject: "responses", Frame: u.at.frame, File: u.at.file, Weight: t.RPCBytes,
				Text: fmt.Sprintf("are not in the capture: packets of the clients only on %s; record both directions",
					report.Plural(t.OneSided, "connection")),
				Facts: []report.Fact{fact("unanswered", t.Unanswered), fact("calls", t.Calls-t.OneWay), fact("oneSided", t.OneSided)},
			})
		}
		return
	}
	wait, answers := m.longest, "as long as its longest answer took"
	if m.answered == 0 {
		wait, answers = patience, "for which Dubbo waits by default"
	}
	n, last := u.before(e.totals.LastTime - wait)
	if n == 0 {
		return
	}
	late, after := u.calls-n, e.totals.LastTime-last
	f := m.finding(u.at)
	f.Text = fmt.Sprintf("%s of %s unanswered, with %s or more of capture behind them", report.Count(n),
		report.Plural(m.calls-m.oneWay, "call"), report.Elapsed(after))
	switch {
	case u.until > e.totals.LastTime-wait:
		f.Text += fmt.Sprintf("; %s more not counted: asked in the last %s, or not remembered", report.Count(late), report.Elapsed(wait))
	case late > 0:
		f.Text += fmt.Sprintf("; %s more of the last %s, %s, not counted", report.Count(late), report.Elapsed(wait), answers)
	}
	if m.answered == 0 {
		f.Text += "; none is answered in this capture"
	}
	if gap := e.totals.Gap; gap > 0 {
		f.Text += fmt.Sprintf("; answers may be among %s that the capture lacks", report.Volume(gap))
	}
	f.Facts = []report.Fact{
		fact("unanswered", n), fact("calls", m.calls-m.oneWay), fact("late", late), micros("waitMicros", wait), micros("afterMicros", after),
		fact("gapBytes", e.totals.Gap),
	}
	if x := e.totals.Expired; x > 0 {
		f.Text += fmt.Sprintf("; %s of all methods were given up on, too many waited", report.Count(x))
		f.Facts = append(f.Facts, fact("givenUp", x))
	}
	f.Weight = scaled(u.bytes, n, u.calls)
	e.add(f)
}

const (
	leastSentAgain  = 2  // percent of the payload
	leastHeartbeats = 10 // percent of Dubbo's bytes
)

// sentAgain finds retransmitted payload.
func sentAgain(_ *Collector, e *evidence) {
	t := &e.totals.TCP
	if t.Repeated == 0 || 100*t.Repeated < leastSentAgain*t.Payload {
		return
	}
	e.add(report.Finding{
		Subject: "TCP",
		Text: fmt.Sprintf("%s of its payload was sent again (%s of %s): packets are lost, or acknowledged late", share(t.Repeated, t.Payload),
			report.Volume(t.Repeated), report.Volume(t.Payload)),
		Facts:  []report.Fact{fact("repeatedBytes", t.Repeated), fact("payloadBytes", t.Payload)},
		Weight: t.Repeated,
	})
}

// heartbeats finds captures with a large share of heartbeats and events.
func heartbeats(_ *Collector, e *evidence) {
	t := e.totals
	if t.EventBytes == 0 || 100*t.EventBytes < leastHeartbeats*t.RPCBytes {
		return
	}
	e.add(report.Finding{
		Subject: "heartbeats",
		Text: fmt.Sprintf("and events are %s of Dubbo's bytes on the wire (%s of %s, %s)", share(t.EventBytes, t.RPCBytes),
			report.Volume(t.EventBytes), report.Volume(t.RPCBytes), report.Plural(t.Heartbeats+t.Events, "frame")),
		Facts:  []report.Fact{fact("eventBytes", t.EventBytes), fact("rpcBytes", t.RPCBytes), fact("frames", t.Heartbeats+t.Events)},
		Weight: t.EventBytes,
	})
}
