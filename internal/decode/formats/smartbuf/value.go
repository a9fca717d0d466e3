package smartbuf

import (
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// A value starts with id<<3 | kind; four heads are constants.
const (
	kindBits = 3
	kindMask = 7

	kindVarint = 0
	kindFloat  = 1
	kindDouble = 2
	kindString = 3
	kindSymbol = 4
	kindObject = 5
	kindNative = 6 // length<<6 | type<<3 | kind
	kindArray  = 7 // length<<8 | type<<4 | more<<3 | kind

	constNull  = 0
	constFalse = 1
	constTrue  = 2
	constEmpty = 3
)

const (
	nativeBool   = 1
	nativeByte   = 2
	nativeShort  = 3
	nativeInt    = 4
	nativeLong   = 5
	nativeFloat  = 6
	nativeDouble = 7
)

// An array is cut into slices of elements of one type; a head of a later slice is length<<5 | type<<1 | more.
const (
	sliceNull = iota
	sliceBool
	sliceFloat
	sliceDouble
	sliceByte
	sliceShort
	sliceInt
	sliceLong
	sliceString
	sliceSymbol
	sliceObject
	sliceMixed
)

// value takes one value.
func (r *Reader) value(l decode.Label, name string, index int) {
	head := r.uvarint("a value")
	if !r.OK() {
		return
	}
	switch head {
	case constNull:
		r.Leaf(decode.Null, l, name, index)
		return
	case constFalse, constTrue:
		r.bool(l, name, index, head == constTrue)
		return
	case constEmpty:
		r.Leaf(decode.List, l, name, index)
		return
	}
	id := head >> kindBits
	switch head & kindMask {
	case kindVarint:
		e := r.lookup(r.lists[kindVarint], id, "number")
		if n := r.pooled(decode.Int, l, name, index, e); n != nil && e != nil {
			n.Num = r.number(e)
		}
	case kindFloat:
		e := r.lookup(r.lists[kindFloat], id, "float")
		if n := r.pooled(decode.Float32, l, name, index, e); n != nil && e != nil {
			n.Float = float32At(r.Buf[e.off:])
		}
	case kindDouble:
		e := r.lookup(r.lists[kindDouble], id, "double")
		if n := r.pooled(decode.Float64, l, name, index, e); n != nil && e != nil {
			n.Float = float64At(r.Buf[e.off:])
		}
	case kindString:
		r.string(l, name, index, id)
	case kindSymbol:
		r.symbol(l, name, index, id)
	case kindObject:
		r.object(l, name, index, id)
	case kindNative:
		r.native(l, name, index, byte(id&7), id>>3)
	case kindArray:
		r.array(l, name, index, id)
	}
}

// pooled adds a value whose content is an entry of a pool. The first value to use the entry owns its bytes, the others own
// only their reference. Without an entry the value is zero or empty.
func (r *Reader) pooled(k decode.Kind, l decode.Label, name string, index int, e *entry) *decode.Node {
	if e == nil {
		return r.Leaf(k, l, name, index)
	}
	if e.used {
		r.countRepeat(e)
		return r.Leaf(k, l, name, index)
	}
	e.used = true
	r.Role("ref")
	return r.LeafAt(k, l, name, index, int(e.off), int(e.end))
}

func (r *Reader) bool(l decode.Label, name string, index int, v bool) {
	r.Leaf(decode.Bool, l, name, index).SetBool(v)
}

func (r *Reader) string(l decode.Label, name string, index int, id uint64) {
	e := r.lookup(r.lists[kindString], id, "string")
	if n := r.pooled(decode.String, l, name, index, e); n != nil && e != nil {
		if r.Values() {
			n.Text = r.text(e)
		}
		if l == decode.ByField && name == "type" {
			r.className = r.text(e)
		}
	}
}

// symbol is the name of an enum constant; its enum is not on the wire.
func (r *Reader) symbol(l decode.Label, name string, index int, id uint64) {
	if r.OK() && id == 0 {
		r.Fail(decode.Malformed, fmt.Sprintf("symbol 1 to %d of the body", len(r.symbols)), "0")
	}
	e := r.lookup(r.symbols, id+1, "symbol")
	if n := r.pooled(decode.String, l, name, index, e); n != nil && e != nil && r.Values() {
		n.Text = r.text(e)
	}
}

// object takes the fields of a struct, or nothing for struct 0.
func (r *Reader) object(l decode.Label, name string, index int, id uint64) {
	if id == 0 {
		r.Leaf(decode.Map, l, name, index)
		return
	}
	s, lasting := r.structOf(id)
	if r.OK() {
		r.members(l, name, index, s, lasting)
	}
}

// structOf returns the struct of that id: even temporary, odd lasting.
func (r *Reader) structOf(id uint64) (s *structure, lasting bool) {
	list := r.tmpStructs
	if lasting = id&1 == 1; lasting {
		list = r.structs
	}
	if i := id>>1 - 1; id > 1 && i < uint64(len(list)) {
		return &list[i], lasting
	}
	r.Fail(decode.Malformed, fmt.Sprintf("a struct of %d", len(list)), fmt.Sprint(id))
	return &structure{}, lasting
}

// members takes the values of a struct's fields.
func (r *Reader) members(l decode.Label, name string, index int, s *structure, lasting bool) {
	if !r.Enter() {
		return
	}
	exception := r.throwable && !lasting
	r.throwable = false
	kind := decode.Map
	if lasting || exception {
		kind = decode.Object
	}
	node := r.Open(kind, l, name, index)
	r.Role("type")
	if !exception && r.Counting() {
		var c sums
		if r.countNames(s, lasting, &c) {
			r.TallyPooled(c.pooled, c.nodes)
			r.countValues(frame{left: int(s.n)})
			r.Close()
			r.Leave()
			return
		}
	}
	for k := range int(s.n) {
		if !r.OK() {
			break
		}
		switch {
		case lasting:
			e := &r.names[r.fields[int(s.first)+k]]
			r.countRepeat(e)
			r.value(decode.ByField, r.text(e), 0)
		case exception:
			e := &r.tmpNames[r.tmpFields[int(s.first)+k]]
			r.own(e, decode.Overhead, decode.ByRole, "field", 0)
			r.value(decode.ByField, r.text(e), 0)
		default:
			e := &r.tmpNames[r.tmpFields[int(s.first)+k]]
			key := r.text(e)
			r.own(e, decode.String, decode.ByKey, key, k).SetText(key)
			r.value(decode.ByEntry, key, k)
		}
	}
	if n := r.Tree.Node(node); n != nil && exception && r.OK() {
		n.Class = r.className
	}
	r.Close()
	r.Leave()
}

// own adds a node for an entry. It owns the entry's bytes unless another node does.
func (r *Reader) own(e *entry, k decode.Kind, l decode.Label, name string, index int) *decode.Node {
	off, end := int(e.off), int(e.end)
	if e.used {
		r.countRepeat(e)
		off = end
	}
	e.used = true
	return r.LeafAt(k, l, name, index, off, end)
}

// native takes an array of primitives.
func (r *Reader) native(l decode.Label, name string, index int, typ byte, count uint64) {
	if bits := elementBits[typ]; count > uint64(r.Left())*8/bits {
		r.Fail(decode.Malformed, "the elements of an array", fmt.Sprintf("%d of type %d", count, typ))
		return
	}
	n := int(count)
	if typ == nativeByte {
		b := r.Bytes(n, "a byte array")
		r.FillRaw(r.Leaf(decode.Bytes, l, name, index), b)
		return
	}
	r.Open(decode.List, l, name, index)
	r.Role("type")
	var bits byte
	for i := 0; i < n && r.OK(); i++ {
		switch typ {
		case nativeBool:
			if i%8 == 0 {
				bits = r.Byte("booleans")
			}
			r.bool(decode.ByIndex, "", i, bits&(1<<(i%8)) != 0)
		case nativeShort:
			v := int16(r.U16("a short"))
			r.int(i, int64(v))
		case nativeInt, nativeLong:
			r.varint(i)
		case nativeFloat:
			r.float(i)
		case nativeDouble:
			r.double(i)
		default:
			r.Fail(decode.Malformed, "an array of type 1 to 7", fmt.Sprint(typ))
		}
	}
	r.Close()
}

// elementBits are the smallest sizes of an element of a native array, in bits.
var elementBits = [...]uint64{8, nativeBool: 1, nativeByte: 8, nativeShort: 16, nativeInt: 8, nativeLong: 8, nativeFloat: 32, nativeDouble: 64}

// array takes slices until one tells that it is the last.
func (r *Reader) array(l decode.Label, name string, index int, head uint64) {
	if !r.Enter() {
		return
	}
	r.Open(decode.List, l, name, index)
	r.Role("type")
	for at := 0; r.OK(); {
		size := head >> 5
		r.slice(byte(head>>1&15), at, size)
		at += int(size)
		if head&1 == 0 {
			break
		}
		head = uint64(r.U16("the head of a slice"))
		r.Role("type")
	}
	r.Close()
	r.Leave()
}

// slice takes size elements of one type, the first of which is element number at of the array.
func (r *Reader) slice(typ byte, at int, size uint64) {
	s, lasting := new(structure), false
	empty := typ == sliceNull
	if typ == sliceObject {
		id := r.uvarint("the struct of a slice")
		if r.OK() && id != 0 {
			s, lasting = r.structOf(id)
		}
		r.Role("type")
		empty = s.n == 0
	}
	switch {
	case !r.OK():
		return
	case empty && size > uint64(maxEmpty-r.empty):
		r.Fail(decode.Limit, fmt.Sprintf("at most %d values without bytes", maxEmpty), "more")
		return
	case empty:
		r.empty += int(size)
	case size > uint64(r.Left()):
		r.Fail(decode.Malformed, fmt.Sprintf("%d elements of a slice", size), fmt.Sprintf("%d bytes to the end of the body", r.Left()))
		return
	}
	if r.Counting() && (typ == sliceMixed || typ == sliceObject && !empty) {
		f := frame{left: int(size), of: s, lasting: lasting}
		if typ == sliceObject {
			f.kind = ofObjects
		}
		r.countValues(f)
		return
	}
	for i := at; i < at+int(size) && r.OK(); i++ {
		switch typ {
		case sliceNull:
			r.Leaf(decode.Null, decode.ByIndex, "", i)
		case sliceBool:
			v := r.Byte("a boolean")
			if r.OK() && v != constFalse && v != constTrue {
				r.Fail(decode.Malformed, "a boolean, 01 or 02", fmt.Sprintf("%02x", v))
			}
			r.bool(decode.ByIndex, "", i, v == constTrue)
		case sliceFloat:
			r.float(i)
		case sliceDouble:
			r.double(i)
		case sliceByte:
			v := int8(r.Byte("a byte"))
			r.int(i, int64(v))
		case sliceShort, sliceInt, sliceLong:
			r.varint(i)
		case sliceString:
			r.string(decode.ByIndex, "", i, r.uvarint("a string"))
		case sliceSymbol:
			// Without stream mode symbols are strings.
			if id := r.uvarint("a symbol"); r.stream {
				r.symbol(decode.ByIndex, "", i, id)
			} else {
				r.string(decode.ByIndex, "", i, id)
			}
		case sliceObject:
			if s.n == 0 {
				r.Leaf(decode.Map, decode.ByIndex, "", i)
			} else {
				r.members(decode.ByIndex, "", i, s, lasting)
			}
		case sliceMixed:
			r.value(decode.ByIndex, "", i)
		default:
			r.Fail(decode.Malformed, "a slice of type 0 to 11", fmt.Sprint(typ))
		}
	}
}

func (r *Reader) int(i int, v int64) {
	r.Leaf(decode.Int, decode.ByIndex, "", i).SetNum(v)
}

func (r *Reader) varint(i int) {
	v := r.uvarint("a number")
	r.int(i, int64(v>>1)^-int64(v&1))
}

func (r *Reader) float(i int) {
	v := math.Float32frombits(uint32(r.Little(4, "a float")))
	r.Leaf(decode.Float32, decode.ByIndex, "", i).SetFloat(float64(v))
}

func (r *Reader) double(i int) {
	v := math.Float64frombits(r.Little(8, "a double"))
	r.Leaf(decode.Float64, decode.ByIndex, "", i).SetFloat(v)
}

func float32At(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
func float64At(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
