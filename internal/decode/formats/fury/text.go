package fury

import (
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// A text is a string on the wire: bytes, and the coder that tells their encoding.
type text struct {
	raw   []byte // borrowed
	coder byte
}

// Coders: one byte for each character, or two, little-endian on nearly every machine that runs Java. 0.10 can write UTF-8,
// too.
const (
	latin1 = iota
	utf16le
	utf8s
)

// text takes a string: its coder, its length in bytes and the bytes. In 0.10 coder and length are one number.
func (r *Reader) text() (x text) {
	off := r.Off
	var n uint64
	if r.v010 {
		n = r.Varint9("the length of a string")
		x.coder = byte(n & 3)
		n >>= 2
	} else {
		x.coder = r.Byte("the coder of a string")
		n = r.Varint9("the length of a string")
	}
	if r.OK() && (x.coder > utf8s || x.coder == utf8s && !r.v010 || x.coder == utf16le && n%2 != 0) {
		r.FailAt(off, decode.Malformed, "a string", fmt.Sprintf("coder %d, %d bytes", x.coder, n))
	}
	if x.coder == utf8s && r.Left() >= 4 { // what n was is the length as UTF-16; some writers leave out the other one
		if m := int(le.Uint32(r.Buf[r.Off:])); m <= r.Left()-4 && isUTF8Of(r.Buf[r.Off+4:][:m], n) {
			r.Off += 4
			n = uint64(m)
		}
	}
	x.raw = r.Bytes(int(min(n, math.MaxInt32)), "a string")
	return x
}

// isUTF8Of reports whether a text takes n bytes as UTF-16.
func isUTF8Of(b []byte, n uint64) bool {
	units := uint64(0)
	for _, c := range b {
		switch {
		case c >= 0xf0:
			units += 2
		case c&0xc0 != 0x80:
			units++
		}
	}
	return 2*units == n
}

// decode returns the text as UTF-8; a surrogate without its other half becomes U+FFFD.
func (x text) decode() string {
	switch x.coder {
	case latin1:
		return decode.Latin1(x.raw)
	case utf16le:
		return decode.UTF16(x.raw, binary.LittleEndian)
	}
	return decode.UTF8(x.raw)
}

// tagged takes a long: four bytes whose lowest bit is 0, or 01 and eight bytes.
func (r *Reader) tagged(what string) int64 {
	if b, ok := r.Peek(); ok && b&1 != 0 {
		if b != 1 {
			r.Fail(decode.Malformed, what, decode.HexByte(b))
			return 0
		}
		r.Off++
		return int64(r.Little(8, what))
	}
	return int64(int32(r.Little(4, what)) >> 1)
}

// count takes a number of elements of at least size bytes each.
func (r *Reader) count(what string, size int) int {
	return r.fitsLeft(r.Varint9(what), size)
}

// fitsLeft checks a number of elements.
func (r *Reader) fitsLeft(n uint64, size int) int {
	if r.OK() && n > uint64(r.Left()/size) {
		r.Need(int(min(n, math.MaxInt32/8))*size, fmt.Sprintf("%d elements", n))
	}
	if !r.OK() {
		return 0
	}
	return int(n)
}
