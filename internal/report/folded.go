package report

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteFolded prints the bytes of calls as folded stacks for flame graph programs. Each line has the frames of a stack, root first,
// separated by semicolons, then a space and the bytes. Lines are sorted.
func (r *Report) WriteFolded(w io.Writer) error {
	out := bufio.NewWriter(w)
	var frames []string
	sum := int64(0)
	end := func() {
		if frames == nil {
			return
		}
		for n, f := range frames {
			if n > 0 {
				_ = out.WriteByte(';')
			}
			_, _ = foldedEscapes.WriteString(out, f)
		}
		_, _ = out.WriteString(" " + strconv.FormatInt(sum, 10) + "\n")
	}
	for s := range r.stacks() {
		if !slices.Equal(s.frames, frames) {
			end()
			frames, sum = append(frames[:0], s.frames...), 0
		}
		sum += s.bytes
	}
	end()
	return out.Flush()
}

// foldedEscapes escapes the separator as term.Clean escapes characters, because folded stacks have no quoting.
var foldedEscapes = strings.NewReplacer(";", `\x3b`)
