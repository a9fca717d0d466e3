package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// heaviest prints the heaviest groups with the numbers that explain their weight.
func (p *page) heaviest() {
	k := p.view.Ranking
	n := min(leading, len(p.ranked.rows))
	if n == 0 {
		return
	}
	what := strings.ToLower(p.rowsName())
	last := p.ranked.rows[n-1].cells[k.Labels+3]
	title := fmt.Sprintf("First %s %s, %s", report.Count(int64(n)), what, k.Order)
	if n == k.Len {
		title = fmt.Sprintf("%s in detail, %s", p.rowsName(), k.Order)
	}
	p.section("lead", title)
	if n < k.Len {
		p.f("<p>Together they have <b>%s %%</b> of the bytes on the wire of all %s.</p>\n", last.Text, report.Plural(p.report.Selected.Calls, "call"))
	}
	if k.Labels > 1 && len(p.report.Findings) > 0 {
		p.f("<p class=\"note\">Findings cover all calls of a method, including those in other rows.</p>\n")
	}
	p.classLegend()
	p.f("<ol class=\"lead\">\n")
	printedAt := make(map[*report.Finding]int)
	for _, r := range p.ranked.rows[:n] {
		p.heaviestGroup(r, printedAt)
	}
	p.f("</ol>\n</section>\n")
}

// heaviestGroup prints one of the heaviest groups.
func (p *page) heaviestGroup(r *row, printedAt map[*report.Finding]int) {
	k, g := p.view.Ranking, r.group
	share := r.cells[k.Labels+2]
	p.f("<li><div class=\"share\"><b>%s %%</b>", share.Text)
	p.bar(share.Text+" % of the bytes on the wire", []piece{{"w-dubbo", report.Volume(g.WireBytes()) + " on the wire", share.Value}})
	p.f("<small>%s</small></div><div><p class=\"who\"><a href=\"#m%d\">", report.Volume(g.WireBytes()), r.rank)
	for i, n := range p.names(r) {
		if i > 0 {
			p.f(` <span class="key"><bdi>%s</bdi></span>`, n)
			continue
		}
		p.f("%s", name(n))
	}
	p.f("</a></p>\n<dl class=\"kv\">")
	for _, n := range p.keyNumbers(g) {
		p.f("<div><dt>%s</dt><dd>%s <small>%s</small></dd></div>", n.name, n.value, n.more)
	}
	p.f("</dl>\n")
	all := int64(0)
	for _, n := range g.Parts() {
		all += n
	}
	if all > 0 && (p.report.Parts || p.report.Sampled) {
		var pieces []piece
		var names []string
		for _, c := range p.report.Classes() {
			n := g.Parts()[c]
			text := fmt.Sprintf("%s %s %%", c, report.Percent(n, all))
			pieces = append(pieces, piece{"k-" + c.String(), text, float64(n) / float64(all)})
			if n > 0 {
				names = append(names, text)
			}
		}
		p.bar("its bodies: "+strings.Join(names, ", "), pieces)
	}
	if heavy := heaviestPaths(g); len(heavy) > 0 {
		p.f("<p>Most body bytes: ")
		for i, h := range heavy {
			if i > 0 {
				p.f(", ")
			}
			p.f("%s <code>%s</code> <b>%s&nbsp;%%</b>", h.direction, cutLeft(h.path, 60), report.Percent(h.bytes, h.of))
		}
		p.f("</p>\n")
	}
	p.heaviestFindings(r, printedAt)
	p.f("</div></li>\n")
}

// heaviestFindings prints the first findings about a method once. printedAt has the rank at which they were printed, by the first one.
func (p *page) heaviestFindings(r *row, printedAt map[*report.Finding]int) {
	list := p.findingsOf(r.group)
	if len(list) == 0 {
		return
	}
	if at := printedAt[list[0]]; at > 0 {
		p.f("<p class=\"note\">Findings about this method: see %d.</p>\n", at)
		return
	}
	printedAt[list[0]] = r.rank
	p.f("<ul class=\"facts\">")
	for i, f := range list {
		if i == 3 {
			p.f("<li class=\"note\">%s in its details", report.Plural(int64(len(list)-i), "more finding"))
			break
		}
		p.f("<li>%s</li>", findingText(f))
	}
	p.f("</ul>\n")
}

// keyNumber is a number that explains a group's weight, and what puts it into proportion.
type keyNumber struct{ name, value, more string }

// keyNumbers returns the numbers that explain a group's weight.
func (p *page) keyNumbers(g *sizes.Group) []keyNumber {
	calls := keyNumber{name: "calls", value: report.Count(g.Calls)}
	if p.report.Seconds > 0 {
		calls.more = report.Rate(float64(g.Calls)/p.report.Seconds) + "/s"
	}
	list := []keyNumber{calls}
	side := func(name string, d *sizes.Direction) {
		s := &d.Body
		if s.Count == 0 {
			return
		}
		more := fmt.Sprintf("max %s, %s %% of bytes", report.Count(s.Max), report.Percent(d.Wire.Total, max(g.WireBytes(), 1)))
		list = append(list, keyNumber{name, "mean " + report.Size(s.Mean()), more})
	}
	side("request body bytes", &g.Request)
	side("response body bytes", &g.ResponseOK)
	if g.NotOK != nil {
		side("other serializations", &g.NotOK.Other)
		side("failed responses", &g.NotOK.Error)
	}
	if g.Latency.Count > 0 {
		list = append(list, keyNumber{"latency", "p50 " + report.Elapsed(g.Latency.Percentile(50)), "p99 " + report.Elapsed(g.Latency.Percentile(99))})
	}
	if g.Errors > 0 {
		list = append(list, keyNumber{"errors", report.Percent(g.Errors, g.Calls) + " %", report.Count(g.Errors)})
	}
	return list
}

// heavyPath is a path with many bytes, of all sampled bytes.
type heavyPath struct {
	direction, path string
	bytes, of       int64
}

// heaviestPaths returns the three paths with most bytes in a group's bodies.
func heaviestPaths(g *sizes.Group) []heavyPath {
	if g.Anatomy == nil {
		return nil
	}
	of := g.Anatomy.Request.Bytes + g.Anatomy.Response.Bytes
	var list []heavyPath
	for _, a := range []struct {
		name    string
		anatomy *sizes.Anatomy
	}{{"request", &g.Anatomy.Request}, {"response", &g.Anatomy.Response}} {
		paths := a.anatomy.Paths()
		for _, p := range paths[:min(3, len(paths))] {
			list = append(list, heavyPath{a.name, p.Path, p.Bytes, of})
		}
	}
	slices.SortStableFunc(list, func(a, b heavyPath) int { return cmp.Compare(b.bytes, a.bytes) })
	return list[:min(3, len(list))]
}

// classLegend prints the colours of the classes.
func (p *page) classLegend() {
	if !p.report.Parts && !p.report.Sampled && !p.report.Inside {
		return
	}
	p.f("<ul class=\"legend\">")
	for _, c := range p.report.Classes() {
		p.f(`<li><i class="k-%s"></i>%s</li>`, c, c)
	}
	p.f("</ul>\n")
}
