package fury

import (
	"bytes"
	"compress/zlib"
	"io"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
)

// classDef is a definition of a class at the end of a document (compatible mode of 0.10).
type classDef struct {
	class *class
	// written: objects are written by these fields; else the class has another serializer.
	written bool
	fields  []field
}

// Bounds of what a document defines.
const (
	maxDefs      = 1 << 12
	maxInflated  = 1 << 16 // bytes of one
	maxAllDefs   = 1 << 20 // of all
	maxDefFields = 1 << 12
)

// Flags of a definition, in the first of its eight bytes with Fury and in the first two with Fory.
const (
	furyTwoBytes   = 0x20
	furyFields     = 0x40
	furyCompressed = 0x80
	foryLength     = 0x7ff
	foryFields     = 0x1000
	foryCompressed = 0x2000
)

// definitions reads those that take all bytes of b, as Fury 0.10 writes them or as Fory does; nil if they are none.
func (l *library) definitions(b []byte) (all []classDef, fory bool) {
	if all, ok := l.definitionsOf(b, false); ok {
		return all, false
	}
	all, ok := l.definitionsOf(b, true)
	if !ok {
		return nil, false
	}
	for i := range all {
		l.numberTypes(all[i].fields)
	}
	return all, true
}

// numberTypes sorts fields as Fory does in compatible mode: by the numbers of their types, as texts, if these have some.
func (l *library) numberTypes(fields []field) {
	for i := range fields {
		if f := &fields[i]; f.wireID >= 0 {
			f.wireType = strconv.Itoa(f.wireID)
		}
	}
	slices.SortStableFunc(fields, l.compareFory)
}

func (l *library) definitionsOf(b []byte, fory bool) (all []classDef, ok bool) {
	var c decode.Cursor
	c.Reset(b, decode.Malformed)
	n := c.Varint9("the number of classes")
	if n == 0 || n > maxDefs {
		return nil, false
	}
	left := maxAllDefs
	for range n {
		id := c.Little(8, "a class")
		size, compressed, written := 0, id&furyCompressed != 0, id&furyFields != 0
		layers := int(id & 15)
		switch {
		case fory:
			if size = int(id & foryLength); size == foryLength {
				size += int(min(c.Varint9("a length"), maxInflated))
			}
			compressed, written = id&foryCompressed != 0, id&foryFields != 0
			layers = -1
		case id&furyTwoBytes != 0:
			size = int(c.Little(2, "a length"))
		default:
			size = int(c.Byte("a length"))
		}
		raw := c.Bytes(size, "a class")
		if !c.OK() {
			return nil, false
		}
		if compressed {
			z, err := zlib.NewReader(bytes.NewReader(raw))
			if err != nil {
				return nil, false
			}
			if raw, err = io.ReadAll(io.LimitReader(z, maxInflated)); err != nil {
				return nil, false
			}
		}
		if left -= len(raw); left < 0 {
			return nil, false
		}
		d, ok := l.definition(raw, layers)
		if !ok {
			return nil, false
		}
		d.written = written
		all = append(all, d)
	}
	return all, c.OK() && c.Left() == 0
}

// definition reads one: its class and the superclasses that have fields, the topmost first. layers is one less than their number, -1 if
// that stands before them.
func (l *library) definition(b []byte, layers int) (d classDef, ok bool) {
	c := &decode.Cursor{}
	c.Reset(b, decode.Malformed)
	if layers < 0 {
		layers = int(c.Byte("a number of classes"))
	}
	if layers == 15 {
		layers += int(min(c.Varint9("a number of classes"), maxDefs))
	}
	name := ""
	for i := 0; i <= layers && c.OK(); i++ {
		header := c.Varint9("a number of fields")
		if header&1 != 0 {
			id := c.Varint9("the number of a class")
			if id >= uint64(len(l.registered)) || l.registered[id] == nil {
				return d, false
			}
			name = l.registered[id].name
		} else {
			pkg := defName(c, '.', metaUTF8, metaAllLower, metaMixed)
			name = className010(pkg, defName(c, '$', metaUTF8, metaMixed, metaFirstUpper, metaAllLower))
		}
		if !c.OK() || strings.Trim(name, "[") == "" || header>>1 > maxDefFields {
			return d, false
		}
		file, _ := l.types.Class(name)
		for range header >> 1 {
			if f, ok := l.defField(c, name, file); !ok {
				return d, false
			} else {
				d.fields = append(d.fields, f)
			}
		}
	}
	if !c.OK() || c.Left() > 0 || name == "" {
		return d, false
	}
	d.class = l.class(name)
	for i := range d.fields { // those that a subclass hides
		if f := &d.fields[i]; slices.ContainsFunc(d.fields[i+1:], func(g field) bool { return g.own == f.own }) {
			f.name = simpleName(f.by) + "#" + f.own
		}
	}
	slices.SortStableFunc(d.fields, l.compare)
	return d, true
}

// defName takes a name after its length and encoding.
func defName(c *decode.Cursor, dot byte, encodings ...byte) string {
	header := c.Byte("a name")
	n := int(header >> 2)
	if n == 63 {
		n += int(min(c.Varint9("a length"), maxInflated))
	}
	m := meta{raw: c.Bytes(n, "a name")}
	if e := int(header & 3); e < len(encodings) {
		m.encoding = encodings[e]
	} else if c.OK() {
		c.Fail(decode.Malformed, "the encoding of a name", decode.HexByte(header))
	}
	if !c.OK() {
		return ""
	}
	return m.decode(dot)
}

// defField takes a field: how its name is written, the name, the type.
func (l *library) defField(c *decode.Cursor, by string, file *classfile.Class) (f field, ok bool) {
	header := c.Byte("a field")
	n := int(header >> 5)
	if n == 7 {
		n += int(min(c.Varint9("a length"), maxInflated))
	}
	encodings := [...]byte{metaUTF8, metaMixed, metaAllLower}
	e := int(header >> 3 & 3)
	m := meta{raw: c.Bytes(n+1, "the name of a field")}
	if !c.OK() || e >= len(encodings) {
		return f, false
	}
	m.encoding = encodings[e]
	own := m.decode('$')
	f = field{name: own, own: own, by: by}
	t, ok := l.defType(c, c.Varint9("a type"), header&4 != 0, header&1 != 0, 0)
	if !ok || own == "" {
		return f, false
	}
	f.is, f.wireType, f.wireID = t.is, t.name, t.id
	if file != nil {
		if own := file.Field(own); own != nil && isWritten(own) {
			if g := l.newField(file, own, false); t.is.mayBe(g.is) {
				f.is = g.is
			}
		} else {
			f.index = decode.Undeclared
		}
	}
	return f, true
}

// defType is a type in a definition: what Class.getName returns for the class that Fury takes it for, and what it says.
type defType struct {
	name string
	is   *declared
	id   int // the number of the class, -1 if it has none
}

// Kinds of types in a definition. Numbers of classes follow.
const (
	objectType010 = iota
	mapType010
	collectionType010
	arrayType010
	enumType010
	firstType010
)

const (
	finalStub = "org.apache.fury.type.FinalObjectTypeStub"
	enumStub  = "org.apache.fury.serializer.NonexistentClass$NonexistentEnum"
)

// defType takes what follows the kind of a type.
func (l *library) defType(c *decode.Cursor, kind uint64, final, tracked bool, depth int) (t defType, ok bool) {
	if !c.OK() || depth > maxDeclared {
		return t, false
	}
	nested := func() (defType, bool) {
		h := c.Varint9("a type")
		return l.defType(c, h>>2, h&2 != 0, h&1 != 0, depth+1)
	}
	t.id = -1
	open := func(name string) *declared {
		return &declared{class: l.class(name), tracked: tracked, generated: true}
	}
	switch kind {
	case objectType010:
		t.name, t.is = "java.lang.Object", open("java.lang.Object")
		if final {
			t.name = finalStub
		}
	case mapType010:
		k, ok := nested()
		v, ok2 := nested()
		if !ok || !ok2 {
			return t, false
		}
		t.name, t.is = "java.util.Map", open("java.util.Map")
		t.is.elem, t.is.value = k.is, v.is
	case collectionType010:
		e, ok := nested()
		if !ok {
			return t, false
		}
		t.name, t.is = "java.util.Collection", open("java.util.Collection")
		t.is.elem = e.is
	case arrayType010:
		dims := c.Varint9("a number of dimensions")
		e, ok := nested()
		if !ok || dims == 0 || dims > 255 {
			return t, false
		}
		name := e.name
		if e.is.class == nil {
			name = string("ZBCSIFJD"[primitiveOrder[e.is.prim]])
		} else {
			name = "L" + name + ";"
		}
		t.name, t.is = strings.Repeat("[", int(dims))+name, open("[Ljava.lang.Object;")
		t.is.final = e.is.final || e.is.class == nil
		if t.is.final || e.is.class.unsure {
			t.is.class = l.class(t.name)
		}
	case enumType010:
		t.name, t.is = enumStub, &declared{class: l.class(enumStub), final: true, generated: true}
	default:
		id := kind - firstType010
		t.id = int(min(id, maxDefs))
		switch {
		case id >= firstPrimitive && id < firstPrimitive+uint64(len(primitiveLayouts)):
			is := primitiveTypes["ZBCSIFJD"[id-firstPrimitive]]
			t.name, t.is = primitiveNames[is.prim], is
		case id < uint64(len(l.registered)) && l.registered[id] != nil:
			cl := l.class(l.registered[id].name)
			t.name, t.is = cl.name, &declared{class: cl, final: cl.final, tracked: cl.isTracked(), generated: true}
		default:
			return t, false
		}
	}
	return t, true
}

// mayBe reports whether a field that was written as d is one that the class path declares as other.
func (d *declared) mayBe(other *declared) bool {
	if d.class == nil || other.class == nil {
		return d.class == nil && other.class == nil && d.prim == other.prim
	}
	switch d.class.name {
	case enumStub:
		return other.class.layout == constant
	case "java.util.Map":
		return other.value != nil
	case "java.util.Collection":
		return other.elem != nil && other.value == nil
	case "java.lang.Object":
		return other.class.id < 0 || other.class == d.class
	}
	if d.class.name[0] == '[' {
		return other.class.name[0] == '[' && (d.class.id < 0 || other.class == d.class)
	}
	return other.class == d.class
}

// definitionOf returns the definition of a class whose objects are written by its fields, nil if the document does not have it.
func (r *Reader) definitionOf(cl *class) *classDef {
	if i, ok := r.defOf[cl]; ok {
		return &r.defs[i]
	}
	return nil
}

// byDefinition takes an object by the fields of its definition.
func (r *Reader) byDefinition(d *classDef, p decode.Place) {
	if r.distrusted(d.class, p) {
		return
	}
	if d.class.model != nil {
		r.use(d.class)
	}
	outer := r.within
	r.within = place{class: d.class}
	r.container(p, decode.Object, d.class.name, func() { r.inOrder(d.fields, d.class) })
	if r.OK() {
		r.within = outer
	}
}

// rootWithClasses takes the object of a document whose class definitions are at the end, if at is not -1.
func (r *Reader) rootWithClasses(p decode.Place, at int) {
	buf, end := r.Buf, len(r.Buf)
	r.defs = nil
	if at >= 0 {
		if end = r.Off + at; end >= len(buf) {
			clear(r.defOf)
			r.Fail(decode.Malformed, "the place of class definitions", "one after the document")
			return
		}
		if r.defs, r.foryDefs = r.library.definitions(buf[end:]); r.defs == nil {
			clear(r.defOf)
			r.FailAt(end, decode.Unsupported, "definitions of classes", "other bytes")
			return
		}
	}
	clear(r.defOf)
	for i := range r.defs {
		if d := &r.defs[i]; d.written {
			if r.defOf == nil {
				r.defOf = map[*class]int{}
			}
			r.defOf[d.class] = i
		}
	}
	r.Buf = buf[:end]
	r.flagged(p)
	if r.OK() && r.Off != end {
		r.Fail(decode.Malformed, "the end of an object", "more bytes")
	}
	if r.Buf = buf; r.OK() && end < len(buf) {
		r.Off = len(buf)
		r.Role("classes")
	}
}
