package protobuf

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// stretch is a run of bytes that are UTF-8 without control characters. It is found once and serves many queries, which come
// in order of their offsets and at the start of a character, so that no byte is inspected twice however messages are nested.
type stretch struct {
	lines    bool // tabs and line ends are allowed
	from, to int
}

func (s *stretch) forget() { s.from, s.to = 0, -1 }

// covers reports whether all of b[from:to] is text.
func (s *stretch) covers(b []byte, from, to int) bool {
	if from < s.from || from > s.to {
		s.from, s.to = from, s.end(b, from)
	}
	// A text may not end within a character.
	return to < s.to && utf8.RuneStart(b[to]) || to == s.to
}

// end returns the end of the text that starts at i.
func (s *stretch) end(b []byte, i int) int {
	for {
		for ; i <= len(b)-8; i += 8 {
			if other := unprintable(binary.LittleEndian.Uint64(b[i : i+8])); other != 0 {
				i += bits.TrailingZeros64(other) / 8
				break
			}
		}
		if i == len(b) {
			return i
		}
		c := b[i]
		switch {
		case c >= 0x20 && c < 0x7f, s.lines && (c == '\t' || c == '\n' || c == '\r'):
			i++
			continue
		case c < 0xc2: // a control character, or no first byte of any
			return i
		}
		char, n := utf8.DecodeRune(b[i:])
		if char == utf8.RuneError && n == 1 || char < 0xa0 {
			return i
		}
		i += n
	}
}

// unprintable returns 0 if eight bytes are all 20 to 7e; else its lowest bit is in the first byte that is not. Each of the three numbers has
// the high bit of a byte set in one case: the first if the byte, or one below it, is less than 20, the second if it is 7f, the third if it is
// not ASCII.
func unprintable(w uint64) uint64 {
	const ones = 0x0101010101010101
	return ((w - 0x20*ones) | (w + ones) | w) & (0x80 * ones)
}

// delimited returns what the bytes from Off to end are, which follow a length. Object is a message.
func (r *Reader) delimited(end int) decode.Kind {
	switch {
	case r.Off == end || r.plain.covers(r.Buf, r.Off, end):
		return decode.String
	case r.nested < maxNested && r.fields(end):
		return decode.Object
	case r.lines.covers(r.Buf, r.Off, end):
		return decode.String
	}
	return decode.Bytes
}

// The range of magnitudes of floating point numbers. Four or eight bytes outside of it are an integer.
const (
	least = 1e-9
	most  = 1e15
)

// The bits of Java's NaN.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// fixed32 and fixed64 return what four and eight bytes are.
func fixed32(bits uint32) decode.Kind {
	if f := math.Float32frombits(bits); bits == nan32 || isFloat(float64(f), math.MaxFloat32) {
		return decode.Float32
	}
	return decode.Int
}

func fixed64(bits uint64) decode.Kind {
	if bits == nan64 || isFloat(math.Float64frombits(bits), math.MaxFloat64) {
		return decode.Float64
	}
	return decode.Int
}

func isFloat(f, largest float64) bool {
	abs := math.Abs(f)
	return abs == 0 && !math.Signbit(f) || abs >= least && abs <= most || abs == largest || math.IsInf(f, 0)
}
