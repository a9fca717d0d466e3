package report

import (
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// comparison compares the serializations, or the groups if calls are not grouped by serialization.
func (r *Report) comparison(s *Style) Section {
	metrics, numbers := r.metricsIn(inComparison)
	numbersOf := func(g *sizes.Group) []cell { return r.cellsOf(metrics, g, 0, r.nanos()) }
	sec, apart, rows := r.comparedTable(s, numbers, numbersOf, func(g *sizes.Group) []cell {
		if failed := manyFailed(g); failed != nil {
			return numbersOf(failed)
		}
		return nil
	})
	have := plural(r.Selected.Calls, "call has", "calls have")
	if r.Totals.IncompleteBytes > 0 {
		have = "complete frames of the " + plural(r.Selected.Calls, "call have", "calls have")
	}
	what := "Sizes are body bytes"
	if !oneProtocol(r) {
		what += ", or mean frame bytes with the header; control bytes are heartbeats and the like, per call of the protocol"
	}
	sec.note(what+"; p50 and p99 are within 1 %%. Shares are of the %s that the %s on the wire.", bytesText(r.Selected.WireBytes(), s), have)
	if o := r.Selected.NotOK; o != nil {
		words := "Response sizes are of successful calls"
		if o.Other.Body.Count > 0 {
			words += " with a response in the request's serialization"
		}
		if o.Error.Body.Count > 0 {
			words += fmt.Sprintf(". %s of failed calls: %s on the wire", Plural(o.Error.Body.Count, "response"), bytesText(o.Error.Wire.Total, s))
		}
		sec.note("%s.", words)
	}
	if text := r.uncompressedText(s); text != "" {
		sec.note("%s", text)
	}
	if n := r.Selected.OtherAnswers; apart && n > 0 && r.keyIndex(sizes.ResponseSerialization) < 0 {
		sec.note("Rows are grouped by the request's serialization; %s another one: --by serialization,responseSerialization",
			plural(n, "response uses", "responses use"))
	}
	if apart && rows > 1 {
		sec.Notes = append(sec.Notes, r.sameMethods()...)
	}
	return sec
}

// uncompressedText says how large the bodies are without compression, "" if none is compressed or the size of some is not known.
func (r *Report) uncompressedText(s *Style) string {
	bodies, plain := int64(0), int64(0)
	for _, d := range []*sizes.Direction{&r.Selected.Request, r.Selected.Response()} {
		u := d.Uncompressed
		if u == nil {
			u = &d.Body
		}
		if u.Count != d.Body.Count {
			return ""
		}
		bodies += d.Body.Total
		plain += u.Total
	}
	if !r.compressed() {
		return ""
	}
	return fmt.Sprintf("Compressed bodies count as they were sent. Without compression the %s of all bodies would be %s.", bytesText(bodies, s), bytesText(plain, s))
}

// comparedTable returns a table with the rows of the comparison, whether they are serializations, and their number. numbers are the
// columns after the labels, numbersOf their cells. below returns the cells of a further row for failed calls, or nil; it may be nil.
func (r *Report) comparedTable(s *Style, numbers []Column, numbersOf, below func(*sizes.Group) []cell) (sec Section, apart bool, all int) {
	keys, apart, rows := r.compared()
	label := r.labels(keys)
	columns := label.columns
	sec.Title = "BY " + r.keyTitle(columns)
	if r.keyIndex(sizes.Serialization) >= 0 {
		sec.Title = "BY SERIALIZATION"
	}
	names := len(columns)
	if names == 1 {
		columns[0].Name = ""
	}
	sec.Columns = append(columns, numbers...)
	shown := rows
	if top := s.Rows(DefaultTop); !apart && len(rows) > top {
		shown = rows[:top]
	}
	for _, m := range shown {
		cells := spanningLabel(beyondText(m.Groups), names)
		if !m.Rest {
			cells = label.cells(m.Values)
		}
		sec.add(s, append(cells, numbersOf(m)...)...)
		if below == nil {
			continue
		}
		if more := below(m); more != nil {
			sec.add(s, append(spanningLabel(failedRow, names), more...)...)
		}
	}
	if rest := rows[len(shown):]; len(rest) > 0 {
		sec.add(s, append(spanningLabel(moreText(len(rest), len(rows)), names), numbersOf(sumOf(rest))...)...)
	}
	return sec, apart, len(rows)
}

// failedRow is the label of the row of a group's failed calls.
const failedRow = "  failed calls"

// manyFailed returns the failed calls of a group with their responses as a group, or nil if fewer than a tenth of its calls failed and
// their responses are less than a quarter of its bytes on the wire.
func manyFailed(g *sizes.Group) *sizes.Group {
	if g.NotOK == nil || 10*g.Errors < g.Calls && 4*g.NotOK.Error.Wire.Total < g.WireBytes() {
		return nil
	}
	return &sizes.Group{Calls: g.Errors, Errors: g.Errors, ResponseOK: g.NotOK.Error}
}

// compared returns the rows of a comparison: groups summed by serialization, or by all keys if serialization is not one of them
// (then apart is false).
func (r *Report) compared() (keys []int, apart bool, rows []*sizes.Group) {
	if c := r.rendered; c != nil {
		if c.rows == nil {
			c.keys, c.apart, c.rows = r.compare()
		}
		return c.keys, c.apart, slices.Clone(c.rows)
	}
	return r.compare()
}

// comparedRows is what compare returned, nil before.
type comparedRows struct {
	keys  []int
	apart bool
	rows  []*sizes.Group
}

// once returns a copy of the report for one rendering, which sums the rows of the comparison once: several sections have them, and there may
// be many groups.
func (r *Report) once() *Report {
	c := *r
	c.rendered = new(comparedRows)
	return &c
}

func (r *Report) compare() (keys []int, apart bool, rows []*sizes.Group) {
	for i, k := range r.By.Keys {
		if k == sizes.Protocol || k == sizes.Serialization {
			keys = append(keys, i)
		}
	}
	if apart = len(keys) > 0; !apart {
		keys = indexes(len(r.By.Keys))
	}
	rows = r.merge(keys)
	if apart || r.Sorted == "" && !r.byTime() {
		sortByWire(rows)
	}
	return keys, apart, rows
}

// keyTitle returns the names of the keys in upper case, without the time step.
func (r *Report) keyTitle(columns []Column) string {
	names := listOf(columns, func(c Column) string {
		name, _, _ := strings.Cut(c.Name, ":")
		return name
	})
	return strings.ToUpper(strings.Join(names, ", "))
}

// spanningLabel returns the label of a row that sums several groups. It is in the last of n columns, which is the widest.
func spanningLabel(text string, n int) []cell {
	cells := make([]cell, n)
	for i := range cells {
		cells[i] = textCell("")
	}
	if n > 0 {
		cells[n-1] = textCell(text)
	}
	return cells
}

// byTime reports whether groups are in time order. They are then not ranked unless the user asks for an order.
func (r *Report) byTime() bool { return len(r.By.Keys) > 0 && r.By.Keys[0] == sizes.Time }

func sumOf(rows []*sizes.Group) *sizes.Group {
	sum := new(sizes.Group)
	for _, m := range rows {
		sum.MergeSizes(m)
	}
	return sum
}

// comparisonName returns the name of a row for use in a sentence.
func comparisonName(values []string) string { return term.Clean(strings.Join(values, "/")) }

func beyondText(groups int64) string {
	return Plural(groups, "group") + " beyond --max-groups"
}
