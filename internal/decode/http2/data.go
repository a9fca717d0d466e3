package http2

import (
	"encoding/binary"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// beginData starts a DATA frame. head is its header with the length of its padding; if the place in the messages is not
// known, the first bytes of its data follow, as far as it has them.
func (s *side) beginData(head []byte) {
	c, h := s.conn, &s.h
	n := frameHeaderLen
	s.left, s.pad = h.length, 0
	if h.padded() {
		s.pad = int(head[frameHeaderLen])
		n++
		s.left--
		s.pad = min(s.pad, s.left) // more is an error of the peer; all of it is padding then
	}
	s.state, s.row, s.deferring = inData, nil, s.pad > 0
	s.stream = s.owner()
	if s.stream == nil {
		s.unown(int64(n), h.name())
		s.keepData(n, head)
		s.firstData(head[n:], n)
		return
	}
	st := s.stream
	half := &st.halves[s.number]
	s.spend(st)
	if !c.certain(st, int(s.number)) {
		s.place(half, head[n:])
		if half.lost {
			s.unown(int64(n), "")
			s.keepData(n, head)
			s.firstData(head[n:], n)
			return
		}
	}
	r := half.row
	switch data := s.left - s.pad; {
	case r == nil:
		r = s.newRow(st)
		r.broken = !half.headed && half.count == 0 || !c.certain(st, int(s.number))
		s.startRow(r, half, data)
	case data > 0 && r.state == rowHead:
		s.startRow(r, half, data)
	case data > 0 && r.state == rowWhole:
		c.emit(r, false)
		r = s.newRow(st)
		s.startRow(r, half, data)
	}
	s.row = r
	s.own(r, s.from, int64(n))
	s.describeData(r, head[:n])
	s.firstData(head[n:], n)
}

// firstData takes the payload bytes of a DATA frame that were read with the n bytes before them.
func (s *side) firstData(b []byte, n int) {
	next := s.pos
	for s.pos = s.from + int64(n); len(b) > 0; {
		k := s.data(b)
		s.pos += int64(k)
		b = b[k:]
	}
	s.pos = next
	s.endDataIf()
}

// describeData adds the header of the current DATA frame to a row.
func (s *side) describeData(r *row, head []byte) {
	kept := s.headBytes(head)
	if kept == nil {
		r.m.HeaderLen += int32(len(head))
		return
	}
	r.header(pieceFrame, frameHeaderLen, kept[:frameHeaderLen])
	r.header(piecePadLength, len(head)-frameHeaderLen, kept[frameHeaderLen:])
	s.placeHead(r, s.from, len(head))
}

// startRow starts the body of a row with a frame of n data bytes.
func (s *side) startRow(r *row, half *half, n int) {
	switch {
	case n == 0:
	case half.prefixed():
		r.state = rowPrefix
	default:
		r.state = rowPlain
		s.conn.startBody(r, 0)
	}
}

// owner returns the stream of the current DATA frame, nil if its bytes belong to no message. It opens a stream that was opened
// before the capture, or in a gap.
func (s *side) owner() *stream {
	c, id := s.conn, s.h.stream
	st := c.find(id)
	if st != nil {
		if st.halves[s.number].ended {
			return nil
		}
		return st
	}
	if c.wasClosed(id) {
		return nil
	}
	st = s.openStream(id)
	st.before = c.joined && (c.first == 0 || id < c.first)
	for i := range st.halves {
		st.halves[i].lost = true
	}
	return st
}

// openStream opens a stream and notes its number. Without losses only frames of the end that numbers it tell how far the numbers are.
func (s *side) openStream(id uint32) *stream {
	c := s.conn
	st := c.open(id)
	highest, far := &c.highest[id&1], &c.far[id&1]
	switch {
	case id <= *highest, !c.lossy() && c.client >= 0 && (int8(s.number) == c.client) != (id&1 == 1):
	case *highest == 0, id-*highest <= maxJump, id > *far && id-*far <= maxJump:
		*highest = id
	default:
		*far = id
	}
	return st
}

// maxJump is how far the number of a stream may be above the others. One beyond may be damaged: it closes the streams below only if
// another one follows.
const maxJump = 1 << 8

// place finds out whether the place of the current frame in the direction's messages is known again. start is the first bytes
// of its data.
func (s *side) place(half *half, start []byte) {
	data := s.left - s.pad
	r := half.row
	begins := begins(start, data)
	switch {
	case half.framing == framingPlain:
		if r != nil && half.gaps != s.gaps {
			r.broken = true
		}
	case !half.lost && r != nil && r.state == rowBody && data <= r.left && !beginsMaybe(start):
		// The frame continues the message and does not reach beyond it. If it was not the next one, the length will tell.
		if data < r.left || data == 0 {
			return
		}
	case data == 0:
		if r != nil {
			r.broken = true // messages before the end may be lost
		}
		return
	case begins:
		switch {
		case r == nil:
		case r.state == rowHead:
			r.broken = true // the headers may be those of a message that is lost
		case r.state == rowWhole:
			s.conn.emit(r, false)
		default:
			r.broken = true
			s.conn.emit(r, false)
		}
	default:
		half.lost = true
		switch {
		case r == nil:
		case r.state == rowWhole:
			s.conn.emit(r, false) // it is not the last one
		default:
			r.broken = true
		}
		return
	}
	half.lost, half.gaps = false, s.gaps
}

// keepData passes on the start of a DATA frame without a row, whose data begin after n bytes. A prefix stays: a search looks for one.
func (s *side) keepData(n int, head []byte) {
	if isMessage(head[n:], s.left-s.pad) {
		n += prefixLen
	}
	s.keepFrame(n, head)
}

// begins reports whether DATA of n bytes with that start is a gRPC message, and not an empty one, which zeros in a longer one may be.
func begins(start []byte, n int) bool { return n > prefixLen && isMessage(start, n) }

// isMessage reports whether DATA of n bytes with that start may be a gRPC message, if only an empty one.
func isMessage(start []byte, n int) bool {
	return len(start) >= prefixLen && start[0] <= 1 && prefixLen+int(binary.BigEndian.Uint32(start[1:])) == n
}

// beginsMaybe reports whether DATA with that start may begin with a gRPC message.
func beginsMaybe(start []byte) bool {
	return len(start) < prefixLen || start[0] <= 1 && binary.BigEndian.Uint32(start[1:]) <= maxPart
}

// beginsPart reports whether DATA of n bytes with that start is a gRPC message, or may be the first part of a long one.
func beginsPart(start []byte, n int) bool {
	if len(start) < prefixLen || start[0] > 1 {
		return false
	}
	length := int(binary.BigEndian.Uint32(start[1:]))
	return prefixLen+length == n || n >= minPart && length > n && length <= maxPart
}

// minPart and maxPart bound a message of which a frame has only the first part: the length of the frame, and of the message,
// in bytes.
const (
	minPart = 8 << 10
	maxPart = 64 << 20
)

// data takes bytes of a DATA frame.
func (s *side) data(b []byte) int {
	if s.doubtful && s.endDoubt(b) {
		return 0
	}
	n := min(len(b), s.left-s.pad)
	switch {
	case n == 0: // padding
		n = min(len(b), s.left)
		if s.row != nil {
			s.own(s.row, s.pos, int64(n))
			s.row.header(piecePadding, n, s.headBytes(b[:n]))
			s.placeHead(s.row, s.pos, n)
		} else {
			s.unown(int64(n), s.dataName())
		}
		s.left -= n
		s.pad = s.left
	case s.row == nil || s.stream.halves[s.number].lost:
		s.unown(int64(n), s.dataName())
		s.left -= n
	default:
		s.takeData(b[:n])
	}
	s.endDataIf()
	return n
}

// within takes data bytes that are neither the last ones of their frame nor of their message, and of which only the number is needed. It
// returns false if they are others.
func (s *side) within(b []byte, chunk *rpc.Chunk) bool {
	n := len(b)
	if s.row == nil || n >= s.left-s.pad {
		return false
	}
	half := &s.stream.halves[s.number]
	r := half.row
	if r == nil || !r.enough || s.conn.env.Framing {
		return false
	}
	switch {
	case r.state == rowBody && n < r.left:
		r.left -= n
	case r.state == rowPlain && !half.lost && !s.doubtful:
		r.m.BodyLen += n
	default:
		return false
	}
	s.chunk = chunk
	s.overhead += int64(chunk.Overhead)
	r.captured += n
	s.own(r, chunk.Pos, int64(n))
	s.left -= n
	s.pos = chunk.Pos + int64(n)
	return true
}

// dataName returns the name for bytes of the current DATA frame that belong to no message: skipped bytes of an open stream have
// none.
func (s *side) dataName() string {
	if s.stream != nil || s.conn.http1.stays() {
		return ""
	}
	return s.h.name()
}

// takeData takes data bytes, which start at s.pos, for the messages of the direction.
func (s *side) takeData(b []byte) {
	c, st := s.conn, s.stream
	half := &st.halves[s.number]
	at := s.pos
	from, r := at, half.row // bytes from from up to at are r's, but it does not own them yet
	for len(b) > 0 {
		if r.state == rowWhole {
			if at > from {
				s.own(r, from, at-from)
				from = at
			}
			c.emit(r, false)
			r = s.newRow(st)
			r.state = rowPrefix
		}
		n := 0
		if r.state == rowPrefix {
			n = copy(r.prefix[r.nprefix:], b)
			for i := 0; c.env.Framing && i < n; i++ {
				r.keepHead()
				r.prefixAt[int(r.nprefix)+i] = at + int64(i)
			}
			if r.nprefix += uint8(n); r.nprefix < prefixLen {
				r.m.HeaderLen += int32(n)
			} else {
				r.m.HeaderLen -= int32(prefixLen - n)
				if half.framing == framingUnknown && !r.isPrefix() {
					c.noPrefix(r)
					at += int64(n)
					b = b[n:]
					s.left -= n
					continue
				}
				if kept := s.headBytes(r.prefix[:]); kept == nil {
					r.m.HeaderLen += prefixLen
				} else {
					r.header(piecePrefix, prefixLen, kept)
				}
				s.placePrefix(r)
				c.readPrefix(r)
			}
		} else {
			n = c.take(r, b, at)
		}
		at += int64(n)
		b = b[n:]
		s.left -= n
	}
	s.own(r, from, at-from)
}

// endDataIf ends the DATA frame after its last byte.
func (s *side) endDataIf() {
	if s.left > 0 {
		return
	}
	if s.state = s.next; s.state == afterMessage {
		s.state = s.after
	}
	s.deferring = false
	s.flush()
	if st := s.stream; st != nil && s.h.has(flagEndStream) {
		s.exchange = nil
		s.conn.endHalf(st, int(s.number))
	} else if st != nil {
		s.noteBlocked(&st.halves[s.number])
	}
	s.stream, s.row = nil, nil
}

// flush passes on the rows that waited for the padding of a frame.
func (s *side) flush() {
	for i, r := range s.deferred {
		s.conn.pass(r)
		s.deferred[i] = nil
	}
	s.deferred = s.deferred[:0]
}

// loseData takes n missing bytes of the current DATA frame.
func (s *side) loseData(n int, cause decode.Cause) {
	if s.row == nil {
		s.left -= n
		s.pad = min(s.pad, s.left)
		s.endDataIf()
		return
	}
	half := &s.stream.halves[s.number]
	for n > 0 && s.left > s.pad && !half.lost {
		r := half.row
		k := min(n, s.left-s.pad)
		switch r.state {
		case rowBody:
			k = min(k, r.left)
			s.conn.lose(r, k, cause)
			r.wire += s.overhead
			s.overhead = 0
		case rowPlain:
			s.conn.lose(r, k, cause)
			r.wire += s.overhead
			s.overhead = 0
		default: // where messages begin is not known any more
			if r.state == rowPrefix {
				r.broken = true
			}
			half.lost = true
			k = 0
		}
		n -= k
		s.left -= k
	}
	if n > s.left-s.pad {
		s.row.broken = true // padding is missing
	}
	s.left -= n
	s.pad = min(s.pad, s.left)
	s.endDataIf()
}

// rest returns how many bytes of the frame that s.buf starts are not there.
func (s *side) rest() int {
	h := parseFrameHeader(s.buf)
	return frameHeaderLen + h.length - len(s.buf)
}

// loseFrame takes a gap of n bytes in a frame of which s.buf has the start.
func (s *side) loseFrame(n int, cause decode.Cause) {
	h := parseFrameHeader(s.buf)
	s.h = h
	head := s.buf
	if h.kind == typeData {
		// Its padding and the start of its data are not known.
		if st := s.conn.find(h.stream); st != nil {
			half := &st.halves[s.number]
			half.lost = true
			if half.row != nil && half.row.state != rowWhole {
				half.row.broken = true
			}
		}
		s.unown(int64(len(head)), "")
		s.keepFrame(frameHeaderLen, head)
		s.stream, s.row, s.pad = s.conn.find(h.stream), nil, 0
		s.left = frameHeaderLen + h.length - len(head) - n
		s.state = inData
		s.drop()
		s.endDataIf()
		return
	}
	s.row = nil
	switch h.kind {
	case typeHeaders, typeContinuation, typePromise:
		s.table.forget()
		s.abandonBlock()
		if st := s.conn.find(h.stream); h.kind == typeHeaders && (st != nil || !s.conn.wasClosed(h.stream)) {
			s.row = s.headersRow(st, h.stream)
			s.row.broken = true
			s.row.short = cause
			s.own(s.row, s.from, int64(len(head)))
			s.row.header(pieceFrame, frameHeaderLen, s.headBytes(head[:frameHeaderLen]))
			s.row.header(pieceOther, len(head)-frameHeaderLen, s.headBytes(head[frameHeaderLen:]))
			s.placeHead(s.row, s.from, len(head))
		}
	}
	if s.row == nil {
		s.unown(int64(len(head)), h.name())
		s.keepFrame(frameHeaderLen, head)
	}
	s.left = frameHeaderLen + h.length - len(head) - n
	s.drop()
	s.state = inPayload
	if s.left == 0 {
		s.state = atFrame
	}
	if s.row != nil && h.kind == typeHeaders && h.has(flagEndStream) && s.left == 0 {
		s.conn.endHalf(s.row.stream, int(s.number))
	}
}

// describe returns a frame's header as text.
func describe(h *frameHeader) string {
	name := "type " + strconv.Itoa(int(h.kind))
	if int(h.kind) < len(typeNames) {
		name = typeNames[h.kind]
	}
	text := name + ", " + strconv.Itoa(h.length) + " bytes, stream " + strconv.FormatUint(uint64(h.stream), 10)
	for _, f := range [...]struct {
		flag uint8
		name string
		on   bool
	}{
		{flagEndStream, "END_STREAM", h.kind == typeData || h.kind == typeHeaders},
		{flagEndHeaders, "END_HEADERS", h.kind == typeHeaders || h.kind == typeContinuation || h.kind == typePromise},
		{flagPadded, "PADDED", h.kind == typeData || h.kind == typeHeaders || h.kind == typePromise},
		{flagPriority, "PRIORITY", h.kind == typeHeaders},
	} {
		if f.on && h.has(f.flag) {
			text += ", " + f.name
		}
	}
	return text
}

func describePrefix(prefix []byte) string {
	text := "not compressed"
	if prefix[0] == 1 {
		text = "compressed"
	} else if prefix[0] > 1 {
		text = "flag " + strconv.Itoa(int(prefix[0]))
	}
	return text + ", " + strconv.FormatUint(uint64(binary.BigEndian.Uint32(prefix[1:])), 10) + " bytes"
}

var _ rpc.Conn = (*conn)(nil)
