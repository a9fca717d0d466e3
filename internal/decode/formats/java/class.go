package java

import (
	"cmp"
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Flags of a class (specification, 6.4.2: classDescFlags).
const (
	scWriteMethod    = 0x01 // has writeObject: its data end with TC_ENDBLOCKDATA
	scExternalizable = 0x04
	scBlockData      = 0x08 // an Externalizable's data end with TC_ENDBLOCKDATA
)

// class is the part of a class descriptor that reading its objects needs.
type class struct {
	name        string // as Class.getName has it
	flags       byte
	first, n    int32  // its fields in table.fields
	super       int32  // the nearest superclass that has data, -1 for none
	level       int32  // number of such classes up to this one
	extends     string // the superclass that the class path says it has
	shape       shape
	fieldsKnown bool // false in compactedjava for classes of the application
	read        bool // its descriptor was read to the end
	plain       bool // its objects, and those of its superclasses, have only fields, of known kinds
	common      common
	prims, size int32 // the number of its primitive fields, and their bytes
	guessed     bool  // its fields, or those of a superclass, are not known
	unwritten   bool  // an object of it had no fields, only data of its writeObject
	proxy       bool
	hiding      uint8 // whether a field hides one of a superclass: 1 no, 2 yes, 0 not known yet
	checked     bool  // its fields, or those of a superclass, have declared types
	// misfit says what the stream tells of it, or of a superclass, that the class path does not; empty if they agree.
	misfit string
}

// fieldDesc is a field: its type code (B C D F I J S Z, L or [) and name.
type fieldDesc struct {
	code     byte
	name     string
	declared *declared // the type of an object's field; nil if the stream describes the class
	accepted int32     // 1 more than the class whose object was its value last; see accepts
}

// hasData reports whether objects have bytes for this class, not its superclasses.
func (c *class) hasData() bool {
	return c.n > 0 || c.flags&(scWriteMethod|scExternalizable) != 0 || !c.fieldsKnown
}

// empty reports whether its objects have no data at all.
func (c *class) empty() bool { return !c.hasData() && c.super < 0 }

// classDesc takes a class descriptor, a reference to one, or null (-1), recording it as overhead.
//
//	classDesc: TC_CLASSDESC … | TC_PROXYCLASSDESC … | TC_REFERENCE handle | TC_NULL
func (r *Reader) classDesc() int32 {
	if !r.Enter() {
		return -1
	}
	defer r.Leave()
	switch tc := r.Byte("a class"); {
	case !r.OK():
	case tc == tcNull:
		r.Role("class")
	case tc == tcReference:
		h, ok := r.refer()
		if !r.OK() {
			break
		}
		if !ok || r.handles[h].kind != toClass || !r.classes[r.handles[h].a].read {
			r.FailAt(r.Off-4, decode.Malformed, "a reference to a class", "a handle of something else")
			break
		}
		r.Role("ref")
		return r.handles[h].a
	case tc == tcClassDesc:
		return r.newClass()
	case tc == tcProxyClassDesc:
		return r.newProxy()
	default:
		r.FailAt(r.Off-1, decode.Malformed, "a class", foundTag(tc))
	}
	return -1
}

// newClass: className serialVersionUID newHandle classDescFlags fields classAnnotation superClassDesc. In compactedjava
// arrays and primitives have a byte 0 in front; other classes are a byte 1, className newHandle classAnnotation
// superClassDesc.
func (r *Reader) newClass() int32 {
	bare := false
	if r.compact {
		kind := r.Byte("the kind of a class")
		if r.OK() && kind > 1 {
			r.FailAt(r.Off-1, decode.Malformed, "the kind of a class, 00 or 01", fmt.Sprintf("%02x", kind))
		}
		bare = kind == 1
	}
	c := class{name: r.className(), fieldsKnown: true}
	if bare {
		return r.nameOnlyClass(c)
	}
	r.Skip(8, "a serialVersionUID")
	self := r.declare()
	c.flags = r.Byte("the flags of a class")
	n := int(r.U16("the number of fields"))
	r.Role("class")
	c.shape = shapeOf(c.name)
	r.readFields(&c, n)
	return r.finish(c, self)
}

// nameOnlyClass goes on after the name of a class of which the stream has only the name.
func (r *Reader) nameOnlyClass(c class) int32 {
	self := r.declare()
	r.Role("class")
	layout, ok := layouts()[c.name]
	if !ok {
		layout, ok = r.fromClassPath(&c)
	}
	c.fieldsKnown = ok || r.assumeNoFields
	c.guessed = !ok
	c.first = int32(len(r.fields))
	if ok {
		c.flags = layout.flags
		c.n = int32(len(layout.fields))
		r.fields = append(r.fields, layout.fields...)
	}
	c.shape = shapeOf(c.name)
	at := r.finish(c, self)
	if at < 0 {
		return at
	}
	own := &r.classes[at]
	switch {
	case r.renamed(at):
		own.n = 0
	case c.name == stackTraceElement && ofJDK8(r.Buf[r.Off:]):
		own.first, own.n = int32(len(r.fields)), int32(len(stackTraceElement8))
		r.fields = append(r.fields, stackTraceElement8...)
	default:
		return at
	}
	r.prepareCounting(own)
	return at
}

// renamed reports whether a class is a compatibility class of Dubbo 2.7 and later, with the name from before Apache. It has
// no fields of its own if it extends the class of the new name (2.7.6 to 3.1 do not extend for all).
func (r *Reader) renamed(at int32) bool {
	name, was := strings.CutPrefix(r.classes[at].name, "com.alibaba.dubbo.")
	above := r.classes[at].super
	return was && above >= 0 && r.classes[above].name == "org.apache.dubbo."+name
}

// newProxy: (int)count proxyInterfaceName[count] newHandle classAnnotation superClassDesc. The handle is assigned
// before the names are read; names have no handles.
func (r *Reader) newProxy() int32 {
	self := r.declare()
	n := int(int32(r.U32("the number of interfaces")))
	if r.OK() && (n < 0 || n > r.Left()/2) {
		r.FailAt(r.Off-4, decode.Malformed, "the number of interfaces", fmt.Sprintf("%d", n))
	}
	c := class{name: "java.lang.reflect.Proxy", fieldsKnown: true, proxy: true}
	for i := 0; i < n && r.OK(); i++ {
		if name := r.className(); i == 0 {
			c.name = name
		}
	}
	r.Role("class")
	return r.finish(c, self)
}

// declare assigns a handle to a class before its descriptor is read, as the writer does.
func (r *Reader) declare() (self int) {
	self = len(r.classes)
	r.classes = append(r.classes, class{})
	r.assign(handle{kind: toClass, a: int32(self), node: -1})
	return self
}

// finish reads annotation and superclass and enters the class into the table.
func (r *Reader) finish(c class, self int) int32 {
	r.classAnnotation()
	c.super = r.classDesc()
	if !r.OK() {
		return -1
	}
	if c.extends != "" {
		r.checkSuperclass(&c)
	}
	c.guessed = c.guessed || c.super >= 0 && r.classes[c.super].guessed
	if c.super >= 0 {
		c.checked = c.checked || r.classes[c.super].checked
		c.misfit = cmp.Or(c.misfit, r.classes[c.super].misfit)
	}
	if c.super >= 0 && !r.classes[c.super].hasData() {
		c.super = r.classes[c.super].super
	}
	c.level = 1
	if c.super >= 0 {
		c.level += r.classes[c.super].level
	}
	if c.level > decode.MaxDepth {
		r.Fail(decode.Limit, fmt.Sprintf("classes derived at most %d times", decode.MaxDepth), "more")
		return -1
	}
	c.read = true
	r.prepareCounting(&c)
	r.classes[self] = c
	return int32(self)
}

// maxName bounds a name in bytes. Every object repeats the name of its class and every field its own, for one to six bytes
// of input.
const maxName = 512

func (r *Reader) className() string {
	b := r.Bytes(int(r.U16("the length of a name")), "a name")
	if len(b) > maxName {
		return jdk.UTF(b[:maxName]) + "…"
	}
	return r.utf(b)
}

// readFields: prim_typecode fieldName | obj_typecode fieldName className1, where className1 is a string item.
func (r *Reader) readFields(c *class, n int) {
	c.first = int32(len(r.fields))
	c.n = int32(n)
	for i := 0; i < n && r.OK(); i++ {
		code := r.Byte("the type of a field")
		if r.OK() && size(code) == 0 && code != 'L' && code != '[' {
			r.FailAt(r.Off-1, decode.Malformed, "the type of a field", decode.HexByte(code))
			return
		}
		if k := len(r.fields) - 1; r.OK() && i > 0 && size(code) > 0 && size(r.fields[k].code) == 0 {
			r.FailAt(r.Off-1, decode.Malformed, "the type of an object, because objects come after all primitives", fmt.Sprintf("a primitive, %c", code))
			return
		}
		r.fields = append(r.fields, fieldDesc{code: code, name: r.className()})
		if code == 'L' || code == '[' {
			r.typeString()
		}
	}
	r.Role("field")
}

// typeString takes the string item that names the type of a field, which may be a reference.
func (r *Reader) typeString() {
	switch tc := r.Byte("the type of a field"); {
	case !r.OK():
	case tc == tcString || tc == tcLongString:
		r.newString(tc)
	case tc == tcReference:
		r.refer()
	default:
		r.FailAt(r.Off-1, decode.Malformed, "the type of a field, a string", foundTag(tc))
	}
}

// classAnnotation: contents TC_ENDBLOCKDATA. Dubbo's writers leave it empty.
func (r *Reader) classAnnotation() {
	for r.OK() {
		tc, _ := r.Peek()
		switch tc {
		case tcEndBlockData:
			r.Off++
			r.Role("class")
			return
		case tcBlockData, tcBlockDataLong:
			r.Off++
			r.Skip(r.blockLen(tc), "a block")
			r.Role("annotation")
		default:
			r.hidden("annotation")
		}
	}
}

// size returns the bytes of a primitive of that type code, 0 when it is none.
func size(code byte) int { return int(sizes[code]) }

var sizes = [256]uint8{'B': 1, 'Z': 1, 'C': 2, 'S': 2, 'F': 4, 'I': 4, 'D': 8, 'J': 8}

// sourceName returns the source form of a class name: "[[I" is "int[][]".
func sourceName(name string) string {
	if !strings.HasPrefix(name, "[") {
		return name
	}
	return decode.JavaName(strings.ReplaceAll(name, ".", "/"))
}
