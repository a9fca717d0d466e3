package http2

import (
	"bytes"
	"sync"

	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// badHeader is not a valid frame header in any place: PING has eight bytes.
var badHeader = []byte{0xff, 0xff, 0xff, typePing, 0xff, 0xff, 0xff, 0xff, 0xff}

// badPrefix is not a valid message prefix.
var badPrefix = []byte{0xff, 0xff, 0xff, 0xff, 0xff}

// scrubHead replaces what is a value in b, a copy of the head of m: texts of header blocks become others of the same length, and of
// the same length in Huffman's code if they have it. So the tables of both sides stay the same, with other values.
func scrubHead(b []byte, m *rpc.Message, r decode.Mapper) {
	n, ok := m.Native.(*native)
	if !ok {
		return
	}
	s := headScrubber{b: b, headers: m.Headers, callee: triple.CalleeOf(n.request, m.Protocol.PlainHTTP), r: r}
	for p := range n.pieces.all {
		own := b[p.off : p.off+p.len]
		switch p.kind {
		case pieceBlock:
			s.scrubBlock()
		case pieceFields:
			s.pieces = append(s.pieces, p)
		case piecePadding:
			clear(own)
		case pieceBad:
			copy(own, badHeader)
		case piecePrefix:
			if own[0] > 1 || own[1] >= 0x80 {
				copy(own, badPrefix)
			}
		case pieceLines:
			scrubHTTP1(own, p.off, m.Headers, s.callee, r)
		case pieceExtension, pieceTrailer:
			scrubLine(own)
		case pieceOther, pieceSkipped: // no message starts like this
			for i, c := range own {
				if p.kind == pieceOther || c != '\n' && c != '\r' { // a search finds the next message at the start of a line
					own[i] = 0xff
				}
			}
		}
	}
	s.scrubBlock()
}

// headScrubber replaces the texts of the header blocks in a head.
type headScrubber struct {
	b       []byte
	headers []rpc.Header // that were decoded
	callee  triple.Callee
	r       decode.Mapper
	pieces  []piece // of a block
	block   []byte
	text    bytes.Buffer
	coded   []byte
}

// scrubBlock replaces the texts of the block in pieces. What is malformed stays malformed.
func (s *headScrubber) scrubBlock() {
	if len(s.pieces) == 0 {
		return
	}
	s.block = s.block[:0]
	for _, p := range s.pieces {
		s.block = append(s.block, s.b[p.off:p.off+p.len]...)
	}
	at := 0
	k, before := 0, 0 // the piece that has the field, and the bytes of the block before it
	for at < len(s.block) {
		for at-before >= int(s.pieces[k].len) {
			before += int(s.pieces[k].len)
			k++
		}
		n := s.field(s.block[at:], s.pieces[k].off+int32(at-before))
		if n == 0 {
			break
		}
		at += n
	}
	for i := at; i < len(s.block); i++ {
		s.block[i] = 0x80 // an index that no table has
	}
	rest := s.block
	for _, p := range s.pieces {
		rest = rest[copy(s.b[p.off:p.off+p.len], rest):]
	}
	s.pieces = s.pieces[:0]
}

// field replaces the texts of the field that b starts with, which is at an offset of the head. It returns the length of the field, 0 if
// it is malformed.
func (s *headScrubber) field(b []byte, off int32) int {
	bits := uint(4)
	switch c := b[0]; {
	case c&0x80 != 0:
		bits = 7
	case c&0x40 != 0:
		bits = 6
	case c&0x20 != 0:
		bits = 5
	}
	index, at := integer(b, bits)
	if at == 0 || bits == 7 || bits == 5 {
		return at
	}
	name := ""
	for len(s.headers) > 0 && s.headers[0].Off < off {
		s.headers = s.headers[1:]
	}
	if len(s.headers) > 0 && s.headers[0].Off == off && !s.headers[0].Unknown {
		name = s.headers[0].Name
	} else if index > 0 && index <= staticLen {
		name = static[index].name.text
	}
	if index == 0 {
		n := s.string(b[at:], func(text []byte, alike func(byte) string) {
			name = string(text)
			triple.ScrubHeaderName(text, alike, s.r)
		})
		if n == 0 {
			return 0
		}
		at += n
	}
	n := s.string(b[at:], func(text []byte, alike func(byte) string) { triple.ScrubHeaderValue(name, text, s.callee, alike, s.r) })
	if n == 0 {
		return 0
	}
	return at + n
}

// string replaces the string that b starts with by scrub, and returns its length, 0 if it is malformed.
func (s *headScrubber) string(b []byte, scrub func(text []byte, alike func(byte) string)) int {
	size, n := integer(b, 7)
	if n == 0 || size > uint64(len(b)-n) {
		return 0
	}
	raw := b[n : n+int(size)]
	end := n + int(size)
	if b[0]&0x80 == 0 {
		scrub(raw, nil)
		return end
	}
	s.text.Reset()
	if _, err := hpack.HuffmanDecode(&s.text, raw); err != nil {
		for i := range raw {
			raw[i] = 0xff // no code has as many ones
		}
		return end
	}
	text := s.text.Bytes()
	scrub(text, alike)
	if s.coded = hpack.AppendHuffmanString(s.coded[:0], string(text)); len(s.coded) != len(raw) {
		return 0 // not possible: each character has as many bits as the one before
	}
	copy(raw, s.coded)
	return end
}

// alike returns the characters that may replace c in a text in Huffman's code: they have as many bits. Letters become rare ones,
// except those of five bits, which are all frequent. Signs stay.
func alike(c byte) string { return alikes()[c] }

var alikes = sync.OnceValue(func() *[256]string {
	var table [256]string
	bits := func(c byte) uint64 { return hpack.HuffmanEncodeLength(string(bytes.Repeat([]byte{c}, 8))) }
	for c := range 256 {
		var of string
		switch c := byte(c); {
		case c >= '0' && c <= '9':
			of = "0123456789"
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			switch bits(c) {
			case bits('a'):
				of = "aceiost"
			case bits('b'):
				of = "ghp"
			case bits('j'):
				if of = "jkqvwxz"; c < 'a' {
					of = "GHJKPQVW"
				}
			default:
				of = "XZ"
			}
		case c >= 0x80:
			for o := 0x80; o <= 0xff; o++ {
				of += string([]byte{byte(o)})
			}
		}
		var same []byte
		for i := range len(of) {
			if bits(of[i]) == bits(byte(c)) {
				same = append(same, of[i])
			}
		}
		table[c] = string(same)
	}
	return &table
})
