package dubboserialization

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// tail is the data that may follow the fields of an object.
type tail uint8

const (
	none tail = iota
	ofList
	ofMap
)

// fields are the n fields of an object that were read; they start at offset from.
type fields struct{ node, n, from int }

// tail takes the data that follow the fields of an object: none, or the number of elements and the elements of a
// collection. The class decides; if it is not known, the following bytes do.
func (r *Reader) tail(f fields, c class, p place) {
	switch c.form {
	case plain:
	case tailed:
		r.collection(ofList, f, c, p)
	case tailedMap:
		r.collection(ofMap, f, c, p)
	default:
		options, n := r.tails(f, c, p)
		r.collection(options[r.choose(n)], f, c, p)
	}
}

// tails returns the possible tails, the likely ones first, and their number. A collection continues with a number and, if
// that is not 0, with the start of an object.
func (r *Reader) tails(f fields, c class, p place) (options [3]tail, n int) {
	size, ok := continues(r.Buf[r.Off:])
	if !ok {
		return [3]tail{none}, 1
	}
	known := r.knownFields(f)
	likely := f.n == 0
	if len(c.desc) > 0 {
		switch suffixed(c.desc, byTag) {
		case byTag:
			likely, known = false, none
		case tailedMap:
			likely, known = true, ofMap
		default:
			likely, known = true, ofList
		}
	} else if known != none {
		likely = size > 0 || f.n > 1 || isClass(r.Buf[f.from:r.Off]) // only a null comparator may be another field
	}
	likely = likely || p.follow == seldomNumber
	add := func(t tail) {
		options[n] = t
		n++
	}
	if p.follow != noNumber && !likely {
		add(none)
	}
	first, second := ofList, ofMap
	if known == ofMap {
		first, second = ofMap, ofList
	}
	add(first)
	if size > 0 { // else it is the same
		add(second)
	}
	if p.follow != noNumber && likely {
		add(none)
	}
	return options, n
}

// continues reports whether b, after the fields of an object, can be the rest of a collection, and the number that it would begin with.
func continues(b []byte) (size int64, ok bool) {
	size, k := varintAt(b)
	if k == 0 || size < 0 || size > int64(len(b)-k) {
		return 0, false
	}
	return size, size == 0 || startsObject(b[k])
}

// defaultLoad is the default load factor of a hash table: 0.75.
const defaultLoad = 0x3f400000

// knownFields recognises the fields of a collection of the JDK if its class is not named: of LinkedHashMap
// (accessOrder, loadFactor, threshold), Hashtable (loadFactor, threshold), TreeMap (comparator: null), EnumMap (keyType: a
// class).
func (r *Reader) knownFields(f fields) tail {
	b := r.Buf[f.from:r.Off]
	switch f.n {
	case 0:
		return ofList // LinkedList, LinkedHashSet, TreeSet
	case 1:
		if b[0] == tagNull || isClass(b) {
			return ofMap
		}
		return none
	case 2:
	case 3:
		order, n := varintAt(b)
		if n == 0 || order < 0 || order > 1 {
			return none
		}
		b = b[n:]
	default:
		return none
	}
	load, n := varintAt(b)
	threshold, m := varintAt(b[n:])
	if n > 0 && m > 0 && n+m == len(b) && load == defaultLoad && threshold >= 0 {
		return ofMap
	}
	return none
}

// isClass reports whether b starts with a field that is a Class: a stream with TC_CLASS after its head.
func isClass(b []byte) bool {
	if len(b) == 0 || b[0] != tagStream {
		return false
	}
	_, n := uintAt(b[1:])
	return n > 0 && bytes.HasPrefix(b[1+n:], []byte{0xac, 0xed, 0, 5, 0x76})
}

// collection takes a number of elements and the elements of an object whose fields were read. A
// collection of the JDK is shown without its fields; other objects have the collection as their last member.
func (r *Reader) collection(t tail, f fields, c class, p place) {
	if t == none || !r.OK() {
		return
	}
	kind := decode.List
	if t == ofMap {
		kind = decode.Map
	}
	whole := c.form != byTag && r.scalars(f) || (c.form != byTag || len(c.desc) == 0) && (f.n == 0 || r.knownFields(f) == t)
	if whole {
		r.hideFields(f, kind)
	} else {
		r.Open(kind, decode.ByField, memberName(f.n), 0)
	}
	at := r.Off
	n := r.fits(at, r.int32("the number of elements"), "the number of elements")
	r.Role("length")
	if r.Enter() {
		if t == ofMap {
			r.entries(n, p)
		} else {
			r.list(n, p)
		}
		r.Leave()
	}
	if !whole {
		r.Close()
	}
}

// hideFields turns the open node into a collection and its fields, which are numbers or null, into overhead.
func (r *Reader) hideFields(f fields, k decode.Kind) {
	n := r.Tree.Node(f.node)
	if n == nil {
		r.Recount(decode.ClassOverhead, r.Off-f.from)
		return
	}
	n.Kind = k
	for c := f.node + 1; c < len(r.Tree.Nodes); c++ {
		if m := &r.Tree.Nodes[c]; m.Label == decode.ByField {
			m.Kind, m.Label, m.Name = decode.Overhead, decode.ByRole, "length"
		}
	}
}

// scalars reports whether the fields are numbers or null.
func (r *Reader) scalars(f fields) bool {
	b := r.Buf[f.from:r.Off]
	for range f.n {
		_, n := varintAt(b)
		if n == 0 && len(b) > 0 && b[0] == tagNull {
			n = 1
		}
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	return len(b) == 0
}
