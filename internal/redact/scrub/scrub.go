package scrub

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
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
	decoders rpc.Decoders
	learned  map[place]uint8 // where the first way does not work
	filled   []Filled
	left     int
	original []byte // of the body at hand
	edits    []edit
	kept     []bool
	// trace, in tests, is called when node i cannot be replaced in the way before this one.
	trace func(m *rpc.Message, i int, way uint8, why string)
}

// New returns a scrubber for bodies of the given serializations. key decides what becomes of each value: equal values become
// equal ones with one key, in whatever frame, and without it nobody can test what a value may have been.
func New(formats []decode.Format, key [32]byte) *Scrubber {
	return &Scrubber{
		mapper: mapper{prf: newPRF(key), texts: make(map[string][]rune), ascii: make(map[string]string)}, formats: formats,
		decoders: rpc.Decoders{Formats: formats}, learned: make(map[place]uint8),
	}
}

// Record has f called with every text and every array of bytes that is replaced, of four bytes or more: for tests, which
// look for them in what came out.
func (s *Scrubber) Record(f func(original string)) { s.record = f }

// Message appends a message to dst: its header as it is, and its body with other values. m is that of a row with values and
// the whole body ([rpc.Values]); it is not changed. As many bytes are appended as m has in Head and Body.
//
// The note, whose parts are valid until the next call, says what became filler.
func (s *Scrubber) Message(dst []byte, m *rpc.Message) ([]byte, Note) {
	dst = append(dst, m.Head...)
	at := len(dst)
	dst = append(dst, m.Body...)
	s.filled, s.left = s.filled[:0], 0
	s.original = append(s.original[:0], m.Body...)
	s.scrub(dst[at:], m)
	return dst, Note{Format: m.Serialization, Filled: s.filled, Left: s.left}
}
