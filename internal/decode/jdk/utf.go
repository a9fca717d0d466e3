package jdk

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Units joins UTF-16 units to UTF-8: a surrogate pair becomes a character, half a pair U+FFFD.
type Units struct {
	b    []byte
	high rune // a high surrogate that waits for its other half
}

// NewUnits returns an empty text with room for so many bytes.
func NewUnits(size int) Units { return Units{b: make([]byte, 0, size)} }

// Add adds a unit, or a whole character.
func (u *Units) Add(c rune) {
	if u.high != 0 {
		pair := utf16.DecodeRune(u.high, c)
		u.b = utf8.AppendRune(u.b, pair) // U+FFFD when c is not a low surrogate
		u.high = 0
		if pair != utf8.RuneError {
			return
		}
	}
	switch {
	case c < utf8.RuneSelf:
		u.b = append(u.b, byte(c))
	case c < 0x800:
		u.b = append(u.b, 0xc0|byte(c>>6), 0x80|byte(c&0x3f))
	case c < 0xd800:
		u.b = append(u.b, 0xe0|byte(c>>12), 0x80|byte(c>>6&0x3f), 0x80|byte(c&0x3f))
	case c < 0xdc00:
		u.high = c
	default:
		u.b = utf8.AppendRune(u.b, c) // a lone low surrogate becomes U+FFFD
	}
}

// String ends the text.
func (u *Units) String() string {
	if u.high != 0 {
		u.b = utf8.AppendRune(u.b, utf8.RuneError)
		u.high = 0
	}
	return string(u.b)
}

// UTF returns the text of Java's modified UTF-8 (java.io.DataInput): U+0000 is two bytes, and a character beyond U+FFFF
// is a surrogate pair of three bytes each. Half a pair and what is not UTF-8 become U+FFFD.
func UTF(b []byte) string {
	if decode.IsASCII(b) || utf8.Valid(b) && !slices.ContainsFunc(b, startsFour) {
		return string(b)
	}
	u := NewUnits(len(b))
	for len(b) > 0 {
		unit, n := Unit(b)
		if n == 0 {
			unit, n = utf8.RuneError, 1
		}
		u.Add(unit)
		b = b[n:]
	}
	return u.String()
}

// startsFour reports whether a sequence of UTF-8 that begins with c has four bytes.
func startsFour(c byte) bool { return c >= 0xf0 }

// Unit returns the UTF-16 unit at the start of b and the bytes that it takes, 1 to 3, 0 where none starts there.
func Unit(b []byte) (unit rune, n int) {
	switch {
	case len(b) == 0:
	case b[0] < utf8.RuneSelf:
		return rune(b[0]), 1
	case b[0]&0xe0 == 0xc0 && len(b) >= 2 && b[1]&0xc0 == 0x80:
		return rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f), 2
	case b[0]&0xf0 == 0xe0 && len(b) >= 3 && b[1]&0xc0 == 0x80 && b[2]&0xc0 == 0x80:
		return rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
	}
	return 0, 0
}
