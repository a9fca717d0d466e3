package fastjson2

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// text is a string as it lies in the body.
type text struct {
	op  byte // opASCII, whose bytes are Latin-1, to opGB18030
	raw []byte
}

func isText(op byte) bool { return op >= opASCII0 && op <= opGB18030 }

// text takes what follows op.
func (r *Reader) text(op byte) text {
	n := int(op) - opASCII0
	if op >= opASCII {
		n = r.size("the length of a string")
	}
	return text{max(op, opASCII), r.Bytes(n, "the characters of a string")}
}

// share returns the text of a name; equal ones share one copy.
func (r *Reader) share(t text) string {
	if t.op == opUTF8 || t.op == opASCII && isASCII(t.raw) {
		return r.Name(t.raw)
	}
	return t.string()
}

// string returns the text. What is no character becomes U+FFFD.
func (t text) string() string {
	switch t.op {
	case opASCII:
		return latin1(t.raw)
	case opUTF16LE:
		return decode16(t.raw, 0)
	case opUTF16BE:
		return decode16(t.raw, 1)
	case opUTF16:
		// Big-endian, unless the mark of the other order stands before it.
		switch b := t.raw; {
		case len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe:
			return decode16(b[2:], 0)
		case len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
			return decode16(b[2:], 1)
		}
		return decode16(t.raw, 1)
	case opGB18030:
		return decodeGB18030(t.raw)
	}
	return decode.UTF8(t.raw)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// latin1 decodes ISO 8859-1: each byte is the character of that number.
func latin1(b []byte) string {
	if isASCII(b) {
		return string(b)
	}
	var s strings.Builder
	s.Grow(len(b) + len(b)/4)
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

// decode16 decodes UTF-16 whose units have their low byte at offset low.
func decode16(b []byte, low int) string {
	var s strings.Builder
	s.Grow(len(b))
	unit := func(i int) rune { return rune(b[i+low]) | rune(b[i+1-low])<<8 }
	for i := 0; i+1 < len(b); i += 2 {
		c := unit(i)
		if utf16.IsSurrogate(c) && i+3 < len(b) {
			if pair := utf16.DecodeRune(c, unit(i+2)); pair != utf8.RuneError {
				c = pair
				i += 2
			}
		}
		s.WriteRune(c) // half of a pair becomes U+FFFD
	}
	if len(b)%2 != 0 {
		s.WriteRune(utf8.RuneError)
	}
	return s.String()
}
