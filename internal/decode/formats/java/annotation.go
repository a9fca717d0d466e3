package java

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// annotation takes what writeObject or writeExternal of class c wrote beside the fields.
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

// more reports whether the annotation goes on with an item, taking the blocks before it as lengths.
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
	size, bare, k := r.size()
	for r.more() {
		if tc, _ := r.Peek(); tc == tcNull && s == shapeQueue {
			r.Off++
			r.Role("end")
			continue
		}
		r.item(decode.ByIndex, "", k)
		k++
	}
	r.sized(size, k, bare)
}

// custom takes what the application's own writeObject wrote: bytes are the value "#custom", with objects among them it
// is a list.
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

// time takes a java.time value: a date or time in one piece, others with their fields.
func (r *Reader) time(i int) {
	rest := r.Buf[r.Off:]
	if len(rest) < 3 || rest[0] != tcBlockData || rest[1] == 0 || len(rest) < 2+int(rest[1]) {
		r.payload(i, timeOf)
		return
	}
	b := rest[2 : 2+rest[1]]
	a, head := amounts[b[0]], 1
	switch {
	case a.class != "" && len(b) == 1+a.len():
	case b[0] == serZoneOffset && len(b) == 2:
		a = zoneOffset
	case b[0] == serZoneOffset && len(b) == 6 && b[1] == offsetInSeconds:
		a = zoneOffsetInSeconds
		head++
	case b[0] == serZoneRegion && len(b) >= 3 && len(b) == 3+int(binary.BigEndian.Uint16(b[1:])):
		a.class = "java.time.ZoneRegion"
	default:
		r.payload(i, timeOf)
		return
	}
	if n := r.Tree.Node(i); n != nil {
		n.Class = a.class
	}
	r.Off += 2
	r.Role("block")
	r.Off += head
	r.Role("type")
	for _, f := range a.fields {
		r.primitive(f.code, decode.ByField, f.name, 0)
		if f.code == 'B' && f.name == "totalSeconds" && r.Tree != nil && r.OK() {
			r.Tree.Nodes[len(r.Tree.Nodes)-1].Num *= 15 * 60
		}
	}
	if len(a.fields) == 0 {
		r.Off += len(b) - 1
		if n := r.Leaf(decode.String, decode.ByField, "zoneId", 0); n != nil && r.Values() {
			n.Text = decodeUTF(b[3:])
		}
	}
	r.custom()
}

// payload takes one block and hands it to set, to fill node i; what comes behind it, if anything, is custom.
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
