package parquet

import (
	"cmp"
	"io"
	"strings"
	"unicode"

	"github.com/parquet-go/parquet-go"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// CoverageSchema is the name and version of the table of coverage, in the metadata of a file.
const CoverageSchema = "dubbo-wire/coverage/1"

// Run is what a row of coverage says of the run, or the part of a run, that wrote the calls.
type Run struct {
	Node  string // the machine that captured, "" if it is not known
	Calls string // the file with the calls
	Error string // why reading ended early, "" if it did not
	Exit  int    // the exit code
	*report.Report
	// Earlier is the report at the end of the file before, whose counts are subtracted; nil for the first or only file of a run.
	Earlier *report.Report
}

// WriteCoverage writes a table of one row: the books of a run.
func WriteCoverage(w io.Writer, r *Run) error {
	t := newTable(w, CoverageSchema, coverageColumns())
	if err := t.add(r); err != nil {
		return err
	}
	return t.Close()
}

// coverageColumns are the columns of the table of coverage: what identifies the run, and each counter of "wire" and "coverage" in the JSON report.
func coverageColumns() []column[Run] {
	columns := []column[Run]{
		{"host", "", "the machine that captured (`--node`)", text, func(r *Run) value { return optional(r.Node) }},
		{"calls", "", "the file with the calls", text, func(r *Run) value { return optional(r.Calls) }},
		{"files", "", "the inputs, one a line", text, func(r *Run) value { return optional(inputs(r)) }},
		{"first_time", "UTC", "of the first packet; of the last packet before, if the same capture wrote an earlier file", instant, func(r *Run) value { return timeOf(r, r.from()) }},
		{"last_time", "UTC", "of the last packet", instant, func(r *Run) value { return timeOf(r, r.Last) }},
		{"exit_code", "", "of the run: 4 if it read a part of its inputs", number, func(r *Run) value { return integer(int64(r.Exit)) }},
		{"error", "", "why reading ended early", text, func(r *Run) value { return optional(r.Error) }},
		{"packets", "", "of all inputs", number, func(r *Run) value { return integer(r.Totals.Packets - r.earlier().Totals.Packets) }},
		{"dropped_packets", "", "by the machines that captured; null if an input does not tell", number, dropped},
		{"percent", "", "of the bytes of the streams, in complete frames, since the start of the run", decimal, func(r *Run) value { return parquet.DoubleValue(r.Percent()) }},
	}
	for i, b := range none.Books() {
		columns = append(columns, column[Run]{snake(b.Name), "", "", number, func(r *Run) value { return integer(r.Books()[i].Count - r.earlier().Books()[i].Count) }})
	}
	return columns
}

// none is the report before a run.
var none = &report.Report{Totals: new(pipeline.Totals)}

func (r *Run) earlier() *report.Report { return cmp.Or(r.Earlier, none) }

func (r *Run) from() int64 {
	if r.Earlier == nil || r.Earlier.Totals.Packets == 0 {
		return r.First
	}
	return r.Earlier.Last
}

func inputs(r *Run) string {
	var names []string
	for _, in := range r.Inputs {
		names = append(names, in.File)
	}
	return strings.Join(names, "\n")
}

// timeOf returns a time in nanoseconds since the Unix epoch, null without packets.
func timeOf(r *Run, ns int64) value {
	if r.Totals.Packets == 0 {
		return null
	}
	return integer(ns / 1000)
}

func dropped(r *Run) value {
	now, nowKnown := droppedBy(r.Inputs)
	before, beforeKnown := droppedBy(r.earlier().Inputs)
	if !nowKnown || !beforeKnown {
		return null
	}
	return integer(now - before)
}

func droppedBy(inputs []report.Input) (sum int64, known bool) {
	for _, in := range inputs {
		if in.Dropped == nil {
			return 0, false
		}
		sum += *in.Dropped
	}
	return sum, true
}

// snake returns the name of a JSON member as that of a column.
func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
