package report

// A table is a value before it is text: columns that say what they count, cells that hold exact numbers, and notes. The
// renderers for terminals, Markdown and CSV print the same value, so they cannot disagree.

// unit says what the numbers of a column are, and so how they are printed.
type unit uint8

const (
	words   unit = iota // no number
	count               // of calls, packets, frames
	size                // bytes per message: printed exactly
	volume              // bytes added up: printed in decimal units
	mbit                // bytes over nanoseconds, printed in Mbit/s
	rate                // a count over nanoseconds, printed per second
	percent             // a part of a whole
	elapsed             // nanoseconds
)

// column is one column of a table.
type column struct {
	// group heads several neighbouring columns.
	group, name string
	unit        unit
	// name columns may be shortened, wide ones left out, where the terminal is narrow; numbers are never cut.
	flex, wide bool
	// shorten is how the texts of a flex column are shortened before they are cut: a little (level 1) or more (level 2);
	// nil: not at all.
	shorten func(texts []string, level int) []string
	// cut shortens one text of a flex column to n columns of the terminal; nil: in its middle.
	cut func(text string, n int) string
	// least is the width it has at least: that of a title above it.
	least int
	// wrap: a last column of words that goes on in further lines.
	wrap bool
	// right aligns words at the right.
	right bool
}

func (c *column) atRight() bool { return c.unit != words || c.right }

// cell holds a text, a number as the exact ratio n/d, or nothing (printed as "-").
type cell struct {
	text string
	n, d int64
	kind cellKind
}

type cellKind uint8

const (
	absent cellKind = iota
	text
	number
)

func textCell(s string) cell { return cell{text: s, kind: text} }

func numberCell(n int64) cell { return cell{n: n, d: 1, kind: number} }

// ratioCell is n/d, absent where d is 0.
func ratioCell(n, d int64) cell {
	if d == 0 {
		return cell{}
	}
	return cell{n: n, d: d, kind: number}
}

// table is what a section shows.
type table struct {
	columns []column
	rows    [][]cell
}

// section is a heading, a table (or none), and sentences below it.
type section struct {
	title string
	table *table
	notes []string
}

// document is a report as people read it.
type document struct {
	summary  string
	sections []section
}

func (c cell) format(u unit, s *Style) string {
	switch c.kind {
	case absent:
		return "-"
	case text:
		return c.text
	}
	f := float64(c.n) / float64(c.d)
	switch u {
	case size:
		return formatSize(f, c.n%c.d == 0, s.Exact)
	case volume:
		return formatVolume(c.n/c.d, s.Exact)
	case mbit:
		return formatRate(f*8000, s.Exact)
	case rate:
		return formatRate(f*1e9, s.Exact)
	case percent:
		return formatPercent(c.n, c.d, s.Exact)
	case elapsed:
		return formatElapsed(c.n/c.d, s.Exact)
	}
	return formatCount(c.n / c.d)
}
