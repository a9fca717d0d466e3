package report

import (
	"fmt"
	"io"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// Sheet is a document of other packages, printed as reports are: the same columns, cuts and escapes.
type Sheet struct {
	Summary  string
	Sections []SheetSection
}

// SheetSection is a heading, a table (or none), and notes below it.
type SheetSection struct {
	Title   string
	Columns []SheetColumn
	Rows    [][]string
	Notes   []string
	// Folded sections are behind a click in Markdown, where their title is.
	Folded bool
}

// SheetColumn is a column of texts.
type SheetColumn struct {
	// Group heads several neighbouring columns.
	Group, Name string
	Right       bool // aligned
	// Names of "service/method" may be shortened where the terminal is narrow, Wide columns left out, and the last one
	// may Wrap. Cut columns are cut when nothing else helps.
	Names, Wide, Wrap, Cut bool
}

// Verbatim is a note that is a command: it is not broken into lines.
func Verbatim(command string) string { return verbatim + command }

// Write prints the sheet as "table" or "markdown".
func (d *Sheet) Write(w io.Writer, format string, s Style) error {
	switch format {
	case "table":
		return d.document(d.Sections).writeText(w, &s)
	case "markdown":
		return d.writeMarkdown(w, &s)
	}
	return fmt.Errorf("no sheet in format %q", format)
}

func (d *Sheet) document(sections []SheetSection) *document {
	doc := &document{summary: d.Summary}
	for i := range sections {
		doc.sections = append(doc.sections, sections[i].section())
	}
	return doc
}

func (d *SheetSection) section() section {
	sec := section{title: d.Title, notes: d.Notes}
	if len(d.Columns) == 0 {
		return sec
	}
	sec.table = &table{}
	for i := range d.Columns {
		c := &d.Columns[i]
		col := column{group: c.Group, name: c.Name, right: c.Right, wide: c.Wide, wrap: c.Wrap, flex: c.Names || c.Cut}
		if c.Names {
			col.shorten, col.cut = shortenNames, cutName
		}
		sec.table.columns = append(sec.table.columns, col)
	}
	for _, row := range d.Rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			cells[i] = textCell(text)
		}
		sec.table.rows = append(sec.table.rows, cells)
	}
	return sec
}

// writeMarkdown is compact: it goes into comments of pull requests.
func (d *Sheet) writeMarkdown(w io.Writer, s *Style) error {
	var b strings.Builder
	if d.Summary != "" {
		b.WriteString(markdownText(d.Summary) + "\n")
	}
	for i := range d.Sections {
		sec := d.Sections[i].section()
		if d.Sections[i].Folded {
			b.WriteString("\n<details><summary>" + markdownText(sec.title) + "</summary>\n")
		} else if sec.title != "" {
			b.WriteString("\n**" + markdownText(sec.title) + "**\n")
		}
		if sec.table != nil {
			b.WriteByte('\n')
			sec.table.writeMarkdown(&b, s)
		}
		for _, note := range sec.notes {
			if command, ok := strings.CutPrefix(note, verbatim); ok {
				b.WriteString("\n    " + strings.ReplaceAll(command, "\n", " ") + "\n")
				continue
			}
			b.WriteString("\n" + markdownText(note) + "\n")
		}
		if d.Sections[i].Folded {
			b.WriteString("\n</details>\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// KeyText is a group's key as it is written: service/method, with the other keys behind it.
func KeyText(by sizes.By, values []string) string {
	name, other := "", ""
	for i, k := range by.Keys {
		if i >= len(values) {
			break
		}
		v := term.Clean(values[i])
		switch k {
		case sizes.Service:
			name = v
			continue
		case sizes.Method:
			if name != "" {
				name += "/" + v
			} else {
				name = v
			}
			continue
		}
		if other != "" {
			other += ", "
		}
		other += v
	}
	switch {
	case name == "":
		return other
	case other == "":
		return name
	}
	return name + " (" + other + ")"
}
