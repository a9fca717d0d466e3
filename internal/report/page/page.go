// Package page turns a report into one HTML file: tables, traffic over time, and histograms and body paths of the heaviest methods.
// The file needs neither network nor other files; its Content-Security-Policy allows only its own style and script, by hash. Equal
// reports give equal pages, byte for byte. The page is complete without its script, which adds sorting, filtering and flame graphs.
// A page is smaller than a megabyte: every part that could be long has a budget, and states what it omits and which command shows it.
//
// The package keeps nothing of the report. Only doc.f escapes text from the wire.
package page

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// Budgets of the parts that can be long, in bytes of HTML.
const (
	rowsBudget     = 230 << 10 // rows of methods
	detailsBudget  = 400 << 10 // of the heaviest of them
	sectionBudget  = 30 << 10  // findings, presets, coverage
	maxCommandText = 400
)

// manyGroups take some 10 MB, and the run that counted them as much again.
const manyGroups = 20_000

// page is the state of Write.
type page struct {
	doc
	report *report.Report
	view   *report.View
	style  report.Style
	ranked *ranked
	w      io.Writer
	err    error
}

// Write prints a report as a page.
func Write(w io.Writer, r *report.Report, s report.Style) error {
	s.Width, s.Color = 0, false
	if len(r.Groups) > manyGroups {
		runtime.GC() // else the page may take its memory beside what only the run needed
	}
	p := &page{report: r, view: r.View(s), style: s, w: w}
	p.begin()
	calls, bars := p.view.Ranking != nil, false
	if calls {
		p.ranked = p.rank()
		p.worst()
		bars = p.serializations()
	}
	p.timeline()
	if bars {
		p.section("all", sentence(p.view.Comparison.Title)+", all calls")
		p.allCalls()
		p.f("</section>\n")
	}
	if calls {
		p.heaviest()
	}
	p.write()
	p.findings()
	p.write()
	p.onTheWire()
	if calls {
		p.made()
		p.write()
		p.methods()
		p.write()
		p.pairs()
	}
	p.write()
	p.coverage()
	p.glossary()
	p.bottom()
	p.write()
	return p.err
}

// write writes what was printed so far, and drops it.
func (p *page) write() {
	if p.err == nil {
		_, p.err = p.WriteTo(p.w)
	}
}

// WriteDocument prints a document as a page: its summary, and tables that can be sorted.
func WriteDocument(w io.Writer, title string, from *report.Document) error {
	var d doc
	d.top(title)
	d.f("<p>%s</p>\n</header>\n<main>\n", from.Summary)
	for i := range from.Sections {
		sec := &from.Sections[i]
		d.f("<section aria-labelledby=\"h-%d\">\n<h2 id=\"h-%d\">%s</h2>\n", i, i, sentence(sec.Title))
		d.table(sec, !headed(sec))
		d.notes(sec)
		d.f("</section>\n")
	}
	d.bottom()
	_, err := d.WriteTo(w)
	return err
}

// headed reports whether rows of a table are the heads of those that follow them, so that it cannot be sorted.
func headed(sec *report.Section) bool {
	return slices.ContainsFunc(sec.Rows, func(row []report.Cell) bool {
		return len(row) > 1 && !slices.ContainsFunc(row[1:], func(c report.Cell) bool { return c.Text != "" })
	})
}

// bottom prints the end of the document.
func (d *doc) bottom() { d.f("</main>\n<script>%s</script>\n</html>\n", markup(script)) }

// begin prints the head, the title and the links to the sections.
func (p *page) begin() {
	p.top(cmp.Or(p.view.Name, "Dubbo sizes"))
	p.answer()
	r := p.report
	if r.Filtered {
		p.f("<p class=\"warn\">The tables of calls contain the selected calls only. The sections on the wire and coverage describe the whole capture.</p>\n")
	}
	if note := r.SampleNote(); note != "" {
		p.f("<p class=\"warn\">%s The body composition is estimated from it. Sizes, counts and times are those of all calls.</p>\n", note)
	}
	p.f("<nav aria-label=\"sections\">")
	link := func(id, name string, there bool) {
		if there {
			p.f(`<a href="#%s">%s</a> `, id, name)
		}
	}
	calls := p.view.Ranking != nil
	link("by", sentence(p.view.Comparison.Title), calls)
	link("time", "Over time", r.Timeline != nil)
	link("lead", "Heaviest "+strings.ToLower(p.rowsName()), calls)
	link("findings", "Findings", len(r.Findings) > 0)
	link("wire", "On the wire", true)
	link("made", "Body composition", calls)
	link("methods", "All "+strings.ToLower(p.rowsName()), calls)
	link("pairs", "Pairs", len(p.view.Pairs.Columns) > 0)
	link("coverage", "Coverage", true)
	link("words", "Terms", true)
	p.f("</nav>\n</header>\n<main>\n")
}

// top prints the head of the document, and the title.
func (d *doc) top(title string) {
	hash := func(text string) markup {
		sum := sha256.Sum256([]byte(text))
		return markup("'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	}
	d.f(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
</head>
<body>
<header id="top">
<h1><bdi>%s</bdi></h1>
`, hash(style), hash(script), short(title), markup(style), short(title))
}

// sizesLabel is the label of the lines of the head that tell sizes.
const sizesLabel = "Sizes"

// answer prints the head of the report, without the sizes that the bars show.
func (p *page) answer() {
	p.f("<dl class=\"answer\">")
	bars, label := len(p.view.SameCalls.Rows) > 0, ""
	for _, line := range p.view.Head {
		label = cmp.Or(line.Label, label)
		switch {
		case line.Command != "":
			p.f("<dd>")
			p.command("", line.Command)
			continue
		case label == sizesLabel && bars:
			continue
		case line.Label != "":
			p.f("<dt>%s</dt>", line.Label)
		}
		p.f("<dd>%s</dd>\n", strings.TrimPrefix(line.Texts[0], p.view.Name+", "))
	}
	p.f("</dl>\n")
}

// rowsName returns the name of the rows of the ranking.
func (p *page) rowsName() string {
	if p.methodsRanked() {
		return "Methods"
	}
	return "Rows"
}

// methodsRanked reports whether the rows of the ranking are methods.
func (p *page) methodsRanked() bool {
	return p.view.Ranking != nil && p.view.Ranking.Title == "METHODS"
}

// section begins a section, which </section> ends.
func (p *page) section(id, title string) {
	p.f("<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n", id, id, id, title)
}

// onTheWire prints the traffic of the link.
func (p *page) onTheWire() {
	sec := &p.view.OnTheWire
	p.section("wire", sentence(sec.Title))
	var pieces []piece
	classes := map[string]string{
		p.report.RPCName(): "w-dubbo", report.Overhead: "w-rest", "other TCP": "w-tcp", "not TCP": "w-not",
	}
	var legend doc
	for _, row := range sec.Rows {
		class := classes[row[0].Text]
		if class == "" {
			continue // the sum
		}
		pieces = append(pieces, piece{class, fmt.Sprintf("%s: %s, %s %%", row[0].Text, row[1].Text, row[2].Text), row[2].Value})
		legend.f(`<li><i class="%s"></i>%s <b>%s %%</b></li>`, class, row[0].Text, row[2].Text)
	}
	p.bar("shares of the bytes on the wire", pieces)
	p.f(`<ul class="legend">%s</ul>`, legend.markup())
	p.table(sec, false)
	p.notes(sec)
	p.f("</section>\n")
}

// made prints the composition of bodies.
func (p *page) made() {
	made := &p.view.Composition
	if len(made.Columns) == 0 {
		p.f("<p class=\"note\">This report does not contain the composition of bodies.</p>\n")
		return
	}
	p.section("made", "Body composition")
	p.classLegend()
	p.composition(made)
	p.notes(made)
	p.f("</section>\n")
}

// composition prints the composition of bodies, with a bar in each row.
func (p *page) composition(sec *report.Section) {
	labels := 0
	for labels < len(sec.Columns) && !sec.Columns[labels].AtRight() {
		labels++
	}
	p.f(`<div class="scroll" tabindex="0" role="region" aria-label="%s"><table>`, sentence(sec.Title))
	columns := append(sec.Columns[:labels:labels], report.Column{})
	p.head(append(columns, sec.Columns[labels:]...))
	p.f("<tbody>")
	for _, row := range sec.Rows {
		p.f("<tr>")
		for _, c := range row[:labels] {
			p.cell(c, false)
		}
		var pieces []piece
		var name []string
		for i := labels + 1; i < len(row); i++ {
			class := strings.TrimSuffix(sec.Columns[i].Name, " %")
			text := class + " " + row[i].Text + " %"
			pieces = append(pieces, piece{"k-" + class, text, row[i].Value})
			name = append(name, text)
		}
		p.f(`<td class="wide">`)
		p.bar(strings.Join(name, ", "), pieces)
		for i := labels; i < len(row); i++ {
			p.cell(row[i], true)
		}
		p.f("\n")
	}
	p.f("</tbody></table></div>\n")
}

// worst prints the calls of presets, which the user asked for.
func (p *page) worst() {
	for i := range p.view.Worst {
		p.tableSection(fmt.Sprintf("worst%d", i+1), p.cut(&p.view.Worst[i]))
	}
}

// pairs prints the pairs of client and server.
func (p *page) pairs() {
	sec := &p.view.Pairs
	if len(sec.Columns) == 0 {
		p.f("<p class=\"note\">This report does not contain clients and servers.</p>\n")
		return
	}
	p.tableSection("pairs", sec)
}

// tableSection prints a section with one table.
func (p *page) tableSection(id string, sec *report.Section) {
	p.section(id, sentence(sec.Title))
	p.tableAndNotes(sec)
	p.f("</section>\n")
}

// cut keeps the first rows of a table, until its budget is spent.
func (p *page) cut(sec *report.Section) *report.Section {
	size := 0
	for i, row := range sec.Rows {
		for _, c := range row {
			size += min(4*len(c.Text), 5*longestName) + len(c.Exact) + 30
		}
		if size > sectionBudget {
			short := *sec
			short.Rows = sec.Rows[:i]
			short.Notes = append([]string{fmt.Sprintf("The table has %s of %s rows. All of them: --format markdown", report.Count(int64(i)), report.Count(int64(len(sec.Rows))))}, sec.Notes...)
			*sec = short
			break
		}
	}
	return sec
}

// coverage prints all notes about the coverage.
func (p *page) coverage() {
	sec := &p.view.Coverage
	p.section("coverage", sentence(sec.Title))
	p.f("<ul class=\"coverage\">\n")
	size := 0
	for i, n := range sec.Notes {
		if size += len(n); size > sectionBudget {
			p.f("<li>%s more. All of them: --format markdown</li>", report.Count(int64(len(sec.Notes)-i)))
			break
		}
		p.f("<li>%s</li>\n", n)
	}
	p.f("</ul>\n</section>\n")
}

// glossary prints the glossary.
func (p *page) glossary() {
	p.section("words", "Terms")
	p.f("<dl>\n")
	words := [][2]string{
		{"body bytes", "Bytes that the serialization produced: the body of the frame, whose length the frame's header announces."},
		{"frame bytes", "Header and body. The header of the dubbo protocol has 16 bytes."},
		{"bytes on the wire", "Bytes of packets on the link, including the headers of all layers. A retransmitted byte counts again, for the message that it repeats. Ranks and shares are based on these bytes."},
		{"values", "Values of arguments and results."},
		{"names", "Names of classes and fields."},
		{"attachments", "Keys and values of attachments."},
		{"envelope", "What Dubbo adds to the values: its version, service, method, parameter types, kind of result, error texts."},
		{"overhead", "Lengths, references and type tags."},
		{"opaque", "Bytes that were not decoded."},
		{"mean, p50, p99", "The mean is exact. Percentiles use the nearest rank, within 1 %. p99: 99 % of the messages are not larger."},
		{"latency", "Time from the first byte of the request to the last byte of the response, at the place of the capture."},
		{"errors", "Responses whose status is not OK, and exceptions. Calls without a response are not errors."},
		{"response body bytes", "Responses of successful calls, in the serialization of the request. Failed calls and responses in another serialization are separate."},
	}
	if slices.Contains(p.report.Classes(), decode.ClassCompressed) {
		words = append(words, [2]string{"compressed", "Bytes of bodies that the protocol compresses."})
	}
	for _, w := range words {
		p.f("<dt>%s</dt><dd>%s</dd>\n", w[0], w[1])
	}
	p.f("</dl>\n<p class=\"note\">Point at a number to see all its digits. Times are UTC unless stated otherwise. Data layout: %s.</p>\n</section>\n", report.Schema)
}
