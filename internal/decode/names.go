package decode

import (
	"encoding/binary"
)

// names are strings that come again in every body, each kept once: those met lately are found by a few of their bytes,
// the others in a map.
type names struct {
	lately []string // by place
	all    map[string]string
}

// Names beyond these bounds are not kept: they are data, not vocabulary.
const (
	maxNameLen = 128
	maxNames   = 4096
)

// latelyBits is of how many bits the place of a name is.
const latelyBits = 9

// of returns b, which is UTF-8, as a string.
func (n *names) of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if n.lately == nil {
		n.lately = make([]string, 1<<latelyBits)
	}
	at := &n.lately[place(b)]
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

// place mixes the length, the first eight and the last eight bytes of b, of which there is one at least. Names that are
// made to share a place only cost what the map costs.
func place(b []byte) uint64 {
	var head, tail uint64
	switch n := len(b); {
	case n >= 8:
		head, tail = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	default:
		head, tail = uint64(b[0])<<8|uint64(b[n/2]), uint64(b[n-1])
	}
	return (head*0x9e3779b97f4a7c15 ^ (tail+uint64(len(b)))*0xc2b2ae3d27d4eb4f) >> (64 - latelyBits)
}
