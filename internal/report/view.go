package report

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// View is a report as texts, for who draws it elsewhere: the tables that a terminal shows, and that of all groups.
type View struct {
	// Name is the file or files, Summary the first line of the report.
	Name, Summary string
	OnTheWire     Section
	// Compared are the serializations, or what groups are compared by where these are not a key: Comparison and MadeOf have a
	// row for each. MadeOf has no columns where bodies were not taken apart.
	Comparison, MadeOf Section
	// Same are the methods seen in several serializations, Worst the calls that presets ask for; Pairs has no columns where
	// they were not counted.
	Same, Worst []Section
	Pairs       Section
	Coverage    Section
	// Ranking is nil where there are no calls.
	Ranking *Ranking
}

// Section is a heading, a table or none, and sentences. What is from the wire in its texts is safe to print.
type Section struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	Notes   []string
	// Commands are to be run for more, below the notes.
	Commands []string
}

// Column is a column of a Section: Group heads several neighbours.
type Column struct {
	Group, Name string
	Number      bool
}

// Cell is a text as a table has it. Exact is the same with all digits, in the same unit all over the column; "" where that is
// no other text. Value is the number, in the column's unit; of parts of a whole between 0 and 1.
type Cell struct {
	Text, Exact string
	Value       float64
}

// View makes the tables.
func (r *Report) View(s Style) *View {
	s.Width = 0
	all := s
	all.Top = 25
	v := &View{Name: r.inputName(), Summary: r.summary(&s), OnTheWire: viewOf(r.onTheWire(&s), &s), Coverage: viewOf(r.coverageSection(&s), &s)}
	if r.Selected.Calls == 0 {
		return v
	}
	v.Comparison = viewOf(r.comparison(&all), &s)
	if r.Parts || r.Sampled {
		v.MadeOf = viewOf(r.madeOf(&all), &s)
	}
	if r.SameMethods {
		for _, sec := range r.fairComparison() {
			v.Same = append(v.Same, viewOf(sec, &s))
		}
	}
	for _, w := range r.Worst {
		v.Worst = append(v.Worst, viewOf(r.worst(w, &s), &s))
	}
	pairs := s
	pairs.Top = max(s.Top, DefaultTop)
	if sec, ok := r.pairs(&pairs); ok {
		v.Pairs = viewOf(sec, &s)
	}
	v.Ranking = r.newRanking(&s)
	return v
}

// Ranking is the groups in the order of the report's ranking, one after the other: a report may have a hundred thousand of
// them, of which few are drawn.
type Ranking struct {
	Title, Order string
	Columns      []Column
	// Labels is how many columns, behind the first, name a group; Len is how many groups there are.
	Labels, Len int

	report *Report
	style  Style
	table  table
	keys   []int
	label  func([]string) []cell
	rows   []*merged
	taken  int
	sum    int64
}

// newRanking makes the ranking, with more columns than a terminal has room for.
func (r *Report) newRanking(s *Style) *Ranking {
	k := &Ranking{report: r, style: *s, keys: r.rankedKeys(), rows: r.ranked()}
	names, label := r.labels(k.keys)
	k.Title, k.Order, k.Labels, k.Len, k.label = r.rankingTitle(k.keys), r.rankingOrder(), len(names), len(k.rows), label
	k.table.columns = append([]column{{name: "#", unit: count}}, names...)
	add := func(group, name string, u unit) {
		k.table.columns = append(k.table.columns, column{group: group, name: name, unit: u})
	}
	add("on the wire", "bytes", volume)
	add("on the wire", "%", percent)
	add("on the wire", "cum %", percent)
	add("calls", "/s", rate)
	add("calls", "count", count)
	add("calls", "errors", count)
	for _, d := range []string{"request body bytes", "response body bytes"} {
		add(d, "mean", size)
		add(d, "p50", size)
		add(d, "p99", size)
		add(d, "max", size)
	}
	add("latency", "p50", elapsed)
	add("latency", "p99", elapsed)
	k.Columns = viewOf(section{table: &k.table}, s).Columns
	return k
}

// Next returns the next group and its row; nil behind the last one, and where only groups beyond the limit are left.
func (k *Ranking) Next() ([]Cell, *sizes.Group) {
	if k.taken == len(k.rows) || k.rows[k.taken].Rest {
		return nil, nil
	}
	m := k.rows[k.taken]
	k.taken++
	values := make([]string, len(k.keys))
	for j, key := range k.keys {
		values[j] = m.Values[key]
	}
	return k.row(numberCell(int64(k.taken)), k.label(values), &m.Group), &m.Group
}

// Rest returns the row of all groups that Next did not return; nil where there are none.
func (k *Ranking) Rest() []Cell {
	left := k.rows[k.taken:]
	if len(left) == 0 {
		return nil
	}
	var text []string
	more := len(left)
	if last := left[more-1]; last.Rest {
		more--
		text = append(text, beyondText(last.Groups))
	}
	if more > 0 {
		text = append([]string{formatCount(int64(more)) + " more"}, text...)
	}
	return k.row(textCell(""), spanning(strings.Join(text, ", "), k.Labels), sumOf(left))
}

func (k *Ranking) row(rank cell, names []cell, g *sizes.Group) []Cell {
	r := k.report
	all := r.Selected.WireBytes()
	k.sum += g.WireBytes()
	row := append([]cell{rank}, names...)
	row = append(row, numberCell(g.WireBytes()), ratioCell(g.WireBytes(), all), ratioCell(k.sum, all),
		ratioCell(g.Calls, r.nanos()), numberCell(g.Calls), numberCell(g.Errors))
	for _, d := range []*sizes.Stat{&g.Request.Body, &g.Response.Body} {
		row = append(row, mean(d), percentile(d, 50), percentile(d, 99), greatest(d))
	}
	row = append(row, percentile(&g.Latency, 50), percentile(&g.Latency, 99))
	k.table.rows = [][]cell{row}
	return viewOf(section{table: &k.table}, &k.style).Rows[0]
}

// rankingOrder says what the order of the ranking is.
func (r *Report) rankingOrder() string {
	switch {
	case r.Sorted != "":
		return sortWords[r.Sorted]
	case r.byTime():
		return "in order"
	}
	return "by bytes on the wire"
}

func greatest(s *sizes.Stat) cell {
	if s.Count == 0 {
		return cell{}
	}
	return numberCell(s.Max)
}

// viewOf makes the texts of a section.
func viewOf(sec section, s *Style) Section {
	out := Section{Title: sec.title}
	for _, n := range sec.notes {
		if command, ok := strings.CutPrefix(n, verbatim); ok {
			out.Commands = append(out.Commands, command)
		} else {
			out.Notes = append(out.Notes, n)
		}
	}
	if sec.table == nil {
		return out
	}
	exact := *s
	exact.Exact = true
	for i := range sec.table.columns {
		c := &sec.table.columns[i]
		out.Columns = append(out.Columns, Column{c.group, c.name, c.atRight()})
	}
	for _, row := range sec.table.rows {
		cells := make([]Cell, len(row))
		for i, c := range row {
			u := sec.table.columns[i].unit
			cells[i].Text = c.format(u, s)
			if c.kind != number {
				continue
			}
			cells[i].Value = float64(c.n) / float64(c.d)
			if text := c.format(u, &exact); text != cells[i].Text {
				cells[i].Exact = text
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// PathNode is a segment of the paths of an anatomy, with what lies below it.
type PathNode struct {
	Name string
	// Bytes are of all below it; Classes says what they are for.
	Bytes   int64
	Classes [decode.ClassMissing + 1]int64
	// Own are the bytes of this very path, by class, and Messages in how many messages they were: at least, where they are of
	// several classes.
	Own      [decode.ClassMissing + 1]int64
	Messages int64
	Children []*PathNode
	// Left is how many paths beside the children were left out, with LeftBytes.
	Left      int
	LeftBytes int64
}

// PathTree makes the tree of an anatomy's paths, children with most bytes first. At most so many paths are in it, those with
// most bytes; the others are counted where they would be.
func PathTree(a *sizes.Anatomy, paths int) *PathNode {
	root := &PathNode{}
	for i, p := range a.Paths() {
		n := root
		segments := PathSegments(p.Path)
		for k := 0; ; k++ {
			n.Bytes += p.Bytes
			n.Classes[p.Class] += p.Bytes
			if k == len(segments) {
				n.Own[p.Class] += p.Bytes
				n.Messages = max(n.Messages, p.Messages)
				break
			}
			next := n.child(segments[k])
			if next == nil && i >= paths {
				n.Left++
				n.LeftBytes += p.Bytes
				break
			}
			if next == nil {
				next = &PathNode{Name: segments[k]}
				n.Children = append(n.Children, next)
			}
			n = next
		}
	}
	root.sort()
	return root
}

func (n *PathNode) child(name string) *PathNode {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (n *PathNode) sort() {
	slices.SortStableFunc(n.Children, func(a, b *PathNode) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range n.Children {
		c.sort()
	}
}

// Most is the class that most of these bytes have.
func Most(classes *[decode.ClassMissing + 1]int64) decode.Class {
	most := decode.Class(0)
	for c, b := range classes {
		if b > classes[most] {
			most = decode.Class(c)
		}
	}
	return most
}

// Percent prints n of d in percent, as tables do; without a sign.
func Percent(n, d int64) string {
	if d == 0 {
		return "-"
	}
	return formatPercent(n, d, false)
}
