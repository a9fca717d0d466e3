package report

import (
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// comparison puts the serializations side by side; where calls are grouped by other keys only, those.
func (r *Report) comparison(s *Style) section {
	keys, apart, rows, shown := r.compared(s)
	columns, label := r.labels(keys)
	title := "BY " + r.keyTitle(columns)
	if r.keyIndex(sizes.Serialization) >= 0 {
		title = "BY SERIALIZATION"
	}
	names := len(columns)
	if names == 1 {
		columns[0].name = ""
	}
	tab := &table{columns: append(
		columns,
		column{name: "calls", unit: count},
		column{group: "request body bytes", name: "mean", unit: size},
		column{group: "request body bytes", name: "p50", unit: size},
		column{group: "request body bytes", name: "p99", unit: size},
		column{group: "response body bytes", name: "mean", unit: size},
		column{group: "response body bytes", name: "p50", unit: size},
		column{group: "response body bytes", name: "p99", unit: size},
		column{group: "on the wire", name: "bytes", unit: volume},
		column{group: "on the wire", name: "share %", unit: percent},
	)}
	add := func(cells []cell, g *sizes.Group) {
		cells = append(cells, numberCell(g.Calls))
		for _, d := range []*sizes.Direction{&g.Request, &g.Response} {
			cells = append(cells, mean(&d.Body), percentile(&d.Body, 50), percentile(&d.Body, 99))
		}
		cells = append(cells, numberCell(g.WireBytes()), ratioCell(g.WireBytes(), r.Selected.WireBytes()))
		tab.rows = append(tab.rows, cells)
	}
	eachCompared(rows, shown, names, label, add)
	sec := section{title: title, table: tab}
	sec.notes = append(sec.notes, fmt.Sprintf("share: of the %s of these %s on the wire; p50, p99 within 1 %%.",
		bytesText(r.Selected.WireBytes(), s), plural(r.Selected.Calls, "call", "calls")))
	if n := r.Selected.OtherAnswers; apart && n > 0 && r.keyIndex(sizes.ResponseSerialization) < 0 {
		sec.notes = append(sec.notes, fmt.Sprintf("A row has the calls asked in it; %s answered in another serialization: --by serialization,responseSerialization",
			plural(n, "call was", "calls were")))
	}
	if apart && len(rows) > 1 {
		sec.notes = append(sec.notes, r.sameMethods()...)
	}
	return sec
}

// compared are the rows of a comparison: the groups added up by serialization, or by all keys where that is none of
// them (then apart is false), and those of them that are shown.
func (r *Report) compared(s *Style) (keys []int, apart bool, rows, shown []*merged) {
	for i, k := range r.By.Keys {
		if k == sizes.Protocol || k == sizes.Serialization {
			keys = append(keys, i)
		}
	}
	apart = len(keys) > 0
	if !apart {
		for i := range r.By.Keys {
			keys = append(keys, i)
		}
	}
	rows = r.merge(keys)
	if apart || r.Sorted == "" && !r.byTime() {
		slices.SortStableFunc(rows, byWire)
	}
	shown = rows
	if top := r.top(s); !apart && len(rows) > top {
		shown = rows[:top]
	}
	return keys, apart, rows, shown
}

// eachCompared adds a row for each that is shown, and one for all others; names is how many columns their label has.
func eachCompared(rows, shown []*merged, names int, label func([]string) []cell, add func([]cell, *sizes.Group)) {
	for _, m := range shown {
		if m.Rest {
			add(spanning(beyondText(m.Groups), names), &m.Group)
			continue
		}
		add(label(m.Values), &m.Group)
	}
	if len(shown) < len(rows) {
		add(spanning(moreText(len(rows)-len(shown), len(rows)), names), sumOf(rows[len(shown):]))
	}
}

// keyTitle names what groups share, without the step of time.
func (r *Report) keyTitle(columns []column) string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i], _, _ = strings.Cut(columns[i].name, ":")
	}
	return strings.ToUpper(strings.Join(names, ", "))
}

// spanning is the label of a row that stands for several: in the last of n columns, which is the widest.
func spanning(text string, n int) []cell {
	cells := make([]cell, n)
	for i := range cells {
		cells[i] = textCell("")
	}
	if n > 0 {
		cells[n-1] = textCell(text)
	}
	return cells
}

func mean(s *sizes.Stat) cell { return ratioCell(s.Total, s.Count) }

func percentile(s *sizes.Stat, p float64) cell {
	if s.Count == 0 {
		return cell{}
	}
	return numberCell(s.Percentile(p))
}

// byTime reports whether groups follow each other in time; then they are not ranked unless that is asked for.
func (r *Report) byTime() bool { return len(r.By.Keys) > 0 && r.By.Keys[0] == sizes.Time }

// byWire orders rows by bytes on the wire, largest first, groups beyond the limit last.
func byWire(a, b *merged) int {
	switch {
	case a.Rest != b.Rest:
		if a.Rest {
			return 1
		}
		return -1
	case a.WireBytes() > b.WireBytes():
		return -1
	case a.WireBytes() < b.WireBytes():
		return 1
	}
	return 0
}

func sumOf(rows []*merged) *sizes.Group {
	sum := new(sizes.Group)
	for _, m := range rows {
		sum.Merge(&m.Group)
	}
	return sum
}

func (r *Report) top(s *Style) int {
	if s.Top > 0 {
		return s.Top
	}
	return DefaultTop
}

// comparisonName names a row of the comparison in a sentence.
func (r *Report) comparisonName(values []string) string { return term.Clean(strings.Join(values, "/")) }

func wasSeen(n int) string {
	switch n {
	case 0:
		return "no method was seen"
	case 1:
		return "1 method was seen"
	}
	return formatCount(int64(n)) + " methods were seen"
}

func countOrNone(n int) string {
	if n == 0 {
		return "none"
	}
	return formatCount(int64(n))
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func beyondText(groups int64) string {
	return plural(groups, "group", "groups") + " beyond --max-groups"
}
