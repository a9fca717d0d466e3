package fury

import (
	"fmt"
	"maps"
	"math"

	"dubbo-wire/internal/decode"
)

// root010 takes a document of fury-core 0.10: flags, in compatible mode the offset of its class definitions (-1 for none),
// then an object as in 0.2.0 of a class that value010 reads.
func (r *Reader) root010(p decode.Place) {
	off := r.Off
	switch flags := r.Byte("the flags of a document"); {
	case !r.OK():
	case flags == nullOf010:
		r.Scalar(p, decode.Null)
		return
	case flags != plainDocument:
		r.FailAt(off, decode.Unsupported, "the flags of a document for Java", decode.HexByte(flags))
	}
	if r.meta && r.library != nil {
		at := int32(r.Little(4, "the place of class definitions"))
		if at < -1 && r.OK() {
			r.Fail(decode.Malformed, "the place of class definitions", fmt.Sprint(at))
		}
		if r.OK() {
			r.rootWithClasses(p, int(at))
		}
		return
	}
	if r.meta {
		if at := int32(r.Little(4, "the place of class definitions")); r.OK() && at != -1 {
			r.Fail(decode.Unsupported, "a document without class definitions", fmt.Sprintf("some at %d", at))
		}
	}
	if r.library != nil {
		r.flagged(p)
		return
	}
	if !r.flag(&p) {
		return
	}
	id := r.Varint9("a class")
	p.Head = r.Off
	if r.OK() {
		r.value010(byte(min(id, 0xff)), p)
	}
}

// Numbers of classes, shifted by one bit as on the wire.
const (
	idString    = 0x2c
	idArrayList = 0x42
	idHashMap   = 0x44
	idDate      = 0x54
	idThrowable = 0x91 // 12 bits and more: exceptions
)

// scalars010 has the scalars that 0.10 writes as 0.2.0 does, by the number of their class.
var scalars010 = map[byte]layout{
	0x1c: boolean, 0x1e: int8s, 0x20: char, 0x22: int16s, 0x24: zigzag, 0x26: float, 0x28: tagged64, 0x2a: double, idString: str,
}

func (r *Reader) value010(id byte, p decode.Place) {
	l, ok := scalars010[id]
	switch {
	case ok:
		r.scalar(l, p)
	case id == idDate:
		r.worded(&class{name: "java.util.Date", layout: date}, p)
	case id == 0x30:
		r.primitives(&class{name: "[B", elem: int8s, size: 1}, p)
	case id == idHashMap:
		r.container(p, decode.Map, "java.util.HashMap", r.chunks)
	case id == idArrayList:
		r.container(p, decode.List, "java.util.ArrayList", r.elements010)
	case p.Throwable:
		r.open(p, decode.Object, "")
		r.message()
		r.Fail(decode.Unsupported, "the fields of an exception", "fields that cannot be separated without the class definition")
	default:
		r.Fail(decode.Unsupported, "a string, a box, a date, or a list or map of them", fmt.Sprintf("class number %d", id>>1))
	}
}

// chunks takes a map: a count, and chunks of entries whose keys have one class and whose values have one: flags, the
// number of entries, both classes, then keys and values. Chunks with flags (null, references) are not read.
func (r *Reader) chunks() {
	n := r.count("the number of entries", 1)
	r.Role("length")
	for i := 0; i < n && r.OK(); {
		flags, size := r.Byte("the flags of entries"), int(r.Byte("the number of entries"))
		key, value := r.Byte("the class of keys"), r.Byte("the class of values")
		if !r.OK() {
			return
		}
		if flags != 0 || size == 0 || size > n-i || key != idString {
			r.Fail(decode.Unsupported, "entries of one class of keys and one of values", fmt.Sprintf("flags %02x", flags))
			return
		}
		r.Role("type")
		for ; size > 0 && r.OK(); size-- {
			at := r.NextNode()
			r.scalar(str, decode.Place{Label: decode.ByKey, Index: i})
			r.element010(value, decode.Place{Label: decode.ByEntry, Name: r.NameKey(at), Index: i})
			i++
		}
	}
}

// elements010 takes a list, as 0.2.0 writes it.
func (r *Reader) elements010() {
	n := r.count("the number of elements", 1)
	r.Role("length")
	if n == 0 || !r.OK() {
		return
	}
	flags := r.Byte("the flags of elements")
	same := flags == undecided
	if r.OK() && !same && flags != undecided|mixed|counted {
		r.Fail(decode.Unsupported, "the flags of elements", decode.HexByte(flags))
	}
	elem := byte(0)
	if same {
		elem = r.Byte("the class of elements")
	}
	r.Role("type")
	for i := 0; i < n && r.OK(); i++ {
		q := decode.Place{Label: decode.ByIndex, Index: i}
		id := elem
		if !same {
			if !r.flag(&q) {
				continue
			}
			id = r.Byte("a class")
		}
		r.element010(id, q)
	}
}

// element010 takes the data of a scalar inside a container.
func (r *Reader) element010(id byte, p decode.Place) {
	if _, ok := scalars010[id]; !ok && id != idDate && r.OK() {
		r.Fail(decode.Unsupported, "a string, a box or a date", fmt.Sprintf("class number %d", id>>1))
		return
	}
	if r.OK() {
		r.value010(id, p)
	}
}

// Flags of a chunk of entries.
const (
	keyTracked   = 1 << iota // keys have a reference flag
	keyNull                  // the chunk is one entry, whose key is null
	keyDeclared              // the declared type tells the class of the keys
	valueTracked             // the same of values
	valueNull
	valueDeclared
)

// chunked takes n entries in chunks: flags, the number of entries, the classes of keys and values unless the declared types tell them,
// then keys and values. An entry with null is a chunk of its own, without a number.
func (r *Reader) chunked(n int, of *declared) {
	var key, value *declared
	if of != nil {
		key, value = of.elem, of.value
	}
	for i := 0; i < n && r.OK(); {
		off := r.Off
		flags := r.Byte("the flags of entries")
		if flags >= 2*valueDeclared || flags&keyDeclared != 0 && key == nil || flags&valueDeclared != 0 && value == nil {
			r.FailAt(off, decode.Malformed, "the flags of entries", decode.HexByte(flags))
			return
		}
		if flags&(keyNull|valueNull) != 0 {
			r.nullEntry(i, flags, key, value)
			i++
			continue
		}
		size := int(r.Byte("the number of entries"))
		if (size == 0 || size > n-i) && r.OK() {
			r.FailAt(off, decode.Malformed, fmt.Sprintf("up to %d entries", n-i), fmt.Sprint(size))
		}
		k, v := r.chunkClass(flags&keyDeclared != 0, key), r.chunkClass(flags&valueDeclared != 0, value)
		r.Role("type")
		for ; size > 0 && r.OK(); size-- {
			at := r.NextNode()
			r.chunkValue(k, flags&keyTracked != 0, key, r.At(decode.ByKey, "", i))
			r.chunkValue(v, flags&valueTracked != 0, value, r.At(decode.ByEntry, r.NameKey(at), i))
			i++
		}
	}
}

// chunkClass returns the class of keys or values.
func (r *Reader) chunkClass(isDeclared bool, d *declared) *class {
	if isDeclared {
		return d.class
	}
	off := r.Off
	cl := r.class(&decode.Place{})
	if r.OK() && d != nil && !r.fits(cl, d.class) {
		r.FailAt(off, decode.Malformed, "an object of "+d.class.name, "one of "+cl.name)
	}
	return cl
}

// chunkValue takes a key or a value.
func (r *Reader) chunkValue(cl *class, tracked bool, d *declared, p decode.Place) {
	if r.OK() && (!tracked || r.ref(&p, true)) {
		r.dataAs(cl, p, d)
	}
}

// nullEntry takes an entry whose key or value is null, or both.
func (r *Reader) nullEntry(i int, flags byte, key, value *declared) {
	r.Role("type")
	at := r.NextNode()
	if p := r.At(decode.ByKey, "", i); flags&keyNull != 0 {
		r.Scalar(p, decode.Null)
	} else {
		r.presentOr(flags&keyDeclared != 0, flags&(keyTracked|valueTracked) != 0, key, p)
	}
	if p := r.At(decode.ByEntry, r.NameKey(at), i); flags&valueNull != 0 {
		r.Scalar(p, decode.Null)
	} else {
		r.presentOr(flags&valueDeclared != 0, flags&valueTracked != 0, value, p)
	}
}

func (r *Reader) presentOr(isDeclared, tracked bool, d *declared, p decode.Place) {
	if !isDeclared {
		r.flagged(p)
	} else {
		r.chunkValue(d.class, tracked, d, p)
	}
}

// texts010 takes the strings of an array: whether some are null, and each after a flag if so.
func (r *Reader) texts010(n int) {
	if n == 0 {
		return
	}
	off := r.Off
	flags := r.Byte("the flags of elements")
	if flags&^hasNull != 0 && r.OK() {
		r.FailAt(off, decode.Malformed, "the flags of strings", decode.HexByte(flags))
	}
	r.Role("type")
	for i := 0; i < n && r.OK(); i++ {
		if q := r.At(decode.ByIndex, "", i); flags == 0 || r.ref(&q, false) {
			r.scalar(str, q)
		}
	}
}

// setFromMap takes a set whose map is written with its keys alone.
func (r *Reader) setFromMap(of *declared) {
	cl := r.class(&decode.Place{})
	inline := r.Byte("whether elements follow")
	if inline != 1 && r.OK() {
		r.Fail(decode.Unsupported, "a set of the keys of a map", "another map")
	}
	n := r.count("the number of elements", 1)
	r.Role("length")
	if r.OK() && cl.layout == sortedMap {
		r.comparator()
	}
	r.elements(n, of)
}

// settleOrder reads a document again in the order in which Fory writes fields, since nothing tells it from Fury 0.10. If it fits both
// orders, and fields have other values then, it is not certain what they are.
func (r *Reader) settleOrder(p decode.Place, start decode.Mark, first, depth, end int) {
	state, fury := r.application, r.OK() && r.Off == end
	back := func() {
		r.Resume(end)
		r.Rewind(start)
		r.Tree.CloseTo(depth)
	}
	again := func(fory bool) bool {
		back()
		r.begin()
		r.fory = fory
		r.root010(p)
		return r.OK() && r.Off == end
	}
	before := r.content(first)
	switch fory := again(true); {
	case fory && fury && (r.Tree == nil || !maps.Equal(before, r.content(first))):
		back()
		r.incomplete = true
		r.NeedTree()
		r.Fail(decode.Unsupported, "fields in one order", "two orders that fit: that of Fury 0.10 and that of Fory")
	case !fory: // the first error tells more
		r.application = state
		again(false)
	}
}

// value010 is what a node says, without its place in the body.
type value010 struct {
	label      decode.Label
	kind       decode.Kind
	name, text string
	index      int32
	num        int64
	float      uint64
}

// content returns what the nodes from number first on say, and how often.
func (r *Reader) content(first int) map[value010]int {
	if r.Tree == nil {
		return nil
	}
	all := map[value010]int{}
	for _, n := range r.Tree.Nodes[min(first, len(r.Tree.Nodes)):] {
		if n.Kind != decode.Overhead {
			all[value010{n.Label, n.Kind, n.Name, n.Text, n.Index, n.Num, math.Float64bits(n.Float)}]++
		}
	}
	return all
}
