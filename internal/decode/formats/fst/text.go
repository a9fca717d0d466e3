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
	// packed: of a field marked Compress.
	packed bool
	// order is that of the two bytes.
	order binary.ByteOrder
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
	size, left := charsEnd(c.Buf[c.Off:], n)
	if left > 0 || size > c.Left() {
		r.work += size
		c.Need(size+left, "the characters of a string")
		return text{}
	}
	raw := c.Buf[c.Off : c.Off+size]
	c.Off += size
	return text{raw: raw, wide: !decode.IsASCII(raw), order: r.d.order()}
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
			u = rune(x.order.Uint16(x.raw[i+1:]))
			i += 2
		} else if u == packed && x.packed && i+1 < len(x.raw) {
			k := int(x.raw[i+1])
			i += 2
			for j := range k {
				if b := x.raw[i+j/2]; j%2 == 0 {
					units.Add(rune(nibbles[b&0xf]))
				} else {
					units.Add(rune(nibbles[b>>4]))
				}
			}
			i += (k+1)/2 - 1
			continue
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

// utf takes a text in the form of java.io.DataOutput.
func (r *Reader) utf() []byte {
	return r.Bytes(int(r.U16("the length of a string")), "the characters of a string")
}

// int32 takes an FInt, which FST 1 calls CInt.
func (r *Reader) int32(what string) int32 {
	switch b := r.Byte(what); b {
	case wide16:
		return int32(int16(r.u16(what)))
	case wide32:
		if r.d.one {
			return int32(r.U32(what))
		}
		return int32(r.Little(4, what))
	default:
		return int32(int8(b))
	}
}

// int64 takes an FLong, which FST 1 calls CLong.
func (r *Reader) int64(what string) int64 {
	switch b := r.Byte(what); b {
	case wide16:
		return int64(int16(r.u16(what)))
	case wide32:
		return int64(int32(r.Little(4, what)))
	case wide64:
		return int64(r.Little(8, what))
	default:
		return int64(int8(b))
	}
}

// short takes an FShort or FChar, in FST 1 CShort or CChar.
func (r *Reader) short(what string) uint16 {
	if b := r.Byte(what); b != escape {
		return uint16(b)
	}
	return r.u16(what)
}

// count takes a number of elements of at least size bytes each.
func (r *Reader) count(what string, size int) int { return r.counted(r.int32(what), what, size) }

// writtenCount is count for what a writeObject writes.
func (r *Reader) writtenCount(what string, size int) int {
	return r.counted(r.writtenInt(what), what, size)
}

// writtenInt takes an int that a writeObject writes.
func (r *Reader) writtenInt(what string) int32 {
	if r.d.one {
		return int32(r.Little(4, what))
	}
	return r.int32(what)
}

func (r *Reader) counted(v int32, what string, size int) int {
	n := int64(v)
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
