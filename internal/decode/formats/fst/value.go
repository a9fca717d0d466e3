package fst

import (
	"fmt"
	"slices"

	"dubbo-wire/internal/decode"
)

// Tags: the first byte of a value.
const (
	tagObject  = 0x00 // class id, data
	tagFalse   = 0xef
	tagTrue    = 0xf0
	tagLong    = 0xf6 // FLong
	tagInteger = 0xf7 // FInt
	tagHandle  = 0xf9 // FInt: the offset of another tag in the body
	tagEnum    = 0xfa // class id, FInt ordinal
	tagArray   = 0xfb // class id, FInt length, elements
	tagString  = 0xfc // FInt length, chars
	tagTyped   = 0xfd // data of the declared class
	tagOneOf   = 0xee // one of the texts that the field's annotation has
	tagNull    = 0xff
	tagCopy    = 0xf8 // FST 1: a handle to an object that is equal
)

// Bytes inside objects.
const (
	sectionOwn     = 0x37 // what a class's writeObject writes
	sectionDefault = 0x63 // in it: the fields, ended by fieldsEnd
	sectionPut     = 0x4d // in it: the fields that writeFields writes
	sectionFields  = 0x42 // fields of a class without writeObject, ended by fieldsEnd
	sectionTagged  = 0xed // in a section: a tagged value
	fieldsEnd      = 0x00
)

// Forms of a class id.
const (
	newName      = 0x00 // FInt length, chars
	newASCIIName = 0x01 // FInt length, bytes
)

// remember keeps the node of an object by the offset of its tag, for handles to it.
func (r *Reader) remember(off, node int) {
	if r.nodes == nil {
		r.nodes = make(map[int]int32)
	}
	r.nodes[off] = int32(node)
}

// container records a container; f takes its content.
func (r *Reader) container(p decode.Place, k decode.Kind, cl *class, f func()) {
	r.Begin(p, k, cl.name)
	r.Content(f)
}

// object takes a tagged value.
func (r *Reader) object(p decode.Place) { r.value(p, nil) }

// value takes a tagged value of a field or of the array in a field; f is nil elsewhere.
func (r *Reader) value(p decode.Place, f *field) {
	if r.d.one {
		outer := r.predicted
		if f != nil {
			r.predicted = prediction{len(f.predicted) > 0, nil, f.predicted}
		}
		r.last = otherClass
		r.anyValue(p, f)
		r.predicted = outer
		return
	}
	r.anyValue(p, f)
}

func (r *Reader) anyValue(p decode.Place, f *field) {
	r.work += workPerObject
	switch tag := r.Byte("a value"); {
	case !r.OK():
	case tag == tagNull:
		r.last = nil
		r.Scalar(p, decode.Null)
	case tag == tagString && !r.d.one:
		r.mustFit(p, f, "java.lang.String")
		x := r.text()
		r.Words(p, decode.String, x.decode)
	case tag == tagInteger:
		r.mustFit(p, f, "java.lang.Integer")
		r.Integer(p, int64(r.int32("an int")))
	case tag == tagLong:
		r.mustFit(p, f, "java.lang.Long")
		r.Integer(p, r.int64("a long"))
	case tag == tagTrue, tag == tagFalse:
		r.mustFit(p, f, "java.lang.Boolean")
		r.Boolean(p, tag == tagTrue)
	case tag == tagHandle, tag == tagCopy && r.d.one:
		r.handle(p)
	case tag == tagEnum:
		cl := r.class(&p)
		if cl != nil {
			r.mustFit(p, f, cl.name)
		}
		r.ordinal(cl, p)
	case tag == tagArray, tag == tagObject:
		r.rememberNext(p)
		cl := r.class(&p)
		if cl != nil {
			r.mustFit(p, f, cl.name)
		}
		if f != nil && f.top {
			f = nil // says nothing of elements
		}
		switch {
		case tag == tagArray:
			r.array(cl, p, f)
		case cl == stringClass:
			r.note(p.Start, cl)
			r.plainText(p, f)
			r.last = cl
		default:
			r.note(p.Start, cl)
			r.data(cl, p)
			r.last = cl
		}
	case r.d.one && tag <= maxPredicted && r.predicted.class(r, tag) != nil:
		cl := r.predicted.class(r, tag)
		r.mustFit(p, f, cl.name)
		r.object1(cl, p, f)
		r.last = cl
	case f != nil && !f.top && r.asDeclared(tag, p, f):
		if r.d.one && tag == tagTyped {
			r.last = f.class
		}
	default:
		r.FailAt(p.Start, decode.Malformed, "the tag of a value", decode.HexByte(tag))
	}
}

// rememberNext keeps the node to come as that of the object at p.
func (r *Reader) rememberNext(p decode.Place) {
	if r.Tree != nil {
		r.remember(p.Start, len(r.Tree.Nodes))
	} else {
		r.rememberPlace(p.Start)
	}
}

// rememberPlace keeps the offset of an object where no tree is filled. Of one that is not kept only a tree tells what a handle to it is.
func (r *Reader) rememberPlace(off int) {
	if n := len(r.places); !r.Hiding() && (n == 0 || int(r.places[n-1]) < off) {
		r.places = append(r.places, int32(off))
	}
}

// counts reports whether a handle at end to an offset is a value, without a tree; false if only a tree tells.
func (r *Reader) counts(off, end int, text bool) bool {
	if _, ok := slices.BinarySearch(r.places, int32(off)); ok && !text {
		return true
	}
	if b := r.Buf[off:end]; !r.d.one && len(b) > 0 && b[0] == tagString { // mostly
		if n, size := shortInt(b[1:]); size > 0 {
			b = b[1+size:]
			all, left := charsEnd(b, n)
			return left == 0 && all <= len(b) && r.mayCopy(3*all)
		}
	}
	x, ok := r.writtenAt(off, end)
	return ok && r.mayCopy(3*len(x.raw))
}

// class takes a class id and, where it is new, the class name.
func (r *Reader) class(p *decode.Place) *class {
	id := r.short("a class id")
	var name string
	switch {
	case !r.OK():
		return nil
	case id == newName:
		name = r.text().decode()
	case id == newASCIIName:
		name = r.Name(r.Bytes(r.count("the length of a class name", 1), "a class name"))
	default:
		p.Head = r.Off
		if r.d.one && int(id) >= firstKnown+len(r.d.own) {
			return r.numberedAfterOwn(int(id))
		}
		return r.numbered(int(id))
	}
	switch {
	case !r.OK():
	case name == "":
		r.Fail(decode.Malformed, "a class name", "an empty string")
	case r.known[r.side][name] == nil && !decode.CanBeClass(name):
		r.Fail(decode.Malformed, "a class name", "a text that no class has as its name")
	}
	if !r.OK() {
		return nil
	}
	cl := r.named(name)
	r.names = append(r.names, cl)
	p.Head, p.Named = r.Off, true
	return cl
}

// numbered returns the class of an id.
func (r *Reader) numbered(id int) *class {
	switch {
	case id >= firstNamed && r.skipped:
		return unreadClass
	case id >= firstNamed && id-firstNamed < len(r.names):
		return r.names[id-firstNamed]
	case id >= firstNamed:
		r.Fail(decode.Malformed, fmt.Sprintf("a class id up to %d", firstNamed+len(r.names)-1), fmt.Sprint(id))
		return nil
	case id >= firstKnown && id-firstKnown < len(r.d.own):
		if c := r.d.own[id-firstKnown]; c.layout != unknown || r.classes == nil {
			return c
		}
		return r.named(r.d.own[id-firstKnown].name)
	case id < firstKnown:
		r.Fail(decode.Malformed, "a class id", fmt.Sprint(id))
		return nil
	}
	return r.number(id)
}

// maxPredicted is the largest number that stands for a class of the annotation Predict.
const maxPredicted = 0x7f

// maxCopied bounds the texts repeated for handles, per body byte: a few bytes could stand for gigabytes.
const maxCopied = 16

// handle takes the offset of an earlier value. That value may not have been read: then a string is still recognised by its
// tag, and any other value is opaque.
func (r *Reader) handle(p decode.Place) {
	off := int(r.int32("a handle"))
	if r.OK() && (off < 0 || off >= p.Start) {
		r.FailAt(p.Start, decode.Malformed, fmt.Sprintf("a handle to an offset below %d", p.Start), fmt.Sprint(off))
	}
	if len(r.used) > 0 && r.OK() && r.Buf[off] < tagArray && r.Buf[off] > maxPredicted {
		r.FailAt(p.Start, decode.Malformed, "a handle to the tag of a value", decode.HexByte(r.Buf[off]))
	}
	text := false
	if r.d.one && r.OK() {
		cl, ok := r.objectAt(off)
		if !ok && !r.skipped {
			r.FailAt(p.Start, decode.Malformed, "a handle to an object", fmt.Sprint(off))
		}
		r.last, text = cl, cl == stringClass
	}
	if r.Tree == nil || !r.OK() {
		if r.OK() && !r.Hiding() && !r.counts(off, p.Start, text) {
			r.NeedTree()
		}
		r.Scalar(p, decode.Ref)
		return
	}
	if node, ok := r.nodes[off]; ok && !text {
		r.Scalar(p, decode.Ref).SetNum(int64(node))
		return
	}
	if raw, negative := r.integerAt(off); raw != nil && r.mayCopy(3*len(raw)) { // the one within a BigDecimal, which has no node
		r.decimal(p, raw, negative, 0)
		return
	}
	s, ok := r.textAt(off, p.Start)
	if !ok || !r.mayCopy(len(s)) {
		r.Scalar(p, decode.Opaque)
		return
	}
	same, node := r.NodeAt(off), r.NextNode()
	r.Words(p, decode.String, func() string { return s })
	if r.OK() && node < len(r.Tree.Nodes) {
		r.Tree.Nodes[node].Same = int32(same) + 1
	}
}

// mayCopy reports whether n more bytes of text may be repeated.
func (r *Reader) mayCopy(n int) bool {
	r.copied += n
	return r.copied <= maxCopied*len(r.Buf)
}

// textAt returns the string whose tag is at off and which ends before end.
func (r *Reader) textAt(off, end int) (string, bool) {
	if s, ok := r.texts[off]; ok {
		return s, true
	}
	x, ok := r.writtenAt(off, end)
	if !ok {
		return "", false
	}
	if r.texts == nil {
		r.texts = make(map[int]string)
	}
	r.texts[off] = x.decode()
	return r.texts[off], true
}

// writtenAt returns the characters of the string whose tag is at off and which ends before end.
func (r *Reader) writtenAt(off, end int) (text, bool) {
	x := Reader{application: application{d: r.d}}
	x.Cursor.Reset(r.Buf[:end], decode.Malformed)
	x.Off = off
	if cl, _ := r.objectAt(off); cl == stringClass && r.Buf[off] != tagObject {
		x.Off++ // a field or a map tells the class
	} else if !x.atText() {
		return text{}, false
	}
	s := x.text()
	return s, x.OK()
}

// failUnknown stops at a class whose data have no end that can be seen without the class.
func (r *Reader) failUnknown(cl *class, p decode.Place) {
	if r.classes != nil && cl.layout == array {
		r.FailAt(p.Start, decode.Malformed, "the class of an object", "an array class")
		return
	}
	r.Begin(p, decode.Object, cl.name)
	what := "the fields of class"
	switch {
	case cl.name[0] != '#':
		r.missing(cl.name)
	case r.distrusted != nil:
		r.FailWith(r.distrusted)
		return
	case r.classes != nil && r.OK():
		r.incomplete = r.doubtful != "" || len(r.used) == 0
		if r.doubtful != "" {
			r.Fail(decode.Unsupported, "the fields of registered class "+cl.name, r.doubtful)
			return
		}
		found := "a number that no class has"
		if r.incomplete { // else the number may come from a body that was misread
			found += ": --register FILE or --optimizer CLASS gives it one"
		}
		r.Fail(decode.Unsupported, "the fields of registered class "+cl.name, found)
		return
	default:
		what = "the fields of registered class"
	}
	r.FailClass(what, cl.name)
}

// expect takes a byte that must stand here.
func (r *Reader) expect(want byte, what string) {
	if b := r.Byte(what); b != want && r.OK() {
		r.FailAt(r.Off-1, decode.Unsupported, what, decode.HexByte(b))
	}
}

func (r *Reader) ordinal(cl *class, p decode.Place) {
	at := r.Off
	v := r.int32("an ordinal")
	if !r.OK() {
		return
	}
	name := ""
	if cl.plan != nil && r.distrusted == nil {
		r.use(cl)
		switch constants := cl.plan.constants; {
		case cl.plan.form != constant:
			r.FailAt(p.Start, decode.Malformed, "the class of an enum", cl.name)
		case v < 0 || int(v) >= len(constants):
			r.FailAt(at, decode.Malformed, fmt.Sprintf("the ordinal of one of %d constants of enum %s", len(constants), cl.name), fmt.Sprint(v))
		default:
			name = constants[v]
		}
	}
	if n := r.Scalar(p, decode.Enum); n != nil {
		n.Class = decode.JavaName(cl.name)
		n.Num = int64(v)
		if r.Values() {
			n.Text = name
		}
	}
}

// array takes a length and elements; byte[] is one value, the others are lists.
func (r *Reader) array(cl *class, p decode.Place, f *field) {
	if !r.OK() {
		return
	}
	if cl.layout != array {
		if r.classes != nil && cl.name[0] != '#' && !r.skipped {
			r.FailAt(p.Start, decode.Malformed, "an array class", "class "+decode.JavaName(cl.name))
		}
		r.failUnknown(cl, p)
		return
	}
	size := elemSizes[cl.elem]
	if f != nil && (f.thin || f.compressed) {
		size = 0
	}
	n := r.count("the length of "+cl.name, size)
	if !r.OK() {
		return
	}
	if cl.elem == bytes1 {
		raw := r.Bytes(n, "bytes")
		r.FillRaw(r.Scalar(p, decode.Bytes), raw)
		return
	}
	r.container(p, decode.List, cl, func() {
		r.Role("length")
		if f != nil && (f.thin || f.compressed) && r.dense(cl.elem, n, f) {
			return
		}
		for i := 0; i < n && r.OK(); i++ {
			switch q := r.At(decode.ByIndex, "", i); cl.elem {
			case tagged:
				r.value(q, f.element())
			case nested:
				r.nested(q, f)
			case short2:
				if r.d.one {
					r.Integer(q, int64(int16(r.U16("a short"))))
				} else {
					r.primitive(short2, q)
				}
			default:
				r.primitive(cl.elem, q)
			}
		}
	})
}

// nested takes an array inside an array: class id, length, elements; null is class Object with length -1.
func (r *Reader) nested(p decode.Place, f *field) {
	if b, _ := r.Peek(); b == r.d.objectID {
		r.Off++
		if n := r.int32("the length of null"); n != -1 && r.OK() {
			r.FailAt(p.Start, decode.Malformed, "length -1 for null", fmt.Sprint(n))
		}
		r.Scalar(p, decode.Null)
		return
	}
	cl := r.class(&p)
	if r.d.one {
		f = nil // the annotations of the field are not those of such an array
	}
	r.array(cl, p, f)
}
