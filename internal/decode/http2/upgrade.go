package http2

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// A connection of HTTP/1 may switch to HTTP/2 with its first request (RFC 7540, section 3.2): the request is that of stream 1,
// though no frame carries it, and a response with status 101 precedes the server's frames. Until that comes, the request is a row that is
// not passed on. If another response comes, the connection stays one of HTTP/1, and its bytes are skipped.

// upgrade is the state of a connection that may switch.
type upgrade struct {
	accepted, refused bool
	settings          []byte // payload of the client's SETTINGS in the request
}

// undecided reports whether it is not known whether the connection has switched. A connection without an upgrade has.
func (u *upgrade) undecided() bool { return u != nil && !u.accepted }

// OpenHTTP1 is New of the protocol HTTP/1, whose connections may switch to HTTP/2. Of those that do not, bytes are only counted.
func OpenHTTP1(self *rpc.Protocol, env *rpc.Env) rpc.Opener {
	l := laneOf(env)
	return func(owner rpc.Owner, _ bool) rpc.Conn {
		owner.Claim(self.Name)
		c := l.newConn(owner, false)
		c.upgrade = new(upgrade)
		for i := range c.sides {
			c.sides[i].state = atHTTP1
		}
		return &http1Conn{owner: owner, conn: c}
	}
}

// AsksToSwitch reports whether b begins with a request to switch to HTTP/2.
func AsksToSwitch(b []byte) bool {
	if len(b) == 0 || b[0] < 'A' || b[0] > 'Z' {
		return false
	}
	h, ok := parseHTTP1(b[:min(len(b), maxHTTP1Head)], nil)
	return ok && h.request && h.h2c && h.settings != nil
}

// http1Conn is a connection that begins with HTTP/1. conn is nil if it does not switch.
type http1Conn struct {
	owner rpc.Owner
	conn  *conn
}

// release frees the memory of a connection that does not switch.
func (h *http1Conn) release() {
	if h.conn.upgrade.refused {
		h.conn = nil
	}
}

// Data implements [rpc.Conn].
func (h *http1Conn) Data(side int, b []byte, chunk *rpc.Chunk) {
	if h.conn == nil {
		h.owner.Unowned(side, int64(len(b)), "")
		return
	}
	h.conn.Data(side, b, chunk)
	h.release()
}

// Gap implements [rpc.Conn].
func (h *http1Conn) Gap(side int, n, wire int64, chunk *rpc.Chunk) {
	if h.conn != nil {
		h.conn.Gap(side, n, wire, chunk)
		h.release()
	}
}

// Repeat implements [rpc.Conn].
func (h *http1Conn) Repeat(side int, span rpc.Span, wire int64) bool {
	return h.conn != nil && h.conn.Repeat(side, span, wire)
}

// End implements [rpc.Conn].
func (h *http1Conn) End(side int) {
	if h.conn != nil {
		h.conn.End(side)
	}
}

// Pending implements [rpc.Conn].
func (h *http1Conn) Pending(side int) rpc.Pending {
	if h.conn == nil {
		return rpc.Pending{}
	}
	return h.conn.Pending(side)
}

// Bounds of what is held of HTTP/1: a head, the line before a chunk, and SETTINGS until the connection has switched, in bytes.
const (
	maxHTTP1Head       = 64 << 10
	maxChunkLine       = 1 << 10
	maxUpgradeSettings = 64 * 6
)

// http1 reads the head of a request or a response.
func (s *side) http1(b []byte) int {
	if len(s.buf) == 0 {
		s.begin()
	}
	had := len(s.buf)
	b = b[:min(len(b), maxHTTP1Head-had)]
	s.hold(b)
	searched := max(0, had-3)
	end := bytes.Index(s.buf[searched:], []byte("\r\n\r\n"))
	switch {
	case end >= 0:
	case len(s.buf) <= alwaysHeld, len(s.buf) < maxHTTP1Head && !s.conn.full():
		return len(b)
	default:
		s.noHTTP1(had)
		return 0
	}
	end += searched + 4
	head := s.buf[:end]
	h, ok := s.parseHTTP1(head)
	switch {
	case !ok || h.request && !h.h2c || !h.request && (h.status == 101) != h.h2c || !h.request && h.status >= 200:
		s.noHTTP1(had)
		return 0
	case h.request:
		s.http1Request(&h, head)
	default:
		s.http1Response(&h, head)
	}
	s.freeBuffers() // the connection may wait long for an answer
	return end - had
}

// parseHTTP1 reads the lines of a head. Its fields are valid until the next one.
func (s *side) parseHTTP1(b []byte) (h http1Head, ok bool) {
	l := s.conn.lane
	if l.http1Fields == nil {
		l.http1Fields = make([]rpc.Header, 0, usualFields)
	}
	h, ok = parseHTTP1(b, l.http1Fields[:0])
	l.http1Fields = h.fields
	return h, ok
}

// http1Request begins stream 1 with the head of its request.
func (s *side) http1Request(h *http1Head, head []byte) {
	c := s.conn
	st := s.http1Stream()
	if st == nil {
		s.unown(int64(len(head)), unowned[typeHeaders])
		s.lost()
		return
	}
	r := s.newRow(st)
	s.http1Row(r, h, head)
	s.firstHeaders(st, &st.halves[s.number], &r.first.Head)
	c.upgrade.settings = bytes.Clone(h.settings[:min(len(h.settings), maxUpgradeSettings)])
	if c.upgrade.accepted {
		s.settings(h.settings)
	}
	s.http1Body(st, h)
}

// http1Stream returns stream 1 for the request, nil if it was closed before.
func (s *side) http1Stream() *stream {
	c := s.conn
	st := c.find(1)
	if st == nil && !c.wasClosed(1) {
		st = s.openStream(1)
	}
	if st != nil && st.halves[s.number].row != nil {
		return nil
	}
	if !c.used {
		c.use, c.used = triple.Plain, true // unless the headers tell that it is gRPC
	}
	return st
}

// http1Row gives the bytes of a head to a row.
func (s *side) http1Row(r *row, h *http1Head, head []byte) {
	s.own(r, s.from, int64(len(head)))
	s.conn.blocks.begin(false)
	r.first = s.conn.blocks.head.keep()
	r.first.Head = triple.HeadOf(h.fields)
	if s.headBytes(head) == nil {
		if s.conn.listed() {
			s.conn.addFields(r, slices.DeleteFunc(h.fields, ofConnection))
		}
		r.m.HeaderLen += int32(len(head))
		return
	}
	s.conn.addFields(r, h.fields)
	r.http1Head(h, head)
	s.placeHead(r, s.from, len(head))
}

// ofConnection reports whether a header is about the connection or the length of the body, which nothing after the reader needs.
func ofConnection(h rpc.Header) bool {
	switch h.Name {
	case "connection", "upgrade", "http2-settings", "transfer-encoding", "content-length":
		return true
	}
	return false
}

// http1Body begins the body of a request: its bytes are read as if they came in frames, each chunk in one.
func (s *side) http1Body(st *stream, h *http1Head) {
	switch {
	case h.chunked:
		s.next, s.trailing = atChunk, false
		s.state = atChunk
	case h.length > 0:
		s.next = atStart
		s.http1Data(st, h.length, flagEndStream)
	default:
		s.state = atStart
		s.conn.endHalf(st, int(s.number))
	}
}

// http1Data begins n bytes of a body.
func (s *side) http1Data(st *stream, n int, flags uint8) {
	r := st.halves[s.number].row
	s.h = frameHeader{length: n, kind: typeData, flags: flags, stream: st.id}
	s.left, s.pad, s.state = n, 0, inData
	s.stream, s.row = st, r
	if r.state == rowHead {
		s.startRow(r, &st.halves[s.number], n)
	}
}

// chunkLine reads a line of the chunked coding: the length of a chunk, the end of one, or a trailer.
func (s *side) chunkLine(b []byte) int {
	if len(s.buf) == 0 {
		s.begin()
	}
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		n = len(b)
	}
	s.hold(b[:n])
	line := s.buf
	st := s.conn.find(1)
	switch whole := line[len(line)-1] == '\n'; {
	case st == nil || st.halves[s.number].row == nil, len(line) > maxChunkLine:
		s.unown(int64(len(line)), "")
		s.keepFrame(0, line)
		s.drop()
		s.lost()
		return n
	case !whole:
		return n
	}
	r := st.halves[s.number].row
	text, _, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ";")
	size, err := strconv.ParseUint(strings.TrimSpace(text), 16, 47)
	s.own(r, s.from, int64(len(line)))
	switch kept := s.headBytes(line); {
	case s.trailing && text != "":
		r.header(pieceTrailer, len(line), kept)
	case kept == nil:
		r.m.HeaderLen += int32(len(line))
	case err != nil && text != "":
		r.header(pieceExtension, len(line), line)
	default:
		n := len(line)
		if at := bytes.IndexByte(line, ';'); at >= 0 {
			n = at + 1
		}
		r.header(pieceChunk, n, line[:n])
		r.header(pieceExtension, len(line)-n, line[n:])
	}
	s.placeHead(r, s.from, len(line))
	s.drop()
	switch {
	case text == "" && s.trailing:
		s.state = atStart
		s.conn.endHalf(st, int(s.number))
	case text == "" || s.trailing:
	case err != nil:
		r.broken = true
		s.lost()
	case size == 0:
		s.trailing = true
	default:
		s.http1Data(st, int(size), 0)
	}
	return n
}

// http1Response reads the head of a response: one that accepts to switch, or one that precedes it.
func (s *side) http1Response(h *http1Head, head []byte) {
	c := s.conn
	s.unown(int64(len(head)), unownedUpgrade)
	if h.h2c {
		s.state = atFrame
		c.accept()
		c.setClient(1 - s.number)
	}
	if c.env.Framing {
		r := &c.kept
		*r = row{keptHead: r.emptied()}
		r.fields = h.fields
		r.http1Head(h, head)
		s.placeHead(r, s.from, len(head))
		c.passFraming(int(s.number), r)
	}
}

// cutHTTP1 takes a gap in a head, of which s.buf has the start.
func (s *side) cutHTTP1(cause decode.Cause) {
	h, ok := s.parseHTTP1(s.buf)
	if ok && h.status >= 200 {
		s.conn.refuse(s, len(s.buf))
		return
	}
	var st *stream
	if ok && h.request {
		st = s.http1Stream()
	}
	if st == nil {
		s.unown(int64(len(s.buf)), "")
		s.keepFrame(0, s.buf)
		s.drop()
		return
	}
	r := s.newRow(st)
	r.broken, r.short = true, cause
	s.http1Row(r, &h, s.buf)
	s.firstHeaders(st, &st.halves[s.number], &r.first.Head)
	st.halves[s.number].unsure = true
	s.drop()
}

// accept is called when it is certain that the connection has switched.
func (c *conn) accept() {
	u := c.upgrade
	if !u.undecided() {
		return
	}
	u.accepted = true
	c.owner.Claim(Protocol.Name)
	if c.client >= 0 {
		c.sides[c.client].settings(u.settings)
		c.passWaiting()
	}
}

// noHTTP1 is called when a head is due and other bytes come. The side holds had bytes of earlier deliveries. If the connection has switched,
// the capture lacks the head.
func (s *side) noHTTP1(had int) {
	if s.conn.upgrade.undecided() {
		s.conn.refuse(s, had)
		return
	}
	s.unown(int64(had), "")
	s.keepFrame(0, s.buf[:had])
	s.drop()
	s.lost()
}

// refuse is called when the connection does not switch. s holds had bytes of earlier deliveries.
func (c *conn) refuse(s *side, had int) {
	c.upgrade.refused = true
	for i := range c.sides {
		o := &c.sides[i]
		if o.search != nil {
			o.skip(len(o.search.buf))
		}
		n := had
		if o != s {
			n = len(o.buf)
		}
		o.unown(int64(n), "")
		o.drop()
		o.freeBuffers()
		o.row, o.stream, o.state = nil, nil, inHTTP1
	}
	for c.oldest != nil {
		c.end(c.oldest)
	}
	c.dropWaiting()
}

// prefaceAt returns the offset of a client's preface in the bytes of a search that were not examined, -1 if there is none. Behind it the
// connection certainly uses HTTP/2.
func (s *side) prefaceAt() int {
	if s.conn.upgrade == nil && !s.conn.joined {
		return -1
	}
	from := max(0, s.search.at-len(http2.ClientPreface))
	at := bytes.Index(s.search.buf[from:], []byte(http2.ClientPreface))
	if at < 0 {
		return -1
	}
	return from + at
}
