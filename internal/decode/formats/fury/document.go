package fury

import (
	"fmt"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
)

// Reference flags, before an object.
const (
	refNew  = 0x00 // an object with a number
	notNull = 0xff // an object without a number
	refSeen = 0xfe // the number of an earlier object
	refNull = 0xfd
)

// Flags, the first byte of a document of 0.10.
const plainDocument = 0x02 // little-endian, for Java alone

// document takes a length and that many bytes. Bytes that cannot be read are opaque, in the innermost open object or list.
func (r *Reader) document(p decode.Place) {
	if !r.OK() {
		return
	}
	depth := r.Tree.Depth()
	defer r.Settle(depth)
	n := r.length("the length of an object")
	if !r.Need(n, "an object") {
		return
	}
	if r.Tree == nil && r.library == nil {
		r.Skip(n, "an object")
		r.Pass()
		return
	}
	body, end := r.Buf, r.Off+n
	r.Buf = body[:end]
	r.begin()
	start, first := r.Mark(), r.NextNode()
	p.Length = r.Off
	fits := func() bool { return r.OK() && r.Off == end }
	if r.v010 {
		r.fory, r.ambiguous = false, false
		r.root010(p)
		if r.ambiguous && !r.Tree.Full() {
			r.settleOrder(p, start, first, depth, end)
		}
	} else {
		r.flagged(p)
	}
	r.Buf = body
	if fits() || r.Tree.Full() {
		return
	}
	trailing := r.Off
	if r.OK() { // bytes after the value
		r.Rewind(start)
		r.Tree.CloseTo(depth)
	}
	if r.fault == nil {
		err := r.Err()
		if err == nil {
			err = &decode.Error{Cause: decode.Malformed, At: trailing, Expected: "the end of an object", Found: "more bytes"}
		}
		r.stopped = r.within
		own := *err
		if r.fault = &own; own.Cause == r.Short {
			r.fault.Cause = decode.Malformed // the whole document is here
		}
	}
	if r.Tree == nil { // whether the classes fit is told with a tree
		r.NeedTree()
		r.Resume(end)
		return
	}
	at := r.Off - r.Pending()
	r.Resume(at)
	r.Skip(end-at, "an object")
	if r.Tree.Depth() > depth {
		r.Leaf(decode.Opaque, decode.Whole, "opaque", 0)
	} else {
		r.Scalar(p, decode.Opaque)
	}
	r.Tree.CloseTo(depth)
}

// begin starts a document, which has its own numbers of objects and names.
func (r *Reader) begin() {
	clear(r.strings)
	r.strings = r.strings[:0]
	r.objects = r.objects[:0]
	clear(r.metas)
	r.metas = r.metas[:0]
	r.within = place{}
	r.startCounting()
}

// open opens a container and records its head.
func (r *Reader) open(p decode.Place, k decode.Kind, class string) {
	if n := r.Tree.Node(r.Open(k, p.Label, p.Name, p.Index)); n != nil {
		n.Class = class
	}
	r.Heads(p)
	r.Role("type")
}

// flagged takes a reference flag, a class and its data.
func (r *Reader) flagged(p decode.Place) {
	if r.flag(&p) {
		if cl := r.class(&p); r.OK() {
			r.data(cl, p)
		}
	}
}

// flag takes a reference flag. It returns true if data follow; if not, it has recorded the value.
func (r *Reader) flag(p *decode.Place) (follows bool) { return r.ref(p, true) }

// ref takes a reference flag. It returns true if data follow; if not, it has recorded the value. tracked: the object has a number.
func (r *Reader) ref(p *decode.Place, tracked bool) (follows bool) {
	switch b := r.Byte("a reference flag"); b {
	case refNew:
		if !r.OK() {
			return false
		}
		if tracked {
			r.objects = append(r.objects, int32(r.NextNode()))
		}
		return true
	case notNull:
		return true
	case refNull:
		r.Scalar(*p, decode.Null)
	case refSeen:
		k := r.Varint9("the number of an object")
		switch {
		case !r.OK():
		case k >= uint64(len(r.objects)) || !tracked:
			r.Fail(decode.Malformed, fmt.Sprintf("the number of one of %d objects", len(r.objects)), fmt.Sprint(k))
		default:
			r.refer(*p, int(r.objects[k]))
		}
	default:
		r.Fail(decode.Malformed, "a reference flag", decode.HexByte(b))
	}
	return false
}

// maxCopied bounds the texts repeated for references, per body byte: a few bytes could stand for gigabytes.
const maxCopied = 16

// refer records a reference to node k. With classes of the application a number, a text or a constant is shown again.
func (r *Reader) refer(p decode.Place, k int) {
	if r.library == nil || k < 0 || r.Tree == nil || k >= len(r.Tree.Nodes) {
		r.Scalar(p, decode.Ref).SetNum(int64(k))
		return
	}
	of := r.Tree.Nodes[k]
	switch of.Kind {
	case decode.Bool, decode.Int, decode.Float32, decode.Float64, decode.Char, decode.String, decode.Date, decode.Decimal, decode.Enum:
		if !r.mayCopy(len(of.Text)) {
			break
		}
		if n := r.Scalar(p, of.Kind); n != nil {
			n.Num, n.Float, n.Class, n.Text, n.Same = of.Num, of.Float, of.Class, of.Text, int32(k)+1
		}
		return
	}
	r.Scalar(p, decode.Ref).SetNum(int64(k))
}

// class takes a class: a number, shifted by one bit, or 1 and a name in two parts.
func (r *Reader) class(p *decode.Place) *class {
	off := r.Off
	id := r.Varint9("a class")
	switch {
	case !r.OK():
		return nil
	case id&1 == 0:
		p.Head = r.Off
		if table, k := r.table(), id>>1; k < uint64(len(table)) && table[k] != nil {
			switch c := table[k]; {
			case r.library != nil && c.layout == unknown:
				return r.library.class(c.name)
			case r.library != nil || k > 3:
				return c
			}
		}
		return &class{name: fmt.Sprintf("#%d", id>>1), id: -1}
	case r.meta && !r.names010:
		k := id >> 1
		p.Head = r.Off
		if k >= uint64(len(r.defs)) {
			r.FailAt(off, decode.Malformed, fmt.Sprintf("the number of one of %d classes", len(r.defs)), fmt.Sprint(k))
			return nil
		}
		return r.defs[k].class
	case r.v010:
		pkg := r.metaName(id, true, '.')
		simple := className010(pkg, r.metaName(0, false, '$'))
		p.Head, p.Named = r.Off, true
		return r.namedClass(simple, off)
	case id != 1:
		r.FailAt(off, decode.Malformed, "a class", fmt.Sprint(id))
		return nil
	}
	pkg, simple := r.part(), r.part()
	p.Head, p.Named = r.Off, true
	if r.library != nil {
		r.key = append(append(append(r.key[:0], pkg...), '.'), simple...)
		if c := r.named[string(r.key)]; c != nil && r.OK() {
			return c
		}
	}
	if pkg != "" {
		simple = pkg + "." + simple
	}
	return r.namedClass(simple, off)
}

// namedClass returns the class with a name that stands at an offset.
func (r *Reader) namedClass(simple string, off int) *class {
	if strings.Trim(simple, "[") == "" && r.OK() {
		r.FailAt(off, decode.Malformed, "the name of a class", strconv.Quote(simple))
	}
	if !r.OK() {
		return nil
	}
	if r.library != nil {
		c := r.library.class(simple)
		if !r.v010 {
			if len(r.named) >= maxClasses || r.named == nil {
				r.named = map[string]*class{}
			}
			r.named[string(r.key)] = c
		}
		return c
	}
	return &class{name: simple, id: -1}
}

// classByName takes a class as streams, objects instead of others and objects of class Class have it: without a definition.
func (r *Reader) classByName(p *decode.Place) *class {
	r.names010 = true
	cl := r.class(p)
	r.names010 = false
	return cl
}

// part takes a part of a class name: 0, a hash, its length in two bytes and itself; or 1 and the number of an earlier part.
func (r *Reader) part() string {
	switch b := r.Byte("a part of a class name"); b {
	case 0:
		r.Skip(8, "the hash of a name")
		n := int(r.Little(2, "the length of a name"))
		s := r.Name(r.Bytes(n, "a part of a class name"))
		if r.OK() {
			r.strings = append(r.strings, s)
		}
		return s
	case 1:
		k := r.Little(2, "the number of a name")
		if k < uint64(len(r.strings)) && r.OK() {
			return r.strings[k]
		}
		r.Fail(decode.Malformed, fmt.Sprintf("the number of one of %d names", len(r.strings)), fmt.Sprint(k))
	default:
		r.Fail(decode.Malformed, "00 or 01 before a part of a class name", decode.HexByte(b))
	}
	return ""
}
