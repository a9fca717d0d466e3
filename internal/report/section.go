package report

import (
	"fmt"
	"io"
	"strings"
)

// Document is what people read: sections below a summary. Writers for terminals, Markdown and pages print the same value, so
// they cannot disagree.
type Document struct {
	Summary  string
	Sections []Section
	// Compact documents go into comments of pull requests: in Markdown their titles are no headings.
	Compact bool
}

// Section is a heading, a table or none, and sentences below it. What is from the wire in its texts is safe to print.
type Section struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	// Notes are sentences, or commands: see Verbatim.
	Notes []string
	// Folded sections of compact documents are behind a click in Markdown, where their title is.
	Folded bool
}

// Column is one column of a table.
type Column struct {
	// Group heads several neighbouring columns.
	Group, Name string
	// Right aligns texts at the right, where numbers are.
	Right bool
	// Flex columns may be cut, Wide ones left out, where the terminal is narrow; numbers are never cut. A last column of texts
	// may Wrap: it goes on in further lines. Names are flex: of "package.Type/method" the package is shortened first.
	Flex, Wide, Wrap, Names bool

	unit unit
	// shorten is how the texts of a flex column are shortened before they are cut: a little (level 1) or more (level 2);
	// nil: not at all.
	shorten func(texts []string, level int) []string
	// least is the width it has at least: that of a title above it.
	least int
}

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

// AtRight reports whether a column is aligned at the right: numbers are.
func (c *Column) AtRight() bool { return c.unit != words || c.Right }

func (c *Column) flexible() bool { return c.Flex || c.Names }

func (c *Column) shortened(texts []string, level int) []string {
	switch {
	case level == 0:
	case c.Names:
		return shortenNames(texts, level)
	case c.shorten != nil:
		return c.shorten(texts, level)
	}
	return texts
}

// Cell is a text as a table has it. Exact is the same with all digits, in the same unit all over the column; "" where that is
// no other text. Value is the number, in the column's unit; of parts of a whole between 0 and 1.
type Cell struct {
	Text, Exact string
	Value       float64
}

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
	row := make([]Cell, len(texts))
	for i, t := range texts {
		row[i].Text = t
	}
	sec.Rows = append(sec.Rows, row)
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
	return formatCount(c.n / c.d)
}

// verbatim begins a note that is a command: it is neither wrapped nor cut.
const verbatim = "$ "

// Verbatim is a note that is a command: it is not broken into lines.
func Verbatim(command string) string { return verbatim + command }

// Command is the command that a note is.
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
