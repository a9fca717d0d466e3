package dubbo

import (
	"bytes"
	"slices"
)

// search looks for the next frame where no place is known: behind a gap that swallowed a header, behind rubbish, in a
// connection joined midway.
//
// A candidate has the magic, a legal header, an id near those seen and not one of them, and a body that starts, and reads,
// as its serialization's bodies do. Frames stand one behind the other, so a candidate begins a chain: where one of its
// frames ends and no header follows, the whole chain was none, but bytes of a body. While the chain holds its bytes are
// held, until enough speaks for it ([Framer.weigh]). What fails is skipped and counted.
//
// Places are counted from the start of the search.
type search struct {
	win   []byte
	store []byte // where win is, or was
	base  int64  // place of the window's first byte
	noted int    // memory of the search, as Buffers knows it
	marks []mark // where win's bytes came from
	from  int64  // no frame starts before it
	begun begun  // what the byte at place 0 is
	// Of a search that was put off: the gap behind its window, and the one put off before.
	gap   gap
	older *search
	chain
	// refuted are places in the window of frames whose chain broke.
	refuted map[int64]struct{}
}

// chain is frames that stand one behind the other.
type chain struct {
	cand, tip int64 // its start (-1: there is none) and its end
	last      Header
	frames    int
	kinds     uint8         // what it has beside events: bit 0 responses, bit 1 requests
	due       int           // responses of it that are due
	owed      int           // as due, but of all the chain
	undue     int           // and that are not
	dueIDs    [maxDue]int64 // the ids of the latest of them
	asked     []asked       // its requests, as far as there is room
	answers   int           // requests of it that were answered
	falls     int           // its requests whose id is lower than that of the one before
	hits      int           // starts of writes where one of its frames starts
	misses    int           // and where none does
	row       int           // hits since the last miss
	second    int64         // the place of the second of them
	accept    int64         // -1, or the place from which on it is believed
	givenUp   bool          // it did not break, but there is too little that speaks for it
}

// asked is a request in a chain, and its end.
type asked struct {
	id, end  int64
	answered bool
}

// maxAsked bounds the requests of a chain that an answer finds.
const maxAsked = 256

// mark says that win from off on, up to the next mark, came with a chunk.
type mark struct {
	off   int
	chunk Chunk
	write bool // the sender began to write here: the packet before was not full
}

type verdict uint8

const (
	no verdict = iota
	yes
	wait  // more bytes are needed
	later // it is put off
)

// guessing reports whether bytes are missing, so that what is searched may be a body whose header was lost.
func (f *Framer) guessing() bool { return f.behind || f.lossy && f.wary() }

// searchData takes b[n:], the next bytes while no place is known; c is b's.
func (f *Framer) searchData(b []byte, n int, c *Chunk) {
	s := f.search
	begun, write := f.begun, false
	if n < len(b) {
		f.begun = elsewhere
	}
	if n == 0 {
		write = f.measure(len(b), c)
	}
	if s == nil {
		// Most bytes of a foreign stream end here, without a copy.
		i := magicIn(b[n:])
		f.rubbish(b[n : n+i])
		if n += i; n == len(b) {
			return
		}
		s = f.cfg.Buffers.getSearch()
		s.cand = -1
		if i == 0 {
			s.begun = begun
		}
		f.search = s
	}
	m := mark{len(s.win), *c, write}
	if n > 0 {
		m.write = false
		m.chunk.Pos += int64(n)
		m.chunk.Overhead = 0
	}
	s.marks = append(s.marks, m)
	if len(s.win) == 0 {
		s.win = s.store
	}
	win := append(s.win, b[n:]...)
	if cap(win) > cap(s.store) {
		s.store = win[:0]
	}
	f.setWindow(win)
	f.decide(0)
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

// searchMemory is about what a search takes beside its window.
const searchMemory = 1 << 10

// setWindow takes another window, and note of its size.
func (f *Framer) setWindow(win []byte) {
	s := f.search
	n := cap(win) + searchMemory
	f.cfg.Buffers.wins += n - s.noted
	s.win, s.noted = win, n
}

// release gives back a search that holds nothing any more.
func (f *Framer) release(s *search) {
	f.cfg.Buffers.wins -= s.noted
	s.noted = 0
	f.cfg.Buffers.putSearch(s)
}

// decide goes on with the search as far as the window's bytes allow. lack is 0 when more bytes will come, -1 when none
// will, and else how many are missing behind the window.
func (f *Framer) decide(lack int64) {
	for f.state == searching && f.search != nil {
		s := f.search
		if len(s.win) > 0 {
			switch f.weigh(lack) {
			case yes:
				if f.later == nil || !f.resolve() {
					f.drain(s.accept, -1)
				}
				continue
			case later:
				f.putOff()
				return
			}
		}
		if s.cand >= 0 {
			f.dropSearch(s.cand)
		} else {
			f.dropSearch(s.from)
		}
		if len(s.win) == 0 {
			f.search = nil
			f.release(s)
		}
		return
	}
}

// weigh looks for a frame in the window: at s.accept, when it says yes. wait means that no frame starts before s.cand or,
// without a chain, before s.from.
func (f *Framer) weigh(lack int64) verdict {
	s := f.search
	for {
		if s.cand < 0 {
			b := s.win[s.from-s.base:]
			s.from += int64(magicIn(b))
			b = s.win[s.from-s.base:]
			if len(b) < 2 {
				if lack != 0 {
					s.from += int64(len(b))
				}
				return wait
			}
			if len(b) >= 4 && !flagsFit(b) {
				s.from += 2
				continue
			}
			if _, ok := s.refuted[s.from]; ok {
				s.from++
				continue
			}
			if s.from == 0 && s.begun == stream && f.starts(b) {
				s.accept = 0
				return yes
			}
			h, v := f.first(b, lack)
			switch v {
			case wait:
				return wait
			case no:
				s.from++
				continue
			}
			if len(b) < h.FrameLen() {
				s.accept = s.from // its end is missing
				return yes
			}
			s.chain = chain{cand: s.from, tip: s.from, asked: s.asked[:0], accept: -1}
			f.link(&h)
		}
		switch f.follow(lack) {
		case yes:
			return yes
		case wait:
			return wait
		}
		if s.givenUp && lack > 0 && f.mayWait() {
			return later
		}
		f.refute()
		if s.givenUp {
			s.givenUp = false
			s.from = s.base + int64(len(s.win)) // what is inside is no better
		}
	}
}

// first says whether b starts with a frame, as far as the frame itself tells.
func (f *Framer) first(b []byte, lack int64) (h Header, v verdict) {
	more := wait
	if lack != 0 || f.cfg.Buffers.crowded() {
		more = no
	}
	if len(b) < HeaderLen {
		return h, more
	}
	h = parseHeader(b)
	if !f.cfg.Recognizer.legal(&h, f.cfg.MaxSearchBody) {
		return h, no
	}
	if !h.Event() && !f.mayBe(&h) {
		return h, no
	}
	body := b[HeaderLen:]
	c, start := f.cfg.Recognizer, body[:min(len(body), startLen, h.BodyLen)]
	if len(start) < min(startLen, h.BodyLen) {
		if lack > 0 && f.cut(&h, int64(len(b)), lack) {
			return h, yes
		}
		return h, more
	}
	if (!c.knows(&h) || !c.startsLike(&h, start)) && !f.startsAnyway(&h, start) {
		return h, no
	}
	f.met = true
	if len(body) < h.BodyLen {
		if lack > 0 && f.cut(&h, int64(len(b)), lack) {
			return h, yes
		}
		return h, more
	}
	if f.cfg.Readable != nil && h.readable() && !f.cfg.Readable(&h, body[:min(h.BodyLen, maxRead)]) {
		return h, no
	}
	return h, yes
}

// startsAnyway reports whether a candidate is believed whose body does not start as its serialization's do, or of whose
// serialization nothing is known: a request that starts as that of another one, an answer that is due.
func (f *Framer) startsAnyway(h *Header, start []byte) bool {
	switch {
	case h.Event():
		return true // judged by its length
	case len(start) == 0:
		return false
	case h.Request():
		return f.cfg.Recognizer.startsOther(start)
	}
	return f.expects(h.ID)
}

// mayBe says whether a candidate's id is one of a frame that begins a chain.
func (f *Framer) mayBe(h *Header) bool {
	w, other := &f.ids[requestBit(h)], &f.ids[1-requestBit(h)]
	switch {
	case !w.near(h.ID):
		return false
	case !f.guessing():
		return true
	case !w.seen() && other.seen():
		// The first of its kind in this direction, just behind a gap.
		return !h.Request() && f.expects(h.ID)
	}
	return !w.again(h.ID)
}

// maxRead bounds what is read of a candidate's body: there may be one every few bytes.
const maxRead = 8 << 10

// readable reports whether what is wanted of a body can be read in its first maxRead bytes: a request's envelope, a
// result's kind, but not any error text.
func (h *Header) readable() bool {
	return h.Request() || h.Status == StatusOK || h.BodyLen <= maxRead
}

// cut says whether a candidate is believed of which have bytes are here and the next lack bytes are missing.
func (f *Framer) cut(h *Header, have, lack int64) bool {
	w := &f.ids[requestBit(h)]
	started := have >= int64(HeaderLen+min(startLen, h.BodyLen)) // and its body starts as it should
	switch {
	case !f.guessing():
		return started && (f.due(h) || int64(h.FrameLen()) == have+lack)
	case f.nested, !f.snapped && f.doubtful():
		return false // frames inside bodies are cut like others
	case int64(h.FrameLen()) == have+lack:
		return started || w.seen() // as where the snap length cuts packets with a frame each
	}
	// Frames begin most often at the start of a packet, and their ids go on from those before.
	return f.packetStarts(f.search.from) && !h.Event() &&
		(w.goesOn(h.ID) || started && !w.seen() || !h.Request() && f.expects(h.ID))
}

// packetStarts reports whether a packet's payload starts at a place.
func (f *Framer) packetStarts(at int64) bool {
	s := f.search
	for i := len(s.marks) - 1; i >= 0; i-- {
		if off := s.base + int64(s.marks[i].off); off <= at {
			return off == at && s.marks[i].chunk.Overhead > 0
		}
	}
	return false
}

// enoughBytes is how long a chain is believed without anything else that speaks for it.
const enoughBytes = 64 << 10

// link takes a frame with header h at the chain's tip, whole, into the chain, and says from where on the chain is to be
// believed now.
//
// What speaks for a chain cannot be had from bytes inside a body: that it holds for long, that its responses are those
// that are due, that its requests are answered. Where bodies of this direction were seen to hold frames, by a chain
// that is longer than bodies are, or by several of such
// witnesses in a row, which no copy of earlier traffic has; and then only from the last of these on: a chain inside a
// body may end where the body does.
func (f *Framer) link(h *Header) {
	s := f.search
	at := s.tip
	s.tip += int64(h.FrameLen())
	s.frames++
	s.last = *h
	guessing := f.guessing()
	if guessing {
		f.writes(at)
	}
	if !f.nested && guessing {
		body := s.win[at+HeaderLen-s.base : s.tip-s.base]
		f.nested = f.cfg.Recognizer.holdsFrame(body[:min(len(body), maxLooked)], h.ID)
	}
	switch {
	case h.Event():
	case h.Request():
		s.kinds |= 2
		if w := &f.ids[1]; len(s.asked) < maxAsked && w.near(h.ID) && !w.again(h.ID) {
			if k := len(s.asked); k > 0 && s.asked[k-1].id >= h.ID {
				s.falls++
			}
			s.asked = append(s.asked, asked{id: h.ID, end: s.tip})
		}
		if f.wary() {
			s.due = 0
		}
	case f.expects(h.ID):
		s.kinds |= 1
		s.owed++
		f.dueResponse(h.ID, at)
	default:
		s.kinds |= 1
		s.undue++
		if f.wary() {
			s.due = 0
		}
	}
	switch {
	case s.accept >= 0:
	case f.wary() && at-s.cand >= max(enoughBytes, int64(f.longest)*5/4):
		if s.accept = at; !f.nested && s.orderly() {
			s.accept = s.cand
		}
	case !guessing:
	case f.aligned(0):
		s.accept = s.cand
	case f.wary() && s.row >= 3:
		s.accept = s.second // the first may be chance, in a body that ends where what it holds does
	}
	switch {
	case s.accept >= 0:
	case !f.wary() && at > s.cand && s.tip-s.cand >= enoughBytes:
		s.accept = s.cand
	}
}

// impossible says that it is none: a response is not due, and all requests that the other direction sent are known.
func (f *Framer) impossible() bool {
	c := f.cfg
	return f.search.undue > 0 && f.guessing() && c.Missed != nil && !c.Missed(f.sink)
}

// dueResponse takes note of a response in the chain, at a place, that is due.
func (f *Framer) dueResponse(id, at int64) {
	s := f.search
	if slices.Contains(s.dueIDs[:min(s.due, len(s.dueIDs))], id) {
		if f.wary() {
			s.due = 0
		}
		return
	}
	s.dueIDs[s.due%len(s.dueIDs)] = id
	s.due++
	switch {
	case f.wary() && s.due >= minDue && s.due >= f.enoughDue(id):
		s.accept = at
		if !f.nested && s.undue == 0 && s.kinds == 1 {
			s.accept = s.cand // all of it is due
		}
	case !f.wary() && s.due >= 2 && s.undue == 0:
		s.accept = s.cand
	}
}

// minDue and maxDue are how many responses in a row have to be due, for one that is due to be believed where bodies hold
// frames.
const minDue, maxDue = 6, 24

// enoughDue is how many that are, by how many of the ids around id are due: so that ids drawn from there would all be due
// less often than once in ten million times.
func (f *Framer) enoughDue(id int64) int {
	n := 0
	for d := int64(1); d <= 16; d++ {
		for _, other := range [2]int64{id - d, id + d} {
			if f.expects(other) {
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

// expects reports whether a response with that id is due: to a request that was found or, where frames inside bodies were
// never seen, to one that may have been.
func (f *Framer) expects(id int64) bool {
	c := f.cfg
	return c.Expected != nil && c.Expected(f.sink, id) || !f.nested && c.Asked != nil && c.Asked(f.sink, id)
}

// Searching reports whether bytes are held of which it is not decided whether they are frames.
func (f *Framer) Searching() bool {
	return f.state == searching && f.search != nil && f.search.cand >= 0
}

// Asks reports whether the bytes that are held may be a request with that id.
func (f *Framer) Asks(id int64) bool { return f.Searching() && f.search.asks(id) }

// asks reports whether a request with that id is in the chain.
func (c *chain) asks(id int64) bool {
	for i := range c.asked {
		if c.asked[i].id == id && c.asked[i].end > c.cand {
			return true
		}
	}
	return false
}

// Answered says that the other direction has a response with that id, at a known place. If a request with it is among the
// bytes that are held, these are frames: a peer answers what it has all of, and all of it is here or missing, so a copy of
// the request inside a longer body would have come to the body's end by now. What is held up to the request's end is handed
// on before it returns, the rest with the next call, or by [Framer.Settle].
func (f *Framer) Answered(id int64) {
	if !f.Searching() || f.nested {
		return
	}
	s := f.search
	for i := range s.asked {
		a := &s.asked[i]
		if a.id != id || a.end <= s.cand { // what was handed on before is not asked again
			continue
		}
		if f.doubtful() {
			if !a.answered {
				a.answered = true
				s.answers++
			}
			if s.answers < minAnswers || s.kinds != 2 || s.falls*4 > len(s.asked) {
				return
			}
			if s.accept = s.cand; f.later != nil && f.resolve() {
				f.Answered(id)
				return
			}
		}
		f.drain(s.cand, a.end)
		return
	}
}

// Settle hands on what is held behind an answered request.
func (f *Framer) Settle() {
	if f.Searching() && f.search.accept >= 0 {
		f.decide(0)
	}
}

// follow goes on with the chain at its tip. no: the chain is broken.
func (f *Framer) follow(lack int64) verdict {
	s := f.search
	forced := lack != 0 || f.cfg.Buffers.crowded()
	guessing := f.guessing()
	for {
		if s.accept < 0 && !guessing && f.due(&s.last) {
			s.accept = s.cand
		}
		if f.impossible() {
			return no
		}
		if s.accept >= 0 {
			return yes
		}
		next := s.win[s.tip-s.base:]
		switch {
		case len(next) >= HeaderLen:
		case !isMagic(next) && !(s.last.Status == statusBadResponse && bytes.HasPrefix(zeros16, next)):
			return no
		case forced && guessing && !f.holds(len(next), lack):
			s.givenUp = true
			return no
		case forced:
			s.accept = s.cand
			return yes
		default:
			return wait
		}
		if s.last.Status == statusBadResponse && bytes.HasPrefix(next, zeros16) {
			if guessing && f.wary() {
				s.givenUp = true
				return no
			}
			s.accept = s.cand
			return yes
		}
		if !isMagic(next) {
			return no
		}
		h := parseHeader(next)
		if !f.cfg.Recognizer.legal(&h, f.cfg.MaxSearchBody) {
			return no
		}
		if _, ok := s.refuted[s.tip]; ok {
			return no
		}
		switch {
		case !guessing:
			s.accept = s.cand
			return yes
		case len(next) >= h.FrameLen():
			f.link(&h)
		case forced && !f.holds(len(next), lack):
			s.givenUp = true
			return no
		case forced:
			s.accept = s.cand
			return yes
		default:
			return wait
		}
	}
}

// zeros16 is how the rubbish begins that a provider of Dubbo 2.5 leaves behind an answer with status 50: the room for the
// header of the answer that it could not write, and then what it had written of the body.
var zeros16 = make([]byte, HeaderLen)

// refute notes that the chain's frames are none.
func (f *Framer) refute() {
	s := f.search
	if s.refuted == nil {
		s.refuted = make(map[int64]struct{})
	}
	for at := s.cand; at < s.tip; {
		s.refuted[at] = struct{}{}
		h := parseHeader(s.win[at-s.base:])
		at += int64(h.FrameLen())
	}
	f.nested = f.nested || f.guessing() && !s.givenUp && s.kinds != 0
	s.from, s.cand = s.cand+1, -1
}

// due reports whether a candidate between rubbish is believed although no frame follows: providers before 2.5.6 that cannot
// write a result send its beginning behind the frame with the error, and may do so again and again. Where the capture
// lacks nothing, a response that is due, or an id right behind the last one, is no accident. Behind a gap both may be
// bytes of a body whose header was lost.
func (f *Framer) due(h *Header) bool {
	if f.guessing() || h.Event() {
		return false
	}
	if !h.Request() && f.cfg.Expected != nil && f.cfg.Expected(f.sink, h.ID) {
		return true
	}
	w := &f.ids[requestBit(h)]
	return w.seen() && h.ID != w.last && !w.again(h.ID) && w.within(h.ID, nextIDStep)
}

// dropSearch skips the window's bytes before a place.
func (f *Framer) dropSearch(to int64) {
	s := f.search
	n := int(to - s.base)
	if n == 0 {
		return
	}
	f.rubbish(s.win[:n])
	s.cutWindow(n)
	f.setWindow(s.win)
}

// cutWindow takes the first n bytes out of the window.
func (s *search) cutWindow(n int) {
	s.base += int64(n)
	s.from = max(s.from, s.base)
	if rest := s.win[n:]; len(rest) <= n {
		s.win = s.win[:copy(s.win, rest)]
	} else {
		s.win = rest // moving it would cost more than was dropped
	}
	kept := s.marks[:0]
	for i, m := range s.marks {
		end := n + len(s.win)
		if i+1 < len(s.marks) {
			end = s.marks[i+1].off
		}
		if end <= n {
			continue
		}
		if m.off < n {
			m.chunk.Pos += int64(n - m.off)
			m.chunk.Overhead = 0
			m.off = n
		}
		m.off -= n
		kept = append(kept, m)
	}
	s.marks = kept
}

// drain goes on at a place in the window, where a frame stands, and skips what is before it. It stops at the place to,
// where another stands, if that is not -1. When no header stands where one is due, the search goes on with the rest.
func (f *Framer) drain(at, to int64) {
	f.dropSearch(at)
	f.endRun()
	s := f.search
	f.search = nil
	f.state, f.resynced, f.behind = atHeader, true, false
	most := len(s.win)
	if to >= 0 {
		most = int(to - s.base)
	}
	for i := range s.marks {
		m := &s.marks[i]
		end := most
		if i+1 < len(s.marks) {
			end = min(end, s.marks[i+1].off)
		}
		if m.off >= end {
			break
		}
		n := f.known(s.win[m.off:end], &m.chunk)
		if f.state != searching {
			continue
		}
		// The rest is searched as behind rubbish.
		s.begun = elsewhere
		s.cutWindow(m.off + n)
		clear(s.refuted)
		s.base, s.from = 0, 0
		s.chain = chain{cand: -1, asked: s.asked[:0], accept: -1}
		f.search = s
		f.setWindow(s.win)
		return
	}
	if most < len(s.win) {
		s.cutWindow(most)
		s.cand, s.tip, s.accept, s.undue = to, max(s.tip, to), to, 0
		f.search, f.state = s, searching
		f.setWindow(s.win)
		return
	}
	f.release(s)
}

// endSearch skips what is left of the window.
func (f *Framer) endSearch() {
	if s := f.search; s != nil {
		s.cand = -1
		f.dropSearch(s.base + int64(len(s.win)))
		f.search = nil
		f.release(s)
	}
	f.endRun()
}
