package protobuf

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// stretch is a run of bytes that are UTF-8 without control characters, found once and asked for many places in it. It is
// only asked for places in order, at the start of a character, so that no byte is looked at twice however messages
// are nested.
type stretch struct {
	lines    bool // tabs and line ends belong to text
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

// end returns where text that starts at i ends.
func (s *stretch) end(b []byte, i int) int {
	for i < len(b) {
		for len(b)-i >= 8 && printable(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		if i == len(b) {
			break
		}
		c := b[i]
		switch {
		case c >= 0x20 && c < 0x7f, s.lines && (c == '\t' || c == '\n' || c == '\r'):
			i++
			continue
		case c < utf8.RuneSelf:
			return i
		}
		char, n := utf8.DecodeRune(b[i:])
		if char == utf8.RuneError && n == 1 || char < 0xa0 {
			return i
		}
		i += n
	}
	return i
}

// printable reports whether all of eight bytes are 20 to 7e. Of the three numbers the first has the high bit of a byte set
// where it is below 20 or above a byte that is, the second where it is 7f, the third where it is no ASCII.
func printable(w uint64) bool {
	const ones = 0x0101010101010101
	return ((w-0x20*ones)|(w+ones)|w)&(0x80*ones) == 0
}

// delimited says what the bytes from Off to end are, which stand behind a length; Object is a message.
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

// Magnitudes of floating point numbers, beyond which four or eight bytes are an integer.
const (
	least = 1e-9
	most  = 1e15
)

// The bits of Java's NaN.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// fixed32 and fixed64 say what four and eight bytes are.
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
