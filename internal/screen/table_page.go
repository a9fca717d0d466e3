package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/term"
)

// The smallest terminal that a table fits on.
const (
	leastWidth  = 40
	leastHeight = 8
)

// layout is the number of lines of each part of a page. It depends only on the size of the terminal, so that nothing
// moves when numbers change.
type layout struct {
	totals, air, groups int // lines of the table page besides its three header lines, its caption and its column names
	rows                int
	selected, shares    int
	notes               int
	facts               int // lines about a method
	body                int // lines that scroll, of a method or of the help
}

func (m *model) layout() layout {
	h := m.height
	var l layout
	pick := func(from int, n int) int {
		if h >= from {
			return n
		}
		return 0
	}
	l.totals, l.air = pick(30, 1), pick(30, 1)
	l.groups = pick(12, 1)
	l.selected = pick(14, 1) + pick(20, 1)
	l.shares = pick(18, 1)
	l.notes = pick(9, 1) + pick(24, 1) + pick(30, 1) + pick(40, 2)
	l.facts = 1 + pick(12, 1) + pick(18, 3)
	switch m.page {
	case tablePage:
		l.rows = max(h-(3+l.totals+2*l.air+1+l.groups+1)-(l.selected+l.shares+l.notes+1), 0)
	case errorsPage:
		l.notes = min(l.notes, 1)
		l.rows = max(h-(3+l.totals+2*l.air+2)-(l.selected+l.notes+1), 0)
	case detailPage:
		l.notes = min(l.notes, 1)
		l.body = max(h-1-l.facts-1-l.air-l.notes-1, 0)
	case helpPage:
		l.body = max(h-2, 0)
	}
	return l
}

// lines draws the screen: as many lines as the terminal has, none wider than it.
func (m *model) lines() []line {
	if m.width <= 0 || m.height <= 0 {
		return nil
	}
	var all []line
	switch {
	case m.width < leastWidth || m.height < leastHeight:
		all = m.tooSmall()
	case m.page == helpPage:
		all = m.helpLines()
	case m.page == errorsPage:
		all = m.errorLines()
	case m.page == detailPage:
		all = m.detailLines()
	default:
		all = m.tableLines()
	}
	all = visible(all, 0, m.height)
	for i := range all {
		all[i] = all[i].cut(m.width)
	}
	return all
}

// visible returns n lines of all, starting at index from; missing lines are empty.
func visible(all []line, from, n int) []line {
	shown := make([]line, n)
	copy(shown, all[min(from, len(all)):])
	return shown
}

// view draws the screen as one text.
func (m *model) view() string {
	var b strings.Builder
	for i, l := range m.lines() {
		if i > 0 {
			b.WriteByte('\n')
		}
		l.write(&b, m.options.Color)
	}
	return b.String()
}

func (m *model) tooSmall() []line {
	var lines []line
	if m.snap != nil && m.snap.KernelDrops > 0 {
		lines = append(lines, styled("DROPS "+count(m.snap.KernelDrops), alarm))
	}
	if m.width >= 8 {
		for _, t := range term.Wrap(fmt.Sprintf("The terminal is %d x %d; this screen needs %d x %d. The capture goes on. q quits.",
			m.width, m.height, leastWidth, leastHeight), m.width) {
			lines = append(lines, text(t))
		}
		return lines
	}
	return append(lines, text("small"))
}

func (m *model) tableLines() []line {
	s := m.shown()
	l := m.layout()
	traffic := m.traffic(s)
	all := []line{m.status(), traffic[0], traffic[1]}
	if l.totals > 0 {
		all = append(all, m.totals(s))
	}
	all = append(all, make([]line, l.air)...)
	all = append(all, m.caption(s))
	by := m.settings.By
	if s != nil {
		by = s.By
	}
	chosen, nameWidth := chooseColumns(m.width, m.sortBy, by)
	groups, names := columnHeadings(chosen, nameWidth, nameTitle(by), m.sortBy, m.reversed)
	if l.groups > 0 {
		all = append(all, groups)
	}
	all = append(all, names)
	var body []line
	if len(m.list) == 0 {
		body = m.emptyTable(s, l.rows)
	}
	for i := m.top; i < len(m.list) && len(body) < l.rows; i++ {
		body = append(body, m.rowLine(&m.list[i], i == m.cursor, chosen, nameWidth))
	}
	all = append(all, visible(body, 0, l.rows)...)
	all = append(all, make([]line, l.air)...)
	all = append(all, m.selected(s, chosen, l.selected)...)
	if l.shares > 0 {
		all = append(all, m.shares(s))
	}
	all = append(all, m.notesLines(l.notes)...)
	return append(all, m.keysLine())
}

func nameTitle(by live.Grouping) string {
	switch by {
	case live.ByMethod:
		return "service/method"
	case live.ByPair:
		return "client > server"
	}
	return by.String()
}

func (m *model) rowLine(r *row, atCursor bool, chosen []*column, nameWidth int) line {
	l := line{{text: "  "}, {text: left(m.rows.name(r, nameWidth), nameWidth)}}
	if atCursor {
		l[0].text = "> "
	}
	for _, c := range chosen {
		style := plain
		if c.id == colErrors && r.Number("errors") >= errorsHigh {
			style = warn
		}
		l = append(l, span{text: " "}, span{right(c.cell(r, c.Width), c.Width), style})
	}
	return m.atCursor(l, atCursor)
}

// atCursor highlights a row if the cursor is on it.
func (m *model) atCursor(l line, at bool) line {
	if !at {
		return l
	}
	var b strings.Builder
	l.write(&b, false)
	return styled(left(b.String(), m.width), marked)
}

// selected shows what the table has no room for in the cursor's row: its full name, and the columns that are not shown.
func (m *model) selected(s *live.Snapshot, chosen []*column, n int) []line {
	lines := make([]line, n)
	if n == 0 || s == nil || m.cursor >= len(m.list) {
		return lines
	}
	r := &m.list[m.cursor]
	as := ""
	if s.By != live.BySerialization {
		as = clean(r.Serializations)
	}
	about := styled(term.Cut(as, m.width/3), faint)
	name := term.CutLeft(r.full, max(m.width-about.width()-4, 8))
	lines[0] = spread(append(text("  "), styled(name, strong)...), about, m.width)
	if n > 1 {
		more := m.hidden(r, chosen)
		if len(more) == 0 {
			more = styled(plural(r.Calls, "call")+" in the last "+seconds(s.RowsWindow), faint)
		}
		lines[1] = append(text("  "), more...)
	}
	return lines
}

// hidden returns the numbers of a row that are not in the table, as many as fit into a line. The last columns are
// dropped first.
func (m *model) hidden(r *row, chosen []*column) line {
	var ids []columnID
	for _, title := range []string{
		"errors", "request mean", "response p50", "latency p99", "response p99", "request p50", "request p99", "share", "response max", "request max",
	} {
		c := columnOf(columnTitled(title))
		if !slices.Contains(chosen, c) && c.cell(r, 12) != none {
			ids = append(ids, c.id)
		}
	}
	for ; ; ids = ids[:len(ids)-1] {
		l := m.named(r, ids)
		if len(ids) == 0 || l.width() <= m.width-2 {
			return l
		}
	}
}

// named returns numbers of a row with their names, in the order of the columns.
func (m *model) named(r *row, ids []columnID) line {
	var l line
	group := ""
	for _, id := range slices.Sorted(slices.Values(ids)) {
		c := columnOf(id)
		name, value := c.Name, c.cell(r, 12)
		sep := ", "
		if c.Group != group || group == "" {
			sep, group = "  ", c.Group
			name = strings.TrimSpace(group + " " + name)
		}
		if id == colShare || id == colErrors {
			name, value = c.Title, value+" %"
		}
		if len(l) == 0 {
			sep = ""
		}
		l = append(l, span{sep + name + " ", faint}, span{text: value})
	}
	return l
}

// shares shows how the bytes of messages are distributed over serializations.
func (m *model) shares(s *live.Snapshot) line {
	if s == nil {
		return nil
	}
	parts := []part{{styled("on the wire:", faint), 0}}
	for i, share := range s.Serializations {
		parts = append(parts, part{text(clean(share.Name) + " " + percent(share.Percent) + " %"), i + 1})
	}
	if len(s.Serializations) == 0 {
		parts = append(parts, part{styled("no Dubbo in the last "+seconds(s.Window), faint), 1})
	}
	if s.OtherFromCounters {
		hint := "* from the interface's counters, because the kernel filter excludes it"
		if m.width < 140 {
			hint = "* interface counters"
		}
		parts = append(parts, part{styled(hint, faint), 0})
	}
	return fit(parts, "  ", m.width)
}

// keysLine returns the last line of a page: the keys, or the filter that is being typed.
func (m *model) keysLine() line {
	if m.editing {
		hint := styled("Enter keeps, Esc clears", faint)
		return spread(line{{"filter: ", strong}, {text: term.CutLeft(clean(m.settings.Filter), m.width-34)}, {"_", warn}}, hint, m.width)
	}
	return fit(m.keyParts(), "  ", m.width)
}

// stamp formats a capture time.
func (m *model) stamp(ns int64) string {
	t := time.Unix(0, ns).UTC()
	if m.options.Local {
		t = t.Local()
	}
	return t.Format("15:04:05.000000Z07:00")
}
