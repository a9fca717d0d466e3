// Package rpc holds the words that all protocols share: the message that travels from a protocol to calls, sizes and
// reports, and what a protocol is.
//
// Bytes of TCP connections come in through [Conn], messages go out through [Sink]. Nothing to the right of this package
// knows which protocol a message came from, but by [Protocol].
//
// Memory: a [Message] is borrowed until the sink returns; its [Summary] and its strings may be kept. The package imports
// decode alone.
package rpc

import "dubbo-wire/internal/decode"

// Protocol is one protocol that a TCP connection may carry. To add one, write its folder and add its line to the list in
// package protocols.
type Protocol struct {
	// Name is what reports print.
	Name string
	// Read says what is made of it, in a word or two; Releases which Dubbo releases speak it, "" where Dubbo does not.
	Read, Releases string
	// Capture is a committed capture that proves it (a file in testdata/captures), "" where there is none.
	Capture string
	// Sniff tells from the first bytes of one direction, at most HeadLen, whether the connection is of this protocol; nil
	// where another protocol's connections turn out to be of this one.
	Sniff func(head []byte) Verdict
	// Rest reports whether a connection in which no message was found, and which nobody's Sniff knows, is of this
	// protocol; text says that all of it is lines of text. nil is never.
	Rest func(head []byte, text bool) bool
	// New prepares what reads the connections of one lane, self being the protocol; nil for a protocol that is recognised
	// and counted only.
	New func(self *Protocol, env *Env) Opener
	// Midway says that its connections can be read from any place on: a connection that no Sniff knows is given to it.
	Midway bool

	// Numbered says that its header names serializations by number, as the list of formats has them.
	Numbered bool
	// KeepHead says what of the first bytes of a direction, which tell that the connection is of this protocol, stays in a
	// redacted copy: is has as many bytes as head, and those in keep stay or become what is has there. keep is nil where
	// head does not tell; more asks for more bytes, up to MaxHead.
	KeepHead func(head []byte) (is []byte, keep []Span, more bool)
	// Prompt is what its server writes before each line of text; a redacted copy keeps it.
	Prompt string
	// MaxHead is how many bytes from the start tell what a connection is used for; 0 is HeadLen.
	MaxHead int
	// StatusText names a status, "" if it has no name.
	StatusText func(status int) string
	// Exhausted is the status of a provider that had no thread for the request; 0 where there is none such.
	Exhausted int
	// Header describes the fields of a message's header, in order and without gaps.
	Header func(m *Message) []HeaderField
	// NewDecoder returns a reader of bodies of messages that were kept.
	NewDecoder func(formats []decode.Format) Decoder
	// FindHeader returns where in b something begins that looks like a message's header, -1 where nothing does.
	FindHeader func(b []byte) int
	// Magic is what each message begins with, nil where there is no such thing. NewMayBegin returns what reports whether b
	// may begin a message, as far as its first n bytes tell: a connection with such bytes counts as one of this protocol,
	// though none of them is believed to be a message.
	// HeaderLen is the bytes of a header that is as long in every message.
	Magic       []byte
	HeaderLen   int
	NewMayBegin func(formats []decode.Format) func(b []byte) (n int, may bool)
}

// HeadLen is how many bytes from the start of a direction Sniff wants to see, at most.
const HeadLen = 24

// Verdict is what a protocol says of the first bytes of a direction.
type Verdict uint8

const (
	// NotMine: the connection is not of this protocol.
	NotMine Verdict = iota
	// More: that cannot be told yet.
	More
	// Mine: the connection is of this protocol.
	Mine
)

// HeaderField is a field of a protocol's header.
type HeaderField struct {
	Name, Value string
	Off, Len    int // in bytes from the message's first byte
}

// Decoder reads the bodies of messages that were kept. It is not safe for concurrent use.
type Decoder interface {
	// Decode reads the body of m as far as detail asks, with what m.Native knows of its connection; without Native as if
	// it was the connection's first. m is not changed. The result is valid until the next call.
	Decode(m *Message, detail Detail) *Message
	// DecodeAs reads the body of m in a serialization, whatever its header says, down to every value.
	DecodeAs(m *Message, f *decode.Format) *Message
}

// Decoders reads the bodies of messages that were kept, of any protocol. It is not safe for concurrent use.
type Decoders struct {
	Formats []decode.Format
	known   map[*Protocol]Decoder
}

// Decode reads the body of m as [Decoder] does. The result is valid until the next call for a message of that protocol.
func (d *Decoders) Decode(m *Message, detail Detail) *Message { return d.of(m).Decode(m, detail) }

// DecodeAs reads the body of m as [Decoder] does. The result is valid until the next call for a message of that protocol.
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

// Conn is one TCP connection of a protocol: both directions, so that what one says can decide how the other is read. Side
// 0 sent the connection's first packet.
type Conn interface {
	// Data takes the next bytes of a side; b and c are borrowed.
	Data(side int, b []byte, c *Chunk)
	// Gap takes n bytes that the capture lacks; wire of them were on the link, beyond the snap length.
	Gap(side int, n, wire int64, c *Chunk)
	// Repeat is told of bytes that were sent again, with their bytes on the link, and reports whether they are of a
	// message that is being read and took them.
	Repeat(side int, s Span, wire int64) bool
	// End says that a side is over.
	End(side int)
	// Pending says what a side holds.
	Pending(side int) Pending
}

// Pending is what one direction of a connection still holds.
type Pending struct {
	// From is the place of the first byte of which it is not known yet what it is, if Held.
	From int64
	Held bool
	// Searching: messages may still be found among these bytes.
	Searching bool
}

// Sink takes what a connection has found.
type Sink interface {
	// Message takes a message that is complete, or is known to stay incomplete.
	Message(side int, m *Message)
	// Abort says that no further message comes in an exchange that a side asked for, and why: it was reset or cancelled.
	Abort(side int, exchange uint64, why string)
	// Unowned counts n captured bytes that belong to no message: under the name of what they are, "" for bytes that were
	// skipped.
	Unowned(side int, n int64, name string)
	// Claim says that the connection is of the protocol, though no message was found yet. A protocol that only counts
	// gives the name to count its bytes under; for others it is "".
	Claim(name string)
	// BadHeader counts a header, at a place where one is due, that announces an impossible length.
	BadHeader(side int)
}

// Needs is what a connection asks of those to its right.
type Needs interface {
	// Awaited reports whether a response in that exchange is due from a side.
	Awaited(side int, exchange uint64) bool
	// Keep reports whether all of the body of m will be wanted. Only its kind, exchange and lengths are known, and its
	// operation where the beginning of the body tells it.
	Keep(side int, m *Message) bool
	// Want returns how much is wanted of the body of m, which is whole; of a request it is asked once its operation is known.
	// It is asked once a message.
	Want(side int, m *Message) Detail
}

// Opener opens one connection. joined says that its capture does not start with its first packet.
type Opener func(out Sink, needs Needs, joined bool) Conn

// Env is what the connections of a lane have in common. Lanes change it while a run goes on.
type Env struct {
	Formats []decode.Format
	// Detail is what is wanted of every body at least.
	Detail Detail
	// WholeBodies says that all of every body is wanted in Body, Sampling that more is wanted of some messages than of
	// others: then Keep and Want are asked.
	WholeBodies, Sampling bool
	// MaxBody is how many bytes of a body that crosses deliveries are kept, MaxEnvelope how many of them where only its
	// envelope is wanted.
	MaxBody, MaxEnvelope int
	// MaxBuffers bounds the memory for such bodies, in bytes, over all connections of the lane.
	MaxBuffers int
	// Shared is for what the lanes of one goroutine share, by a key of the protocol's own: caches that do not bear on
	// results.
	Shared map[any]any
}
