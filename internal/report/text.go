package report

import (
	"io"
	"slices"
	"strings"
)

const (
	indent = 2
	// minFlex is how far names are cut before a table is split, minWrap the least room for a column that wraps.
	minFlex, minWrap = 12, 24
	// proseWidth is where sentences break on wide terminals and where there is none.
	proseWidth = 100
)

// writeText prints a document for a terminal: aligned columns without borders.
func (d *document) writeText(w io.Writer, s *Style) error {
	var b strings.Builder
	prose := proseWidth
	if s.Width > 0 {
		prose = min(prose, s.Width)
	}
	for _, line := range wrapText(d.summary, prose) {
		b.WriteString(line + "\n")
	}
	for i := range d.sections {
		sec := &d.sections[i]
		b.WriteByte('\n')
		title := sec.title
		if sec.table != nil {
			for _, g := range fit(sec.table, s) {
				g.write(&b, title, s)
				title = ""
			}
		} else {
			b.WriteString(heading(title, s) + "\n")
		}
		for _, note := range sec.notes {
			for k, line := range wrapText(note, prose-indent-2) {
				if k > 0 {
					b.WriteString("  ")
				}
				b.WriteString(strings.Repeat(" ", indent) + line + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(title string, s *Style) string {
	if !s.Color || title == "" {
		return title
	}
	return "\x1b[1m" + title + "\x1b[0m"
}

// grid is a table laid out for a terminal: some or all of its columns, as text.
type grid struct {
	columns []column
	rows    [][]string
	widths  []int
	sep     int
}

// fit lays a table out in the width of the terminal: all columns if they fit; else with shorter names, without the wide
// columns, with names cut; and when the numbers alone do not fit, as several grids below each other.
func fit(t *table, s *Style) []*grid {
	for _, wide := range []bool{true, false} {
		for _, short := range []bool{false, true} {
			g := newGrid(t, s, wide, short)
			if g.fits(s.Width) {
				return []*grid{g}
			}
		}
	}
	g := newGrid(t, s, false, true)
	g.sep = 1
	g.measure()
	if g.squeeze(s.Width) {
		return []*grid{g}
	}
	return g.split(s.Width)
}

// newGrid formats the cells.
func newGrid(t *table, s *Style, wide, short bool) *grid {
	g := &grid{sep: 2, rows: make([][]string, len(t.rows))}
	for c := range t.columns {
		col := t.columns[c]
		if col.wide && !wide {
			continue
		}
		g.columns = append(g.columns, col)
		texts := make([]string, len(t.rows))
		for i, row := range t.rows {
			texts[i] = row[c].format(col.unit, s)
		}
		if short && col.shorten != nil {
			texts = col.shorten(texts)
		}
		for i := range texts {
			g.rows[i] = append(g.rows[i], texts[i])
		}
	}
	g.measure()
	return g
}

// measure sets the widths that the texts need.
func (g *grid) measure() {
	g.widths = make([]int, len(g.columns))
	for c := range g.columns {
		g.widths[c] = width(g.columns[c].name)
		for _, row := range g.rows {
			g.widths[c] = max(g.widths[c], width(row[c]))
		}
	}
	g.eachGroup(func(from, to int, name string) {
		if lack := width(name) - g.span(from, to); lack > 0 {
			g.widths[from] += lack
		}
	})
}

// eachGroup calls f with each run of columns that share a heading.
func (g *grid) eachGroup(f func(from, to int, name string)) {
	for from := 0; from < len(g.columns); {
		to := from + 1
		name := g.columns[from].group
		for to < len(g.columns) && name != "" && g.columns[to].group == name {
			to++
		}
		if name != "" {
			f(from, to, name)
		}
		from = to
	}
}

// span is the width of columns from up to to.
func (g *grid) span(from, to int) int {
	n := g.sep * (to - from - 1)
	for _, w := range g.widths[from:to] {
		n += w
	}
	return n
}

func (g *grid) total() int {
	n := indent + g.span(0, len(g.widths))
	if last := len(g.columns) - 1; g.columns[last].wrap {
		n -= max(g.widths[last]-minWrap, 0)
	}
	return n
}

func (g *grid) fits(limit int) bool { return limit <= 0 || g.total() <= limit }

// squeeze takes width from the widest names until the grid fits.
func (g *grid) squeeze(limit int) bool {
	for !g.fits(limit) {
		widest := -1
		for c := range g.columns {
			if g.columns[c].flex && g.widths[c] > minFlex && (widest < 0 || g.widths[c] > g.widths[widest]) {
				widest = c
			}
		}
		if widest < 0 {
			return false
		}
		g.widths[widest]--
	}
	return true
}

// split makes several grids: each has the columns up to the last name, and as many of the others as fit, groups whole
// where that is possible.
func (g *grid) split(limit int) []*grid {
	lead := 0
	for c := range g.columns {
		if g.columns[c].flex {
			lead = c + 1
		}
	}
	var grids []*grid
	part := g.pick(0, lead, lead, lead)
	for from := lead; from < len(g.columns); {
		to := from + 1
		for to < len(g.columns) && g.columns[from].group != "" && g.columns[to].group == g.columns[from].group {
			to++
		}
		more := g.pick(0, lead, from, to)
		if k := len(part.columns); k > lead && part.total()+more.total()-g.pick(0, lead, lead, lead).total() > limit {
			grids = append(grids, part)
			part = g.pick(0, lead, lead, lead)
		}
		part.append(more, lead)
		from = to
	}
	return append(grids, part)
}

// pick copies two ranges of columns.
func (g *grid) pick(from, to, from2, to2 int) *grid {
	p := &grid{sep: g.sep}
	p.columns = slices.Concat(g.columns[from:to], g.columns[from2:to2])
	p.widths = slices.Concat(g.widths[from:to], g.widths[from2:to2])
	for _, row := range g.rows {
		p.rows = append(p.rows, slices.Concat(row[from:to], row[from2:to2]))
	}
	return p
}

// append adds the columns of o from skip on.
func (g *grid) append(o *grid, skip int) {
	g.columns = append(g.columns, o.columns[skip:]...)
	g.widths = append(g.widths, o.widths[skip:]...)
	for i := range g.rows {
		g.rows[i] = append(g.rows[i], o.rows[i][skip:]...)
	}
}

// write prints the grid. The title shares the first line of the header where there is room.
func (g *grid) write(b *strings.Builder, title string, s *Style) {
	if last := len(g.columns) - 1; g.columns[last].wrap && s.Width > 0 {
		g.widths[last] = min(g.widths[last], max(minWrap, s.Width-indent-g.sep-g.span(0, last)))
	}
	header := g.header()
	if title != "" {
		if first := header[0]; strings.TrimSpace(cutEnd(first, width(title)+1)) == "" {
			header[0] = heading(title, s) + cutStart(first, max(0, width(first)-width(title)))
		} else {
			b.WriteString(heading(title, s) + "\n")
		}
	}
	for _, line := range header {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	for _, row := range g.rows {
		g.writeRow(b, row)
	}
}

// header is one line of names, below one of groups when there are any.
func (g *grid) header() []string {
	groups := []byte(nil)
	line := func(from int, text string, span int) {
		at := indent + g.span(0, from)
		if from > 0 {
			at += g.sep
		}
		for len(groups) < at {
			groups = append(groups, ' ')
		}
		left := span - width(text)
		if left >= 4 {
			dashes := (left - 2) / 2
			text = strings.Repeat("-", dashes) + " " + text + " " + strings.Repeat("-", left-2-dashes)
		} else {
			text = strings.Repeat(" ", left) + text
		}
		groups = append(groups, text...)
	}
	g.eachGroup(func(from, to int, name string) { line(from, name, g.span(from, to)) })
	names := make([]string, len(g.columns))
	for c := range g.columns {
		names[c] = g.columns[c].name
	}
	var b strings.Builder
	g.writeRow(&b, names)
	lines := []string{strings.TrimSuffix(b.String(), "\n")}
	if groups != nil {
		lines = []string{string(groups), lines[0]}
	}
	return lines
}

// writeRow prints one row; its last cell may go on in further lines.
func (g *grid) writeRow(b *strings.Builder, row []string) {
	var line strings.Builder
	at := indent
	line.WriteString(strings.Repeat(" ", indent))
	for c, text := range row {
		if c > 0 {
			line.WriteString(strings.Repeat(" ", g.sep))
			at += g.sep
		}
		col, w := &g.columns[c], g.widths[c]
		if col.wrap {
			lines := wrapText(text, w)
			line.WriteString(strings.Join(lines, "\n"+strings.Repeat(" ", at)))
			continue
		}
		text = cutMiddle(text, w)
		pad := strings.Repeat(" ", w-width(text))
		if col.atRight() {
			line.WriteString(pad + text)
		} else {
			line.WriteString(text + pad)
		}
		at += w
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
