package scrub

import (
	"strings"
	"unicode"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// The ways to replace a value, the best first.
const (
	wayOwn    = iota // as its format says
	wayShared        // as most formats write values
	wayPlain         // the same two, letters and digits only
	wayPlain2
	wayLeave // nothing: the bytes refer to a value elsewhere
	wayBlind // what looks like text, whatever it is
	blinds   = 6
	wayStays = wayBlind + blinds // nothing: not of texts
	allWays  = wayStays
)

// heads is how many bytes of what was not decoded stay, so that it is not decoded again: type marks are no values.
var heads = [...]int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}

// opaqueWays is as its format says, two kinds of filler behind each of the heads, and what is no object of Java's.
const opaqueWays = 1 + 2*len(heads) + 1

// ways returns in how many ways a node can be replaced, 0 where it is to stay.
func ways(n *decode.Node) int {
	switch n.Kind {
	case decode.String, decode.Bytes:
		return allWays
	case decode.Int, decode.Float32, decode.Float64, decode.Char, decode.Date, decode.Decimal:
		return allWays + 1
	case decode.Opaque, decode.Custom:
		return opaqueWays
	case decode.Overhead:
		if n.Name == "trailing" || n.Name == "text" {
			return opaqueWays
		}
	}
	return 0
}

// replace replaces the value of n in b; false where this way does not find it.
func (j *job) replace(b []byte, n *decode.Node, e *edit) bool {
	s, way, own := j.s, e.way, j.m.Format.Scrub
	if e.digits && n.Kind == decode.String && (!e.dated || strings.IndexFunc(n.Text, unicode.IsLetter) < 0) {
		part := *n
		part.Kind = decode.Decimal
		n = &part
	}
	switch n.Kind {
	case decode.Opaque, decode.Custom, decode.Overhead:
		if way == 0 {
			return own != nil && own(b, n, s)
		}
		way--
		if int(way) == 2*len(heads) {
			// In a stream inside another body fields of an unknown class are bytes to anybody, unless an object that cannot be
			// read may be among them: one begins here.
			fill(b, b)
			copy(b, "sr")
			return true
		}
		head := min(heads[way/2], len(b))
		fill(b[head:], b[head:])
		if way%2 != 0 { // the other one may be understood
			high(b[head:])
		}
		return true
	}
	if e.digits && !e.dated && n.Kind == decode.Int && n.Num >= -1 && n.Num <= 1 {
		return true // the sign of a number, beside its digits
	}
	if way == wayPlain || way == wayPlain2 {
		s.salt += 0x80 // of numbers, others
	}
	s.plain = way == wayPlain || way == wayPlain2
	switch way {
	case wayOwn, wayPlain:
		return own != nil && own(b, n, s)
	case wayShared, wayPlain2:
		return wire.Shared(b, n, s)
	case wayLeave, wayStays:
		return true
	}
	head := int(way) - wayBlind
	if head >= len(b) {
		return false
	}
	if n.Kind == decode.Date {
		b[len(b)-1-head] ^= byte(1 + s.Int(2)&1)
		return true
	}
	return s.blind(b[head:])
}

// blind replaces what looks like letters and digits in b.
func (s *mapper) blind(b []byte) bool {
	stream := s.prf.seed('?', s.salt, b)
	done := false
	for i := 0; i < len(b); i++ {
		switch c := rune(b[i]); {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			b[i] = byte(replacement(stream, c, -1, false))
			done = true
		case c >= 0xe4 && c <= 0xe9 && i+2 < len(b): // ideograms in UTF-8
			b[i+2] = byte(0x80 | (uint64(b[i+2])+1+stream.Uint64()%63)&0x3f)
			i += 2
			done = true
		}
	}
	return done
}
