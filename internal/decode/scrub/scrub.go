package scrub

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
)

// mapper is the [decode.Mapper] of a Scrubber.
type mapper struct {
	prf    *prf
	record func(original string)
	texts  map[string][]rune
	ascii  map[string]string
	runes  []rune
	key    []byte
	// salt chooses among replacements, where the first one cannot be; plain leaves everything but letters and digits.
	salt  byte
	plain bool
	// calendar: integers are parts of a date or a time.
	calendar bool
}

// Scrubber replaces the values of frames. It is not safe for concurrent use.
type Scrubber struct {
	mapper
	formats  []decode.Format
	all      *dubbo.Decoder            // knows every serialization
	alone    map[string]*dubbo.Decoder // by full name: knows that one
	learned  map[place]uint8           // where the first way does not work
	filled   []Filled
	left     int
	original []byte // of the body at hand
	edits    []edit
	kept     []bool
	// trace, in tests, is called when node i cannot be replaced in the way before this one.
	trace func(m *dubbo.Message, i int, way uint8, why string)
}

// New returns a scrubber for bodies of the given serializations. key decides what becomes of each value: equal values become
// equal ones with one key, in whatever frame, and without it nobody can test what a value may have been.
func New(formats []decode.Format, key [32]byte) *Scrubber {
	return &Scrubber{
		mapper: mapper{prf: newPRF(key), texts: make(map[string][]rune), ascii: make(map[string]string)}, formats: formats,
		all: dubbo.NewDecoder(formats), alone: make(map[string]*dubbo.Decoder), learned: make(map[place]uint8),
	}
}

// Record has f called with every text and every array of bytes that is replaced, of four bytes or more: for tests, which
// look for them in what came out.
func (s *Scrubber) Record(f func(original string)) { s.record = f }

// Frame appends a frame to dst: its header as it is, and its body with other values. f and m are those of a row with values
// and the whole body ([dubbo.Values]); they are not changed. As many bytes are appended as f has of the frame without a
// gap: dubbo.HeaderLen+len(f.Body). What was captured behind a gap is for Filler.
//
// The note, whose parts are valid until the next call, says what became filler.
func (s *Scrubber) Frame(dst []byte, f *dubbo.Frame, m *dubbo.Message) ([]byte, Note) {
	dst = appendHeader(dst, &f.Header)
	at := len(dst)
	dst = append(dst, f.Body...)
	s.filled, s.left = s.filled[:0], 0
	s.original = append(s.original[:0], f.Body...)
	s.scrub(dst[at:], f, m)
	return dst, Note{Format: m.Serialization, Filled: s.filled, Left: s.left}
}

// appendHeader writes a header as it was on the wire.
func appendHeader(dst []byte, h *dubbo.Header) []byte {
	dst = append(dst, 0xda, 0xbb, h.Flags, h.Status)
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.ID))
	return binary.BigEndian.AppendUint32(dst, uint32(int32(h.BodyLen)))
}
