package findings

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

const (
	// leastSampled is the minimum number of sampled requests or responses for a finding about their contents.
	leastSampled = 3
	// maxFindings limits the findings; the first ones are returned.
	maxFindings = 1000
)

// rule finds one kind of finding.
type rule struct {
	kind   string
	level  level
	method func(m *method, e *evidence)    // called for each method, or nil
	all    func(k *Collector, e *evidence) // else called once
}

// level is what a finding means to users: those of a lower one come first.
type level uint8

const (
	failing level = iota + 1 // calls that fail, are refused or get no response
	hurt                     // calls that are delayed, end in an exception, or are close to a limit
	heavy                    // bytes only
	fixed                    // bytes that no setting avoids
	unread                   // what was not measured: bytes that were not decoded, and paths that are counted as many methods
)

// rules are in the order of findings of equal weight.
var rules = []rule{
	{kind: "payload-limit", level: hurt, method: nearLimit},
	{kind: "payload-refused", level: failing, method: refusals},
	{kind: "waited-behind", level: hurt, method: waitedAfterLarge},
	{kind: "late-responses", level: failing, all: lateResponses},
	{kind: "retries", level: hurt, all: retriedCalls},
	{kind: "header-serialization", level: heavy, all: wrongHeaders},
	{kind: "answer-serialization", level: heavy, all: answeredInOther},
	{kind: "method-serializations", level: heavy, all: methodSerializations},
	{kind: "client-serializations", level: heavy, all: clientSerializations},
	{kind: "dubbo-version", level: heavy, all: versions},
	{kind: "threads-exhausted", level: failing, all: threads},
	{kind: "errors", level: failing, all: failedCalls},
	{kind: "unanswered", level: failing, method: unansweredCalls},
	{kind: "keep-alive", level: hurt, all: shortConnections},
	{kind: "flow-control", level: hurt, method: stalledMessages},
	{kind: "names", level: heavy, method: names},
	{kind: "sent-defaults", level: heavy, method: sentDefaults.find},
	{kind: "unknown-fields", level: heavy, method: undeclared.find},
	{kind: "never-set", level: heavy, method: neverSet.find},
	{kind: "attachments", level: heavy, all: attachments},
	{kind: "envelope", level: heavy, method: envelopes},
	{kind: "headers", level: heavy, all: heavyHeaders},
	{kind: "header-compression", level: heavy, all: badlyCompressedHeaders},
	{kind: "cookies", level: heavy, all: heavyCookies},
	{kind: "compressed-larger", level: heavy, all: largerThanPlain},
	{kind: "compressible", level: heavy, all: compressible},
	{kind: "repeated-responses", level: heavy, method: repeatedResponses},
	{kind: "sent-again", level: heavy, all: sentAgain},
	{kind: "heartbeats", level: heavy, all: heartbeats},
	{kind: "routes", level: unread, all: routes},
	{kind: "other-classes", level: unread, all: misfits},
	{kind: "missing-classes", level: unread, all: missingClasses},
}

// evidence holds the totals of the run, and the findings so far.
type evidence struct {
	totals    *pipeline.Totals
	collector *Collector
	kind      string
	level     level // of the next finding
	list      []ranked
}

// ranked is a finding with what it is ranked by.
type ranked struct {
	report.Finding
	level level
	calls int64 // that fail or are delayed
	rule  int
}

// add adds a finding about bytes.
func (e *evidence) add(f report.Finding) { e.addCalls(f, 0) }

// addCalls adds a finding about calls that fail or are delayed.
func (e *evidence) addCalls(f report.Finding, calls int64) {
	f.Kind = e.kind
	e.list = append(e.list, ranked{Finding: f, level: e.level, calls: calls})
}

// finding returns a finding about a method without its text.
func (m *method) finding(at place) report.Finding {
	f := report.Finding{
		Service: m.service, Method: m.name, Subject: m.service + "/" + m.name, Frame: at.frame, File: at.file,
	}
	if m.protocol != nil {
		f.Protocol = m.protocol.Name
	}
	return f
}

// setProtocols removes the protocols of findings that are not about one method, or if all methods have the same. The commands of
// others select by them.
func (e *evidence) setProtocols() {
	methods := e.collector.order
	several := slices.ContainsFunc(methods, func(m *method) bool { return m.protocol != methods[0].protocol })
	for i := range e.list {
		f := &e.list[i]
		switch {
		case f.Service == "" || !several:
			f.Protocol = ""
		case f.Verb != "":
			f.Args = append(slices.Clip(f.Args), "--protocol", f.Protocol)
		}
	}
}

// Findings returns the findings, worst first: by level, then by the calls that fail or are delayed, then by weight, which is
// mostly bytes. t has the totals of the run.
func (k *Collector) Findings(t *pipeline.Totals) []report.Finding {
	methods := k.order
	if k.unknown.calls > 0 {
		methods = append(slices.Clip(methods), &k.unknown)
	}
	e := &evidence{totals: t, collector: k}
	for i := range rules {
		r, from := &rules[i], len(e.list)
		e.kind, e.level = r.kind, r.level
		if r.method != nil {
			for _, m := range methods {
				r.method(m, e)
			}
		} else {
			r.all(k, e)
		}
		for j := range e.list[from:] {
			e.list[from+j].rule = i
		}
	}
	e.setProtocols()
	slices.SortStableFunc(e.list, func(a, b ranked) int {
		return cmp.Or(
			cmp.Compare(a.level, b.level), cmp.Compare(b.calls, a.calls), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.rule, b.rule),
			cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Text, b.Text),
		)
	})
	list := make([]report.Finding, min(len(e.list), maxFindings))
	for i := range list {
		list[i] = e.list[i].Finding
	}
	return list
}

// Basis returns the numbers of calls, bodies, methods and clients behind the findings.
func (k *Collector) Basis() *report.FindingsBasis {
	untracked := k.untrackedCalls
	for _, c := range k.clientOrder {
		untracked += c.otherUses
	}
	return &report.FindingsBasis{
		Rules: len(rules), Calls: k.calls, Sampled: k.sampled, Methods: len(k.order), Clients: len(k.clientOrder),
		OtherCalls: k.rest.calls, OtherClientCalls: untracked, OtherFailures: k.untrackedFailures,
	}
}
