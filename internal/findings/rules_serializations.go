package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
)

// wrongHeaders finds messages whose header names another serialization than the body uses.
func wrongHeaders(k *Collector, e *evidence) {
	for _, l := range slices.SortedFunc(maps.Values(k.mislabelled), func(a, b *mislabelled) int {
		return cmp.Or(cmp.Compare(b.frames, a.frames), cmp.Compare(a.first.frame, b.first.frame))
	}) {
		what, sender := "response", "server"
		if l.request {
			what, sender = "request", "client"
		}
		from := most(l.senders, func(s string) string { return s })
		of := most(l.methods, methodOrder)
		f := report.Finding{Subject: from[0].key, Frame: l.first.frame, File: l.first.file, Weight: l.bytes}
		if len(from) > 1 {
			f.Subject = report.Plural(int64(len(from)), sender)
		}
		if len(of) == 1 {
			f.Service, f.Method = of[0].key.service, of[0].key.name
		}
		is := "are in %s, but their headers say"
		if l.frames == 1 {
			is = "is in %s, but its header says"
		}
		f.Text = fmt.Sprintf("%s "+is+" %s", report.Plural(l.frames, what), l.body, l.header)
		f.Text += ": " + methodCounts(of)
		var names []string
		for _, s := range from[:min(len(from), 20)] {
			names = append(names, s.key)
		}
		f.Facts = []report.Fact{
			words("direction", what), words("header", l.header), words("body", l.body), fact("frames", l.frames),
			fact("senders", int64(len(from))),
			{Name: "senderNames", Names: names},
			fact("methods", int64(len(of))),
		}
		e.add(f)
	}
}

// answered counts the calls in one serialization with a response in another one.
type answered struct {
	sum
	request, response string
	methods           map[*method]int64
}

// answeredInOther finds calls whose response uses another serialization than the request. An operation of plain HTTP has its own media
// types for both; its calls are found if their responses have several.
func answeredInOther(k *Collector, e *evidence) {
	by := make(map[[2]string]*answered)
	of := make(map[string]int64) // answered calls by serialization of the request
	var list []*answered
	for _, m := range append(slices.Clip(k.order), &k.unknown) {
		for i := range m.uses {
			u := &m.uses[i]
			if u.other == "" {
				continue
			}
			of[u.serialization] += u.calls
			if u.other == u.serialization || m.protocol.Asks(u.serialization, u.other) || m.protocol != nil && m.protocol.PlainHTTP && !m.uses.severalAnswers(u.serialization) {
				continue
			}
			pair := [2]string{u.serialization, u.other}
			a := by[pair]
			if a == nil {
				a = &answered{request: u.serialization, response: u.other, methods: make(map[*method]int64)}
				by[pair] = a
				list = append(list, a)
			}
			a.add(u.sum)
			a.methods[m] += u.calls
		}
	}
	for _, a := range list {
		methods := most(a.methods, methodOrder)
		f := methods[0].key.finding(a.first)
		if len(methods) > 1 {
			f.Service, f.Method, f.Subject = "", "", report.Plural(int64(len(methods)), "method")
		}
		f.Text = fmt.Sprintf("%s of %s in %s have responses in %s", report.Count(a.calls), report.Plural(of[a.request], "answered call"),
			a.request, a.response)
		if len(methods) > 1 {
			f.Text += ": " + methodCounts(methods)
		}
		f.Facts = []report.Fact{
			words("request", a.request), words("response", a.response), fact("calls", a.calls), fact("answered", of[a.request]),
			fact("methods", int64(len(methods))),
		}
		f.Weight = a.bytes
		e.add(f)
	}
}

// severalAnswers reports whether requests in a serialization have responses in several.
func (u uses) severalAnswers(serialization string) bool {
	n := 0
	for i := range u {
		if u[i].serialization == serialization && u[i].other != "" {
			n++
		}
	}
	return n > 1
}

func methodName(m *method) string { return m.service + "/" + m.name }

// methodOrder is the name of a method for [most]. Methods of one name differ in their protocols.
func methodOrder(m *method) string {
	if m.protocol == nil {
		return methodName(m)
	}
	return methodName(m) + "\x00" + m.protocol.Name
}

// methodCounts returns the first three methods with their counts as text.
func methodCounts(list []part[*method]) string {
	var texts []string
	for _, m := range list[:min(len(list), 3)] {
		name := m.key.name
		if m.key.protocol != nil && slices.ContainsFunc(list, func(o part[*method]) bool { return o.key != m.key && methodName(o.key) == methodName(m.key) }) {
			name += " (" + m.key.protocol.Name + ")" // methods of one name differ in their protocols
		}
		texts = append(texts, name+" "+report.Count(m.n))
	}
	return listed(texts, len(list)-len(texts))
}

// tally has the calls by serialization.
type tally map[string]*sum

func (t tally) add(serialization string, calls sum) {
	if t[serialization] == nil {
		t[serialization] = new(sum)
	}
	t[serialization].add(calls)
}

// mixture is a set of methods or clients with the same serializations.
type mixture struct {
	tally
	who    []string
	method *method // the first one; nil for clients
	bytes  int64
}

// mixtures groups methods or clients with more than one serialization by the set of serializations.
type mixtures struct {
	list []*mixture
	by   map[string]*mixture
}

func (x *mixtures) add(t tally, who string, m *method) {
	if len(t) < 2 {
		return
	}
	set := slices.Sorted(maps.Keys(t))
	key := strings.Join(set, ",")
	g := x.by[key]
	if g == nil {
		g = &mixture{tally: make(tally), method: m}
		if x.by == nil {
			x.by = make(map[string]*mixture)
		}
		x.by[key] = g
		x.list = append(x.list, g)
	}
	for _, s := range set {
		g.add(s, *t[s])
		g.bytes += t[s].bytes
	}
	g.who = append(g.who, who)
}

// finding returns the finding about a mixture: "41 methods are called in hessian2 (1,060 calls) and kryo (131)".
func (g *mixture) finding(one, verb string) report.Finding {
	rare := slices.SortedFunc(maps.Keys(g.tally), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.tally[b].calls, g.tally[a].calls), cmp.Compare(a, b))
	})
	at := g.tally[rare[len(rare)-1]].first
	f := report.Finding{Subject: g.who[0], Frame: at.frame, File: at.file, Weight: g.bytes}
	if len(g.who) > 1 {
		f.Subject = report.Plural(int64(len(g.who)), one)
	} else if g.method != nil {
		f.Service, f.Method = g.method.service, g.method.name
	}
	var parts []string
	for _, s := range rare {
		parts = append(parts, s+" ("+report.Plural(g.tally[s].calls, "call")+")")
		f.Facts = append(f.Facts, fact("calls."+s, g.tally[s].calls))
	}
	f.Text = verb + " " + both(parts, 4)
	names := slices.Sorted(slices.Values(g.who))
	if len(names) > 1 {
		short := names
		if g.method != nil {
			short = report.ShortNames(names, 2)
		}
		f.Text += ": " + someOf(short, 3)
	}
	f.Facts = append(f.Facts, fact(one+"s", int64(len(names))), report.Fact{Name: one + "Names", Names: names[:min(len(names), 20)]})
	return f
}

// methodSerializations finds methods with requests in several serializations.
func methodSerializations(k *Collector, e *evidence) {
	var x mixtures
	for _, m := range k.order {
		if len(m.uses) > 1 {
			x.add(m.uses.tally(), methodName(m), m)
		}
	}
	for _, g := range x.list {
		f := g.finding("method", "called in")
		f.Verb, f.Args = "analyze", []string{"--by", "service,method,serialization"}
		if f.Service != "" {
			f.Args = append(f.Args, "--service", f.Service, "--method", f.Method)
		}
		e.add(f)
	}
}

// clientSerializations finds clients with requests in several serializations.
func clientSerializations(k *Collector, e *evidence) {
	var x mixtures
	for _, c := range k.clientOrder {
		if len(c.uses) > 1 {
			x.add(c.uses.tally(), c.host, nil)
		}
	}
	for _, g := range x.list {
		f := g.finding("client", "sends")
		if len(g.who) > 1 {
			f.Text = strings.Replace(f.Text, "sends", "send", 1)
		}
		f.Verb, f.Args = "analyze", []string{"--by", "client,serialization"}
		e.add(f)
	}
}

// version counts the requests with one Dubbo version.
type version struct {
	sum
	text    string
	clients []string
}

// versionName describes the version that clients send. Dubbo has the same one since 2.6.3, earlier releases often their own number.
func versionName(text string) string {
	const since263 = "2.0.2"
	switch {
	case text == since263:
		return "protocol version " + text + " (2.6.3 and later)"
	case strings.Trim(text, "0123456789.") == "" && text != "":
		return "protocol version " + text
	}
	return "protocol version " + strconv.Quote(text)
}

// versions finds clients that send another Dubbo version than most.
func versions(k *Collector, e *evidence) {
	by := make(map[string]*version)
	for _, c := range k.clientOrder {
		for i := range c.uses {
			u := &c.uses[i]
			if u.other == noVersion {
				continue
			}
			v := by[u.other]
			if v == nil {
				v = &version{text: u.other}
				by[u.other] = v
			}
			v.add(u.sum)
			if n := len(v.clients); n == 0 || v.clients[n-1] != c.host {
				v.clients = append(v.clients, c.host)
			}
		}
	}
	if len(by) < 2 {
		return
	}
	list := slices.SortedFunc(maps.Values(by), func(a, b *version) int {
		return cmp.Or(cmp.Compare(len(b.clients), len(a.clients)), cmp.Compare(b.calls, a.calls), cmp.Compare(a.text, b.text))
	})
	usual := list[0]
	for _, v := range list[1:] {
		slices.Sort(v.clients)
		f := report.Finding{Subject: v.clients[0], Frame: v.first.frame, File: v.first.file, Weight: v.bytes}
		sends := "sends"
		if len(v.clients) > 1 {
			f.Subject, sends = report.Plural(int64(len(v.clients)), "client"), "send"
		}
		f.Text = fmt.Sprintf("%s %s (%s); most send %s (%s, %s)", sends, versionName(v.text), report.Plural(v.calls, "call"),
			versionName(usual.text), report.Plural(usual.calls, "call"), report.Plural(int64(len(usual.clients)), "client"))
		if len(v.clients) > 1 {
			f.Text += ": " + someOf(v.clients, 3)
		}
		f.Facts = []report.Fact{
			words("version", v.text), fact("calls", v.calls), fact("clients", int64(len(v.clients))),
			{Name: "clientNames", Names: v.clients[:min(len(v.clients), 20)]},
			words("usualVersion", usual.text), fact("usualCalls", usual.calls), fact("usualClients", int64(len(usual.clients))),
		}
		f.Verb, f.Args = "analyze", []string{"--by", "client,dubboVersion"}
		e.add(f)
	}
}
