package scrub

import (
	"encoding/binary"
	"math"
	"unsafe"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/prefetch"
)

// together is how many values are looked up at once. The processor loads what the caches have of them while it replaces those before them.
const together = 16

// Values implements [decode.Mapper].
func (s *mapper) Values(b []byte, values []decode.ValueAt) {
	if !s.caches() || s.calendar {
		for _, p := range values {
			switch v := b[p.Off : p.Off+p.Len]; p.Kind {
			case decode.String:
				s.UTF8(v)
			case decode.Int:
				putInt(v, uint64(s.Int(int64(intOf(v)))))
			case decode.Float64:
				putInt(v, math.Float64bits(s.Float(math.Float64frombits(intOf(v)), 64)))
			}
		}
		return
	}
	b = b[:len(b):len(b)]
	var groups [2]group
	s.find(b, values[:min(len(values), together)], &groups[0])
	for now := 0; len(values) > 0; now = 1 - now {
		n := min(len(values), together)
		s.find(b, values[n:min(len(values), n+together)], &groups[1-now])
		s.put(b, values[:n], &groups[now])
		values = values[n:]
	}
}

// group says of some values where they are in the caches, and of texts the hash.
type group struct {
	places [together]unsafe.Pointer
	hashes [together]uint64
}

// find finds where values are in the caches, and begins to load that.
func (s *mapper) find(b []byte, values []decode.ValueAt, g *group) {
	for i, p := range values {
		at := i % together
		switch v := b[p.Off : p.Off+p.Len]; {
		case p.Kind == decode.Int:
			g.places[at] = unsafe.Pointer(&s.numbers[s.numbers.set(intOf(v))][0].is)
		case p.Kind == decode.Float64:
			g.places[at] = unsafe.Pointer(&s.floats[s.floats.set(intOf(v))][0].is)
		case len(v) > maxCachedLen || len(v) == 0:
		case len(v) > maxShortText:
			g.hashes[at] = s.texts.hash(v)
			g.places[at] = unsafe.Pointer(&s.texts.slots[g.hashes[at]%textSlots].hash)
		default:
			text := shortText{}
			if cap(v) >= 16 {
				text = shortTextIn(v[:16], len(v))
			} else {
				text = shortTextOf(v)
			}
			g.hashes[at] = s.shortTexts.hash(text)
			g.places[at] = unsafe.Pointer(&s.shortTexts.sets[g.hashes[at]%shortTextSets][0].is.low)
		}
	}
	prefetch.Places(g.places[:])
}

// put replaces the values of a group.
func (s *mapper) put(b []byte, values []decode.ValueAt, g *group) {
	for i, p := range values {
		at := i % together
		switch v := b[p.Off : p.Off+p.Len]; {
		case p.Kind == decode.Int:
			putInt(v, uint64(s.Int(int64(intOf(v)))))
		case p.Kind == decode.Float64:
			putInt(v, math.Float64bits(s.Float(math.Float64frombits(intOf(v)), 64)))
		case len(v) > maxCachedLen || len(v) == 0:
			s.UTF8(v)
		case len(v) > maxShortText:
			s.replaceLong(v, g.hashes[at])
		case cap(v) < 16:
			s.replaceShort(v, shortTextOf(v), g.hashes[at])
		default:
			w, n := v[:16], len(v)
			text := shortTextIn(w, n)
			if known := s.shortTexts.find(text, g.hashes[at]); known != nil {
				known.putIn(w, n)
			} else {
				s.replaceShort(v, text, g.hashes[at])
			}
		}
	}
}

// intOf returns the integer of 4 or 8 bytes that v is, the highest byte first.
func intOf(v []byte) uint64 {
	if len(v) == 4 {
		return uint64(int32(binary.BigEndian.Uint32(v)))
	}
	return binary.BigEndian.Uint64(v)
}

// putInt writes the integer of 4 or 8 bytes that v is.
func putInt(v []byte, n uint64) {
	if len(v) == 4 {
		binary.BigEndian.PutUint32(v, uint32(n))
		return
	}
	binary.BigEndian.PutUint64(v, n)
}
