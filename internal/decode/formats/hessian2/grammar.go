// Package hessian2 reads bodies of the serialization hessian2 (id 2), which Dubbo uses unless told otherwise, and of
// everything that writes the same bytes: one Hessian 2.0 stream per body, without envelope or length prefixes.
//
// Source: hessian-lite of Dubbo 2.5.3 to 2.6.12, 3.2.3 to 3.2.13 and 4.0.0 to 4.0.4 (Hessian2Output, Hessian2Input,
// Hessian2Constants, JavaSerializer and the other serializers), Dubbo's Hessian2ObjectOutput, dubbo-go-hessian2 v1.12.5
// (string.go) for what Go peers write, and bytes measured on releases 2.5.3 to 3.3.6. The writers are followed, never a
// reader: some releases cannot read back what they write.
//
// A body comes in and nodes of a tree go out, or, without a tree, the number of bytes that each class of them has. A body
// is walked once, from front to back; a second time where the meaning of a reference depends on who wrote it (numbering.go).
// Whatever a body claims (lengths, counts, nesting, table indexes) is checked before it is used; work and memory grow no
// faster than the body. Tables are kept from body to body, and so are short strings: classes, fields and keys are made once.
// Texts are copied only where values are wanted; binary values stay borrowed from the body, except those in several chunks.
//
// Files: grammar.go has the opcodes, reader.go the fields of a Dubbo body, values.go the values, count.go and count_amd64.s the values
// where bytes are counted, objects.go objects and references, strings.go the texts, handles.go the classes whose objects stand for a date (compact_time.go), a number or an
// enum constant (enums.go), numbering.go the object table, writers.go how the writer of a body is recognised, hessian1.go the values of
// Hessian 1.
package hessian2

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// rule is what an opcode (the first byte of a value) starts.
type rule uint8

const (
	unused rule = iota // no value starts with it
	null
	boolean
	integer
	long
	double
	date
	text
	blob
	definition // of a class; an object follows
	object
	list
	dict // a map
	reference
	end // of a map or of a list of unknown length
)

func (r rule) String() string {
	return [...]string{
		"not used", "null", "boolean", "int", "long", "double", "date", "string", "binary", "class definition", "object",
		"list", "map", "reference", "end of a list or map",
	}[r]
}

// opcodes is the value grammar: every first byte once. size is the length in bytes of a value of fixed size, its
// opcode counted, and 0 for the others. Payloads are big-endian.
var opcodes = []struct {
	first, last byte
	rule        rule
	size        uint8
}{
	{0x00, 0x1f, text, 0},       // 0-31 units
	{0x20, 0x2f, blob, 0},       // 0-15 bytes
	{0x30, 0x33, text, 0},       // ((b-0x30)<<8)+b0 units
	{0x34, 0x37, blob, 0},       // ((b-0x34)<<8)+b0 bytes
	{0x38, 0x3f, long, 3},       // ((b-0x3c)<<16)+(b1<<8)+b0
	{0x40, 0x40, unused, 0},     //
	{0x41, 0x41, blob, 0},       // A: u16 length, bytes; another chunk follows
	{0x42, 0x42, blob, 0},       // B: u16 length, bytes
	{0x43, 0x43, definition, 0}, // C: name, int n, n field names; an object follows
	{0x44, 0x44, double, 9},     // D: IEEE 754
	{0x45, 0x45, unused, 0},     //
	{0x46, 0x46, boolean, 1},    // F: false
	{0x47, 0x47, unused, 0},     //
	{0x48, 0x48, dict, 0},       // H: key, value, key, value … Z
	{0x49, 0x49, integer, 5},    // I: 4 bytes
	{0x4a, 0x4a, date, 9},       // milliseconds since 1970, UTC
	{0x4b, 0x4b, date, 5},       // minutes since 1970, UTC
	{0x4c, 0x4c, long, 9},       // L: 8 bytes
	{0x4d, 0x4d, dict, 0},       // M: type, key, value, key, value … Z
	{0x4e, 0x4e, null, 1},       // N
	{0x4f, 0x4f, object, 0},     // O: int class index, fields
	{0x50, 0x50, unused, 0},     //
	{0x51, 0x51, reference, 0},  // Q: int index of an object, list or map written before
	{0x52, 0x52, text, 0},       // R: u16 units, text; another chunk follows
	{0x53, 0x53, text, 0},       // S: u16 units, text
	{0x54, 0x54, boolean, 1},    // T: true
	{0x55, 0x55, list, 0},       // U: type, values … Z
	{0x56, 0x56, list, 0},       // V: type, int n, n values
	{0x57, 0x57, list, 0},       // W: values … Z
	{0x58, 0x58, list, 0},       // X: int n, n values
	{0x59, 0x59, long, 5},       // Y: 4 bytes, signed
	{0x5a, 0x5a, end, 0},        // Z
	{0x5b, 0x5c, double, 1},     // 0.0, 1.0
	{0x5d, 0x5d, double, 2},     // a signed byte
	{0x5e, 0x5e, double, 3},     // 2 bytes, signed
	{0x5f, 0x5f, double, 5},     // 4 bytes, signed, times 0.001
	{0x60, 0x6f, object, 0},     // class index 0-15, fields
	{0x70, 0x77, list, 0},       // 0-7: type, values
	{0x78, 0x7f, list, 0},       // 0-7: values
	{0x80, 0xbf, integer, 1},    // b-0x90
	{0xc0, 0xcf, integer, 2},    // ((b-0xc8)<<8)+b0
	{0xd0, 0xd7, integer, 3},    // ((b-0xd4)<<16)+(b1<<8)+b0
	{0xd8, 0xef, long, 1},       // b-0xe0
	{0xf0, 0xff, long, 2},       // ((b-0xf8)<<8)+b0
}

// grammar is opcodes by first byte.
var grammar = func() (g [256]struct {
	rule rule
	size uint8
},
) {
	for _, o := range opcodes {
		for b := int(o.first); b <= int(o.last); b++ {
			g[b].rule, g[b].size = o.rule, o.size
		}
	}
	return g
}()

// number returns the value of an int, long or boolean of fixed size; b holds all of it.
func number(b []byte) int64 {
	switch op := b[0]; {
	case op >= 0xf0:
		return (int64(op)-0xf8)<<8 + int64(b[1])
	case op >= 0xd8:
		return int64(op) - 0xe0
	case op >= 0xd0:
		return (int64(op)-0xd4)<<16 + int64(b[1])<<8 + int64(b[2])
	case op >= 0xc0:
		return (int64(op)-0xc8)<<8 + int64(b[1])
	case op >= 0x80:
		return int64(op) - 0x90
	case op == 'I', op == 'Y':
		return int64(int32(binary.BigEndian.Uint32(b[1:])))
	case op == 'L':
		return int64(binary.BigEndian.Uint64(b[1:]))
	case op == 'T':
		return 1
	case op == 'F':
		return 0
	default: // 38-3f
		return (int64(op)-0x3c)<<16 + int64(b[1])<<8 + int64(b[2])
	}
}

// float returns the value of a double; b holds all of it.
func float(b []byte) float64 {
	switch b[0] {
	case 'D':
		return math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	case 0x5c:
		return 1
	case 0x5d:
		return float64(int8(b[1]))
	case 0x5e:
		return float64(int16(binary.BigEndian.Uint16(b[1:])))
	case 0x5f:
		return 0.001 * float64(int32(binary.BigEndian.Uint32(b[1:])))
	}
	return 0
}

// instant returns the time of a date; b holds all of it.
func instant(b []byte) time.Time {
	if b[0] == 0x4b {
		return time.Unix(int64(int32(binary.BigEndian.Uint32(b[1:])))*60, 0)
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b[1:])))
}

// describe names a byte that was found where another was expected.
func describe(b byte) string {
	return fmt.Sprintf("%02x (%s)", b, grammar[b].rule)
}
