package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"dubbo-wire/internal/term"
)

// longest is how much of a name is looked at: more than any line has room for, less than a hostile one has.
const longest = 2048

// clean makes a text from the wire safe to draw. Beside control characters that goes for characters of which terminals
// disagree how wide they are (emoji joined or painted by further characters): the columns right of them would not stand
// where they should.
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

// joins reports characters that become one with whatever stands beside them.
func joins(c string) bool { return uniseg.GraphemeClusterCount("x"+c+"x") != 3 }
