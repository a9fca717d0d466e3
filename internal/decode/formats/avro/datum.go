package avro

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// datum takes one value of a declared type.
func (r *Reader) datum(l decode.Label, name string, index int, typ string) {
	if s := builtin[typ]; s != nil {
		r.value(s, l, name, index)
		return
	}
	if len(typ) > 1 && typ[0] == '[' {
		r.builtinArray(l, name, index, typ)
		return
	}
	r.Fail(decode.Unsupported, "the fields of class "+decode.JavaName(typ), withoutClass)
}

// builtinArray takes an array of a declared type.
func (r *Reader) builtinArray(l decode.Label, name string, index int, typ string) {
	if typ == "[B" {
		r.value(blobs, l, name, index)
		return
	}
	elem := typ[1:]
	s := builtin[elem]
	if len(elem) > 1 && elem[0] != '[' && (s == nil || s == voids) {
		r.Fail(decode.Unsupported, "elements of class "+decode.JavaName(elem), withoutClass)
		return
	}
	r.array(s, elem, l, name, index)
}

// value takes a value of a schema. Bytes before it that have no node, such as the number of a branch, are its own.
func (r *Reader) value(s *schema, l decode.Label, name string, index int) {
	switch s.kind {
	case integer:
		v := r.bounded(s)
		r.Leaf(decode.Int, l, name, index).SetNum(v)
	case char:
		v := r.bounded(s)
		if n := r.Leaf(decode.Char, l, name, index); n != nil && r.Values() {
			n.Text = string(rune(uint16(v)))
		}
	case boolean:
		v := r.Byte("a boolean")
		if r.strict && v > 1 {
			r.FailAt(r.Off-1, decode.Malformed, "a boolean", fmt.Sprint(v))
		}
		r.Leaf(decode.Bool, l, name, index).SetBool(v != 0)
	case float:
		v := math.Float32frombits(uint32(r.Little(4, "a float")))
		r.Leaf(decode.Float32, l, name, index).SetFloat(float64(v))
	case double:
		v := math.Float64frombits(r.Little(8, "a double"))
		r.Leaf(decode.Float64, l, name, index).SetFloat(v)
	case str:
		if s.class != "" {
			r.namedText(s, l, name, index)
			return
		}
		b := r.text("a string")
		r.FillUTF8(r.Leaf(decode.String, l, name, index), b)
	case number:
		at := r.Off
		b := r.bytes("a number")
		if r.strict && r.OK() && !isNumber(b) {
			r.FailAt(at, decode.Malformed, "a decimal number", "another text")
		}
		r.FillUTF8(r.Leaf(decode.Decimal, l, name, index), b)
	case raw:
		b := r.bytes("bytes")
		r.FillRaw(r.Leaf(decode.Bytes, l, name, index), b)
	default:
		r.composite(s, l, name, index)
	}
}

// isNumber reports whether a text has the characters of a BigDecimal.
func isNumber(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "-+.0123456789E")) == 0 }

// bounded takes a number of a type.
func (r *Reader) bounded(s *schema) int64 {
	at := r.Off
	v := r.long("a number")
	if r.strict && (v < s.bounds.low || v > s.bounds.high) {
		r.FailAt(at, decode.Malformed, fmt.Sprintf("a number from %d to %d", s.bounds.low, s.bounds.high), fmt.Sprint(v))
	}
	return v
}

// text takes a text.
func (r *Reader) text(what string) []byte {
	at := r.Off
	b := r.bytes(what)
	if r.strict && !utf8.Valid(b) {
		r.FailAt(at, decode.Malformed, what, "bytes that are not UTF-8")
	}
	return b
}

// blocks are those of an array or a map: each has its number of items, and the last one none. A negative number is followed by the size
// of its block.
type blocks struct {
	index int   // of the item that is read
	left  int64 // items of the block, with the one that is read
	at    int   // where that begins
	empty int   // items without bytes so far
}

// next prepares to read the next item, of which each has at least some bytes. It returns false after the last one.
func (r *Reader) next(b *blocks, least int) bool {
	begun := b.left > 0
	if begun {
		b.index++
		b.left--
		if r.Off == b.at {
			if b.empty++; b.empty > decode.MaxRepeated {
				r.Fail(decode.Limit, fmt.Sprintf("at most %d elements without bytes", decode.MaxRepeated), "more")
			}
		}
	}
	if b.left == 0 && r.OK() {
		r.header(b, least, begun)
	}
	b.at = r.Off
	return b.left > 0 && r.OK()
}

// header takes what stands before a block. Java's writer makes one block.
func (r *Reader) header(b *blocks, least int, second bool) {
	at := r.Off
	n := r.long("the number of elements")
	switch {
	case r.strict && r.OK() && second && n != 0:
		r.FailAt(at, decode.Malformed, "the end of the elements", "more of them")
	case r.strict && n < 0:
		r.FailAt(at, decode.Malformed, "the number of elements", fmt.Sprint(n))
	case n < 0:
		n = -n
		r.long("the size of a block")
	}
	r.Role("length")
	if n < 0 || least > 0 && n > int64(r.Left()) {
		r.Need(int(min(uint64(n), math.MaxInt32)), fmt.Sprintf("%d elements", n))
	}
	b.left = n
}

// array takes an array. Its elements have a schema, or elem is the descriptor of the arrays that they are.
func (r *Reader) array(s *schema, elem string, l decode.Label, name string, index int) {
	r.Open(decode.List, l, name, index)
	r.Role("type")
	if !r.Enter() {
		return
	}
	least := 1
	if s != nil {
		least = s.least()
	}
	for b := (blocks{}); r.next(&b, least); {
		if s != nil {
			r.value(s, decode.ByIndex, "", b.index)
		} else {
			r.builtinArray(decode.ByIndex, "", b.index, elem)
		}
	}
	r.Leave()
	r.Close()
}

// long takes a zigzag varint of up to ten bytes.
func (r *Reader) long(what string) int64 {
	v, size := varint(r.Buf[r.Off:])
	if size == 0 {
		if r.Left() >= 10 {
			r.Fail(decode.Malformed, what, "a number of more than 64 bits")
		}
		r.Need(r.Left()+1, what)
		return 0
	}
	if r.strict && size > 1 && r.Buf[r.Off+size-1] == 0 {
		r.Fail(decode.Malformed, what, "a number that takes more bytes than it needs")
	}
	r.Skip(size, what)
	return unzigzag(v)
}

// bytes takes a length and that many bytes.
func (r *Reader) bytes(what string) []byte {
	n := r.long(what)
	if n < 0 {
		r.Fail(decode.Malformed, what+" of a length from 0", fmt.Sprint(n))
		return nil
	}
	return r.Bytes(int(min(n, math.MaxInt32)), what)
}

// varint reads seven bits per byte, the low ones first; size is 0 where it does not end.
func varint(b []byte) (v uint64, size int) {
	v, size = binary.Uvarint(b)
	return v, max(size, 0)
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
