package report

import (
	"fmt"
	"io"
	"iter"
	"strings"
)

// Document is a summary or a head, and sections. The writers for terminals and Markdown print the same value.
type Document struct {
	Summary  string
	Head     []HeadLine
	Sections []Section
	// Compact documents are for comments of pull requests: Markdown has bold titles instead of headings.
	Compact bool
}

// Section is a title, a table unless Columns is empty, and notes. Its texts from the wire are safe to print.
type Section struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	// Notes are sentences or commands, see Verbatim.
	Notes []string
	// Folded sections of compact documents are collapsed in Markdown.
	Folded bool
}

// Column is one column of a table.
type Column struct {
	// Group heads several neighbouring columns.
	Group, Name string
	// Right aligns texts at the right, as numbers are.
	Right bool
	// On a narrow terminal Wide columns are omitted first. Then columns with a drop rank are, the greatest first, until Flex columns have
	// enough width. Flex columns are cut at the left; numbers are never cut. The last column may Wrap. Names are flexible columns of
	// "package.Type/method", whose packages are shortened first.
	Flex, Wide, Wrap, Names bool

	drop uint8
	unit unit
	// shorten shortens the texts of a Flex column before they are cut, a little (level 1) or more (level 2). It may be nil.
	shorten func(texts []string, level int) []string
	// least is the minimum width, for a title above the column.
	least int
}

// unit is the unit of a column's numbers, and so their format.
type unit uint8

const (
	words   unit = iota // texts
	count               // of calls, packets, frames
	size                // bytes per message, with all digits
	volume              // sums of bytes, in decimal units
	mbit                // bytes per nanosecond, printed in Mbit/s
	rate                // a count per nanosecond, printed per second
	percent             // a fraction, printed in percent
	elapsed             // nanoseconds
)

// AtRight reports whether a column is right-aligned.
func (c *Column) AtRight() bool { return c.unit != words || c.Right }

// ColumnGroups yields the first and the last index + 1 of neighbouring columns that share a Group. A column without Group is alone.
func ColumnGroups(columns []Column) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := 0, 0; from < len(columns); from = to {
			to = from + 1
			for to < len(columns) && columns[from].Group != "" && columns[to].Group == columns[from].Group {
				to++
			}
			if !yield(from, to) {
				return
			}
		}
	}
}

func (c *Column) flexible() bool { return c.Flex || c.Names }

func (c *Column) shortened(texts []string, level int) []string {
	switch {
	case level == 0:
	case c.Names:
		return ShortNames(texts, level)
	case c.shorten != nil:
		return c.shorten(texts, level)
	}
	return texts
}

// Cell is a formatted cell. Exact is the text with all digits, "" if Text has them. Value is the number in the column's unit,
// from 0 to 1 for percent.
type Cell struct {
	Text, Exact string
	Value       float64
}

// cell is a text, a number as the exact ratio n/d, or absent (printed as "-").
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

// ratioCell returns n/d, an absent cell if d is 0.
func ratioCell(n, d int64) cell {
	if d == 0 {
		return cell{}
	}
	return cell{n: n, d: d, kind: number}
}

// cellText returns the text of a cell, a command without its mark.
func cellText(c Cell) string { return strings.TrimPrefix(c.Text, verbatim) }

// add adds a row.
func (sec *Section) add(s *Style, cells ...cell) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		u := sec.Columns[i].unit
		row[i].Text = c.format(u, s.Exact)
		if c.kind == number {
			row[i].Value = float64(c.n) / float64(c.d)
			if exact := c.format(u, true); exact != row[i].Text {
				row[i].Exact = exact
			}
		}
	}
	sec.Rows = append(sec.Rows, row)
}

// Add adds a row of texts.
func (sec *Section) Add(texts ...string) {
	sec.Rows = append(sec.Rows, listOf(texts, func(t string) Cell { return Cell{Text: t} }))
}

// note adds a sentence.
func (sec *Section) note(format string, args ...any) {
	sec.Notes = append(sec.Notes, fmt.Sprintf(format, args...))
}

func (c cell) format(u unit, exact bool) string {
	switch c.kind {
	case absent:
		return "-"
	case text:
		return c.text
	}
	f := float64(c.n) / float64(c.d)
	switch u {
	case size:
		return formatSize(f, c.n%c.d == 0, exact)
	case volume:
		return formatVolume(c.n/c.d, exact)
	case mbit:
		return formatRate(f*8000, exact)
	case rate:
		return formatRate(f*1e9, exact)
	case percent:
		return formatPercent(c.n, c.d, exact)
	case elapsed:
		return formatElapsed(c.n/c.d, exact)
	}
	return Count(c.n / c.d)
}

// verbatim begins a note or a cell that is a command, which is neither wrapped nor cut.
const verbatim = "$ "

// Verbatim returns a note or a cell that prints a command on one line.
func Verbatim(command string) string { return verbatim + command }

// Command returns the command of a note or a cell that Verbatim made.
func Command(note string) (command string, ok bool) { return strings.CutPrefix(note, verbatim) }

// Write prints the document as "table" or "markdown".
func (d *Document) Write(w io.Writer, format string, s Style) error {
	switch format {
	case "table":
		return d.writeText(w, &s)
	case "markdown":
		return d.writeMarkdown(w)
	}
	return fmt.Errorf("no document in format %q: choose table or markdown", format)
}
