// Package rpc defines the message that travels from every protocol to calls, sizes and reports, and what a protocol
// is.
//
// Bytes of TCP connections come in through [Conn]; messages go out through [Sink]. Packages after this one do not
// know which protocol a message came from, except through [Protocol]. A [Message] is borrowed until the sink returns;
// its [Summary] and its strings may be kept, and Clone copies the rest. The package follows no specification and
// imports only decode.
package rpc

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// Protocol is one protocol that a TCP connection may carry. To add one, write its folder and add its line to the list
// in package protocols.
type Protocol struct {
	// Name is what reports print.
	Name string
	// Read says how far the protocol is read, in a word or two. Releases names the Dubbo releases that speak it, ""
	// if none does.
	Read, Releases string
	// RecognisedBy says what tells the protocol from others.
	RecognisedBy string
	// Capture is a file in testdata/captures with the protocol, "" if there is none.
	Capture string
	// Sniff recognises the protocol by the first bytes of one direction, at most HeadLen. It is nil if only another
	// protocol can tell, from later bytes.
	Sniff func(head []byte) Verdict
	// Found reports whether bytes from anywhere in a direction certainly belong to the protocol: it gets those of connections that
	// were joined, until messages are found. nil: never.
	Found func(b []byte) bool
	// Fallback reports whether a connection without messages, which no Sniff recognised, uses this protocol. text is
	// set if all of its bytes are lines of text. nil: never.
	Fallback func(head []byte, text bool) bool
	// New returns what opens the connections of one lane; self is the protocol. It is nil if bytes are only counted.
	New func(self *Protocol, env *Env) Opener
	// Resyncs is set if a Conn finds messages from any byte of a stream on. Such a protocol gets the connections that no
	// Sniff recognises.
	Resyncs bool

	// Numbered is set if the header identifies serializations by the numbers in the list of formats.
	Numbered bool
	// PlainHTTP is set if calls are those of HTTP without gRPC: each operation has its own media types, and errors may have others than
	// results.
	PlainHTTP bool
	// AsksFor reports whether clients whose requests are in one serialization ask for responses in another one; nil: never. Such responses
	// count as those in the serialization of the request.
	AsksFor func(request, response string) bool
	// KeepHead returns the bytes that a redacted copy keeps of the first bytes of a direction, at most HeadLen, so that the protocol is
	// still recognised; nil if head is not recognised. It is called if Sniff recognises head or is nil, and if there is a Fallback.
	// Messages are redacted without it.
	KeepHead func(head []byte) []Span
	// ScrubHead replaces the values in b, a copy of the head of m, by others of the same length, so that the copy is read as the
	// original was. It is nil if heads have no values.
	ScrubHead func(b []byte, m *Message, r decode.Mapper)
	// ScrubBody replaces the values in b, a copy of the whole body of m, of which the envelope was decoded, by means of s, which is one of
	// m.Format. It returns false if the body needs a tree; b has then anything. nil: always.
	ScrubBody func(b []byte, m *Message, s decode.BodyScrubber, r decode.Mapper) bool
	// Marker is a text outside of messages that tells what comes next, as the prompt of a server; a redacted copy keeps it.
	Marker string
	// Events are the texts of the protocol's own control messages; a redacted copy keeps them.
	Events []string
	// StatusText returns the name of a status, "" if it has none.
	StatusText func(status int) string
	// Exhausted is the status of a provider without a free thread, 0 if there is none or if it has other meanings as well.
	Exhausted int
	// PayloadLimit is the length of a body that its peers refuse unless another limit is configured, 0 if they have none.
	PayloadLimit int
	// Attachments describes the attachments that the protocol's own peers add.
	Attachments Attachments
	// Header appends the fields of a message's header, in order and without gaps. Their values are needed only if values is set.
	Header func(list []HeaderField, m *Message, values bool) []HeaderField
	// NewDecoder returns a decoder for the bodies of kept messages.
	NewDecoder func(formats []decode.Format) Decoder
	// FindHeader returns the offset in b of the first bytes that look like a header, or -1.
	FindHeader func(b []byte) int
	// Magic is the first bytes of each message, nil if they vary. HeaderLen is the length of the header if it is
	// fixed. NewMayBegin returns a function that reports whether b may begin a message, as far as the first n bytes
	// tell. A connection with such bytes counts as one of this protocol even if it has no accepted message.
	Magic       []byte
	HeaderLen   int
	NewMayBegin func(formats []decode.Format) func(b []byte) (n int, may bool)
}

// Asks is AsksFor, which may be nil, as the protocol may.
func (p *Protocol) Asks(request, response string) bool {
	return p != nil && p.AsksFor != nil && p.AsksFor(request, response)
}

// HeadLen is the maximum number of bytes that Sniff needs.
const HeadLen = 24

// Verdict is the result of Sniff.
type Verdict uint8

const (
	// NotMine: the connection is not of this protocol.
	NotMine Verdict = iota
	// More: more bytes are needed.
	More
	// Mine: the connection is of this protocol.
	Mine
)

// HeaderField is a field of a protocol's header.
type HeaderField struct {
	Name, Value string
	Off, Len    int // in bytes from the message's first byte
	// Class is that of its bytes as a part of a body has it, "" if it is none of those.
	Class string
	// Secret is set if the bytes may tell values of a call, besides those of Message.Headers.
	Secret bool
}

// Decoder decodes the bodies of kept messages of one protocol. It is not safe for concurrent use.
type Decoder interface {
	// Decode decodes the body of m to the given detail, with the state of its connection in m.Native; without it, as
	// if m was the first message. It does not change m. The result is valid until the next call.
	Decode(m *Message, detail Detail) *Message
	// DecodeAs decodes the body of m to all values in the serialization f, whatever its header says. Of the state in m.Native it
	// uses only what holds for every serialization.
	DecodeAs(m *Message, f *decode.Format) *Message
}

// Decoders decodes the bodies of kept messages of any protocol. It is not safe for concurrent use.
type Decoders struct {
	Formats []decode.Format
	known   map[*Protocol]Decoder
}

// Decode decodes m as [Decoder] does. The result is valid until the next call for the same protocol.
func (d *Decoders) Decode(m *Message, detail Detail) *Message { return d.of(m).Decode(m, detail) }

// DecodeAs decodes m as [Decoder] does. The result is valid until the next call for the same protocol.
func (d *Decoders) DecodeAs(m *Message, f *decode.Format) *Message { return d.of(m).DecodeAs(m, f) }

func (d *Decoders) of(m *Message) Decoder {
	decoder := d.known[m.Protocol]
	if decoder == nil {
		if d.known == nil {
			d.known = make(map[*Protocol]Decoder)
		}
		decoder = m.Protocol.NewDecoder(d.Formats)
		d.known[m.Protocol] = decoder
	}
	return decoder
}

// Conn reads one TCP connection. It takes both directions, because one may decide how the other is read. Side 0 sent
// the connection's first packet.
//
// A Conn gives every byte to a [Message] or to Sink.Unowned. In a message it fills Protocol, Kind, Request, TwoWay,
// Exchange, Ordinal and Ends; Serialization and SerializationID; Status, Failed and ResultKind (-1 in requests);
// HeaderLen, BodyLen, Head and Body; Operation in requests; Span; First and FirstTime from the chunk of its first byte,
// Last, File and LastByte from the chunk of its last one. Wire is the sum of its bytes, Chunk.Overhead of each chunk
// whose first byte is its own, and what Gap and Repeat add. A complete message has Complete, and Captured and MissingAt
// are BodyLen; another one has Short, the number of captured body bytes and the offset of the first missing one.
//
// A Conn decodes the body of a message to Env.Detail, or as far as Needs.Want returns if Env.Sampling is set and the body is
// whole. It keeps no more of a body than Env.MaxBody bytes. If Env.Sampling is set and Needs.Keep returns false,
// Env.MaxEnvelope bytes are enough. All connections of a lane hold no more than Env.MaxBuffers bytes of bodies.
type Conn interface {
	// Data takes the next bytes of a side; b and c are borrowed.
	Data(side int, b []byte, c *Chunk)
	// Gap takes n bytes that the capture lacks. wire of them were on the link, beyond the snap length.
	Gap(side int, n, wire int64, c *Chunk)
	// Repeat takes wire link bytes of a retransmitted span if the span belongs to the message that is being read, and
	// reports whether it does.
	Repeat(side int, s Span, wire int64) bool
	// End takes the end of a side. closed is set if it sent its last byte, and not the capture ended.
	End(side int, closed bool)
	// Pending returns what a side still holds.
	Pending(side int) Pending
}

// Preloader is a [Conn] that can begin to load from memory what the next bytes of a side need: at first itself, and what it refers to once that is
// there.
type Preloader interface {
	Preload(side int, there bool)
}

// Pending describes the undecided bytes that one direction still holds.
type Pending struct {
	// From is the stream offset of the first undecided byte; it is valid if Held is set.
	From int64
	Held bool
	// Searching is set if these bytes may contain messages.
	Searching bool
}

// Sink receives what a connection finds.
type Sink interface {
	// Message receives a message that is complete or stays incomplete.
	Message(side int, m *Message)
	// Abort ends the exchange that a side started, with the reason: it was reset or cancelled.
	Abort(side int, exchange uint64, why string)
	// Unowned counts n captured bytes that belong to no message, under a name; "" is for skipped bytes.
	Unowned(side int, n int64, name string)
	// Claim assigns the connection to the protocol before a message is found. A protocol that only counts passes the
	// name for its bytes, others pass "".
	Claim(name string)
	// Handshake receives what the start of a connection tells that is only counted. It is called at most once.
	Handshake(h Handshake)
	// Framing receives bytes of no message without which the rest of the connection cannot be read, such as frames of the protocol
	// itself: m has Protocol, Head, Headers, Pieces and Native. It counts nothing, and is called only if Env.Framing is set.
	Framing(side int, m *Message)
	// BadHeader counts a header at an expected place with an impossible length.
	BadHeader(side int)
}

// Handshake is what the two ends of an encrypted connection say before they encrypt.
type Handshake struct {
	// ServerName is the host that the client names, ALPN the protocol that the server chose, Offered those that the client offered, with
	// commas between them. They are "" if they were not sent, or not seen.
	ServerName, ALPN, Offered string
}

// Owner is what a connection reports to and asks.
type Owner interface {
	Sink
	Needs
	// Joined reports whether the capture lacks the start of the connection, also if what it has begins with a message.
	Joined() bool
}

// Attachments has the keys of attachments that mean something to the protocol itself.
type Attachments struct {
	// Request and Response are those that its peers add to messages without being asked to; a * at the end stands for any text.
	Request, Response []string
	// Repeated are those of Request whose values the envelope has as well.
	Repeated []string
	// Timeout are those of Request with the time in milliseconds for which the client waits; the first that is there counts. They may
	// also be names of headers that are no attachments.
	Timeout []string
	// ParseTimeout returns the milliseconds that the text of such a header means, and false if it has none; nil: decimal numbers.
	ParseTimeout func(name, text string) (millis int64, ok bool)
}

// Added reports whether the protocol's own peers add the key to requests or responses.
func (a *Attachments) Added(request bool, key string) bool {
	list := a.Response
	if request {
		list = a.Request
	}
	return slices.ContainsFunc(list, func(own string) bool {
		start, any := strings.CutSuffix(own, "*")
		return key == own || any && strings.HasPrefix(key, start)
	})
}

// Needs answers a connection's questions about what later stages need.
type Needs interface {
	// Awaited reports whether a side owes a response in that exchange.
	Awaited(side int, exchange uint64) bool
	// Answered returns the operation of the request that a response of a side in that exchange answers, nil if it is not known.
	Answered(side int, exchange uint64) *Operation
	// Keep reports whether the whole body of m will be needed. m has only its kind, exchange, lengths and failure, and its
	// operation if the start of the body has it.
	Keep(side int, m *Message) bool
	// Named reports whether the user has named the product that listens at the address of a side.
	Named(side int) bool
	// Want returns how far the body of m is to be decoded. The body is whole, and the operation of a request is
	// known. It is called once per message, and once before if Env.AskFirst is set.
	Want(side int, m *Message) Detail
}

// Opener opens one connection. joined is set if the capture does not start with its first packet.
type Opener func(owner Owner, joined bool) Conn

// Env is shared by the connections of a lane. The lane changes it during a run.
type Env struct {
	Formats []decode.Format
	// Route returns the template that the user has given for the path of a request of HTTP, "" if there is none. It is nil without templates,
	// and may be called by several goroutines.
	Route func(method, path string) string
	// Detail is the minimum detail for every body.
	Detail Detail
	// WholeBodies is set if Body must hold all of every body. Sampling is set if some messages need another detail than
	// others: Keep and Want are then called, see [Conn].
	WholeBodies, Sampling bool
	// Records is set if messages need the names that records of calls print: bodies that have the class of an exception or the group of a
	// service only in their values are decoded to all values.
	Records bool
	// Borrow lets the trees of messages have texts that are valid only as long as their body.
	Borrow bool
	// Printed, if set, takes what bodies print as they are decoded to all values. Those that do so have no tree. A Conn need not do that.
	Printed *decode.Printed
	// AskFirst is set if Needs.Want is called for a whole body of which the envelope was decoded, although Detail is more; if it
	// returns Envelope no more is decoded. A Conn need not do that.
	AskFirst bool
	// Framing is set if Sink.Framing is to be called, and Message.Pieces are needed.
	Framing bool
	// MaxBody is the number of bytes kept of a body that crosses deliveries, MaxEnvelope the number if only its
	// envelope is needed.
	MaxBody, MaxEnvelope int
	// MaxBuffers bounds the memory for such bodies over all connections of the lane, in bytes.
	MaxBuffers int
	// Shared holds caches for all lanes of one goroutine, by a key of the protocol. They must not affect results.
	Shared map[any]any
}
