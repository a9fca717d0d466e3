package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// IntervalSchema names the layout of an interval as JSON.
const IntervalSchema = "dubbo-wire/interval/1"

// Interval is a period of a running capture. Bytes are on the link; those of messages are as of the end of their call.
type Interval struct {
	From, To           int64 // the capture's clock, nanoseconds since the Unix epoch
	Packets, LinkBytes int64
	RPCBytes           int64
	Protocols          []string // of the messages so far
	// Dropped is the number of packets that the kernel dropped in it, DroppedInAll since the capture began; -1 if unknown.
	Dropped, DroppedInAll int64
	// RingPercent is how full the kernel's buffer is at the end of the interval.
	RingPercent float64
	// Coverage is the share of complete frames since the capture began, in percent.
	Coverage float64
	By       sizes.By
	Groups   []*sizes.Group // of the calls that ended in it, sorted by key
	// Filtered: a filter was given.
	Filtered bool
}

// report returns the interval as a report without inputs.
func (v *Interval) report() *Report {
	r := Build(nil, &pipeline.Totals{FirstTime: v.From, LastTime: v.To}, v.By, v.Groups)
	r.Filtered = v.Filtered
	return r
}

// WriteText prints the interval as a line and a ranking.
func (v *Interval) WriteText(w io.Writer, s Style) error {
	r := v.report()
	d := &Document{Summary: v.summary(r, &s)}
	if s.Width == 0 { // for programs, in one line
		line := d.Summary + "\n"
		if r.Selected.Calls > 0 {
			line += "\n"
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
		d.Summary = ""
	}
	if r.Selected.Calls > 0 {
		d.Sections = append(d.Sections, r.rankingSection(&s))
	}
	return d.writeText(w, &s)
}

func (v *Interval) summary(r *Report, s *Style) string {
	c := &r.Selected
	words := []string{
		formatTime(v.From, "", s.Local) + " + " + formatSeconds(r.Seconds),
		Plural(c.Calls, "call"),
	}
	words = append(words, errorsText(c, s)...)
	words = append(words, cmp.Or(strings.Join(v.Protocols, ", "), "rpc")+" "+v.mbit(v.RPCBytes), "other "+v.mbit(v.LinkBytes-v.RPCBytes))
	switch {
	case v.Dropped > 0:
		words = append(words, "DROPPED by the kernel "+Plural(v.Dropped, "packet"))
	case v.DroppedInAll >= 0:
		words = append(words, "drops 0")
	}
	words = append(words, fmt.Sprintf("ring %.0f %%", v.RingPercent), "coverage "+formatCoverage(v.Coverage, false))
	return strings.Join(words, ", ")
}

func (v *Interval) mbit(bytes int64) string {
	seconds := float64(v.To-v.From) / 1e9
	if seconds <= 0 {
		return "-"
	}
	rate := 8 * float64(max(bytes, 0)) / seconds / 1e6
	digits := 0
	switch {
	case rate == 0:
	case rate < 0.995:
		digits = 3
	case rate < 99.5:
		digits = 1
	}
	return fmt.Sprintf("%.*f Mbit/s", digits, rate)
}

// jsonInterval is an interval as JSON.
type jsonInterval struct {
	Schema              string       `json:"schema"`
	Time                timestamp    `json:"time"`
	Seconds             float64      `json:"seconds"`
	Packets             int64        `json:"packets"`
	LinkBytes           int64        `json:"linkBytes"`
	RPCBytes            int64        `json:"rpcBytes"`
	Calls               int64        `json:"calls"`
	Errors              int64        `json:"errors"`
	DroppedPackets      *int64       `json:"droppedPackets,omitempty"`
	DroppedPacketsInAll *int64       `json:"droppedPacketsInAll,omitempty"`
	RingPercent         float64      `json:"ringPercent"`
	CoveragePercent     float64      `json:"coveragePercent"`
	By                  []string     `json:"by"`
	Groups              []*jsonGroup `json:"groups"`
}

// WriteJSON prints the interval as one line.
func (v *Interval) WriteJSON(w io.Writer) error {
	r := v.report()
	j := &jsonInterval{
		Schema: IntervalSchema, Time: timestamp(v.To), Seconds: r.Seconds, Packets: v.Packets, LinkBytes: v.LinkBytes, RPCBytes: v.RPCBytes,
		Calls: r.Selected.Calls, Errors: r.Selected.Errors, RingPercent: sizes.Round3(v.RingPercent), CoveragePercent: v.Coverage,
		By: r.keyNames(), Groups: listOf(r.Groups, func(g *sizes.Group) *jsonGroup {
			g.Largest = sizes.Largest{} // its file has no name yet
			j := new(jsonGroup)
			r.jsonGroup(j, g, false)
			return j
		}),
	}
	if v.DroppedInAll >= 0 {
		j.DroppedPackets, j.DroppedPacketsInAll = &v.Dropped, &v.DroppedInAll
	}
	return writeJSON(w, j, true)
}
