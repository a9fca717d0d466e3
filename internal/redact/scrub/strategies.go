package scrub

import (
	"strings"
	"unicode"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// The strategies to replace a value, the best first.
const (
	strategyFormat      = iota // Format.Scrub
	strategyShared             // the forms that formats share
	strategyFormatPlain        // the same two with letters and digits only
	strategySharedPlain
	strategyReference // change nothing: the bytes refer to a value elsewhere
	strategyBlind     // change what looks like text, after so many bytes
	blindStrategies   = 6
	strategyKeep      = strategyBlind + blindStrategies // change nothing; not for texts
	textStrategies    = strategyKeep
)

// heads are how many first bytes of what was not decoded stay, so that it is again not decoded: marks of types are not values. Of a
// text among them that cannot be a name only the kinds of characters stay.
var heads = [...]int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}

// headStrategies is how many strategies there are for each of the heads: two kinds of filler after it, and both again with the first
// and the last character of texts, which may be marks of types.
const headStrategies = 4

// opaqueStrategies is how many strategies there are for bytes that were not decoded: Format.Scrub, those of heads, and filler that is
// not a Java object.
const opaqueStrategies = 1 + headStrategies*len(heads) + 1

// strategies returns how many strategies there are for a node, 0 if it stays.
func strategies(n *decode.Node) int {
	switch n.Kind {
	case decode.String, decode.Bytes:
		return textStrategies
	case decode.Int, decode.Float32, decode.Float64, decode.Char, decode.Date, decode.Decimal:
		return textStrategies + 1
	case decode.Opaque, decode.Custom:
		return opaqueStrategies
	case decode.Overhead:
		if n.Name == "trailing" || n.Name == "text" || n.Name == "pool" { // a pool has values that were not used
			return opaqueStrategies
		}
	}
	return 0
}

// replace replaces the value of n in b by the strategy of e; it returns false if that does not find the value.
func (j *job) replace(b []byte, n *decode.Node, e *edit) bool {
	s, strategy, own := j.s, e.strategy, j.format.Scrub
	if e.digits && n.Kind == decode.String && (!e.dated || strings.IndexFunc(n.Text, unicode.IsLetter) < 0) {
		part := *n
		part.Kind = decode.Decimal
		n = &part
	}
	switch n.Kind {
	case decode.Opaque, decode.Custom, decode.Overhead:
		if strategy == 0 {
			return own != nil && own(b, n, s)
		}
		strategy--
		if int(strategy) == headStrategies*len(heads) {
			// The fields of an unknown class in a stream within another body are taken for bytes, unless an object that cannot be
			// decoded may be among them: "sr" begins one.
			fill(b, b)
			copy(b, "sr")
			return true
		}
		head := min(heads[strategy/headStrategies], len(b))
		s.replaceTexts(b[:head], strategy&2 != 0)
		fill(b[head:], b[head:])
		if strategy%2 != 0 { // the other kind may be decoded as something
			setHighBits(b[head:])
		}
		return true
	}
	if e.digits && !e.dated && n.Kind == decode.Int && n.Num >= -1 && n.Num <= 1 {
		return true // the sign of a number, beside its digits
	}
	if strategy == strategyFormatPlain || strategy == strategySharedPlain {
		s.salt += 0x80 // of numbers, others
	}
	s.plain = strategy == strategyFormatPlain || strategy == strategySharedPlain
	switch strategy {
	case strategyFormat, strategyFormatPlain:
		return own != nil && own(b, n, s)
	case strategyShared, strategySharedPlain:
		return wire.Shared(b, n, s)
	case strategyReference, strategyKeep:
		return true
	}
	head := int(strategy) - strategyBlind
	if head >= len(b) {
		return false
	}
	if n.Kind == decode.Date {
		b[len(b)-1-head] ^= byte(1 + s.Int(2)&1)
		return true
	}
	return s.replaceBlindly(b[head:])
}

// replaceTexts replaces letters and digits of the texts in b that cannot be names; with marks, all but the first and the last
// character of each.
func (s *mapper) replaceTexts(b []byte, marks bool) {
	const least = 4 // characters of a text
	for from := 0; from < len(b); from++ {
		to := from
		for to < len(b) && b[to] >= ' ' && b[to] < 0x7f {
			to++
		}
		if text := b[from:to]; len(text) >= least && !decode.CanBeName(string(text)) {
			if marks {
				text = text[1 : len(text)-1]
			}
			s.replaceBlindly(text)
		}
		from = to
	}
}

// replaceBlindly replaces what looks like letters and digits in b.
func (s *mapper) replaceBlindly(b []byte) bool {
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
