package dubbo

import "bytes"

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
	joined   bool // before the first frame of a connection joined midway
	afterGap bool // behind a gap
	// A run of bytes that stood where a frame was due, until the next frame: is it text?
	run   int64
	text  text
	win   []byte
	base  int64  // place of the window's first byte
	noted int    // capacity of win, as Buffers knows it
	marks []mark // where win's bytes came from
	from  int64  // no frame starts before it
	chain
	// refuted are places in the window of frames whose chain broke.
	refuted map[int64]struct{}
}

// chain is frames that stand one behind the other.
type chain struct {
	cand, tip int64 // its start (-1: there is none) and its end
	last      Header
	frames    int
	due       int      // responses of it that are due
	dueIDs    [4]int64 // the ids of the latest of them
	asked     []asked  // its requests, as far as there is room
	answered  int      // how many of them were answered
	accept    int64    // -1, or the place from which on it is believed
}

// asked is a request in a chain.
type asked struct {
	id, at   int64
	answered bool
}

// maxAsked bounds the requests of a chain that an answer finds.
const maxAsked = 256

// mark says that win from off on, up to the next mark, came with a chunk.
type mark struct {
	off   int
	chunk Chunk
}

type verdict uint8

const (
	no verdict = iota
	yes
	wait // more bytes are needed
)

// guessing reports whether bytes are missing, so that what is searched may be a body whose header was lost.
func (f *Framer) guessing() bool {
	s := f.search
	return s.afterGap || s.joined || f.nested && f.lossy
}

// searchData takes b[n:], the next bytes while no place is known; c is b's.
func (f *Framer) searchData(b []byte, n int, c *Chunk) {
	if f.search == nil {
		f.startSearch().joined = true
	}
	s := f.search
	if len(s.win) == 0 {
		// Most bytes of a foreign stream end here, without a copy.
		i := magicIn(b[n:])
		f.rubbish(b[n : n+i])
		s.base += int64(i)
		s.from = s.base
		if n += i; n == len(b) {
			return
		}
	}
	m := mark{len(s.win), *c}
	if n > 0 {
		m.chunk.Pos += int64(n)
		m.chunk.Overhead = 0
	}
	s.marks = append(s.marks, m)
	f.setWindow(append(s.win, b[n:]...))
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

// setWindow takes another window, and note of its size.
func (f *Framer) setWindow(win []byte) {
	s := f.search
	f.cfg.Buffers.wins += cap(win) - s.noted
	s.win, s.noted = win, cap(win)
}

// decide goes on with the search as far as the window's bytes allow. lack is 0 when more bytes will come, -1 when none
// will, and else how many are missing behind the window.
func (f *Framer) decide(lack int64) {
	for f.state == searching && f.search != nil && len(f.search.win) > 0 {
		s := f.search
		if f.weigh(lack) == yes {
			f.drain(s.accept)
			continue
		}
		if s.cand >= 0 {
			f.dropSearch(s.cand)
		} else {
			f.dropSearch(s.from)
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
			if _, ok := s.refuted[s.from]; ok {
				s.from++
				continue
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
		f.refute()
	}
}

// first says whether b starts with a frame, as far as the frame itself tells.
func (f *Framer) first(b []byte, lack int64) (h Header, v verdict) {
	more := wait
	if lack != 0 || f.cfg.Buffers.wins > maxWindows {
		more = no
	}
	if len(b) < HeaderLen {
		return h, more
	}
	h = parseHeader(b)
	if !h.legal(f.cfg.MaxSearchBody) {
		return h, no
	}
	guessing := f.guessing()
	w := &f.ids[requestBit(&h)]
	if !h.Event() && (!w.near(h.ID) || guessing && w.again(h.ID)) {
		return h, no
	}
	body := b[HeaderLen:]
	start := body[:min(len(body), startLen, h.BodyLen)]
	if len(start) < min(startLen, h.BodyLen) {
		return h, more
	}
	if !h.startsLike(start) {
		return h, no
	}
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

// maxRead bounds what is read of a candidate's body: there may be one every few bytes.
const maxRead = 8 << 10

// readable reports whether what is wanted of a body can be read in its first maxRead bytes: a request's envelope, a
// result's kind, but not any error text.
func (h *Header) readable() bool {
	return h.Request() || h.Status == StatusOK || h.BodyLen <= maxRead
}

// cut says whether a candidate is believed of which have bytes are here and the next lack bytes are missing.
func (f *Framer) cut(h *Header, have, lack int64) bool {
	s := f.search
	w := &f.ids[requestBit(h)]
	switch {
	case !f.guessing():
		return f.due(h) || int64(h.FrameLen()) == have+lack
	case f.nested:
		return false // frames inside bodies are cut like others
	case int64(h.FrameLen()) == have+lack:
		return true // as where the snap length cuts packets with a frame each
	}
	// Frames begin most often at the start of a packet.
	return f.packetStarts(s.from) && !h.Event() && w.seen && w.within(h.ID, nextIDStep)
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

// Where frames stand inside bodies more is asked for before a chain is believed; see [Framer.link].
const (
	enoughDue       = 2
	enoughDueNested = 4
	enoughAnswered  = 2
	enoughBytes     = 64 << 10
)

// link takes a frame with header h at the chain's tip, whole, into the chain, and says from where on the chain is to be
// believed now.
//
// What speaks for a chain cannot be had from bytes inside a body: that it holds for long, that its responses are those
// that are due, that its requests are answered. Where bodies of this direction were seen to hold frames, by bytes that
// cannot be any body's whose start was lost (they lie further behind the gap than bodies are long), or by several of such
// witnesses in a row, which no copy of earlier traffic has; and then only from the last of these on: a chain inside a
// body may end where the body does.
func (f *Framer) link(h *Header) {
	s := f.search
	at := s.tip
	s.tip += int64(h.FrameLen())
	s.frames++
	s.last = *h
	switch {
	case f.nested && at >= 2*int64(f.longest)+enoughBytes:
		s.accept = at
	case !f.nested && at > s.cand && s.tip-s.cand >= enoughBytes:
		s.accept = s.cand
	case h.Event():
	case h.Request():
		if w := &f.ids[1]; len(s.asked) < maxAsked && w.near(h.ID) && !w.again(h.ID) {
			s.asked = append(s.asked, asked{id: h.ID, at: at})
		}
		if f.nested {
			s.due = 0
		}
	case f.expects(h.ID):
		f.dueResponse(h.ID, at)
	case f.nested:
		s.due = 0
	}
}

func (f *Framer) dueResponse(id, at int64) {
	s := f.search
	for i := range min(s.due, len(s.dueIDs)) {
		if s.dueIDs[i] == id {
			if f.nested {
				s.due = 0
			}
			return
		}
	}
	s.dueIDs[s.due%len(s.dueIDs)] = id
	s.due++
	switch {
	case f.nested && s.due >= enoughDueNested:
		s.accept = at
	case !f.nested && s.due >= enoughDue:
		s.accept = s.cand
	}
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
func (f *Framer) Asks(id int64) bool {
	return f.Searching() && f.search.asks(id) >= 0
}

func (c *chain) asks(id int64) int {
	for i := range c.asked {
		if c.asked[i].id == id {
			return i
		}
	}
	return -1
}

// Answered says that the other direction has a response with that id, at a known place. What was held of the request is
// frames then, and is handed on before it returns: a peer answers what it has all of, and all of it is here or missing, so
// a copy of the request inside a longer body would have come to the body's end by now.
func (f *Framer) Answered(id int64) {
	if !f.Searching() {
		return
	}
	s := f.search
	i := s.asks(id)
	if i < 0 || s.asked[i].answered {
		return
	}
	s.asked[i].answered = true
	s.answered++
	switch {
	case !f.nested:
		s.accept = s.cand
	case s.answered >= enoughAnswered:
		for _, a := range s.asked {
			if a.answered {
				s.accept = a.at
			}
		}
	default:
		return
	}
	f.drain(s.accept)
	f.decide(0)
}

// follow goes on with the chain at its tip. no: the chain is broken.
func (f *Framer) follow(lack int64) verdict {
	s := f.search
	forced := lack != 0 || f.cfg.Buffers.wins > maxWindows
	guessing := f.guessing()
	for {
		if s.accept < 0 && !guessing && f.due(&s.last) {
			s.accept = s.cand
		}
		if s.accept >= 0 {
			return yes
		}
		next := s.win[s.tip-s.base:]
		switch {
		case len(next) >= HeaderLen:
		case !isMagic(next) && !(s.last.Status == statusBadResponse && bytes.HasPrefix(zeros16, next)):
			return no
		case forced && f.nested && guessing:
			return no
		case forced:
			s.accept = s.cand
			return yes
		default:
			return wait
		}
		if s.last.Status == statusBadResponse && bytes.HasPrefix(next, zeros16) {
			if f.nested && guessing {
				return no
			}
			s.accept = s.cand
			return yes
		}
		if !isMagic(next) {
			return no
		}
		h := parseHeader(next)
		if !h.legal(f.cfg.MaxSearchBody) {
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
		case forced && f.nested:
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
	f.nested = f.nested || f.guessing()
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
	return w.seen && h.ID != w.last && !w.again(h.ID) && w.within(h.ID, nextIDStep)
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
	if len(s.win) == 0 {
		clear(s.refuted)
	}
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
	if cap(s.win) > 1<<20 && len(s.win) == 0 {
		s.win = nil
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

// drain goes on at a place in the window, where a frame stands, and skips what is before it. When no header stands where
// one is due, the search goes on with the rest of the window.
func (f *Framer) drain(at int64) {
	f.dropSearch(at)
	f.endRun()
	s := f.search
	f.search = nil
	f.state, f.resynced = atHeader, true
	for i := range s.marks {
		m := &s.marks[i]
		end := len(s.win)
		if i+1 < len(s.marks) {
			end = s.marks[i+1].off
		}
		piece := s.win[m.off:end]
		n := f.known(piece, &m.chunk)
		if f.state != searching {
			continue
		}
		// The rest is searched as behind rubbish.
		next := f.search
		*next = search{run: next.run, text: next.text, win: s.win, noted: s.noted, marks: s.marks, refuted: next.refuted, chain: next.chain}
		clear(next.refuted)
		next.cutWindow(m.off + n)
		next.base, next.from = 0, 0
		f.setWindow(next.win)
		*s = search{refuted: s.refuted, chain: chain{asked: s.asked}}
		f.cfg.Buffers.putSearch(s)
		return
	}
	f.cfg.Buffers.wins -= s.noted
	f.cfg.Buffers.putSearch(s)
}

// endSearch skips what is left of the window.
func (f *Framer) endSearch() {
	s := f.search
	if s == nil {
		return
	}
	if len(s.win) > 0 {
		s.cand = -1
		f.dropSearch(s.base + int64(len(s.win)))
	}
	f.endRun()
	f.cfg.Buffers.wins -= s.noted
	f.search = nil
	f.cfg.Buffers.putSearch(s)
}

// endRun counts the run of rubbish, if there is one.
func (f *Framer) endRun() {
	if s := f.search; s.run > 0 {
		f.sink.Skipped(s.run, s.text.is())
		s.run, s.text = 0, text{}
	}
}
