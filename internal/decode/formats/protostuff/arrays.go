package protostuff

import (
	"fmt"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// missing records that an array has null elements, which are not written and whose positions are not known. The node has no
// bytes.
func (r *Reader) missing(length uint64, elements int) {
	if length > uint64(elements) {
		off := r.Off
		r.Off -= r.Pending()
		r.Leaf(decode.Opaque, decode.ByIndex, "", elements)
		r.Off = off
	}
}

// ordinals takes the constants of an enum array.
func (r *Reader) ordinals(class string, m nested) (i int) {
	s := r.schemaOf(class)
	for ; r.OK(); i++ {
		f, w, more := r.next(m)
		if !more {
			return i
		}
		if f != 2 || w != varintWire {
			r.Fail(decode.Unsupported, "an ordinal", fmt.Sprintf("field %d", f))
		}
		v, name := r.ordinal(class, s)
		if n := r.Leaf(decode.Enum, decode.ByIndex, "", i); n != nil {
			n.Class, n.Num, n.Text = class, int64(int32(v)), name
		}
	}
	return i
}

// scalars takes an array of primitives, boxes, strings or numbers: a code of the type, the length, the elements. Null
// elements are missing.
func (r *Reader) scalars(m nested) {
	code := r.varint("a type of elements")
	id := code + 1 // primitives
	if code >= 8 {
		id = code - 7
	}
	n := r.field(1)
	r.Role("length")
	for i := 0; r.OK(); i++ {
		f, w, more := r.next(m)
		if !more {
			r.missing(n, i)
			return
		}
		if f != 2 {
			r.Fail(decode.Unsupported, "an element", fmt.Sprintf("field %d", f))
			return
		}
		r.scalarElement(decode.Place{Label: decode.ByIndex, Index: i}, id, w)
	}
}

func (r *Reader) scalarElement(p decode.Place, id uint64, wire byte) {
	switch {
	case id >= idBool && id <= idDouble && wire == primitive[id].wire:
		s := &primitive[id]
		v := r.numeral(s, wire)
		if n := r.Scalar(p, s.kind); n != nil {
			s.set(n, v)
		}
	case id == idDate && wire == fixed64Wire:
		v := int64(r.raw(wire))
		if n := r.Scalar(p, decode.Date); n != nil && r.Values() {
			n.Text = jdk.Instant(time.UnixMilli(v))
		}
	case wire == delimited && (id == idString || id == idBigDecimal):
		raw := r.delimited("a text")
		kind := decode.String
		if id == idBigDecimal {
			kind = decode.Decimal
			r.checkDecimal(raw)
		}
		r.checkText(raw)
		if n := r.Scalar(p, kind); n != nil && (r.Values() || p.Label == decode.ByKey) {
			n.Text = decode.UTF8(raw)
		}
	case wire == delimited && (id == idBytes || id == idByteString):
		raw := r.delimited("bytes")
		r.FillRaw(r.Scalar(p, decode.Bytes), raw)
	case wire == delimited && id == idBigInteger:
		raw := r.delimited("a number")
		if len(raw) > 4*maxWords {
			r.Scalar(p, decode.Opaque)
			return
		}
		if n := r.Scalar(p, decode.Decimal); n != nil && r.Values() {
			n.Text = jdk.Signed(raw).String()
		}
	case r.entered:
		r.misfits(r.Off, typeNames[id], wireName(wire))
	default:
		r.Fail(decode.Unsupported, "an element", fmt.Sprintf("type %d of wire type %d", id, wire))
	}
}
