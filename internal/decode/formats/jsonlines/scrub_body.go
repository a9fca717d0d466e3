package jsonlines

import (
	"encoding/binary"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// bodyScrubber is the [decode.BodyScrubber] of bodies that are one JSON text, as those of HTTP are. It takes what nearly all texts consist of; anything
// else is left to a tree.
type bodyScrubber struct {
	b       []byte
	m       decode.Mapper
	nodes   int            // that a tree would have at most
	node    decode.Node    // scratch
	waiting decode.Waiting // texts
}

// NewBodyScrubber returns a scrubber for bodies that are one JSON text.
func NewBodyScrubber() decode.BodyScrubber { return new(bodyScrubber) }

// ScrubBody implements [decode.BodyScrubber].
func (s *bodyScrubber) ScrubBody(b []byte, n int, attachments bool, m decode.Mapper) bool {
	if n != 1 || attachments {
		return false
	}
	s.b, s.m, s.nodes = b, m, 0
	s.waiting.Forget()
	end := s.value(0, 0)
	done := end >= 0 && s.space(end) == len(b)
	if done {
		s.waiting.Replace(b, m)
	}
	s.b, s.m, s.node = nil, nil, decode.Node{}
	return done
}

// ScrubAgain implements [decode.BodyScrubber].
func (s *bodyScrubber) ScrubAgain([]byte, int, bool, *decode.Again) bool { return false }

// value takes the value at offset at, after white space, and returns the offset after it, -1 if it needs a tree.
func (s *bodyScrubber) value(at, depth int) (end int) {
	at = s.space(at)
	s.nodes += 4 // with the punctuation around it
	if at >= len(s.b) || s.nodes > decode.MaxScrubbedNodes {
		return -1
	}
	word := ""
	switch c := s.b[at]; {
	case c == '"':
		return s.text(at)
	case c == '{', c == '[':
		return s.members(at, depth)
	case c == '-', c-'0' <= 9:
		return s.number(at)
	case c == 'n':
		word = "null"
	case c == 't':
		word = "true"
	case c == 'f':
		word = "false"
	}
	if end = at + len(word); word == "" || end > len(s.b) || string(s.b[at:end]) != word {
		return -1
	}
	return end
}

// members takes the object or list at offset at.
func (s *bodyScrubber) members(at, depth int) (end int) {
	if depth == decode.MaxScrubbedDepth {
		return -1
	}
	closing := s.b[at] + 2 // { and }, [ and ] are two apart
	at = s.space(at + 1)
	if at < len(s.b) && s.b[at] == closing {
		return at + 1
	}
	for {
		if closing == '}' {
			if at = s.key(s.space(at)); at < 0 {
				return -1
			}
		}
		if at = s.value(at, depth+1); at < 0 {
			return -1
		}
		if at = s.space(at); at >= len(s.b) {
			return -1
		}
		switch s.b[at] {
		case ',':
			at++
		case closing:
			return at + 1
		default:
			return -1
		}
	}
}

// key takes the key at offset at and the colon after it. A name of a member stays. Objects that say their class, and references, need a tree.
func (s *bodyScrubber) key(at int) (end int) {
	end, plain := stringTo(s.b, at)
	if !plain {
		return -1
	}
	switch name := s.b[at+1 : end-1]; {
	case string(name) == "class", string(name) == "$ref":
		return -1
	case decode.IsMemberName(name):
	default:
		s.later(at+1, end-1)
	}
	s.nodes += 2
	if at = s.space(end); at >= len(s.b) || s.b[at] != ':' {
		return -1
	}
	return at + 1
}

// text takes the text at offset at.
func (s *bodyScrubber) text(at int) (end int) {
	end, plain := stringTo(s.b, at)
	switch {
	case end == 0:
		return -1
	case plain:
		s.later(at+1, end-1)
		return end
	}
	if s.node = (decode.Node{Kind: decode.String}); s.m != nil {
		s.node.Text = Unquote(s.b[at+1 : end-1])
	}
	if !s.replace(at, end) || stringEnd(s.b, at) != end {
		return -1
	}
	return end
}

// number takes the number at offset at.
func (s *bodyScrubber) number(at int) (end int) {
	var plain writer
	n := plain.scanNumber(s.b, at)
	if n.end == 0 {
		return -1
	}
	digits := s.b[at:n.end]
	v := n.value(digits)
	if s.node = (decode.Node{Kind: v.kind, Num: v.num, Float: v.float}); v.kind == decode.Decimal && s.m != nil {
		s.node.Text = string(digits)
	}
	if !s.replace(at, n.end) {
		return -1
	}
	if again := plain.scanNumber(s.b, at); again.end != n.end || again.value(digits).kind != v.kind {
		return -1
	}
	return n.end
}

// replace replaces the value from offset at to end, which s.node describes, as a tree would have it replaced.
func (s *bodyScrubber) replace(at, end int) bool {
	return s.m == nil || Scrub(s.b[at:end], &s.node, s.m)
}

// later replaces the text between two offsets together with those after it.
func (s *bodyScrubber) later(from, to int) {
	if s.m != nil && from < to && s.waiting.Add(from, to, decode.String) {
		s.waiting.Replace(s.b, s.m)
	}
}

// space returns the offset of what follows white space.
func (s *bodyScrubber) space(at int) int {
	for at < len(s.b) && isSpace(s.b[at]) {
		at++
	}
	return at
}

// stringTo returns the offset after the string at offset at of text, 0 if there is none, and whether it has neither escapes nor control characters and
// is UTF-8: then other characters can be written in its place.
func stringTo(text []byte, at int) (end int, plain bool) {
	if at >= len(text) || text[at] != '"' {
		return 0, false
	}
	seen := uint64(0)
	i := at + 1
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		if quotes(w)|(w-' '*ones)&^w&highs != 0 {
			break
		}
		seen |= w
	}
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' || text[i] < ' ' {
			return stringEnd(text, at), false
		}
		seen |= uint64(text[i])
	}
	if i >= len(text) {
		return 0, false
	}
	return i + 1, seen&highs == 0 || utf8.Valid(text[at+1:i])
}
