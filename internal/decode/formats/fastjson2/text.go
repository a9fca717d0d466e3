package fastjson2

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// text is a string as it is in the body.
type text struct {
	op  byte // opASCII, whose bytes are Latin-1, to opGB18030
	raw []byte
}

func isText(op byte) bool { return op >= opASCII0 && op <= opGB18030 }

// text takes the bytes after op.
func (r *Reader) text(op byte) text {
	n := int(op) - opASCII0
	if op >= opASCII {
		n = r.size("the length of a string")
	}
	return text{max(op, opASCII), r.Bytes(n, "the characters of a string")}
}

// share returns the text of a name; equal ones share one copy.
func (r *Reader) share(t text) string {
	if t.op == opUTF8 || t.op == opASCII && decode.IsASCII(t.raw) {
		return r.Name(t.raw)
	}
	return t.string()
}

// string returns the text as UTF-8; bytes that are not a character become U+FFFD.
func (t text) string() string {
	switch t.op {
	case opASCII:
		return decode.Latin1(t.raw)
	case opUTF16LE:
		return decode16(t.raw, binary.LittleEndian)
	case opUTF16BE:
		return decode16(t.raw, binary.BigEndian)
	case opUTF16:
		// Big-endian, unless a byte order mark tells otherwise.
		switch b := t.raw; {
		case len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe:
			return decode16(b[2:], binary.LittleEndian)
		case len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
			return decode16(b[2:], binary.BigEndian)
		}
		return decode16(t.raw, binary.BigEndian)
	case opGB18030:
		return decodeGB18030(t.raw)
	}
	return decode.UTF8(t.raw)
}

// decode16 decodes UTF-16 whose last character may lack a byte.
func decode16(b []byte, order binary.ByteOrder) string {
	s := decode.UTF16(b, order)
	if len(b)%2 != 0 {
		s += "\ufffd"
	}
	return s
}
