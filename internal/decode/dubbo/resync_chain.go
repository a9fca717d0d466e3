package dubbo

import "slices"

// chain is frames that stand one after the other.
type chain struct {
	start, end   int64 // its places; start is -1 where there is none
	acceptFrom   int64 // the place from which on it is accepted, -1 until then
	inconclusive bool  // it did not break, but there is too little evidence for it
	last         Header
	frames       int
	kinds        messageKinds // of its frames beside events

	// Responses that are due answer a request of the other direction.
	due, notDue int
	dueInRow    int           // without a request or a response that is not due between them, where bodies may nest
	dueIDs      [maxDue]int64 // the ids of the latest of these

	held     []heldRequest // its requests, as far as there is room
	answered int           // how many of them were answered
	idDrops  int           // how many have a lower id than the one before

	hits      int   // starts of writes where one of its frames starts
	misses    int   // and where none does
	hitsInRow int   // since the last miss
	secondHit int64 // the place of the second of these
}

// empty returns no chain, with the memory of c.
func (c *chain) empty() chain { return chain{start: -1, acceptFrom: -1, held: c.held[:0]} }

// messageKinds is a set.
type messageKinds uint8

const (
	responses messageKinds = 1 << iota
	requests
)

// heldRequest is a request in a chain, and its end.
type heldRequest struct {
	id, end  int64
	answered bool
}

// maxHeldRequests bounds the requests of a chain that an answer finds.
const maxHeldRequests = 256

// enoughBytes is how long a chain must be to be accepted without other evidence.
const enoughBytes = 64 << 10

// minDue and maxDue are how many responses in a row have to be due before one that is due is accepted where bodies hold
// frames.
const minDue, maxDue = 6, 24

// minAnswers is how many requests of a chain have to be answered where nesting is unknown.
const minAnswers = 4

// asks reports whether a request with that id is in the chain.
func (c *chain) asks(id int64) bool {
	return slices.ContainsFunc(c.held, func(q heldRequest) bool { return q.id == id && q.end > c.start })
}

// extend takes a complete frame with header h at the chain's end into the chain, and says from where on the chain is to be
// accepted now.
//
// The evidence for a chain is what bytes inside a body cannot have: that it goes on for long, that its responses are those that
// are due, that its requests are answered, that writes begin with its frames. Where bodies of this direction hold frames, the
// chain must be longer than they are, or there must be several pieces of evidence in a row, which no copy of earlier traffic
// has; and it is accepted only from the last of these on, since a chain inside a body may end where the body does.
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
		s.acceptFrom = s.secondHit // the first may be chance, in a body that ends where what it holds does
	}
	if s.phase() == following && !r.mayNest() && at > s.start && s.end-s.start >= enoughBytes {
		s.acceptFrom = s.start
	}
}

// noteRequest takes note of a request in the chain, which ends with it.
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

// endDueRow ends the row of due responses, where such rows count.
func (r *resynchronizer) endDueRow() {
	if r.mayNest() {
		r.search.dueInRow = 0
	}
}

// noteDue takes note of a response in the chain, at a place, that is due.
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
			s.acceptFrom = s.start // all of it is due
		}
	case !r.mayNest() && s.dueInRow >= 2 && s.notDue == 0:
		s.acceptFrom = s.start
	}
}

// enoughDue is how many due responses in a row are enough, by how many of the ids around id are due: so many that ids drawn
// from there would all be due less often than once in ten million times.
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

// refuteChain notes that the chain's frames are none: where it broke they were bytes of a body.
func (r *resynchronizer) refuteChain() {
	s := r.search
	if s.refuted == nil {
		s.refuted = make(map[int64]struct{})
	}
	for at := s.start; at < s.end; {
		s.refuted[at] = struct{}{}
		h := parseHeader(s.window[at-s.base:])
		at += int64(h.FrameLen())
	}
	if r.mayBeBody() && !s.inconclusive && s.kinds != 0 {
		r.nesting = nests
	}
	s.scanned, s.start, s.acceptFrom = s.start+1, -1, -1
}
