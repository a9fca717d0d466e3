package dubboserialization

import "dubbo-wire/internal/decode"

// place is where a value stands.
type place struct {
	decode.Place
	follow follow
}

// follow says whether a number may follow a value. If none may, a number after the fields of an object is the size of a
// collection.
type follow uint8

const (
	noNumber follow = iota
	// seldomNumber: only if an object that the value lies in is a collection.
	seldomNumber
	// aNumber: as another field, or as the size of a collection.
	aNumber
)

// last returns what may follow the last of n elements, if element i is the last, of a container at p.
func (p place) last(i, n int) follow {
	if i == n-1 {
		return p.follow
	}
	return noNumber
}

func (r *Reader) at(l decode.Label, name string, index int) place {
	return place{Place: r.At(l, name, index)}
}

// object takes what writeObject wrote: a descriptor and data, or null.
func (r *Reader) object(p place) {
	r.work += workPerObject
	at := r.Off
	switch tag := r.Byte("an object"); {
	case !r.OK():
	case tag == tagNull:
		r.Leaf(decode.Null, p.Label, p.Name, p.Index)
	case tag == tagNothing:
		i := r.Open(decode.Object, p.Label, p.Name, p.Index)
		if n := r.Tree.Node(i); n != nil {
			n.Class = "java.lang.Object"
		}
		r.Role("type")
		r.Close()
	case tag == tagDescID:
		id := r.uint("the number of a class")
		if r.OK() && id >= len(numbered) {
			r.FailAt(at, decode.Malformed, "the number of a class, below 28", "more")
		}
		if r.OK() {
			p.Head = r.Off
			r.data(numbered[id], p)
		}
	case tag == tagDesc:
		x := r.text()
		if r.OK() && !descriptor(x.raw) {
			r.FailAt(at, decode.Malformed, "the descriptor of a class", "another text")
		}
		if r.OK() {
			p.Head, p.Named = r.Off, true
			r.data(classOf(x.raw), p)
		}
	default:
		r.FailAt(at, decode.Malformed, "an object", decode.HexByte(tag))
	}
}

// data takes a value of class c after its descriptor; elements of an array of the class have no descriptor.
func (r *Reader) data(c class, p place) {
	node := r.NextNode()
	r.dataOf(c, p)
	if node >= 0 && len(c.desc) > 0 {
		r.ClassOf(node, r.className(c.desc))
	}
}

func (r *Reader) dataOf(c class, p place) {
	switch c.form {
	case rawBool, rawNumber, rawChar, rawFloat, rawDouble:
		v := r.varint("an element")
		r.scalar(p, func(n *decode.Node) { c.form.set(n, v) })
	case boolean:
		r.boolean(p)
	case number, character, float, double, date:
		r.box(c.form, p)
	case str:
		x := r.text()
		r.scalar(p, func(n *decode.Node) {
			if n.Kind = decode.String; x.null {
				n.Kind = decode.Null
			}
			if r.Values() {
				n.Text = x.decode()
			}
		})
	case bytes1:
		r.byteArray(p)
	case array, list:
		r.values(c, p)
	case mapping:
		r.mapping(c, p)
	case bigInteger:
		r.bigInteger(c, p)
	default:
		r.tagged(c, p)
	}
}

// scalar records a value without children that was read; only the name of its class is a part of its own.
func (r *Reader) scalar(p place, fill func(n *decode.Node)) {
	if n := r.Scalar(p.Place, decode.Null); n != nil {
		fill(n)
	}
}

// open starts a container of class c; its head becomes overhead.
func (r *Reader) open(k decode.Kind, c class, p place) int {
	i := r.Begin(p.Place, k, "")
	if n := r.Tree.Node(i); n != nil && len(c.desc) > 0 {
		n.Class = r.className(c.desc)
	}
	return i
}

// null takes the tag of a null, or another one, which must be want.
func (r *Reader) null(want byte, what string, p place) bool {
	at := r.Off
	switch tag := r.Byte(what); {
	case !r.OK():
		return true
	case tag == tagNull:
		r.scalar(p, func(n *decode.Node) { n.Kind = decode.Null })
		return true
	case tag != want:
		r.FailAt(at, decode.Malformed, what, decode.HexByte(tag))
		return true
	}
	return false
}

// values takes a list or an array: 85 and the elements, those of an array in the form of their class. Arrays of Object and of
// interfaces are 80 and elements with descriptors.
func (r *Reader) values(c class, p place) {
	if b, _ := r.Peek(); c.form == array && (b == tagObject || b == tagRef) {
		r.tagged(c, p)
		return
	}
	if r.null(tagValues, "a list", p) {
		return
	}
	element := class{}
	if c.form == array {
		element = c.element()
	}
	r.container(decode.List, c, p, func(int) {
		n := r.elements("the number of elements")
		r.Role("length")
		if c.form == list {
			r.list(n, p)
			return
		}
		for i := 0; i < n && r.OK(); i++ {
			q := r.at(decode.ByIndex, "", i)
			q.follow = p.last(i, n)
			r.data(element, q)
		}
	})
}

// container records a container; f takes its content.
func (r *Reader) container(k decode.Kind, c class, p place, f func(node int)) {
	i := r.open(k, c, p)
	r.Content(func() { f(i) })
}

func (r *Reader) mapping(c class, p place) {
	if r.null(tagMap, "a map", p) {
		return
	}
	r.container(decode.Map, c, p, func(int) {
		n := r.elements("the number of entries")
		r.Role("length")
		r.entries(n, p)
	})
}

// entries takes n keys and values, with descriptors, of the map at p.
func (r *Reader) entries(n int, p place) {
	if r.counts() {
		r.countValues(frame{left: 2 * n, last: p.follow})
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		key := r.NextNode()
		r.object(r.at(decode.ByKey, "", i))
		q := r.at(decode.ByEntry, r.NameKey(key), i)
		q.follow = p.last(i, n)
		r.object(q)
	}
}
