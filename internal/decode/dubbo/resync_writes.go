package dubbo

// The sizes of packets are evidence for frames. A sender writes complete frames, and a packet that is not full is the end of a
// write, so a frame starts with the packet after it. A long body fills its packets, and a packet of it that is not full has no
// relation to the frames inside the body.

// boundary is what precedes a byte.
type boundary uint8

const (
	noBoundary boundary = iota
	afterGap            // the first byte after a gap
	atJoin              // the first byte of a direction joined midway
)

// noteDelivery records n searched bytes and reports whether a write starts with them: the packet before was not full.
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

// startsStream reports whether a frame starts at b, the first bytes of a direction joined midway: the first captured packet
// begins with a legal header and a plausible start of a body. No other position is more credible, so the body may be
// incomplete and may contain frames.
func (r *resynchronizer) startsStream(b []byte) bool {
	if len(b) < HeaderLen {
		return false
	}
	h, c := parseHeader(b), r.framer.cfg.Recognizer
	n := min(startLen, h.BodyLen)
	return c.legal(&h, r.framer.cfg.MaxSearchBody) && len(b)-HeaderLen >= n && c.startsLike(&h, b[HeaderLen:HeaderLen+n])
}

// noteWrites records the writes that begin at the start of the frame at a position, or inside it.
func (s *search) noteWrites(at int64) {
	if at == 0 && s.boundary != noBoundary {
		s.noteHit(at)
	}
	off := int(at - s.base)
	end := int(s.end - s.base)
	i := s.deliveries.Find(off)
	for ; i < len(s.deliveries) && s.deliveries[i].At < end; i++ {
		switch d := &s.deliveries[i]; {
		case !d.Write:
		case d.At == off:
			s.noteHit(at)
		default:
			s.misses++
			s.hitsInRow = 0
		}
	}
}

// noteHit records a write at a position where a frame starts.
func (c *chain) noteHit(at int64) {
	c.hits++
	if c.hitsInRow++; c.hitsInRow == 2 {
		c.secondHit = at
	}
}

// aligned reports whether enough writes support the whole chain while nesting is unknown. Two are enough if the chain is in
// order.
func (r *resynchronizer) aligned(more int) bool {
	s := r.search
	// Requests from before the capture are unknown, so their responses are not known to be due.
	if r.nesting != nestingUnknown || s.misses > s.hits || !s.inOrder() && (r.gapped || s.kinds != responses) {
		return false
	}
	return s.hits+more >= 2 || r.postponed != nil && s.hits+more+r.postponedHits() >= 3
}

// inOrder reports whether all messages of the chain are of one kind, and whether its requests are nearly in the order of their
// ids or most of its responses are due.
func (c *chain) inOrder() bool {
	switch c.kinds {
	case responses:
		return c.notDue <= c.due
	case requests:
		return c.idDrops*4 <= len(c.held)
	}
	return c.kinds == 0
}

// acceptsUnbroken reports whether to accept a chain that did not break before a gap or the end of the stream. rest is the
// bytes after its last frame.
func (r *resynchronizer) acceptsUnbroken(rest int, missing int64) bool {
	if !r.mayNest() {
		return true
	}
	more := 0
	if rest == 0 {
		if missing == streamEnds && !r.gapped && r.nesting != nests && r.search.kinds != requests|responses {
			return true // the last frame ends with the stream, and only the beginning of the stream is missing
		}
		more = 1 // it ends at the end of a packet
	}
	return r.aligned(more)
}
