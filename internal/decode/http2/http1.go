package http2

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/http1"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// HTTP/1 on the machinery of HTTP/2: an exchange is a stream, whose number is the ordinal of its request on the connection, and a body is
// read as if it came in frames, each chunk in one. A connection may switch to HTTP/2 with a request (RFC 7540, section 3.2): the request is
// then that of stream 1, though no frame carries it, and a response with status 101 precedes the server's frames. Until the answer tells,
// the request is a row that is not passed on.

// overHTTP1 is the state of a connection that begins with HTTP/1.
type overHTTP1 struct {
	switched bool // to HTTP/2
	// asking is the exchange whose request asks to switch to HTTP/2 and was not answered, 0 if there is none; settings is the payload of the
	// client's SETTINGS in it.
	asking   uint32
	settings []byte
	// tunnel is the name of bytes that follow a switch to a protocol that is not read.
	tunnel string
	// requests and responses are the numbers of the newest exchange of which a request, and a response, was found.
	requests, responses uint32
	// pipelined is set if a request was sent before the response to the one before it.
	pipelined bool
}

// stays reports whether the connection uses HTTP/1 now.
func (u *overHTTP1) stays() bool { return u != nil && !u.switched }

// undecided reports whether it is not known whether the connection has switched to HTTP/2.
func (u *overHTTP1) undecided() bool { return u != nil && u.asking != 0 && !u.switched }

// http1Side is what a direction has for HTTP/1.
type http1Side struct {
	// exchange is the one whose message is being read; nil if there is none, or if it was closed.
	exchange *stream
	// trailing is set after the last chunk, chunkEnd after the bytes of another one. unverified is set if a search found the head.
	trailing, chunkEnd, unverified bool
	// atPacket is set if the head that a search found begins where the payload of a packet does.
	atPacket bool
	// doubtful is set where the body of a response begins, if it is not certain which request it answers: that to HEAD has none, whatever its
	// head says. The next bytes tell.
	doubtful bool
	// untilClose is set in a body that ends with the connection.
	untilClose bool
	// after is the state after the message.
	after sideState
	// rejected is the place after the last start line that a search has taken for one by mistake.
	rejected int64
	// unended is the exchange whose message has an end that is not known, since the snap length cut its head.
	unended uint32
}

// verb is what the method of a request means for the length of the response.
type verb uint8

const (
	otherVerb verb = iota
	verbHEAD
	verbCONNECT
)

// openHTTP1 is New of HTTP.
func openHTTP1(self *rpc.Protocol, env *rpc.Env) rpc.Opener {
	l := laneOf(env)
	return func(owner rpc.Owner, joined bool) rpc.Conn {
		owner.Claim(self.Name)
		c := l.newConn(owner, false)
		c.http1, c.joined = new(overHTTP1), joined
		for i := range c.sides {
			if c.sides[i].state = atHTTP1; joined {
				c.sides[i].state = findingHTTP1
			}
		}
		return c
	}
}

// Bounds of what is held of HTTP/1 besides a head: the line before a chunk, and SETTINGS until the connection has switched, in bytes.
const (
	maxChunkLine       = 1 << 10
	maxUpgradeSettings = 64 * 6
)

// Names of bytes that belong to no message.
const (
	unownedLines   = "http1 empty lines"
	unownedInterim = "http1 interim responses"
)

// readHTTP1 reads the head of a request or a response.
func (s *side) readHTTP1(b []byte) int {
	head, had := b, len(s.buf)
	var h http1.Head
	end, ok := 0, false
	if had == 0 {
		if len(b) > 0 && (b[0] == '\r' || b[0] == '\n') && !s.unverified { // RFC 9112, section 2.2
			n := len(b) - len(bytes.TrimLeft(b, "\r\n"))
			s.begin()
			s.unown(int64(n), unownedLines)
			s.keepFrame(n, b[:n])
			return n
		}
		s.begin()
		if ok = !s.unverified && s.parseHTTP1(&h, head); ok {
			end = h.Len // usually the whole head is here
		}
	} else {
		s.hold(b[:min(len(b), http1.MaxHead-had)])
		head = s.buf
	}
	switch {
	case end > 0:
	case s.unverified:
		end = http1.VerifiedEnd(head)
	default:
		end = http1.End(head, max(0, had-2))
	}
	switch {
	case end > 0:
	case end == 0 && (len(head) <= alwaysHeld || len(head) < http1.MaxHead && !s.conn.full()) && http1.MayStart(head):
		if had == 0 {
			s.hold(b)
		}
		return len(b)
	default:
		s.noHTTP1(had)
		return 0
	}
	if head = head[:end]; h.Len != end {
		ok = s.parseHTTP1(&h, head)
	}
	if client := s.conn.client; !ok || client >= 0 && h.Request != (client == int8(s.number)) || s.unverified && h.Request && s.mayBeBody() {
		s.noHTTP1(had)
		return 0
	}
	s.unverified = false
	if h.Request {
		s.http1Request(&h, head)
	} else {
		s.http1Response(&h, head)
	}
	s.freeBuffers() // the connection may wait long for an answer
	return end - had
}

// parseHTTP1 reads the lines of a head. Its fields are valid until the next one.
func (s *side) parseHTTP1(h *http1.Head, b []byte) (ok bool) {
	l := s.conn.lane
	if l.http1Fields == nil {
		l.http1Fields = make([]rpc.Header, 0, usualFields)
	}
	*h = http1.Head{Fields: l.http1Fields[:0]}
	ok = h.Read(b, l.http1Lines)
	l.http1Fields = h.Fields
	return ok
}

// http1Request begins an exchange with the head of its request.
func (s *side) http1Request(h *http1.Head, head []byte) {
	c := s.conn
	st := s.nextRequest()
	if st == nil {
		s.unown(int64(len(head)), unowned[typeHeaders])
		s.lost()
		return
	}
	r := s.http1Row(st, h, head)
	switch h.Method {
	case "HEAD":
		st.verb = verbHEAD
	case "CONNECT":
		st.verb = verbCONNECT
	}
	switch {
	case !c.http1.stays():
		s.settings(h.Settings)
	case h.H2C && h.Settings != nil && c.http1.asking == 0:
		c.http1.asking = st.id
		c.http1.settings = bytes.Clone(h.Settings[:min(len(h.Settings), maxUpgradeSettings)])
	}
	if r.err = h.LengthError(); h.Length < 0 {
		h.Length = 0
	}
	s.http1Body(st, h)
}

// nextRequest returns the exchange of a request that begins now, nil if its stream of HTTP/2 was closed before.
func (s *side) nextRequest() *stream {
	c := s.conn
	u := c.http1
	if u.switched { // the request that switches comes after the frames of the server, which were captured first
		st := c.find(1)
		if st == nil && !c.wasClosed(1) {
			st = s.openStream(1)
		}
		if st != nil && st.halves[s.number].row != nil {
			return nil
		}
		return st
	}
	server := &c.sides[1-s.number]
	if server.doubtful && !u.pipelined {
		server.endBodiless() // the client has read the response
	}
	if last := c.find(u.requests); last != nil && last.unanswered(server) {
		switch {
		case server.pos == 0 && c.owner.Joined(): // no gap shows what is missing before the server's first bytes
			c.joined = true
		case !c.lossy(), server.pos > 0 && server.state != findingHTTP1 && c.certain(last, int(server.number)):
			u.pipelined = true
		}
	}
	if u.requests++; c.lossy() && !u.pipelined {
		// The client has read the responses to the requests before: those that were not found are in gaps.
		u.requests = max(u.requests, u.responses+1)
		u.responses = u.requests - 1
		for server.exchange == nil && c.oldest != nil && c.oldest.halves[s.number].ended {
			c.end(c.oldest)
		}
	}
	return s.http1Stream(u.requests)
}

// nextResponse returns the exchange of a response that begins now.
func (s *side) nextResponse() *stream {
	c := s.conn
	u := c.http1
	if u.requests+u.responses == 0 && c.owner.Joined() {
		c.joined = true // the request was sent before the capture
	}
	if u.responses++; c.lossy() {
		if !u.pipelined { // it answers the newest request, or one in a gap after that, all of whose bytes a response acknowledges
			client := 1 - int(s.number)
			if st := c.find(u.requests); st == nil || !st.unanswered(s) || st.halves[client].ended && !c.certain(st, client) {
				u.requests++
			}
			u.responses = u.requests
		} else if c.find(u.responses) == nil {
			for st := c.oldest; st != nil; st = st.newer {
				if st.id > u.responses && st.unanswered(s) {
					u.responses = st.id
					break
				}
			}
		}
		u.requests = max(u.requests, u.responses)
	}
	return s.http1Stream(u.responses)
}

// unanswered reports whether the server has not begun its response to an exchange of HTTP/1.
func (st *stream) unanswered(server *side) bool {
	h := &st.halves[server.number]
	return h.row == nil && !h.ended
}

// http1Stream returns the stream of an exchange, in which the side has sent nothing yet.
func (s *side) http1Stream(id uint32) *stream {
	c := s.conn
	st := c.find(id)
	if st != nil && (st.halves[s.number].row != nil || st.halves[s.number].ended) {
		c.end(st)
		st = nil
	}
	if st == nil {
		st = c.open(id)
		st.before = c.joined && id == 1
	}
	if !c.used {
		c.use, c.used = triple.Plain, true // unless the headers tell that it is gRPC
	}
	return st
}

// http1Row begins the message of an exchange with a head.
func (s *side) http1Row(st *stream, h *http1.Head, head []byte) *row {
	c := s.conn
	r := s.newRow(st)
	r.m.Closes = h.Closes
	s.own(r, s.from, int64(len(head)))
	c.blocks.begin(false)
	r.first = c.blocks.head.keep()
	r.first.Head = triple.HeadOf(h.Fields)
	if h.Cut {
		r.first.Head.SetLacking()
	}
	upgrade := h.H2C && h.Settings != nil || c.http1.switched
	if !upgrade {
		r.first.Head.SetPlain()
	}
	if s.headBytes(head) == nil {
		if c.listed() {
			c.addFields(r, h.Fields)
		}
		r.m.HeaderLen += int32(len(head))
	} else {
		c.addFields(r, h.Fields)
		r.http1Head(h, head)
		s.placeHead(r, s.from, len(head))
	}
	half := &st.halves[s.number]
	s.firstHeaders(st, half, &r.first.Head)
	if !upgrade {
		half.framing, half.encoding = framingPlain, r.first.Head.ContentEncoding
	}
	s.exchange = st
	return r
}

// http1Body begins the body of a message, whose length its head tells (RFC 9112, section 6.3).
func (s *side) http1Body(st *stream, h *http1.Head) {
	s.trailing, s.chunkEnd, s.untilClose = false, false, false
	s.after = atHTTP1
	if s.conn.http1.switched || s.conn.http1.asking == st.id && int8(s.number) == s.conn.client {
		s.after = atStart
	}
	switch {
	case h.Chunked:
		s.state, s.next = atChunk, atChunk
	case h.UntilClose:
		s.untilClose, s.next = true, afterMessage
		s.http1Data(st, math.MaxInt, 0)
	case h.Length > 0:
		s.next = afterMessage
		s.http1Data(st, h.Length, flagEndStream)
	default:
		s.state = s.after
		s.endHTTP1Message()
	}
}

// endHTTP1Message ends the message that is being read.
func (s *side) endHTTP1Message() {
	if st := s.exchange; st != nil {
		s.exchange = nil
		s.conn.endHalf(st, int(s.number))
	}
}

// http1Data begins n bytes of a body.
func (s *side) http1Data(st *stream, n int, flags uint8) {
	s.h = frameHeader{length: n, kind: typeData, flags: flags}
	s.left, s.pad, s.state = n, 0, inData
	s.stream, s.row = nil, nil
	if st == nil {
		return // the exchange was closed to save memory
	}
	s.h.stream = st.id
	r := st.halves[s.number].row
	s.stream, s.row = st, r
	if r.state == rowHead {
		s.startRow(r, &st.halves[s.number], n)
	}
}

// chunkLine reads a line of the chunked coding: the length of a chunk, the end of one, or a trailer (RFC 9112, section 7.1).
func (s *side) chunkLine(b []byte) int {
	if s.doubtful && s.endDoubt(b) {
		return 0
	}
	if len(s.buf) == 0 {
		s.begin()
	}
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		n = len(b)
	}
	s.hold(b[:n])
	line := s.buf
	switch whole := line[len(line)-1] == '\n'; {
	case len(line) > maxChunkLine:
		s.unown(int64(len(line)), "")
		s.keepFrame(0, line)
		s.drop()
		s.lost()
		return n
	case !whole:
		return n
	}
	text, _, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ";")
	size, err := strconv.ParseUint(strings.TrimSpace(text), 16, http1.MaxLengthBits)
	if s.chunkEnd && text != "" {
		err = strconv.ErrSyntax
	}
	var r *row
	if st := s.exchange; st != nil {
		r = st.halves[s.number].row
		s.ownChunkLine(r, line, err != nil && text != "")
	} else {
		s.unown(int64(len(line)), "")
		s.keepFrame(len(line), line)
	}
	s.drop()
	end := s.chunkEnd
	s.chunkEnd = false
	switch {
	case text == "" && s.trailing:
		s.state = s.after
		s.endHTTP1Message()
	case s.trailing, text == "" && end:
	case err != nil:
		if r != nil {
			r.err = &decode.Error{Cause: decode.Malformed, Expected: "the length of a chunk"}
		}
		s.lost()
	case size == 0:
		s.trailing = true
	default:
		s.chunkEnd = true
		s.http1Data(s.exchange, int(size), 0)
	}
	return n
}

// ownChunkLine gives a line of the chunked coding to a row. malformed is set if it is none.
func (s *side) ownChunkLine(r *row, line []byte, malformed bool) {
	s.own(r, s.from, int64(len(line)))
	switch kept := s.headBytes(line); {
	case s.trailing && len(bytes.TrimRight(line, "\r\n")) > 0:
		r.header(pieceTrailer, len(line), kept)
	case kept == nil:
		r.m.HeaderLen += int32(len(line))
	case malformed:
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
}

// http1Response reads the head of a response.
func (s *side) http1Response(h *http1.Head, head []byte) {
	c := s.conn
	u := c.http1
	// A capture of the server's side alone has no request.
	h2c := h.H2C && h.Status == 101 && (u.asking != 0 || c.lossy() || c.sides[1-s.number].pos == 0)
	if h2c || h.Status < 200 && h.Status != 101 { // the head precedes those of the response
		name := unownedInterim
		if h2c {
			name = unownedUpgrade
		}
		s.unown(int64(len(head)), name)
		if h2c {
			s.state = atFrame
			c.accept()
			c.setClient(1 - s.number)
		}
		s.keepHTTP1(h, head)
		return
	}
	st := s.nextResponse()
	if u.asking != 0 && u.asking <= st.id {
		c.refuse()
	}
	r := s.http1Row(st, h, head)
	switch {
	case h.Status == 101:
		s.enterTunnel(h.Upgrade)
		s.endHTTP1Message()
		return
	case st.verb == verbCONNECT && h.Status < 300:
		s.enterTunnel("tunnel")
		s.endHTTP1Message()
		return
	case st.verb == verbHEAD && !c.lossy(), h.Status == 204, h.Status == 304:
		h.Chunked, h.Length, h.UntilClose = false, 0, false
	case !h.Chunked && (h.Coded || !h.HasLength || h.Length < 0):
		h.UntilClose = true
	}
	r.err = h.LengthError()
	s.http1Body(st, h)
	s.doubtful = (s.state == inData || s.state == atChunk) && (c.lossy() || !st.halves[1-s.number].headed)
}

// endDoubt ends a response without a body if b, which follows its head, begins with the next one. Else a request for HEAD is not the one that it
// answers.
func (s *side) endDoubt(b []byte) bool {
	if !bytes.HasPrefix(b, []byte(http1.VersionStart)) || !http1.MayStart(b) {
		s.doubtful = false
		if s.answersHEAD() {
			s.exchange.halves[s.number].row.broken = true
		}
		return false
	}
	s.endBodiless()
	return true
}

// answersHEAD reports whether the message that is being read is taken for the response to a request for HEAD.
func (s *side) answersHEAD() bool { return s.exchange != nil && s.exchange.verb == verbHEAD }

// endBodiless ends a response whose body would begin now.
func (s *side) endBodiless() {
	s.doubtful, s.untilClose = false, false
	s.left, s.pad, s.state = 0, 0, s.after
	s.stream, s.row = nil, nil
	s.endHTTP1Message()
}

// keepHTTP1 passes on a head that belongs to no message.
func (s *side) keepHTTP1(h *http1.Head, head []byte) {
	c := s.conn
	if !c.env.Framing {
		return
	}
	r := &c.kept
	*r = row{keptHead: r.emptied()}
	r.fields = h.Fields
	r.http1Head(h, head)
	s.placeHead(r, s.from, len(head))
	c.passFraming(int(s.number), r)
}

// enterTunnel is called when the connection switches to a protocol that is not read, with a response of the side.
func (s *side) enterTunnel(name string) {
	c := s.conn
	c.http1.tunnel = name
	s.state = inTunnel
	switch o := &c.sides[1-s.number]; {
	case o.exchange != nil:
		o.after = inTunnel
	default:
		o.unown(int64(len(o.buf)), name)
		o.keepFrame(0, o.buf)
		o.drop()
		o.state = inTunnel
	}
}

// mayBeBody reports whether a request that was found may lie in the body of the one before it: the end of that is not known, and the server
// has not answered it, for which clients wait unless they pipeline.
func (s *side) mayBeBody() bool {
	c := s.conn
	u, server := c.http1, 1-s.number
	if s.unended == 0 || s.unended != u.requests || u.pipelined || c.sides[server].pos == 0 {
		return false
	}
	st := c.find(u.requests)
	return st != nil && st.halves[server].row == nil && !st.halves[server].ended
}

// cutHTTP1 takes a gap in a head, of which s.buf has the start. A short snap length cuts each head, so that no search could verify one to its
// end: what there is has to do where a packet begins with it.
func (s *side) cutHTTP1(cause decode.Cause) {
	c := s.conn
	var h http1.Head
	ok := s.parseHTTP1(&h, s.buf)
	ok = ok && (!s.unverified || cause == decode.Cut && s.atPacket && http1.VerifiedEnd(s.buf) == 0 && !(h.Request && s.mayBeBody()))
	s.unverified = false
	if client := c.client; !ok || client >= 0 && h.Request != (client == int8(s.number)) || !h.Request && h.Status < 200 {
		s.unown(int64(len(s.buf)), "")
		s.keepFrame(0, s.buf)
		s.drop()
		return
	}
	var st *stream
	if h.Request {
		st = s.nextRequest()
	} else if st = s.nextResponse(); c.http1.undecided() && c.http1.asking <= st.id {
		c.refuse()
	}
	h.H2C, h.Cut = false, true // its settings may be missing
	r := s.http1Row(st, &h, s.buf)
	r.broken, r.short = true, cause
	st.halves[s.number].unsure = true
	st.halves[s.number].gaps++ // the gap is in it, not after it
	if cause == decode.Cut {   // after a loss the response may be lost, too
		s.unended = st.id
	}
	s.drop()
	if c.http1.stays() {
		s.endHTTP1Message()
	}
	s.exchange = nil
}

// accept is called when it is certain that the connection has switched to HTTP/2. The exchange that asked for it is stream 1.
func (c *conn) accept() {
	u := c.http1
	if !u.stays() {
		return
	}
	u.switched = true
	for i := range c.sides {
		if o := &c.sides[i]; o.state == findingHTTP1 {
			o.state, o.next = searching, atFrame
		}
	}
	c.owner.Claim(Protocol.Name)
	st := c.find(u.asking)
	for o := c.oldest; o != nil; {
		next := o.newer
		if o != st {
			c.end(o)
		}
		o = next
	}
	if st != nil && st.id != 1 {
		c.streams.remove(st)
		st.id = 1
		c.streams.add(st)
	}
	if st != nil {
		c.highest[1] = 1
	}
	if c.client >= 0 {
		c.sides[c.client].settings(u.settings)
		c.passWaiting()
	}
}

// noHTTP1 is called when a head is due and other bytes come. The side holds had bytes of earlier deliveries.
func (s *side) noHTTP1(had int) {
	s.unown(int64(had), "")
	s.keepFrame(s.keptStart(s.buf[:had]), s.buf[:had])
	s.drop()
	if had == 0 {
		s.rejected = s.pos + 1
	} else {
		s.overhead = int64(s.chunk.Overhead) // of this delivery, whose first byte may begin a message
	}
	s.unverified = false
	s.lost()
}

// refuse is called when the connection does not switch to HTTP/2.
func (c *conn) refuse() {
	c.http1.asking, c.http1.settings = 0, nil
	for i := range c.sides {
		o := &c.sides[i]
		if o.search != nil {
			o.skip(len(o.search.buf))
		}
		switch o.state {
		case atStart:
			o.state = atHTTP1
		case searching:
			o.state = findingHTTP1
		}
		if o.after == atStart {
			o.after = atHTTP1
		}
	}
	c.passWaiting()
}

// lostHTTP1 begins a search for the next message.
func (s *side) lostHTTP1() {
	if st := s.exchange; st != nil {
		st.halves[s.number].row.broken = true
		st.halves[s.number].gaps = s.gaps
		s.stream, s.row = nil, nil
		s.endHTTP1Message()
	}
	s.state, s.next, s.doubtful = findingHTTP1, atHTTP1, false
	if u := s.conn.http1; u.responses == 0 {
		if last := s.conn.find(u.requests); last != nil && last.unanswered(s) {
			u.pipelined = false // the responses that seemed to be due are in the gap
		}
	}
}

// findHTTP1 looks for the next message.
func (s *side) findHTTP1(b []byte) int {
	at := http1.StartIn(b, int(max(0, s.rejected-s.pos)))
	if preface := bytes.Index(b, []byte(http2.ClientPreface)); preface >= 0 && (at < 0 || preface < at) {
		at = preface
		s.state = atStart
	} else if at >= 0 {
		s.state, s.unverified, s.resync = atHTTP1, true, true
		s.atPacket = at == 0 && s.pos == s.chunk.Pos
	} else {
		at = len(b)
	}
	if at > 0 {
		s.begin()
		s.unown(int64(at), "")
		s.keepFrame(s.keptStart(b[:at]), b[:at])
	}
	return at
}

// keptStart returns how many bytes of b, which begins at s.from and is not read, stay in a copy: those by which the connection was recognised.
func (s *side) keptStart(b []byte) int {
	head := b[:min(len(b), rpc.HeadLen)]
	if s.from > 0 || http1.Sniff(head) != rpc.Mine {
		return 0
	}
	return int(http1.KeepHead(head)[0].To)
}

// endHTTP1 ends a direction of a connection that uses HTTP/1. closed is set if all of its bytes have come.
func (s *side) endHTTP1(closed bool) {
	st := s.exchange
	switch {
	case st == nil:
		return
	case s.doubtful && closed && s.answersHEAD():
		s.endBodiless()
		return
	}
	if s.state == inData && !s.untilClose && s.next != atChunk {
		s.loseData(s.left, decode.Lost)
	}
	if s.exchange != st {
		return
	}
	if !s.untilClose || !closed {
		st.halves[s.number].row.broken = true
	}
	s.stream, s.row = nil, nil
	s.endHTTP1Message()
}

// prefaceAt returns the offset of a client's preface in the bytes of a search that were not examined, -1 if there is none. Behind it the
// connection certainly uses HTTP/2.
func (s *side) prefaceAt() int {
	if s.conn.http1 == nil && !s.conn.joined {
		return -1
	}
	from := max(0, s.search.at-len(http2.ClientPreface))
	at := bytes.Index(s.search.buf[from:], []byte(http2.ClientPreface))
	if at < 0 {
		return -1
	}
	return from + at
}
