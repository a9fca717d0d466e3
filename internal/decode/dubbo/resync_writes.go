package dubbo

import "sort"

// Packets tell of frames, too. A sender writes whole frames, and what it writes begins a packet when all before was sent: after a
// packet that is not full, which is the end of a write, a frame starts. The bytes of a long body fill their packets, and a
// packet of it that is not full has nothing to do with the frames inside.

// boundary says what a byte follows.
type boundary uint8

const (
	noBoundary boundary = iota
	afterGap            // it is the first after a gap
	atJoin              // it is the first of a direction that was joined midway
)

// noteDelivery takes note of n bytes that are searched, and reports whether a write starts with them: a packet after one that
// was not full.
func (r *resynchronizer) noteDelivery(n int, c *Chunk) (write bool) {
	if c.Overhead > 0 {
		write = r.packet > 0 && r.packet < r.biggest
		r.packet = 0
	}
	if r.next != noBoundary {
		write, r.packet = false, 0
	}
	r.packet += uint16(min(n, 1<<16-1-int(r.packet)))
	r.biggest = max(r.biggest, r.packet)
	return write
}

// startsStream reports whether b, the first bytes of a direction joined midway, start a frame: the packet that was captured
// first begins with a legal header and a body that starts as bodies do. There is no better place, so its end and all of its
// body need not be there, and what it holds does not matter.
func (r *resynchronizer) startsStream(b []byte) bool {
	if len(b) < HeaderLen {
		return false
	}
	h, c := parseHeader(b), r.framer.cfg.Recognizer
	n := min(startLen, h.BodyLen)
	return c.legal(&h, r.framer.cfg.MaxSearchBody) && len(b)-HeaderLen >= n && c.startsLike(&h, b[HeaderLen:HeaderLen+n])
}

// noteWrites takes note of the writes that begin with the chain's frame at a place, or inside it.
func (s *search) noteWrites(at int64) {
	if at == 0 && s.boundary != noBoundary {
		s.noteHit(at)
	}
	off := int(at - s.base)
	end := int(s.end - s.base)
	i := sort.Search(len(s.deliveries), func(i int) bool { return s.deliveries[i].off >= off })
	for ; i < len(s.deliveries) && s.deliveries[i].off < end; i++ {
		switch d := &s.deliveries[i]; {
		case !d.write:
		case d.off == off:
			s.noteHit(at)
		default:
			s.misses++
			s.hitsInRow = 0
		}
	}
}

// noteHit takes note of a write at a place where a frame starts.
func (c *chain) noteHit(at int64) {
	c.hits++
	if c.hitsInRow++; c.hitsInRow == 2 {
		c.secondHit = at
	}
}

// aligned reports whether writes, and more of them, speak for all of a chain where nesting is unknown: two suffice for one
// that is in order.
func (r *resynchronizer) aligned(more int) bool {
	s := r.search
	// What was asked before the capture began is not known to be due.
	if r.nesting != nestingUnknown || s.misses > s.hits || !s.inOrder() && (r.gapped || s.kinds != responses) {
		return false
	}
	return s.hits+more >= 2 || r.postponed != nil && s.hits+more+r.postponedHits() >= 3
}

// inOrder reports whether the chain's messages are of one kind, and its requests in the order of their ids, nearly, or most
// of its responses due.
func (c *chain) inOrder() bool {
	switch c.kinds {
	case responses:
		return c.notDue <= c.due
	case requests:
		return c.idDrops*4 <= len(c.held)
	}
	return c.kinds == 0
}

// acceptsUnbroken reports whether a chain is accepted that did not break before bytes are missing or the stream ends; rest is
// the bytes after its last frame.
func (r *resynchronizer) acceptsUnbroken(rest int, missing int64) bool {
	if !r.mayNest() {
		return true
	}
	more := 0
	if rest == 0 {
		if missing == streamEnds && !r.gapped && r.nesting != nests && r.search.kinds != requests|responses {
			return true // the last frame ends where the stream does, and nothing is missing but its beginning
		}
		more = 1 // its end is one of a packet
	}
	return r.aligned(more)
}
