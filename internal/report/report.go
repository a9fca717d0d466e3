// Package report turns what a run counted into what people and programs read: the JSON of the contract, tables for
// terminals, Markdown and CSV. A report is a value first; renderers print it. It knows no capture and no format of a
// body.
package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// Schema names the layout of the JSON report.
const Schema = "dubbo-wire/report/1"

// Report is the sizes of a capture by group, with what was not seen.
type Report struct {
	Inputs  []Input
	Seconds float64 // last minus first packet of the whole input
	// First and Last are the times of the first and last packet, in nanoseconds since the Unix epoch.
	First, Last int64
	Totals      *pipeline.Totals
	// Connections with payload, and without.
	Connections, ConnectionsWithoutData int64
	By                                  sizes.By
	Groups                              []*sizes.Group // sorted by key, or as asked
	// Sorted is the name that SortBy was given; "" while groups are by key because nothing else was asked for.
	Sorted string
	// Selected is what the groups add up to.
	Selected sizes.Group
	// Filtered: a filter was given, so the groups may lack calls that the coverage has.
	Filtered bool
	// Filter is that filter as users write it; only where the report was saved with it, or is to be.
	Filter string
	// Saved: the report was read back, or is the sum of some that were: it has no packets to look at again.
	Saved bool
	// Origin names the report in errors: its file.
	Origin string
	// Buckets: JSON has the histograms, so that it can be read back.
	Buckets bool
	// Golden: the report is one that others are held to.
	Golden *Golden
	// Label is the name that its user gave it, "" where none was given.
	Label string
	// Parts: bodies were taken apart, so that groups know what their bytes are for.
	Parts bool
	// Sampled: only some of them were, those that groups have as Looked.
	Sampled bool
	// Inside: groups know what their bodies are made of by path; of all bodies, or of those that were looked into.
	Inside bool
	// Pairs is who talks to whom; nil where it was not counted.
	Pairs *sizes.Pairs
	// Timeline is what passed over time; nil where it was not counted.
	Timeline *sizes.Timeline
	// Worst are the calls that presets ask for.
	Worst []*sizes.Worst
	// Details: the top methods have a block each. SameMethods: the groups are those of methods seen in several serializations.
	Details, SameMethods bool
	// Findings is what the calls give reason to act on; nil where it was not looked for. Basis is what they rest on.
	Findings []Finding
	Basis    *FindingsBasis
}

// Finding is something that the capture proves and that costs bytes or time.
type Finding struct {
	// Kind is the name of the rule that found it, for programs: "payload-limit".
	Kind string
	// Service and Method are what it is about, "" where it is about more; Subject is what is printed in front of it: a method,
	// a client.
	Service, Method, Subject string
	// Text says what was found, with its numbers.
	Text string
	// Facts are these numbers by name, in the order in which they matter.
	Facts []Fact
	// File and Frame are the frame that shows it; 0: none. File is an index of the inputs.
	File  int
	Frame int64
	// Verb and Args are the command that shows it, without its files; "": explain and the frame.
	Verb string
	Args []string
	// Weight orders findings: the bytes on the wire that it is about.
	Weight int64
}

// Fact is a number that a finding rests on; or a text, or names, where these are set.
type Fact struct {
	Name  string
	Value float64
	Text  string
	Names []string
}

// Golden is how far sizes may be from those of a report, as JSON: in general, and of methods by name.
type Golden struct {
	Tolerance  json.RawMessage
	Tolerances map[string]json.RawMessage
}

// Input is one file of the capture.
type Input struct {
	File          string     `json:"file"`
	Format        string     `json:"format"`
	Compression   string     `json:"compression,omitempty"`
	LinkTypes     []string   `json:"linkTypes"`
	Packets       int64      `json:"packets"`
	Bytes         int64      `json:"bytes"`     // on the link
	First         *timestamp `json:"firstTime"` // nil without packets
	Last          *timestamp `json:"lastTime"`
	Truncated     int64      `json:"truncatedPackets"` // cut by the snap length
	Damage        []Damage   `json:"damage"`
	DamageLeftOut int64      `json:"damageLeftOut,omitempty"`  // further damaged places that were counted only
	Dropped       *int64     `json:"droppedPackets,omitempty"` // by the recording machine; nil: not recorded
	// Filter is the expression of the packets that were recorded; "" where all were, or the file does not say.
	Filter  string `json:"filter,omitempty"`
	Err     string `json:"error,omitempty"` // why it could not be opened
	SnapLen int    `json:"-"`               // in "snapLengths" of saved reports
}

// Damage is a damaged place of an input.
type Damage struct {
	Packet int64  `json:"packet"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// Build makes a report of a finished run.
func Build(inputs []capture.Input, t *pipeline.Totals, by sizes.By, groups []*sizes.Group) *Report {
	r := &Report{Totals: t, By: by, Groups: groups, First: t.FirstTime, Last: t.LastTime}
	r.Seconds = float64(t.Span()) / 1e9
	for i := range inputs {
		in := &inputs[i]
		out := Input{
			File: in.File, Format: in.Format, Compression: in.Compression, Packets: in.Packets, Bytes: in.Bytes,
			Truncated: in.TruncatedPackets, SnapLen: in.SnapLen, Filter: in.Filter, DamageLeftOut: in.DamageLeftOut,
		}
		if in.Packets > 0 {
			first, last := timestamp(in.FirstTime), timestamp(in.LastTime)
			out.First, out.Last = &first, &last
		}
		if in.Dropped >= 0 {
			out.Dropped = &in.Dropped
		}
		for _, d := range in.Damage {
			out.Damage = append(out.Damage, Damage(d))
		}
		for _, l := range in.LinkTypes {
			out.LinkTypes = append(out.LinkTypes, l.String())
		}
		if in.Err != nil {
			out.Err = in.Err.Error()
		}
		r.Inputs = append(r.Inputs, out)
	}
	r.ConnectionsWithoutData = t.TCP.WithoutData
	r.Connections = t.TCP.Connections - t.TCP.WithoutData
	for _, g := range groups {
		r.Selected.Merge(g)
	}
	return r
}

// OtherLinkBytes is the link bytes that belong to no message.
func (r *Report) OtherLinkBytes() int64 { return r.Totals.LinkBytes - r.Totals.RPCBytes }

// Stream is the captured bytes of all TCP streams, each once.
func (r *Report) Stream() int64 { return r.Totals.TCP.Stream }

// Percent is the share of complete frames in what is known of the streams that carry frames, in percent, never rounded
// up to 100.
func (r *Report) Percent() float64 { return math.Floor(r.Totals.Percent()*1e4) / 1e4 }

// SortBy orders the groups: by "calls", "bytes" (on the link), "request", "response" (mean body bytes), "request-max",
// "response-max" (largest body), "errors",
// "latency" (p99), largest first; "" or "key" leaves them by key. ok is false for any other name.
func (r *Report) SortBy(name string) (ok bool) {
	order, ok := sorters[name]
	if ok {
		r.Sorted = name
	}
	if order.by != nil {
		slices.SortStableFunc(r.Groups, func(a, b *sizes.Group) int {
			return cmp.Or(restLast(a, b), cmp.Compare(order.by(b), order.by(a)))
		})
	}
	return ok
}

// restLast orders the groups beyond the limit behind all others.
func restLast(a, b *sizes.Group) int {
	switch {
	case a.Rest == b.Rest:
		return 0
	case a.Rest:
		return 1
	}
	return -1
}

// SortNames are the names that SortBy takes.
func SortNames() []string {
	return []string{"key", "bytes", "calls", "request", "response", "request-max", "response-max", "errors", "latency"}
}

// sorters are the orders, and how titles say them.
var sorters = map[string]struct {
	words string
	by    func(*sizes.Group) float64
}{
	"":             {"", nil},
	"key":          {"by name", nil},
	"calls":        {"by calls", func(g *sizes.Group) float64 { return float64(g.Calls) }},
	"bytes":        {"by bytes on the wire", func(g *sizes.Group) float64 { return float64(g.WireBytes()) }},
	"request":      {"by mean request", func(g *sizes.Group) float64 { return g.Request.Body.Mean() }},
	"response":     {"by mean response", func(g *sizes.Group) float64 { return g.Response.Body.Mean() }},
	"request-max":  {"by largest request", func(g *sizes.Group) float64 { return float64(g.Request.Body.Max) }},
	"response-max": {"by largest response", func(g *sizes.Group) float64 { return float64(g.Response.Body.Max) }},
	"errors":       {"by errors", func(g *sizes.Group) float64 { return float64(g.Errors) }},
	"latency":      {"by latency p99", func(g *sizes.Group) float64 { return float64(g.Latency.Percentile(99)) }},
}

// Style is how tables are printed.
type Style struct {
	Width int  // columns of the terminal; 0: no limit
	Color bool // ANSI colours
	Exact bool // all digits instead of decimal units
	Local bool // local time instead of UTC
	Top   int  // rows of the ranking; 0: the default
	// Command is the command line that made the report ("analyze trace.pcap"), for hints.
	Command string
	// Explain is the command that shows a frame of the same inputs byte by byte, without its number; "" where there is none.
	Explain string
}

// explain is the command that shows a frame; "" where there is none.
func (s *Style) explain(frame int64) string {
	if s.Explain == "" || frame <= 0 {
		return ""
	}
	return s.Explain + " --frame " + formatFrame(frame)
}

// rfc3339 formats nanoseconds since the Unix epoch in UTC, as machine output has it.
func rfc3339(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z07:00")
}
