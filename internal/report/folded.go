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
	all := r.stacks()
	for i := 0; i < len(all); {
		sum, k := int64(0), i
		for ; k < len(all) && slices.Equal(all[k].frames, all[i].frames); k++ {
			sum += all[k].bytes
		}
		for n, f := range all[i].frames {
			if n > 0 {
				_ = out.WriteByte(';')
			}
			_, _ = foldedEscapes.WriteString(out, f)
		}
		_, _ = out.WriteString(" " + strconv.FormatInt(sum, 10) + "\n")
		i = k
	}
	return out.Flush()
}

// foldedEscapes escapes the separator as term.Clean escapes characters, because folded stacks have no quoting.
var foldedEscapes = strings.NewReplacer(";", `\x3b`)
