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
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
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

// Message is what is kept of one frame.
type Message struct {
	Number int64 // frame number, from 1
	Kind   dubbo.Kind
	Header dubbo.Header
	Origin dubbo.Origin // the packet that completed it
	// Complete: the capture has every byte.
	Complete bool
	// First and LastByte are when the first and the last byte were captured, in nanoseconds since the Unix epoch.
	First, LastByte int64
	// Start is its place in the stream.
	Start int64
	// Wire is its bytes on the link; it still grows while bytes of it are sent again.
	Wire int64

	Serialization string
	Names         *dubbo.Names // of requests; nil when the envelope was not read
	// Parts is what the bytes of the body are for, where that was asked for.
	Parts      decode.PartBytes
	ResultKind int // -1 when there is none
	Exception  bool
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
	next    *Message // in the pool, or in a bucket of open requests

	// Of an open request: where it was sent, and its neighbours in order of arrival.
	conn         *Conn
	older, newer *Message
}

// Details is what few messages have, or only where somebody asks for it. It is shared by all messages without any: to
// change it is for [Message.Detail].
type Details struct {
	Group         string
	GenericMethod string
	GenericTypes  []string
	// Texts of exceptions and errors, where they were read.
	ExceptionClass, ExceptionMessage, ErrorMessage string
	Said                                           bool // one of the messages was read and is no null
	// HeaderSerialization is what the header names, where the bytes are in another serialization.
	HeaderSerialization string
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

// End is the place in the stream behind the message.
func (m *Message) End() int64 { return m.Start + int64(m.FrameLen()) }

// FrameLen is header and body in bytes, as announced.
func (m *Message) FrameLen() int { return m.Header.FrameLen() }

// Method is the method that is called: of a generic call the one it invokes.
func (m *Message) Method() string {
	if m.GenericMethod != "" {
		return m.GenericMethod
	}
	if m.Names == nil {
		return Unknown
	}
	return m.Names.Method
}

// Service is the service path of a request.
func (m *Message) Service() string {
	if m.Names == nil {
		return Unknown
	}
	return m.Names.Path
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

// Call is a request with its response. One of them may be nil.
type Call struct {
	Conn *Conn
	// Side is the side of the connection that asked: 0 or 1.
	Side              int
	Request, Response *Message
}

// Client and Server are the addresses of who asked and who was asked.
func (c *Call) Client() string { return c.Conn.Ends[c.Side] }
func (c *Call) Server() string { return c.Conn.Ends[1-c.Side] }

// State returns how the call ended.
func (c *Call) State() State {
	switch {
	case c.Request == nil:
		return NoRequest
	case c.Response == nil && !c.Request.Header.TwoWay():
		return OneWay
	case c.Response == nil:
		return NoResponse
	case c.Failed():
		return Failed
	}
	return OK
}

// Failed reports a status other than OK, or an exception.
func (c *Call) Failed() bool {
	return c.Response != nil && (c.Response.Header.Status != dubbo.StatusOK || c.Response.Exception)
}

// Latency is from the first byte of the request to the last byte of the response, in nanoseconds; ok is false when one
// is missing or incomplete.
func (c *Call) Latency() (ns int64, ok bool) {
	if c.Request == nil || c.Response == nil || !c.Response.Complete {
		return 0, false
	}
	return c.Response.LastByte - c.Request.First, true
}

// Wait is from the last byte of the request to the first byte of the response, in nanoseconds.
func (c *Call) Wait() (ns int64, ok bool) {
	if c.Request == nil || c.Response == nil || !c.Request.Complete {
		return 0, false
	}
	return c.Response.First - c.Request.LastByte, true
}
