package msgpack

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// Where bytes are counted, the values of arrays and maps are taken here, with the sums of value and key. Extensions, the values of
// annotated classes, and every error are left to these.

// sizes has, by the first byte of a value, the bytes of one that has a fixed number of them, 0 for others.
var sizes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c <= 0x7f, c >= 0xe0, c == nilByte, c == falseByte, c == trueByte:
			t[c] = 1
		case c&0xe0 == 0xa0:
			t[c] = 1 + uint8(c&0x1f)
		case c == float32Byte:
			t[c] = 1 + 4
		case c == float64Byte:
			t[c] = 1 + 8
		case c >= uint8Byte && c <= uint64Byte:
			t[c] = 1 + 1<<(c-uint8Byte)
		case c >= int8Byte && c <= int64Byte:
			t[c] = 1 + 1<<(c-int8Byte)
		}
	}
	return t
}()

// container is an array or a map whose values are counted: its values, or keys and values, that were not taken.
type container struct {
	left  int
	isMap bool
}

// countValues takes the values of an array, or the entries of a map whose keys are names, unless there is an error.
func (r *Reader) countValues(c container) {
	base := len(r.around)
	for !r.countCommon(&c, base) {
		if c.left--; c.isMap && c.left&1 == 1 {
			r.key(0, decode.ByMember)
		} else {
			r.value(decode.ByIndex, "", 0)
		}
		if !r.OK() {
			break
		}
	}
	r.around = r.around[:base]
}

// countCommon takes common values of c, the containers in it, and the ones around it, which are on the stack from index base on, and
// reports whether it took all. If not, the next value of c, which is then the innermost container, is another one.
func (r *Reader) countCommon(c *container, base int) (done bool) {
	b, at := r.Buf, r.Off
	left, isMap := c.left, c.isMap
	names, lengths, nodes := 0, 0, 0 // not counted yet, of the bytes from the last node to at
	for {
		if left == 0 {
			k := len(r.around) - 1
			if done = k < base; done {
				break
			}
			left, isMap = r.around[k].left, r.around[k].isMap
			r.around = r.around[:k]
			r.Leave()
			continue
		}
		if at >= len(b) {
			break
		}
		op := b[at]
		size := int(sizes[op])
		if size == 0 && op >= str8 && op <= str32 {
			size = stringSize(b[at:])
		}
		isKey := isMap && left&1 == 0
		if isKey && (size == 0 || op&0xe0 != 0xa0 && op < str8 || op > str32) {
			break
		}
		if size > len(b)-at {
			break
		}
		if size > 0 {
			if at += size; isKey {
				names += size
			}
			nodes++
			left--
			continue
		}
		head, n := arrayHead(b[at:])
		isInnerMap := head == 0
		if isInnerMap {
			head, n = mapHead(b[at:])
		}
		if head == 0 || r.Level() >= decode.MaxDepth {
			break
		}
		if isInnerMap && n > 0 {
			if _, end := classAt(b, at+head); end > 0 {
				break
			}
			n *= 2
		}
		at += head
		lengths += head
		nodes += 2
		r.Enter()
		r.around = append(r.around, container{left - 1, isMap})
		left, isMap = n, isInnerMap
	}
	c.left, c.isMap = left, isMap
	r.Off = at
	r.Tally(lengths, nodes)
	r.Recount(decode.ClassNames, names)
	return done
}

// arrayHead returns the size of the head of the array at the start of b and its number of elements. The size is 0 if there is
// none.
func arrayHead(b []byte) (size, n int) {
	if b[0]&0xf0 == 0x90 {
		return 1, int(b[0] & 0x0f)
	}
	return longHead(b, array16)
}

// mapHead is arrayHead for a map.
func mapHead(b []byte) (size, n int) {
	if b[0]&0xf0 == 0x80 {
		return 1, int(b[0] & 0x0f)
	}
	return longHead(b, map16)
}

// longHead takes a head of the byte with2 and a number of 2 bytes, or of the byte after with2 and a number of 4.
func longHead(b []byte, with2 byte) (size, n int) {
	switch {
	case b[0] == with2 && len(b) >= 3:
		return 3, int(binary.BigEndian.Uint16(b[1:]))
	case b[0] == with2+1 && len(b) >= 5:
		return 5, int(binary.BigEndian.Uint32(b[1:]))
	}
	return 0, 0
}

// stringSize returns the size of the string at the start of b, which is not of the short form. It is more than b has if its length is
// not there.
func stringSize(b []byte) int {
	switch head := 1 + 1<<(b[0]-str8); {
	case head > len(b):
		return head
	case head == 2:
		return head + int(b[1])
	case head == 3:
		return head + int(binary.BigEndian.Uint16(b[1:]))
	default:
		return head + int(binary.BigEndian.Uint32(b[1:]))
	}
}
