package kryo

import (
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// text is a string on the wire: either ASCII, whose last byte has bit 7 set, or a count of UTF-16 units and one to
// three bytes for each of them (a surrogate pair is two units of three bytes).
type text struct {
	raw   []byte // borrowed: the ASCII bytes, or the units
	ascii bool
	null  bool
}

const (
	moreASCII = 0x80 // clear in the first byte: the ASCII form
	moreUnits = 0x40 // in the first byte of a count: further bytes follow
)

// text takes one string.
func (r *Reader) text() text {
	c := &r.Cursor
	first, ok := c.Peek()
	if !ok {
		c.Need(1, "a string")
		return text{}
	}
	if first&moreASCII == 0 {
		return r.asciiText()
	}
	_, length := r.flaggedNumber("a string length")
	n := uint32(length)
	switch {
	case !c.OK():
		return text{}
	case n == 0:
		return text{null: true}
	case n > math.MaxInt32:
		c.Fail(decode.Malformed, "a string length", fmt.Sprint(int32(n)))
		return text{}
	}
	return r.units(int(n - 1))
}

// flaggedNumber takes a number whose first byte has a flag in bit 7.
func (r *Reader) flaggedNumber(what string) (flag bool, n uint64) {
	b := r.Byte(what)
	flag, n = b&0x80 != 0, uint64(b&0x3f)
	if b&moreUnits != 0 {
		for shift := 6; shift < 34; shift += 7 {
			b = r.Byte(what)
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
	}
	return flag, n
}

func (r *Reader) asciiText() text {
	c := &r.Cursor
	if n := asciiEnd(c.Buf[c.Off:]); n > 0 {
		raw := c.Buf[c.Off : c.Off+n]
		c.Off += n
		return text{raw: raw, ascii: true}
	}
	r.work += len(c.Buf) - c.Off
	c.Need(len(c.Buf)-c.Off+1, "a string ended by a byte with bit 7")
	return text{}
}

// units takes n UTF-16 units.
func (r *Reader) units(n int) text {
	c := &r.Cursor
	if !c.Need(n, "the characters of a string") {
		return text{}
	}
	size, left := unitsEnd(c.Buf[c.Off:], n)
	off := c.Off + size
	switch {
	case left == 0 && off <= len(c.Buf):
		raw := c.Buf[c.Off:off]
		c.Off = off
		return text{raw: raw}
	case off < len(c.Buf):
		c.FailAt(off, decode.Malformed, "a character of a string", decode.HexByte(c.Buf[off]))
	default:
		r.work += size
		c.Need(size+left, "the characters of a string")
	}
	return text{}
}

// is reports whether the text is s.
func (x text) is(s string) bool {
	last := len(x.raw) - 1
	switch {
	case last < 0:
		return s == "" && !x.null
	case x.ascii:
		return len(s) == last+1 && string(x.raw[:last]) == s[:last] && x.raw[last]&0x7f == s[last]
	}
	return string(x.raw) == s || len(s) > 0 && s[0] >= utf8.RuneSelf && x.decode() == s
}

// decode returns the text as UTF-8; a surrogate without its other half becomes U+FFFD.
func (x text) decode() string {
	if len(x.raw) == 0 {
		return ""
	}
	if x.ascii {
		s := make([]byte, len(x.raw))
		copy(s, x.raw)
		s[len(s)-1] &= 0x7f
		return string(s)
	}
	if utf8.Valid(x.raw) { // without surrogates; no unit has the first byte of a sequence of four
		return string(x.raw)
	}
	u := jdk.NewUnits(len(x.raw))
	for b := x.raw; len(b) > 0; {
		switch {
		case b[0] < utf8.RuneSelf:
			u.Add(rune(b[0]))
			b = b[1:]
		case b[0]>>5 == 0x6:
			u.Add(rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f))
			b = b[2:]
		default:
			u.Add(rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f))
			b = b[3:]
		}
	}
	return u.String()
}

// varint takes an int of one to five bytes, the low seven bits first.
func (r *Reader) varint(what string) uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := r.Byte(what)
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return v
}

// zigzag takes a signed varint.
func (r *Reader) zigzag(what string) int32 {
	v := r.varint(what)
	return int32(v>>1) ^ -int32(v&1)
}

// zigzagLong takes a signed long.
func (r *Reader) zigzagLong(what string) int64 {
	v := r.Varint9(what)
	return int64(v>>1) ^ -int64(v&1)
}

// fixed takes a number of n bytes, in the dialect's byte order.
func (r *Reader) fixed(n int, what string) uint64 {
	v := r.Little(n, what)
	if r.d.isKryo5 {
		return v
	}
	return bits.ReverseBytes64(v) >> (64 - 8*n)
}

// count takes a number of elements of at least size bytes each; offset is subtracted from the number
// on the wire, and null is true if the result is -1.
func (r *Reader) count(what string, size, offset int) (n int, null bool) {
	v := int64(int32(r.varint(what))) - int64(offset)
	if !r.OK() {
		return 0, false
	}
	if v == -1 && offset == 1 {
		return 0, true
	}
	if v < 0 {
		r.Fail(decode.Malformed, what, fmt.Sprint(v))
		return 0, false
	}
	if v*int64(size) > int64(r.Left()) {
		r.Need(int(min(v*int64(size), math.MaxInt32)), fmt.Sprintf("%d elements", v))
		return 0, false
	}
	return int(v), false
}
