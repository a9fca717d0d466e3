package hessian2

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// window is how many bytes are looked at at once. Scalars and the heads of lists of known length, without their types, are shorter.
const window = 32

// sizes has, by opcode, the size of a scalar, 0 for anything else.
var sizes = func() (s [256]uint8) {
	for op := range s {
		s[op] = grammar[op].size
	}
	return s
}()

// inMap as a number of values: those of a map within the container that is counted, up to its end mark. It is even, as is the number of
// values of a map.
const inMap = untilEnd - 1

// counter is where [Reader.values] is in a body, and what it has counted since it last told the Reader.
type counter struct {
	body *byte // the first byte of the body
	last int   // the offset of the last window of the body
	size int   // of the body
	at   int
	left int // values that are left in the innermost container
	// stack has what is left in the containers around the innermost one, in its first depth elements.
	stack          *[decode.MaxDepth]int
	depth          int
	base           int // the depth below which containers are those of callers
	room           int // the greatest depth
	nodes          int
	overhead       int // in bytes
	objects, types int // entries in the tables
	plain          *[16]int32
	regular        bool // each object has one place in its table
}

// values takes n values, or those up to the end mark, where bytes are counted within a container: there their places do
// not matter. It returns how many it took, -1 after failing.
//
// What most bodies consist of is taken here: scalars, texts, references, objects of classes that were met before, lists of known length and
// maps. Everything else and every error is left to value.
func (r *Reader) values(n int) (taken int) {
	if r.stack == nil {
		r.stack = new([decode.MaxDepth]int)
	}
	b := r.Buf
	c := counter{
		last: len(b) - window, size: len(b), at: r.Off, left: n,
		stack: r.stack, depth: r.nested, base: r.nested, room: r.nested + decode.MaxDepth - r.Level(),
		objects: int(r.table.n), types: r.nTypes, plain: &r.plain, regular: len(r.table.irregular) == 0,
	}
	if len(b) > 0 {
		c.body = &b[0]
	}
	for {
		if fast {
			count(&c)
		} else {
			c.leaves(b)
		}
		switch {
		case c.left == 0 && c.depth > c.base:
			c.depth--
			c.left = c.stack[c.depth]
		case c.left == 0, c.at >= len(b), b[c.at] == 'Z' && c.depth == c.base && n == untilEnd:
			r.tell(&c)
			if c.left > 0 && (n != untilEnd || c.depth > c.base) {
				r.failShort("a value")
				return -1
			}
			return n - c.left
		case c.leaf(b), c.container(b):
		case b[c.at] == 'C': // the object that follows is the value
			r.tell(&c)
			for r.Off < len(b) && b[r.Off] == 'C' {
				if !r.definition() {
					return -1
				}
			}
			if _, stop := r.classIndex(); stop < 0 {
				return -1
			}
			c.at = r.Off
		default:
			r.tell(&c)
			r.nested = c.depth
			r.Nest(c.depth - c.base)
			if !r.value(&anywhere) {
				return -1
			}
			r.Nest(c.base - c.depth)
			r.nested = c.base
			c.at, c.objects, c.types, c.regular = r.Off, int(r.table.n), r.nTypes, len(r.table.irregular) == 0
			c.left--
		}
	}
}

// tell moves the Reader to where c is.
func (r *Reader) tell(c *counter) {
	r.Off = c.at
	r.Tally(c.overhead, c.nodes)
	c.overhead, c.nodes = 0, 0
	r.table.n, r.nTypes = int32(c.objects), c.types
}

// leaves takes scalars and texts up to the last window of the body.
func (c *counter) leaves(b []byte) {
	at, left := c.at, c.left
	for left > 0 && at < c.last {
		op := b[at]
		if op > 0x1f {
			size := int(sizes[op])
			if size == 0 {
				break
			}
			at += size
			left--
			continue
		}
		// None of the bytes of the text may have its highest bit set.
		m, w := &asciiMasks[op], b[at+1:at+1+window]
		if m[0]&binary.LittleEndian.Uint64(w)|m[1]&binary.LittleEndian.Uint64(w[8:])|
			m[2]&binary.LittleEndian.Uint64(w[16:])|m[3]&binary.LittleEndian.Uint64(w[24:]) != 0 {
			stop, wrong := skipUnits(b, at+1, int(op))
			if wrong != 0 {
				break
			}
			at = stop
		} else {
			at += 1 + int(op)
		}
		left--
	}
	c.nodes += c.left - left
	c.at, c.left = at, left
}

// leaf takes a value that has no parts: a scalar, a text of one chunk, or a reference. It returns false before anything else, and before an
// error.
func (c *counter) leaf(b []byte) bool {
	at, op := c.at, b[c.at]
	stop := at + int(sizes[op])
	switch {
	case stop > at:
	case op == 'Q' && c.regular && len(b)-at >= 3:
		i := int(b[at+1]) - 0x90
		stop = at + 2
		if i >= 0x30 {
			i = int(b[at+1])<<8 + int(b[at+2]) - 0xc800
			stop = at + 3
		}
		if i < 0 || i >= min(c.objects, 0x800) {
			return false
		}
	default:
		stop = textStop(b, at)
	}
	if stop <= at || stop > len(b) {
		return false
	}
	c.at = stop
	c.left--
	c.nodes++
	return true
}

// textStop returns the offset after a text of one chunk at offset at, -1 before anything else and before an error.
func textStop(b []byte, at int) int {
	head, more, ok := asText(b[at])
	if !ok || more || len(b)-at < head {
		return -1
	}
	stop, left := skipUnits(b, at+head, chunkLen(b[at:at+head]))
	if left > 0 {
		return -1
	}
	return stop
}

// container takes the start of an object of a class that was met before, of a list of known length or of a map, or the end of a map. It
// returns false before anything else, and before an error.
func (c *counter) container(b []byte) bool {
	at, op := c.at, b[c.at]
	n, stop, nodes, types := int(op&7), at+1, 2, c.types
	switch {
	case op == 'Z':
		if c.depth == c.base || c.left <= untilEnd/2 || c.left%2 != 0 {
			return false
		}
		c.at = stop
		c.overhead++
		c.nodes++
		c.depth--
		c.left = c.stack[c.depth]
		return true
	case c.depth == c.room:
		return false
	case op&0xf0 == 0x60:
		if n = int(c.plain[op&15]) - 1; n < 0 {
			return false
		}
	case op&0xf8 == 0x70, op == 'V', op == 'M': // with a type
		if stop == len(b) {
			return false
		}
		if i := int(b[stop]) - 0x90; i >= 0 && i < min(types, 0x30) {
			stop++
		} else if stop = textStop(b, stop); stop < 0 {
			return false
		} else {
			types++
		}
	case op&0xf8 == 0x78, op == 'X', op == 'H':
	default:
		return false
	}
	switch op {
	case 'H', 'M':
		n = inMap
	case 'V', 'X':
		if len(b)-stop < 3 {
			return false
		}
		n = int(b[stop]) - 0x90
		stop++
		if n >= 0x30 {
			n = int(b[stop-1])<<8 + int(b[stop]) - 0xc800
			stop++
		}
		if n < 0 || n >= 0x800 || n > len(b)-stop {
			return false
		}
		if op == 'V' {
			nodes = 3
		}
	}
	c.overhead += stop - at
	c.at = stop
	c.nodes += nodes
	c.types = types
	c.objects++
	if c.left--; n > 0 {
		c.stack[c.depth] = c.left
		c.depth++
		c.left = n
	}
	return true
}

var anywhere place
