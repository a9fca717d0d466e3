package dubbo

import (
	"bytes"

	"dubbo-wire/internal/rpc"
)

// resynchronizer finds the next frame of one direction when the position of the next header is unknown: after a gap that
// contained a header, after stray bytes, in a connection joined midway. The framer passes it bytes, and it holds them until it
// knows what they are. When it accepts a frame, it returns the bytes from that frame on; the bytes before are skipped and
// counted.
//
// A search has three phases. While scanning, it looks for a candidate: the magic, a legal header, a new id near the ids seen
// before, and a body that starts and reads like a body in its serialization. While following, it checks that one frame follows
// another from the candidate on; these frames are a chain. If the chain breaks, all of it was part of a body, and scanning
// continues. When there is enough evidence for the chain, one of its frames is accepted. At a gap and at the end of the
// stream, a chain that did not break is accepted, postponed or skipped.
//
// Other files have the evidence (resync_chain.go, resync_writes.go, nesting.go), the held bytes (resync_window.go) and the
// searches that wait for later evidence (resync_postponed.go).
type resynchronizer struct {
	framer     *Framer
	*undecided             // change it only through own
	ids        [2]idWindow // ids of the frames found so far, by request bit
	longest    int32       // the longest body of these frames, in bytes
	// packet is the number of bytes searched so far in the current packet, biggest the maximum over all packets.
	packet, biggest uint16
	next            boundary // what precedes the next byte to search
	nesting         nesting
	frames          uint8 // headers at known positions; from 256 on only modulo 16
	inspecting      bool  // the current body is inspected
	lossy           bool  // this direction was joined midway, or lacks bytes
	gapped          bool  // a gap occurred
	afterLoss       bool  // the searched bytes follow a gap or are the first of a direction joined midway
	snapCut         bool  // the gap at the end of a search comes from the snap length
	searched        bool  // a search took place
	sawCandidate    bool  // a search found a legal header and a plausible start of a body
}

// undecided is what only a direction with a search or with stray bytes has. All others share one value.
type undecided struct {
	search    *search   // nil while no bytes are held
	postponed *search   // postponed searches, the latest first
	stray     *strayRun // nil if there is none
}

var nothingUndecided undecided

// own returns the direction's own value.
func (r *resynchronizer) own() *undecided {
	if r.undecided == &nothingUndecided {
		r.undecided = new(undecided)
	}
	return r.undecided
}

// search is the held bytes and what they may be. Its positions are relative to its first byte.
type search struct {
	window     []byte
	store      []byte // memory of the window
	base       int64  // position of the first byte of the window
	accounted  int    // memory of the search, as Buffers knows it
	deliveries rpc.HeldChunks
	scanned    int64    // no frame starts before it
	boundary   boundary // what precedes the byte at position 0
	chain
	// refuted are the positions of frames whose chain broke, lastRefuted the highest of them.
	refuted     map[int64]struct{}
	lastRefuted int64
	// For a postponed search: the gap after its window, and the search postponed before it.
	gap   gap
	older *search
}

// phase is the state of a search.
type phase uint8

const (
	scanning  phase = iota // no candidate was found
	following              // the candidate and the frames after it are a chain that has neither broken nor been accepted
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

// verdict is the result of judging a candidate or a search.
type verdict uint8

const (
	reject   verdict = iota
	begin            // the candidate begins a chain
	accept           // at acceptFrom
	wait             // more bytes are needed
	postpone         // the search is postponed
)

// What follows the held bytes: possibly more bytes, the end of the stream, or a number of missing bytes.
const (
	moreToCome int64 = 0
	streamEnds int64 = -1
)

// join records that the direction was joined midway.
func (r *resynchronizer) join() { r.lossy, r.afterLoss, r.next = true, true, atJoin }

// mayBeBody reports whether bytes are missing, so that the searched bytes may be a body whose header was lost.
func (r *resynchronizer) mayBeBody() bool { return r.afterLoss || r.lossy && r.mayNest() }

// take searches b[n:], the next bytes of the stream. c is the chunk of b.
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
		r.own().search = s
	}
	d := rpc.Held{Chunk: *c, At: len(s.window), Write: write && n == 0}
	d.Skip(n)
	r.hold(b[n:], d)
	r.decide(moreToCome)
}

// magicIn returns the offset of the magic in b, or of its first byte at the end of b, or len(b).
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

// decide continues the search as far as the held bytes allow. missing says what follows them.
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

// judge looks for a frame in the window. wait means that no frame starts before the chain or, without a chain, before the
// position up to which the window was scanned.
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
		if s.doubtful > 0 && missing > 0 && r.mayPostpone() {
			return postpone
		}
		r.refuteChain()
		if s.doubtful > 0 {
			s.scanned, s.doubtful = s.doubtful, 0 // a frame inside is not more credible
		}
	}
}

// scan looks for a candidate. It begins a chain unless it is accepted at once.
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
			s.acceptFrom = s.scanned // the end of the frame is missing
			return accept
		}
		s.chain = s.empty()
		s.start, s.end = s.scanned, s.scanned
		r.extend(&h)
		return begin
	}
}

// candidate judges whether a frame starts at b, by that frame alone: reject, wait or begin.
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

// startFits reports whether to accept a candidate whose body does not start like one in its serialization, or whose
// serialization is unknown: a request that starts like one in another serialization, or a response that is due.
func (r *resynchronizer) startFits(h *Header, start []byte) bool {
	switch {
	case h.Event():
		return true // only its length is checked
	case len(start) == 0:
		return false
	case h.Request():
		return r.framer.cfg.Recognizer.startsOther(start)
	}
	return r.isDue(h.ID)
}

// idFits reports whether a chain may begin with a frame with the candidate's id.
func (r *resynchronizer) idFits(h *Header) bool {
	w, other := &r.ids[requestBit(h)], &r.ids[1-requestBit(h)]
	switch {
	case !w.near(h.ID):
		return false
	case !r.mayBeBody():
		return true
	case !w.any() && other.any():
		// This is the first of its kind in this direction, right after a gap.
		return !h.Request() && r.isDue(h.ID)
	}
	return !w.repeats(h.ID)
}

// maxRead limits the bytes that are read from a candidate's body, because candidates may be a few bytes apart.
const maxRead = 8 << 10

// readable reports whether the first maxRead bytes of a body can be read: the envelope of a request or the kind of a result.
// Error texts are not read.
func (h *Header) readable() bool {
	return h.Request() || h.Status == StatusOK || h.BodyLen <= maxRead
}

// acceptsCut reports whether to accept a candidate with have captured bytes, followed by missing bytes.
func (r *resynchronizer) acceptsCut(h *Header, have, missing int64) bool {
	w := &r.ids[requestBit(h)]
	started := have >= int64(HeaderLen+min(startLen, h.BodyLen)) // the start of the body was checked
	switch {
	case !r.mayBeBody():
		return started && (r.acceptsAlone(h) || int64(h.FrameLen()) == have+missing)
	case r.nesting == nests, !r.snapCut && r.nesting == nestingUnknown:
		return false // frames inside bodies are cut in the same way
	case int64(h.FrameLen()) == have+missing:
		// For example, one frame per packet and a short snap length. Without ids of frames before, the place must be right as well.
		return started || w.any() || r.snapCut && r.framer.cfg.Recognizer.knows(h) && r.search.packetStarts(r.search.scanned)
	}
	// Most frames begin at the start of a packet and continue the ids before them.
	return r.search.packetStarts(r.search.scanned) && !h.Event() &&
		(w.continues(h.ID) || started && !w.any() || !h.Request() && r.isDue(h.ID))
}

// acceptsAlone reports whether to accept a candidate among stray bytes although no frame follows. A provider before 2.5.6 that
// cannot write a result sends the beginning of the result after the error frame, sometimes repeatedly. If nothing is missing
// from the capture, a response that is due and an id right after the last one are not accidents. After a loss, both may be
// part of a body whose header was lost.
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

// isDue reports whether a response with that id is due. The request was found or, if bodies are not known to contain frames,
// may be among the held bytes.
func (r *resynchronizer) isDue(id int64) bool {
	a := r.framer.asker()
	return a != nil && (a.Expected(id) || r.nesting != nests && a.Asked(id))
}

// answersNothing reports whether the response is not due although all requests of the other direction are known.
func (r *resynchronizer) answersNothing() bool {
	if r.search.notDue == 0 || !r.mayBeBody() {
		return false
	}
	a := r.framer.asker()
	return a != nil && !a.Missed()
}

// follow continues the chain at its end. It returns reject if the chain breaks.
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
				s.doubtful = s.end
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

// unbroken judges a chain that did not break before the end of the held bytes. rest is the bytes after its last frame.
func (r *resynchronizer) unbroken(mayBeBody bool, rest int, missing int64) verdict {
	s := r.search
	if mayBeBody && !r.acceptsUnbroken(rest, missing) {
		s.doubtful = s.base + int64(len(s.window))
		return reject
	}
	s.acceptFrom = s.start
	return accept
}

// zeros16 is the beginning of the stray bytes that a provider of Dubbo 2.5 sends after a response with status 50: the space
// for the header of the response that it could not write. The part of the body that it had written follows.
var zeros16 = make([]byte, HeaderLen)

// resume reads the window from a position where a frame starts and skips the bytes before it. It stops at position to, where
// another frame starts, unless to is -1. If a header is not where it should be, the search continues with the rest.
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
		end := min(most, s.deliveries.End(i, len(s.window)))
		if d.At >= end {
			break
		}
		n := f.known(s.window[d.At:end], &d.Chunk)
		if f.state != searching {
			continue
		}
		// The rest is searched like bytes after stray bytes.
		s.boundary = noBoundary
		s.dropPrefix(d.At + n)
		s.forgetRefuted()
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

// abandon skips the held bytes.
func (r *resynchronizer) abandon() {
	if s := r.search; s != nil {
		s.start = -1
		r.skipTo(s.base + int64(len(s.window)))
		r.search = nil
		r.release(s)
	}
	r.endStray()
}

// gap handles n missing bytes after the held ones: it postpones or ends the search.
func (r *resynchronizer) gap(n, wire int64, c *Chunk) {
	r.snapCut = wire > 0
	before := r.postponed
	r.decide(n)
	if r.postponed != before && r.postponed != nil {
		r.postponed.gap = gap{wire, *c}
	}
}

// heldFrom returns the position in the stream of the first held byte.
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
	return s.deliveries[0].Pos, true
}

// holdsChain reports whether held frames were not emitted yet.
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
		if q.id != id || q.end <= s.start { // frames emitted before are not asked again
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
