package traffic

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Message is a message of HTTP/2 traffic as it was sent: a gRPC message, or a direction of a call without any.
type Message struct {
	// Conn is the connection, from 0 in the order of opening. Side 0 is the client.
	Conn, Side int
	Stream     uint32
	// Ordinal is the index of the message in its direction of the call. Last is set for the last one, unless the call is reset.
	Ordinal         int
	Last            bool
	Service, Method string
	// Protocol is triple or grpc.
	Protocol string
	// HeaderLen and BodyLen are bytes: of frame headers, padding, header blocks and the prefix, and of the message itself.
	HeaderLen, BodyLen int
	// Status is gRPC's status, in the last message of a response that has one, else -1.
	Status int
	// Spans are the bytes of the direction's TCP stream that belong to the message, in order and apart. Body are those of
	// them that are the message itself, without its prefix, one for each DATA frame.
	Spans, Body []Span

	method *method
	sent   int // bytes, with the prefix
}

// Span is the stream bytes from From up to, not including, To.
type Span struct{ From, To int64 }

// own adds the bytes of a stream up to to, which follow from.
func (m *Message) own(from, to int64) {
	if n := len(m.Spans); n > 0 && m.Spans[n-1].To == from {
		m.Spans[n-1].To = to
	} else if to > from {
		m.Spans = append(m.Spans, Span{from, to})
	}
	m.HeaderLen += int(to - from)
}

// http2Conn writes both directions of an HTTP/2 connection with calls. Frames and header blocks are written by
// golang.org/x/net.
type http2Conn struct {
	*chooser
	style  *http2Style
	number int
	record func(*Message)
	sides  [2]http2Side
	next   uint32       // the next stream
	open   []*http2Call // requests without a response
	later  []reaction
	closed bool // GOAWAY was sent
}

// http2Side is what one side sends.
type http2Side struct {
	out     bytes.Buffer
	before  int64 // bytes that were taken out of out
	framer  *http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer
	sending []*direction
	unread  uint32 // DATA bytes received that no WINDOW_UPDATE gave back
}

// http2Call is a call whose response has not begun.
type http2Call struct {
	stream uint32
	method *method
	kind   streaming
	text   bool
	ready  int64 // place in the client's stream after which the server may answer
}

// direction is what one side sends in a stream.
type direction struct {
	stream   uint32
	messages []*Message
	queue    [][]byte // what is left of the messages that are not sent, each with its prefix
	trailers []hpack.HeaderField
	reset    bool           // ends with RST_STREAM
	done     func(at int64) // called with the place after the last byte
}

// reaction is what a side does when the other side's stream has arrived up to a place.
type reaction struct {
	side  int
	after int64
	do    func()
}

// streaming is which sides of a call send several messages.
type streaming uint8

const (
	clientStreams streaming = 1 << iota
	serverStreams
)

const (
	windowUpdateEvery = 32 << 10 // bytes
	prefixLen         = 5        // of a gRPC message
)

func newHTTP2Conn(g *chooser, number int, style *http2Style, record func(*Message)) *http2Conn {
	c := &http2Conn{chooser: g, style: style, number: number, record: record, next: 3}
	for k := range c.sides {
		s := &c.sides[k]
		s.framer = http2.NewFramer(&s.out, nil)
		s.encoder = hpack.NewEncoder(&s.block)
	}
	c.sides[0].out.WriteString(http2.ClientPreface)
	for k := range c.sides {
		c.settings(k, c.style.settings(k == 0)...)
		check(c.sides[k].framer.WriteWindowUpdate(0, 16_646_146))
	}
	return c
}

// check panics: the framer refuses only what breaks the protocol.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *http2Side) pos() int64 { return s.before + int64(s.out.Len()) }

// take returns what a side has to send. It is valid until the next step.
func (c *http2Conn) take(side int) []byte {
	s := &c.sides[side]
	b := s.out.Bytes()
	s.before += int64(len(b))
	s.out.Reset()
	return b
}

// busy reports whether a call or a reaction is not finished.
func (c *http2Conn) busy() bool {
	return len(c.open)+len(c.later)+len(c.sides[0].sending)+len(c.sides[1].sending) > 0 || !c.closed
}

// step lets both sides do a little, as far as the streams have arrived: react, ask, answer, send frames. A side that is
// full sends nothing. Without ask no call begins, and at last the server says goodbye.
func (c *http2Conn) step(ask bool, arrived [2]int64, full [2]bool) {
	c.react(arrived)
	for n := 1 + c.rng.IntN(3); ask && n > 0 && len(c.open) < maxOpen && !full[0]; n-- {
		c.ask()
	}
	for n := 1 + c.rng.IntN(3); n > 0 && len(c.open) > 0 && !full[1]; n-- {
		c.answer(arrived[0])
	}
	for k := range c.sides {
		if !full[k] {
			c.send(k)
		}
	}
	if c.perMille(c.style.pings) {
		c.ping(c.rng.IntN(2))
	}
	if c.perMille(c.style.resizes) {
		c.settings(c.rng.IntN(2), http2.Setting{ID: http2.SettingHeaderTableSize, Val: uint32(c.rng.IntN(5000))})
	}
	if !ask && !c.closed && len(c.open)+len(c.sides[1].sending) == 0 {
		c.closed = true
		check(c.sides[1].framer.WriteGoAway(c.next, http2.ErrCodeNo, []byte("app_requested")))
	}
}

func (c *http2Conn) react(arrived [2]int64) {
	now := c.later
	c.later = nil
	for _, r := range now {
		if arrived[1-r.side] >= r.after {
			r.do()
		} else {
			c.later = append(c.later, r)
		}
	}
}

// then lets the other side react to all that side has written.
func (c *http2Conn) then(side int, do func()) {
	c.later = append(c.later, reaction{1 - side, c.sides[side].pos(), do})
}

// settings sends settings; the other side acknowledges them and changes the table of its encoder.
func (c *http2Conn) settings(side int, list ...http2.Setting) {
	check(c.sides[side].framer.WriteSettings(list...))
	c.then(side, func() {
		other := &c.sides[1-side]
		check(other.framer.WriteSettingsAck())
		for _, set := range list {
			if set.ID == http2.SettingHeaderTableSize && set.Val != other.encoder.MaxDynamicTableSize() {
				other.encoder.SetMaxDynamicTableSizeLimit(set.Val)
				other.encoder.SetMaxDynamicTableSize(set.Val)
			}
		}
	})
}

func (c *http2Conn) ping(side int) {
	var data [8]byte
	binary.BigEndian.PutUint64(data[:], c.rng.Uint64())
	check(c.sides[side].framer.WritePing(false, data))
	c.then(side, func() { check(c.sides[1-side].framer.WritePing(true, data)) })
}

// ask begins a call.
func (c *http2Conn) ask() {
	m, k, b := c.request()
	call := &http2Call{stream: c.next, method: m, text: k == text, ready: math.MaxInt64}
	c.next += 2
	if c.style.streams {
		call.kind = streaming(m.index) & (clientStreams | serverStreams)
	}
	bodies := [][]byte{b.wrapper}
	if call.kind&clientStreams != 0 {
		bodies = c.several(m.requests)
	}
	d := c.begin(0, call, c.requestHeaders(m), bodies)
	d.done = func(at int64) { call.ready = at }
	if call.kind == clientStreams|serverStreams {
		call.ready = c.sides[0].pos()
	}
	c.open = append(c.open, call)
	c.sendAtOnce(0)
}

// answer begins the response to one of the requests that arrived.
func (c *http2Conn) answer(arrived int64) {
	i := c.rng.IntN(len(c.open))
	call := c.open[i]
	if call.ready > arrived {
		return
	}
	c.open[i] = c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	if c.perMille(c.style.refusals) {
		c.refuse(call)
		return
	}
	bodies := [][]byte{}
	if call.kind&serverStreams != 0 {
		bodies = c.several(call.method.responses)
	} else {
		bodies = append(bodies, c.response(call.method, call.text).wrapper)
	}
	d := c.begin(1, call, c.responseHeaders(), bodies)
	last := d.messages[len(d.messages)-1]
	// A client that still sends would go on until it hears of the reset.
	if d.reset = call.kind != clientStreams|serverStreams && c.perMille(c.style.resets); d.reset {
		last.Last = false
	} else {
		d.trailers = []hpack.HeaderField{{Name: "grpc-status", Value: "0"}}
		last.Status = 0
	}
	c.sendAtOnce(1)
}

// several returns the messages of a direction that streams.
func (c *http2Conn) several(of [nClasses][]body) (bodies [][]byte) {
	k := small
	if len(of[small]) == 0 {
		k = text
	}
	for range c.rng.IntN(8) {
		bodies = append(bodies, one(c.rng, of[k]).wrapper)
	}
	return bodies
}

// refuse answers with trailers only.
func (c *http2Conn) refuse(call *http2Call) {
	m := c.message(1, call, 0)
	m.Status, m.Last = 12, true
	c.headers(1, call.stream, m, true, append(c.responseHeaders(),
		hpack.HeaderField{Name: "grpc-status", Value: "12"},
		hpack.HeaderField{Name: "grpc-message", Value: "Method not found: " + call.method.name}))
	c.record(m)
}

// begin sends the headers of a direction and queues its messages.
func (c *http2Conn) begin(side int, call *http2Call, headers []hpack.HeaderField, bodies [][]byte) *direction {
	d := &direction{stream: call.stream}
	for i, b := range bodies {
		p := make([]byte, prefixLen, prefixLen+len(b))
		if b = c.style.encode(b); c.style.gzip {
			p[0] = 1
		}
		binary.BigEndian.PutUint32(p[1:], uint32(len(b)))
		d.queue = append(d.queue, append(p, b...))
		m := c.message(side, call, i)
		m.BodyLen, m.HeaderLen = len(b), -len(b)
		d.messages = append(d.messages, m)
	}
	if len(bodies) == 0 {
		d.messages = append(d.messages, c.message(side, call, 0))
	}
	d.messages[len(d.messages)-1].Last = true
	c.headers(side, call.stream, d.messages[0], false, headers)
	c.sides[side].sending = append(c.sides[side].sending, d)
	return d
}

func (c *http2Conn) message(side int, call *http2Call, ordinal int) *Message {
	protocol := "triple"
	if c.style.grpc {
		protocol = "grpc"
	}
	return &Message{
		Protocol: protocol, Conn: c.number, Side: side, Stream: call.stream, Ordinal: ordinal,
		Service: call.method.service, Method: call.method.name, Status: -1, method: call.method,
	}
}

// headers writes a header block, which belongs to m.
func (c *http2Conn) headers(side int, stream uint32, m *Message, end bool, fields []hpack.HeaderField) {
	s := &c.sides[side]
	s.block.Reset()
	for _, f := range fields {
		check(s.encoder.WriteField(f))
	}
	from, b := s.pos(), s.block.Bytes()
	n := min(len(b), c.style.headerFrame)
	p := http2.HeadersFrameParam{StreamID: stream, BlockFragment: b[:n], EndStream: end, EndHeaders: n == len(b)}
	if c.style.padding > 0 {
		p.PadLength = uint8(c.rng.IntN(c.style.padding))
		p.Priority = http2.PriorityParam{Weight: uint8(c.rng.IntN(3)) * 100}
	}
	check(s.framer.WriteHeaders(p))
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = min(len(b), c.style.headerFrame)
		check(s.framer.WriteContinuation(stream, n == len(b), b[:n]))
	}
	m.own(from, s.pos())
}

// sendAtOnce lets what a side begins to send be followed by its messages, as Netty does while windows are open.
func (c *http2Conn) sendAtOnce(side int) {
	if !c.style.interleaves {
		c.send(side)
	}
}

// send writes DATA frames of the directions that a side sends, those of several streams in turn.
func (c *http2Conn) send(side int) {
	s := &c.sides[side]
	for n := 0; len(s.sending) > 0 && n < maxQueue; {
		i := 0
		if c.style.interleaves {
			i = c.rng.IntN(len(s.sending))
		}
		d := s.sending[i]
		from := s.pos()
		if c.data(side, d) {
			s.sending = slices.Delete(s.sending, i, i+1)
			for _, m := range d.messages {
				c.record(m)
			}
			if d.done != nil {
				d.done(s.pos())
			}
		}
		n += int(s.pos() - from)
		if c.style.interleaves && c.rng.IntN(4) == 0 {
			return // the rest later
		}
	}
}

// data writes the next DATA frame of a direction, and what ends it. It reports whether that was all.
func (c *http2Conn) data(side int, d *direction) (ended bool) {
	s := &c.sides[side]
	most := c.style.frame
	if c.style.interleaves && c.rng.IntN(3) == 0 {
		most = 1 + c.rng.IntN(most)
	}
	if c.style.streams && len(d.queue) > 0 && c.rng.IntN(2) == 0 {
		most = min(most, len(d.queue[0])) // no further message
	}
	var b []byte
	index := len(d.messages) - max(1, len(d.queue))
	owner, at := d.messages[index], s.pos()
	type piece struct {
		m *Message
		n int
	}
	var pieces []piece
	for len(d.queue) > 0 && len(b) < most {
		n := min(len(d.queue[0]), most-len(b))
		b = append(b, d.queue[0][:n]...)
		pieces = append(pieces, piece{d.messages[index], n})
		if d.queue[0] = d.queue[0][n:]; len(d.queue[0]) == 0 {
			d.queue = d.queue[1:]
			index++
		}
	}
	ended = len(d.queue) == 0
	end := ended && d.trailers == nil && !d.reset
	if end && len(b) > 0 && c.perMille(c.style.emptyEnds) {
		end, ended = false, false // an empty frame follows
	}
	if len(b) > 0 || end {
		if c.style.padding > 0 && c.rng.IntN(2) == 0 {
			check(s.framer.WriteDataPadded(d.stream, end, b, make([]byte, c.rng.IntN(c.style.padding))))
		} else {
			check(s.framer.WriteData(d.stream, end, b))
		}
		head := int64(9)
		pad := s.pos() - at - head - int64(len(b))
		if pad > 0 {
			head, pad = head+1, pad-1
		}
		owner.own(at, at+head)
		at += head
		for _, p := range pieces {
			p.m.own(at, at+int64(p.n))
			if skip := int64(max(0, prefixLen-p.m.sent)); skip < int64(p.n) {
				p.m.Body = append(p.m.Body, Span{at + skip, at + int64(p.n)})
			}
			p.m.sent += p.n
			at += int64(p.n)
		}
		owner.own(at, at+pad)
		c.received(1-side, d.stream, uint32(len(b)))
	}
	switch {
	case !ended:
	case d.reset:
		check(s.framer.WriteRSTStream(d.stream, http2.ErrCodeCancel))
	case d.trailers != nil:
		c.headers(side, d.stream, d.messages[len(d.messages)-1], true, d.trailers)
	}
	return ended
}

// received lets a side give back the window for bytes once they have arrived.
func (c *http2Conn) received(side int, stream, n uint32) {
	s := &c.sides[side]
	if s.unread += n; s.unread < windowUpdateEvery {
		return
	}
	n, s.unread = s.unread, 0
	c.then(1-side, func() {
		check(s.framer.WriteWindowUpdate(0, n))
		if c.style.streamWindows {
			check(s.framer.WriteWindowUpdate(stream, n))
		}
	})
}
