package decode

import (
	"encoding/binary"
)

// nameCache keeps one copy of each name that bodies repeat, such as the names of fields. A table indexed by a hash of a few
// bytes finds names that were used recently, a map the others.
type nameCache struct {
	recent []string // by slot
	all    map[string]string
}

// Names beyond these bounds are not kept: they are data, not vocabulary.
const (
	maxNameLen = 128
	maxNames   = 4096
)

// slotBits is the number of bits of a slot.
const slotBits = 9

// get returns b, which is UTF-8, as a string.
func (n *nameCache) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if n.recent == nil {
		n.recent = make([]string, 1<<slotBits)
	}
	at := &n.recent[slot(b)]
	if *at == string(b) {
		return *at
	}
	s, ok := n.all[string(b)]
	if !ok {
		s = UTF8(b)
		if len(b) > maxNameLen {
			return s
		}
		if len(n.all) >= maxNames {
			clear(n.all)
		}
		if n.all == nil {
			n.all = make(map[string]string)
		}
		n.all[string(b)] = s
	}
	if s == string(b) {
		*at = s
	}
	return s
}

// slot hashes the length, the first eight and the last eight bytes of b, which is not empty. Names that a peer makes
// collide cost only a look-up in the map.
func slot(b []byte) uint64 {
	var head, tail uint64
	switch n := len(b); {
	case n >= 8:
		head, tail = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	default:
		head, tail = uint64(b[0])<<8|uint64(b[n/2]), uint64(b[n-1])
	}
	return (head*0x9e3779b97f4a7c15 ^ (tail+uint64(len(b)))*0xc2b2ae3d27d4eb4f) >> (64 - slotBits)
}
