package decode

import (
	"math/bits"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	return append(AppendEscaped(append(dst, '"'), s), '"')
}

// AppendEscaped is AppendString without the quotes.
func AppendEscaped[T string | []byte](dst []byte, s T) []byte {
	start := 0
	for i := plainASCII(s, 0); i < len(s); i = plainASCII(s, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			if size := plainRune(s, i); size > 0 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c == '\n':
			dst = append(dst, '\\', 'n')
			i++
		case c == '\r':
			dst = append(dst, '\\', 'r')
			i++
		case c == '\t':
			dst = append(dst, '\\', 't')
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		default:
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, "\ufffd"...)
			} else {
				dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			}
			i += size
		}
		start = i
	}
	return append(dst, s[start:]...)
}

// PlainUnits returns the length in bytes of a text of n UTF-16 units at the start of b, -1 if that is not UTF-8 which JSON strings have as it is.
func PlainUnits(b []byte, n int) (size int) {
	i := 0
	for {
		k := plainASCII(b[:min(i+n, len(b))], i)
		n -= k - i
		if i = k; n == 0 {
			return i
		}
		if i >= len(b) {
			return -1
		}
		size := plainRune(b, i)
		if size == 0 {
			return -1
		}
		i += size
		if n--; size == utf8.UTFMax {
			n--
		}
		switch {
		case n == 0:
			return i
		case n < 0: // it is half a character
			return -1
		}
	}
}

// plainASCII returns the index of the first byte of s from i on that is not ASCII or that JSON strings escape, len(s) if there is none. It looks at
// eight bytes at a time.
func plainASCII[T string | []byte](s T, i int) int {
	for ; len(s)-i >= 8; i += 8 {
		if found := notPlain(word(s, i)); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	if left := len(s) - i; left > 0 && len(s) >= 8 { // the last bytes, which spaces follow
		found := notPlain(word(s, len(s)-8)>>(64-8*left) | 0x2020202020202020<<(8*left))
		if found == 0 {
			return len(s)
		}
		return i + bits.TrailingZeros64(found)/8
	}
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// word returns the eight bytes of s from i on, the first one lowest.
func word[T string | []byte](s T, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// NotPlain returns 0 if all of the eight bytes of w are ASCII that JSON strings do not escape, or at least those of a mask that has the highest bit of
// the first of them.
func NotPlain(w, mask uint64) uint64 { return notPlain(w) & mask }

// notPlain returns a word with the highest bit set of the first byte of w that is a control character, '"', '\\', DEL or not ASCII, 0 if there is none.
// Bits above that one mean nothing.
func notPlain(w uint64) uint64 {
	const each, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^each*'"', w^each*'\\'
	return ((w - each*0x20) | (quote - each) | (backslash - each) | (w + each) | w) & high
}

// plainRune returns the length of the character at s[i], which is not ASCII, if JSON strings have it as it is; else 0. Some line readers take U+0080 to
// U+009F, U+2028 and U+2029 for line ends.
func plainRune[T string | []byte](s T, i int) int {
	b := s[i:]
	switch c := b[0]; {
	case len(b) < 2 || b[1]&0xc0 != 0x80:
		return 0
	case c < 0xe0: // of two bytes
		if c > 0xc2 || c == 0xc2 && b[1] >= 0xa0 {
			return 2
		}
	case c < 0xf0:
		if len(b) < 3 || b[2]&0xc0 != 0x80 || c == 0xe0 && b[1] < 0xa0 || c == 0xed && b[1] >= 0xa0 || c == 0xe2 && b[1] == 0x80 && b[2]&^1 == 0xa8 {
			return 0
		}
		return 3
	case c <= 0xf4:
		if len(b) >= 4 && b[2]&0xc0 == 0x80 && b[3]&0xc0 == 0x80 && (c > 0xf0 || b[1] >= 0x90) && (c < 0xf4 || b[1] < 0x90) {
			return 4
		}
	}
	return 0
}
