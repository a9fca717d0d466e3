package dubboserialization

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/java"
)

// stream takes a length and a stream of Java serialization, as CompactedObjectOutputStream writes it: an exception, or an
// object with transient fields. Its extent is known; the part that package java cannot read is opaque.
func (r *Reader) stream(c class, p place) {
	n := r.elements("the length of a stream")
	from := r.Off
	r.Skip(n, "a stream")
	if r.Tree == nil || !r.OK() {
		r.NeedTree()
		r.Pass()
		return
	}
	r.Off = from
	end := from + n
	i := r.open(decode.Object, c, p)
	r.Role("length")
	if !r.OK() {
		return
	}
	content := len(r.Tree.Nodes)
	if r.java == nil {
		r.java = java.NewInside()
		if r.source != nil {
			r.java.Know(r.source.path)
		}
	}
	if r.source != nil {
		r.java.WrittenBy(r.source.side)
		if r.source.distrust {
			r.java.Distrust(&decode.Error{})
		} else {
			r.java.Distrust(nil)
		}
	}
	r.Off = r.java.Inside(r.Buf[:end], from, r.Tree, i)
	r.Pass()
	if r.Off < end {
		node := r.Tree.Node(i)
		if node.Kind != decode.Object && node.Kind != decode.List {
			// A number or a map that was not read to its end is shown as an object.
			node.Kind, node.Len, node.Class = decode.Object, 0, ""
			r.Tree.Nodes = r.Tree.Nodes[:content]
			r.Off = from
			r.Pass()
		}
		if node.Class == "" && len(c.desc) > 0 {
			node.Class = r.className(c.desc)
		}
		r.Off = end
		r.Leaf(decode.Opaque, decode.Whole, "opaque", 0)
	}
	r.Close()
}
