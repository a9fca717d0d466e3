package java

import "dubbo-wire/internal/decode"

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
	r.assign(handle{kind: kind, node: int32(i)})
	r.body(i, c)
}

// body takes the data of an object of class c: those of the topmost class first. The shape of the first class that has
// data, from below, tells what the object is; a class of the application that adds fields to a JDK collection is an
// object with the collection inside.
func (r *Reader) body(i int, c int32) {
	n := r.Tree.Node(i)
	if n != nil {
		n.Class = sourceName(r.classes[c].name)
	}
	from := c
	s := r.classes[c].shape
	if !r.classes[c].hasData() {
		from = r.classes[c].super
		if s == shapeObject && from >= 0 {
			s = r.classes[from].shape
		}
	}
	if n != nil {
		n.Kind = s.kind()
	}
	if from >= 0 {
		r.classData(i, s, from)
	}
}

// classData takes what class c and those above it wrote for the object that is node i and has shape s.
//
//	classdata: nowrclass | wrclass objectAnnotation | externalContents | objectAnnotation
func (r *Reader) classData(i int, s shape, at int32) {
	c := r.classes[at]
	if c.super >= 0 {
		r.classData(i, s, c.super)
	}
	if !r.OK() {
		return
	}
	switch {
	case !c.fieldsKnown && r.inside && (r.assume || r.Left() == 0):
		r.bare = true
		return // each field would take a byte
	case !c.fieldsKnown:
		r.Fail(decode.Unsupported, "the fields of class "+excerpt(c.name)+", which this stream does not tell", "")
		return
	case c.flags&scExternalizable != 0 && c.flags&scBlockData == 0:
		r.Fail(decode.Unsupported, "the data of an Externalizable with an end mark, not those of protocol version 1", excerpt(c.name))
		return
	}
	if !c.shape.within(s) {
		r.inner(i, &c)
		return
	}
	r.fieldsOf(i, &c)
	if c.flags&(scWriteMethod|scExternalizable) != 0 {
		r.annotation(i, &c)
	}
}

// inner takes the data of a JDK class above a class of the application, as a member of their own.
func (r *Reader) inner(i int, c *class) {
	if c.shape.kind() != decode.List && c.shape.kind() != decode.Map {
		c.shape = shapeObject
		r.fieldsOf(i, c)
		if c.flags&(scWriteMethod|scExternalizable) != 0 {
			r.annotation(i, c)
		}
		return
	}
	k := r.Open(c.shape.kind(), decode.ByField, "#custom", 0)
	r.fieldsOf(k, c)
	if c.flags&scWriteMethod != 0 {
		r.annotation(k, c)
	}
	r.Close()
}

// fieldsOf takes the fields of one class: primitives raw, then objects.
func (r *Reader) fieldsOf(i int, c *class) {
	used := 0 // elementCount of a Vector
	for k := range c.n {
		if !r.OK() {
			return
		}
		f := r.fields[c.first+k]
		if size(f.code) > 0 {
			used = r.primitiveField(i, c, f, used)
			continue
		}
		switch c.shape.field(f.name) {
		case isMember:
			r.item(decode.ByField, f.name, 0)
		case isElement:
			r.item(decode.ByIndex, "", 0)
		case isKey:
			r.mapKey(0)
		case isEntry:
			r.item(decode.ByEntry, "", 0)
		case isSelf:
			limit := -1
			if c.shape == shapeVector {
				limit = used
			}
			r.become(i, limit)
		case isMagnitude:
			r.magnitude(i)
		case isUnscaled:
			r.unscaled(i)
		default:
			r.Hidden(f.name, func() { r.item(decode.ByIndex, "", 0) })
		}
	}
	if c.shape == shapeBigDecimal || c.shape == shapeBigInteger {
		r.decimalText(i, c.shape)
	}
}

// primitiveField takes a field that is no object. It returns the number of elements that a Vector uses.
func (r *Reader) primitiveField(i int, c *class, f fieldDesc, used int) int {
	if c.shape == shapeObject || c.shape == shapeTimestamp {
		r.primitive(f.code, decode.ByField, f.name, 0)
		if n := r.Tree.Node(i); n != nil && c.shape == shapeTimestamp && r.OK() && f.code == 'I' {
			addNanos(n, int32(r.Tree.Nodes[len(r.Tree.Nodes)-1].Num))
		}
		return used
	}
	b := r.Bytes(size(f.code), "a primitive")
	if !r.OK() {
		return used
	}
	n := r.Tree.Node(i)
	switch {
	case c.shape == shapeBox:
		r.Fill(i)
		if n != nil {
			setPrimitive(n, f.code, b)
		}
		return used
	case f.code != 'I':
	case c.shape == shapeVector && f.name == "elementCount":
		used = max(0, int(int32(be32(b))))
	case c.shape == shapeCollSer && f.name == "tag" && n != nil && be32(b) == collSerMap:
		n.Kind = decode.Map
	case c.shape == shapeBigInteger && f.name == "signum", c.shape == shapeBigDecimal && f.name == "scale":
		r.keepInt(n, f.name, int32(be32(b)))
	}
	r.Role("length")
	return used
}

// become takes an item and makes node i of it: a wrapper is the collection that it wraps.
func (r *Reader) become(i, limit int) {
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
		r.array(i, limit)
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
		r.Hidden("type", func() { r.item(decode.ByIndex, "", 0) })
	}
}

// mapKey takes key number k of a map and returns its text, "" when it is no string.
func (r *Reader) mapKey(k int) (name string) {
	switch tc, _ := r.Peek(); tc {
	case tcString, tcLongString:
		r.Off++
		str := r.newString(tc)
		if r.OK() {
			name = r.utf(r.chars(str))
		}
	case tcReference:
		at := r.Off
		r.Off++
		h, ok := r.refer()
		if !r.OK() {
			return ""
		}
		if ok && r.handles[h].kind == toString && r.repeats(int(r.handles[h].b)) {
			name = r.text(h)
			break
		}
		r.Off = at
		r.item(decode.ByKey, "", k)
		return ""
	default:
		r.item(decode.ByKey, "", k)
		return ""
	}
	if n := r.Leaf(decode.String, decode.ByKey, name, k); n != nil {
		n.Text = name
		r.located()
	}
	return name
}

// excerpt bounds a name in an error.
func excerpt(name string) string {
	if len(name) > 100 {
		return name[:100] + "…"
	}
	return name
}
