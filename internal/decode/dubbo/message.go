package dubbo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// The kinds of messages and the details of decoding from package rpc.
const (
	Request   = rpc.Request
	Response  = rpc.Response
	Heartbeat = rpc.Heartbeat
	Event     = rpc.Event

	Envelope = rpc.Envelope
	Parts    = rpc.Parts
	Values   = rpc.Values
)

type (
	Kind   = rpc.Kind
	Detail = rpc.Detail
)

// Names is the part of a request body that names the called method.
type Names struct {
	rpc.Operation

	raw       string // the bytes they were read from; "" if they are not cached
	malformed bool   // Descriptor is not a list of descriptors, or the number of arguments is none
	// unnumbered: the body has neither the types of the arguments nor their number.
	unnumbered bool
	strange    bool // malformed, or ProtocolVersion is not a version: the body may be in another serialization
	parts      *nameParts
}

// nameParts are the parts of the bytes that names were read from. Names have none until they are needed.
type nameParts struct {
	bytes   decode.PartBytes // by class
	printed []byte           // as JSON, nil until it is needed
}

// Message is a decoded frame. Its Tree is reused for the next message of the decoder; strings may be kept.
type Message struct {
	rpc.Message
	// Names is set for requests whose envelope was read.
	Names *Names
	head  [HeaderLen]byte
	// attachmentsAt is the offset of the attachments in the body of a request that was counted without a tree, else 0.
	attachmentsAt int
}

// isException reports whether a response contains an exception instead of a value.
func (m *Message) isException() bool { return m.ResultKind == 0 || m.ResultKind == 3 }

// resultName returns the name of the field with a result of this kind.
func (m *Message) resultName() string {
	if m.isException() {
		return "exception"
	}
	return "result"
}
