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
		r.value(s, r.At(l, name, index))
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
		r.value(blobs, r.At(l, name, index))
		return
	}
	elem := typ[1:]
	s := builtin[elem]
	if len(elem) > 1 && elem[0] != '[' && (s == nil || s == voids) {
		r.Fail(decode.Unsupported, "elements of class "+decode.JavaName(elem), withoutClass)
		return
	}
	r.items(r.At(l, name, index), 1, func(p decode.Place) {
		if s != nil {
			r.value(s, p)
		} else {
			r.builtinArray(p.Label, p.Name, p.Index, elem)
		}
	})
}

// value takes a value of a schema, which starts at p: bytes before it that have no node, such as the number of a branch, are its own.
func (r *Reader) value(s *schema, p decode.Place) {
	switch s.kind {
	case integer:
		v := r.bounded(s)
		r.Leaf(decode.Int, p.Label, p.Name, p.Index).SetNum(v)
	case char:
		v := r.bounded(s)
		if n := r.Leaf(decode.Char, p.Label, p.Name, p.Index); n != nil && r.Values() {
			n.Text = string(rune(uint16(v)))
		}
	case boolean:
		v := r.Byte("a boolean")
		if r.strict && v > 1 {
			r.FailAt(r.Off-1, decode.Malformed, "a boolean", fmt.Sprint(v))
		}
		r.Leaf(decode.Bool, p.Label, p.Name, p.Index).SetBool(v != 0)
	case float:
		v := math.Float32frombits(uint32(r.Little(4, "a float")))
		r.Leaf(decode.Float32, p.Label, p.Name, p.Index).SetFloat(float64(v))
	case double:
		v := math.Float64frombits(r.Little(8, "a double"))
		r.Leaf(decode.Float64, p.Label, p.Name, p.Index).SetFloat(v)
	case str:
		if s.class != "" {
			r.namedText(s, p)
			return
		}
		b := r.text("a string")
		r.FillUTF8(r.Leaf(decode.String, p.Label, p.Name, p.Index), b)
	case number:
		at := r.Off
		b := r.bytes("a number")
		if r.strict && r.OK() && !isNumber(b) {
			r.FailAt(at, decode.Malformed, "a decimal number", "another text")
		}
		r.FillUTF8(r.Leaf(decode.Decimal, p.Label, p.Name, p.Index), b)
	case raw:
		b := r.bytes("bytes")
		r.FillRaw(r.Leaf(decode.Bytes, p.Label, p.Name, p.Index), b)
	default:
		r.composite(s, p)
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

// items takes blocks of items, each with its count, up to an empty one. A negative count is followed by the size of its
// block. Each has at least some bytes.
func (r *Reader) items(p decode.Place, least int, read func(decode.Place)) {
	r.Open(decode.List, p.Label, p.Name, p.Index)
	if p.Start < r.Off {
		r.Role("type")
	}
	r.blocks(least, func(i int) { read(r.At(decode.ByIndex, "", i)) })
	r.Close()
}

// blocks calls read for each item of the blocks, which has at least some bytes.
func (r *Reader) blocks(least int, read func(i int)) {
	if !r.Enter() {
		return
	}
	for i, empty := 0, 0; r.OK(); {
		at := r.Off
		n := r.long("the number of elements")
		if n < 0 {
			if r.strict {
				r.FailAt(at, decode.Malformed, "the number of elements", fmt.Sprint(n))
			}
			n = -n
			r.long("the size of a block")
		}
		r.Role("length")
		if n == 0 || !r.OK() {
			break
		}
		if n < 0 || least > 0 && n > int64(r.Left()) {
			r.Need(int(min(uint64(n), math.MaxInt32)), fmt.Sprintf("%d elements", n))
			break
		}
		for ; n > 0 && r.OK(); n-- {
			at := r.Off
			read(i)
			i++
			if r.Off > at {
				continue
			}
			if empty++; empty > decode.MaxRepeated {
				r.Fail(decode.Limit, fmt.Sprintf("at most %d elements without bytes", decode.MaxRepeated), "more")
			}
		}
		if r.strict && r.OK() {
			if end := r.Byte("the end of the elements"); end != 0 {
				r.FailAt(r.Off-1, decode.Malformed, "the end of the elements", "more of them")
			}
			r.Role("length")
			break
		}
	}
	r.Leave()
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
