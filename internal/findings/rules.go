package findings

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

const (
	// payloadLimit is Dubbo's default limit of a body in bytes (parameter payload).
	payloadLimit = 8 << 20
	// leastSampled is the minimum number of sampled requests or responses for a finding about their contents, leastCalls the
	// minimum number of calls for a finding about errors.
	leastSampled, leastCalls = 10, 10
	// maxFindings limits the findings; the first ones are returned.
	maxFindings = 1000
)

// rule finds one kind of finding.
type rule struct {
	kind string
	// urgent findings are about calls that are lost, refused or delayed, not only about bytes. They come first.
	urgent bool
	method func(m *method, e *evidence)    // called for each method, or nil
	all    func(k *Collector, e *evidence) // else called once
}

// rules are in the order of findings of equal weight.
var rules = []rule{
	{kind: "payload-limit", urgent: true, method: nearLimit},
	{kind: "payload-refused", urgent: true, method: refusals},
	{kind: "waited-behind", urgent: true, method: waitedAfterLarge},
	{kind: "header-serialization", all: wrongHeaders},
	{kind: "answer-serialization", all: answeredInOther},
	{kind: "method-serializations", all: methodSerializations},
	{kind: "client-serializations", all: clientSerializations},
	{kind: "dubbo-version", all: versions},
	{kind: "threads-exhausted", urgent: true, all: threads},
	{kind: "errors", method: errorRates},
	{kind: "unanswered", urgent: true, method: unansweredCalls},
	{kind: "names", method: names},
	{kind: "attachments", method: attachments},
	{kind: "envelope", method: envelopes},
	{kind: "compressible", all: compressible},
	{kind: "sent-again", all: sentAgain},
	{kind: "heartbeats", all: heartbeats},
}

// evidence holds the totals of the run, and the findings so far.
type evidence struct {
	totals *pipeline.Totals
	kind   string
	list   []report.Finding
}

func (e *evidence) add(f report.Finding) {
	f.Kind = e.kind
	e.list = append(e.list, f)
}

// finding returns a finding about a method without its text.
func (m *method) finding(at place) report.Finding {
	return report.Finding{
		Service: m.service, Method: m.name, Subject: m.service + "/" + m.name, Frame: at.frame, File: at.file,
	}
}

// Findings returns the findings: urgent ones first, then in descending order of their weight, which is mostly bytes. t has
// the totals of the run.
func (k *Collector) Findings(t *pipeline.Totals) []report.Finding {
	methods := k.order
	if k.unknown.calls > 0 {
		methods = append(slices.Clip(methods), &k.unknown)
	}
	e := &evidence{totals: t, list: []report.Finding{}}
	rank, late := make(map[string]int), make(map[string]int)
	for i := range rules {
		r := &rules[i]
		e.kind = r.kind
		rank[r.kind] = i
		if !r.urgent {
			late[r.kind] = 1
		}
		if r.method != nil {
			for _, m := range methods {
				r.method(m, e)
			}
		} else {
			r.all(k, e)
		}
	}
	slices.SortStableFunc(e.list, func(a, b report.Finding) int {
		return cmp.Or(
			cmp.Compare(late[a.Kind], late[b.Kind]), cmp.Compare(b.Weight, a.Weight), cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(a.Subject, b.Subject),
		)
	})
	return e.list[:min(len(e.list), maxFindings)]
}

// Basis returns the numbers of calls, bodies, methods and clients behind the findings.
func (k *Collector) Basis() *report.FindingsBasis {
	untracked := k.untrackedCalls
	for _, c := range k.clientOrder {
		untracked += c.otherUses
	}
	return &report.FindingsBasis{
		Rules: len(rules), Calls: k.calls, Sampled: k.sampled, Methods: len(k.order), Clients: len(k.clientOrder),
		OtherCalls: k.rest.calls, OtherClientCalls: untracked,
	}
}
