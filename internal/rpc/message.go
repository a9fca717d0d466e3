package rpc

import (
	"strconv"

	"dubbo-wire/internal/decode"
)

// Kind says what a message is for.
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

// Detail says how much of a body is wanted.
type Detail uint8

const (
	// Envelope is who calls what, and the kind of a result: what sizes by method need.
	Envelope Detail = iota
	// Parts is the envelope, and in Message.Parts what every byte is for.
	Parts
	// Values is every byte with its owner and every value, in Message.Tree.
	Values
)

// Origin is the packet that brought a byte.
type Origin struct {
	Time   int64 // nanoseconds since the Unix epoch
	Packet int64 // from 1, within its file
	File   int   // index of the input
}

// Chunk says where delivered bytes came from.
type Chunk struct {
	Origin
	// Pos is the place of the bytes in the stream, from 0.
	Pos int64
	// Overhead is the link-layer bytes that belong to the owner of the first byte.
	Overhead int
}

// Span is the bytes of a stream from From to before To.
type Span struct{ From, To int64 }

// Len returns the number of bytes in the span.
func (s Span) Len() int64 { return s.To - s.From }

// Operation is what a request calls. It is shared by all requests that start with the same bytes and must not be
// changed.
type Operation struct {
	// ProtocolVersion is the version of the protocol that the caller says it speaks.
	ProtocolVersion string
	// Service, Version and Method are the service's name, its version and the method, as on the wire.
	Service, Version, Method string
	// ServiceNull and VersionNull report a written null, which some callbacks have there.
	ServiceNull, VersionNull bool
	// Descriptor is the parameter types as on the wire. Descriptors and Types hold the same one by one, as JVM
	// descriptors and in Java's source form.
	Descriptor         string
	Descriptors, Types []string
	// Generic reports a generic call, whose arguments name the method that is meant.
	Generic bool
	// Hash spreads operations over tables; it is 0 for an operation that is not shared.
	Hash uint32
}

// NoStatus is the status of a message that has none.
const NoStatus = -1

// NoSerialization is the serialization id of a message whose protocol does not number serializations.
const NoSerialization = -1

// Summary is what is known of a message after its bytes are gone. It holds no borrowed memory.
type Summary struct {
	Protocol *Protocol
	// Operation is set for requests whose envelope was read.
	Operation *Operation
	// Exchange pairs a request with its response within a connection and direction: Dubbo's request id, the number of an
	// HTTP/2 stream, the ordinal of an HTTP/1 exchange.
	Exchange uint64
	// Serialization is the serialization's name with its dialect, as reports print it: "kryo (Kryo 5)"; "" if unknown.
	Serialization string
	// SerializationID is its number in the protocol's header, or NoSerialization.
	SerializationID int16
	Kind            Kind
	// ResultKind is 0 to 5, as Dubbo numbers results; -1 when the message is not a successful response or its kind was
	// not read.
	ResultKind int8
	// Request reports whether the message asks, rather than answers: control messages do one of both, too.
	Request bool
	// TwoWay reports whether a request wants a response.
	TwoWay bool
	// Ends reports whether the message is the last one of its side of the exchange; Ordinal counts these from 0. A call
	// without streaming has one message each way.
	Ends bool
	// Complete reports whether the capture has every byte.
	Complete bool
	// Resync reports whether the message was found by searching, not at a place known from the one before.
	Resync bool
	// Failed reports a status other than OK, Exception a result that is an exception.
	Failed, Exception bool
	Ordinal           int32
	// Status is the code that a response carries, or NoStatus. In a request it is what the header has in that place.
	Status int32
	// HeaderLen and BodyLen are the bytes of the protocol's header and of the body, as announced.
	HeaderLen int32
	BodyLen   int
	// Last is the packet that completed the message. FirstTime and LastByte are when its first and its last byte were
	// captured, in nanoseconds since the Unix epoch.
	Last                Origin
	FirstTime, LastByte int64
	// Span is the first run of stream bytes that the message owns, as announced; More has the others in order, and is nil
	// where there are none.
	Span Span
	More *[]Span
	// Wire is the message's bytes on the link: its own, and the headers of packets that start with one of its bytes.
	Wire int64
	// Parts is how many bytes of the body as captured each class has; zero where only the envelope was wanted.
	Parts decode.PartBytes
}

// FrameLen returns the bytes of header and body, as announced.
func (s *Summary) FrameLen() int { return int(s.HeaderLen) + s.BodyLen }

// ID returns the exchange as reports print it: a signed decimal.
func (s *Summary) ID() string { return strconv.FormatInt(int64(s.Exchange), 10) }

// Spans calls yield for each run of stream bytes that the message owns.
func (s *Summary) Spans(yield func(Span) bool) {
	if !yield(s.Span) || s.More == nil {
		return
	}
	for _, more := range *s.More {
		if !yield(more) {
			return
		}
	}
}

// StatusText returns the protocol's name for the message's status, "" if it has none.
func (s *Summary) StatusText() string {
	if s.Protocol == nil || s.Protocol.StatusText == nil {
		return ""
	}
	return s.Protocol.StatusText(int(s.Status))
}

// StatusName returns the protocol's name for the message's status, "status 99" if it has none.
func (s *Summary) StatusName() string {
	if text := s.StatusText(); text != "" {
		return text
	}
	return "status " + strconv.Itoa(int(s.Status))
}

// SerializationName returns what reports call the serialization: its name, "id 30" where none is registered under a
// number, or "?".
func (s *Summary) SerializationName() string {
	switch {
	case s.Serialization != "":
		return s.Serialization
	case s.SerializationID >= 0:
		return "id " + strconv.Itoa(int(s.SerializationID))
	}
	return "?"
}

// Details is what few messages have. Its strings may be kept.
type Details struct {
	// Group is the service group of a request ("" when there is none or it was not read).
	Group string
	// GenericMethod and GenericTypes are what a generic call invokes, where its arguments were read.
	GenericMethod string
	GenericTypes  []string
	// ExceptionClass and ExceptionMessage are those of an exception, ErrorMessage is the text of a failed response.
	ExceptionClass, ExceptionMessage, ErrorMessage string
	// HasErrorText reports whether ExceptionMessage or ErrorMessage was read and is not null.
	HasErrorText bool
	// HeaderSerialization is what the header names, where the bytes are in another serialization.
	HeaderSerialization string
}

// IsZero reports whether nothing is set.
func (d *Details) IsZero() bool {
	return d.Group == "" && d.GenericMethod == "" && d.GenericTypes == nil && d.ExceptionClass == "" && d.ExceptionMessage == "" &&
		d.ErrorMessage == "" && !d.HasErrorText && d.HeaderSerialization == ""
}

// Message is one request, response or control message as its protocol read it. It is borrowed: head, body, tree and
// Native are valid until the sink returns. Clone makes a copy that may be kept.
type Message struct {
	Summary
	Details
	// Format is the body's serialization, nil when it is not known.
	Format *decode.Format
	// HeaderFormat is the serialization that the header names, where the bytes are in another one; else nil.
	HeaderFormat *decode.Format
	// Head is the protocol's header as on the wire.
	Head []byte
	// Body is the start of the body, without a gap, as far as it was captured and wanted: all of it when
	// len(Body) == BodyLen.
	Body []byte
	// Captured is the bytes of the body in the capture, MissingAt the offset of the first body byte that it lacks; both
	// are BodyLen when the message is complete.
	Captured, MissingAt int
	// Short is why an incomplete body is so: decode.Cut or decode.Lost.
	Short decode.Cause
	// First is the packet that brought the first byte.
	First Origin
	// Tree is the body taken apart; nil unless values were wanted. Its top-level nodes cover the body as announced: what
	// is missing or was not decoded has nodes too.
	Tree *decode.Tree
	// Decoded says how far the body was understood: "full", "partly", "envelope" or "none"; "" where values were not
	// wanted.
	Decoded string
	// Err says where and why decoding stopped first; nil when everything wanted was read.
	Err *decode.Error
	// Native is what the protocol needs to read the body again.
	Native Native
}

// HeaderSerializationName returns the serialization that the header names, with its number, where the bytes are in another
// one.
func (m *Message) HeaderSerializationName() string {
	id := "id " + strconv.Itoa(int(m.SerializationID))
	if m.HeaderSerialization == id {
		return id
	}
	return m.HeaderSerialization + " (" + strconv.Itoa(int(m.SerializationID)) + ")"
}

// Native is a protocol's own knowledge of a message.
type Native interface {
	// Clone returns a copy that may be kept.
	Clone() Native
}

// IsWhole reports whether all of the body is in Body.
func (m *Message) IsWhole() bool { return m.Complete && len(m.Body) == m.BodyLen }

// Clone returns a copy that may be kept. withBody says whether it has the body's bytes, withTree whether it has the tree,
// without byte values.
func (m *Message) Clone(withBody, withTree bool) *Message {
	c := *m
	c.Head = append([]byte(nil), m.Head...)
	c.Body = nil
	if withBody {
		c.Body = append([]byte{}, m.Body...)
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
