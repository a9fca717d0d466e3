package dubboserialization

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Tags (GenericDataFlags).
const (
	// 00 to 07: a number of 1 to 8 bytes follows, little-endian, two's complement.
	tagLastNumber = 0x07
	// 0a to 38: the number tag - 19, from -15 to 31.
	tagFirstSmall = 0x0a
	tagZero       = 0x19
	tagLastSmall  = 0x38

	tagObject  = 0x80 // fields, or elements
	tagRef     = 0x81
	tagStream  = 0x82
	tagBytes   = 0x83
	tagValue   = 0x84
	tagValues  = 0x85
	tagMap     = 0x86
	tagDesc    = 0x8a
	tagDescID  = 0x8b
	tagNull    = 0x94
	tagNothing = 0x95 // OBJECT_DUMMY: new Object(), no characters, no bytes
)

// varintAt returns the number of any width at the start of b and its length, 0 when there is none.
func varintAt(b []byte) (v int64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	switch n = numberSize(b[0]); {
	case n > len(b):
		return 0, 0
	case n > 1:
		bits := uint64(0)
		for i, c := range b[1:n] {
			bits |= uint64(c) << (8 * i)
		}
		unused := 64 - 8*(n-1)
		return int64(bits<<unused) >> unused, n
	case n == 1:
		return int64(b[0]) - tagZero, 1
	}
	return 0, 0
}

// numberSize returns the bytes of a number that starts with tag, 0 if none does.
func numberSize(tag byte) int {
	switch {
	case tag <= tagLastNumber:
		return int(tag) + 2
	case isNumber(tag):
		return 1
	}
	return 0
}

// isNumber reports whether tag starts a number.
func isNumber(tag byte) bool {
	return tag <= tagLastNumber || tag >= tagFirstSmall && tag <= tagLastSmall
}

// varint takes a number of any width.
func (r *Reader) varint(what string) int64 {
	if !r.OK() {
		return 0
	}
	v, n := varintAt(r.Buf[r.Off:])
	if n > 0 {
		r.Off += n
		return v
	}
	switch tag, ok := r.Peek(); {
	case !ok:
		r.Need(1, what)
	case tag <= tagLastNumber:
		r.Off++
		r.Need(int(tag)+1, what)
	default:
		r.Fail(decode.Malformed, what, decode.HexByte(tag))
	}
	return 0
}

// uintAt returns the length or index at the start of b and its own length, 0 when there is none below 2^31: seven bits in a
// byte, low ones first, the last byte has bit 7 set.
func uintAt(b []byte) (v, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		v |= int(c&0x7f) << (7 * n)
		if n++; c >= 0x80 {
			if v > math.MaxInt32 {
				break
			}
			return v, n
		}
	}
	return 0, 0
}

// uint takes a length or an index.
func (r *Reader) uint(what string) int {
	if !r.OK() {
		return 0
	}
	v, n := uintAt(r.Buf[r.Off:])
	switch {
	case n > 0:
	case r.Left() < 5 && bytes.IndexFunc(r.Buf[r.Off:], func(c rune) bool { return c >= 0x80 }) < 0:
		r.Need(r.Left()+1, what)
	default:
		r.Fail(decode.Malformed, what+" below 2^31", "more")
	}
	r.Off += n
	return v
}

// elements takes a number of elements, of at least a byte each.
func (r *Reader) elements(what string) int { return r.fits(r.Off, r.uint(what), what) }

// fits checks a count that was read at offset at.
func (r *Reader) fits(at, n int, what string) int {
	if !r.OK() || n >= 0 && n <= r.Left() {
		return n
	}
	if n >= 0 && r.Short != decode.Malformed {
		return n // the rest may be beyond the capture
	}
	r.FailAt(at, decode.Malformed, what, fmt.Sprintf("%d, with %d bytes to the end of the body", n, r.Left()))
	return 0
}

// text is the UTF-16 units of a string, in 1 to 3 bytes each.
type text struct {
	raw  []byte // borrowed
	wide bool   // has characters from U+0080 up
	null bool
}

// text takes what writeUTF wrote.
func (r *Reader) text() text {
	at := r.Off
	switch tag := r.Byte("a string"); {
	case !r.OK():
	case tag == tagNull:
		return text{null: true}
	case tag == tagNothing:
	case tag == tagBytes:
		return r.chars(r.uint("the length of a string"))
	default:
		r.FailAt(at, decode.Malformed, "a string", decode.HexByte(tag))
	}
	return text{}
}

// chars takes n characters.
func (r *Reader) chars(n int) text {
	if !r.OK() {
		return text{}
	}
	rest := r.Buf[r.Off:]
	size, taken := measure(rest, n)
	if taken < n {
		if size < len(rest) && !cutUnit(rest[size:]) {
			r.FailAt(r.Off+size, decode.Malformed, "a character of one to three bytes", decode.HexByte(rest[size]))
		}
		r.Need(size+n-taken, "the characters of a string")
		r.Fail(r.Short, "the characters of a string", "part of one at the end")
		return text{}
	}
	r.Off += size
	return text{raw: rest[:size], wide: size > n}
}

// measure returns the size of the first n characters of b, or of fewer if not all are well-formed.
func measure(b []byte, n int) (size, taken int) {
	for taken < n {
		if n-taken >= 8 && len(b)-size >= 8 && binary.LittleEndian.Uint64(b[size:])&0x8080808080808080 == 0 {
			size, taken = size+8, taken+8 // ASCII
			continue
		}
		_, k := jdk.Unit(b[size:])
		if k == 0 {
			break
		}
		size += k
		taken++
	}
	return size, taken
}

// cutUnit reports whether b may be the start of a unit whose rest is missing.
func cutUnit(b []byte) bool {
	switch {
	case len(b) == 0:
		return true
	case len(b) == 1:
		return b[0]&0xe0 == 0xc0 || b[0]&0xf0 == 0xe0
	case len(b) == 2:
		return b[0]&0xf0 == 0xe0 && b[1]&0xc0 == 0x80
	}
	return false
}

// decode returns the text as UTF-8; half a surrogate pair becomes U+FFFD.
func (x text) decode() string {
	if !x.wide {
		return string(x.raw)
	}
	return jdk.UTF(x.raw)
}
