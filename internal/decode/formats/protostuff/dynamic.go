package protostuff

import (
	"fmt"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Ids of the members of a dynamic message: an object whose type is not declared (ObjectSchema, RuntimeFieldFactory).
const (
	idBool       = 1
	idByte       = 2
	idChar       = 3
	idShort      = 4
	idInt        = 5
	idLong       = 6
	idFloat      = 7
	idDouble     = 8
	idString     = 9
	idByteString = 10
	idBytes      = 11
	idBigDecimal = 12
	idBigInteger = 13
	idDate       = 14
	idArray      = 15
	idEnum       = 24
	idCollection = 25
	idMap        = 26
	idDelegate   = 30
	idScalars    = 33
	idEnums      = 34
	idPojo       = 127
)

// primitive maps the ids of scalar members to their types.
var primitive = [...]scalarType{
	idBool: scalars["java.lang.Boolean"], idByte: scalars["java.lang.Byte"], idChar: scalars["java.lang.Character"], idShort: scalars["java.lang.Short"],
	idInt: scalars["java.lang.Integer"], idLong: scalars["java.lang.Long"], idFloat: scalars["java.lang.Float"], idDouble: scalars["java.lang.Double"],
}

// seen is an object that a reference can mean.
type seen struct {
	node int32  // -1 when it is inside an object that is not decoded
	text []byte // its UTF-8, when it is a string
	copy string
}

// number assigns a number to the object whose group starts here. Messages after a length need none: no reference means them.
func (r *Reader) number() {
	r.objects++
	if r.Tree != nil {
		r.seen = append(r.seen, seen{node: int32(len(r.Tree.Nodes))})
	}
}

// maxCopied limits the bytes of texts that are repeated for references, per byte of the body: a few bytes could stand for
// gigabytes.
const maxCopied = 16

// element takes a dynamic message or a reference; its tag has been taken.
func (r *Reader) element(p decode.Place, field uint64, wire byte) {
	switch wire {
	case startGroup, delimited:
		r.dynamic(p, r.start(field, wire), header{})
	case reference:
		n := r.varint("the number of an object")
		if r.OK() && n >= uint64(r.objects) {
			r.Fail(decode.Malformed, fmt.Sprintf("the number of one of %d objects", r.objects), fmt.Sprint(n))
		}
		if r.OK() {
			r.refer(p, int(n))
		}
	default:
		r.Fail(decode.Unsupported, "an object or a reference", fmt.Sprintf("wire type %d", wire))
	}
}

func (r *Reader) refer(p decode.Place, k int) {
	if r.Tree == nil {
		r.Scalar(p, decode.Ref)
		return
	}
	s := &r.seen[k]
	if s.node < 0 {
		r.Scalar(p, decode.Opaque)
		return
	}
	if s.copy == "" && len(s.text) > 0 {
		s.copy = decode.UTF8(s.text)
	}
	if r.copied += len(s.copy); s.text != nil && r.copied <= maxCopied*len(r.Buf) {
		if n := r.Scalar(p, decode.String); n != nil && (r.Values() || p.Label == decode.ByKey) {
			n.Text = s.copy
		}
		return
	}
	r.Scalar(p, decode.Ref).SetNum(int64(s.node))
}

// dynamic takes the member of a dynamic message, whose start has been taken, and the end of the message. h is the header of
// the outermost one.
func (r *Reader) dynamic(p decode.Place, m nested, h header) {
	self := len(r.seen) - 1
	id, wire := r.tag()
	var kind decode.Kind
	fill := func(*decode.Node) {}
	switch {
	case !r.OK():
		return
	case id >= idBool && id <= idDouble && wire == primitive[id].wire:
		s := primitive[id]
		v := r.raw(wire)
		kind, fill = s.kind, func(n *decode.Node) { s.set(n, v) }
	case id == idDate && wire == fixed64Wire:
		v := int64(r.raw(wire))
		kind, fill = decode.Date, func(n *decode.Node) { n.Text = jdk.Instant(time.UnixMilli(v)) }
	case wire == delimited:
		raw := r.delimited("a text")
		if !r.OK() {
			return
		}
		switch id {
		case idString:
			if self >= 0 {
				r.seen[self].text = raw
			}
			kind, fill = decode.String, func(n *decode.Node) { n.Text = decode.UTF8(raw) }
		case idByteString, idBytes:
			kind, fill = decode.Bytes, func(n *decode.Node) { n.Raw = raw }
		case idBigDecimal:
			kind, fill = decode.Decimal, func(n *decode.Node) { n.Text = decode.UTF8(raw) }
		case idBigInteger:
			if len(raw) > 4*maxWords {
				kind = decode.Opaque
				break
			}
			kind, fill = decode.Decimal, func(n *decode.Node) { n.Text = jdk.Signed(raw).String() }
		case idEnum:
			ordinal := r.field(1)
			kind, fill = decode.Enum, func(n *decode.Node) { n.Class, n.Num = decode.UTF8(raw), int64(int32(ordinal)) }
		case idDelegate:
			kind, fill = r.delegate(decode.UTF8(raw))
		case idPojo:
			if !inParts[string(raw)] {
				r.container(p, m, h, id, decode.UTF8(raw))
				return
			}
			s := r.parts(string(raw))
			kind, fill = decode.Date, func(n *decode.Node) { n.Text = s() }
		default:
			r.container(p, m, h, id, decode.UTF8(raw))
			return
		}
	case id == idScalars && wire == varintWire:
		r.container(p, m, h, id, "")
		return
	default:
		r.Fail(decode.Unsupported, "a member of an object", fmt.Sprintf("member %d of wire type %d", id, wire))
		return
	}
	r.finish(m)
	if h.class > 0 {
		r.scalar(kind, p, h, func(n *decode.Node) { r.wanted(n, fill) })
		return
	}
	r.wanted(r.Scalar(p, kind), fill)
}

// wanted fills a node if values are wanted. Keys and constants of enums are always filled.
func (r *Reader) wanted(n *decode.Node, fill func(*decode.Node)) {
	if n != nil && (r.Values() || n.Label == decode.ByKey || n.Kind == decode.Enum) {
		fill(n)
	}
}

// delegate takes the field of a class that Dubbo registered a delegate for.
func (r *Reader) delegate(class string) (decode.Kind, func(*decode.Node)) {
	switch class {
	case "java.sql.Timestamp", "java.sql.Date", "java.sql.Time":
		r.expect(tagOf(1, fixed64Wire))
		v := int64(r.raw(fixed64Wire))
		return decode.Date, func(n *decode.Node) { n.Text = jdk.Instant(time.UnixMilli(v)) }
	}
	r.Fail(decode.Unsupported, "the field of class "+class, "bytes of its own delegate")
	return decode.Opaque, nil
}

// container takes a member with members of its own, after its class name.
func (r *Reader) container(p decode.Place, m nested, h header, id uint64, class string) {
	kind := decode.List
	switch id {
	case idMap:
		kind = decode.Map
	case idPojo:
		kind = decode.Object
	case idCollection, idArray, idScalars, idEnums:
	default:
		r.Fail(decode.Unsupported, "a member of an object", fmt.Sprintf("member %d", id))
		return
	}
	i := -1
	if h.class > 0 {
		i = r.head(kind, p, h, wrapper)
	} else {
		i = r.Open(kind, p.Label, p.Name, p.Index)
	}
	if n := r.Tree.Node(i); n != nil && id == idPojo {
		n.Class = class
	}
	if !r.Enter() {
		return
	}
	r.typed(class)
	switch id {
	case idMap:
		r.mapping(m)
	case idPojo:
		if class == "java.util.UUID" {
			r.uuid()
			r.finish(m)
			break
		}
		from := len(r.seen)
		r.skip(m)
		for i := range r.seen[from:] {
			r.seen[from+i].node = -1
		}
		r.Leaf(decode.Opaque, decode.Whole, "opaque", 0)
	case idCollection:
		r.elements(m)
	case idArray:
		n := r.field(3)
		r.field(2)
		r.Role("length")
		r.missing(n, r.elements(m))
	case idEnums:
		n := r.field(1)
		r.Role("length")
		r.missing(n, r.ordinals(class, m))
	case idScalars:
		r.scalars(m)
	}
	r.Role("end")
	r.Leave()
	r.Close()
}

// typed records the tag of a member and its class name.
func (r *Reader) typed(class string) {
	if class != "" {
		r.UpTo(r.Off-len(class), "type")
		r.Role("class")
		return
	}
	r.Role("type")
}

// elements takes objects up to the end of a message and returns how many there were.
func (r *Reader) elements(m nested) (i int) {
	for ; r.OK(); i++ {
		f, w, more := r.next(m)
		switch {
		case !more:
			return i
		case f != 1:
			r.Fail(decode.Unsupported, "an element", fmt.Sprintf("field %d", f))
		}
		r.element(decode.Place{Label: decode.ByIndex, Index: i}, f, w)
	}
	return i
}

// mapping takes entries up to the end of a message: nested messages of a key and a value. A null one is omitted.
func (r *Reader) mapping(m nested) {
	for i := 0; r.OK(); i++ {
		f, w, more := r.next(m)
		if !more {
			return
		}
		if f != 1 {
			r.Fail(decode.Unsupported, "an entry", fmt.Sprintf("field %d", f))
			return
		}
		r.entry(i, r.start(f, w))
	}
}

// entry takes the key and the value of an entry, and its end.
func (r *Reader) entry(i int, m nested) {
	f, w, more := r.next(m)
	name := ""
	if more && f == 1 {
		key := r.NextNode()
		r.element(decode.Place{Label: decode.ByKey, Index: i}, f, w)
		name = r.NameKey(key)
		f, w, more = r.next(m)
	} else {
		r.Leaf(decode.Null, decode.ByKey, "", i)
	}
	if more && f == 2 {
		r.element(decode.Place{Label: decode.ByEntry, Name: name, Index: i}, f, w)
		f, _, more = r.next(m)
	} else {
		r.Leaf(decode.Null, decode.ByEntry, name, i)
	}
	if more {
		r.Fail(decode.Unsupported, "the end of an entry", fmt.Sprintf("field %d", f))
	}
	r.Role("end")
}
