// Package term fits text into lines of a terminal. Texts come in, also ones from the wire, which may be hostile; texts
// go out that are safe to print and that take a known number of columns. Nothing is kept. Widths and the borders of
// characters follow Unicode's grapheme clusters (UAX #29), by package uniseg.
package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Width returns the columns that a text takes on a terminal: Chinese characters and emoji take two.
func Width(s string) int {
	if IsASCII(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// IsASCII reports whether all bytes of s are ASCII characters.
func IsASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// CutMiddle shortens s to at most n columns, with "…" in the middle, because names differ at their ends.
func CutMiddle(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return CutEnd(s, n/2) + "…" + CutStart(s, n-1-n/2)
}

// CutEnd returns the first n columns of s.
func CutEnd(s string, n int) string {
	at, used, state := 0, 0, -1
	for rest := s; rest != ""; {
		var c string
		var w int
		c, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > n {
			break
		}
		used += w
		at += len(c)
	}
	return s[:at]
}

// CutStart returns the last n columns of s.
func CutStart(s string, n int) string {
	over := Width(s) - n
	state := -1
	for over > 0 && s != "" {
		var w int
		_, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		over -= w
	}
	return s
}

// Cut shortens s to at most n columns, with "…" at the end.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return CutEnd(s, n-1) + "…"
}

// CutLeft shortens s to at most n columns, with "…" at the start, because names differ at their ends. The method of HTTP before a path stays if there is
// room: "PUT …sers/{id}".
func CutLeft(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	if verb, path, ok := strings.Cut(s, " /"); ok {
		host := strings.LastIndexByte(verb, '/') + 1
		switch {
		case !isVerb(verb[host:]):
		case host > 0 && n <= Width(s[host:])+2: // of the host nothing is left
			return CutLeft(s[host:], n)
		case host == 0 && n-len(verb) >= minPath:
			return verb + " …" + CutStart(path, n-len(verb)-2)
		}
	}
	return "…" + CutStart(s, n-1)
}

// minPath is the minimum number of columns for a path and the space before it, so that it differs from others.
const minPath = 8

// isVerb reports whether s may be a method of HTTP.
func isVerb(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

// Clean makes text from the wire safe to print in a line. Control characters, which could move the cursor or end a row,
// become escapes.
func Clean(s string) string {
	bad := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError || isFormat(r) }
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case isFormat(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isFormat reports characters that change the order or the position of others: bidirectional marks, line separators.
func isFormat(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

// Wrap breaks a text at spaces into lines of at most n columns; n <= 0: one line.
func Wrap(s string, n int) []string {
	if n <= 0 || Width(s) <= n {
		return []string{s}
	}
	const least = 8 // no terminal is narrower
	n = max(n, least)
	var lines []string
	line := ""
	for _, word := range unbroken(s) {
		for Width(word) > n { // for example a path
			room := n
			if line != "" {
				room = n - Width(line) - 1
			}
			if room < least {
				lines, line = append(lines, line), ""
				continue
			}
			head := CutEnd(word, room)
			lines = append(lines, strings.TrimPrefix(line+" "+head, " "))
			line, word = "", word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// unbroken splits a text at spaces, but not after a number, whose unit or noun stays with it.
func unbroken(s string) []string {
	var words []string
	number := false // the last word is a number
	for w := range strings.FieldsSeq(s) {
		if number || w == "%" && len(words) > 0 {
			words[len(words)-1] += " " + w
		} else {
			words = append(words, w)
		}
		number = strings.Trim(w, "0123456789.,(") == "" && endsInDigit(w) || w == "%"
	}
	return words
}

func endsInDigit(s string) bool { return s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }
