package scrub

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// mapper is the [decode.Mapper] of a Scrubber.
type mapper struct {
	prf        *prf
	record     func(original string)
	texts      *textCache
	shortTexts *shortTextCache
	// numbers and floats are caches as well.
	numbers, floats numberCache
	fewInts         [fewInts]int16 // plus fewInts; 0: not known
	runes           []rune
	key             []byte
	// salt chooses among replacements if the first one does not fit; plain replaces letters and digits only.
	salt  byte
	plain bool
	// name, if it is not "", is what texts consist of.
	name string
	// calendar says that integers are parts of a date or a time.
	calendar bool
}

// Scrubber replaces the values of messages. It is not safe for concurrent use.
type Scrubber struct {
	mapper
	formats  []decode.Format
	decoders rpc.Decoders
	refilled [2]rpc.Decoders // take turns after values became filler
	bodies   map[*decode.Format]decode.BodyScrubber
	learned  map[place]uint8 // the strategies that worked
	filled   []Filled
	left     int
	original []byte // of the message
	edits    []edit
	misread  bool // the message holds a name that cannot be one
	heads    bool // KeepHeads was called
	kept     []bool
	job      job // kept for its memory
	// trace, in tests, is called when the strategy before this one did not work for node i.
	trace func(m *rpc.Message, i int, strategy uint8, reason string)
}

// New returns a scrubber for bodies of the given serializations. The key decides the replacement of each value: with one key
// equal values become equal ones in all messages, and nobody can test a guess without it.
func New(formats []decode.Format, key [32]byte) *Scrubber {
	return &Scrubber{
		mapper: mapper{prf: newPRF(key), texts: newTextCache(), shortTexts: newShortTextCache(), numbers: newNumberCache(intSetBits), floats: newNumberCache(floatSetBits)}, formats: formats,
		decoders: rpc.Decoders{Formats: formats}, learned: make(map[place]uint8),
	}
}

// Record makes the scrubber call f with every text and every array of bytes of four bytes or more that it replaces, for tests
// that search for them in the copies.
func (s *Scrubber) Record(f func(original string)) { s.record = f }

// KeepHeads makes the scrubber leave heads as they are: those of its messages have other values already.
func (s *Scrubber) KeepHeads() { s.heads = true }

// Message appends a copy of m to dst: its head, in which only fields have other values, and the body with other values. m has values and the whole body ([rpc.Values]); it is not changed. As many bytes are appended as m has in Head and Body.
//
// The result says what became filler; its parts are valid until the next call.
func (s *Scrubber) Message(dst []byte, m *rpc.Message) ([]byte, Result) {
	dst = s.Head(dst, m)
	at := len(dst)
	dst = append(dst, m.Body...)
	s.filled, s.left = s.filled[:0], 0
	refused := ""
	if m.Plain != nil {
		refused = s.replaceCompressed(dst[at:], m)
	} else {
		s.original = append(s.original[:0], m.Body...)
		s.replaceValues(dst[at:], m)
	}
	return dst, Result{Format: m.Serialization, Filled: s.filled, Left: s.left, Refused: refused}
}

// Head appends a copy of the head of m to dst, with other values as far as it has any.
func (s *Scrubber) Head(dst []byte, m *rpc.Message) []byte {
	at := len(dst)
	dst = append(dst, m.Head...)
	if scrub := m.Protocol.ScrubHead; scrub != nil && !s.heads {
		scrub(dst[at:], m, s)
	}
	return dst
}
