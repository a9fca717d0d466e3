package page

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// markup is text that is HTML already. Everything else that is printed into a page is escaped.
type markup string

// doc is a page, or a part of one, while it is written.
type doc struct{ strings.Builder }

// f prints markup with values in it. Texts are made safe: for a reader, who must not be misled by characters that move others,
// and for the browser. Attributes must be in double quotes.
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
	fmt.Fprintf(&d.Builder, format, args...)
}

func safe(s string) string { return html.EscapeString(term.Clean(s)) }

// markup is what was written so far.
func (d *doc) markup() markup { return markup(d.String()) }

// longestName is how much of a name is shown, in characters: what is longer is cut in its middle.
const longestName = 160

func short(name string) string { return term.CutMiddle(term.Clean(name), longestName) }

// part is a length in percent of a picture's width.
func part(f float64) string {
	return strconv.FormatFloat(math.Round(f*1e4)/1e2, 'f', -1, 64) + "%"
}

// piece is a part of a bar: its class says its colour.
type piece struct {
	class, title string
	share        float64
}

// bar draws parts of a whole beside each other.
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

// head prints the columns of a table; those of a group have its name above them.
func (d *doc) head(columns []report.Column) {
	d.f("<thead>")
	grouped := false
	for _, c := range columns {
		grouped = grouped || c.Group != ""
	}
	if grouped {
		d.f("<tr>")
		for i := 0; i < len(columns); {
			n := 1
			for columns[i].Group != "" && i+n < len(columns) && columns[i+n].Group == columns[i].Group {
				n++
			}
			if columns[i].Group == "" {
				d.f("<td>")
			} else {
				d.f(`<th colspan="%d" scope="colgroup">%s`, n, columns[i].Group)
			}
			i += n
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

// cell prints a cell; a number shows all its digits when it is pointed at.
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

// table prints a section's table, if it has one. sort: its columns can be sorted.
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
			d.cell(c, sec.Columns[i].AtRight())
		}
		d.f("\n")
	}
	d.f("</tbody></table></div>\n")
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

// command prints a command line that can be copied.
func (d *doc) command(before, command string) {
	d.f(`<p class="cmd">%s<code>%s</code></p>`+"\n", before, command)
}

// sentence writes a title of the terminal as a page has it.
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
