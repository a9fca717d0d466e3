package java

import "dubbo-wire/internal/decode"

// Some items are not values: the comparator of a map, the class of an EnumSet. Their bytes are one piece of overhead.
// References may refer to objects in them.

// hidden takes an item that is not a value and records it as one piece of overhead, which is the target of references to
// the objects in it.
func (r *Reader) hidden(role string) {
	first, halfOf, half := len(r.handles), r.viewOf, r.view
	r.hiddenDepth++
	r.Hidden(role, func() { r.item(decode.ByIndex, "", 0) })
	r.hiddenDepth--
	r.viewOf, r.view = halfOf, half
	if r.hiddenDepth > 0 || !r.OK() {
		return
	}
	node := int32(0)
	if r.Tree != nil {
		node = int32(len(r.Tree.Nodes) - 1)
	}
	for i := first; i < len(r.handles); i++ {
		h := &r.handles[i]
		if h.node >= 0 {
			continue
		}
		if h.kind != toString && h.kind != toClass && h.kind != toClassObject {
			h.hidden, h.node = true, node
		}
	}
}

// referenceToHidden records a reference to a hidden object as a value, if the handle has enough of it: a class, a number, a
// constant, an object without data. Otherwise it returns false.
func (r *Reader) referenceToHidden(to handle, l decode.Label, name string, index int) bool {
	switch {
	case to.kind == toClassObject && to.node < 0 && to.a >= 0:
	case to.hidden && to.a >= 0 && (to.kind == toObject || to.kind == toEnum):
	default:
		return false
	}
	c := &r.classes[to.a]
	if !r.repeats(len(c.name)) {
		return false
	}
	switch {
	case to.kind == toEnum && to.b >= 0:
		if n := r.Leaf(decode.Enum, l, name, index); n != nil {
			n.Class = c.name
			if r.Values() {
				n.Text = r.text(to.b)
			}
		}
	case to.kind == toEnum:
		return false
	case c.shape == shapeBox && c.n == 1:
		code := r.fields[c.first].code
		if n := r.Leaf(decode.Int, l, name, index); n != nil {
			setPrimitive(n, code, r.Buf[to.b:int(to.b)+size(code)])
		}
	case to.kind == toClassObject || c.empty():
		i := r.Open(decode.Object, l, name, index)
		r.Role("ref")
		if to.kind == toClassObject {
			r.nameClass(i, to.a)
		} else if n := r.Tree.Node(i); n != nil {
			n.Class = sourceName(c.name)
		}
		r.Close()
	default:
		return false
	}
	return true
}
