package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"dubbo-wire/internal/term"
)

// longest is how many bytes of a name are used: more than any line has room for, and a limit for hostile names.
const longest = 2048

// clean makes a text from the wire safe to draw. It replaces control characters, and also characters whose width
// differs between terminals (emoji joined or modified by further characters), because the columns after them would be
// misplaced.
func clean(s string) string {
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	s = term.Clean(s)
	if term.IsASCII(s) {
		return s
	}
	var b strings.Builder
	state := -1
	for rest := s; rest != ""; {
		var c string
		var w int
		c, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if w < 1 || w > 2 || ansi.StringWidthWc(c) != w || ansi.StringWidth(c) != w || len(c) > 16 || joins(c) {
			b.WriteByte('?')
			continue
		}
		b.WriteString(c)
	}
	return b.String()
}

// joins reports characters that combine with the characters beside them.
func joins(c string) bool { return uniseg.GraphemeClusterCount("x"+c+"x") != 3 }
