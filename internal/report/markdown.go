package report

import (
	"io"
	"strings"

	"dubbo-wire/internal/term"
)

// writeMarkdown prints a document with headings and GitHub tables. Names are not shortened.
func (d *Document) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	if d.Summary != "" {
		b.WriteString(markdownText(d.Summary) + "\n")
	}
	for _, h := range d.Head {
		switch {
		case h.Command != "":
			b.WriteString("\n      " + strings.ReplaceAll(h.Command, "\n", " ") + "\n")
		case h.Label != "":
			b.WriteString("- **" + h.Label + "**: " + markdownText(h.Texts[0]) + "\n")
		default:
			b.WriteString("  (" + markdownText(h.Texts[0]) + ")\n")
		}
	}
	for i := range d.Sections {
		sec := &d.Sections[i]
		title := markdownText(sec.Title)
		switch {
		case !d.Compact:
			b.WriteString("\n## " + title + "\n")
		case sec.Folded:
			b.WriteString("\n<details><summary>" + title + "</summary>\n")
		case title != "":
			b.WriteString("\n**" + title + "**\n")
		}
		if len(sec.Columns) > 0 {
			b.WriteByte('\n')
			sec.writeMarkdown(&b)
		}
		for _, note := range sec.Notes {
			if command, ok := Command(note); ok {
				b.WriteString("\n    " + strings.ReplaceAll(command, "\n", " ") + "\n")
				continue
			}
			b.WriteString("\n" + markdownText(note) + "\n")
		}
		if sec.Folded {
			b.WriteString("\n</details>\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (sec *Section) writeMarkdown(b *strings.Builder) {
	writeMarkdownHeader(b, listOf(sec.Columns, func(c Column) streamColumn {
		return streamColumn{name: strings.TrimSpace(c.Group + " " + c.Name), right: c.AtRight()}
	}))
	for _, row := range sec.Rows {
		writeMarkdownRow(b, listOf(row, cellText))
	}
}

func writeMarkdownHeader(b *strings.Builder, columns []streamColumn) {
	writeMarkdownRow(b, listOf(columns, func(c streamColumn) string { return c.name }))
	b.WriteByte('|')
	for _, c := range columns {
		if c.right {
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

// markdownText escapes Markdown markup.
func markdownText(s string) string { return markdownEscapes.Replace(term.Clean(s)) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, `<`, `&lt;`, `&`, `&amp;`, `*`, `\*`, "`", "\\`", `[`, `\[`, `]`, `\]`, `_`, `\_`, `~`, `\~`, `$`, `\$`,
)
