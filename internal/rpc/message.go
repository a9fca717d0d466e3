package rpc

import (
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
)

// Kind is the purpose of a message.
type Kind uint8

const (
	Request Kind = iota
	Response
	Heartbeat // and the answer to one
	Event     // any other control message
)

func (k Kind) String() string {
	return [...]string{"request", "response", "heartbeat", "event"}[k]
}

// Control reports whether messages of this kind belong to no call.
func (k Kind) Control() bool { return k > Response }

// Detail is how far a body is decoded.
type Detail uint8

const (
	// Envelope is service, method and types, and the kind of a result.
	Envelope Detail = iota
	// Parts is the envelope, and the bytes of each class in Message.Parts.
	Parts
	// Values is every byte and every value, in Message.Tree.
	Values
)

// Origin is the packet that brought a byte.
type Origin struct {
	Time   int64 // nanoseconds since the Unix epoch
	Packet int64 // from 1, within its file
	File   int   // index of the input
}

// Chunk is the origin of delivered bytes.
type Chunk struct {
	Origin
	// Pos is the offset of the bytes in the stream, from 0.
	Pos int64
	// Overhead is the link-layer bytes that belong to the owner of the first byte.
	Overhead int
}

// Span is the stream bytes from From up to, not including, To.
type Span struct{ From, To int64 }

// Len returns the number of bytes in the span.
func (s Span) Len() int64 { return s.To - s.From }

// Operation is the target of a request. Requests that start with the same bytes share it, so it must not be changed.
type Operation struct {
	// ProtocolVersion is the protocol version that the caller sends.
	ProtocolVersion string
	// Service, Version and Method are as on the wire.
	Service, Version, Method string
	// ServiceNull and VersionNull report a null on the wire, which some callbacks send. Generic reports a generic call: its arguments
	// name the method to invoke.
	ServiceNull, VersionNull, Generic bool
	// Hash is a hash for tables of shared operations; 0: the operation is not shared.
	Hash uint32
	// Descriptor is the parameter types as on the wire; Descriptors and Types are the single types as JVM descriptors
	// and in Java source form. If the body does not tell the types, Types is nil, and Descriptors has an empty one for each
	// parameter if it tells their number, else none.
	Descriptor         string
	Descriptors, Types []string
	// Layout names the order of fields in the body if it is not the protocol's own, but that of a fork.
	Layout string
	// ContentType is that of requests if responses without one are of the same type, or if the body of plain HTTP names the method; "" otherwise.
	ContentType string
	// Accept is the media types that the request of plain HTTP accepts: a successful response without a content type has one of them.
	Accept string
}

// Signature returns the method with its parameter types as far as the body tells them.
func (o *Operation) Signature() string {
	types := o.Types
	switch {
	case types != nil:
	case o.Descriptors != nil:
		types = make([]string, len(o.Descriptors))
		for i := range types {
			types[i] = "?"
		}
	default:
		types = []string{"..."}
	}
	return o.Service + "/" + o.Method + "(" + strings.Join(types, ", ") + ")"
}

// Parameters returns the number of parameters, -1 if the body does not tell it.
func (o *Operation) Parameters() int {
	if o.Types == nil && o.Descriptors == nil {
		return -1
	}
	return len(o.Descriptors)
}

// NoStatus is the status of a message without one.
const NoStatus = -1

// NoSerialization is the serialization id of a protocol without numbered serializations.
const NoSerialization = -1

// Summary is what is known of a message without its bytes. It holds no borrowed memory.
type Summary struct {
	// The fields are in the order of their use, so that a message that is looked at again takes few lines of the cache.

	// Wire is the link bytes of the message: its own, and the headers of packets that start with one of its bytes.
	Wire int64
	// SerializationID is the number in the protocol's header, or NoSerialization.
	SerializationID int8
	Kind            Kind
	// ResultKind is Dubbo's number of the result kind, 0 to 5; -1 if the message is not a successful response or the
	// kind was not read.
	ResultKind int8
	// Request reports whether the message is a request, also a control message that is one.
	Request bool
	// TwoWay reports whether a request expects a response.
	TwoWay bool
	// Ends reports whether the message is the last of its side of the exchange; Ordinal is its index there, from 0.
	// Without streaming each side has one message.
	Ends bool
	// Complete reports whether the capture has every byte.
	Complete bool
	// Resync reports whether resynchronizing found the message, not the end of the message before it.
	Resync bool
	// Closes reports that the sender wants no other exchange on the connection, in a protocol whose messages tell it.
	Closes bool
	// Interleaved reports that the bytes of the messages of its direction may alternate, so that none waits for the end of another one.
	Interleaved bool
	// Failed reports a status other than OK; Exception reports a result that is an exception.
	Failed, Exception bool
	// File is the index of the input whose packet completed the message.
	File int32
	// Exchange pairs a request with its response within a connection and direction: Dubbo's request id, an HTTP/2
	// stream id, the ordinal of an HTTP/1 exchange.
	Exchange uint64
	Ordinal  int32
	// Status is the code of a response, or NoStatus. In a request it is the value of the same header field.
	Status int32
	// HeaderLen and BodyLen are the announced bytes of header and body.
	HeaderLen int32
	// FieldsLen is the number of header bytes that the header's fields take, 0 if the protocol has no such fields.
	FieldsLen int32
	BodyLen   int
	Protocol  *Protocol
	// Operation is set for requests whose envelope was read.
	Operation *Operation
	// FirstTime and LastByte are the capture times of the first and the last byte, in nanoseconds since the Unix epoch.
	FirstTime, LastByte int64
	// Serialization is the name of the serialization with its dialect, for example "kryo (Kryo 5)"; "" if unknown.
	Serialization string
	// Parts is the captured bytes of the body by class; zero if only the envelope was decoded. See [Message.BodyParts].
	Parts decode.PartBytes
	// FieldsPlainLen is the number of bytes that FieldsLen would be without compression.
	FieldsPlainLen int32
	// Span is the first run of stream bytes of the message, as announced.
	Span  Span
	Extra *Extra // nil for most messages; not changed once the message is passed on
}

// Extra is what few messages have, and need until they are settled.
type Extra struct {
	// More are the runs of stream bytes after Summary.Span, in order.
	More []Span
	// Product is what the server calls itself in a response of plain HTTP, "" if it does not tell.
	Product string
}

// FrameLen returns the announced bytes of header and body.
func (s *Summary) FrameLen() int { return int(s.HeaderLen) + s.BodyLen }

// ID returns the exchange as reports print it: a signed decimal.
func (s *Summary) ID() string { return strconv.FormatInt(int64(s.Exchange), 10) }

// Spans yields each run of stream bytes of the message.
func (s *Summary) Spans(yield func(Span) bool) {
	if !yield(s.Span) || s.Extra == nil {
		return
	}
	for _, more := range s.Extra.More {
		if !yield(more) {
			return
		}
	}
}

// Product returns what the server calls itself in a response of plain HTTP, "" if it does not tell.
func (s *Summary) Product() string {
	if s.Extra == nil {
		return ""
	}
	return s.Extra.Product
}

// StatusText returns the protocol's name for the status, "" if it has none.
func (s *Summary) StatusText() string {
	if s.Protocol == nil || s.Protocol.StatusText == nil {
		return ""
	}
	return s.Protocol.StatusText(int(s.Status))
}

// StatusName returns the protocol's name for the status, "status 99" if it has none, or "unknown status".
func (s *Summary) StatusName() string {
	if s.Status == NoStatus {
		return "unknown status"
	}
	if text := s.StatusText(); text != "" {
		return text
	}
	return "status " + strconv.Itoa(int(s.Status))
}

// SerializationName returns the name of the serialization, "id 30" if the number is not registered, or "?".
func (s *Summary) SerializationName() string {
	switch {
	case s.Serialization != "":
		return s.Serialization
	case s.SerializationID >= 0:
		return "id " + strconv.Itoa(int(s.SerializationID))
	}
	return "?"
}

// NoBody reports whether the message is known to have no body, and so no serialization.
func (s *Summary) NoBody() bool {
	return s.Serialization == "" && s.SerializationID == NoSerialization && s.BodyLen == 0 && s.Complete
}

// AppendSerialization appends the name of the serialization, after that of the protocol unless the protocol has its own numbers for
// serializations.
func (s *Summary) AppendSerialization(dst []byte) []byte {
	if s.Protocol != nil && !s.Protocol.Numbered {
		dst = append(append(dst, s.Protocol.Name...), '/')
	}
	return append(dst, s.SerializationName()...)
}

// QualifiedSerialization returns what AppendSerialization appends.
func (s *Summary) QualifiedSerialization() string {
	if s.Protocol == nil || s.Protocol.Numbered {
		return s.SerializationName()
	}
	return string(s.AppendSerialization(nil))
}

// Details are fields that few messages have. The strings may be kept.
type Details struct {
	// Group is the service group of a request, "" if there is none or it was not read.
	Group string
	// GenericMethod and GenericTypes are the target of a generic call, set if its arguments were read.
	GenericMethod string
	GenericTypes  []string
	// ExceptionClass and ExceptionMessage describe an exception; ErrorMessage is the text of a failed response.
	ExceptionClass, ExceptionMessage, ErrorMessage string
	// HasErrorText reports whether ExceptionMessage or ErrorMessage was read and is not null.
	HasErrorText bool
	// HeaderSerialization is the serialization in the header, set if the body uses another one.
	HeaderSerialization string
	// Encoding is the compression of the body, "" if there is none. UncompressedLen, valid if it is set, is the number of
	// bytes without it, -1 if that is not known.
	Encoding        string
	UncompressedLen int
	// Stalled is the time for which flow control held the message back, in nanoseconds.
	Stalled int64
}

// IsZero reports whether nothing is set.
func (d *Details) IsZero() bool {
	return d.Group == "" && d.GenericMethod == "" && d.GenericTypes == nil && d.ExceptionClass == "" && d.ExceptionMessage == "" &&
		d.ErrorMessage == "" && !d.HasErrorText && d.HeaderSerialization == "" && d.Stalled == 0 && d.Encoding == ""
}

// Message is one request, response or control message. It is borrowed: Head, Headers, Body, Plain, Pieces, Tree, Printed and
// Native are valid until the sink returns. Clone returns a copy that may be kept.
type Message struct {
	Summary
	Details
	// Format is the serialization of the body, nil if unknown.
	Format *decode.Format
	// HeaderFormat is the serialization in the header if the body uses another one, else nil.
	HeaderFormat *decode.Format
	// Head is the protocol's header as on the wire.
	Head []byte
	// Body is the contiguous start of the body as far as it was captured and needed. It is complete if len(Body) ==
	// BodyLen. It is nil if there is no body, which is not the same as one of no bytes.
	Body []byte
	// Plain is Body without its compression, nil if there is none or it could not be removed. Offsets in Tree are offsets in Plain
	// if it is set.
	Plain []byte
	// Headers are the fields that travel outside the body, in wire order; nil if nothing but the envelope is needed. Unresolved is set
	// if one refers to a field that the capture lacks.
	Headers    []Header
	Unresolved bool
	// Pieces are the places of the bytes of Head and Body in the stream, in its order, if they do not follow each other; else nil. A
	// Conn sets them if Env.Framing is set.
	Pieces []Piece
	// Captured is the number of captured body bytes, MissingAt the offset of the first missing one. Both are BodyLen
	// if the message is complete.
	Captured, MissingAt int
	// Short is the cause of an incomplete body: decode.Cut or decode.Lost.
	Short decode.Cause
	// First is the packet that brought the first byte.
	First Origin
	// Last is the packet that completed the message.
	Last Origin
	// Tree is the decoded body, nil unless the detail is Values. Its top-level nodes cover the announced body,
	// including missing and opaque bytes.
	Tree *decode.Tree
	// Printed is what the body printed in place of a tree, nil if it has one. The body was then read to its end.
	Printed *decode.Printed
	// Decoded is "full", "partly", "envelope" or "none"; "" unless the detail is Values.
	Decoded string
	// Err is the first error of decoding, nil if everything needed was read.
	Err *decode.Error
	// Native is the protocol's state for decoding the body again.
	Native Native
}

// Piece is stream bytes from From on, which are Len bytes of a message's head or body from Off on.
type Piece struct {
	From     int64
	Off, Len int
	Body     bool
}

// Header is a named text that travels outside the body, as a header of HTTP does.
type Header struct {
	Name, Value string
	// Key is the key of the attachment that the header carries, "" if it carries none.
	Key string
	// Off and Len are its bytes in Message.Head. Len is what it takes on the wire, PlainLen what its name and value take
	// without compression.
	Off, Len, PlainLen int32
	// Entry is the entry of the compression table that the header refers to, 0 if there is none. Unknown is set if it was made
	// before the capture or in a gap, so that the value is not known, and perhaps not the name.
	Entry   int32
	Unknown bool
	// Indexed is set if the header became an entry of the table.
	Indexed bool
	// Trailer is set if the header follows the body.
	Trailer bool
}

// HeaderSerializationName returns the serialization in the header with its number, for a body in another one.
func (m *Message) HeaderSerializationName() string {
	id := "id " + strconv.Itoa(int(m.SerializationID))
	if m.HeaderSerialization == id {
		return id
	}
	return m.HeaderSerialization + " (" + strconv.Itoa(int(m.SerializationID)) + ")"
}

// Native is a protocol's own state of a message.
type Native interface {
	// Clone returns a copy that may be kept.
	Clone() Native
}

// IsWhole reports whether Body is the whole body.
func (m *Message) IsWhole() bool { return m.Complete && len(m.Body) == m.BodyLen }

// Clone returns a copy that may be kept, with the bytes of the body and with the tree, without byte values, as
// requested.
func (m *Message) Clone(withBody, withTree bool) *Message {
	c := *m
	c.Head = append([]byte(nil), m.Head...)
	c.Pieces = nil
	c.Headers = append([]Header(nil), m.Headers...)
	c.Body, c.Plain, c.Printed = nil, nil, nil
	if withBody && m.Body != nil {
		c.Body = append([]byte{}, m.Body...)
		if m.Plain != nil {
			c.Plain = append([]byte{}, m.Plain...)
		}
	}
	if m.Tree != nil {
		c.Tree = nil
		if withTree {
			tree := &decode.Tree{Nodes: append([]decode.Node(nil), m.Tree.Nodes...)}
			for i := range tree.Nodes {
				tree.Nodes[i].Raw = nil
			}
			c.Tree = tree
		}
	}
	if m.Native != nil {
		c.Native = m.Native.Clone()
	}
	return &c
}
