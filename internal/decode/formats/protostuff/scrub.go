package protostuff

import (
	"encoding/binary"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces values after their tags: integers of variable length, other numbers of fixed length. A string may be the
// private fields of String, in Latin-1 or UTF-16, and a date or a time of day has a field for each part.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.Opaque {
		return scrubFields(b, m)
	}
	const start, end = 0x0b, 0x0c // of an object
	if last := len(b) - 1; last > 0 && b[0] == start && b[last] == end {
		b = b[:last]
	}
	return forms(b, n, m) || n.Kind == decode.Date && scrubParts(b, n.Text, m) || n.Kind == decode.String && len(n.Text) == len(jdk.UUID(0, 0)) && scrubHalves(b, m)
}

var forms = wire.Any(wire.Raw, wire.UTF8, wire.UTF16, wire.Latin1, wire.UUID, wire.Varint, wire.Fixed, wire.Unscaled, wire.Calendar)

// scrubHalves replaces the two numbers of a UUID.
func scrubHalves(b []byte, m decode.Mapper) bool {
	var at [2]int
	var halves [2]uint64
	next := 0
	for i := range halves {
		if next >= len(b) || uint64(b[next]) != tagOf(uint64(i+1), varintWire) {
			return false
		}
		at[i] = next + 1
		v, size := binary.Uvarint(b[at[i]:])
		if size <= 0 {
			return false
		}
		halves[i], next = v, at[i]+size
	}
	if next != len(b) {
		return false
	}
	for i, v := range halves {
		binary.PutUvarint(b[at[i]:], uint64(m.Int(int64(v))))
	}
	return true
}

// scrubParts replaces the fields of a date, a time of day or both; they are the last ones before the end tag.
func scrubParts(b []byte, text string, m decode.Mapper) bool {
	timed := strings.Contains(text, ":")
	dated := !timed || strings.Contains(text, "T")
	bounds := [][2]int64{{0, 23}, {0, 59}, {0, 59}, {1, 999999999}}
	date := [][2]int64{{1900, 2099}, {1, 12}, {1, 28}}
	switch {
	case dated && timed:
		bounds = append(date, bounds...)
	case dated:
		bounds = date
	}
	found := false
	for at := 0; at < len(b); {
		tag, size := binary.Uvarint(b[at:])
		if size <= 0 {
			return found
		}
		at += size
		field := int(tag >> 3)
		if tag&7 == startGroup || tag&7 == endGroup {
			continue
		}
		v, size := binary.Uvarint(b[at:])
		if tag&7 == delimited && size > 0 && v <= uint64(len(b)) { // the class or the name of a zone
			at += size + int(v)
			continue
		}
		if tag&7 != varintWire || size <= 0 || field < 1 || field > len(bounds) {
			continue
		}
		w := m.Within(int64(v), bounds[field-1][0], bounds[field-1][1])
		if bounds[field-1][1] > 1e6 {
			w = m.Int(int64(v))
		}
		var out [binary.MaxVarintLen64]byte
		if binary.PutUvarint(out[:], uint64(w)) == size {
			copy(b[at:], out[:size])
			found = true
		}
		at += size
	}
	return found
}

// scrubFields replaces the values of an object whose class is not known. Tags, lengths, references and the ends of groups
// stay, since readers find later values by them.
func scrubFields(b []byte, m decode.Mapper) bool {
	type span struct{ from, to int }
	var spans []span
	for at := 0; at < len(b); {
		tag, size := binary.Uvarint(b[at:])
		if size <= 0 {
			return false
		}
		at += size
		from, n := at, 0
		switch tag & 7 {
		case varintWire:
			_, n = binary.Uvarint(b[at:])
		case fixed64Wire:
			n = 8
		case fixed32Wire:
			n = 4
		case delimited:
			v, size := binary.Uvarint(b[at:])
			if size <= 0 || v > uint64(len(b)) {
				return false
			}
			from += size
			n = size + int(v)
		case startGroup, endGroup:
			continue
		case reference:
			_, n = binary.Uvarint(b[at:])
			from = at + n
		default:
			return false
		}
		if n <= 0 || at+n > len(b) {
			return false
		}
		at += n
		spans = append(spans, span{from, at})
		if tag&7 == varintWire {
			for i := from; i < at; i++ {
				b[i] = b[i]&0x80 | 1
			}
			spans = spans[:len(spans)-1]
		}
	}
	for _, s := range spans {
		m.Bytes(b[s.from:s.to])
	}
	return true
}
