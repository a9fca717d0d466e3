package scrub

import "hash/maphash"

// textCache remembers the replacements of texts, which come again in most captures. What is found in it does not depend on what was
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

// find returns the replacement of a text, nil if it is not known, and the hash of the text.
func (c *textCache) find(text []byte) (replacement []byte, hash uint64) {
	hash = maphash.Bytes(c.seed, text)
	for way := range uint64(2) {
		s := &c.slots[hash%textSlots^way]
		if at, n := int(s.at), int(s.of); s.hash == hash && n == len(text) && string(c.bytes[at:at+n]) == string(text) {
			return c.bytes[at+n : at+2*n], hash
		}
	}
	return nil, hash
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
	at := len(c.bytes)
	*s = textSlot{hash, uint32(at), uint32(n)}
	c.bytes = append(append(c.bytes, text...), text...)
	return c.bytes[at+n:]
}
