package jsonlines

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stringEnd returns the offset after the string whose opening quote is at offset i of text, 0 when it has no end.
// It inspects eight bytes at a time.
func stringEnd(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return 0
	}
	i++
	for {
		for ; i+8 <= len(text); i += 8 {
			w := binary.LittleEndian.Uint64(text[i:])
			q, b := w^('"'*ones), w^('\\'*ones)
			// Here a zero byte has its high bit set. Bytes after the first such byte may have it, too; they do not matter.
			if m := ((q-ones)&^q | (b-ones)&^b) & highs; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				goto found
			}
		}
		for i < len(text) && text[i] != '"' && text[i] != '\\' {
			i++
		}
		if i >= len(text) {
			return 0
		}
	found:
		if text[i] == '"' {
			return i + 1
		}
		i += 2
	}
}
