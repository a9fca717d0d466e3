package dubbo

import "slices"

// chain is a sequence of adjacent frames.
type chain struct {
	start, end int64 // positions; start is -1 without a chain
	acceptFrom int64 // the position from which it is accepted, -1 before that
	doubtful   int64 // the position before which it did not break, if the evidence is too weak; else 0
	last       Header
	frames     int
	kinds      messageKinds // of its frames except events

	// A response is due if it answers a request of the other direction.
	due, notDue int
	dueInRow    int           // due responses in a row, if bodies may nest: a request or another response ends the row
	dueIDs      [maxDue]int64 // the ids of the latest of them

	held     []heldRequest // its requests, at most maxHeldRequests
	answered int           // number of answered requests
	idDrops  int           // number of requests with a lower id than the one before

	hits      int   // writes that start with one of its frames
	misses    int   // writes that start inside a frame
	hitsInRow int   // since the last miss
	secondHit int64 // the position of the second of these
}

// empty returns an empty chain that reuses the memory of c.
func (c *chain) empty() chain { return chain{start: -1, acceptFrom: -1, held: c.held[:0]} }

// messageKinds is a set of kinds of messages.
type messageKinds uint8

const (
	responses messageKinds = 1 << iota
	requests
)

// heldRequest is a request in a chain and the position of its end.
type heldRequest struct {
	id, end  int64
	answered bool
}

// maxHeldRequests is the maximum number of requests of a chain that responses are matched with.
const maxHeldRequests = 256

// enoughBytes is the length from which a chain is accepted without other evidence.
const enoughBytes = 64 << 10

// minDue and maxDue are the limits of the number of due responses in a row that are needed if bodies contain frames.
const minDue, maxDue = 6, 24

// minAnswers is the number of answered requests that a chain needs if nesting is unknown.
const minAnswers = 4

// asks reports whether a request with that id is in the chain.
func (c *chain) asks(id int64) bool {
	return slices.ContainsFunc(c.held, func(q heldRequest) bool { return q.id == id && q.end > c.start })
}

// extend appends a complete frame with header h to the chain and sets the position from which the chain is accepted.
//
// The evidence for a chain is what bytes inside a body cannot have: it is long, its responses are due, its requests are
// answered, or writes begin with its frames. If bodies of this direction contain frames, the chain must be longer than the
// bodies, or there must be several pieces of evidence in a row that a copy of earlier traffic cannot have. Then the chain is
// accepted only from the last of these pieces, because a chain inside a body may end at the end of the body.
func (r *resynchronizer) extend(h *Header) {
	s := r.search
	at := s.end
	s.end += int64(h.FrameLen())
	s.frames++
	s.last = *h
	mayBeBody := r.mayBeBody()
	if mayBeBody {
		s.noteWrites(at)
		if r.nesting != nests {
			r.inspectWhole(s.window[at+HeaderLen-s.base:s.end-s.base], h.ID)
		}
	}
	switch {
	case h.Event():
	case h.Request():
		r.noteRequest(h.ID)
	case r.isDue(h.ID):
		s.kinds |= responses
		s.due++
		r.noteDue(h.ID, at)
	default:
		s.kinds |= responses
		s.notDue++
		r.endDueRow()
	}
	if s.phase() == accepted {
		return
	}
	switch {
	case r.mayNest() && at-s.start >= max(enoughBytes, int64(r.longest)*5/4):
		if s.acceptFrom = at; r.nesting != nests && s.inOrder() {
			s.acceptFrom = s.start
		}
	case !mayBeBody:
	case r.aligned(0):
		s.acceptFrom = s.start
	case r.mayNest() && s.hitsInRow >= 3:
		s.acceptFrom = s.secondHit // the first may be an accident: a body and a frame inside it may end together
	}
	if s.phase() == following && !r.mayNest() && at > s.start && s.end-s.start >= enoughBytes {
		s.acceptFrom = s.start
	}
}

// noteRequest records the request at the end of the chain.
func (r *resynchronizer) noteRequest(id int64) {
	s := r.search
	s.kinds |= requests
	if w := &r.ids[1]; len(s.held) < maxHeldRequests && w.near(id) && !w.repeats(id) {
		if k := len(s.held); k > 0 && s.held[k-1].id >= id {
			s.idDrops++
		}
		s.held = append(s.held, heldRequest{id: id, end: s.end})
	}
	r.endDueRow()
}

// endDueRow ends the row of due responses, if such rows count.
func (r *resynchronizer) endDueRow() {
	if r.mayNest() {
		r.search.dueInRow = 0
	}
}

// noteDue records a due response of the chain at a position.
func (r *resynchronizer) noteDue(id, at int64) {
	s := r.search
	if slices.Contains(s.dueIDs[:min(s.dueInRow, len(s.dueIDs))], id) {
		r.endDueRow()
		return
	}
	s.dueIDs[s.dueInRow%len(s.dueIDs)] = id
	s.dueInRow++
	switch {
	case r.mayNest() && s.dueInRow >= minDue && s.dueInRow >= r.enoughDue(id):
		s.acceptFrom = at
		if r.nesting != nests && s.notDue == 0 && s.kinds == responses {
			s.acceptFrom = s.start // all of its responses are due
		}
	case !r.mayNest() && s.dueInRow >= 2 && s.notDue == 0:
		s.acceptFrom = s.start
	}
}

// enoughDue returns the number of due responses in a row that are enough. It depends on the share of ids around id that are
// due: random ids from that range would all be due less than once in ten million times.
func (r *resynchronizer) enoughDue(id int64) int {
	n := 0
	for d := int64(1); d <= 16; d++ {
		for _, other := range [2]int64{id - d, id + d} {
			if r.isDue(other) {
				n++
			}
		}
	}
	switch {
	case n <= 2:
		return minDue
	case n <= 4:
		return 8
	case n <= 8:
		return 12
	}
	return maxDue
}

// refuteChain records that the frames of the chain were part of a body, because the chain broke.
func (r *resynchronizer) refuteChain() {
	s := r.search
	if s.start > s.lastRefuted { // no frame before it will be looked at again
		s.forgetRefuted()
	}
	if s.refuted == nil {
		s.refuted = make(map[int64]struct{})
	}
	for at := s.start; at < s.end; {
		s.refuted[at] = struct{}{}
		s.lastRefuted = max(s.lastRefuted, at)
		h := parseHeader(s.window[at-s.base:])
		at += int64(h.FrameLen())
	}
	if r.mayBeBody() && s.doubtful == 0 && s.kinds != 0 {
		r.nesting = nests
	}
	s.scanned, s.start, s.acceptFrom = s.start+1, -1, -1
}

// forgetRefuted empties the set of refuted positions. A large one is not kept: emptying it takes as long as it was once large.
func (s *search) forgetRefuted() {
	if len(s.refuted) > maxKeptRefuted {
		s.refuted = nil
	}
	clear(s.refuted)
	s.lastRefuted = 0
}

// maxKeptRefuted is the number of refuted positions whose memory is kept.
const maxKeptRefuted = 64
