package kryo

import (
	"bytes"
	"fmt"

	"dubbo-wire/internal/decode"
)

// data takes what follows class id and reference byte.
func (r *Reader) data(cl *class, p decode.Place) {
	r.generics.depth++
	r.content(cl, p)
	r.generics.depth--
}

func (r *Reader) content(cl *class, p decode.Place) {
	r.kept.now, r.kept.args = r.kept.args, nil
	if r.stream(cl, p) {
		return
	}
	switch cl.layout {
	case unknown, javaOnly, custom, noObjects:
		r.failUnknown(cl, p)
	case object, tagged, compatible, versioned:
		r.fields(cl, p)
	case record:
		r.components(cl, p)
	case proxy:
		r.proxied(cl, p)
	case primitives:
		r.primitives(cl, p)
	case array:
		r.array(cl, p)
	case asList:
		r.asList(cl, p)
	case collection, noNulls, treeSet, queue:
		r.collection(cl, p)
	case mapping, treeMap, skipList:
		r.mapping(cl, p)
	case emptyList:
		r.open(p, decode.List, cl)
		r.Close()
	case emptyMap:
		r.open(p, decode.Map, cl)
		r.Close()
	case single:
		r.container(p, decode.List, cl, func() {
			r.object(r.At(decode.ByIndex, "", 0))
		})
	case singleMap:
		r.container(p, decode.Map, cl, func() { r.entry(0) })
	case wrapped:
		r.wrapped(cl, p)
	case optional:
		r.container(p, decode.Object, cl, func() {
			if r.d.isKryo224 && r.library != nil {
				r.optional224(cl)
			} else {
				r.members(cl, "value")
			}
		})
	case pair:
		r.container(p, decode.Object, cl, func() { r.members(cl, "key", "value") })
	case noFields:
		r.open(p, decode.Object, cl)
		r.Close()
	case enumSet:
		r.enumSet(cl, p)
	case bitSet:
		r.bitSet(cl, p)
	case otherText, calendar, uuid, pattern, classRef, locale, zoneID, zoneOffset:
		r.asText(cl, p)
	default:
		r.scalar(cl, p)
	}
}

// container records a container; f takes its content.
func (r *Reader) container(p decode.Place, k decode.Kind, cl *class, f func()) {
	r.open(p, k, cl)
	r.Content(f)
}

// boxSizes are the least numbers of bytes that a primitive takes.
var boxSizes = [...]int{
	boxInt: 1, boxLong: 1, boxShort: 2, boxByte: 1, boxBool: 1, boxChar: 2, boxFloat: 4, boxDouble: 8,
}

// primitives takes an array of a primitive type; byte[] is one value, the others are lists.
func (r *Reader) primitives(cl *class, p decode.Place) {
	from := r.Off
	n, null := r.count("the length of "+cl.name, boxSizes[cl.elem.layout], 1)
	if null {
		r.failUnknown(&class{name: cl.name}, p) // the writer has a reference byte for null
	}
	if !r.OK() {
		return
	}
	if cl.elem.layout == boxByte {
		raw := r.Bytes(n, "bytes")
		if r.buffer != 0 {
			raw = bytes.Clone(raw) // the pieces are used again
		}
		r.FillRaw(r.Scalar(p, decode.Bytes), raw)
		return
	}
	r.lengthened(p, decode.List, cl, from, func() {
		for i := 0; i < n && r.OK(); i++ {
			r.scalar(cl.elem, r.At(decode.ByIndex, "", i))
		}
	})
}

// lengthened is container for one whose head ends with a length, which was read from offset off to here.
func (r *Reader) lengthened(p decode.Place, k decode.Kind, cl *class, off int, f func()) {
	here := r.Off
	r.Off = off
	r.container(p, k, cl, func() {
		r.Off = here
		r.Role("length")
		f()
	})
}

// array takes an array of objects. Elements of a final type carry no class id; arrays are of final types.
func (r *Reader) array(cl *class, p decode.Place) {
	from := r.Off
	n, null := r.count("the length of "+cl.name, 1, 1)
	if null {
		r.failUnknown(&class{name: cl.name}, p)
	}
	if !r.OK() {
		return
	}
	r.lengthened(p, decode.List, cl, from, func() {
		if n > 0 && !cl.elem.final && !cl.elem.isOpen() {
			r.FailClass("elements of class", cl.elem.name)
		}
		if r.d.isKryo224 {
			r.array224(cl, n)
			return
		}
		for i := 0; i < n && r.OK(); i++ {
			if q := r.At(decode.ByIndex, "", i); cl.elem.final {
				r.nullable(cl.elem, q)
			} else {
				r.object(q)
			}
		}
	})
}

// asList takes the list that Arrays.asList made: the class of the array's elements comes first.
func (r *Reader) asList(cl *class, p decode.Place) {
	from := r.Off
	n, _ := r.count("the length of a list", 1, 0)
	if !r.OK() {
		return
	}
	r.lengthened(p, decode.List, cl, from, func() {
		r.classRole()
		r.elements(n)
	})
}

// classRole takes a class id without an object.
func (r *Reader) classRole() *class {
	q := r.At(decode.ByRole, "", 0)
	cl := r.class(&q)
	r.Role(q.HeadRole())
	return cl
}

func (r *Reader) elements(n int) {
	if r.counts() {
		r.countElements(n)
		r.endTally()
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		r.object(r.At(decode.ByIndex, "", i))
	}
}

// collection takes a count and the elements; a sorted one has a comparator: before the count, in Kryo 5 after it.
func (r *Reader) collection(cl *class, p decode.Place) {
	args := r.kept.now
	r.container(p, decode.List, cl, func() {
		switch e := cl.elements; {
		case r.d.isKryo5:
			r.collection5(cl)
			return
		case e != nil && e.value != nil:
			r.ofClass(r.size(0), e.value, e.valuesPresent)
			return
		}
		if cl.layout == treeSet {
			r.comparator()
		}
		r.elementsOf(r.size(0), args)
	})
}

// ofClass takes elements of a class that is not written.
func (r *Reader) ofClass(n int, cl *class, present bool) {
	r.elementsOfClass(n, cl, !present)
}

// presentOrNull takes an object of a class that is not written.
func (r *Reader) presentOrNull(cl *class, present bool, p decode.Place) {
	if present {
		r.nonNull(cl, p)
	} else {
		r.nullable(cl, p)
	}
}

// mapping takes a count, keys and values; a sorted one has a comparator, as in a collection.
func (r *Reader) mapping(cl *class, p decode.Place) {
	args := r.kept.now
	r.container(p, decode.Map, cl, func() {
		if cl.layout == treeMap && !r.d.isKryo5 {
			r.comparator()
		}
		n := r.size(r.d.sizeOffset)
		if cl.layout != mapping && r.d.isKryo5 {
			r.comparator()
		}
		if n > 0 {
			if args := r.generics.next(); args != nil {
				r.genericEntries(cl, n, args)
				return
			}
		}
		if args != nil {
			r.entriesOf(n, args)
			return
		}
		if cl.elements != nil {
			r.boundEntries(cl, n, nil, nil, nil)
			return
		}
		if r.counts() {
			r.countEntries(n)
			r.endTally()
			return
		}
		for i := 0; i < n && r.OK(); i++ {
			r.entry(i)
		}
	})
}

// size takes the count of a collection or map, which is written plus sizeOffset.
func (r *Reader) size(offset int) int {
	n, null := r.count("the number of elements", 1, offset)
	if null {
		r.Fail(decode.Malformed, "the number of elements", "0")
	}
	r.Role("length")
	return n
}

// entry takes a key and its value.
func (r *Reader) entry(i int) {
	key := r.NextNode()
	r.object(r.At(decode.ByKey, "", i))
	r.object(r.At(decode.ByEntry, r.NameKey(key), i))
}

// comparator takes the comparator of a sorted collection: null, or one without fields.
func (r *Reader) comparator() {
	q := r.At(decode.ByRole, "comparator", 0)
	cl := r.class(&q)
	if cl != nil && r.OK() {
		n := r.varint("a reference byte")
		switch {
		case n == refNew && cl.layout == noFields:
			r.number()
		case n >= refFirst && int64(n-refFirst) < int64(r.objects):
		case r.OK() && r.library != nil && !r.fits(cl, r.library.class("java.util.Comparator")):
			r.FailAt(q.Start, decode.Malformed, "a comparator", "an object of "+cl.name)
		default:
			if r.OK() {
				r.FailAt(q.Start, decode.Unsupported, "the fields of comparator "+cl.name, "fields that cannot be separated without the class definition")
			}
		}
	}
	r.Role("comparator")
}

// wrapped takes a collection inside an unmodifiable or synchronized one. The tree shows one value for both, with the class of both.
func (r *Reader) wrapped(wrapper *class, p decode.Place) {
	node := r.NextNode()
	r.varint("the kind of wrapper")
	if !r.Enter() {
		return
	}
	if cl := r.class(&p); cl != nil && r.OK() {
		if r.probing && !cl.contains() {
			r.Fail(decode.Malformed, "a collection or map", cl.name)
			return
		}
		r.nonNull(cl, p)
		if r.OK() && r.Tree != nil && node < len(r.Tree.Nodes) && r.Tree.Nodes[node].Class != "" {
			r.Tree.Nodes[node].Class = wrapper.name + "<" + r.Tree.Nodes[node].Class + ">"
		}
	} else if r.OK() {
		r.Scalar(p, decode.Null)
	}
	r.Leave()
}

// contains reports whether objects of a class are collections or maps.
func (c *class) contains() bool {
	return c.layout == asList || c.layout >= collection && c.layout <= wrapped
}

// enumSet takes the class of an enum, a count and ordinals.
func (r *Reader) enumSet(cl *class, p decode.Place) {
	r.container(p, decode.List, cl, func() {
		e := r.classRole()
		if e == nil && r.OK() {
			r.Fail(decode.Malformed, "the class of an enum", "null")
		}
		if r.probing && r.OK() && e.layout != enum && e.layout != enumName && e.layout != unknown {
			r.Fail(decode.Malformed, "the class of an enum", e.name)
		}
		n := r.size(0)
		for i := 0; i < n && r.OK(); i++ {
			r.ordinal(e, r.At(decode.ByIndex, "", i))
		}
	})
}

// bitSet takes a count and one boolean each.
func (r *Reader) bitSet(cl *class, p decode.Place) {
	from := r.Off
	n, _ := r.count("the number of bits", 1, 0)
	if !r.OK() {
		return
	}
	r.lengthened(p, decode.List, cl, from, func() {
		for i := 0; i < n && r.OK(); i++ {
			r.scalar(elements['Z'], r.At(decode.ByIndex, "", i))
		}
	})
}

// ordinal takes an enum constant: its name is not on the wire.
func (r *Reader) ordinal(cl *class, p decode.Place) {
	v := r.varint("an ordinal")
	switch {
	case !r.OK():
	case v == 0:
		r.Scalar(p, decode.Null)
	case int32(v) < 0:
		r.FailAt(p.Start, decode.Malformed, "an ordinal", fmt.Sprint(int32(v)))
	case cl.model != nil && cl.model.constants != nil:
		r.constant(cl, int64(v)-1, p)
	default:
		if n := r.Scalar(p, decode.Enum); n != nil {
			n.Class = decode.JavaName(cl.name)
			n.Num = int64(v) - 1
		}
	}
}

// constant records a constant of an enum whose names are known.
func (r *Reader) constant(cl *class, ordinal int64, p decode.Place) {
	names := cl.model.constants
	if r.distrusted(cl, p) {
		return
	}
	if ordinal >= int64(len(names)) {
		if !isJDK(cl.name) {
			r.misread = true
		}
		r.FailAt(p.Start, decode.Malformed, fmt.Sprintf("an ordinal up to %d, since %s has %d constants", len(names)-1, cl.name, len(names)), fmt.Sprint(ordinal))
		return
	}
	r.ask(cl)
	if n := r.Scalar(p, decode.Enum); n != nil {
		n.Class = cl.model.declares
		n.Num = ordinal
		n.Text = names[ordinal]
	}
}
