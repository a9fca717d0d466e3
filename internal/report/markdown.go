package report

import (
	"io"
	"strings"

	"dubbo-wire/internal/term"
)

// writeMarkdown prints a document as GitHub tables with headings; names in full.
func (d *document) writeMarkdown(w io.Writer, s *Style) error {
	var b strings.Builder
	b.WriteString(markdownText(d.summary) + "\n")
	for i := range d.sections {
		sec := &d.sections[i]
		b.WriteString("\n## " + markdownText(sec.title) + "\n")
		if t := sec.table; t != nil {
			b.WriteByte('\n')
			t.writeMarkdown(&b, s)
		}
		for _, note := range sec.notes {
			if command, ok := strings.CutPrefix(note, verbatim); ok {
				b.WriteString("\n    " + command + "\n")
				continue
			}
			b.WriteString("\n" + markdownText(note) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) writeMarkdown(b *strings.Builder, s *Style) {
	names := make([]string, len(t.columns))
	rights := make([]bool, len(t.columns))
	for c := range t.columns {
		col := &t.columns[c]
		names[c] = strings.TrimSpace(col.group + " " + col.name)
		rights[c] = col.atRight()
	}
	writeMarkdownHeader(b, names, rights)
	cells := make([]string, len(t.columns))
	for _, row := range t.rows {
		for c := range row {
			cells[c] = row[c].format(t.columns[c].unit, s)
		}
		writeMarkdownRow(b, cells)
	}
}

func writeMarkdownHeader(b *strings.Builder, names []string, rights []bool) {
	writeMarkdownRow(b, names)
	b.WriteByte('|')
	for _, right := range rights {
		if right {
			b.WriteString(" ---: |")
		} else {
			b.WriteString(" --- |")
		}
	}
	b.WriteByte('\n')
}

func writeMarkdownRow(b *strings.Builder, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		b.WriteString(" " + markdownText(c) + " |")
	}
	b.WriteByte('\n')
}

// markdownText escapes what Markdown would take for markup.
func markdownText(s string) string { return markdownEscapes.Replace(term.Clean(s)) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, `<`, `&lt;`, `&`, `&amp;`, `*`, `\*`, "`", "\\`", `[`, `\[`, `]`, `\]`, `_`, `\_`, `~`, `\~`, `$`, `\$`,
)
