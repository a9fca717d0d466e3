package dubbo

// While it is unknown whether bodies of a direction contain frames, a chain that did not break before the next gap is neither
// accepted nor skipped: its search is postponed. When a later chain is accepted and none of its bodies contains a frame, the
// postponed bytes are searched again with that knowledge. If a body contains a frame, or the stream ends, they are skipped.

// maxPostponed is the maximum number of postponed searches of a direction.
const maxPostponed = 16

// gap is a gap as the framer received it.
type gap struct {
	wire  int64
	chunk Chunk
}

// mayPostpone reports whether the search may be postponed.
func (r *resynchronizer) mayPostpone() bool {
	if r.nesting != nestingUnknown || r.framer.cfg.Buffers.crowded() || !r.search.inOrder() {
		return false
	}
	n := 0
	for s := r.postponed; s != nil; s = s.older {
		n++
	}
	return n < maxPostponed
}

// postpone postpones the search from its chain on.
func (r *resynchronizer) postpone() {
	s := r.search
	s.doubtful = 0
	r.skipTo(s.start)
	s.boundary = noBoundary
	s.older, r.postponed, r.search = r.postponed, s, nil
	r.endStray()
}

// postponedHits returns the number of writes that support the postponed chains.
func (r *resynchronizer) postponedHits() int {
	n := 0
	for s := r.postponed; s != nil; s = s.older {
		n += s.hits
		if rest := len(s.window) - int(s.end-s.base); rest == 0 {
			n++
		}
	}
	return n
}

// replayPostponed is called when the chain of the search is accepted and others were postponed. If all of the chain is
// accepted and none of its bodies contains a frame, it searches everything again and returns true.
func (r *resynchronizer) replayPostponed() bool {
	s := r.search
	if r.nesting != nestingUnknown || s.acceptFrom != s.start || s.kinds == 0 {
		r.dropPostponed()
		return false
	}
	r.nesting = notNesting
	var first *search
	for p := r.postponed; p != nil; {
		p, p.older, first = p.older, first, p
	}
	r.postponed, r.search = nil, nil
	for first != nil {
		p := first
		first, p.older = p.older, nil
		r.next, r.afterLoss = noBoundary, true
		r.replay(p)
		// Bytes skipped since then are missing, too.
		following := s
		if first != nil {
			following = first
		}
		r.framer.Gap(following.deliveries[0].Pos-p.endPos(), p.gap.wire, &p.gap.chunk)
		r.release(p)
	}
	r.next = noBoundary
	r.replay(s)
	r.release(s)
	return true
}

// replay searches the bytes of a window again.
func (r *resynchronizer) replay(s *search) {
	for i := range s.deliveries {
		r.framer.Data(s.window[s.deliveries[i].At:s.deliveries.End(i, len(s.window))], &s.deliveries[i].Chunk)
	}
}

// dropPostponed skips the postponed bytes.
func (r *resynchronizer) dropPostponed() {
	for p := r.postponed; p != nil; p = r.postponed {
		r.postponed = p.older
		r.framer.skip(int64(len(p.window)))
		r.release(p)
	}
}
