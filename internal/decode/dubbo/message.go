package dubbo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// The kinds of messages and details of decoding, as package rpc names them.
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

// Names is the part of a request body that says what is called.
type Names struct {
	rpc.Operation

	raw       string // the bytes they were read from; "" where those are not remembered
	malformed bool   // Descriptor is no list of descriptors
	strange   bool   // that, or ProtocolVersion is no version: another serialization may have written them
	// parts is what their bytes are for, where that was counted.
	parts   decode.PartBytes
	counted bool
}

// Message is a decoded frame. Its Tree is reused for the next message of the decoder; strings may be kept.
type Message struct {
	rpc.Message
	// Names is set for requests whose envelope was read.
	Names *Names
	head  [HeaderLen]byte
}

// isException reports whether a response carries an exception instead of a value.
func (m *Message) isException() bool { return m.ResultKind == 0 || m.ResultKind == 3 }

// resultName is the name of the field that carries a result of this kind.
func (m *Message) resultName() string {
	if m.isException() {
		return "exception"
	}
	return "result"
}
