package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// HexByte returns b as errors print it.
func HexByte(b byte) string { return fmt.Sprintf("byte %02x", b) }

// UTF8 returns b as a string. Each half of a surrogate pair becomes U+FFFD, as in Java, and each other run of bytes that are not UTF-8.
func UTF8(b []byte) string {
	if IsASCII(b) { // in a fraction of the time
		return string(b)
	}
	var s []byte
	from := 0 // of what is not in s yet
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], 0xed) // which nothing but their first byte and that of other characters can be
		if i < 0 {
			break
		}
		if at += i; at+3 <= len(b) && b[at+1] >= 0xa0 && b[at+1] < 0xc0 && b[at+2] >= 0x80 && b[at+2] < 0xc0 {
			s = append(append(s, bytes.ToValidUTF8(b[from:at], []byte(replacement))...), replacement...)
			from = at + 3
		}
	}
	if from == 0 {
		return strings.ToValidUTF8(string(b), replacement)
	}
	return string(append(s, bytes.ToValidUTF8(b[from:], []byte(replacement))...))
}

const replacement = "\ufffd"

// IsASCII reports whether all bytes of b are below 0x80.
func IsASCII(b []byte) bool {
	const high = 0x8080808080808080
	if n := len(b) - 8; n >= 0 {
		all := binary.LittleEndian.Uint64(b[n:]) // the last eight, of which some are read again
		i := 0
		for ; i+24 < n; i += 32 {
			w := b[i : i+32]
			all |= binary.LittleEndian.Uint64(w) | binary.LittleEndian.Uint64(w[8:]) |
				binary.LittleEndian.Uint64(w[16:]) | binary.LittleEndian.Uint64(w[24:])
		}
		for ; i < n; i += 8 {
			all |= binary.LittleEndian.Uint64(b[i:])
		}
		return all&high == 0
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Latin1 decodes ISO 8859-1: each byte is the character of that number.
func Latin1(b []byte) string {
	if IsASCII(b) {
		return string(b)
	}
	s := make([]byte, 0, len(b)+len(b)/4)
	for _, c := range b {
		s = utf8.AppendRune(s, rune(c))
	}
	return string(s)
}

// UTF16 decodes UTF-16 in an order of bytes; a surrogate without its other half becomes U+FFFD. A last odd byte is dropped.
func UTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
