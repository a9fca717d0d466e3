package dubbo

import "bytes"

// search looks for the next frame where no place is known. A candidate must start with the magic, have a legal header
// and a body that starts as its serialization's bodies do, an id near the ids seen before, and be followed by another
// header, or end exactly with the bytes delivered. Until that is decided its bytes are held. What fails is skipped and
// counted.
type search struct {
	joined   bool // before the first frame of a connection joined midway
	afterGap bool // behind a gap
	win      []byte
	noted    int    // capacity of win, as Buffers knows it
	marks    []mark // where win's bytes came from
}

// mark says that win from off on, up to the next mark, came with a chunk.
type mark struct {
	off   int
	chunk Chunk
}

func (s *search) reset() {
	s.joined, s.afterGap = false, false
	s.win, s.marks = s.win[:0], s.marks[:0]
	if cap(s.win) > 1<<20 {
		s.win = nil
	}
}

// idWindow remembers the ids of one direction and kind.
type idWindow struct {
	last int64
	seen bool
}

// maxIDStep is how far apart the ids around a gap may lie: ids are counted per JVM, over all its connections.
const maxIDStep = 1 << 20

// nextIDStep is how far apart the ids of frames that follow each other lie on a connection that is not one of many.
const nextIDStep = 1 << 10

func (w *idWindow) see(id int64) { w.last, w.seen = id, true }

func (w *idWindow) near(id int64) bool {
	d := id - w.last
	return !w.seen || d <= maxIDStep && d >= -maxIDStep
}

type verdict uint8

const (
	no verdict = iota
	yes
	wait // more bytes are needed
)

// searchData takes the next bytes while no place is known.
func (f *Framer) searchData(b []byte, c *Chunk) {
	s := &f.search
	if len(s.win) == 0 {
		// Most bytes of a foreign stream end here, without a copy.
		i := bytes.IndexByte(b, 0xda)
		for i >= 0 && i+1 < len(b) && b[i+1] != 0xbb {
			j := bytes.IndexByte(b[i+1:], 0xda)
			if j < 0 {
				i = -1
				break
			}
			i += 1 + j
		}
		if i < 0 {
			f.rubbish(b)
			return
		}
		if i > 0 {
			f.rubbish(b[:i])
			rest := *c
			rest.Pos += int64(i)
			rest.Overhead = 0
			c, b = &rest, b[i:]
		}
	}
	s.marks = append(s.marks, mark{len(s.win), *c})
	f.setWindow(append(s.win, b...))
	f.decide(false)
}

// setWindow takes another window, and note of its size.
func (f *Framer) setWindow(win []byte) {
	s := &f.search
	f.cfg.Buffers.wins += cap(win) - s.noted
	s.win, s.noted = win, cap(win)
}

// decide judges the candidates in the window, from its start, as far as its bytes allow; atEnd: no more will come.
func (f *Framer) decide(atEnd bool) {
	s := &f.search
	from := 0
	for {
		i := bytes.Index(s.win[from:], []byte{0xda, 0xbb})
		if i < 0 {
			keep := len(s.win)
			if keep > from && s.win[keep-1] == 0xda && !atEnd {
				keep--
			}
			f.dropSearch(keep)
			return
		}
		from += i
		switch f.judge(s.win[from:], atEnd) {
		case wait:
			f.dropSearch(from)
			return
		case yes:
			f.dropSearch(from)
			f.found()
			return
		}
		from++
	}
}

// judge says whether b starts with a frame.
func (f *Framer) judge(b []byte, atEnd bool) verdict {
	more := wait
	if atEnd {
		more = no
	}
	if len(b) < HeaderLen {
		return more
	}
	h := parseHeader(b)
	if !h.legal(f.cfg.MaxSearchBody) || !h.Event() && !f.ids[requestBit(&h)].near(h.ID) {
		return no
	}
	body := b[HeaderLen:]
	if len(body) < min(startLen, h.BodyLen) {
		return more
	}
	if !h.startsLike(body[:min(startLen, h.BodyLen)]) {
		return no
	}
	if len(body) < h.BodyLen {
		if f.cfg.Buffers.wins > maxWindows && len(f.search.win) > maxKept {
			return no
		}
		return more
	}
	next := body[h.BodyLen:]
	if f.cfg.Readable != nil && !f.cfg.Readable(&h, body[:h.BodyLen]) {
		return no
	}
	switch {
	case len(next) == 0:
		// It ends with the stream, or with a segment: whoever sent it may wait for the answer now.
		return yes
	case h.Status == statusBadResponse && bytes.HasPrefix(zeros16, next[:min(len(next), HeaderLen)]):
		return yes
	case !isMagic(next):
		if f.due(&h) {
			return yes
		}
		return no
	case len(next) < HeaderLen:
		return yes // as much of a header as there is
	}
	n := parseHeader(next)
	if n.legal(f.cfg.MaxSearchBody) {
		return yes
	}
	return no
}

// zeros16 is how the rubbish begins that a provider of Dubbo 2.5 leaves behind an answer with status 50: the room for the
// header of the answer that it could not write, and then what it had written of the body.
var zeros16 = make([]byte, HeaderLen)

// due reports whether a candidate between rubbish is believed although no frame follows: providers before 2.5.6 that cannot
// write a result send its beginning behind the frame with the error, and may do so again and again. Where the capture
// lacks nothing, a response that is due, or an id right behind the last one, is no accident. Behind a gap both may be
// bytes of a body whose header was lost.
func (f *Framer) due(h *Header) bool {
	if f.search.afterGap || f.search.joined || h.Event() {
		return false
	}
	if !h.Request() && f.cfg.Expected != nil && f.cfg.Expected(h.ID) {
		return true
	}
	w := &f.ids[requestBit(h)]
	return w.seen && h.ID != w.last && h.ID-w.last <= nextIDStep && h.ID-w.last >= -nextIDStep
}

// candidate returns the header at the start of the window, where it is one that may be believed.
func (f *Framer) candidate() (h Header, ok bool) {
	win := f.search.win
	if len(win) < HeaderLen || !isMagic(win) {
		return h, false
	}
	h = parseHeader(win)
	n := min(startLen, h.BodyLen)
	return h, h.legal(f.cfg.MaxSearchBody) && f.ids[requestBit(&h)].near(h.ID) && len(win)-HeaderLen >= n &&
		h.startsLike(win[HeaderLen:HeaderLen+n])
}

// believed reports whether the window is the beginning of a frame, of which n bytes that follow are missing: one that is
// due, or one whose last byte is that of the gap, as where the snap length cuts packets with a frame each.
func (f *Framer) believed(n int64) bool {
	h, ok := f.candidate()
	return ok && (f.due(&h) || int64(h.FrameLen()) == int64(len(f.search.win))+n)
}

// dropSearch skips the first n bytes of the window.
func (f *Framer) dropSearch(n int) {
	s := &f.search
	if n == 0 {
		return
	}
	f.rubbish(s.win[:n])
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

// found goes on at the start of the window, where a frame stands.
func (f *Framer) found() {
	f.endRun()
	win, marks := f.search.win, f.search.marks
	f.setWindow(nil)
	f.search = search{}
	f.state = atHeader
	f.resynced = true
	for i := range marks {
		end := len(win)
		if i+1 < len(marks) {
			end = marks[i+1].off
		}
		f.Data(win[marks[i].off:end], &marks[i].chunk)
	}
}
