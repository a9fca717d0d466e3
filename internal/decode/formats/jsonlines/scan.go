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
			if m := quotes(binary.LittleEndian.Uint64(text[i:])); m != 0 {
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

// quotes has the highest bit of the first byte of w set that is a quote or a backslash, those of the bytes before it not set, and those of the
// bytes after it in any way.
func quotes(w uint64) uint64 {
	q, b := w^('"'*ones), w^('\\'*ones)
	return ((q-ones)&^q | (b-ones)&^b) & highs
}

// digits returns how many digits w begins with, in the order of its bytes.
func digits(w uint64) int {
	w ^= '0' * ones
	return bits.TrailingZeros64((w+0x76*ones|w)&highs) / 8
}
