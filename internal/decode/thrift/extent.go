package thrift

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// Types of values, as TBinaryProtocol writes them. Those of TCompactProtocol are translated to them.
const (
	tStop   = 0
	tBool   = 2
	tByte   = 3
	tDouble = 4
	tI16    = 6
	tI32    = 8
	tI64    = 10
	tString = 11
	tStruct = 12
	tMap    = 13
	tSet    = 14
	tList   = 15
	tUUID   = 16
)

// compactTypes are the types of TCompactProtocol. The first two are the values of a bool, which a field has in place of its type.
var compactTypes = [16]byte{1: tBool, tBool, tByte, tI16, tI32, tI64, tDouble, tString, tList, tSet, tMap, tStruct, tUUID}

// fixedLen returns the length of a value of that type, 0 if it varies or the type does not exist.
func fixedLen(typ byte, isCompact bool) int {
	switch typ {
	case tBool, tByte:
		return 1
	case tDouble:
		return 8
	case tUUID:
		return 16
	case tI16, tI32, tI64:
		if isCompact {
			return 0
		}
		return [...]int{tI16: 2, tI32: 4, tI64: 8}[typ]
	}
	return 0
}

// isType reports whether values of that type exist.
func isType(typ byte) bool {
	switch typ {
	case tBool, tByte, tDouble, tI16, tI32, tI64, tString, tStruct, tMap, tSet, tList, tUUID:
		return true
	}
	return false
}

// extent finds the end of a struct in bytes that come in pieces. It checks what must hold of every struct: types, lengths, nesting.
type extent struct {
	compact bool
	began   bool
	bad     bool
	// value is the type of the value that comes next, 0 if the open containers tell what does.
	value byte
	// skip is the number of bytes that come before that.
	skip int64
	open []container
	// carry holds the first bytes of a token that the pieces cut.
	carry  [maxToken]byte
	carred int
	// tokens counts what was read.
	tokens int
	// more is set by header.verify if bytes follow the struct.
	more bool
}

// container is an open struct, list or map.
type container struct {
	// left is the number of values that follow in a list or a map, -1 for a struct.
	left       int64
	first, odd byte // types of the values; a list has one
	atOdd      bool
}

// maxToken is the maximum length of a token: a varint of 64 bits, and more than the header of a map.
const maxToken = 12

// begin starts a struct.
func (x *extent) begin(isCompact bool) {
	*x = extent{compact: isCompact, began: true, open: append(x.open[:0], container{left: -1})}
}

// read reads the next bytes and returns how many belong to the struct. It stops after the last one, after limit tokens if limit is not
// 0, and where bytes cannot be a struct.
func (x *extent) read(b []byte, limit int) (n int) {
	for !x.ended() {
		if x.skip > 0 {
			k := int(min(x.skip, int64(len(b)-n)))
			x.skip -= int64(k)
			if n += k; x.skip > 0 {
				return n
			}
			continue
		}
		if x.value == 0 && !x.next() {
			continue
		}
		if limit > 0 && x.tokens >= limit || x.bad {
			return n
		}
		if x.carred == 0 {
			used := x.token(b[n:])
			if used == 0 && !x.bad && len(b)-n < maxToken {
				x.carred = copy(x.carry[:], b[n:])
				return len(b)
			}
			n += used
			x.bad = x.bad || used == 0
			continue
		}
		if n == len(b) {
			return n
		}
		x.carry[x.carred] = b[n]
		x.carred++
		n++
		if used := x.token(x.carry[:x.carred]); used > 0 {
			x.carred = 0
		} else if x.carred == maxToken {
			x.bad = true
		}
	}
	return n
}

// lose takes up to n missing bytes and returns how many belong to the struct: those of a text or of numbers whose length is known.
func (x *extent) lose(n int64) int64 {
	k := min(n, x.skip)
	x.skip -= k
	for !x.bad && x.skip == 0 && x.value == 0 && len(x.open) > 0 && x.open[len(x.open)-1].left == 0 {
		x.pop() // lists that ended with these bytes
	}
	return k
}

// ended reports whether the struct has ended, or cannot be one.
func (x *extent) ended() bool { return x.bad || x.whole() }

// whole reports whether all of the struct was read.
func (x *extent) whole() bool { return len(x.open) == 0 && x.skip == 0 && x.value == 0 }

// next decides what comes next from the innermost container and reports whether that is a token.
func (x *extent) next() bool {
	c := &x.open[len(x.open)-1]
	switch {
	case c.left < 0:
		return true
	case c.left == 0:
		x.pop()
		return false
	}
	a, b := fixedLen(c.first, x.compact), fixedLen(c.odd, x.compact)
	switch {
	case c.odd == 0 && a > 0:
		x.skip = c.left * int64(a)
		x.pop()
		return false
	case a > 0 && b > 0:
		x.skip = c.left / 2 * int64(a+b)
		x.pop()
		return false
	}
	typ := c.first
	if c.odd != 0 {
		if c.atOdd {
			typ = c.odd
		}
		c.atOdd = !c.atOdd
	}
	c.left--
	return x.begins(typ)
}

// begins begins a value and reports whether it starts with a token.
func (x *extent) begins(typ byte) bool {
	if n := fixedLen(typ, x.compact); n > 0 {
		x.skip = int64(n)
		return false
	}
	if typ == tStruct {
		x.push(container{left: -1})
		return true
	}
	x.value = typ
	return true
}

func (x *extent) push(c container) {
	if len(x.open) >= decode.MaxDepth {
		x.bad = true
		return
	}
	x.open = append(x.open, c)
}

func (x *extent) pop() { x.open = x.open[:len(x.open)-1] }

// token reads the next token at the start of b and returns its length, 0 if b has not all of it or it cannot be one.
func (x *extent) token(b []byte) int {
	x.tokens++
	n := 0
	if x.value == 0 {
		n = x.field(b)
	} else {
		value := x.value
		x.value = 0
		if n = x.start(value, b); n == 0 {
			x.value = value
		}
	}
	if n == 0 {
		x.tokens--
	}
	return n
}

// field reads the header of a field, or the end of a struct.
func (x *extent) field(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	n, typ := 3, b[0]
	if x.compact {
		n, typ = 1, compactTypes[b[0]&0xf]
		if b[0] == tStop {
			x.pop()
			return 1
		}
		if b[0]>>4 == 0 { // the number follows
			_, size := binary.Uvarint(b[1:])
			if size <= 0 || size > 3 {
				x.bad = x.bad || size != 0 || len(b) > 4
				return 0
			}
			n += size
		}
		if typ == tBool {
			return n
		}
	}
	switch {
	case typ == tStop && !x.compact:
		x.pop()
		return 1
	case !isType(typ):
		x.bad = true
		return 0
	case len(b) < n:
		return 0
	}
	x.begins(typ)
	return n
}

// start reads what a value of variable length begins with.
func (x *extent) start(typ byte, b []byte) int {
	switch typ {
	case tI16, tI32, tI64: // varints
		v, n := binary.Uvarint(b)
		x.bad = x.bad || n < 0 || n > 0 && typ != tI64 && v > 1<<32-1
		return max(n, 0)
	case tString:
		v, n := x.length(b)
		if n > 0 {
			x.skip = v
		}
		return n
	case tMap:
		return x.mapHead(b)
	}
	return x.listHead(b)
}

// length reads a length.
func (x *extent) length(b []byte) (v int64, n int) {
	if x.compact {
		u, n := binary.Uvarint(b)
		if n < 0 || n > 5 || u > maxFrame {
			x.bad = true
			return 0, 0
		}
		return int64(u), n
	}
	if len(b) < 4 {
		return 0, 0
	}
	if v = int64(int32(binary.BigEndian.Uint32(b))); v < 0 || v > maxFrame {
		x.bad = true
		return 0, 0
	}
	return v, 4
}

func (x *extent) listHead(b []byte) int {
	h, n := parseListHead(b, x.compact)
	switch {
	case n < 0:
		x.bad = true
	case n > 0:
		x.push(container{left: h.size, first: h.types[0]})
	}
	return max(n, 0)
}

func (x *extent) mapHead(b []byte) int {
	h, n := parseMapHead(b, x.compact)
	switch {
	case n < 0:
		x.bad = true
	case n > 0:
		x.push(container{left: 2 * h.size, first: h.types[0], odd: h.types[1]})
	}
	return max(n, 0)
}

// collection is the head of a list, a set or a map: its number of elements or entries, and their types.
type collection struct {
	size  int64
	types [2]byte
}

// parseListHead reads the head of a list or a set and returns its length, 0 if b has not all of it, -1 if it cannot be one.
func parseListHead(b []byte, isCompact bool) (c collection, n int) {
	if !isCompact {
		if len(b) < 5 {
			return c, 0
		}
		c.size, c.types[0], n = int64(int32(binary.BigEndian.Uint32(b[1:]))), b[0], 5
	} else {
		if len(b) == 0 {
			return c, 0
		}
		c.size, c.types[0], n = int64(b[0]>>4), compactTypes[b[0]&0xf], 1
		if c.size == 15 {
			v, size := binary.Uvarint(b[1:])
			if size <= 0 {
				return c, min(size, 0)
			}
			c.size, n = int64(min(v, maxFrame+1)), 1+size
		}
	}
	if c.size < 0 || c.size > maxFrame || c.size > 0 && !isType(c.types[0]) {
		return c, -1
	}
	return c, n
}

// parseMapHead is parseListHead for a map.
func parseMapHead(b []byte, isCompact bool) (c collection, n int) {
	if !isCompact {
		if len(b) < 6 {
			return c, 0
		}
		c.size, c.types, n = int64(int32(binary.BigEndian.Uint32(b[2:]))), [2]byte(b), 6
	} else {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return c, min(size, 0)
		}
		if c.size, n = int64(min(v, maxFrame+1)), size; c.size > 0 {
			if len(b) == n {
				return c, 0
			}
			c.types = [2]byte{compactTypes[b[n]>>4], compactTypes[b[n]&0xf]}
			n++
		}
	}
	if c.size < 0 || c.size > maxFrame || c.size > 0 && !(isType(c.types[0]) && isType(c.types[1])) {
		return c, -1
	}
	return c, n
}
