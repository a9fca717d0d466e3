package dubbo

import "bytes"

// resynchronizer finds the next frame of one direction where no place of a header is known: after a gap that took a header,
// after stray bytes, in a connection joined midway. The framer gives it bytes, which it holds until it knows what they are.
// When it accepts a frame, it gives the bytes back from there on; those before are skipped and counted.
//
// A search has three phases. While it is scanning, it looks for a candidate: the magic, a legal header, an id near those seen
// and not one of them, and a body that starts, and reads, as bodies of its serialization do. While it is following, it checks
// that frames stand one after the other from the candidate on: they are a chain. If the chain breaks, all of it was bytes of a
// body, and scanning goes on. Once there is enough evidence for the chain, a frame of it is accepted. At a gap and at the end
// of the stream, a chain that did not break is accepted, postponed or skipped.
//
// Other files have the evidence (resync_chain.go, resync_writes.go, nesting.go), the bytes that are held (resync_window.go)
// and searches that wait for later evidence (resync_postponed.go).
type resynchronizer struct {
	framer    *Framer
	search    *search     // nil while no bytes are held
	postponed *search     // searches that were postponed, the latest first
	stray     *strayRun   // nil without
	bodyTail  *bodyTail   // of the body that is inspected, where it crosses deliveries
	ids       [2]idWindow // of the frames that were found, by request bit
	longest   int32       // the longest body of these, in bytes
	// packet is the bytes of the packet that is being searched so far, biggest the most of any.
	packet, biggest uint16
	next            boundary // what the next byte that is searched follows
	nesting         nesting
	frames          uint8 // counts headers at known places, modulo 256
	inspecting      bool  // the body that is being read is inspected
	lossy           bool  // this direction was joined midway, or lacks bytes
	gapped          bool  // there was a gap
	afterLoss       bool  // the bytes that are searched follow a gap, or are the first of a direction joined midway
	snapCut         bool  // the gap that a search meets is what the snap length cut
	searched        bool  // there was a search
	sawCandidate    bool  // a search met something that has a frame's header and starts as its body does
}

// search is the bytes that are held, and what they may be. Its places are counted from its first byte.
type search struct {
	window     []byte
	store      []byte // where the window is, or was
	base       int64  // place of the window's first byte
	accounted  int    // memory of the search, as Buffers knows it
	deliveries []delivery
	scanned    int64    // no frame starts before it
	boundary   boundary // what the byte at place 0 follows
	chain
	// refuted are places in the window of frames whose chain broke.
	refuted map[int64]struct{}
	// Of a search that was postponed: the gap after its window, and the search that was postponed before.
	gap   gap
	older *search
}

// phase says how far a search has come.
type phase uint8

const (
	scanning  phase = iota // there is no candidate
	following              // a candidate and the frames after it make a chain, which neither broke nor was accepted
	accepted               // a frame is accepted, at acceptFrom
)

func (c *chain) phase() phase {
	switch {
	case c.acceptFrom >= 0:
		return accepted
	case c.start >= 0:
		return following
	}
	return scanning
}

// verdict says what becomes of a candidate or a search.
type verdict uint8

const (
	reject   verdict = iota
	begin            // a chain, with a candidate
	accept           // at acceptFrom
	wait             // more bytes are needed
	postpone         // the search is postponed
)

// What follows the bytes that are held: more bytes may come, the stream ends, or so many bytes are missing.
const (
	moreToCome int64 = 0
	streamEnds int64 = -1
)

// join says that the direction was joined midway.
func (r *resynchronizer) join() { r.lossy, r.afterLoss, r.next = true, true, atJoin }

// mayBeBody reports whether bytes are missing, so that what is searched may be a body whose header was lost.
func (r *resynchronizer) mayBeBody() bool { return r.afterLoss || r.lossy && r.mayNest() }

// take takes b[n:], the next bytes while no place is known; c is b's.
func (r *resynchronizer) take(b []byte, n int, c *Chunk) {
	s := r.search
	first, write := r.next, false
	if n < len(b) {
		r.next = noBoundary
	}
	if n == 0 {
		write = r.noteDelivery(len(b), c)
	}
	if s == nil {
		// Most bytes of a foreign stream end here, without a copy.
		i := magicIn(b[n:])
		r.addStray(b[n : n+i])
		if n += i; n == len(b) {
			return
		}
		s = r.framer.cfg.Buffers.getSearch()
		if i == 0 {
			s.boundary = first
		}
		r.search = s
	}
	d := delivery{len(s.window), *c, write}
	if n > 0 {
		d.write = false
		d.chunk.Pos += int64(n)
		d.chunk.Overhead = 0
	}
	r.hold(b[n:], d)
	r.decide(moreToCome)
}

// magicIn is the offset of the magic in b, or of its beginning at the end of b; len(b) without one.
func magicIn(b []byte) int {
	if i := bytes.Index(b, magic); i >= 0 {
		return i
	}
	if n := len(b); n > 0 && b[n-1] == magic[0] {
		return n - 1
	}
	return len(b)
}

var magic = []byte{0xda, 0xbb}

// decide goes on with the search as far as the held bytes allow; missing says what follows them.
func (r *resynchronizer) decide(missing int64) {
	for r.framer.state == searching && r.search != nil {
		s := r.search
		if len(s.window) > 0 {
			switch r.judge(missing) {
			case accept:
				if r.postponed == nil || !r.replayPostponed() {
					r.resume(s.acceptFrom, -1)
				}
				continue
			case postpone:
				r.postpone()
				return
			}
		}
		if s.phase() != scanning {
			r.skipTo(s.start)
		} else {
			r.skipTo(s.scanned)
		}
		if len(s.window) == 0 {
			r.search = nil
			r.release(s)
		}
		return
	}
}

// judge looks for a frame in the window. wait means that no frame starts before the chain or, without one, before the place
// up to which the window was scanned.
func (r *resynchronizer) judge(missing int64) verdict {
	s := r.search
	for {
		if s.phase() == scanning {
			if v := r.scan(missing); v != begin {
				return v
			}
		}
		if v := r.follow(missing); v != reject {
			return v
		}
		if s.inconclusive && missing > 0 && r.mayPostpone() {
			return postpone
		}
		r.refuteChain()
		if s.inconclusive {
			s.inconclusive = false
			s.scanned = s.base + int64(len(s.window)) // what is inside is no better
		}
	}
}

// scan looks for a candidate, which begins a chain unless it is accepted at once.
func (r *resynchronizer) scan(missing int64) verdict {
	s := r.search
	for {
		b := s.window[s.scanned-s.base:]
		s.scanned += int64(magicIn(b))
		b = s.window[s.scanned-s.base:]
		if len(b) < 2 {
			if missing != moreToCome {
				s.scanned += int64(len(b))
			}
			return wait
		}
		if len(b) >= 4 && !flagsFit(b) {
			s.scanned += 2
			continue
		}
		if _, ok := s.refuted[s.scanned]; ok {
			s.scanned++
			continue
		}
		if s.scanned == 0 && s.boundary == atJoin && r.startsStream(b) {
			s.acceptFrom = 0
			return accept
		}
		h, v := r.candidate(b, missing)
		switch v {
		case wait:
			return wait
		case reject:
			s.scanned++
			continue
		}
		if len(b) < h.FrameLen() {
			s.acceptFrom = s.scanned // its end is missing
			return accept
		}
		s.chain = s.empty()
		s.start, s.end = s.scanned, s.scanned
		r.extend(&h)
		return begin
	}
}

// candidate says whether b starts with a frame, as far as the frame itself tells: reject, wait, or begin.
func (r *resynchronizer) candidate(b []byte, missing int64) (h Header, v verdict) {
	more := wait
	if missing != moreToCome || r.framer.cfg.Buffers.crowded() {
		more = reject
	}
	if len(b) < HeaderLen {
		return h, more
	}
	h = parseHeader(b)
	c := r.framer.cfg.Recognizer
	if !c.legal(&h, r.framer.cfg.MaxSearchBody) || !h.Event() && !r.idFits(&h) {
		return h, reject
	}
	body := b[HeaderLen:]
	start := body[:min(len(body), startLen, h.BodyLen)]
	if len(start) == min(startLen, h.BodyLen) {
		if (!c.knows(&h) || !c.startsLike(&h, start)) && !r.startFits(&h, start) {
			return h, reject
		}
		r.sawCandidate = true
	}
	if len(body) < h.BodyLen {
		if missing > 0 && r.acceptsCut(&h, int64(len(b)), missing) {
			return h, begin
		}
		return h, more
	}
	if r.framer.cfg.Readable != nil && h.readable() && !r.framer.cfg.Readable(&h, body[:min(h.BodyLen, maxRead)]) {
		return h, reject
	}
	return h, begin
}

// startFits reports whether a candidate is accepted whose body does not start as its serialization's do, or of whose
// serialization nothing is known: a request that starts as that of another one, a response that is due.
func (r *resynchronizer) startFits(h *Header, start []byte) bool {
	switch {
	case h.Event():
		return true // judged by its length
	case len(start) == 0:
		return false
	case h.Request():
		return r.framer.cfg.Recognizer.startsOther(start)
	}
	return r.isDue(h.ID)
}

// idFits reports whether a candidate's id is one of a frame that begins a chain.
func (r *resynchronizer) idFits(h *Header) bool {
	w, other := &r.ids[requestBit(h)], &r.ids[1-requestBit(h)]
	switch {
	case !w.near(h.ID):
		return false
	case !r.mayBeBody():
		return true
	case !w.any() && other.any():
		// The first of its kind in this direction, right after a gap.
		return !h.Request() && r.isDue(h.ID)
	}
	return !w.repeats(h.ID)
}

// maxRead bounds what is read of a candidate's body: there may be one every few bytes.
const maxRead = 8 << 10

// readable reports whether what is wanted of a body can be read in its first maxRead bytes: a request's envelope, a
// result's kind, but not any error text.
func (h *Header) readable() bool {
	return h.Request() || h.Status == StatusOK || h.BodyLen <= maxRead
}

// acceptsCut reports whether a candidate is accepted of which have bytes are here and the next missing bytes are not.
func (r *resynchronizer) acceptsCut(h *Header, have, missing int64) bool {
	w := &r.ids[requestBit(h)]
	started := have >= int64(HeaderLen+min(startLen, h.BodyLen)) // and its body starts as it should
	switch {
	case !r.mayBeBody():
		return started && (r.acceptsAlone(h) || int64(h.FrameLen()) == have+missing)
	case r.nesting == nests, !r.snapCut && r.nesting == nestingUnknown:
		return false // frames inside bodies are cut like others
	case int64(h.FrameLen()) == have+missing:
		return started || w.any() // as where the snap length cuts packets with a frame each
	}
	// Frames begin most often at the start of a packet, and their ids go on from those before.
	return r.search.packetStarts(r.search.scanned) && !h.Event() &&
		(w.continues(h.ID) || started && !w.any() || !h.Request() && r.isDue(h.ID))
}

// acceptsAlone reports whether a candidate among stray bytes is accepted although no frame follows: providers before 2.5.6
// that cannot write a result send its beginning after the frame with the error, and may do so again and again. Where the
// capture lacks nothing, a response that is due, or an id right after the last one, is no accident. After a loss both may be
// bytes of a body whose header was lost.
func (r *resynchronizer) acceptsAlone(h *Header) bool {
	if r.mayBeBody() || h.Event() {
		return false
	}
	if a := r.framer.asker(); !h.Request() && a != nil && a.Expected(h.ID) {
		return true
	}
	w := &r.ids[requestBit(h)]
	return w.any() && h.ID != w.last && !w.repeats(h.ID) && w.within(h.ID, nextIDStep)
}

// isDue reports whether a response with that id is due: to a request that was found or, where bodies were never seen to hold
// frames, to one that may have been.
func (r *resynchronizer) isDue(id int64) bool {
	a := r.framer.asker()
	return a != nil && (a.Expected(id) || r.nesting != nests && a.Asked(id))
}

// answersNothing reports whether a response of the chain is not due, and all requests that the other direction sent are
// known.
func (r *resynchronizer) answersNothing() bool {
	if r.search.notDue == 0 || !r.mayBeBody() {
		return false
	}
	a := r.framer.asker()
	return a != nil && !a.Missed()
}

// follow goes on with the chain at its end. reject: the chain is broken.
func (r *resynchronizer) follow(missing int64) verdict {
	s := r.search
	forced := missing != moreToCome || r.framer.cfg.Buffers.crowded()
	mayBeBody := r.mayBeBody()
	for {
		if s.phase() == following && !mayBeBody && r.acceptsAlone(&s.last) {
			s.acceptFrom = s.start
		}
		if r.answersNothing() {
			return reject
		}
		if s.phase() == accepted {
			return accept
		}
		next := s.window[s.end-s.base:]
		zeros := s.last.Status == statusBadResponse && bytes.HasPrefix(zeros16, next[:min(len(next), HeaderLen)])
		if !isMagic(next) && !zeros {
			return reject
		}
		if len(next) < HeaderLen {
			if !forced {
				return wait
			}
			return r.unbroken(mayBeBody, len(next), missing)
		}
		if zeros {
			if mayBeBody && r.mayNest() {
				s.inconclusive = true
				return reject
			}
			s.acceptFrom = s.start
			return accept
		}
		h := parseHeader(next)
		if !r.framer.cfg.Recognizer.legal(&h, r.framer.cfg.MaxSearchBody) {
			return reject
		}
		if _, ok := s.refuted[s.end]; ok {
			return reject
		}
		switch {
		case !mayBeBody:
			s.acceptFrom = s.start
			return accept
		case len(next) >= h.FrameLen():
			r.extend(&h)
		case forced:
			return r.unbroken(mayBeBody, len(next), missing)
		default:
			return wait
		}
	}
}

// unbroken judges a chain that did not break before the held bytes end; rest is the bytes after its last frame.
func (r *resynchronizer) unbroken(mayBeBody bool, rest int, missing int64) verdict {
	s := r.search
	if mayBeBody && !r.acceptsUnbroken(rest, missing) {
		s.inconclusive = true
		return reject
	}
	s.acceptFrom = s.start
	return accept
}

// zeros16 is how the stray bytes begin that a provider of Dubbo 2.5 leaves after an answer with status 50: the room for the
// header of the answer that it could not write, and then what it had written of the body.
var zeros16 = make([]byte, HeaderLen)

// resume goes on at a place in the window, where a frame stands, and skips what is before it. It stops at the place to,
// where another stands, if that is not -1. When no header stands where one is due, the search goes on with the rest.
func (r *resynchronizer) resume(at, to int64) {
	r.skipTo(at)
	r.endStray()
	s, f := r.search, r.framer
	r.search = nil
	f.state, f.resynced, r.afterLoss = atHeader, true, false
	most := len(s.window)
	if to >= 0 {
		most = int(to - s.base)
	}
	for i := range s.deliveries {
		d := &s.deliveries[i]
		end := min(most, s.deliveryEnd(i))
		if d.off >= end {
			break
		}
		n := f.known(s.window[d.off:end], &d.chunk)
		if f.state != searching {
			continue
		}
		// The rest is searched as after stray bytes.
		s.boundary = noBoundary
		s.dropPrefix(d.off + n)
		clear(s.refuted)
		s.base, s.scanned = 0, 0
		s.chain = s.empty()
		r.search = s
		r.setWindow(s.window)
		return
	}
	if most < len(s.window) {
		s.dropPrefix(most)
		s.start, s.end, s.acceptFrom, s.notDue = to, max(s.end, to), to, 0
		r.search, f.state = s, searching
		r.setWindow(s.window)
		return
	}
	r.release(s)
}

// abandon skips what is held.
func (r *resynchronizer) abandon() {
	if s := r.search; s != nil {
		s.start = -1
		r.skipTo(s.base + int64(len(s.window)))
		r.search = nil
		r.release(s)
	}
	r.endStray()
}

// gap says that n bytes are missing after those that are held, and postpones or ends the search.
func (r *resynchronizer) gap(n, wire int64, c *Chunk) {
	r.snapCut = wire > 0
	before := r.postponed
	r.decide(n)
	if r.postponed != before && r.postponed != nil {
		r.postponed.gap = gap{wire, *c}
	}
}

// heldFrom is the place in the stream of the first byte that is held.
func (r *resynchronizer) heldFrom() (pos int64, held bool) {
	s := r.postponed
	for s != nil && s.older != nil {
		s = s.older
	}
	if s == nil && r.framer.state == searching {
		s = r.search
	}
	if s == nil || len(s.deliveries) == 0 {
		return 0, false
	}
	return s.deliveries[0].chunk.Pos, true
}

// holdsChain reports whether frames are held that were not handed on.
func (r *resynchronizer) holdsChain() bool {
	return r.framer.state == searching && r.search != nil && r.search.phase() != scanning
}

// answered is [Framer.Answered].
func (r *resynchronizer) answered(id int64) {
	if !r.holdsChain() || r.nesting == nests {
		return
	}
	s := r.search
	for i := range s.held {
		q := &s.held[i]
		if q.id != id || q.end <= s.start { // what was handed on before is not asked again
			continue
		}
		if r.nesting == nestingUnknown {
			if !q.answered {
				q.answered = true
				s.answered++
			}
			if s.answered < minAnswers || s.kinds != requests || s.idDrops*4 > len(s.held) {
				return
			}
			if s.acceptFrom = s.start; r.postponed != nil && r.replayPostponed() {
				r.answered(id)
				return
			}
		}
		r.resume(s.start, q.end)
		return
	}
}
