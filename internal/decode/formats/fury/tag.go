package fury

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Tags of fields in compatible mode (FieldResolver): four or eight bytes whose lowest bits tell what the others are.
const (
	tag4      = 0b01  // 6 bits of the number of a final class, 24 of a name of up to 4 characters
	tag9      = 0b011 // 7 bits of that number, 54 of a name of up to 9 characters
	tagHash   = 0b111 // 7 bits of that number, 54 of the hash of a name
	tagObject = 0b00  // 62 bits of the hash of a name; the class follows
	tagEnd    = 0x7ffffffffffffffe
)

// tagOf returns the tag of a field with a name.
func tagOf(f *field, name string) uint64 {
	id := f.registered()
	if id < 0 || id >= 127 {
		return nameHash(name) << 2
	}
	switch n, code := encodeName(name); {
	case n > 0 && n <= 3 && id <= 63:
		return uint64(uint32(code<<8 | uint64(id)<<2 | tag4))
	case n > 0 && n <= 7:
		return code<<10 | uint64(id)<<3 | tag9
	}
	return nameHash(name)<<10 | uint64(id)<<3 | tagHash
}

// registered returns the number of the class of a field whose class is final and registered, else -1.
func (f *field) registered() int {
	if f.is.class == nil {
		return firstPrimitive + primitiveOrder[f.is.prim]
	}
	if !f.is.final {
		return -1
	}
	return f.is.class.id
}

// The numbers of the classes boolean and java.lang.Boolean, which those of the other primitive types and boxes follow.
const (
	firstPrimitive = 5
	firstBox       = 14
)

var primitiveOrder = [...]int{boolean: 0, int8s: 1, char: 2, int16s: 3, zigzag: 4, float: 5, tagged64: 6, double: 7}

// encodeName returns a name of digits and letters as 6 bits for each, and the bytes that they take, 0 for other names.
func encodeName(name string) (n int, code uint64) {
	for i := range len(name) {
		v := 0
		switch c := name[i]; {
		case c >= '0' && c <= '9':
			v = int(c - '0')
		case c >= 'A' && c <= 'Z':
			v = int(c-'A') + 10
		case c >= 'a' && c <= 'z':
			v = int(c-'a') + 36
		default:
			return 0, 0
		}
		code = code<<6 | uint64(v)
	}
	return (len(name)*6 + 7) / 8, code
}

// decodeName returns the name that a tag has, "" if it has none.
func decodeName(code uint64) string {
	var b [11]byte
	at := len(b)
	for ; code > 0; code >>= 6 {
		v := byte(code & 63)
		at--
		switch {
		case v < 10:
			b[at] = '0' + v
		case v < 36:
			b[at] = 'A' + v - 10
		case v < 62:
			b[at] = 'a' + v - 36
		default:
			return ""
		}
	}
	return string(b[at:])
}

// nameOf returns the name of a field that the class path does not have: what its tag tells of it.
func nameOf(tag uint64) string {
	name := ""
	switch {
	case tag&3 == tag4:
		name = decodeName(tag >> 8 & 0xffffff)
	case tag&7 == tag9:
		name = decodeName(tag >> 10)
	}
	if name == "" {
		name = "#" + strconv.FormatUint(tag, 16)
	}
	return name
}

// nameHash is the first half of MurmurHash3_x64_128 with the seed 47.
func nameHash(name string) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	h1, h2 := uint64(47), uint64(47)
	mix := func(k1, k2 uint64) (uint64, uint64) {
		return bits.RotateLeft64(k1*c1, 31) * c2, bits.RotateLeft64(k2*c2, 33) * c1
	}
	b := []byte(name)
	n := uint64(len(b))
	for ; len(b) >= 16; b = b[16:] {
		k1, k2 := mix(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]))
		h1 = (bits.RotateLeft64(h1^k1, 27)+h2)*5 + 0x52dce729
		h2 = (bits.RotateLeft64(h2^k2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	k1, k2 := mix(binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:]))
	h1, h2 = h1^k1^n, h2^k2^n
	h1 += h2
	h2 += h1
	return finish(h1) + finish(h2)
}

func finish(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
