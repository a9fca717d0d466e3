// Package call pairs requests with their responses.
//
// Messages with their connection and side come in, from the pipeline; closed calls and settled messages go out to a
// [Sink]. A response closes the oldest open request with the same exchange that the other side of the connection
// sent. Both sides send requests, because providers call back, and their exchanges collide, so the side is part of
// the key. A streaming call has several messages each way, in the order of arrival; a reset or cancellation closes a
// call with a reason. Heartbeats and events belong to no call.
//
// A [Pool] owns the messages. A message lives until its call is closed and every other holder has released it: the
// pipeline holds it while retransmitted bytes may still belong to it. Pairing follows Dubbo's DefaultFuture: the
// request id alone decides.
package call

import (
	"cmp"
	"net"
	"unsafe"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/prefetch"
	"dubbo-wire/internal/rpc"
)

// Conn is the connection of a call.
type Conn struct {
	Number int // from 1
	// Key identifies the connection within a run, also before it has a number.
	Key uint64
	// Ends are the addresses as text; side 0 sent the connection's first packet.
	Ends [2]string
	// Products are the names that the user has given to what listens at Ends, "" without one; nil without any.
	Products *[2]string
	// Machine is set for each end that is the capturing machine, MachineKnown if an address of that machine is known.
	Machine      [2]bool
	MachineKnown bool
	// Input is the index of the input file with the connection's first packet.
	Input int
	// Starts are the TCP sequence numbers of the first byte of each side, 0 where there is none.
	Starts [2]uint32
	// Closed is set when the connection has ended: its packets come before the one with this ordinal among those with a
	// segment. Key is the ordinal of its first one. Read Closed only after the run.
	Closed int64
	// End is set when a connection with calls of plain HTTP has ended, nil for others: many connections have no message. Read it only
	// after the run.
	End *ConnEnd
}

// ConnEnd is what is known of a connection at its end.
type ConnEnd struct {
	// Began is set if the capture has its SYN, Shut if it has a FIN of a side and all bytes before it.
	Began, Shut bool
	// FirstFIN is the side that sent the first FIN, -1 without one.
	FirstFIN int8
	// Messages is the number of messages, of calls or not.
	Messages int64
	// HandshakeBytes is the link bytes of its SYN and FIN packets without payload, each counted once.
	HandshakeBytes int64
	// LastTime is the time of its last packet on the steady clock, as Message.Arrived.
	LastTime int64
}

// Message is one message of a call: its summary, without body and tree.
type Message struct {
	// What a message needs when it leaves the window and is settled comes first, with the first fields of the summary: that is long after its
	// call was closed, so each line of the cache that it takes has to be loaded again.

	next *Message // in the pool or in a bucket of open requests
	// NextInWindow and WindowSlot belong to the window of recent messages in package pipeline.
	NextInWindow *Message
	// Owner receives the message when it is settled. The sink that takes the call sets it.
	Owner Settler
	// Repeated is the link bytes of its retransmissions so far. Wire gets them when the message is settled: until then one goroutine may read Wire while
	// another counts.
	Repeated int64
	holders  int8
	side     int8 // side of conn that sent the message
	// Side is the side of the connection that sent the message, set while the pipeline delays a response.
	Side uint8
	// OwnerKind is for the Owner, which sets and reads it.
	OwnerKind uint8
	// Sampled is set if the body was sampled: Parts is then known, and Sample until the call is closed.
	Sampled    bool
	WindowSlot uint16
	// Watcher receives the message after the Owner. A sink that passes the call on to another one sets it.
	Watcher func(m *Message)
	rpc.Summary

	Number int64 // in the capture, from 1
	// Next is the following message in the same direction of a streaming call, nil if there is none.
	Next *Message
	*Details
	// BodyHash is a hash of a request's body, equal for equal bytes within this process. It is 0 if the body is not whole or nobody
	// needs it.
	BodyHash uint64

	// Order orders messages by completion before they have a Number.
	Order uint64
	// Arrived is the time of arrival on the steady clock, in nanoseconds.
	Arrived int64

	// conn, older and newer are set in open requests; older and newer are the neighbours in order of arrival.
	conn         *Conn
	older, newer *Message
}

// Details holds what few messages have or need. All messages without details share one value; change it only through
// [Message.Detail].
type Details struct {
	rpc.Details
	// Attachments are the attachments as text, set if the filter needs them.
	Attachments map[string]string
	// Sample is the content of a sampled body, nil for other bodies.
	Sample *Sample
	// Values are the arguments or the result as JSON, AttachmentsJSON the attachments; both are set only if calls are
	// printed.
	Values, AttachmentsJSON []byte
	dropped                 bool    // Values exceeded the memory limit
	stream                  *stream // set in the first message of an open streaming call
	buffer                  *valueBuffer
}

// Preload begins to load the message, which may be nil, from memory; write says that it will be written.
func (m *Message) Preload(write bool) {
	switch p := unsafe.Pointer(m); {
	case m == nil:
	case write:
		prefetch.Write(p, unsafe.Sizeof(*m))
	default:
		prefetch.Bytes(unsafe.Slice((*byte)(p), unsafe.Sizeof(*m)))
	}
}

// PreloadSettled begins to load what is needed of the message when it leaves the window and is settled: its first two lines of the cache.
func (m *Message) PreloadSettled() { prefetch.Write(unsafe.Pointer(m), 2*64) }

// noDetails is shared by all messages without details.
var noDetails Details

// Detail returns the message's own details.
func (m *Message) Detail() *Details {
	if m.Details == &noDetails {
		m.Details = new(Details)
	}
	return m.Details
}

// Settler receives messages whose number of link bytes is final.
type Settler interface {
	Settle(m *Message)
}

// DropDetails releases what is needed only until the call is closed.
func (m *Message) DropDetails() { m.Details = &noDetails }

// Method returns the called method; for a generic call, the method that it invokes.
func (m *Message) Method() string {
	if m.GenericMethod != "" {
		return m.GenericMethod
	}
	if m.Operation == nil {
		return Unknown
	}
	return m.Operation.Method
}

// Service returns the service path of a request.
func (m *Message) Service() string {
	if m.Operation == nil {
		return Unknown
	}
	return m.Operation.Service
}

// Unknown replaces a service or method that the capture does not contain.
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

// States are the names of the states, in their order.
var States = []string{"ok", "error", "noResponse", "noRequest", "oneWay"}

func (s State) String() string { return States[s] }

// Call is a request with its response. In a streaming call they are the first message of each direction and lead to
// the others. At most one is nil.
type Call struct {
	Conn *Conn
	// Side is the side that sent the request: 0 or 1.
	Side              int
	Request, Response *Message
	// Aborted is the reason for a reset or cancellation, "" if there was none.
	Aborted string
	// AbortedAt is the capture time of the reset or cancellation, in nanoseconds since the Unix epoch.
	AbortedAt int64
	// Unsettled is set if the link bytes of its messages are not final where they should be.
	Unsettled bool
}

// WireBytes returns the link bytes of a request or a response of the call, -1 if they are not known. They are final when its messages are settled.
func (c *Call) WireBytes(m *Message) (n int64) {
	if c.Unsettled {
		return -1
	}
	for ; m != nil; m = m.Next {
		n += m.Wire
	}
	return n
}

// Client and Server return the addresses of the two ends: the client sent the request.
func (c *Call) Client() string { return c.Conn.Ends[c.Side] }
func (c *Call) Server() string { return c.Conn.Ends[1-c.Side] }

// Product returns the product of the server of a call of plain HTTP, "" if it is not known.
func (c *Call) Product() string {
	if c.Response == nil {
		return c.Conn.Product(1-c.Side, "")
	}
	return c.Conn.Product(1-c.Side, c.Response.Product())
}

// Product returns what the user calls the product of a side, else what the side calls itself.
func (c *Conn) Product(side int, itself string) string {
	if c.Products != nil && c.Products[side] != "" {
		return c.Products[side]
	}
	return itself
}

// Host returns an address of an end without its port.
func Host(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// Answer returns the last message of the response, which carries the outcome of the call, or nil.
func (c *Call) Answer() *Message { return c.Response.last() }

func (m *Message) last() *Message {
	for m != nil && m.Next != nil {
		m = m.Next
	}
	return m
}

// Count returns the number of messages from m on. m may be nil.
func (m *Message) Count() (n int) {
	for ; m != nil; m = m.Next {
		n++
	}
	return n
}

// BodyBytes and FrameBytes return the announced bytes of all messages from m on.
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

// Copy returns a copy of what does not change after the call is closed, with the Owner. It does not touch what the goroutine of the pairer writes.
func (m *Message) Copy() Message {
	return Message{
		Number: m.Number, Summary: m.Summary, Next: m.Next, Sampled: m.Sampled, Details: m.Details, BodyHash: m.BodyHash, Order: m.Order,
		Arrived: m.Arrived, Owner: m.Owner, OwnerKind: m.OwnerKind,
	}
}

// PartBytes returns the bytes of a class in the captured bodies of all messages from m on.
func (m *Message) PartBytes(class decode.Class) (n int64) {
	for ; m != nil; m = m.Next {
		n += int64(m.Parts[class])
	}
	return n
}

// AnsweredInOther reports whether the response uses another serialization than the request or the one that it asks for, as far as both are
// known.
func (c *Call) AnsweredInOther() bool {
	return c.Request != nil && c.Response != nil && c.Request.Serialization != c.Response.Serialization &&
		(c.Response.Serialization != "" || c.Response.SerializationID != rpc.NoSerialization) &&
		!c.Request.Protocol.Asks(c.Request.Serialization, c.Response.Serialization)
}

// Outcome is the kind of a call's responses: sizes of each kind are apart.
type Outcome uint8

const (
	OutcomeOK    Outcome = iota
	OutcomeOther         // of a successful call in another serialization than the request
	OutcomeError
)

// Outcomes are the names of the outcomes, in their order.
var Outcomes = []string{"ok", "other", "error"}

// Outcome returns the kind of the call's responses.
func (c *Call) Outcome() Outcome {
	switch {
	case c.Failed():
		return OutcomeError
	case c.AnsweredInOther() && (c.Request.Protocol == nil || !c.Request.Protocol.PlainHTTP): // there each of the two has a media type of its own, as a form and its answer do
		return OutcomeOther
	}
	return OutcomeOK
}

// Compression returns the compression of the call's first compressed message, "" if there is none.
func (c *Call) Compression() string {
	return cmp.Or(c.Request.Compression(), c.Response.Compression())
}

// Compression returns the compression of the first compressed message from m on, "" if there is none. m may be nil.
func (m *Message) Compression() string {
	for ; m != nil; m = m.Next {
		if m.Encoding != "" {
			return m.Encoding
		}
	}
	return ""
}

// UncompressedBytes returns the bytes of all bodies from m on without compression, -1 if they are not known.
func (m *Message) UncompressedBytes() (n int64) {
	for ; m != nil; m = m.Next {
		switch {
		case m.Encoding == "":
			n += int64(m.BodyLen)
		case m.UncompressedLen < 0:
			return -1
		default:
			n += int64(m.UncompressedLen)
		}
	}
	return n
}

// Incomplete reports whether the capture lacks bytes of a message from m on.
func (m *Message) Incomplete() bool {
	for ; m != nil; m = m.Next {
		if !m.Complete {
			return true
		}
	}
	return false
}

// onlyHead reports whether only the head of a response came: neither a message nor the end. The server stopped, or the capture.
func (m *Message) onlyHead() bool {
	return m.Ordinal == 0 && !m.Ends && !m.Complete && m.BodyLen == 0 && m.Serialization == "" && m.Next == nil
}

// State returns how the call ended. OK says only that no failure was seen: the response may be incomplete.
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
	case c.Response.onlyHead():
		return NoResponse
	}
	return OK
}

// Failed reports a status other than OK, an exception, or a reset.
func (c *Call) Failed() bool {
	m := c.Answer()
	return c.Aborted != "" || m != nil && (m.Summary.Failed || m.Exception)
}

// OutcomeUnknown reports whether the call has a response of which it is not known whether it is an error: its status is not known.
func (c *Call) OutcomeUnknown() bool {
	return c.Response != nil && !c.Failed() && c.Answer().Status == rpc.NoStatus && !c.Response.onlyHead()
}

// ErrorName returns the name of a call's error: a status, the class of an exception or the reason of a reset; "" if it did
// not fail.
func (c *Call) ErrorName() string {
	switch m := c.Answer(); {
	case !c.Failed():
		return ""
	case c.Aborted != "":
		return c.Aborted
	case m.Summary.Failed:
		return m.StatusName()
	default:
		return cmp.Or(m.ExceptionClass, "exception")
	}
}

// Latency returns the time from the first byte of the request to the last byte of the response, in nanoseconds. It
// returns false if either is missing or the response is incomplete.
func (c *Call) Latency() (ns int64, ok bool) {
	m := c.Answer()
	if c.Request == nil || m == nil || !m.Complete {
		return 0, false
	}
	return m.LastByte - c.Request.FirstTime, true
}

// Wait returns the time from the last byte of the request to the first byte of the response, in nanoseconds. It
// returns false if either is missing or the request is incomplete.
func (c *Call) Wait() (ns int64, ok bool) {
	m := c.Request.last()
	if m == nil || c.Response == nil || !m.Complete {
		return 0, false
	}
	return c.Response.FirstTime - m.LastByte, true
}
