package findings

import (
	"fmt"
	"slices"
	"strconv"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// A finding about failures needs leastErrorShare percent of the calls of the methods that fail, or leastErrors calls.
const leastErrorShare, leastErrors = 1, 10

// failures are failed calls with one cause: exceptions of a class, or other failures with the same status whose serialization and
// client have the same most frequent text.
type failures struct {
	cause // only status, aborted and text
	sum
	name                           string // of the status, after a space
	answered                       int32  // the status of responses with an exception, or rpc.NoStatus
	texts, serializations, clients map[string]int64
	methods                        map[*method]int64
}

// failedCalls finds failures by what they have in common.
func failedCalls(k *Collector, e *evidence) {
	var list []*failures
	by := make(map[cause]*failures)
	group := func(c cause) *failures {
		g := by[c]
		if g == nil {
			g = &failures{
				cause: c, texts: make(map[string]int64), serializations: make(map[string]int64), clients: make(map[string]int64),
				methods: make(map[*method]int64),
			}
			by[c] = g
			list = append(list, g)
		}
		return g
	}
	texts := make(map[cause]map[string]int64)
	for _, f := range k.failureOrder {
		if f.text == "" {
			continue
		}
		from := f.origin()
		if texts[from] == nil {
			texts[from] = make(map[string]int64)
		}
		texts[from][f.text] += f.calls
	}
	type mostFrequent struct {
		text  string
		texts int // how many different ones were read
	}
	read := make(map[cause]mostFrequent, len(texts))
	for from, counts := range texts {
		read[from] = mostFrequent{most(counts, text)[0].key, len(counts)}
	}
	for _, f := range k.failureOrder {
		of := cause{status: f.status, aborted: f.aborted, text: f.text}
		if t := read[f.origin()]; f.exception() && f.text == "" && t.texts == 1 || !f.exception() && t.texts > 0 {
			of.text = t.text
		}
		g := group(of)
		if g.calls == 0 {
			g.answered, g.name = f.answered, f.name
		}
		g.add(f.sum)
		g.texts[f.text] += f.calls
		g.serializations[f.serialization] += f.calls
		g.clients[f.client.host] += f.calls
		g.methods[f.method] += f.calls
	}
	for _, g := range list {
		g.find(e)
	}
}

// text is the name of a text for [most].
func text(s string) string { return s }

// exception reports whether the failed calls ended in an exception.
func (c *cause) exception() bool { return c.status == rpc.NoStatus && c.aborted == "" }

// origin returns what failures whose text was not read must share with others to be counted with them: the method of exceptions,
// the serialization and the client of other failures.
func (c *cause) origin() cause {
	if c.exception() {
		return cause{status: c.status, method: c.method}
	}
	return cause{status: c.status, aborted: c.aborted, serialization: c.serialization, client: c.client}
}

// find adds the finding about the failures if they are many enough.
func (g *failures) find(e *evidence) {
	of := int64(0)
	for m := range g.methods {
		of += m.calls
	}
	if g.calls < leastErrors && 100*g.calls < leastErrorShare*of {
		return
	}
	methods := most(g.methods, methodOrder)
	f := methods[0].key.finding(g.first)
	f.Verb, f.Args = "calls", []string{"--state", "error"}
	calls := report.Plural(g.calls, "call")
	if len(methods) > 1 {
		f.Service, f.Method, f.Subject = "", "", report.Plural(int64(len(methods)), "method")
	} else {
		calls = fmt.Sprintf("%s of %s", report.Count(g.calls), report.Plural(of, "call"))
		f.Args = append(f.Args, "--service", f.Service, "--method", f.Method)
	}
	f.Facts = []report.Fact{fact("errors", g.calls), fact("calls", of)}
	e.level = failing
	switch {
	case g.status == unknownStatus:
		f.Text = fmt.Sprintf("%s %s with an unknown status", calls, verb(g.calls, "fails", "fail"))
	case g.status != rpc.NoStatus:
		f.Text = fmt.Sprintf("%s %s with status %d%s", calls, verb(g.calls, "fails", "fail"), g.status, g.name)
		f.Facts = append(f.Facts, fact("status", int64(g.status)))
		f.Args = append(f.Args, "--status", strconv.Itoa(int(g.status)))
	case g.aborted != "":
		f.Text = fmt.Sprintf("%s %s with %s", calls, verb(g.calls, "fails", "fail"), g.aborted)
		f.Facts = append(f.Facts, words("aborted", g.aborted))
		f.Args = append(f.Args, "--error", g.aborted)
	default:
		f.Text = fmt.Sprintf("%s %s in an exception", calls, verb(g.calls, "ends", "end"))
		e.level = hurt
		if g.answered != rpc.NoStatus {
			f.Args = append(f.Args, "--status", strconv.Itoa(int(g.answered)))
		}
	}
	f.Text += g.origins(&f)
	g.reasons(&f)
	if len(methods) > 1 {
		f.Text += "; " + methodCounts(methods)
	}
	f.Facts = append(f.Facts, fact("methods", int64(len(methods))))
	if _, unknown := g.methods[&e.collector.unknown]; unknown {
		f.Verb, f.Args = "", nil
	}
	f.Weight = g.bytes
	e.addCalls(f, g.calls)
}

// origins returns the serializations and the clients of the failures as text, and adds them to the facts and, if there is only
// one, to the command.
func (g *failures) origins(f *report.Finding) string {
	in, from := most(g.serializations, text), most(g.clients, text)
	f.Facts = append(f.Facts, fact("clients", int64(len(from))), fact("serializations", int64(len(in))))
	all := "all "
	if g.calls == 1 {
		all = ""
	}
	line := ", "
	switch len(in) {
	case 1:
		if in[0].key == call.Unknown { // no message tells it
			line = ","
		} else {
			line += all + in[0].key
			all = ""
		}
		f.Facts = append(f.Facts, words("serialization", in[0].key))
		f.Args = append(f.Args, "--serialization", in[0].key)
	default:
		var parts []string
		for _, s := range in {
			parts = append(parts, s.key+" "+report.Count(s.n))
		}
		line += "in " + someOf(parts, 3) + ","
	}
	if len(from) > 1 {
		return line + " from " + report.Plural(int64(len(from)), "client")
	}
	f.Facts = append(f.Facts, words("client", from[0].key))
	f.Args = append(f.Args, "--client", from[0].key)
	return line + " " + all + "from " + from[0].key
}

// reasons adds the texts of the failures to the finding's text, facts and command.
func (g *failures) reasons(f *report.Finding) {
	unread := g.texts[""]
	f.Facts = append(f.Facts, fact("textsRead", g.calls-unread))
	var known []part[string]
	for _, t := range most(g.texts, text) {
		if t.key != "" && t.key != otherText {
			known = append(known, t)
		}
	}
	if len(known) == 0 {
		return
	}
	var parts, names []string
	for _, t := range known {
		names = append(names, t.key)
		parts = append(parts, t.key+" "+report.Count(t.n))
	}
	f.Facts = append(f.Facts, report.Fact{Name: "texts", Names: names[:min(len(names), 20)]})
	if known[0].n+unread == g.calls {
		f.Text += ": " + names[0]
		if unread == 0 {
			glob := "*" + names[0] + "*"
			if g.exception() {
				glob = names[0] // the class of the exception
			}
			f.Args = append(f.Args, "--error", glob)
		}
	} else {
		f.Text += ": " + someOf(parts, 3)
	}
	if unread > 0 {
		f.Text += fmt.Sprintf(" (%s sampled)", report.Count(g.calls-unread))
	}
}

// threads finds servers with an exhausted thread pool.
func threads(k *Collector, e *evidence) {
	for _, x := range k.servers {
		f := report.Finding{Subject: x.server, Frame: x.first.frame, File: x.first.file, Weight: x.bytes}
		f.Text = fmt.Sprintf("rejected %s because it had no free thread (status %d %s)", report.Plural(x.calls, "call"), x.status, x.text)
		f.Facts = []report.Fact{fact("calls", x.calls)}
		f.Verb, f.Args = "calls", []string{"--server", x.server, "--status", strconv.Itoa(int(x.status))}
		e.addCalls(f, x.calls)
	}
}

// unansweredCalls finds requests without a response for longer than the slowest response of the method took.
func unansweredCalls(m *method, e *evidence) {
	u := m.unanswered
	if u == nil {
		return
	}
	if t := e.totals; t.NoResponses() { // one finding instead of one for each method
		if !slices.ContainsFunc(e.list, func(f ranked) bool { return f.Kind == e.kind }) {
			e.addCalls(report.Finding{
				Subject: "responses", Frame: u.at.frame, File: u.at.file, Weight: t.RPCBytes,
				Verb: "calls", Args: []string{"--state", "noResponse"},
				Text: fmt.Sprintf("missing from the capture, which has only the clients' packets of %s; record both directions",
					report.Plural(t.OneSided, "connection")),
				Facts: []report.Fact{fact("unanswered", t.Unanswered), fact("calls", t.Calls-t.OneWay), fact("oneSided", t.OneSided)},
			}, t.Unanswered)
		}
		return
	}
	wait, because := m.longest, "the slowest response took as long"
	if m.answered == 0 {
		wait, because = patience, "Dubbo's default timeout"
	}
	n, last := u.before(e.totals.LastTime - wait)
	if n == 0 {
		return
	}
	late, after := u.calls-n, e.totals.LastTime-last
	f := m.finding(u.at)
	f.Text = fmt.Sprintf("%s of %s %s no response %s or more after the request", report.Count(n),
		report.Plural(m.asked(), "call"), verb(n, "has", "have"), report.Elapsed(after))
	switch {
	case u.until > e.totals.LastTime-wait:
		f.Text += fmt.Sprintf("; %s more are not counted: sent in the last %s, or no longer in memory", report.Count(late), report.Elapsed(wait))
	case late > 0:
		f.Text += fmt.Sprintf("; %s more of the last %s are not counted (%s)", report.Count(late), report.Elapsed(wait), because)
	}
	if m.answered == 0 {
		f.Text += "; the method has no response in the capture"
	}
	if gap := e.totals.Gap; gap > 0 {
		f.Text += fmt.Sprintf("; the capture lacks %s, which may contain responses", report.Volume(gap))
	}
	f.Facts = []report.Fact{
		fact("unanswered", n), fact("calls", m.asked()), fact("late", late), micros("waitMicros", wait), micros("afterMicros", after),
		fact("gapBytes", e.totals.Gap),
	}
	if x := e.totals.Expired; x > 0 {
		f.Text += fmt.Sprintf("; %s of all methods were dropped because too many were open", report.Plural(x, "call"))
		f.Facts = append(f.Facts, fact("givenUp", x))
	}
	f.Weight = scaled(u.bytes, n, u.calls)
	e.addCalls(f, n)
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
		Text: fmt.Sprintf("%s of its payload was retransmitted (%s of %s): packets are lost or acknowledged late", share(t.Repeated, t.Payload),
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
		Subject: "heartbeats and events",
		Text: fmt.Sprintf("%s of Dubbo's bytes on the wire (%s of %s, %s)", share(t.EventBytes, t.RPCBytes),
			report.Volume(t.EventBytes), report.Volume(t.RPCBytes), report.Plural(t.Heartbeats+t.Events, "frame")),
		Facts:  []report.Fact{fact("eventBytes", t.EventBytes), fact("rpcBytes", t.RPCBytes), fact("frames", t.Heartbeats+t.Events)},
		Weight: t.EventBytes,
	})
}
