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
// What is set is set in place, the rest was cleared by begin: a processor waits for an entry that is made elsewhere and copied.
func (r *Reader) number() {
	if r.again {
		return
	}
	n := len(r.seen)
	if n == cap(r.seen) {
		r.seen = append(r.seen, seen{})
	}
	r.seen = r.seen[:n+1]
	s := &r.seen[n]
	s.node, s.at = int32(max(0, r.NextNode())), int32(r.Off)
	if r.Hiding() {
		s.node = noNode
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
	if r.library != nil && r.repeat(p, s.node) {
		return
	}
	r.Scalar(p, decode.Ref).SetNum(int64(s.node))
}

// repeat records a reference to a value that is one node as that value: boxes and constants are the same object wherever they stand. It
// reports whether the node is one.
func (r *Reader) repeat(p decode.Place, node int32) bool {
	if int(node) >= len(r.Tree.Nodes) {
		return false
	}
	switch r.Tree.Nodes[node].Kind {
	case decode.Bool, decode.Int, decode.Float32, decode.Float64, decode.Char, decode.Date, decode.Decimal, decode.Enum:
	default:
		return false
	}
	of := r.Tree.Nodes[node]
	if r.copied += len(of.Text); r.copied > maxCopied*len(r.Buf) {
		return false
	}
	if n := r.Scalar(p, of.Kind); n != nil {
		n.Num, n.Float, n.Text, n.Class, n.Same = of.Num, of.Float, of.Text, of.Class, node+1
	}
	return true
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
	var v leaf
	switch {
	case !r.OK():
		return
	case id >= idBool && id <= idDouble && wire == primitive[id].wire:
		v.scalar = &primitive[id]
		v.kind, v.num = v.scalar.kind, r.numeral(v.scalar, wire)
	case id == idDate && wire == fixed64Wire:
		v.kind, v.num = decode.Date, r.raw(wire)
	case wire == delimited:
		v.raw = r.delimited("a text")
		if !r.OK() {
			return
		}
		switch id {
		case idString:
			r.checkText(v.raw)
			if self >= 0 && !r.again {
				r.seen[self].text = v.raw
			}
			v.kind = decode.String
		case idByteString, idBytes:
			v.kind = decode.Bytes
		case idBigDecimal:
			v.kind = decode.Decimal
		case idBigInteger:
			v.kind, v.binary = decode.Decimal, true
			if len(v.raw) > 4*maxWords {
				v.kind = decode.Opaque
				r.NeedTree()
			}
		case idEnum:
			class := r.text(v.raw)
			r.checkClass(x, class, off)
			r.constant(class, &v)
		case idDelegate:
			class := r.text(v.raw)
			switch {
			case delegates[class]:
				r.expect(tagOf(1, fixed64Wire))
				v.kind, v.num = decode.Date, r.raw(fixed64Wire)
			case r.library != nil:
				r.unread(p, m, h, class)
				return
			default:
				r.Fail(decode.Unsupported, "the field of class "+class, "bytes of its own delegate")
			}
		case idPojo:
			class := r.text(v.raw)
			r.checkClass(x, class, off)
			if c := r.schemaOf(class); c != nil && c.constantOf != "" {
				r.constantWithBody(c, m, &v)
				r.one(&v, p, h)
				return
			}
			if !r.inParts(class) {
				r.container(p, m, h, id, class)
				return
			}
			v.kind, v.text = decode.Date, r.parts(class)
			r.notePart(class, self, m)
		default:
			r.container(p, m, h, id, r.text(v.raw))
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
	r.one(&v, p, h)
}

// A leaf is a value of a dynamic message that is one node.
type leaf struct {
	kind        decode.Kind
	scalar      *scalarType   // of a primitive type
	num         uint64        // its number, the time of a date in milliseconds, or the number of a constant
	raw         []byte        // a text or bytes
	binary      bool          // raw is an integer
	text        func() string // of a date that is not in milliseconds
	class, name string        // of a constant
}

// one records a value that is one node.
func (r *Reader) one(v *leaf, p decode.Place, h header) {
	var n *decode.Node
	if h.class > 0 {
		n = r.scalar(v.kind, p, h)
	} else {
		n = r.Scalar(p, v.kind)
	}
	// Keys and constants of enums are always filled.
	if n == nil || !r.Values() && n.Label != decode.ByKey && v.kind != decode.Enum {
		return
	}
	switch {
	case v.scalar != nil:
		v.scalar.set(n, v.num)
		r.classify(n, *v.scalar)
	case v.text != nil:
		n.Text = v.text()
	case v.kind == decode.Date:
		n.Text = jdk.Instant(time.UnixMilli(int64(v.num)))
	case v.kind == decode.Enum:
		n.Class, n.Num, n.Text = v.class, int64(int32(v.num)), v.name
	case v.kind == decode.Bytes:
		n.Raw = v.raw
	case v.kind == decode.Opaque:
	case v.binary:
		n.Text = jdk.Signed(v.raw).String()
	default:
		n.Text = decode.UTF8(v.raw)
	}
}

// constant takes the field with the number of a constant of an enum.
func (r *Reader) constant(class string, v *leaf) {
	r.expect(tagOf(1, varintWire))
	v.kind, v.class = decode.Enum, class
	v.num, v.name = r.ordinal(class, r.schemaOf(class))
}

// ordinal takes the number of a constant of an enum, whose schema may be nil.
func (r *Reader) ordinal(class string, s *schema) (v uint64, name string) {
	off := r.Off
	v = r.varint("the number of a constant")
	if s != nil && s.constants != nil && r.OK() {
		if v < uint64(len(s.ordinals)) && s.untagged {
			return v, s.ordinals[v]
		}
		var ok bool
		if name, ok = s.constants[int32(v)]; !ok || int64(v) != int64(int32(v)) {
			r.misfits(off, "a constant of enum "+class, fmt.Sprintf("number %d", int64(v)))
		}
	}
	return v, name
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
		r.expectMore(s, class, m)
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
		r.notePart(class, len(r.seen)-1, m)
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
func (r *Reader) notePart(class string, k int, m nested) {
	if k >= 0 && m.outer == nil && !r.again && r.isTimePart(class) {
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
	r.Role("length")
	if n := r.Leaf(decode.String, decode.ByField, "value", 0); n != nil && r.Values() { // its bytes are the name
		n.Text = name
	}
	r.finish(m)
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
		if x == anyObject {
			i += r.countElements()
		}
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
