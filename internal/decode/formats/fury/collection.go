package fury

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// container records a container with the values that f takes.
func (r *Reader) container(p decode.Place, k decode.Kind, class string, f func()) {
	r.open(p, k, decode.JavaName(class))
	r.Content(f)
}

// containerData takes the data of a class with elements. of, which may be nil, is what its declared type says.
func (r *Reader) containerData(cl *class, p decode.Place, of *declared) {
	element := func() { r.flagged(r.At(decode.ByIndex, "", 0)) }
	switch cl.layout {
	case primitives:
		r.primitives(cl, p)
	case texts, objects, finals:
		r.array(cl, p)
	case asList, wrapped: // the tree has one node for both objects
		if r.Enter() {
			r.flagged(p)
			r.Leave()
		}
	case list, sorted:
		r.container(p, decode.List, cl.name, func() { r.collection(cl, of) })
	case mapping, sortedMap:
		r.container(p, decode.Map, cl.name, func() { r.entries(cl, of) })
	case emptyList:
		r.container(p, decode.List, cl.name, func() {})
	case emptyMap:
		r.container(p, decode.Map, cl.name, func() {})
	case nothing:
		r.container(p, decode.Object, cl.name, func() {})
	case single:
		r.container(p, decode.List, cl.name, element)
	case singleMap:
		r.container(p, decode.Map, cl.name, func() { r.entry(0, nil) })
	case reference:
		r.container(p, decode.Object, cl.name, func() { r.flagged(r.At(decode.ByField, "value", 0)) })
	case bitSet:
		r.bits(cl, p)
	default:
		r.plannedData(cl, p, of)
	}
}

// primitives takes an array of numbers; byte[] is one value, the others are lists.
func (r *Reader) primitives(cl *class, p decode.Place) {
	n := r.count("the length of an array", 1)
	if cl.elem == int8s {
		raw := r.Bytes(n, "bytes")
		r.FillRaw(r.Scalar(p, decode.Bytes), raw)
		return
	}
	if r.OK() && n%cl.size != 0 {
		r.Fail(decode.Malformed, fmt.Sprintf("a length of elements of %d bytes", cl.size), fmt.Sprint(n))
		return
	}
	r.container(p, decode.List, cl.name, func() {
		for i := 0; i < n/cl.size && r.OK(); i++ {
			r.scalar(cl.elem, r.At(decode.ByIndex, "", i))
		}
	})
}

// bits takes a BitSet: the length of its longs, the lowest bits first. They are shown as booleans up to the last set one.
func (r *Reader) bits(cl *class, p decode.Place) {
	n := r.count("the length of a bit set", 1)
	if r.OK() && n > maxBits/8 {
		r.Fail(decode.Limit, fmt.Sprintf("at most %d bits", maxBits), fmt.Sprint(8*n))
		return
	}
	r.container(p, decode.List, cl.name, func() {
		raw := r.Bytes(n, "bits")
		last := -1
		for i := range 8 * len(raw) {
			if raw[i/8]>>(i%8)&1 != 0 {
				last = i
			}
		}
		r.Role("bits")
		for i := 0; i <= last && r.OK(); i++ {
			r.Leaf(decode.Bool, decode.ByIndex, "", i).SetBool(raw[i/8]>>(i%8)&1 != 0)
		}
	})
}

// maxBits limits the bits that are shown, eight of which take one byte.
const maxBits = 1 << 16

// array takes an array of objects: a count, which has four bytes except for strings, and the elements. Each has a reference
// flag, and its class unless the class of the array tells it.
func (r *Reader) array(cl *class, p decode.Place) {
	n, final := 0, cl.layout == finals
	if cl.layout == texts {
		n = r.count("the length of an array", 1)
	} else {
		n, final = r.arrayLength(cl)
	}
	if !r.OK() {
		return
	}
	r.container(p, decode.List, cl.name, func() {
		if cl.layout == texts && r.v010 {
			r.texts010(n)
			return
		}
		for i := 0; i < n && r.OK(); i++ {
			q := r.At(decode.ByIndex, "", i)
			switch {
			case cl.layout != texts && !final:
				r.flagged(q)
			case !r.ref(&q, cl.layout != texts): // strings have no numbers here
			case cl.layout == texts:
				r.scalar(str, q)
			default:
				r.scalar(cl.elem, q)
			}
		}
	})
}

// Flags of the elements of a collection.
const (
	counted   = 1 << iota // each has a reference flag
	hasNull               // each has a flag, null or not
	undecided             // the class is on the wire, since the declared type does not tell it
	mixed                 // each has its own class
)

// collection takes a count, for a sorted one its comparator, flags, and elements.
func (r *Reader) collection(cl *class, of *declared) {
	n := r.count("the number of elements", 1)
	r.Role("length")
	if cl.layout == sorted {
		r.comparator()
	}
	r.slots(cl)
	r.elements(n, of)
}

// elements takes flags and n elements.
func (r *Reader) elements(n int, of *declared) {
	if n == 0 || !r.OK() {
		return
	}
	var elem *declared
	if of != nil {
		elem = of.elem
	}
	off := r.Off
	flags := r.Byte("the flags of elements")
	if r.OK() && (flags >= 2*mixed || flags&(undecided|mixed) == 0 && elem == nil || flags&(undecided|mixed) == mixed) {
		r.FailAt(off, r.orMalformed(), "the flags of elements whose class is on the wire", decode.HexByte(flags))
	}
	var each *class
	switch {
	case !r.OK():
	case flags&(undecided|mixed) == 0:
		if each = elem.class; each.unsure {
			r.failMissing(each, each.name, decode.Place{})
		}
	case flags&mixed == 0:
		if each = r.class(&decode.Place{}); r.OK() && elem != nil && !r.fits(each, elem.class) {
			r.FailAt(off, decode.Malformed, "elements of "+elem.class.name, "elements of "+each.name)
		}
	}
	r.Role("type")
	r.countElements(0, n, each, elem, flags)
	r.endTally()
}

// element takes an element, of a class or, if that is nil, with its class.
func (r *Reader) element(i int, each *class, elem *declared, flags byte) {
	q := r.At(decode.ByIndex, "", i)
	if flags&(counted|hasNull) != 0 && !r.ref(&q, flags&counted != 0 || r.library == nil) {
		return
	}
	is := each
	if is == nil {
		if is = r.class(&q); r.OK() && elem != nil && !r.fits(is, elem.class) {
			r.FailAt(q.Start, decode.Malformed, "an object of "+elem.class.name, "one of "+is.name)
		}
	}
	if r.OK() {
		r.dataAs(is, q, elem)
	}
}

// orMalformed is the cause of what no class of the class path can be written like.
func (r *Reader) orMalformed() decode.Cause {
	if r.strict() {
		return decode.Malformed
	}
	return decode.Unsupported
}

// entries takes a count, for a sorted map its comparator, keys and values.
func (r *Reader) entries(cl *class, of *declared) {
	least := 2
	if r.v010 { // null to null is a byte
		least = 1
	}
	n := r.count("the number of entries", least)
	r.Role("length")
	switch cl.layout {
	case sortedMap:
		r.comparator()
	case enumMap:
		r.class(&decode.Place{})
		r.Role("class")
	}
	r.slots(cl)
	if r.v010 {
		r.chunked(n, of)
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		r.entry(i, of)
	}
}

// entry takes a key and its value.
func (r *Reader) entry(i int, of *declared) {
	var k, v *declared
	if of != nil {
		k, v = of.elem, of.value
	}
	key := r.NextNode()
	r.value(k, r.At(decode.ByKey, "", i))
	r.value(v, r.At(decode.ByEntry, r.NameKey(key), i))
}

// comparator takes the comparator of a sorted collection, which is null for the natural order. Others are not read.
func (r *Reader) comparator() {
	if r.library != nil {
		r.Hidden("comparator", func() { r.flagged(r.At(decode.ByRole, "", 0)) })
		return
	}
	if b := r.Byte("a comparator"); r.OK() && b != refNull {
		r.Fail(decode.Unsupported, "no comparator", decode.HexByte(b))
	}
	r.Role("comparator")
}
