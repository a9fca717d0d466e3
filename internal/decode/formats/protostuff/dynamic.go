package protostuff

import (
	"fmt"
	"strings"
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
	idObject     = 16
	idClass      = 18
	idClassArray = 20
	idEnumSet    = 22
	idEnumMap    = 23
	idEnum       = 24
	idCollection = 25
	idMap        = 26
	idViewed     = 28 // a collection that Collections makes: see views.go
	idViewedMap  = 29
	idDelegate   = 30
	idDelegates  = 32
	idScalars    = 33
	idEnums      = 34
	idPojos      = 35
	idThrowable  = 52
	idPojo       = 127
)

// primitive maps the ids of scalar members to their types.
var primitive = [...]scalarType{
	idBool: scalars["java.lang.Boolean"], idByte: scalars["java.lang.Byte"], idChar: scalars["java.lang.Character"], idShort: scalars["java.lang.Short"],
	idInt: scalars["java.lang.Integer"], idLong: scalars["java.lang.Long"], idFloat: scalars["java.lang.Float"], idDouble: scalars["java.lang.Double"],
}

// seen is an object that a reference can mean.
type seen struct {
	node  int32  // noNode when it is inside an object that is not decoded, or has none of its own
	at    int32  // where its message starts
	text  []byte // its UTF-8, when it is a string
	copy  string
	class string // its class, when it may be part of a date: see isTimePart
}

const noNode = -1

// number assigns a number to the object whose group starts here. Messages after a length need none: no reference means them.
func (r *Reader) number() {
	switch {
	case r.again:
	case r.Hiding():
		r.seen = append(r.seen, seen{node: noNode, at: int32(r.Off)})
	default:
		r.seen = append(r.seen, seen{node: int32(max(0, r.NextNode())), at: int32(r.Off)})
	}
}

// noObject says that no reference can be shown for the object whose group was started last.
func (r *Reader) noObject(wire byte) {
	if wire == startGroup && len(r.seen) > 0 {
		r.seen[len(r.seen)-1].node = noNode
	}
}

// objectNumber takes the number of an object.
func (r *Reader) objectNumber() int {
	const what = "the number of an object"
	n := r.varint(what)
	if r.OK() && n >= uint64(len(r.seen)) {
		r.Fail(decode.Malformed, fmt.Sprintf("the number of one of %d objects", len(r.seen)), fmt.Sprint(n))
	}
	if !r.OK() {
		return 0
	}
	return int(n)
}

// maxCopied limits the bytes of texts that are repeated for references, per byte of the body: a few bytes could stand for
// gigabytes.
const maxCopied = 16

// element takes a dynamic message or a reference; its tag has been taken. x is its shape.
func (r *Reader) element(p decode.Place, x *shape, field uint64, wire byte) {
	switch wire {
	case startGroup, delimited:
		r.dynamic(p, x, r.start(field, wire), header{})
	case reference:
		if k := r.objectNumber(); r.OK() {
			r.refer(p, k)
		}
	default:
		r.Fail(decode.Unsupported, "an object or a reference", fmt.Sprintf("wire type %d", wire))
	}
}

func (r *Reader) refer(p decode.Place, k int) {
	s := &r.seen[k]
	if s.class != "" && s.node == noNode && r.inParts(s.class) {
		s := r.reread(k)
		if n := r.Scalar(p, decode.Date); n != nil && (r.Values() || p.Label == decode.ByKey) {
			n.Text = s()
		}
		return
	}
	switch {
	case s.node == noNode && s.class != "":
		r.sameZone(p, k)
		return
	case s.node == noNode:
		r.Scalar(p, decode.Opaque)
		return
	case r.Tree == nil:
		r.Scalar(p, decode.Ref)
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
// the outermost one. x says which members the declared type allows.
func (r *Reader) dynamic(p decode.Place, x *shape, m nested, h header) {
	self := len(r.seen) - 1
	off := r.Off
	id, wire := r.tag()
	if !r.allows(x, id, off) {
		return
	}
	var kind decode.Kind
	fill := func(*decode.Node) {}
	switch {
	case !r.OK():
		return
	case id >= idBool && id <= idDouble && wire == primitive[id].wire:
		s := primitive[id]
		v := r.numeral(s, wire)
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
			r.checkText(raw)
			if self >= 0 && !r.again {
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
			class := r.text(raw)
			r.checkClass(x, class, off)
			kind, fill = decode.Enum, r.constant(class)
		case idDelegate:
			kind, fill = r.delegate(r.text(raw), m)
			if kind == decode.Opaque && r.library != nil {
				r.unread(p, m, h, r.text(raw))
				return
			}
		case idPojo:
			class := r.text(raw)
			r.checkClass(x, class, off)
			if c := r.schemaOf(class); c != nil && c.constantOf != "" {
				fill := r.constantWithBody(c, m)
				r.one(decode.Enum, p, h, fill)
				return
			}
			if !r.inParts(class) {
				r.container(p, m, h, id, class)
				return
			}
			s := r.parts(class)
			if self >= 0 && m.outer == nil && !r.again {
				r.seen[self].class = class
			}
			kind, fill = decode.Date, func(n *decode.Node) { n.Text = s() }
		default:
			r.container(p, m, h, id, r.text(raw))
			return
		}
	case wire == varintWire && (id == idScalars || r.library != nil && (id == idObject || id == idViewed || id == idViewedMap)):
		r.container(p, m, h, id, "")
		return
	default:
		r.Fail(decode.Unsupported, "a member of an object", fmt.Sprintf("member %d of wire type %d", id, wire))
		return
	}
	r.finish(m)
	r.one(kind, p, h, fill)
}

// one records a value that is one node.
func (r *Reader) one(kind decode.Kind, p decode.Place, h header, fill func(*decode.Node)) {
	if h.class > 0 {
		r.scalar(kind, p, h, func(n *decode.Node) { r.wanted(n, fill) })
		return
	}
	r.wanted(r.Scalar(p, kind), fill)
}

// constant takes the number of a constant of an enum and returns what fills its node.
func (r *Reader) constant(class string) func(*decode.Node) {
	off := r.Off
	r.expect(tagOf(1, varintWire))
	return r.ordinal(class, r.schemaOf(class), off)
}

// ordinal takes the number of a constant of an enum, whose schema may be nil.
func (r *Reader) ordinal(class string, s *schema, off int) func(*decode.Node) {
	v := r.varint("the number of a constant")
	name := ""
	if s != nil && s.constants != nil && r.OK() {
		var ok bool
		if name, ok = s.constants[int32(v)]; !ok || int64(v) != int64(int32(v)) {
			r.misfits(off, "a constant of enum "+class, fmt.Sprintf("number %d", int64(v)))
		}
	}
	return func(n *decode.Node) { n.Class, n.Num, n.Text = class, int64(int32(v)), name }
}

// wanted fills a node if values are wanted. Keys and constants of enums are always filled.
func (r *Reader) wanted(n *decode.Node, fill func(*decode.Node)) {
	if n != nil && (r.Values() || n.Label == decode.ByKey || n.Kind == decode.Enum) {
		fill(n)
	}
}

// delegate takes the field of a class that Dubbo registered a delegate for.
func (r *Reader) delegate(class string, m nested) (decode.Kind, func(*decode.Node)) {
	if delegates[class] {
		r.expect(tagOf(1, fixed64Wire))
		v := int64(r.raw(fixed64Wire))
		return decode.Date, func(n *decode.Node) { n.Text = jdk.Instant(time.UnixMilli(v)) }
	}
	if r.library == nil {
		r.Fail(decode.Unsupported, "the field of class "+class, "bytes of its own delegate")
	}
	return decode.Opaque, nil
}

// container takes a member with members of its own, after its class name.
func (r *Reader) container(p decode.Place, m nested, h header, id uint64, class string) {
	if (id == idViewed || id == idViewedMap) && r.library != nil {
		r.varint("a type")
		r.viewed(p, m, h, id == idViewedMap)
		return
	}
	kind := decode.List
	var s *schema
	switch id {
	case idMap:
		kind = decode.Map
	case idPojo:
		kind = decode.Object
		s = r.usable(class)
	case idCollection, idArray, idScalars, idEnums:
	default:
		if r.library == nil {
			r.Fail(decode.Unsupported, "a member of an object", fmt.Sprintf("member %d", id))
			return
		}
		switch id {
		case idEnumMap:
			kind = decode.Map
		case idEnumSet, idDelegates:
		case idPojos:
			s = r.usable(class)
		case idThrowable:
			kind = decode.Object
			s = r.usable(class)
		case idObject, idClass, idClassArray:
			kind = decode.Object
		default:
			r.Fail(decode.Unsupported, "a member of an object", fmt.Sprintf("member %d", id))
			return
		}
	}
	i := r.openMember(kind, p, h)
	if n := r.Tree.Node(i); n != nil && kind == decode.Object {
		n.Class = class
	}
	r.typed(class)
	if !r.Enter() {
		return
	}
	switch id {
	case idMap, idEnumMap:
		r.mapping(anyObject, anyObject, m)
	case idPojo, idThrowable:
		if class == "java.util.UUID" {
			r.uuid()
			r.finish(m)
			break
		}
		r.notePart(class, m)
		if s != nil {
			r.fields(s, m)
			break
		}
		r.opaqueRest(m)
	case idCollection, idEnumSet:
		r.elements(anyObject, m)
	case idArray:
		r.objects(m)
	case idEnums:
		n := r.field(1)
		r.Role("length")
		r.missing(n, r.ordinals(class, m))
	case idScalars:
		r.scalars(m)
	case idDelegates:
		r.times(class, m)
	case idPojos:
		r.messages(class, s, m)
	case idObject:
		r.varint("an object")
		if n := r.Tree.Node(i); n != nil {
			n.Class = "java.lang.Object"
		}
		r.finish(m)
	case idClass, idClassArray:
		r.class(i, class, id, m)
	}
	r.Role("end")
	r.Leave()
	r.Close()
}

// arrayElement returns the name of a class as it is in the names of arrays.
func arrayElement(class string) string {
	for _, c := range "ZBCSIJFD" {
		if decode.JavaName(string(c)) == class {
			return string(c)
		}
	}
	return "L" + class + ";"
}

// notePart notes the class of an object that may be part of a date.
func (r *Reader) notePart(class string, m nested) {
	if k := len(r.seen) - 1; k >= 0 && m.outer == nil && !r.again && r.isTimePart(class) {
		r.seen[k].class = class
	}
}

// openMember opens the node of a member.
func (r *Reader) openMember(k decode.Kind, p decode.Place, h header) int {
	if h.class > 0 {
		return r.head(k, p, h, wrapper)
	}
	return r.Open(k, p.Label, p.Name, p.Index)
}

// unread takes the rest of a message as an object whose fields are not read.
func (r *Reader) unread(p decode.Place, m nested, h header, class string) {
	i := r.openMember(decode.Object, p, h)
	if n := r.Tree.Node(i); n != nil {
		n.Class = class
	}
	r.typed(class)
	r.opaqueRest(m)
	r.Close()
}

// opaqueRest takes the rest of a message without reading it, and its end.
func (r *Reader) opaqueRest(m nested) {
	r.unseen(m)
	r.Leaf(decode.Opaque, decode.Whole, "opaque", 0)
}

// unseen skips the rest of a message and its end, with objects that no reference can be shown for.
func (r *Reader) unseen(m nested) {
	from := len(r.seen)
	r.skip(m)
	for i := range r.seen[from:] {
		r.seen[from+i].node = noNode
	}
}

// class takes the rest of a value that is a class.
func (r *Reader) class(i int, name string, id uint64, m nested) {
	n := r.Tree.Node(i)
	if n != nil {
		n.Class = "java.lang.Class"
	}
	if id == idClassArray {
		dims := r.field(2)
		if dims > 255 {
			r.Fail(decode.Malformed, "at most 255 dimensions", fmt.Sprint(dims))
		} else {
			name = strings.Repeat("[", int(dims)) + arrayElement(name)
		}
	}
	r.finish(m)
	if n := r.Leaf(decode.String, decode.ByField, "value", 0); n != nil && r.Values() {
		n.Text = name
	}
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
func (r *Reader) elements(x *shape, m nested) (i int) {
	for ; r.OK(); i++ {
		f, w, more := r.next(m)
		switch {
		case !more:
			return i
		case f != 1:
			r.Fail(decode.Unsupported, "an element", fmt.Sprintf("field %d", f))
		}
		r.value(decode.Place{Label: decode.ByIndex, Index: i}, x, f, w)
	}
	return i
}

// objects takes an array of objects: the length, the number of dimensions, the elements.
func (r *Reader) objects(m nested) {
	n := r.field(3)
	r.field(2)
	r.Role("length")
	r.missing(n, r.elements(anyObject, m))
}

// mapping takes entries up to the end of a message: nested messages of a key and a value. A null one is omitted.
func (r *Reader) mapping(key, value *shape, m nested) {
	for i := 0; r.OK(); i++ {
		f, w, more := r.next(m)
		if !more {
			return
		}
		if f != 1 {
			r.Fail(decode.Unsupported, "an entry", fmt.Sprintf("field %d", f))
			return
		}
		entry := r.start(f, w)
		r.noObject(w)
		r.entry(i, key, value, entry)
	}
}

// entry takes the key and the value of an entry, and its end.
func (r *Reader) entry(i int, kx, vx *shape, m nested) {
	f, w, more := r.next(m)
	name := ""
	if more && f == 1 {
		key := r.NextNode()
		r.value(decode.Place{Label: decode.ByKey, Index: i}, kx, f, w)
		name = r.NameKey(key)
		f, w, more = r.next(m)
	} else {
		r.Leaf(decode.Null, decode.ByKey, "", i)
	}
	if more && f == 2 {
		r.value(decode.Place{Label: decode.ByEntry, Name: name, Index: i}, vx, f, w)
		f, _, more = r.next(m)
	} else {
		r.Leaf(decode.Null, decode.ByEntry, name, i)
	}
	if more {
		r.Fail(decode.Unsupported, "the end of an entry", fmt.Sprintf("field %d", f))
	}
	r.Role("end")
}
