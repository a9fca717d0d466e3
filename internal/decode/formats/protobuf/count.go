package protobuf

import (
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/protoschema"
)

// countFields takes the next fields up to end that hold one value of a type that has all such bytes, and counts what members would make of
// them: most fields of most messages. It does nothing with a tree, and stops at the first other field.
func (r *Reader) countFields(m *protoschema.Message, end int) {
	if !r.Counting() || r.Pending() > 0 {
		return
	}
	b, at, n := r.Buf[:end], r.Off, 0
	for at < end {
		f := m.Field(protowire.Number(b[at] >> 3))
		if b[at] >= 0x80 || f == nil || f.List || f.Map || f.Class || protowire.Type(b[at]&7) != f.Kind.Wire() {
			break
		}
		next := r.afterValue(b, at+1, f.Kind)
		if next < 0 || !r.fill(m, f) {
			break
		}
		at = next
		n++
	}
	if n > 0 {
		r.Off = at
		r.Tally(0, 2*n)
		r.Recount(decode.ClassNames, n)
	}
}

// afterValue returns the offset after a value of a type in b, -1 if it may be one that the type cannot have.
func (r *Reader) afterValue(b []byte, at int, k protoschema.Kind) int {
	next := -1
	switch k {
	case protoschema.Fixed32, protoschema.Sfixed32, protoschema.Float:
		next = at + 4
	case protoschema.Fixed64, protoschema.Sfixed64, protoschema.Double:
		next = at + 8
	case protoschema.String, protoschema.Bytes:
		size, n := varint(b[at:])
		if n < 0 || size > uint64(len(b)-at-n) {
			return -1
		}
		at += n
		if next = at + int(size); k == protoschema.String && size > 0 && !r.lines.covers(r.Buf, at, next) {
			return -1
		}
	case protoschema.Bool, protoschema.Int32, protoschema.Uint32, protoschema.Sint32, protoschema.EnumValue, protoschema.Int64, protoschema.Uint64, protoschema.Sint64:
		most := 4 // bytes that any number of 32 bits may have
		switch k {
		case protoschema.Bool:
			most = 1
		case protoschema.Int64, protoschema.Uint64, protoschema.Sint64:
			most = 9
		}
		for next = at; next < len(b) && b[next] >= 0x80; {
			next++
		}
		if next++; next-at > most || next <= len(b) && k == protoschema.Bool && b[at] > 1 {
			return -1
		}
	}
	if next > len(b) {
		return -1
	}
	return next
}

// countPacked takes the packed values of a repeated field up to end as far as all their bytes are of its type, and returns how many there
// are. It does nothing with a tree.
func (r *Reader) countPacked(k protoschema.Kind, end int) (n int) {
	if !r.Counting() {
		return 0
	}
	b, at := r.Buf[:end], r.Off
	for at < end {
		next := r.afterValue(b, at, k)
		if next < 0 {
			break
		}
		at = next
		n++
	}
	r.Off = at
	r.Run(decode.Int, n)
	return n
}
