package report

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteFolded prints what calls weigh as folded stacks, which programs that draw flame graphs read: the frames from the root
// on between semicolons, a space, and bytes; one line for each stack, sorted.
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

// foldedEscapes: nobody who reads folded stacks knows a way to quote, so the separator is written as term.Clean writes
// characters that it takes away.
var foldedEscapes = strings.NewReplacer(";", `\x3b`)
