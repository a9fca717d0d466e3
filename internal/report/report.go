// Package report turns the totals and groups of a run into a Report, and that into tables for terminals, Markdown, CSV, JSON,
// folded stacks and pprof profiles; records of frames and calls are printed one at a time. The columns of groups are in one
// list, metrics. The JSON is declared once, by types that also read it back; docs/report.md and docs/saved.md describe it. A
// Report keeps the groups and totals that it is built from, and rendering does not change them. The package does not read
// captures or decode bodies.
package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/jdk"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// Schema names the layout of the JSON report.
const Schema = "dubbo-wire/report/1"

// Report is the sizes of calls by group, and the totals and losses of their capture.
type Report struct {
	Inputs  []Input
	Seconds float64 // from the first to the last packet of all inputs
	// First and Last are the times of the first and last packet, in nanoseconds since the Unix epoch.
	First, Last int64
	Totals      *pipeline.Totals
	// Connections have payload, ConnectionsWithoutData do not.
	Connections, ConnectionsWithoutData int64
	By                                  sizes.By
	Groups                              []*sizes.Group // sorted by key, or as SortBy sorted them
	// Sorted is the argument of SortBy, "" before it is called.
	Sorted string
	// Selected is the sum of the groups.
	Selected sizes.Group
	// Filtered is set if groups have only the calls that match a filter.
	Filtered bool
	// Filters are the flags of the filter with their values, if packets were read, and those that name calls.
	Filters [][2]string
	// Filter is the filter as users write it, if the report was saved with it or is to be saved.
	Filter string
	// Saved is set if the report was read from files, so packets are not available.
	Saved bool
	// Origin is the file of the report, for errors.
	Origin string
	// Golden is set for golden files.
	Golden *Golden
	// Label is the name that the user gave the report, "" for none.
	Label string
	// AddedUp are the labels of inputs whose calls the groups do not tell apart; nil if there are none.
	AddedUp []string
	// Parts is set if all bodies were decoded, so that groups have their bytes by class.
	Parts bool
	// Sampled is set if only the bodies that Group.Sampled counts were decoded.
	Sampled bool
	// Inside is set if groups have bytes by path, of all or of sampled bodies.
	Inside bool
	// Side is the side of the capturing machine in all calls, "" if they were not selected by it.
	Side string
	// Fingerprints are those of the connections, nil if they are not known.
	Fingerprints *pipeline.Fingerprints
	// Stopped says why inputs were not read to their end although none is damaged: a signal, or an error of an interface.
	Stopped []string
	// Remarks are what to tell the user about the sum of reports.
	Remarks []string
	// Pairs is the traffic by client and server, nil if it was not counted.
	Pairs *sizes.Pairs
	// Timeline is the traffic over time, nil if it was not counted.
	Timeline *sizes.Timeline
	// Worst are the calls of presets.
	Worst []*sizes.Worst
	// Details adds a block for each of the top methods. SameMethods is set if groups are those of methods in several serializations.
	Details, SameMethods bool
	// Findings are sorted by weight; nil if rules did not run. Basis is the data that they are based on.
	Findings []Finding
	Basis    *FindingsBasis

	rendered *comparedRows // of the copy of a report that is being printed
}

// Finding is a problem or a chance to save bytes or time, with the numbers that prove it.
type Finding struct {
	// Kind is the name of the rule, such as "payload-limit".
	Kind string
	// Service and Method are "" if the finding is not about one method. Subject is printed in front of it: a method or a client.
	Service, Method, Subject string
	// Protocol is that of the method, "" if all methods have the same.
	Protocol string
	// Text describes the finding with its numbers.
	Text string
	// Facts are the numbers by name, most important first.
	Facts []Fact
	// File and Frame are a frame that shows it, Frame is 0 without one. File is an index of the inputs.
	File  int
	Frame int64
	// Verb and Args are the command that shows it, without files. An empty Verb stands for explain with the frame.
	Verb string
	Args []string
	// Weight is the bytes on the wire that the finding concerns.
	Weight int64
}

// Fact is a number that a finding is based on, or a text or names if these are set.
type Fact struct {
	Name  string
	Value float64
	Text  string
	Names []string
}

// Golden is the tolerances of a golden file as JSON: the general one, and those of methods by name. Missing ones are nil.
type Golden struct {
	Tolerance  json.RawMessage            `json:"tolerance,omitempty"`
	Tolerances map[string]json.RawMessage `json:"tolerances,omitempty"`
}

// Input is one file of the capture.
type Input struct {
	File          string     `json:"file"`
	Format        string     `json:"format"`
	Compression   string     `json:"compression,omitempty"`
	LinkTypes     []string   `json:"linkTypes"`
	Packets       int64      `json:"packets"`
	Bytes         int64      `json:"bytes"`     // on the link
	First         *timestamp `json:"firstTime"` // First and Last are nil without packets
	Last          *timestamp `json:"lastTime"`
	Truncated     int64      `json:"truncatedPackets"` // cut by the snap length
	Damage        []Damage   `json:"damage"`
	DamageLeftOut int64      `json:"damageLeftOut,omitempty"`  // number of damaged places beyond those in Damage
	Dropped       *int64     `json:"droppedPackets,omitempty"` // by the recording machine; nil if unknown
	// Filter is the capture filter, "" if there was none or it is unknown.
	Filter string `json:"filter,omitempty"`
	Err    string `json:"error,omitempty"` // why it could not be opened
	// CutTo is the largest captured length of a packet that was cut; in "snapLengths" of saved reports.
	CutTo int `json:"-"`
}

// Damage is a damaged place of an input.
type Damage struct {
	Packet int64  `json:"packet"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// Build returns the report of a finished run. It keeps the groups and the totals.
func Build(inputs []capture.Input, t *pipeline.Totals, by sizes.By, groups []*sizes.Group) *Report {
	r := &Report{Totals: t, By: by, Groups: groups, First: t.FirstTime, Last: t.LastTime}
	r.Seconds = float64(t.Span()) / 1e9
	for i := range inputs {
		in := &inputs[i]
		out := Input{
			File: in.File, Format: in.Format, Compression: in.Compression, Packets: in.Packets, Bytes: in.Bytes,
			Truncated: in.TruncatedPackets, CutTo: in.TruncatedTo, Filter: in.Filter, DamageLeftOut: in.DamageLeftOut,
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
		r.Selected.MergeSizes(g)
	}
	return r
}

// Problems returns what of the inputs could not be read, in lines: each names the file. A report without any is of complete inputs.
func (r *Report) Problems() []string {
	var lines []string
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Err != "" {
			lines = append(lines, in.Err)
		}
		for _, d := range in.Damage {
			lines = append(lines, in.File+": "+capture.Damage(d).String())
		}
		if in.DamageLeftOut > 0 {
			lines = append(lines, in.File+": "+Plural(in.DamageLeftOut, "damaged place")+" more")
		}
	}
	return append(lines, r.Stopped...)
}

// OtherLinkBytes returns the link bytes that do not belong to a message.
func (r *Report) OtherLinkBytes() int64 { return r.Totals.LinkBytes - r.Totals.RPCBytes }

// Stream returns the captured bytes of all TCP streams, without repetitions.
func (r *Report) Stream() int64 { return r.Totals.TCP.Stream }

// Percent returns the share of complete frames in the bytes of streams with frames, in percent, rounded down.
func (r *Report) Percent() float64 { return math.Floor(r.Totals.Percent()*1e4) / 1e4 }

// SortBy sorts the groups in descending order of "calls", "bytes" (on the link), "request", "response" (mean body bytes),
// "request-max", "response-max" (largest body), "errors" or "latency" (p99). "" and "key" leave them sorted by key. ok is false for
// other names.
func (r *Report) SortBy(name string) (ok bool) {
	i := slices.Index(SortNames(), name)
	if i < 0 {
		return name == ""
	}
	r.Sorted = name
	if by := sortOrders[i].by; by != nil {
		slices.SortStableFunc(r.Groups, func(a, b *sizes.Group) int {
			return cmp.Or(restLast(a, b), cmp.Compare(by(b), by(a)))
		})
	}
	return true
}

// restLast compares so that the row of groups beyond the limit comes last.
func restLast(a, b *sizes.Group) int {
	switch {
	case a.Rest == b.Rest:
		return 0
	case a.Rest:
		return 1
	}
	return -1
}

// SortNames returns the names that SortBy takes.
func SortNames() []string {
	return listOf(sortOrders, func(o sortOrder) string { return o.name })
}

// sortOrder is an order of groups and its wording in titles.
type sortOrder struct {
	name, words string
	by          func(*sizes.Group) float64
}

var sortOrders = []sortOrder{
	{"key", "by name", nil},
	byBytes,
	{"calls", "by calls", func(g *sizes.Group) float64 { return float64(g.Calls) }},
	{"request", "by mean request", func(g *sizes.Group) float64 { return g.Request.Body.Mean() }},
	{"response", "by mean response", func(g *sizes.Group) float64 { return g.ResponseOK.Body.Mean() }},
	{"request-max", "by largest request", func(g *sizes.Group) float64 { return float64(g.Request.Body.Max) }},
	{"response-max", "by largest response", func(g *sizes.Group) float64 { return float64(g.ResponseOK.Body.Max) }},
	{"errors", "by errors", func(g *sizes.Group) float64 { return float64(g.Errors) }},
	{"latency", "by latency p99", func(g *sizes.Group) float64 { return float64(g.Latency.Percentile(99)) }},
}

var byBytes = sortOrder{"bytes", "by bytes on the wire", func(g *sizes.Group) float64 { return float64(g.WireBytes()) }}

// Style is the formatting of tables.
type Style struct {
	Width int  // columns of the terminal; 0: no limit
	Color bool // ANSI colours
	Exact bool // all digits instead of decimal units
	Local bool // local time instead of UTC
	Top   int  // rows of the ranking; 0: the default
	// Sections are the sections to print, in this order; nil: all that the report has.
	Sections []string
	// Explain is the command that shows a frame of the same inputs, without its number, or "".
	Explain string
}

// Rows returns the number of rows to show: Top, or normal if it is not set.
func (s *Style) Rows(normal int) int {
	if s.Top > 0 {
		return s.Top
	}
	return normal
}

// explain returns the command that shows a frame, or "".
func (s *Style) explain(frame int64) string {
	if s.Explain == "" || frame <= 0 {
		return ""
	}
	return s.Explain + " --frame " + formatFrame(frame)
}

// rfc3339 formats nanoseconds since the Unix epoch in UTC with nine digits of fraction.
func rfc3339(ns int64) string { return string(jdk.AppendNanos(nil, ns)) }
