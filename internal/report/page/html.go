package page

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// markup is HTML. All other texts are escaped when they are printed.
type markup string

// doc builds a page or a part of it.
type doc struct{ bytes.Buffer }

// f prints markup with values. Texts are cleaned of control and bidirectional characters and escaped. Attributes must be in double
// quotes.
func (d *doc) f(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = safe(a)
		case markup:
			args[i] = string(a)
		case int, int64:
		default:
			args[i] = safe(fmt.Sprint(a))
		}
	}
	fmt.Fprintf(&d.Buffer, format, args...)
}

func safe(s string) string { return html.EscapeString(term.Clean(s)) }

// markup returns what was printed so far.
func (d *doc) markup() markup { return markup(d.String()) }

// longestName is the maximum length of a name in characters; longer names lose their beginning.
const longestName = 160

func short(name string) string { return cutLeft(name, longestName) }

func cutLeft(name string, n int) string { return term.CutLeft(term.Clean(name), n) }

// part formats a fraction of a picture's width as a percentage.
func part(f float64) string {
	return strconv.FormatFloat(math.Round(f*1e4)/1e2, 'f', -1, 64) + "%"
}

// piece is a segment of a bar. Its class determines its colour.
type piece struct {
	class, title string
	share        float64
}

// bar draws a stacked bar.
func (d *doc) bar(label string, pieces []piece) {
	d.f(`<svg class="bar" role="img" aria-label="%s">`, label)
	at := 0.0
	for _, p := range pieces {
		if p.share > 0 {
			d.f(`<rect class="%s" x="%s" width="%s" height="100%%"><title>%s</title></rect>`, p.class, part(at), part(p.share), p.title)
		}
		at += p.share
	}
	d.f("</svg>")
}

// head prints the head of a table. A group's name is above its columns.
func (d *doc) head(columns []report.Column) {
	d.f("<thead>")
	if slices.ContainsFunc(columns, func(c report.Column) bool { return c.Group != "" }) {
		d.f("<tr>")
		for from, to := range report.ColumnGroups(columns) {
			if group := columns[from].Group; group != "" {
				d.f(`<th colspan="%d" scope="colgroup">%s`, to-from, group)
			} else {
				d.f("<td>")
			}
		}
	}
	d.f("<tr>")
	for _, c := range columns {
		class := ""
		if !c.AtRight() {
			class = ` class="t"`
		}
		if c.Name == "" {
			d.f("<td%s>", markup(class))
			continue
		}
		d.f(`<th scope="col"%s`, markup(class))
		if c.Group != "" {
			d.f(` aria-label="%s"`, c.Group+" "+c.Name)
		}
		d.f(">%s", c.Name)
	}
	d.f("</thead>")
}

// cell prints a cell. All digits of a number are in its tooltip.
func (d *doc) cell(c report.Cell, number bool) {
	d.f("<td")
	if !number {
		d.f(` class="t"`)
	}
	if c.Exact != "" {
		d.f(` title="%s"`, c.Exact)
	}
	if number {
		d.f(">%s", c.Text)
	} else {
		d.f("><bdi>%s</bdi>", short(c.Text))
	}
}

// table prints a section's table, if it has one. sort makes its columns sortable.
func (d *doc) table(sec *report.Section, sort bool) {
	if len(sec.Columns) == 0 {
		return
	}
	class := ""
	if sort {
		class = ` class="sort"`
	}
	d.f(`<div class="scroll" tabindex="0" role="region" aria-label="%s"><table%s>`, sentence(sec.Title), markup(class))
	d.head(sec.Columns)
	d.f("<tbody>")
	for _, row := range sec.Rows {
		d.f("<tr>")
		for i, c := range row {
			if i == 0 && !sec.Columns[i].AtRight() {
				d.f(`<th scope="row"><bdi>%s</bdi>`, short(c.Text))
				continue
			}
			d.cell(c, sec.Columns[i].AtRight())
		}
		d.f("\n")
	}
	d.f("</tbody></table></div>\n")
}

// tableAndNotes prints a sortable table and its notes.
func (d *doc) tableAndNotes(sec *report.Section) {
	d.table(sec, true)
	d.notes(sec)
}

// notes prints the sentences and commands below a table.
func (d *doc) notes(sec *report.Section) {
	for _, n := range sec.Notes {
		if command, ok := report.Command(n); ok {
			d.command("", command)
			continue
		}
		d.f("<p class=\"note\">%s</p>\n", n)
	}
}

// command prints a command line.
func (d *doc) command(before, command string) {
	d.f(`<p class="cmd">%s<code>%s</code></p>`+"\n", before, command)
}

// sentence converts a title in capital letters to sentence case.
func sentence(title string) string {
	title, rest, _ := strings.Cut(title, ", ")
	if len(title) > 1 && title == strings.ToUpper(title) {
		title = title[:1] + strings.ToLower(title[1:])
	}
	if rest != "" {
		title += ", " + strings.ToLower(rest)
	}
	return title
}
