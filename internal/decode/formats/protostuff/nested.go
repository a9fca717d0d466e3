package protostuff

import (
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// A nested is a message inside another one. It has one of two forms: a group, which ends with a tag of its own, or bytes
// after their length, as in protocol buffers (Dubbo 2.7.0).
//
// Texts have the wire type of the second form, too. The reader never guesses from the bytes which of them a field has: some
// fields have only nested messages (the field of a Wrapper, elements of collections and of arrays of objects, entries of
// maps, their keys and values, parts of dates and times, the magnitude of a BigInteger), all other fields have none. Of fields
// of application classes the class path tells.
type nested struct {
	field uint64
	outer []byte // the buffer before it was cut at the end of the message; nil for a group
}

// start begins a nested message whose tag has been taken. All nested messages of a value have the same form.
func (r *Reader) start(field uint64, wire byte) nested {
	m := nested{field: field}
	switch {
	case !r.OK():
	case wire != startGroup && wire != delimited:
		r.Fail(decode.Unsupported, "a nested message", fmt.Sprintf("wire type %d", wire))
	case r.form != 0 && wire != r.form:
		r.Fail(decode.Malformed, fmt.Sprintf("a nested message of wire type %d", r.form), fmt.Sprintf("one of wire type %d", wire))
	case wire == startGroup:
		r.number()
	default:
		const what = "a nested message"
		size := r.varint(what)
		if n := int(min(size, math.MaxInt32)); r.Need(n, what) {
			m.outer = r.Buf
			r.Buf = r.Buf[:r.Off+n]
		}
	}
	r.form = wire
	return m
}

// part begins the nested message of a given field, which must stand here.
func (r *Reader) part(field uint64) nested {
	f, w := r.tag()
	if f != field {
		r.Fail(decode.Unsupported, fmt.Sprintf("field %d", field), fmt.Sprintf("field %d", f))
	}
	return r.start(f, w)
}

// next takes the next tag of a nested message, or its end.
func (r *Reader) next(m nested) (field uint64, wire byte, more bool) {
	if m.outer != nil {
		if r.Left() == 0 {
			r.finish(m)
			return 0, 0, false
		}
		field, wire = r.tag()
		return field, wire, r.OK()
	}
	field, wire = r.tag()
	return field, wire, r.OK() && tagOf(field, wire) != tagOf(m.field, endGroup)
}

// finish takes the end of a nested message, which must be here.
func (r *Reader) finish(m nested) {
	switch {
	case m.outer == nil:
		r.expect(tagOf(m.field, endGroup))
	case r.Left() > 0:
		r.Fail(decode.Unsupported, "the end of a nested message", fmt.Sprintf("%d bytes more", r.Left()))
	case r.OK():
		r.Buf = m.outer
	}
}

// skip takes the rest of a nested message and its end.
func (r *Reader) skip(m nested) {
	if m.outer != nil {
		r.Skip(r.Left(), "")
		r.finish(m)
		return
	}
	r.skipGroup(m.field)
}
