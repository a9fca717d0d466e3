package kryo

import (
	"fmt"
	"strconv"

	"dubbo-wire/internal/decode"
)

// seen is an object that references can refer to.
type seen struct {
	node int32
	text int32  // offset of its text in the body, when it is a string; inText if it is within chunks, else 0
	copy string // the text, once it was asked for
}

// inText is the offset of texts that have a copy.
const inText = -1

// Values of the class id.
const (
	idNull   = 0
	idNamed  = 1 // class name id, and the name where the id is new
	idOffset = 2 // registered ids follow
)

// Values of the reference byte.
const (
	refNull  = 0
	refNew   = 1 // data follow
	refFirst = 2 // object 0 of this top-level object
)

// open records a container and its head: class, reference byte.
func (r *Reader) open(p decode.Place, k decode.Kind, cl *class) int {
	i := r.Begin(p, k, cl.name)
	r.Role("ref")
	return i
}

// object takes a class id, a reference byte and the data.
func (r *Reader) object(p decode.Place) {
	cl := r.class(&p)
	switch {
	case !r.OK():
	case cl == nil:
		r.Scalar(p, decode.Null)
	default:
		r.nonNull(cl, p)
	}
}

// nonNull takes an object whose class is known and that is not null.
func (r *Reader) nonNull(cl *class, p decode.Place) {
	switch {
	case r.d.plain(cl):
		r.data(cl, p)
	case r.d.isKryo5 && cl.layout == unknown && !r.streamed(cl):
		// An enum has no reference byte, and only the class says whether it is an enum.
		r.failUnknown(cl, p)
	default:
		r.reference(cl, p, false)
	}
}

// nullable takes an object whose class is known, or null.
func (r *Reader) nullable(cl *class, p decode.Place) {
	switch {
	case r.d.isKryo5 && cl.layout == unknown && !r.streamed(cl):
		if b, ok := r.Peek(); ok && b == refNull { // in an enum too, whose constants are numbered from 1
			r.Off++
			r.Scalar(p, decode.Null)
			return
		}
		r.failUnknown(cl, p)
		return
	case !r.d.plain(cl):
		r.reference(cl, p, true)
		return
	}
	switch b := r.Byte("null or not null"); {
	case !r.OK():
	case b == refNull:
		r.Scalar(p, decode.Null)
	case b == refNew:
		r.data(cl, p)
	default:
		r.FailAt(p.Start, decode.Malformed, "00 (null) or 01 before "+cl.name, decode.HexByte(b))
	}
}

// class takes a class id and, where it is new, the class name; nil is null.
func (r *Reader) class(p *decode.Place) *class {
	c := &r.Cursor
	id := r.varint("a class id")
	switch {
	case !c.OK() || id == idNull:
		p.Head = c.Off
		return nil
	case id != idNamed:
		p.Head = c.Off
		return r.registered(id - idOffset)
	}
	n := r.varint("the number of a class name")
	switch {
	case !c.OK():
		return nil
	case int64(n) >= int64(len(r.names)) && r.lost.names:
		c.Fail(decode.Unsupported, "the number of a class name", fmt.Sprintf("%d, which data that were skipped may have", n))
		return nil
	case int64(n) > int64(len(r.names)):
		c.Fail(decode.Malformed, r.says("a class name number up to %d", len(r.names)), r.says("%d", int(n)))
		return nil
	case int(n) == len(r.names):
		x := r.text()
		if !c.OK() {
			return nil
		}
		if len(x.raw) == 0 {
			c.Fail(decode.Malformed, "a class name", "an empty string")
			return nil
		}
		cl := r.classNamed(x)
		if cl == nil {
			return nil
		}
		r.names = append(r.names, cl)
		p.Named = true
	}
	p.Head = c.Off
	return r.names[n]
}

// classNamed returns the class with a name.
func (r *Reader) classNamed(x text) *class {
	if r.library == nil {
		return classOf(x.decode(), nil)
	}
	cl := r.named[string(x.raw)]
	if cl == nil {
		name := x.decode()
		cl = r.library.class(name)
		if len(r.named) >= maxClasses || r.named == nil {
			r.named = map[string]*class{}
		}
		r.named[string(x.raw)] = cl
	}
	if r.strict() && (cl.model == nil || cl.model.file == nil) && cl.layout == unknown && !javaName(cl.name) {
		r.Fail(decode.Malformed, "the name of a class", strconv.Quote(cl.name[:min(len(cl.name), 64)]))
		return nil
	}
	return cl
}

// registered returns the class with a registered id.
func (r *Reader) registered(id uint32) *class {
	if int64(id) < int64(len(r.d.classes)) {
		if cl := r.d.classes[id]; r.library == nil || cl.layout != unknown {
			return cl
		}
		return r.library.class(r.d.classes[id].name)
	}
	return r.numbered(id)
}

// reference takes a reference byte and the data that follow it.
func (r *Reader) reference(cl *class, p decode.Place, mayBeNull bool) {
	c := &r.Cursor
	n := r.varint("a reference byte")
	switch {
	case !c.OK():
	case n == refNull && mayBeNull:
		r.setGenerics(cl, nil)
		r.Scalar(p, decode.Null)
	case n == refNew:
		r.number()
		r.data(cl, p)
	case r.lost.objects && n >= refFirst && int64(n-refFirst) >= int64(r.lost.first):
		c.Fail(decode.Unsupported, "a reference to an object before the data that were skipped", fmt.Sprintf("reference %d", n))
	case n == refNull || int64(n-refFirst) >= int64(r.objects):
		c.Fail(decode.Malformed, r.says("01 or a reference to one of %d objects", int(r.objects)), r.says("reference %d", int(n)))
	default:
		r.setGenerics(cl, nil)
		r.refer(p, int(n-refFirst))
	}
}

// number assigns a number to the object that follows.
func (r *Reader) number() {
	r.objects++
	if r.Tree != nil {
		r.seen = append(r.seen, seen{node: int32(len(r.Tree.Nodes))})
	}
}

// maxCopied bounds the texts repeated for references, per body byte: a few bytes could stand for gigabytes.
const maxCopied = 16

// refer records a reference to object k.
func (r *Reader) refer(p decode.Place, k int) {
	if r.Tree == nil {
		r.Scalar(p, decode.Ref)
		return
	}
	s := &r.seen[k]
	if r.copied += len(r.textOf(s)); s.text != 0 && r.copied <= maxCopied*len(r.whole) {
		if n := r.Scalar(p, decode.String); n != nil && (r.Values() || p.Label == decode.ByKey) {
			n.Text, n.Same = s.copy, s.node+1
		}
		return
	}
	r.Scalar(p, decode.Ref).SetNum(int64(s.node))
}

// textOf returns the text of an object, "" if it has none.
func (r *Reader) textOf(s *seen) string {
	if s.text > 0 && s.copy == "" {
		off, buf := r.Off, r.Buf
		r.Off, r.Buf = int(s.text), r.whole
		s.copy = r.text().decode()
		r.Off, r.Buf = off, buf
	}
	return s.copy
}

// failUnknown stops at a class whose data have no end that can be seen without the class. The node stays open: what
// follows is its content.
func (r *Reader) failUnknown(cl *class, p decode.Place) {
	if r.failModel(cl, p) {
		return
	}
	r.ask(cl)
	r.open(p, decode.Object, cl)
	what := "the fields of class"
	if r.probing {
		r.FailWithout(cl.name, what, "") // nobody reads it
		return
	}
	if cl.name[0] == '#' {
		if r.distrust != nil {
			r.FailWith(r.distrust)
			return
		}
		what = "the fields of registered class"
	}
	if cl.choice != "" && r.OK() {
		r.Fail(decode.Unsupported, what+" "+cl.name, "a number that may be "+cl.choice+": a line of --register with class and number tells")
		r.Err().Class = cl.name
	}
	r.FailClass(what, cl.name)
}

// says is fmt.Sprintf for texts of errors. Those of a trial nobody reads, and most trials end with one.
func (r *Reader) says(format string, n int) string {
	if r.probing {
		return ""
	}
	return fmt.Sprintf(format, n)
}
