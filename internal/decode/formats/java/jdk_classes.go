package java

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// wraps reports whether the elements of an ArrayBlockingQueue, whose fields come next (count, putIndex, takeIndex), wrap
// around the end of its array: then they are not in order there.
func (r *Reader) wraps() bool {
	if r.Left() < 12 {
		return false
	}
	b := r.Buf[r.Off:]
	count, put, take := be32(b), be32(b[4:]), be32(b[8:])
	return take > 0 && count > 0 && put <= take && put != 0
}

// tooMany reports whether a list of n times the same element is too long to be written out.
func (r *Reader) tooMany(n int) bool { return n-1 > decode.MaxRepeated-r.copied }

// copies takes the element of Collections.nCopies, whose list is node i, and adds it n-1 times more. If there are too many,
// the list becomes an object.
func (r *Reader) copies(i, n int) {
	switch {
	case n == 0:
		r.hidden("element")
		return
	case r.tooMany(n):
		if list := r.Tree.Node(i); list != nil {
			list.Kind = decode.Object
		}
		r.item(decode.ByField, "element", 0)
		return
	}
	r.copied += n - 1
	first := r.NextNode()
	r.item(decode.ByIndex, "", 0)
	r.Repeat(first, n, r.repeats)
}

// builder takes the data of a StringBuilder, which has no fields: the number of characters and an array.
//
//	TC_BLOCKDATA 04 (int)count TC_ARRAY … TC_ENDBLOCKDATA
func (r *Reader) builder(i int) {
	b := r.Buf[r.Off:]
	if len(b) < 7 || b[0] != tcBlockData || b[1] != 4 || b[6] != tcArray {
		r.custom()
		return
	}
	r.Off += 2
	r.Role("block")
	r.Off += 4
	r.Role("length")
	r.characters(i, int(int32(be32(b[2:]))))
}

// characters takes an array of char of which the first n are the text of the object that is node i.
func (r *Reader) characters(i, n int) {
	if tc, _ := r.Peek(); tc != tcArray || n < 0 || !r.Enter() {
		r.item(decode.ByField, "value", 0)
		return
	}
	defer r.Leave()
	r.Off++
	r.Role("type")
	c := r.classDesc()
	if !r.OK() {
		return
	}
	if c < 0 || r.classes[c].name != "[C" {
		r.Fail(decode.Malformed, "an array of characters", "an array of something else")
		return
	}
	r.assign(handle{kind: toObject, a: -1, node: int32(i)})
	size := r.arraySize(2)
	r.Role("length")
	n = min(n, size)
	b := r.Bytes(2*n, "the characters of a text")
	if p := r.Leaf(decode.String, decode.ByField, "value", 0); p != nil && r.Values() {
		p.Text = decode.UTF16(b, binary.BigEndian)
	}
	r.Skip(2*(size-n), "unused characters")
	r.Role("unused")
}
