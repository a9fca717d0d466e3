package http2

import (
	"bytes"

	"golang.org/x/net/http2/hpack"
)

// literal is a text of a header block.
type literal struct {
	bytes []byte
	coded bool // with the Huffman code
}

// literalAt returns the literal at the start of b with its length in bytes, 0 if it is malformed.
func literalAt(b []byte) (l literal, n int) {
	size, n := integer(b, 7)
	if n == 0 || size > uint64(len(b)-n) {
		return l, 0
	}
	return literal{b[n : n+int(size)], b[0]&0x80 != 0}, n + int(size)
}

// text returns the bytes of a literal, which are valid until the next call. ok is false if they are malformed.
func (d *blockDecoder) text(l literal) (b []byte, ok bool) {
	if !l.coded {
		return l.bytes, true
	}
	if d.decoded, ok = appendHuffman(d.decoded[:0], l.bytes); ok {
		return d.decoded, true
	}
	rare := bytes.NewBuffer(d.decoded[:0])
	_, err := hpack.HuffmanDecode(rare, l.bytes)
	d.decoded = rare.Bytes()
	return d.decoded, err == nil
}

// Bounds of the names and fields that are kept because they will come again: their number, and the bytes of a literal.
const (
	maxKnown    = 4096
	maxKnownLen = 256
)

// nameKey and fieldKey are names and fields as they are in header blocks, so that a literal that comes again is not decoded again.
type (
	nameKey struct {
		literal string
		coded   bool
	}
	fieldKey struct {
		name    *headerName
		literal string
		coded   bool
	}
)

// name returns the name with that text, nil if it is malformed. Names that come again are shared.
func (d *blockDecoder) name(l literal) *headerName {
	name, ok := d.names[nameKey{string(l.bytes), l.coded}]
	if ok {
		return name
	}
	text, ok := d.text(l)
	if !ok {
		return nil
	}
	name = newName(string(text))
	if len(l.bytes) <= maxKnownLen {
		d.names = roomFor(d.names)
		d.names[nameKey{string(l.bytes), l.coded}] = name
	}
	return name
}

// field returns the field with that name and value, nil if the value is malformed. Fields that come again are shared. Unless the value
// is wanted it may be missing, and the field is valid until the next call.
func (d *blockDecoder) field(name *headerName, l literal, wanted bool) *field {
	if !wanted {
		text, ok := d.text(l)
		if !ok {
			return nil
		}
		d.unread = field{name: name, order: name.hash, plain: int32(len(name.text) + len(text)), role: name.role, unknown: name == unknownName}
		return &d.unread
	}
	f, ok := d.known[fieldKey{name, string(l.bytes), l.coded}]
	if ok {
		return f
	}
	value, ok := d.text(l)
	if !ok {
		return nil
	}
	f = newField(name, string(value))
	if len(l.bytes) <= maxKnownLen {
		d.known = roomFor(d.known)
		d.known[fieldKey{name, string(l.bytes), l.coded}] = f
	}
	return f
}

// roomFor returns a map with room for one entry more.
func roomFor[K comparable, V any](known map[K]V) map[K]V {
	if known == nil {
		return make(map[K]V)
	}
	if len(known) >= maxKnown {
		clear(known)
	}
	return known
}
