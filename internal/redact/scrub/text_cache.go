package scrub

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// maxShortText is how many bytes a text of a shortText may have.
const maxShortText = 15

// shortText is a text of at most maxShortText bytes: they come first, the length is in the last byte.
type shortText struct{ low, high uint64 }

// shortTextOf returns b, which has from 1 to maxShortText bytes.
func shortTextOf(b []byte) shortText {
	n := len(b)
	length := uint64(n) << 56
	switch {
	case n >= 8:
		return shortText{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])>>(8*(16-n)) | length}
	case n >= 4:
		return shortText{uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4)), length}
	}
	return shortText{uint64(b[0]) | uint64(b[n/2])<<(8*(n/2)) | uint64(b[n-1])<<(8*(n-1)), length}
}

// put writes the bytes of the text to b, which has as many.
func (t shortText) put(b []byte) {
	n := len(b)
	switch {
	case n >= 8:
		binary.LittleEndian.PutUint64(b[n-8:], t.low>>(8*(n-8))|t.high<<(8*(16-n)))
		binary.LittleEndian.PutUint64(b, t.low)
	case n >= 4:
		binary.LittleEndian.PutUint32(b[n-4:], uint32(t.low>>(8*(n-4))))
		binary.LittleEndian.PutUint32(b, uint32(t.low))
	default:
		b[n-1], b[n/2], b[0] = byte(t.low>>(8*(n-1))), byte(t.low>>(8*(n/2))), byte(t.low)
	}
}

// shortTextMasks are the bytes of a shortText by its length.
var shortTextMasks = func() (m [maxShortText + 1][2]uint64) {
	for n := range m {
		m[n] = [2]uint64{1<<(8*min(n, 8)) - 1, 1<<(8*max(0, n-8)) - 1}
	}
	return m
}()

// shortTextIn is shortTextOf of the first n bytes of b, which has 16 or more, without branches.
func shortTextIn(b []byte, n int) shortText {
	m := &shortTextMasks[n]
	return shortText{binary.LittleEndian.Uint64(b) & m[0], binary.LittleEndian.Uint64(b[8:])&m[1] | uint64(n)<<56}
}

// putIn is put of a text of n bytes that b, which has 16 or more, begins with.
func (t shortText) putIn(b []byte, n int) {
	m := &shortTextMasks[n]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^m[0]|t.low)
	binary.LittleEndian.PutUint64(b[8:], binary.LittleEndian.Uint64(b[8:])&^m[1]|t.high&m[1])
}

// shortTextCache remembers the replacements of short texts, which most texts are.
type shortTextCache struct {
	seed [2]uint64 // random in each process, so that a capture cannot force collisions
	sets []shortTextSet
}

// shortTextSet is four texts, two lines of the processor's cache: the one that came last is the first one.
type shortTextSet [4]knownShortText

// knownShortText is a text and its replacement; the text is zero, as none is, if there is none.
type knownShortText struct{ is, becomes shortText }

const shortTextSets = 1 << 15

func newShortTextCache() *shortTextCache {
	return &shortTextCache{seed: [2]uint64{rand.Uint64(), rand.Uint64()}, sets: make([]shortTextSet, shortTextSets)}
}

// hash returns a hash of a text. The text is in the set of that number, modulo shortTextSets, if it is known.
func (c *shortTextCache) hash(t shortText) uint64 {
	high, low := bits.Mul64(t.low^c.seed[0], t.high^c.seed[1])
	return high ^ low
}

// find returns the replacement of a text with its hash, nil if it is not known.
func (c *shortTextCache) find(t shortText, hash uint64) *shortText {
	set := &c.sets[hash%shortTextSets]
	for i := range set {
		if set[i].is == t {
			return &set[i].becomes
		}
	}
	return nil
}

// add adds a text that is not known.
func (c *shortTextCache) add(t, becomes shortText, hash uint64) {
	set := &c.sets[hash%shortTextSets]
	copy(set[1:], set[:3])
	set[0] = knownShortText{t, becomes}
}

// textCache remembers the replacements of longer texts, which come again in most captures. What is found in it does not depend on what was
// added before.
type textCache struct {
	seed  maphash.Seed // random in each process, so that a capture cannot force collisions
	slots []textSlot
	bytes []byte // originals, each followed by its replacement of as many bytes
}

// textSlot is a text in a textCache: its hash, where it is and its length in bytes, 0 for none.
type textSlot struct {
	hash   uint64
	at, of uint32
}

const (
	textSlots    = 1 << 16
	maxTextBytes = 8 << 20
	maxCachedLen = 64 << 10 // bytes of a text
)

func newTextCache() *textCache {
	return &textCache{seed: maphash.MakeSeed(), slots: make([]textSlot, textSlots)}
}

// hash returns the hash of a text.
func (c *textCache) hash(text []byte) uint64 { return maphash.Bytes(c.seed, text) }

// find returns the replacement of a text with its hash, nil if it is not known.
func (c *textCache) find(text []byte, hash uint64) (replacement []byte) {
	for way := range uint64(2) {
		s := &c.slots[hash%textSlots^way]
		if at, n := int(s.at), int(s.of); s.hash == hash && n == len(text) && string(c.bytes[at:at+n]) == string(text) {
			return c.bytes[at+n : at+2*n]
		}
	}
	return nil
}

// add adds a text that is not known, which has at least one byte, with its hash and without a replacement. It returns where the
// replacement is to be written.
func (c *textCache) add(text []byte, hash uint64) []byte {
	n := len(text)
	if len(c.bytes)+2*n > maxTextBytes {
		clear(c.slots)
		c.bytes = c.bytes[:0]
	}
	s := &c.slots[hash%textSlots]
	if s.of > 0 {
		s = &c.slots[hash%textSlots^1]
	}
	if k := cap(c.bytes); k < len(c.bytes)+2*n {
		c.bytes = append(make([]byte, 0, min(maxTextBytes, max(4*k, 32*n))), c.bytes...)
	}
	at := len(c.bytes)
	*s = textSlot{hash, uint32(at), uint32(n)}
	c.bytes = append(append(c.bytes, text...), text...)
	return c.bytes[at+n:]
}
