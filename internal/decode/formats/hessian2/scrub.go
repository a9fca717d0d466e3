package hessian2

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces the value after its opcode. The opcode stays, since it says the type, and of short values the length.
// Zero and one as a double are opcodes without a value, and stay. Values of Hessian 1 that have other opcodes have those of no value of the
// same kind.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.Int, decode.Date:
		return scrubInt(b, n, m)
	case decode.Float64, decode.Float32:
		return scrubDouble(b, m)
	case decode.String, decode.Char, decode.Decimal:
		_, ok := scrubChunks(b, nil, asAnyText, chunkEnd, func(text []byte) { wire.MapUTF8(text, n.Kind, m) }, false)
		return ok
	case decode.Bytes:
		_, ok := scrubChunks(b, nil, asAnyBytes, func(b []byte, n int) int { return n }, m.Bytes, false)
		return ok
	case decode.Opaque: // of a body that was cut, the start of a text
		_, ok := scrubChunks(b, nil, asAnyText, chunkEnd, func(text []byte) { wire.MapUTF8(text, decode.String, m) }, true)
		return ok
	}
	return false
}

// scrubInt replaces an integer: in the opcode, in the opcode and the next one or two bytes, or in four or eight bytes. A
// date is an integer of milliseconds or minutes.
func scrubInt(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch op := b[0]; {
	case n.Kind == decode.Date && op != 0x4a && op != 0x4b && op != 'd':
		return false
	case len(b) == 9:
		binary.BigEndian.PutUint64(b[1:], uint64(m.Int(int64(binary.BigEndian.Uint64(b[1:])))))
	case len(b) == 5:
		binary.BigEndian.PutUint32(b[1:], uint32(m.Int(int64(int32(binary.BigEndian.Uint32(b[1:]))))))
	case n.Kind == decode.Date || len(b) > 3:
		return false
	default: // the opcode is the highest byte, beside what it is for zero
		delta := m.Int(n.Num) - n.Num
		v := int64(0)
		for _, c := range b {
			v = v<<8 | int64(c)
		}
		v += delta
		op := byte(v >> (8 * (len(b) - 1)))
		if grammar[op].rule != grammar[b[0]].rule || grammar[op].size != grammar[b[0]].size {
			return false
		}
		for i := len(b) - 1; i >= 0; i-- {
			b[i] = byte(v)
			v >>= 8
		}
	}
	return true
}

func scrubDouble(b []byte, m decode.Mapper) bool {
	switch {
	case len(b) == 9:
		f := m.Float(math.Float64frombits(binary.BigEndian.Uint64(b[1:])), 64)
		binary.BigEndian.PutUint64(b[1:], math.Float64bits(f))
	case len(b) == 5:
		f := m.Float(float64(int32(binary.BigEndian.Uint32(b[1:])))/1000, 64)
		binary.BigEndian.PutUint32(b[1:], uint32(int32(math.Round(f*1000))))
	case len(b) == 3:
		f := m.Float(float64(int16(binary.BigEndian.Uint16(b[1:]))), 64)
		binary.BigEndian.PutUint16(b[1:], uint16(int16(f)))
	case len(b) == 2:
		b[1] = byte(int8(m.Float(float64(int8(b[1])), 64)))
	}
	return true
}

// asAnyText is asText for a string of Hessian 1 or 2.
func asAnyText(b byte) (head int, more, ok bool) {
	switch b {
	case 's', 'x':
		return 3, true, true
	case 'X':
		return 3, false, true
	}
	return asText(b)
}

// asAnyBytes is asBytes for a binary of Hessian 1 or 2.
func asAnyBytes(b byte) (head int, more, ok bool) {
	if b == 'b' {
		return 3, true, true
	}
	return asBytes(b)
}

// scrubChunks replaces a text or a binary that is written in chunks, as one: a character may begin in one chunk and end in
// the next. end returns the length of so many units. cut is set if b ends within them. The content of several chunks is copied to scratch, which
// is returned with the memory that it then has.
func scrubChunks(b, scratch []byte, as func(byte) (head int, more, ok bool), end func(b []byte, units int) int, replace func(content []byte), cut bool) (memory []byte, ok bool) {
	type span struct{ from, to int }
	var few [8]span
	spans := few[:0]
	for at, more := 0, true; more; {
		if at >= len(b) {
			return scratch, false
		}
		head, another, ok := as(b[at])
		if !ok || at+head > len(b) {
			return scratch, false
		}
		from := at + head
		n := end(b[from:], chunkLen(b[at:from]))
		if cut && n < 0 {
			n, another, cut = wholeLen(b[from:]), false, false
		} else if n < 0 || from+n > len(b) || !another && from+n != len(b) {
			return scratch, false
		}
		at, more = from+n, another
		spans = append(spans, span{from, at})
	}
	if cut {
		return scratch, false
	}
	if len(spans) == 1 { // as most are
		s := spans[0]
		replace(b[s.from:s.to])
		return scratch, true
	}
	content := slices.Grow(scratch[:0], len(b))
	for _, s := range spans {
		content = append(content, b[s.from:s.to]...)
	}
	replace(content)
	from := 0
	for _, s := range spans {
		from += copy(b[s.from:s.to], content[from:])
	}
	return content, true
}

// wholeLen returns the length of the whole characters at the start of b, a text that may end within one.
func wholeLen(b []byte) int {
	for n := len(b); n > 0 && len(b)-n < utf8.UTFMax; n-- {
		if size := sequenceLen(b[n-1]); size > 0 {
			if size > len(b)-n+1 {
				return n - 1
			}
			break
		}
	}
	return len(b)
}

// chunkEnd returns the length in bytes of so many UTF-16 units at the start of b, -1 if there are fewer.
func chunkEnd(b []byte, units int) int {
	at := 0
	for ; units > 0; units-- {
		for units >= 8 && len(b)-at >= 8 && binary.LittleEndian.Uint64(b[at:])&0x8080808080808080 == 0 {
			at += 8
			units -= 8
		}
		if units == 0 {
			break
		}
		if at >= len(b) {
			return -1
		}
		switch c := b[at]; {
		case c < 0x80:
			at++
		case c&0xe0 == 0xc0:
			at += 2
		case c&0xf0 == 0xe0:
			at += 3
		case c&0xf8 == 0xf0: // two units
			at += 4
			units--
		default:
			return -1
		}
	}
	if units < 0 || at > len(b) {
		return -1
	}
	return at
}
