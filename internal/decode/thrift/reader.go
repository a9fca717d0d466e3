package thrift

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// reader reads the values of one message, which it borrows.
type reader struct {
	decode.Recorder
	compact bool
}

// place names a value within its container.
type place struct {
	label decode.Label
	name  string
	index int
}

// field is the header of a field. In TCompactProtocol it has the value of a bool.
type field struct {
	typ  byte
	bool bool // the value, in TCompactProtocol
	id   int16
}

// field takes the header of a field; last is the number of the one before it. The type tStop is the end of a struct.
func (r *reader) field(last int16) (f field) {
	c := r.Byte("a field, or the end of a struct")
	switch {
	case !r.OK() || c == tStop:
		return field{typ: tStop}
	case !r.compact:
		f.typ = c
		f.id = int16(r.U16("the number of a field"))
	default:
		f.typ, f.bool = compactTypes[c&0xf], c&0xf == 1
		if delta := int16(c >> 4); delta > 0 {
			f.id = last + delta
		} else {
			f.id = int16(r.zigzag("the number of a field"))
		}
	}
	if r.OK() && !isType(f.typ) {
		r.Fail(decode.Malformed, "the type of a field", decode.HexByte(c))
	}
	return f
}

// varint takes a number with seven bits in each byte, the lowest first.
func (r *reader) varint(what string) uint64 {
	v, n := binary.Uvarint(r.Buf[min(r.Off, len(r.Buf)):])
	switch {
	case !r.OK():
		return 0
	case n > 0:
		r.Off += n
		return v
	case n < 0:
		r.Fail(decode.Malformed, what, "a number of more than 64 bits")
	default:
		r.Need(len(r.Buf)-r.Off+1, what)
	}
	return 0
}

func (r *reader) zigzag(what string) int64 {
	u := r.varint(what)
	return int64(u>>1) ^ -int64(u&1)
}

// value takes a value of that type.
func (r *reader) value(p place, typ byte) {
	switch typ {
	case tBool:
		c := r.Byte("a bool")
		r.Leaf(decode.Bool, p.label, p.name, p.index).SetBool(c == 1)
	case tByte:
		r.integer(p, int64(int8(r.Byte("a byte"))))
	case tI16:
		if r.compact {
			r.integer(p, r.zigzag("an integer"))
		} else {
			r.integer(p, int64(int16(r.U16("an integer"))))
		}
	case tI32:
		if r.compact {
			r.integer(p, r.zigzag("an integer"))
		} else {
			r.integer(p, int64(int32(r.U32("an integer"))))
		}
	case tI64:
		if r.compact {
			r.integer(p, r.zigzag("an integer"))
		} else {
			r.integer(p, int64(r.U64("an integer")))
		}
	case tDouble:
		bits := uint64(0)
		if r.compact {
			bits = r.Little(8, "a double")
		} else {
			bits = r.U64("a double")
		}
		r.Leaf(decode.Float64, p.label, p.name, p.index).SetFloat(math.Float64frombits(bits))
	case tUUID:
		b := r.Bytes(16, "a UUID")
		r.FillRaw(r.Leaf(decode.Bytes, p.label, p.name, p.index), b)
	case tString:
		r.text(p, r.text0())
	case tStruct:
		r.object(p, "")
	case tMap:
		r.mapOf(p)
	case tSet, tList:
		r.list(p)
	default:
		r.Fail(decode.Malformed, "a type", decode.HexByte(typ))
	}
}

func (r *reader) integer(p place, v int64) {
	r.Leaf(decode.Int, p.label, p.name, p.index).SetNum(v)
}

// text0 takes a length and so many bytes.
func (r *reader) text0() []byte {
	n := uint64(0)
	if r.compact {
		n = r.varint("the length of a text")
	} else {
		n = uint64(r.U32("the length of a text"))
	}
	if n > math.MaxInt32 {
		r.Fail(decode.Malformed, "a length", strconv.FormatUint(n, 10))
	}
	return r.Bytes(int(n), "a text")
}

// text records b as a text or as bytes.
func (r *reader) text(p place, b []byte) {
	if utf8.Valid(b) {
		r.FillUTF8(r.Leaf(decode.String, p.label, p.name, p.index), b)
		return
	}
	r.FillRaw(r.Leaf(decode.Bytes, p.label, p.name, p.index), b)
}

// object takes a struct.
func (r *reader) object(p place, class string) {
	if !r.Enter() {
		return
	}
	node := r.Open(decode.Object, p.label, p.name, p.index)
	if n := r.Tree.Node(node); n != nil {
		n.Class = class
	}
	for last := int16(0); r.OK(); {
		f := r.field(last)
		if f.typ == tStop {
			r.Role("end")
			break
		}
		last = f.id
		r.member(place{label: decode.ByField, name: r.number(f.id)}, f)
	}
	r.Close()
	r.Leave()
}

// member takes the value of a field whose header was taken.
func (r *reader) member(p place, f field) {
	if f.typ == tBool && r.compact {
		r.Leaf(decode.Bool, p.label, p.name, p.index).SetBool(f.bool)
		return
	}
	r.Role("field")
	r.value(p, f.typ)
}

// numbers has the names of the first fields.
var numbers = func() (t [64]string) {
	for i := range t {
		t[i] = "#" + strconv.Itoa(i)
	}
	return t
}()

// fieldName returns the name of the field with that number.
func fieldName(id int16) string {
	if id >= 0 && int(id) < len(numbers) {
		return numbers[id]
	}
	return "#" + strconv.Itoa(int(id))
}

// number is fieldName for a node: names of a tree have one copy.
func (r *reader) number(id int16) string {
	if id >= 0 && int(id) < len(numbers) {
		return numbers[id]
	}
	if r.Tree == nil {
		return "" // without a tree it is not used
	}
	var buf [8]byte
	return r.Name(strconv.AppendInt(append(buf[:0], '#'), int64(id), 10))
}

// list takes a list or a set.
func (r *reader) list(p place) {
	if !r.Enter() {
		return
	}
	c := r.head("a list", parseListHead)
	r.Open(decode.List, p.label, p.name, p.index)
	r.Role("length")
	for i := 0; i < int(c.size) && r.OK(); i++ {
		r.value(place{index: i}, c.types[0])
	}
	r.Close()
	r.Leave()
}

// head takes the head of a list or a map.
func (r *reader) head(what string, parse func([]byte, bool) (collection, int)) collection {
	if !r.OK() {
		return collection{}
	}
	c, n := parse(r.Buf[r.Off:], r.compact)
	switch {
	case n > 0:
		r.Off += n
	case n == 0:
		r.Need(len(r.Buf)-r.Off+1, "the head of "+what)
	default:
		r.Fail(decode.Malformed, "types and size of "+what, fmt.Sprintf("% x", r.Buf[r.Off:min(r.Off+6, len(r.Buf))]))
	}
	return c
}

func (r *reader) mapOf(p place) {
	if !r.Enter() {
		return
	}
	c := r.head("a map", parseMapHead)
	r.Open(decode.Map, p.label, p.name, p.index)
	r.Role("length")
	for i := 0; i < int(c.size) && r.OK(); i++ {
		key := r.key(i, c.types[0])
		r.value(place{decode.ByEntry, key, i}, c.types[1])
	}
	r.Close()
	r.Leave()
}

// key takes a key and returns its text, "" if it is not a text.
func (r *reader) key(i int, typ byte) string {
	p := place{label: decode.ByKey, index: i}
	if typ != tString {
		r.value(p, typ)
		return ""
	}
	b := r.text0()
	if r.Tree == nil || !r.OK() || !utf8.Valid(b) {
		r.text(p, b)
		return ""
	}
	p.name = r.Name(b)
	r.Leaf(decode.String, p.label, p.name, i).SetText(p.name)
	return p.name
}
