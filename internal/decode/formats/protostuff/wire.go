package protostuff

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Wire types: those of protocol buffers, and references of protostuff's graph mode.
const (
	varintWire  = 0
	fixed64Wire = 1
	delimited   = 2
	startGroup  = 3
	endGroup    = 4
	fixed32Wire = 5
	reference   = 6
)

// wireName says what the bytes of a wire type are.
func wireName(wire byte) string {
	return [...]string{"a number", "8 bytes", "bytes with a length", "a message", "the end of a message", "4 bytes", "a reference", "wire type 7"}[wire&7]
}

// typeNames are the types of scalars by their ids.
var typeNames = [...]string{
	idBool: "a boolean", idByte: "a byte", idChar: "a char", idShort: "a short", idInt: "an int", idLong: "a long", idFloat: "a float", idDouble: "a double",
	idString: "a text", idByteString: "bytes", idBytes: "bytes", idBigDecimal: "a BigDecimal", idBigInteger: "a BigInteger", idDate: "a Date",
}

func tagOf(field uint64, wire byte) uint64 { return field<<3 | uint64(wire) }

// tag takes a field number and a wire type.
func (r *Reader) tag() (field uint64, wire byte) {
	v := r.varint("a field")
	return v >> 3, byte(v & 7)
}

// expect takes one tag that must stand here.
func (r *Reader) expect(tag uint64) {
	off := r.Off
	if v := r.varint("a field"); v != tag && r.OK() {
		r.FailAt(off, decode.Unsupported, fmt.Sprintf("tag %x", tag), fmt.Sprintf("tag %x", v))
	}
}

// varint takes seven bits per byte, the low ones first.
func (r *Reader) varint(what string) uint64 {
	if !r.OK() {
		return 0
	}
	if r.Off < len(r.Buf) && r.Buf[r.Off] < 0x80 {
		r.Off++
		return uint64(r.Buf[r.Off-1])
	}
	if b := r.Buf[r.Off:]; len(b) > 1 && b[1] < 0x80 {
		r.Off += 2
		return uint64(b[0]&0x7f) | uint64(b[1])<<7
	}
	v, n := binary.Uvarint(r.Buf[r.Off:])
	if n <= 0 {
		if n < 0 {
			r.Fail(decode.Malformed, what, "a number of more than 64 bits")
		}
		r.Need(r.Left()+1, what)
		return 0
	}
	r.Off += n
	return v
}

// delimited takes a length and that many bytes.
func (r *Reader) delimited(what string) []byte {
	n := r.varint(what)
	return r.Bytes(int(min(n, math.MaxInt32)), what)
}

// text returns bytes as a string, of which equal ones share a copy.
func (r *Reader) text(b []byte) string {
	if string(b) == r.last.name { // as the elements of most lists are of one class
		return r.last.name
	}
	if !utf8.Valid(b) {
		return decode.UTF8(b)
	}
	return r.Name(b)
}

// raw takes a number of a wire type.
func (r *Reader) raw(wire byte) uint64 {
	switch wire {
	case fixed32Wire:
		return r.Little(4, "a number of 32 bits")
	case fixed64Wire:
		return r.Little(8, "a number of 64 bits")
	}
	return r.varint("a number")
}

// skipUsual takes the next fields that are neither messages nor unusual in any way.
func (r *Reader) skipUsual() {
	b, at := r.Buf, r.Off
	for at+1 < len(b) {
		next := at + 1
		if b[at] >= 0x80 {
			if b[next] >= 0x80 {
				break
			}
			next++
		}
		switch b[at] & 7 {
		case varintWire, reference:
			size := decode.VarintSize(b, next)
			if size > 8 {
				size = len(b)
			}
			next += size
		case fixed32Wire:
			next += 4
		case fixed64Wire:
			next += 8
		case delimited:
			switch {
			case next < len(b) && b[next] < 0x80:
				next += 1 + int(b[next])
			case next+1 < len(b) && b[next+1] < 0x80:
				next += 2 + (int(b[next]&0x7f) | int(b[next+1])<<7)
			default:
				next = len(b) + 1
			}
		default:
			next = len(b) + 1
		}
		if next > len(b) {
			break
		}
		at = next
	}
	r.Off = at
}

// skipGroup takes fields up to and with the end of the group of field.
func (r *Reader) skipGroup(field uint64) {
	open := append(r.groups[:0], field)
	for len(open) > 0 && r.OK() {
		r.skipUsual()
		f, w := r.tag()
		switch w {
		case varintWire, reference, fixed32Wire, fixed64Wire:
			r.raw(w)
		case delimited:
			r.delimited("a text")
		case startGroup:
			r.number()
			open = append(open, f)
		case endGroup:
			if f != open[len(open)-1] {
				r.Fail(decode.Malformed, fmt.Sprintf("the end of group %d", open[len(open)-1]), fmt.Sprintf("the end of group %d", f))
			}
			open = open[:len(open)-1]
		default:
			r.Fail(decode.Malformed, "a wire type", fmt.Sprint(w))
		}
		if len(open) > decode.MaxDepth {
			r.Fail(decode.Limit, fmt.Sprintf("groups nested at most %d deep", decode.MaxDepth), "deeper nesting")
		}
	}
	r.groups = open
}
