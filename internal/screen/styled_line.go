package screen

import (
	"strings"

	"dubbo-wire/internal/term"
)

// style is how a text is highlighted on a color terminal. A style never carries information alone: alarms are also
// written in capitals or with "!", and the row of the cursor starts with ">".
type style uint8

const (
	plain  style = iota
	strong       // names, headings
	faint        // rarely read
	marked       // the row of the cursor
	sorted       // the heading of the column that rows are sorted by
	alarm        // data is being lost
	warn         // needs attention
)

// escapes are the escape sequences of the styles: the eight colors that users of every terminal can choose.
var escapes = [...]string{
	plain: "", strong: "\x1b[1m", faint: "\x1b[2m", marked: "\x1b[7m", sorted: "\x1b[1;4m", alarm: "\x1b[1;37;41m", warn: "\x1b[1;33m",
}

const reset = "\x1b[m"

// span is a text in one style; line is a line of the screen.
type (
	span struct {
		text  string
		style style
	}
	line []span
)

func text(s string) line            { return line{{text: s}} }
func styled(s string, l style) line { return line{{text: s, style: l}} }

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += term.Width(s.text)
	}
	return n
}

// cut shortens a line to at most n columns at its end.
func (l line) cut(n int) line {
	if l.width() <= n {
		return l
	}
	var short line
	for _, s := range l {
		w := term.Width(s.text)
		if w < n {
			short = append(short, s)
			n -= w
			continue
		}
		return append(short, span{term.Cut(s.text, n), s.style})
	}
	return short
}

// write appends the line, with its styles if color is set.
func (l line) write(b *strings.Builder, color bool) {
	for _, s := range l {
		if !color || s.style == plain || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString(escapes[s.style])
		b.WriteString(s.text)
		b.WriteString(reset)
	}
}

// spread puts one line at the left and one at the right. If there is not enough room, the left one is cut.
func spread(left, right line, width int) line {
	right = right.cut(width)
	room := width - right.width()
	if len(right) > 0 {
		room--
	}
	left = left.cut(max(room, 0))
	return append(append(append(line{}, left...), span{text: spaces(width - left.width() - right.width())}), right...)
}

// joinColumns puts two columns of lines side by side; the left one is width columns wide.
func joinColumns(left, right []line, width int) []line {
	lines := make([]line, max(len(left), len(right)))
	for i := range lines {
		var l line
		if i < len(left) {
			l = left[i].cut(width)
		}
		if i < len(right) {
			l = append(append(append(line{}, l...), span{text: spaces(width + 2 - l.width())}), right[i]...)
		}
		lines[i] = l
	}
	return lines
}

// part is a piece of a line that may be left out: the highest drop first; 0 is never left out.
type part struct {
	line line
	drop int
}

// fit joins parts with sep, without the parts for which there is no room.
func fit(parts []part, sep string, width int) line {
	for {
		var all line
		last := -1
		for i, p := range parts {
			if p.line.width() == 0 {
				continue
			}
			if len(all) > 0 {
				all = append(all, span{text: sep})
			}
			all = append(all, p.line...)
			if p.drop > 0 && (last < 0 || p.drop >= parts[last].drop) {
				last = i
			}
		}
		if last < 0 || all.width() <= width {
			return all.cut(width)
		}
		parts = append(append([]part{}, parts[:last]...), parts[last+1:]...)
	}
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// left and right pad a text to n columns; a longer one is cut.
func left(s string, n int) string {
	s = term.Cut(s, n)
	return s + spaces(n-term.Width(s))
}

func right(s string, n int) string {
	s = term.Cut(s, n)
	return spaces(n-term.Width(s)) + s
}

// wrapped breaks a text into at most most lines. Lines after the first are indented; the last one is cut.
func wrapped(s string, l style, width, indent, most int) []line {
	if most < 1 || width < 1 {
		return nil
	}
	texts := term.Wrap(s, max(width-indent, 1))
	var lines []line
	for i, t := range texts {
		if i == most-1 && i < len(texts)-1 {
			t = term.CutEnd(t, max(width-indent-2, 0)) + " …"
		}
		if i > 0 {
			t = spaces(indent) + t
		}
		lines = append(lines, styled(term.Cut(t, width), l))
		if i == most-1 {
			break
		}
	}
	return lines
}
