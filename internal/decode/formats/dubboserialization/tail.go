package dubboserialization

import "dubbo-wire/internal/decode"

// tail is what may stand behind the fields of an object.
type tail uint8

const (
	none tail = iota
	ofList
	ofMap
)

// fields are those of the object that is node: n of them, which start at offset from and were read.
type fields struct{ node, n, from int }

// tail takes what stands behind the fields of an object: nothing, or the number of elements and the elements of a
// collection. The class tells; where it is not known what follows has to.
func (r *Reader) tail(f fields, c class, p place) {
	switch c.form {
	case plain:
	case tailed:
		r.collection(ofList, f, c, p)
	case tailedMap:
		r.collection(ofMap, f, c, p)
	default:
		options := r.tails(f, c, p)
		r.collection(options[r.choose(len(options))], f, c, p)
	}
}

var onlyNone = []tail{none}

// tails returns the tails that are possible, the likely ones first. A collection goes on with a number, and behind it, if
// it is not 0, with the start of an object.
func (r *Reader) tails(f fields, c class, p place) []tail {
	b, ok := r.Peek()
	if !ok || !isNumber(b) {
		return onlyNone
	}
	var x Reader
	x.Cursor.Reset(r.Buf, r.Short)
	x.Off = r.Off
	size := x.varint("")
	next, more := x.Peek()
	if !x.OK() || size < 0 || size > int64(x.Left()) || size > 0 && (!more || !startsObject(next)) {
		return onlyNone
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
		likely = size > 0 || f.n > 1
	}
	likely = likely || p.before == seldomNumber
	options := make([]tail, 0, 3)
	if p.before != noNumber && !likely {
		options = append(options, none)
	}
	first, second := ofList, ofMap
	if known == ofMap {
		first, second = ofMap, ofList
	}
	options = append(options, first)
	if size > 0 { // else it is the same
		options = append(options, second)
	}
	if p.before != noNumber && likely {
		options = append(options, none)
	}
	return options
}

// defaultLoad is the load factor that a hash table has, unless it was given another: 0.75.
const defaultLoad = 0x3f400000

// knownFields recognises the fields of a collection of the JDK where its class is not named: of LinkedHashMap
// (accessOrder, loadFactor, threshold), Hashtable (loadFactor, threshold), TreeMap (comparator: null).
func (r *Reader) knownFields(f fields) tail {
	var x Reader
	x.Cursor.Reset(r.Buf[:r.Off], decode.Malformed)
	x.Off = f.from
	switch f.n {
	case 0:
		return ofList // LinkedList, LinkedHashSet, TreeSet
	case 1:
		if b, _ := x.Peek(); b == tagNull {
			return ofMap
		}
		return none
	case 2:
	case 3:
		if v := x.varint(""); v < 0 || v > 1 {
			return none
		}
	default:
		return none
	}
	load, threshold := x.varint(""), x.varint("")
	if x.OK() && x.Left() == 0 && load == defaultLoad && threshold >= 0 {
		return ofMap
	}
	return none
}

// collection takes a number of elements and the elements of an object whose fields were read. What only a collection of
// the JDK has for fields is of no interest then: the object is the collection. Others have it as their last member.
func (r *Reader) collection(t tail, f fields, c class, p place) {
	if t == none || !r.OK() {
		return
	}
	kind := decode.List
	if t == ofMap {
		kind = decode.Map
	}
	whole := c.form != byTag && r.scalars(f) || len(c.desc) == 0 && (f.n == 0 || r.knownFields(f) == t)
	if whole {
		r.hideFields(f.node, kind)
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

// hideFields makes a collection of the open node and overhead of its fields, which are numbers or null.
func (r *Reader) hideFields(node int, k decode.Kind) {
	n := r.Tree.Node(node)
	if n == nil {
		return
	}
	n.Kind = k
	for c := node + 1; c < len(r.Tree.Nodes); c++ {
		if m := &r.Tree.Nodes[c]; m.Label == decode.ByField {
			m.Kind, m.Label, m.Name = decode.Overhead, decode.ByRole, "length"
		}
	}
}

// scalars reports whether the fields are numbers or null.
func (r *Reader) scalars(f fields) bool {
	var x Reader
	x.Cursor.Reset(r.Buf[:r.Off], decode.Malformed)
	x.Off = f.from
	for range f.n {
		if b, _ := x.Peek(); b == tagNull {
			x.Off++
		} else {
			x.varint("")
		}
	}
	return x.OK() && x.Left() == 0
}
