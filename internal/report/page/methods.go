package page

import (
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// leading is the number of groups in the section that the page begins with.
const leading = 10

// printedRows is the number of rows of the table of all groups that page.css prints.
const printedRows = 150

// ranked is the groups that the page shows.
type ranked struct {
	rows   []*row
	rest   []report.Cell // the row of all others, nil if there are none
	detail int           // number of rows with details
}

// row is one of these groups.
type row struct {
	rank    int
	cells   []report.Cell
	group   *sizes.Group
	html    string // of the cells
	details string
}

// rank renders groups until the budgets are spent.
func (p *page) rank() *ranked {
	k, out := p.view.Ranking, new(ranked)
	rows, details := 0, 0
	var d doc
	for p.style.Top == 0 || len(out.rows) < p.style.Top {
		if rows > rowsBudget {
			break
		}
		cells, g := k.Next()
		if g == nil {
			break
		}
		r := &row{rank: len(out.rows) + 1, cells: cells, group: g}
		if details < detailsBudget {
			d.Reset()
			p.details(&d, r)
			if details += d.Len(); details < detailsBudget {
				r.details = d.String()
				out.detail++
			}
		}
		d.Reset()
		p.row(&d, r)
		r.html = d.String()
		rows += len(r.html)
		out.rows = append(out.rows, r)
	}
	out.rest = k.Rest()
	return out
}

// row prints the cells of a group. The last label is a button if the group has details.
func (p *page) row(d *doc, r *row) {
	k := p.view.Ranking
	d.f("<tr>")
	for i, c := range r.cells {
		if i == 0 || i > k.Labels {
			d.cell(c, true)
			continue
		}
		if i < k.Labels {
			d.f(`<th scope="row" class="key">`)
		} else {
			d.f(`<th scope="row">`)
		}
		if i == k.Labels && r.details != "" {
			d.f(`<button type="button" class="open" aria-expanded="false" aria-controls="d%d">%s</button>`, r.rank, name(c.Text))
			continue
		}
		d.f("%s", name(c.Text))
	}
}

// name returns the markup of a group's name; the method comes before the service.
func name(text string) markup {
	var d doc
	text = short(text)
	i := report.MethodAt(text)
	if i <= 0 || i+1 == len(text) {
		d.f(`<bdi><b>%s</b></bdi>`, text)
		return d.markup()
	}
	d.f(`<bdi><b>%s</b></bdi> <small><bdi>`, text[i+1:])
	for k, s := range strings.SplitAfter(text[:i], ".") { // a line may break after a dot
		if k > 0 {
			d.f("<wbr>")
		}
		d.f("%s", s)
	}
	d.f("</bdi></small>")
	return d.markup()
}

// names returns the labels of a group, the last and most specific one first.
func (p *page) names(r *row) []string {
	var list []string
	for _, c := range r.cells[1 : 1+p.view.Ranking.Labels] {
		list = append([]string{short(c.Text)}, list...)
	}
	return list
}

// methods prints the table of all groups.
func (p *page) methods() {
	k := p.view.Ranking
	title := "All methods"
	if !p.methodsRanked() {
		title = "By " + strings.ToLower(k.Title)
	}
	p.section("methods", title+", "+k.Order)
	p.f(`<p class="filter js"><label>Filter <input type="search" id="filter" autocomplete="off" spellcheck="false"></label> <output id="filtered"></output></p>`)
	p.f("\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"sort main\">", p.rowsName())
	p.head(k.Columns)
	for _, r := range p.ranked.rows {
		p.f("<tbody id=\"m%d\">%s\n", r.rank, markup(r.html))
		if r.details != "" {
			p.f("<tr class=\"d\" id=\"d%d\"><td colspan=\"%d\"><div>%s</div>\n", r.rank, len(k.Columns), markup(r.details))
		}
		p.f("</tbody>")
		if p.Len() > 1<<15 {
			p.write()
		}
	}
	if rest := p.ranked.rest; rest != nil {
		p.f("<tfoot><tr>")
		for i, c := range rest {
			if i > 0 && i <= k.Labels {
				if c.Text != "" {
					p.f(`<th scope="row">%s`, c.Text)
				} else {
					p.f("<td>")
				}
				continue
			}
			p.cell(c, true)
		}
		p.f("</tfoot>")
	}
	p.f("</table></div>\n")
	p.f("<p class=\"note\">Response sizes are of successful calls in the serialization of the request. Percentiles are within 1 %%.</p>\n")
	if p.ranked.rest != nil {
		p.f("<p class=\"note\">The table has %s of %s; the last row is the sum of all others. The same command with --format csv prints all.</p>\n",
			report.Count(int64(len(p.ranked.rows))), report.Plural(int64(k.Len), "row"))
	}
	if n := len(p.ranked.rows); n > printedRows {
		p.f("<p class=\"note printed\">The first %d of %s rows are printed.</p>\n", printedRows, report.Count(int64(n)))
	}
	if n := p.ranked.detail; n < len(p.ranked.rows) && p.ranked.rows[0].details != "" {
		p.f("<p class=\"note\">The first %s have details. The same command with --service NAME --method NAME has those of another method.</p>\n", report.Count(int64(n)))
	}
	p.f("</section>\n")
}

// details prints the details of a group.
func (p *page) details(d *doc, r *row) {
	g := r.group
	d.f("<h3>%s</h3>\n", strings.Join(p.names(r), " · "))
	calls := []string{report.Plural(g.Calls, "call")}
	for _, n := range []struct {
		n    int64
		text string
	}{{g.OneWay, "one-way"}, {g.Unanswered, "without a response"}, {g.Errors, "failed"}, {g.Unknown, "of unknown status"}, {g.Exceptions, "with an exception"}} {
		if n.n > 0 {
			calls = append(calls, report.Count(n.n)+" "+n.text)
		}
	}
	d.f("<p>%s. On the wire %s: requests %s, responses %s.</p>\n", strings.Join(calls, ", "),
		report.Volume(g.WireBytes()), report.Volume(g.Request.Wire.Total), report.Volume(g.ResponseWireBytes()))
	for _, f := range p.findingsOf(g) {
		p.finding(d, f, false)
	}
	d.f("<div class=\"hists\">")
	d.histogram("request body bytes", &g.Request.Body, report.Count, "request")
	d.histogram(report.ResponseSizesTitle(g), &g.ResponseOK.Body, report.Count, "response")
	all := ""
	if n := g.NotOK; n != nil {
		all = ", failed ones and other serializations included"
		if n.Other.Body.Count > 0 {
			d.histogram("response body bytes, other serializations", &n.Other.Body, report.Count, "response")
		}
		if n.Error.Body.Count > 0 {
			d.histogram(report.FailedSizesTitle, &n.Error.Body, report.Count, "response")
		}
	}
	d.histogram("latency", &g.Latency, report.Elapsed, "call")
	d.f("</div>\n")
	paths := pathsOf(r.rank)
	if in := g.Anatomy; in != nil {
		d.anatomy("request", &in.Request, g.Request.Body.Count, "", paths)
		p.fields(d, "requests", &in.Request)
		d.anatomy("response", &in.Response, g.Response().Body.Count, all, paths)
		p.fields(d, "responses", &in.Response)
	} else if p.report.Inside {
		d.f("<p class=\"note\">None of its bodies was sampled.</p>\n")
	}
	if l := &g.Largest; l.Frame > 0 {
		file := ""
		if l.File < len(p.report.Inputs) && len(p.report.Inputs) > 1 {
			file = " of " + short(p.report.Inputs[l.File].File)
		}
		d.f("<p>Largest body: %s bytes, frame %d%s.</p>\n", report.Count(l.BodyBytes), l.Frame, file)
		p.explain(d, l.Frame)
	}
}

// explain prints the command that shows a frame.
func (p *page) explain(d *doc, frame int64) {
	if p.style.Explain != "" && len(p.style.Explain) < maxCommandText && frame > 0 {
		d.command("", fmt.Sprintf("%s --frame %d", p.style.Explain, frame))
	}
}

// pathsOf returns the number of paths to show per direction, fewer for groups of lower rank.
func pathsOf(rank int) int {
	switch {
	case rank <= leading:
		return 60
	case rank <= 3*leading:
		return 24
	}
	return 12
}

// method returns the service and method of a group. ok is false if the report is not grouped by both.
func (p *page) method(g *sizes.Group) (service, method string, ok bool) {
	s, m := slices.Index(p.report.By.Keys, sizes.Service), slices.Index(p.report.By.Keys, sizes.Method)
	if s < 0 || m < 0 || g.Rest || s >= len(g.Values) || m >= len(g.Values) {
		return "", "", false
	}
	return g.Values[s], g.Values[m], true
}

// findingsOf returns the findings about a group's method.
func (p *page) findingsOf(g *sizes.Group) (list []*report.Finding) {
	service, method, ok := p.method(g)
	if !ok || service == call.Unknown {
		return nil
	}
	for i := range p.report.Findings {
		if f := &p.report.Findings[i]; f.Service == service && f.Method == method && (f.Protocol == "" || p.report.IsOf(g, f.Protocol)) {
			list = append(list, f)
		}
	}
	return list
}

// openFindings is the number of findings that are not collapsed.
const openFindings = 12

// findings prints the findings.
func (p *page) findings() {
	all := p.report.Findings
	if len(all) == 0 {
		return
	}
	p.section("findings", "Findings")
	p.f("<ol class=\"findings\">\n")
	size, folded := p.Len(), false
	for i := range all {
		if i == openFindings && len(all) > openFindings+1 {
			p.f("</ol>\n<details><summary>%s</summary>\n<ol class=\"findings\">\n", report.Plural(int64(len(all)-i), "more finding"))
			folded = true
		}
		if p.Len()-size > sectionBudget {
			p.f("<li>%s more: --findings prints all.</li>\n", report.Count(int64(len(all)-i)))
			break
		}
		p.f("<li>")
		p.finding(&p.doc, &all[i], true)
		p.f("</li>\n")
	}
	p.f("</ol>\n")
	if folded {
		p.f("</details>\n")
	}
	for _, n := range p.view.FindingsNotes {
		p.f("<p class=\"note\">%s</p>\n", n)
	}
	p.f("</section>\n")
}

// finding prints a finding, with its subject if withSubject is set.
func (p *page) finding(d *doc, f *report.Finding, withSubject bool) {
	d.f("<div class=\"finding\">")
	if withSubject {
		of := ""
		if f.Protocol != "" {
			of = " (" + f.Protocol + ")"
		}
		d.f("<p>%s%s</p>", name(f.Subject), of)
	}
	d.f("<p>%s</p>", findingText(f))
	if c := p.report.Command(f, p.style.Explain); c != "" && len(c) < maxCommandText {
		d.command("", c)
	}
	d.f("</div>\n")
}

// findingText returns the text of a finding, at most so long.
func findingText(f *report.Finding) string { return term.Cut(term.Clean(f.Text), 4*longestName) }
