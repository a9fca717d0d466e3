package thrift

import (
	"bytes"

	"dubbo-wire/internal/rpc"
)

// search finds the next message of a direction whose place is not known: after joining a connection, after a gap that hid the end of a
// message, and after bytes that are not one. A message found must have a header with all its marks and a struct that is one to its end,
// where its frame ends too and the bytes after it begin another message. Of a long message, and of one that reaches beyond what was
// captured so far, the first values decide.
type search struct {
	buf        []byte
	from       int64 // place of buf in the stream
	deliveries rpc.HeldChunks
	at         int // the first place in buf that was not examined
	counted    int // the bytes before it were counted
}

// Bounds of the verification of a message: tokens of its struct, and bytes that are held for it.
const (
	maxTokens = 256
	maxHeld   = 16 << 10
)

// find searches the next bytes.
func (s *side) find(b []byte, c *rpc.Chunk) {
	if len(b) == 0 {
		return
	}
	q := s.search
	if q == nil {
		q = new(search)
		q.from, s.search = c.Pos, q
	}
	before := cap(q.buf)
	q.deliveries = append(q.deliveries, rpc.Held{Chunk: *c, At: len(q.buf)})
	q.buf = append(q.buf, b...)
	s.conn.held += cap(q.buf) - before
	s.examine(false)
}

// examine looks for messages in what is held, and reads them. last is set if no more bytes follow.
func (s *side) examine(last bool) {
	q := s.search
	for q.at < len(q.buf) {
		v := s.check(last || s.conn.held > s.conn.env.MaxBuffers/2)
		if v == rpc.More {
			break
		}
		if v == rpc.NotMine {
			q.at++
			continue
		}
		s.count()
		s.state, s.resynced = atHeader, true
		s.replay()
	}
	if s.state != searching {
		s.conn.held -= cap(q.buf)
		s.search = nil
		return
	}
	s.count()
	s.trim()
}

// replay reads what is held from the current place on, as far as it is messages.
func (s *side) replay() {
	q := s.search
	for i := max(0, q.deliveries.Find(q.at+1)-1); i < len(q.deliveries) && s.state != searching; i++ {
		d := &q.deliveries[i]
		c := d.Chunk
		c.Skip(q.at - d.At)
		end := q.deliveries.End(i, len(q.buf))
		n := s.known(q.buf[q.at:end:end], &c)
		q.at += n
	}
	q.counted = q.at
}

// count counts the bytes before the current place as skipped.
func (s *side) count() {
	q := s.search
	if n := q.at - q.counted; n > 0 {
		s.conn.owner.Unowned(s.number, int64(n), "")
		q.counted = q.at
	}
}

// trim drops the bytes before the current place.
func (s *side) trim() {
	q := s.search
	n := q.at
	if n == len(q.buf) {
		s.conn.held -= cap(q.buf)
		s.search = nil
		return
	}
	if n < len(q.buf)/2 {
		return
	}
	q.deliveries = q.deliveries.Drop(n, len(q.buf))
	q.buf = q.buf[:copy(q.buf, q.buf[n:])]
	q.from += int64(n)
	q.at, q.counted = 0, 0
}

// settle decides about what is held: no more bytes follow, or the capture lacks them.
func (s *side) settle() {
	if s.search != nil {
		s.examine(true)
	}
}

// requeue searches in the bytes of the buffer, which are not a header, and in what follows.
func (s *side) requeue() {
	n := len(s.buf)
	s.state = searching
	if q := s.search; q != nil { // they are held
		q.at -= n
		s.release()
		return
	}
	q := &search{from: s.start, buf: append([]byte(nil), s.buf...)}
	c := rpc.Chunk{Origin: s.first, Pos: s.start, Overhead: int(s.wire) - n}
	q.deliveries = append(q.deliveries, rpc.Held{Chunk: c})
	s.release()
	s.conn.held += cap(q.buf)
	s.search = q
}

// check reports whether a message begins at the current place of a search.
func (s *side) check(last bool) rpc.Verdict {
	q, c := s.search, s.conn
	b := q.buf[q.at:]
	verdict := rpc.NotMine
	for _, st := range c.styles() {
		var h header
		v := h.parse(st, b)
		if v == rpc.Mine {
			v = s.judge(&h, b, last)
		} else if last || len(b) > maxHeader {
			v = rpc.NotMine
		}
		switch v {
		case rpc.Mine:
			c.use(st)
			return v
		case rpc.More:
			verdict = v
		}
	}
	return verdict
}

// judge reports whether the message whose header begins b, the bytes from the current place of a search on, is one.
func (s *side) judge(h *header, b []byte, last bool) rpc.Verdict {
	q, c, x := s.search, s.conn, &s.extent
	if c.client >= 0 && (h.kind == typeCall || h.kind == typeOneWay) != (s.number == c.client) {
		return rpc.NotMine // it lies in a value of a message
	}
	starts := q.deliveryAt(q.at)
	v := h.verify(b, starts, last, x)
	// The bytes before a message may look like the length of a frame, and a frame has a message without it. Only the end tells them
	// apart.
	trusted := c.styleSure && h.style == c.style || starts && !c.styleSure
	if v != rpc.Mine || trusted || x.whole() {
		return v
	}
	if last || x.tokens >= maxTokens || len(b) > 4*maxHeld {
		return rpc.NotMine
	}
	return rpc.More
}

// use sets the style of the connection.
func (c *conn) use(st style) {
	if c.style != st {
		c.style, c.styleSure = st, st == dubboStyle
	}
}

// styles returns the styles that messages may have.
func (c *conn) styles() []style {
	switch {
	case c.style == dubboStyle:
		return allStyles[:1]
	case c.style == framedStyle && c.styleSure:
		return allStyles[1:2]
	}
	return allStyles[1:]
}

var allStyles = []style{dubboStyle, framedStyle, plainStyle}

// deliveryAt reports whether a delivery starts at an offset of the buffer.
func (q *search) deliveryAt(at int) bool {
	i := q.deliveries.Find(at)
	return i < len(q.deliveries) && q.deliveries[i].At == at
}

// isStrong reports whether hardly any other bytes begin like this header.
func (h *header) isStrong(starts bool) bool {
	return h.style == dubboStyle || h.enc == strict || h.style == framedStyle && starts
}

// verify reports whether the struct after a header at the start of b is one, and what follows the message is the next one's header.
// starts is set if a packet began there, last if no more bytes follow. It uses x.
func (h *header) verify(b []byte, starts, last bool, x *extent) rpc.Verdict {
	if h.enc == loose && !starts && h.style == plainStyle {
		return rpc.NotMine // any text in a struct, and the field after it, look like this
	}
	from := h.headLen + h.structAt
	body, end := b[from:], len(b)
	if h.bodyLen >= 0 {
		end = h.headLen + h.bodyLen
		body = b[from:min(len(b), end)]
	}
	x.begin(h.enc == compact)
	read := x.read(body, maxTokens)
	strong := h.isStrong(starts)
	switch {
	case x.bad:
		return rpc.NotMine
	case x.whole():
		if h.bodyLen >= 0 && from+read != end {
			return rpc.NotMine
		}
		x.more = from+read < len(b)
		return h.followed(b[from+read:])
	case x.tokens >= maxTokens:
		return rpc.Mine
	case h.bodyLen >= 0 && len(b) >= end: // the frame ends within the struct
		return rpc.NotMine
	case strong && (starts || last || h.style == dubboStyle || read >= maxHeld):
		return rpc.Mine
	case last || read >= 4*maxHeld:
		return rpc.NotMine
	}
	return rpc.More
}

// followed reports whether rest, the bytes after a message, may begin another one.
func (h *header) followed(rest []byte) rpc.Verdict {
	var next header
	if len(rest) > 0 && next.parse(h.style, rest) == rpc.NotMine {
		return rpc.NotMine
	}
	return rpc.Mine
}

// found reports whether b, bytes of one packet from anywhere in a direction, certainly has a message: at its start, or one that is
// followed by another one. Alone after other bytes it may as well be what Dubbo's frame holds, whose head began in an earlier packet.
func found(b []byte, styles ...style) bool {
	var x extent
	for _, st := range styles {
		var h header
		if h.parse(st, b) == rpc.Mine {
			if h.verify(b, true, false, &x) == rpc.Mine {
				return true
			}
		}
		for at := next(b, st, 1); at >= 0; at = next(b, st, at+1) {
			if h.parse(st, b[at:]) == rpc.Mine && h.verify(b[at:], false, false, &x) == rpc.Mine && x.whole() &&
				(st == dubboStyle || x.more) {
				return true
			}
		}
	}
	return false
}

// next returns the first place from at on where a message may begin whose header is strong, or -1.
func next(b []byte, st style, at int) int {
	mark, before := magic, 4
	switch st {
	case plainStyle:
		mark, before = []byte{0x80, 1, 0}, 0
	case framedStyle:
		mark = []byte{0x80, 1, 0}
	}
	if at+before > len(b) {
		return -1
	}
	k := bytes.Index(b[at+before:], mark)
	if k < 0 {
		return -1
	}
	return at + k
}
