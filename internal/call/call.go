// Package call pairs requests with their responses.
//
// A request from A to B with id n is answered by the first later response from B to A on the same connection
// generation with id n; with equal ids open, the oldest is answered. Both ends send requests (providers call back), with
// ids that collide, so the side that asked is part of the key. Heartbeats and events are no calls.
//
// Memory: messages are pooled. A message lives until its call is closed and it has left the window in which repeated
// bytes still find it.
package call

import (
	"dubbo-wire/internal/rpc"
)

// Conn is what calls know of their connection.
type Conn struct {
	Number int // from 1
	// Key tells it from all others, also while it has no number yet.
	Key uint64
	// Ends are the written addresses; side 0 sent the connection's first packet.
	Ends [2]string
	// Input is the index of the file of the connection's first packet.
	Input int
}

// Message is what is kept of one message.
type Message struct {
	Number int64 // frame number, from 1
	rpc.Summary
	// Next is the message that follows in the same direction of the same call; nil but in streaming calls.
	Next *Message
	// Looked: the body was looked into, so Parts is known, and Inside until the call is closed.
	Looked bool
	*Details

	// Order is larger for messages that were complete later, where a run numbers frames afterwards.
	Order uint64
	// Arrived is when it came in, by a clock that is never set back, in nanoseconds.
	Arrived int64
	// Owner is for whoever takes calls: it is given the message again when it is settled.
	Owner Settler
	// Side is for whoever pairs later: the side of the connection that sent it.
	Side uint8
	// Newer and Turn are for whoever keeps the window of repeats: the next message there, and when this one came in.
	Newer *Message
	Turn  uint64

	holders int8
	side    int8     // of conn, that sent it
	next    *Message // in the pool, or in a bucket of open exchanges
	stream  *stream  // of an open exchange with several messages

	// Of an open request: where it was sent, and its neighbours in order of arrival.
	conn         *Conn
	older, newer *Message
}

// Details is what few messages have, or only where somebody asks for it. It is shared by all messages without any: to
// change it is for [Message.Detail].
type Details struct {
	rpc.Details
	// Attachments of the frame as text, where a filter asks for them.
	Attachments map[string]string
	// Inside is what was seen of the body, where it was looked into.
	Inside *Inside
	// Values and AttachmentsJSON are rendered where calls are printed: the arguments, or the result. A message outlives
	// its call in the window of repeats; these need not.
	Values, AttachmentsJSON []byte
	forgotten               bool // they were too much to keep
}

// plain is the details of messages that have none.
var plain Details

// Detail returns the message's own details.
func (m *Message) Detail() *Details {
	if m.Details == &plain {
		m.Details = new(Details)
	}
	return m.Details
}

// Settler takes the final number of link bytes of a message.
type Settler interface {
	Settle(m *Message)
}

// Forget drops what is only needed until the call is closed.
func (m *Message) Forget() { m.Details = &plain }

// Method is the method that is called: of a generic call the one it invokes.
func (m *Message) Method() string {
	if m.GenericMethod != "" {
		return m.GenericMethod
	}
	if m.Operation == nil {
		return Unknown
	}
	return m.Operation.Method
}

// Service is the service path of a request.
func (m *Message) Service() string {
	if m.Operation == nil {
		return Unknown
	}
	return m.Operation.Service
}

// Unknown stands for a service or method that the capture does not tell.
const Unknown = "?"

// State says how a call ended.
type State uint8

const (
	OK State = iota
	Failed
	NoResponse
	NoRequest
	OneWay
)

func (s State) String() string {
	return [...]string{"ok", "error", "noResponse", "noRequest", "oneWay"}[s]
}

// Call is a request with its response: of a streaming call the first message each way, which leads to the others. One of
// them may be nil.
type Call struct {
	Conn *Conn
	// Side is the side of the connection that asked: 0 or 1.
	Side              int
	Request, Response *Message
	// Aborted is why the exchange was reset or cancelled, "" if it was not.
	Aborted string
}

// Client and Server are the addresses of who asked and who was asked.
func (c *Call) Client() string { return c.Conn.Ends[c.Side] }
func (c *Call) Server() string { return c.Conn.Ends[1-c.Side] }

// Answer returns the last message of the response, which has the outcome of the call; nil if there is none.
func (c *Call) Answer() *Message { return c.Response.last() }

func (m *Message) last() *Message {
	for m != nil && m.Next != nil {
		m = m.Next
	}
	return m
}

// Count returns the number of messages from m on; it may be nil.
func (m *Message) Count() (n int) {
	for ; m != nil; m = m.Next {
		n++
	}
	return n
}

// BodyBytes and FrameBytes return the bytes of all messages from m on, as announced.
func (m *Message) BodyBytes() (n int64) {
	for ; m != nil; m = m.Next {
		n += int64(m.BodyLen)
	}
	return n
}

func (m *Message) FrameBytes() (n int64) {
	for ; m != nil; m = m.Next {
		n += int64(m.FrameLen())
	}
	return n
}

// State returns how the call ended.
func (c *Call) State() State {
	switch {
	case c.Aborted != "":
		return Failed
	case c.Request == nil:
		return NoRequest
	case c.Response == nil && !c.Request.TwoWay:
		return OneWay
	case c.Response == nil:
		return NoResponse
	case c.Failed():
		return Failed
	}
	return OK
}

// Failed reports a status other than OK, an exception, or a reset.
func (c *Call) Failed() bool {
	m := c.Answer()
	return c.Aborted != "" || m != nil && (m.Summary.Failed || m.Exception)
}

// Latency is from the first byte of the request to the last byte of the response, in nanoseconds; ok is false when one
// is missing or incomplete.
func (c *Call) Latency() (ns int64, ok bool) {
	m := c.Answer()
	if c.Request == nil || m == nil || !m.Complete {
		return 0, false
	}
	return m.LastByte - c.Request.FirstTime, true
}

// Wait is from the last byte of the request to the first byte of the response, in nanoseconds.
func (c *Call) Wait() (ns int64, ok bool) {
	m := c.Request.last()
	if m == nil || c.Response == nil || !m.Complete {
		return 0, false
	}
	return c.Response.FirstTime - m.LastByte, true
}
