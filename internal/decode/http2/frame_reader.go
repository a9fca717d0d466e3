package http2

// header reads a frame's header, and the whole frame if b has it.
func (s *side) header(b []byte) int {
	if len(s.buf) == 0 {
		s.begin()
		if len(b) >= frameHeaderLen {
			h := parseFrameHeader(b)
			if h.kind == typeData && !h.has(flagPadded) {
				if st := s.conn.find(h.stream); st != nil && s.conn.certain(st, int(s.number)) { // the usual way through what follows
					s.h = h
					s.beginData(b[:frameHeaderLen])
					return frameHeaderLen
				}
			}
			if !s.accept(&h) {
				s.keepBadHeader(b[:frameHeaderLen])
				return 0
			}
			need := s.need(&h)
			if len(b) >= need {
				s.h = h
				if h.kind == typeData {
					s.beginData(b[:need])
					return need
				}
				if h.kind == typeHeaders && !s.inBlock { // as in frame
					s.row = nil
					s.headers(b[frameHeaderLen:need], b[:frameHeaderLen])
				} else {
					s.frame(b[frameHeaderLen:need], b[:frameHeaderLen])
				}
				s.endFrame(need)
				return need
			}
		}
	}
	// The frame crosses deliveries.
	had := len(s.buf)
	need := frameHeaderLen
	if had >= frameHeaderLen {
		h := parseFrameHeader(s.buf)
		need = s.needHeld(&h)
	}
	n := min(len(b), need-had)
	s.hold(b[:n])
	if len(s.buf) < need {
		return n
	}
	h := parseFrameHeader(s.buf)
	if need == frameHeaderLen && had < frameHeaderLen {
		if !s.accept(&h) {
			s.unown(int64(had), "")
			s.keepBadHeader(s.buf)
			s.drop()
			return 0
		}
		if s.needHeld(&h) > len(s.buf) {
			return n
		}
	}
	s.h = h
	if h.kind == typeData {
		head := s.buf
		s.beginData(head)
		s.drop()
		return n
	}
	buf := s.buf
	s.frame(buf[frameHeaderLen:], buf[:frameHeaderLen])
	s.endFrame(len(buf))
	s.drop()
	return n
}

// needHeld is need for a frame of which s.buf has the start. Without memory for a long part of a header block it is what there is.
func (s *side) needHeld(h *frameHeader) int {
	n := s.need(h)
	switch h.kind {
	case typeHeaders, typeContinuation, typePromise:
		if n > alwaysHeld && s.conn.full() {
			return len(s.buf)
		}
	}
	return n
}

// full reports whether the connections of the lane hold all that they may.
func (l *lane) full() bool { return l.held > l.env.MaxBuffers }

// alwaysHeld is the number of bytes of a frame or a header block, or of a head of HTTP/1, that a connection may hold in any case.
const alwaysHeld = 1 << 10

// hold keeps the start of a frame that crosses deliveries.
func (s *side) hold(b []byte) {
	before := cap(s.buf)
	s.buf = append(s.buf, b...)
	s.conn.held += cap(s.buf) - before
}

func (s *side) drop() {
	if cap(s.buf) > maxKept {
		s.conn.held -= cap(s.buf)
		s.buf = nil
	}
	s.buf = s.buf[:0]
}

// accept reports whether h may be the header of the next frame. If not, the search begins.
func (s *side) accept(h *frameHeader) bool {
	if s.allows(h) {
		return true
	}
	s.conn.owner.BadHeader(int(s.number))
	s.lost()
	return false
}

// allows reports whether h may be the header of a frame of this side. DATA may be longer than was announced: the SETTINGS that
// allow it may come later in the capture.
func (s *side) allows(h *frameHeader) bool {
	switch {
	case !h.valid():
		return false
	case h.kind == typeData:
		return !s.conn.idle(h.stream)
	case h.kind > typeContinuation:
		return h.length <= maxUnknown
	}
	return h.length <= min(int(s.maxFrame), 2*maxBlock)
}

// maxUnknown limits frames of unknown types, which are short. What looks like a longer one are bytes of a body after a damaged length.
const maxUnknown = 1 << 16

// need returns how many bytes of a frame are read at once.
func (s *side) need(h *frameHeader) int {
	switch h.kind {
	case typeData:
		n := frameHeaderLen
		if h.padded() {
			n++
		}
		if st := s.conn.find(h.stream); st == nil || !s.conn.certain(st, int(s.number)) {
			n = min(n+prefixLen, frameHeaderLen+h.length) // they tell whether a message begins here
		}
		return n
	case typeHeaders, typeContinuation, typePromise:
		return frameHeaderLen + min(h.length, maxBlock)
	}
	return frameHeaderLen + min(h.length, maxControl)
}

// endFrame is called after the first n bytes of a frame that is not DATA; they have an owner.
func (s *side) endFrame(n int) {
	if s.state == searching {
		return
	}
	s.state = atFrame
	if s.left = frameHeaderLen + s.h.length - n; s.left > 0 {
		s.state = inPayload
	}
}

// payload takes the rest of a frame that is too long to be read.
func (s *side) payload(b []byte) int {
	n := min(len(b), s.left)
	if s.row != nil {
		s.own(s.row, s.pos, int64(n))
		s.row.header(pieceOther, n, s.headBytes(b[:n]))
		s.placeHead(s.row, s.pos, n)
	} else {
		s.unown(int64(n), s.h.name())
	}
	if s.left -= n; s.left == 0 {
		s.state = atFrame
	}
	return n
}
