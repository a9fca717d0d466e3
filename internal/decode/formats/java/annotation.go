package java

import "dubbo-wire/internal/decode"

// annotation takes the data that writeObject or writeExternal of class c wrote in addition to the fields.
//
//	objectAnnotation: endBlockData | contents endBlockData
func (r *Reader) annotation(i int, c *class) {
	switch c.shape {
	case shapeList, shapeTreeSet, shapeQueue, shapeCollSer:
		r.elements(i, c.shape)
	case shapeMap, shapeNullEnds:
		r.entries(i, c.shape)
	case shapeText:
		r.builder(i)
	case shapeDate:
		r.payload(i, dateOf)
	case shapeTime:
		r.time(i)
	case shapeObject:
		r.custom()
	}
	if !r.OK() {
		return
	}
	if tc := r.Byte("the end of what a class wrote"); r.OK() && tc != tcEndBlockData {
		r.FailAt(r.Off-1, decode.Malformed, "the end of what a class wrote", foundTag(tc))
	}
	r.Role("end")
}

// more reports whether the annotation goes on with an item. Blocks before the item are taken as lengths.
func (r *Reader) more() bool {
	for r.OK() {
		tc, ok := r.Peek()
		switch {
		case !ok:
			r.Need(1, "the end of what a class wrote")
		case tc == tcEndBlockData:
			return false
		case tc == tcBlockData || tc == tcBlockDataLong:
			r.Off++
			n := r.blockLen(tc)
			r.Role("block")
			if b := r.Bytes(n, "a block"); n >= 4 && r.OK() {
				r.announced = int(int32(be32(b[n-4:])))
			}
			r.Role("length")
		default:
			return true
		}
	}
	return false
}

// elements takes the items of a collection.
func (r *Reader) elements(i int, s shape) {
	if n := r.Tree.Node(i); n != nil && n.Kind == decode.Map { // CollSer
		r.entries(i, s)
		return
	}
	if s == shapeTreeSet && r.more() {
		r.hidden("comparator")
	}
	size, bare, k := r.beginElements()
	for r.more() {
		if tc, _ := r.Peek(); tc == tcNull && s == shapeQueue {
			r.Off++
			r.Role("end")
			continue
		}
		r.item(decode.ByIndex, "", k)
		k++
	}
	r.endElements(size, k, bare)
}

// custom takes the data of the application's own writeObject: the value "#custom", bytes, or a list if there are objects
// among them.
func (r *Reader) custom() {
	if tc, ok := r.Peek(); ok && tc == tcEndBlockData {
		return
	}
	node := r.Open(decode.Custom, decode.ByField, "#custom", 0)
	var raw []byte
	for k := 0; r.OK(); k++ {
		tc, ok := r.Peek()
		switch {
		case !ok:
			r.Need(1, "the end of what a class wrote")
		case tc == tcEndBlockData:
			if n := r.Tree.Node(node); n != nil && r.Values() && n.Kind == decode.Custom {
				n.Raw = raw
			}
			r.Close()
			return
		case tc == tcBlockData || tc == tcBlockDataLong:
			r.Off++
			n := r.blockLen(tc)
			r.Role("block")
			b := r.Bytes(n, "a block")
			if p := r.Leaf(decode.Custom, decode.ByIndex, "", k); p != nil && r.Values() {
				p.Raw = b
				if raw == nil {
					raw = b // borrowed; its capacity is its length
				} else {
					raw = append(raw, b...)
				}
			}
		default:
			if n := r.Tree.Node(node); n != nil {
				n.Kind = decode.List
			}
			r.item(decode.ByIndex, "", k)
		}
	}
}

// payload takes one block and calls set to fill node i with it; data after the block, if any, are custom.
func (r *Reader) payload(i int, set func(n *decode.Node, b []byte, values bool) bool) {
	tc, _ := r.Peek()
	if tc != tcBlockData {
		r.custom()
		return
	}
	r.Off++
	size := r.blockLen(tc)
	r.Role("block")
	b := r.Bytes(size, "a block")
	if !r.OK() {
		return
	}
	if n := r.Tree.Node(i); n == nil || set(n, b, r.Values()) {
		r.Fill(i)
	} else if p := r.Leaf(decode.Custom, decode.ByField, "#custom", 0); p != nil && r.Values() {
		p.Raw = b
	}
	r.custom()
}
