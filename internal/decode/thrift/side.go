package thrift

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

type state uint8

const (
	atHeader  state = iota // the next byte starts a message, or buf has the start of its header
	inBody                 // more bytes of a message follow
	searching              // the position of the next message is not known
)

// side is one direction of a connection.
type side struct {
	conn     *conn
	number   int
	state    state
	resynced bool // the position of the next message was found by searching

	// buf has the first bytes of the message that is being read, if it crosses deliveries: its header, and its body as far as it is
	// kept.
	buf []byte
	// The message that is being read. captured and missingAt are as in rpc.Message; left is the number of bytes that follow if its length
	// is known.
	h                   header
	left                int
	captured, missingAt int
	missing             int // bytes that the capture lacks
	short               decode.Cause
	enough              bool // no more bytes of the body are kept
	limit               int  // bytes of the body that are kept
	first, last         rpc.Origin
	lastByte            int64
	start               int64
	wire                int64

	extent extent  // of a message without a frame
	search *search // nil if nothing is held
}

// data takes the next bytes of the stream.
func (s *side) data(b []byte, c *rpc.Chunk) {
	n := 0
	if s.state != searching {
		n = s.known(b, c)
	}
	if n < len(b) {
		rest := *c
		rest.Skip(n)
		s.find(b[n:], &rest)
	}
}

// known reads b, whose first byte is at a known place in a message, and returns the number of bytes it read: all, unless something else
// than a message is where one should begin.
func (s *side) known(b []byte, c *rpc.Chunk) int {
	at, overhead := 0, c.Overhead
	for at < len(b) && s.state != searching {
		n := 0
		if s.state == inBody {
			n = s.body(b[at:], c, overhead)
		} else {
			n = s.header(b[at:], c, c.Pos+int64(at), overhead)
		}
		at += n
		if n > 0 {
			overhead = 0
		}
	}
	return at
}

// header reads the header of a message, or a part of one, at the start of b, and the body after it if b has all of it.
func (s *side) header(b []byte, c *rpc.Chunk, pos int64, overhead int) int {
	if len(s.buf) == 0 {
		v := s.parse(b)
		if v == rpc.NotMine {
			s.state = searching
			return 0
		}
		if v == rpc.More && s.conn.held > s.conn.env.MaxBuffers {
			s.state = searching
			return 0
		}
		s.begin(c, pos)
		s.wire += int64(overhead)
		if v == rpc.Mine {
			return s.start1(b)
		}
		s.append(b)
		s.wire += int64(len(b))
		return len(b)
	}
	before := len(s.buf)
	n := min(len(b), maxHeader-before)
	s.append(b[:n])
	switch s.parse(s.buf) {
	case rpc.Mine:
		n = s.h.headLen + s.h.structAt - before
		s.buf = s.buf[:before+n]
		s.touch(c)
		s.wire += int64(n + overhead)
		s.startBody()
		if s.captured = s.h.structAt; s.h.bodyLen >= 0 {
			s.left = s.h.bodyLen - s.captured
		}
		return n
	case rpc.More:
		if n > 0 && s.conn.held <= s.conn.env.MaxBuffers {
			s.touch(c)
			s.wire += int64(n + overhead)
			return n
		}
	}
	s.buf = s.buf[:before]
	s.requeue()
	return 0
}

// skipBuffer counts the start of a header as skipped.
func (s *side) skipBuffer() {
	s.conn.owner.Unowned(s.number, int64(len(s.buf)), "")
	s.release()
}

// parse reads a header at the start of b in the style of the connection, or in any.
func (s *side) parse(b []byte) rpc.Verdict {
	if st := s.conn.style; st != anyStyle {
		return s.h.parse(st, b)
	}
	v := s.h.parse(plainStyle, b)
	if v == rpc.Mine {
		return v
	}
	if w := s.h.parse(framedStyle, b); w != rpc.NotMine {
		return w
	}
	return v
}

// begin starts a message at a position.
func (s *side) begin(c *rpc.Chunk, pos int64) {
	s.first, s.last, s.lastByte, s.start, s.wire = c.Origin, c.Origin, c.Time, pos, 0
}

// touch records that a packet has a byte of the message. Packets that were held after a gap are older than the one that filled it.
func (s *side) touch(c *rpc.Chunk) {
	s.lastByte = c.Time
	if c.Time > s.last.Time || c.Time == s.last.Time && c.Packet > s.last.Packet {
		s.last = c.Origin
	}
}

// start1 starts the message at the start of b, whose header was read, and passes it on if b has all of it. It returns the number of
// bytes it read.
func (s *side) start1(b []byte) int {
	s.startBody()
	n := s.h.headLen + s.h.structAt
	if s.h.bodyLen >= 0 {
		if all := s.h.headLen + s.h.bodyLen; len(b) >= all {
			s.captured = s.h.bodyLen
			s.wire += int64(all)
			s.emit(b[:all:all])
			return all
		}
		s.left = s.h.bodyLen - s.h.structAt
	} else {
		read := s.extent.read(b[n:], 0)
		if s.extent.ended() {
			all := n + read
			s.captured = all - s.h.headLen
			s.wire += int64(all)
			s.emit(b[:all:all])
			return all
		}
		s.extent.begin(s.h.enc == compact) // body reads the bytes again
	}
	s.append(b[:n])
	s.captured = s.h.structAt
	s.wire += int64(n)
	return n
}

// startBody prepares for the struct of the message whose header is h.
func (s *side) startBody() {
	c := s.conn
	c.use(s.h.style)
	c.styleSure = c.styleSure || !s.resynced // it began at a known place
	if c.client < 0 {
		c.client = s.number
		if s.h.kind == typeReply || s.h.kind == typeException {
			c.client = 1 - s.number
		}
	}
	s.state, s.left, s.captured, s.missingAt, s.missing, s.short, s.enough, s.limit = inBody, 0, 0, -1, 0, decode.None, false, -1
	if s.h.bodyLen < 0 {
		s.extent.begin(s.h.enc == compact)
	}
}

// body takes bytes of the struct and returns their number.
func (s *side) body(b []byte, c *rpc.Chunk, overhead int) int {
	n, ended := 0, false
	if s.h.bodyLen >= 0 {
		n = min(s.left, len(b))
		s.left -= n
		ended = s.left == 0
	} else {
		n = s.extent.read(b, 0)
		ended = s.extent.ended()
	}
	s.wire += int64(n + overhead)
	if n > 0 {
		s.touch(c)
		s.keep(b[:n])
		s.captured += n
	}
	if ended {
		s.emit(s.buf)
	}
	return n
}

// keep copies bytes of the body as far as they are needed and nothing is missing before them.
func (s *side) keep(b []byte) {
	if s.enough || s.missingAt >= 0 {
		return
	}
	c := s.conn
	if s.limit < 0 {
		s.limit = c.env.MaxBody
		if env := c.env; env.Detail == rpc.Envelope && !env.WholeBodies && !(env.Sampling && c.owner.Keep(s.number, s.asked())) {
			s.limit = s.h.structAt + enoughStruct
		}
	}
	body := len(s.buf) - s.h.headLen
	n := max(0, min(len(b), s.limit-body))
	if n > cap(s.buf)-len(s.buf) && c.held+n > c.env.MaxBuffers/2 {
		n = 0
	}
	s.append(b[:n])
	s.enough = n < len(b)
}

// enoughStruct is the number of bytes of a struct that tell what a reply is.
const enoughStruct = 16

// asked returns what is known of the message before its body is read.
func (s *side) asked() *rpc.Message {
	m := &s.conn.message
	*m = rpc.Message{}
	s.conn.describe(m, &s.h, s.buf)
	m.BodyLen = max(s.h.bodyLen, 0)
	return m
}

// append adds bytes to the buffer.
func (s *side) append(b []byte) {
	l := s.conn.lane
	if s.buf == nil {
		if k := len(l.free) - 1; k >= 0 {
			s.buf, l.free = l.free[k], l.free[:k]
			l.held += cap(s.buf)
		}
	}
	before := cap(s.buf)
	s.buf = append(s.buf, b...)
	l.held += cap(s.buf) - before
}

// release gives the buffer back.
func (s *side) release() {
	l := s.conn.lane
	l.held -= cap(s.buf)
	if n := cap(s.buf); n > 0 && n <= maxKept && len(l.free) < maxFree {
		l.free = append(l.free, s.buf[:0])
	}
	s.buf = nil
}

// emit passes the message on. b is what was kept of it, with the header of its frame.
func (s *side) emit(b []byte) {
	c, h := s.conn, &s.h
	m := &c.message
	*m = rpc.Message{}
	c.describe(m, h, b)
	m.Head, m.Body = b[:h.headLen:h.headLen], b[h.headLen:]
	m.HeaderLen, m.BodyLen = int32(h.headLen), h.bodyLen
	whole := s.missingAt < 0 && s.left == 0
	if h.bodyLen < 0 {
		m.BodyLen = s.captured + s.missing
		whole = whole && s.extent.ended()
	}
	m.Complete, m.Resync, m.Captured, m.MissingAt, m.Short = whole, s.resynced, s.captured, s.missingAt, s.short
	if s.missingAt < 0 {
		m.MissingAt = s.captured
	}
	if !whole && m.Short == decode.None {
		m.Short = decode.Lost // the stream ended
	}
	m.First, m.Last, m.File, m.FirstTime, m.LastByte = s.first, s.last, int32(s.last.File), s.first.Time, s.lastByte
	m.Span, m.Wire = rpc.Span{From: s.start, To: s.start + int64(m.FrameLen())}, s.wire
	detail := c.env.Detail
	if c.env.Sampling && m.IsWhole() {
		detail = c.owner.Want(s.number, m)
	}
	c.bodies.decode(m, h, detail)
	s.resynced, s.state = false, atHeader
	c.owner.Message(s.number, m)
	s.release()
}

// gap takes n missing bytes. wire of them were on the link, beyond the snap length.
func (s *side) gap(n, wire int64, c *rpc.Chunk) {
	s.settle()
	switch s.state {
	case atHeader:
		if len(s.buf) > 0 {
			s.skipBuffer()
		}
	case inBody:
		k := min(n, int64(s.left))
		if s.h.bodyLen < 0 {
			k = s.extent.lose(n)
		}
		if s.missingAt < 0 {
			s.missingAt, s.short = s.captured, decode.Lost
			if wire > 0 {
				s.short = decode.Cut
			}
		}
		if wire > 0 {
			s.wire += min(wire, k) + int64(c.Overhead)
			s.touch(c)
		}
		s.missing += int(k)
		if s.h.bodyLen >= 0 {
			s.left -= int(k)
		}
		switch {
		case s.h.bodyLen >= 0 && s.left > 0, s.h.bodyLen < 0 && k == n && !s.extent.ended():
			return
		}
		s.emit(s.buf)
		if n == k {
			return // the next message is at a known place
		}
	}
	s.state = searching
}

// end takes the end of the stream.
func (s *side) end() {
	s.settle()
	switch {
	case s.state == inBody:
		s.emit(s.buf)
	case len(s.buf) > 0:
		s.skipBuffer()
	}
	s.state = searching
}
