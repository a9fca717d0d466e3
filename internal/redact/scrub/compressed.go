package scrub

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/compress"
	"dubbo-wire/internal/rpc"
)

// Values of a compressed body may need more bytes than the original ones when they are compressed. Then values that are alike are tried,
// with another letter each time, and after them texts that consist of names which stay in the body.
//
// All encodings have ways to be longer than needed, so nearly every copy that is short enough fits.

// maxLetters is how many letters are tried, maxNames how many names.
const (
	maxLetters = 12
	maxNames   = 12
)

// replaceCompressed replaces the values in body, a copy of the compressed body of m. The copy has as many bytes with compression and
// without. It returns what cannot be redacted, "" if all can.
func (s *Scrubber) replaceCompressed(body []byte, m *rpc.Message) (refused string) {
	if len(body) == 0 { // whose compression may not be known
		return ""
	}
	plain := *m
	plain.Body, plain.BodyLen, plain.Plain, plain.Encoding, plain.UncompressedLen = m.Plain, len(m.Plain), nil, "", 0
	plain.Captured, plain.MissingAt = len(m.Plain), len(m.Plain)
	was := bytes.Clone(m.Plain)
	if m.Format != nil {
		own := rpc.Decoders{Formats: s.formats} // what it returns must outlive the next walks
		plain = *own.Decode(&plain, rpc.Values)
	}
	names := namesIn(&plain)
	defer func() { s.prf.even, s.name = 0, "" }()
	for even := range uint64(1 + maxLetters + len(names)) {
		s.original = append(s.original[:0], was...)
		s.filled, s.left, s.prf.even = s.filled[:0], 0, even
		if even > maxLetters {
			s.name = names[even-1-maxLetters]
		}
		out := bytes.Clone(was)
		s.replaceValues(out, &plain)
		if compress.Fill(body, m.Encoding, out) {
			return ""
		}
	}
	if m.Decoded == "full" {
		return "messages compressed with " + m.Encoding // filler would not be read as the content was
	}
	for _, c := range []byte("g~\x0e") { // in the end the content is filler
		s.filled, s.left = s.filled[:0], 0
		out := bytes.Clone(was)
		s.original = append(s.original[:0], was...)
		n := s.fillContent(&plain, func(at, end int) {
			for i := range out[at:end] {
				out[at+i] = c
			}
		})
		if compress.Fill(body, m.Encoding, out) {
			s.addFilled(notReplaceable, n)
			return ""
		}
	}
	return "messages compressed with " + m.Encoding
}

// namesIn returns names in the body of m that stay, the longest first.
func namesIn(m *rpc.Message) (names []string) {
	if m.Tree == nil {
		return nil
	}
	add := func(name string) {
		if len(name) >= markEvery && decode.IsClassName(name) && !slices.Contains(names, name) && bytes.Contains(m.Body, []byte(name)) {
			names = append(names, name)
		}
	}
	for i := range m.Tree.Nodes {
		n := &m.Tree.Nodes[i]
		if len(names) == maxNames {
			break
		}
		if add(n.Class); n.Label == decode.ByField && n.Parent >= 0 {
			add(n.Name)
		}
		if n.NamesCall() {
			add(n.Text)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	return names
}

// replaceByName returns what replaces character i of a text: one of the name that is set, which is repeated.
func (s *mapper) replaceByName(stream *stream, i int, r rune) rune {
	if c := rune(s.name[i%len(s.name)]); r < utf8.RuneSelf && r >= ' ' && r != '"' && r != '\\' && r != '/' && c < utf8.RuneSelf {
		return c
	}
	return replacement(stream, r, -1, false)
}
