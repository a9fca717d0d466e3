package java

import (
	"math"
	"strings"

	"dubbo-wire/internal/decode"
)

// object: TC_OBJECT classDesc newHandle classdata[], into node i. TC_OBJECT was taken.
func (r *Reader) object(i int) {
	r.Role("type")
	c := r.classDesc()
	if !r.OK() {
		return
	}
	if c < 0 {
		r.Fail(decode.Malformed, "the class of an object", "null")
		return
	}
	kind := toObject
	if r.classes[c].shape == shapeBigInteger {
		kind = toInteger
	}
	r.assign(handle{kind: kind, a: c, b: int32(r.Off), node: int32(i)})
	if r.embedded && i == r.rootNode {
		r.root = c
	}
	r.body(i, c)
}

// body takes the data of an object of class c, those of the topmost superclass first. The nearest class that stands for a
// value decides what the object is. Fields that a class of the application adds to a JDK collection or date are fields of a
// list, a map or a date, which are not printed.
func (r *Reader) body(i int, c int32) {
	n := r.Tree.Node(i)
	if n != nil {
		n.Class = sourceName(r.classes[c].name)
		if stood, ok := strings.CutSuffix(n.Class, "$SerializationProxy"); ok && isJDK(stood) {
			n.Class = stood // LongAdder and others, which are restored from it
		}
	}
	r.assumed = r.assumed || r.classes[c].guessed
	if r.classes[c].checked {
		r.source.used = true
		if why := r.classes[c].misfit; why != "" {
			r.Fail(decode.Malformed, why, "")
			return
		}
	}
	from := c
	s := r.classes[c].shape
	if !r.classes[c].hasData() {
		from = r.classes[c].super
	}
	if s == shapeObject {
		s = r.standsFor(from)
	}
	if s == shapeRing && r.wraps() {
		s = shapeObject
	}
	if n != nil {
		n.Kind = s.kind()
		if n.Kind == decode.Map && r.viewOf == i {
			n.Kind = decode.List
		}
	}
	if from >= 0 {
		around := r.hiding
		if r.hiding = -1; n != nil && r.hides(from) {
			r.hiding = from
		}
		r.classData(i, s, from)
		r.hiding = around
	}
}

// standsFor returns the shape that objects of class c have by its superclasses. An Externalizable writes for all of them, in
// its own way.
func (r *Reader) standsFor(c int32) shape {
	for c >= 0 && r.classes[c].flags&scExternalizable == 0 {
		if s := r.classes[c].shape; s != shapeObject && s != shapeBox {
			return s
		}
		c = r.classes[c].super
	}
	return shapeObject
}

// classData takes the data that class at and its superclasses wrote for the object that is node i and has shape s.
//
//	classdata: nowrclass | wrclass objectAnnotation | externalContents | objectAnnotation
func (r *Reader) classData(i int, s shape, at int32) {
	c := r.classes[at]
	if c.super >= 0 && c.flags&scExternalizable == 0 { // an Externalizable writes for its superclasses, too
		r.classData(i, s, c.super)
	}
	if !r.OK() {
		return
	}
	switch {
	case r.embedded && r.Left() == 0 && (!c.fieldsKnown || r.undivided):
		return // each field would take a byte
	case !c.fieldsKnown && r.embedded && i == r.rootNode && r.Tree != nil && r.unnamed(at):
		r.undivided = true
		return
	case !c.fieldsKnown:
		r.unknownFields(&c)
		return
	case c.flags&scExternalizable != 0 && c.flags&scBlockData == 0:
		r.Fail(decode.Unsupported, "the data of an Externalizable with an end mark, not those of protocol version 1", excerpt(c.name))
		return
	}
	switch {
	case s == shapeObject && c.shape == shapeRing:
		c.shape = shapeObject
	case c.shape == shapeObject && (s == shapeKeys || s == shapeMapValues) && isJDK(c.name):
		c.shape = s // a view's fields are those of its superclass
	}
	switch {
	case !c.shape.within(s):
		r.inner(i, &c)
	case c.flags&scWriteMethod != 0 && c.n > 0 && c.shape == shapeObject && !isJDK(c.name):
		r.optionalFields(i, at, &c)
	default:
		r.own(i, &c)
	}
}

// own takes the fields of one class and its annotation.
func (r *Reader) own(i int, c *class) {
	r.fieldsOf(i, c)
	if c.flags&(scWriteMethod|scExternalizable) != 0 {
		r.annotation(i, c)
	}
}

// inner takes the data of a class of the JDK whose shape does not fit that of the object. Real classes have none.
func (r *Reader) inner(i int, c *class) {
	k := c.shape.kind()
	switch {
	case c.shape == shapeDate:
		i = r.Open(decode.Object, decode.ByField, "#custom", 0)
		r.own(i, c)
		r.Close()
	case k != decode.List && k != decode.Map:
		c.shape = shapeObject
		r.own(i, c)
	case c.super >= 0 && r.classes[c.super].shape.kind() == k: // LinkedHashMap adds to HashMap
		r.own(-1, c)
	default:
		i = r.Open(k, decode.ByField, "#custom", 0)
		r.own(i, c)
		r.Close()
	}
}

// fieldsOf takes the fields of one class: primitives raw, then objects.
func (r *Reader) fieldsOf(i int, c *class) {
	part := whole
	for k := range c.n {
		if !r.OK() {
			return
		}
		f := r.fields[c.first+k]
		if size(f.code) > 0 {
			r.primitiveField(i, c, f, &part)
			continue
		}
		switch c.shape.field(f.name) {
		case isMember:
			if r.checkField(int(c.first + k)) {
				r.item(decode.ByField, r.fieldName(c, &f), 0)
			}
		case isElement:
			if c.shape == shapeCopies {
				r.copies(i, part.to)
				break
			}
			r.item(decode.ByIndex, "", 0)
		case isKey:
			r.mapKey(0)
		case isEntry:
			r.item(decode.ByEntry, "", 0)
		case isSelf:
			if c.shape == shapeKeys || c.shape == shapeMapValues {
				r.viewOf, r.view = i, c.shape
			}
			class := ""
			if n := r.Tree.Node(i); n != nil {
				class = n.Class
			}
			r.unwrap(i, part)
			r.keepClass(i, class)
		case isChars:
			r.characters(i, part.to)
		case isMagnitude:
			r.magnitude(i)
		case isUnscaled:
			r.unscaled(i)
		default:
			r.hidden(f.name)
		}
	}
	if c.shape == shapeBigDecimal || c.shape == shapeBigInteger {
		r.decimalText(i, c.shape)
	}
}

// part is the range of an array that has the elements of a collection.
type part struct{ from, to int }

// whole is the range of a complete array.
var whole = part{to: math.MaxInt32}

// primitiveField takes a primitive field. It notes in used which part of the array that follows a collection uses.
func (r *Reader) primitiveField(i int, c *class, f fieldDesc, used *part) {
	if c.shape == shapeObject || c.shape == shapeTimestamp {
		r.primitive(f.code, decode.ByField, r.fieldName(c, &f), 0)
		if n := r.Tree.Node(i); n != nil && c.shape == shapeTimestamp && r.OK() && f.code == 'I' {
			addNanos(n, int32(r.Tree.Nodes[len(r.Tree.Nodes)-1].Num))
		}
		return
	}
	b := r.Bytes(size(f.code), "a primitive")
	if !r.OK() {
		return
	}
	n := r.Tree.Node(i)
	switch {
	case c.shape == shapeBox:
		r.Fill(i)
		if n != nil {
			setPrimitive(n, f.code, b)
		}
		return
	case f.code != 'I':
	case c.shape == shapeCopies && r.tooMany(int(int32(be32(b)))):
		used.to = math.MaxInt32 - 1
		if p := r.Leaf(decode.Int, decode.ByField, f.name, 0); p != nil {
			setPrimitive(p, f.code, b)
		}
	case f.name == "elementCount" || f.name == "count" || f.name == "n":
		used.to = max(0, int(int32(be32(b))))
	case c.shape == shapeRing && f.name == "takeIndex":
		used.from = max(0, int(int32(be32(b))))
		used.to += used.from
	case c.shape == shapeCollSer && f.name == "tag" && n != nil && b[3] == collSerMap:
		n.Kind = decode.Map
	case c.shape == shapeBigInteger && f.name == "signum":
		n.SetNum(int64(int32(be32(b))))
	case c.shape == shapeBigDecimal && f.name == "scale":
		n.SetFloat(float64(int32(be32(b))))
	}
	r.Role("length")
}

// unwrap takes an item into node i: a wrapper is shown as the collection that it wraps.
func (r *Reader) unwrap(i int, p part) {
	if !r.Enter() {
		return
	}
	defer r.Leave()
	switch tc := r.Byte("an object"); {
	case !r.OK():
	case tc == tcObject:
		r.object(i)
	case tc == tcArray:
		if n := r.Tree.Node(i); n != nil {
			n.Kind = decode.List
		}
		r.array(i, p)
	case tc == tcReference:
		h, ok := r.refer()
		r.Role("ref")
		if n := r.Tree.Node(i); n != nil && r.OK() && ok && r.handles[h].kind == toObject && r.handles[h].node >= 0 && int(r.handles[h].node) != i {
			n.Kind, n.Num = decode.Ref, int64(r.handles[h].node)
		}
	case tc == tcNull:
		r.Role("type")
	default:
		r.Off--
		r.hidden("type")
	}
}

// keepClass gives node i, which is shown as the collection in it, the class that it has itself. Wrappers of Collections have both.
func (r *Reader) keepClass(i int, class string) {
	n := r.Tree.Node(i)
	if n == nil || !r.OK() || n.Kind != decode.List && n.Kind != decode.Map || class == "" || n.Class == class {
		return
	}
	switch wrapper, ok := strings.CutPrefix(class, "java.util.Collections$"); {
	case !ok || wrapper == "SetFromMap":
		n.Class = class
	case strings.HasPrefix(wrapper, "Unmodifiable"), strings.HasPrefix(wrapper, "Synchronized"):
		n.Class = class + "<" + n.Class + ">"
	}
}

// excerpt bounds a name in an error.
func excerpt(name string) string {
	if len(name) > 100 {
		return name[:100] + "…"
	}
	return name
}
