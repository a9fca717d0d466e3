package fst

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// text is the characters of a string: one byte each, or ff and two bytes.
type text struct {
	raw  []byte // borrowed
	wide bool   // has characters from U+0080 up
}

const escape = 0xff

// text takes a count of UTF-16 units and the units.
func (r *Reader) text() text {
	return r.chars(r.count("the length of a string", 1))
}

func (r *Reader) chars(n int) text {
	c := &r.Cursor
	if !c.OK() {
		return text{}
	}
	off := c.Off
	wide := false
	for ; n > 0; n-- {
		if off >= len(c.Buf) {
			r.work += off - c.Off
			c.Need(off-c.Off+n, "the characters of a string")
			return text{}
		}
		b := c.Buf[off]
		off++
		wide = wide || b >= utf8.RuneSelf
		if b == escape {
			off += 2
		}
	}
	if off > len(c.Buf) {
		r.work += off - c.Off
		c.Need(off-c.Off, "the characters of a string")
		return text{}
	}
	raw := c.Buf[c.Off:off]
	c.Off = off
	return text{raw, wide}
}

// decode returns the text as UTF-8; a surrogate without its other half becomes U+FFFD.
func (x text) decode() string {
	if !x.wide {
		return string(x.raw)
	}
	units := jdk.NewUnits(len(x.raw))
	for i := 0; i < len(x.raw); i++ {
		u := rune(x.raw[i])
		if u == escape {
			if i+2 >= len(x.raw) { // only where the bytes are not those of a text
				units.Add(utf8.RuneError)
				break
			}
			u = rune(binary.LittleEndian.Uint16(x.raw[i+1:]))
			i += 2
		}
		units.Add(u)
	}
	return units.String()
}

// Numbers: one byte where they fit, else a byte that says how many follow, little-endian.
const (
	wide16 = 0x80
	wide32 = 0x81
	wide64 = 0x82
)

// int32 takes an FInt.
func (r *Reader) int32(what string) int32 {
	switch b := r.Byte(what); b {
	case wide16:
		return int32(int16(r.Little(2, what)))
	case wide32:
		return int32(r.Little(4, what))
	default:
		return int32(int8(b))
	}
}

// int64 takes an FLong.
func (r *Reader) int64(what string) int64 {
	switch b := r.Byte(what); b {
	case wide16:
		return int64(int16(r.Little(2, what)))
	case wide32:
		return int64(int32(r.Little(4, what)))
	case wide64:
		return int64(r.Little(8, what))
	default:
		return int64(int8(b))
	}
}

// short takes an FShort or FChar.
func (r *Reader) short(what string) uint16 {
	if b := r.Byte(what); b != escape {
		return uint16(b)
	}
	return uint16(r.Little(2, what))
}

// count takes a number of elements of at least size bytes each.
func (r *Reader) count(what string, size int) int {
	n := int64(r.int32(what))
	switch {
	case !r.OK():
		return 0
	case n < 0:
		r.Fail(decode.Malformed, what, fmt.Sprint(n))
		return 0
	case n*int64(size) > int64(r.Left()):
		r.Need(int(min(n*int64(size), math.MaxInt32)), fmt.Sprintf("%d elements", n))
		return 0
	}
	return int(n)
}
