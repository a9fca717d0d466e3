package redact

import "dubbo-wire/internal/rpc"

// slab is memory for messages and their copies, which is used again when no claim needs any of it.
type slab struct {
	b    []byte
	used int
	refs int
}

const (
	slabSize = 256 << 10
	maxSlabs = 256 // that are kept without use
	// fewAllocations are made one by one.
	fewAllocations = 6
)

// original returns the bytes of a message, with room for as many, and the slab that they are in, as room does. If the protocol
// may have a message in several places, the bytes are valid until the next call, because claims copy them.
func (r *Redactor) original(m *rpc.Message) ([]byte, *slab) {
	n := 2 * (len(m.Head) + len(m.Body))
	both, s := r.pieced[:0], (*slab)(nil)
	if m.Protocol.ScrubHead == nil {
		both, s = r.room(n)
	} else if cap(both) < n {
		both = make([]byte, 0, n)
		if n <= slabSize {
			r.pieced = both
		}
	}
	return append(append(both, m.Head...), m.Body...), s
}

// room returns an empty slice with room for n bytes, and the slab that it is in, which is nil for long ones. The slab is needed until release is
// called for it.
func (r *Redactor) room(n int) ([]byte, *slab) {
	if n > slabSize/2 {
		return make([]byte, 0, n), nil
	}
	s := r.slab
	if s == nil || len(s.b)-s.used < n {
		if s != nil {
			r.release(s)
		}
		if k := len(r.slabs); k > 0 {
			s, r.slabs = r.slabs[k-1], r.slabs[:k-1]
		} else {
			s = &slab{b: r.allocate(slabSize)}
		}
		s.used, s.refs = 0, 1
		r.slab = s
	}
	b := s.b[s.used : s.used : s.used+n]
	s.used += n
	s.refs++
	return b, s
}

// allocate returns n bytes for messages or packets. After the first ones they are parts of one allocation for most that is kept.
func (r *Redactor) allocate(n int) []byte {
	if r.allocated++; r.allocated == fewAllocations {
		r.mapped = mapMemory(r.opt.Memory + r.opt.Window/2)
		r.block = r.mapped
	}
	if len(r.block) < n {
		return make([]byte, n)
	}
	b := r.block[:n:n]
	r.block = r.block[n:]
	return b
}

// release says that something needs its bytes of a slab no more.
func (r *Redactor) release(s *slab) {
	if s == nil {
		return
	}
	if s.refs--; s.refs == 0 && len(r.slabs) < maxSlabs {
		r.slabs = append(r.slabs, s)
	}
}
