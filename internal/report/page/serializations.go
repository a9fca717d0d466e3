package page

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// serializations prints the comparison that the page begins with: the sizes of the same methods as bars, or all calls if there are none.
func (p *page) serializations() (bars bool) {
	p.section("by", sentence(p.view.Comparison.Title))
	if bars = p.sameCalls(); !bars {
		p.allCalls()
	}
	p.f("</section>\n")
	return bars
}

// allCalls prints the table of all calls by serialization, and what --same-methods prints.
func (p *page) allCalls() {
	sec := p.view.Comparison
	sec.Rows = withParents(sec.Rows)
	p.tableAndNotes(&sec)
	for i := range p.view.Same {
		p.f("<h3>%s</h3>\n", sentence(p.view.Same[i].Title))
		p.tableAndNotes(p.cut(&p.view.Same[i]))
	}
}

// indent begins the name of a row that is a part of the row above.
const indent = "  "

// withParents adds the name of the row above to indented names, because tables can be sorted.
func withParents(rows [][]report.Cell) [][]report.Cell {
	rows = slices.Clone(rows)
	parent := ""
	for i, row := range rows {
		if name, ok := strings.CutPrefix(row[0].Text, indent); ok {
			rows[i] = slices.Clone(row)
			rows[i][0].Text = parent + ", " + name
			continue
		}
		parent = row[0].Text
	}
	return rows
}

// Columns of View.SameCalls.
const (
	sameName = iota
	sameMethods
	sameCount
	_
	sameRequest // base, here, ratio
	_
	_
	sameResponse
)

const (
	maxCompared = 40  // rows with bars
	maxRatio    = 4.0 // of the longest bar
)

// sameCalls prints the sizes of the same methods in each serialization, the smallest first. It returns whether there are any.
func (p *page) sameCalls() bool {
	sec := &p.view.SameCalls
	if len(sec.Rows) == 0 {
		switch {
		case len(sec.Columns) > 0:
			p.f("<p>No method was seen both in %s and in another serialization, so these sizes do not compare serializations.</p>\n", p.plain(p.view.Base))
		case !slices.Contains(p.report.By.Keys, sizes.Serialization):
		case !slices.ContainsFunc(p.view.Comparison.Rows[1:], func(row []report.Cell) bool { return !strings.HasPrefix(row[0].Text, indent) }):
			p.f("<p>All calls use one serialization: there is nothing to compare.</p>\n")
		default:
			p.f("<p>To compare serializations by the same methods, group by service and method, too.</p>\n")
		}
		return false
	}
	rows := slices.Clone(sec.Rows)
	slices.SortStableFunc(rows, func(a, b []report.Cell) int {
		x, y := size(a), size(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a[sameName].Text, b[sameName].Text))
	})
	top := 1.25
	for _, row := range rows {
		for _, at := range []int{sameRequest, sameResponse} {
			if r := ratio(row, at); r > top {
				top = min(r, maxRatio)
			}
		}
	}
	base := p.plain(p.view.Base)
	p.f("<h3>Same methods: mean %s bytes relative to %s</h3>\n", p.view.Compared, base)
	p.f("<table class=\"same\"><thead><tr><th scope=\"col\" class=\"t\">serialization<th scope=\"col\" class=\"t\">request<th scope=\"col\" class=\"t\">response</thead>\n<tbody>")
	p.f(`<tr><th scope="row">%s <small>the base</small>`, base)
	for _, class := range []string{"request", "response"} {
		p.f(`<td><div class="rel"><b>1.00 x</b><span></span>%s</div>`, relativeBar(class, 1, top))
	}
	p.f("\n")
	shown := rows[:min(len(rows), maxCompared)]
	for _, row := range shown {
		methods, calls := row[sameMethods], row[sameCount]
		p.f(`<tr><th scope="row">%s <small>%s, %s</small>`, p.plain(row[sameName].Text),
			report.Plural(int64(methods.Value), "method"), report.Plural(int64(calls.Value), "call"))
		for k, at := range []int{sameRequest, sameResponse} {
			p.relative([]string{"request", "response"}[k], row[at:at+3], ratio(row, at), top)
		}
		p.f("\n")
	}
	p.f("</tbody></table>\n")
	if more := len(rows) - len(shown); more > 0 {
		p.f("<p class=\"note\">%s more: --same-methods</p>\n", report.Count(int64(more)))
	}
	p.f("<p class=\"note\">Each row compares the methods seen in it and in %s, weighted by the calls of %s: mean %s bytes there vs in %s. "+
		"Requests are those of all calls, responses those of successful calls in the serialization of the request. The smallest comes first.</p>\n", base, base, p.view.Compared, base)
	return true
}

// relative prints the ratio of two means, both means and a bar.
func (p *page) relative(class string, cells []report.Cell, r, top float64) {
	base, here := cells[0], cells[1]
	if math.IsNaN(r) {
		p.f(`<td><div class="rel"><span class="none">no comparable %s</span></div>`, class)
		return
	}
	p.f(`<td title="mean %s bytes: %s vs %s"><div class="rel"><b>%s</b><span>%s vs %s B</span>%s</div>`,
		p.view.Compared, cmp.Or(here.Exact, here.Text), cmp.Or(base.Exact, base.Text), cells[2].Text, here.Text, base.Text, relativeBar(class, r, top))
}

// relativeBar draws a ratio on an axis from 0 to top, with a line at 1. A bar that does not fit ends in an arrow.
func relativeBar(class string, r, top float64) markup {
	var d doc
	d.f(`<svg class="ratio" aria-hidden="true"><rect class="%s" width="%s" height="100%%"/>`, class, part(min(r/top, 1)))
	if r > top {
		d.f(`<text class="r over" x="99%%" y="80%%">more ▸</text>`)
	}
	d.f(`<line x1="%s" x2="%s" y1="0" y2="100%%"/></svg>`, part(1/top), part(1/top))
	return d.markup()
}

// ratio returns a mean relative to that of the base, NaN if one of them is missing.
func ratio(row []report.Cell, at int) float64 {
	base, here := row[at].Value, row[at+1].Value
	if base == 0 || row[at+1].Text == "-" {
		return math.NaN()
	}
	return here / base
}

// size returns the bytes of a request and its response relative to those of the base. Rows without responses come last.
func size(row []report.Cell) float64 {
	if math.IsNaN(ratio(row, sameResponse)) {
		return math.MaxFloat64
	}
	return (row[sameRequest+1].Value + row[sameResponse+1].Value) / (row[sameRequest].Value + row[sameResponse].Value)
}

// plain returns a serialization without its protocol, unless there are several protocols.
func (p *page) plain(name string) string {
	protocol, _, _ := strings.Cut(p.view.Base, "/")
	for _, row := range p.view.SameCalls.Rows {
		if !strings.HasPrefix(row[sameName].Text, protocol+"/") {
			return short(name)
		}
	}
	_, plain, _ := strings.Cut(name, "/")
	return short(cmp.Or(plain, name))
}
