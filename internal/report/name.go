package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// width is the columns a text takes on a terminal: Chinese characters and emoji take two.
func width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// cutMiddle shortens s to at most n columns, with "…" in its middle: names differ at their ends.
func cutMiddle(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	head, tail := n/2, n-1-n/2
	return cutEnd(s, head) + "…" + cutStart(s, tail)
}

// cutEnd keeps the first columns of s.
func cutEnd(s string, n int) string {
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

// cutStart keeps the last columns of s.
func cutStart(s string, n int) string {
	over := width(s) - n
	state := -1
	for over > 0 && s != "" {
		var w int
		_, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		over -= w
	}
	return s
}

// cut shortens s to at most n columns at its end.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return cutEnd(s, n-1) + "…"
}

// shortenNames shortens the packages of "package.Type/method": to first letters, as in c.a.o.OrderQuery/list, or
// (level 2) to nothing. Names that would become equal keep what tells them apart.
func shortenNames(names []string, level int) []string {
	short := make([]string, len(names))
	same := make(map[string][]int)
	for i, name := range names {
		if level == 1 {
			short[i] = abbreviate(name, nil)
		} else {
			_, short[i] = splitName(name)
		}
		same[short[i]] = append(same[short[i]], i)
	}
	for _, at := range same {
		first := names[at[0]]
		if !slices.ContainsFunc(at, func(i int) bool { return names[i] != first }) {
			continue
		}
		if level > 1 {
			group := make([]string, len(at))
			for k, i := range at {
				group[k] = names[i]
			}
			for k, text := range shortenNames(group, 1) {
				short[at[k]] = text
			}
			continue
		}
		keep := func(part int) bool {
			return slices.ContainsFunc(at, func(i int) bool { return packagePart(names[i], part) != packagePart(first, part) })
		}
		for _, i := range at {
			short[i] = abbreviate(names[i], keep)
		}
	}
	return short
}

// cutName shortens "Type/method" to n columns: the method says more than the type.
func cutName(name string, n int) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return cutMiddle(name, n)
	}
	if room := n - width(name[i:]); room >= 1 {
		return cut(name[:i], room) + name[i:]
	}
	return cutMiddle(name[i+1:], n)
}

// dropCommon shortens texts that all start alike up to and with sep, at the given level.
func dropCommon(sep string, from int) func(texts []string, level int) []string {
	return func(texts []string, level int) []string {
		if level < from || len(texts) == 0 {
			return texts
		}
		prefix, _, found := strings.Cut(texts[0], sep)
		short := make([]string, len(texts))
		for i, t := range texts {
			p, rest, ok := strings.Cut(t, sep)
			if !found || !ok || p != prefix {
				return texts
			}
			short[i] = rest
		}
		return short
	}
}

// splitName cuts "package.Type/method" into the package's parts and the rest.
func splitName(name string) (parts []string, rest string) {
	path, method := name, ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		path, method = name[:i], name[i:]
	}
	parts = strings.Split(path, ".")
	last := len(parts) - 1
	return parts[:last], parts[last] + method
}

func packagePart(name string, i int) string {
	parts, _ := splitName(name)
	if i < len(parts) {
		return parts[i]
	}
	return ""
}

func abbreviate(name string, keep func(part int) bool) string {
	parts, rest := splitName(name)
	for i, p := range parts {
		if keep != nil && keep(i) || p == "" {
			continue
		}
		_, n := utf8.DecodeRuneInString(p)
		parts[i] = p[:n]
	}
	return strings.Join(append(parts, rest), ".")
}

// clean makes text from the wire safe to print in a line: control characters, which could move the cursor or end a
// row, are written as escapes.
func clean(s string) string {
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
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		case isFormat(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isFormat reports characters that change the order or the place of others: bidirectional marks, line separators.
func isFormat(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

// wrapText breaks a text at spaces into lines of at most n columns; n <= 0: one line.
func wrapText(s string, n int) []string {
	if n <= 0 || width(s) <= n {
		return []string{s}
	}
	const least = 8 // no terminal is narrower, and every piece of a word is longer than nothing
	n = max(n, least)
	var lines []string
	line := ""
	for _, word := range unbroken(s) {
		for width(word) > n { // a path, say
			room := n
			if line != "" {
				room = n - width(line) - 1
			}
			if room < least {
				lines, line = append(lines, line), ""
				continue
			}
			head := cutEnd(word, room)
			lines = append(lines, strings.TrimPrefix(line+" "+head, " "))
			line, word = "", word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= n:
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

// unbroken cuts a text at spaces, but not behind a number: its unit or noun stays with it.
func unbroken(s string) []string {
	var words []string
	number := false // the last word is one
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
