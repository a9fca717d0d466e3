package java

import (
	"unicode/utf16"
	"unicode/utf8"
)

// decodeUTF returns the text of Java's modified UTF-8 (java.io.DataInput): U+0000 is two bytes, and a character beyond
// U+FFFF is a surrogate pair of three bytes each. Half a pair and what is no UTF-8 become U+FFFD.
func decodeUTF(b []byte) string {
	if ascii(b) {
		return string(b)
	}
	dst := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		unit, n := utfUnit(b[i:])
		i += n
		if utf16.IsSurrogate(unit) {
			low, k := utfUnit(b[i:])
			if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
				unit = pair
				i += k
			}
		}
		dst = utf8.AppendRune(dst, unit) // half a pair becomes U+FFFD
	}
	return string(dst)
}

// utfUnit returns the UTF-16 unit at the start of b and the bytes that it takes.
func utfUnit(b []byte) (unit rune, n int) {
	switch {
	case len(b) >= 1 && b[0] < 0x80:
		return rune(b[0]), 1
	case len(b) >= 2 && b[0]&0xe0 == 0xc0 && b[1]&0xc0 == 0x80:
		return rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f), 2
	case len(b) >= 3 && b[0]&0xf0 == 0xe0 && b[1]&0xc0 == 0x80 && b[2]&0xc0 == 0x80:
		return rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
	}
	return utf8.RuneError, min(1, len(b))
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
