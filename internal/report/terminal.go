package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"dubbo-wire/internal/term"
)

const (
	indent = 2
	// readable is the minimum width of longer names while columns can be dropped, minFlex before a table is split. minWrap is that of a
	// column that wraps.
	readable, minFlex, minWrap = 24, 8, 24
	// minSplit is the minimum width of names in a split table.
	minSplit = 4
	// proseWidth is the maximum width of sentences.
	proseWidth = 100
)

// writeText prints a document for a terminal: aligned columns without borders.
func (d *Document) writeText(w io.Writer, s *Style) error {
	var b strings.Builder
	prose := proseWidth
	if s.Width > 0 {
		prose = min(prose, s.Width)
	}
	if d.Summary != "" {
		for _, line := range term.Wrap(d.Summary, prose) {
			b.WriteString(line + "\n")
		}
	}
	for _, line := range layOutHead(d.Head, s) {
		b.WriteString(line + "\n")
	}
	for i := range d.Sections {
		sec := &d.Sections[i]
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		title, notes := sec.Title, slices.Clone(sec.Notes)
		if len(sec.Columns) > 0 {
			alike := false
			for _, g := range fit(sec, s) {
				g.write(&b, title, s)
				title = ""
				alike = g.hasEqualNames()
			}
			if alike {
				notes = append(notes, "Some names look alike because they are cut: --format markdown prints them in full.")
			}
		} else if title != "" {
			writeHeading(&b, title, s)
		}
		for _, note := range notes {
			if command, ok := Command(note); ok {
				b.WriteString(strings.Repeat(" ", 2*indent) + command + "\n")
				continue
			}
			for k, line := range term.Wrap(note, prose-indent-2) {
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

func writeHeading(b *strings.Builder, title string, s *Style) {
	for _, line := range term.Wrap(title, s.Width) {
		b.WriteString(heading(line, s) + "\n")
	}
}

// grid is a table, or some of its columns, laid out for a terminal.
type grid struct {
	columns []Column
	rows    [][]string
	widths  []int
	sep     int
}

// layouts are tried in order until a table fits: names are shortened first, then wide columns are omitted, then the gaps shrink.
var layouts = []struct {
	wide        bool
	short, gaps int
}{{true, 0, 2}, {true, 1, 2}, {false, 0, 2}, {false, 1, 2}, {false, 1, 1}, {false, 2, 1}}

// fit lays out a table in the width of the terminal. If shortening names is not enough, it drops columns and cuts names, and splits the
// table into several grids if the remaining numbers do not fit.
func fit(sec *Section, s *Style) []*grid {
	var g *grid
	for _, l := range layouts {
		g = newGrid(sec, l.wide, l.short, l.gaps)
		if g.fits(s.Width) {
			return []*grid{g}
		}
	}
	// Columns are dropped until names are readable. Those that fit after all are taken back.
	narrow := layouts[len(layouts)-1]
	skip := make([]bool, len(sec.Columns))
	fits := func() bool {
		g = newGrid(sec, narrow.wide, narrow.short, narrow.gaps, skip...)
		return g.squeeze(s.Width, readable)
	}
	var dropped []int
	for c := range sec.Columns {
		if sec.Columns[c].drop > 0 {
			dropped = append(dropped, c)
		}
	}
	slices.SortFunc(dropped, func(a, b int) int { return cmp.Compare(sec.Columns[b].drop, sec.Columns[a].drop) })
	n := 0
	for ; n < len(dropped) && !fits(); n++ {
		skip[dropped[n]] = true
	}
	if fits() {
		for n--; n >= 0; n-- {
			skip[dropped[n]] = false
			skip[dropped[n]] = !fits()
		}
		fits()
		return []*grid{g}
	}
	g.measure()
	if g.squeeze(s.Width, minFlex) {
		return []*grid{g}
	}
	return g.split(s.Width)
}

// newGrid returns a grid of the columns of a layout, without those to skip.
func newGrid(sec *Section, wide bool, short, sep int, skip ...bool) *grid {
	g := &grid{sep: sep, rows: make([][]string, len(sec.Rows))}
	for c := range sec.Columns {
		col := sec.Columns[c]
		if col.Wide && !wide || len(skip) > 0 && skip[c] {
			continue
		}
		g.columns = append(g.columns, col)
		texts := listOf(sec.Rows, func(row []Cell) string { return row[c].Text })
		for i, text := range col.shortened(texts, short) {
			g.rows[i] = append(g.rows[i], text)
		}
	}
	g.measure()
	return g
}

// measure sets the widths of columns to those of their texts.
func (g *grid) measure() {
	g.widths = make([]int, len(g.columns))
	for c := range g.columns {
		g.widths[c] = max(term.Width(g.columns[c].Name), g.columns[c].least)
		for _, row := range g.rows {
			g.widths[c] = max(g.widths[c], term.Width(row[c])-g.freeLeft(row, c))
		}
	}
	g.widen()
}

// widen makes groups of columns at least as wide as their names.
func (g *grid) widen() {
	for from, to := range ColumnGroups(g.columns) {
		g.widths[from] += max(term.Width(g.columns[from].Group)-g.span(from, to), 0)
	}
}

// freeLeft returns the room at the left of column c that is free because names are empty: the label of a row that sums several
// groups uses it.
func (g *grid) freeLeft(row []string, c int) int {
	room := 0
	if !g.columns[c].flexible() {
		return 0
	}
	for i := c - 1; i >= 0 && g.columns[i].flexible() && row[i] == ""; i-- {
		room += g.widths[i] + g.sep
	}
	return room
}

// span returns the width of columns from up to, but not including, to.
func (g *grid) span(from, to int) int {
	n := g.sep * (to - from - 1)
	for _, w := range g.widths[from:to] {
		n += w
	}
	return n
}

func (g *grid) total() int {
	n := indent + g.span(0, len(g.widths))
	if last := len(g.columns) - 1; last >= 0 && g.columns[last].Wrap {
		n -= max(g.widths[last]-minWrap, 0)
	}
	return n
}

func (g *grid) fits(limit int) bool { return limit <= 0 || g.total() <= limit }

// squeeze narrows the widest names, at most to least, until the grid fits. It returns false if it cannot fit.
func (g *grid) squeeze(limit, least int) bool {
	for !g.fits(limit) {
		widest := -1
		for c := range g.columns {
			if g.columns[c].flexible() && g.widths[c] > max(least, g.columns[c].least) && (widest < 0 || g.widths[c] > g.widths[widest]) {
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

// split returns several grids. Each has the columns up to the last name and as many of the other column groups as fit.
func (g *grid) split(limit int) []*grid {
	g.measure()
	lead := 0
	for c := range g.columns {
		if g.columns[c].flexible() {
			lead = c + 1
		}
	}
	type block struct{ from, to int }
	var blocks []block
	for from, to := range ColumnGroups(g.columns[lead:]) {
		if indent+lead*(minSplit+g.sep)+g.span(lead+from, lead+to) > limit { // a group that is too wide is split
			for c := from; c < to; c++ {
				blocks = append(blocks, block{lead + c, lead + c + 1})
			}
			continue
		}
		blocks = append(blocks, block{lead + from, lead + to})
	}
	// Names get the width that the widest group leaves.
	widest := 0
	for _, b := range blocks {
		widest = max(widest, g.sep+g.pick(0, b.from, b.to).span(0, b.to-b.from))
	}
	names := g.pick(lead, 0, 0)
	names.squeeze(max(limit-widest, 1), minSplit)
	copy(g.widths, names.widths)
	var grids []*grid
	for i := 0; i < len(blocks); {
		to := i + 1
		for to < len(blocks) && g.pick(lead, blocks[i].from, blocks[to].to).fits(limit) {
			to++
		}
		grids = append(grids, g.pick(lead, blocks[i].from, blocks[to-1].to))
		i = to
	}
	return grids
}

// hasEqualNames reports whether different names became equal when they were cut.
func (g *grid) hasEqualNames() bool {
	full, short := make(map[string]bool), make(map[string]bool)
	for _, row := range g.rows {
		var f, s strings.Builder
		for c := range g.columns {
			if g.columns[c].flexible() {
				f.WriteString(row[c] + "\x00")
				s.WriteString(g.columns[c].pad(row[c], g.widths[c]) + "\x00")
			}
		}
		full[f.String()], short[s.String()] = true, true
	}
	return len(short) < len(full)
}

// pick returns a grid of the first lead columns and of columns from up to, but not including, to.
func (g *grid) pick(lead, from, to int) *grid {
	p := &grid{sep: g.sep}
	p.columns = slices.Concat(g.columns[:lead], g.columns[from:to])
	p.widths = slices.Concat(g.widths[:lead], g.widths[from:to])
	for _, row := range g.rows {
		p.rows = append(p.rows, slices.Concat(row[:lead], row[from:to]))
	}
	p.widen()
	return p
}

// write prints the grid. The title is on the first line of the header if there is room.
func (g *grid) write(b *strings.Builder, title string, s *Style) {
	if last := len(g.columns) - 1; g.columns[last].Wrap && s.Width > 0 {
		g.widths[last] = min(g.widths[last], max(minWrap, s.Width-indent-g.sep-g.span(0, last)))
	}
	header := g.header()
	if title != "" {
		if first := header[0]; strings.TrimSpace(term.CutEnd(first, term.Width(title)+1)) == "" {
			header[0] = heading(title, s) + term.CutStart(first, max(0, term.Width(first)-term.Width(title)))
		} else {
			writeHeading(b, title, s)
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

// header returns a line of column names, below a line of group names if there are groups.
func (g *grid) header() []string {
	groups := ""
	for from, to := range ColumnGroups(g.columns) {
		name := g.columns[from].Group
		if name == "" {
			continue
		}
		at := indent + g.span(0, from)
		if from > 0 {
			at += g.sep
		}
		groups += strings.Repeat(" ", max(at-term.Width(groups), 0))
		left := g.span(from, to) - term.Width(name)
		if left >= 4 {
			dashes := (left - 2) / 2
			groups += strings.Repeat("-", dashes) + " " + name + " " + strings.Repeat("-", left-2-dashes)
		} else {
			groups += strings.Repeat(" ", left) + name
		}
	}
	var b strings.Builder
	g.writeRow(&b, listOf(g.columns, func(c Column) string { return c.Name }))
	names := strings.TrimSuffix(b.String(), "\n")
	if groups == "" {
		return []string{names}
	}
	return []string{groups, names}
}

// writeRow prints one row. Its last cell may wrap.
func (g *grid) writeRow(b *strings.Builder, row []string) {
	var line strings.Builder
	at := indent
	line.WriteString(strings.Repeat(" ", indent))
	for c := 0; c < len(row); c++ {
		text, col, w := row[c], &g.columns[c], g.widths[c]
		if c > 0 {
			line.WriteString(strings.Repeat(" ", g.sep))
			at += g.sep
		}
		for col.flexible() && text == "" && c+1 < len(row) && g.columns[c+1].flexible() {
			c++
			text, w = row[c], w+g.sep+g.widths[c]
		}
		if col.Wrap {
			if command, ok := Command(text); ok {
				line.WriteString(command)
			} else {
				line.WriteString(strings.Join(term.Wrap(text, w), "\n"+strings.Repeat(" ", at)))
			}
			break // the last column
		}
		line.WriteString(col.pad(text, w))
		at += w
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// pad fits a text into w columns of the terminal.
func (c *Column) pad(text string, w int) string {
	if term.Width(text) > w {
		text = term.CutLeft(text, w)
	}
	spaces := strings.Repeat(" ", w-term.Width(text))
	if c.AtRight() {
		return spaces + text
	}
	return text + spaces
}
