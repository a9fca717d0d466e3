package findings

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

const (
	// payloadLimit is Dubbo's default limit of a body in bytes (its parameter payload).
	payloadLimit = 8 << 20
	// leastLooked is how many requests, or responses, of a method must have been looked into before anything is said of what
	// is inside them; leastCalls how many calls a method must have before its errors are told as a share.
	leastLooked, leastCalls = 10, 10
	// maxFindings is how many findings are returned, the first ones.
	maxFindings = 1000
)

// rule looks for one kind of finding.
type rule struct {
	kind string
	// urgent: it tells of calls that are lost, refused or held up, not of bytes alone. Such findings come first.
	urgent bool
	// method is asked about each method, all once.
	method func(m *method, e *evidence)
	all    func(k *Collector, e *evidence)
}

// rules in the order in which findings of one weight are told.
var rules = []rule{
	{kind: "payload-limit", urgent: true, method: nearLimit},
	{kind: "payload-refused", urgent: true, method: refusals},
	{kind: "waited-behind", urgent: true, method: waitedBehind},
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

// evidence is where rules put what they find.
type evidence struct {
	totals *pipeline.Totals
	kind   string
	list   []report.Finding
}

func (e *evidence) add(f report.Finding) {
	f.Kind = e.kind
	e.list = append(e.list, f)
}

// of begins a finding about a method.
func (m *method) of(at place) report.Finding {
	return report.Finding{
		Service: m.service, Method: m.name, Subject: m.service + "/" + m.name, Frame: at.frame, File: at.file,
	}
}

// Findings returns what the calls show: first what is urgent; then that about most bytes first. t is what the run saw.
func (k *Collector) Findings(t *pipeline.Totals) []report.Finding {
	methods := k.order
	if k.nobody.calls > 0 {
		methods = append(slices.Clip(methods), &k.nobody)
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

// Basis says what the findings rest on.
func (k *Collector) Basis() *report.FindingsBasis {
	strangers := k.strangerCalls
	for _, c := range k.clientOrder {
		strangers += c.otherUses
	}
	return &report.FindingsBasis{
		Rules: len(rules), Calls: k.calls, Looked: k.looked, Methods: len(k.order), Clients: len(k.clientOrder),
		OtherCalls: k.rest.calls, OtherClientCalls: strangers,
	}
}
