// Package protobufjson is serialization 21: protocol buffers messages as JSON, one per line. Package jsonlines reads the
// bodies and tells who owns memory.
//
// Members have their JSON names, a long is a text, bytes are base64, and members that are 0 or empty are omitted. Dubbo 2.7.5
// gave the same id to the binary form (package protobuf); the first byte of a body distinguishes them.
//
// Sources: GenericProtobufJsonObjectOutput (2.7.5 to 2.7.23, and the extension 3.2.0) with protobuf's JsonFormat, and
// GenericProtobufObjectOutput of 2.7.4. That of 2.7.2 and 2.7.3 refuses every string, and so every call.
package protobufjson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:               21,
	Name:             "protobuf-json",
	Tell:             Tell,
	Depth:            decode.DepthFull,
	Releases:         "2.7.4 to 2.7.23, later by extension",
	Capture:          "protobuf-json-2.7.23.pcap.zst",
	Heartbeats:       [][]byte{[]byte("\"H\"\n"), []byte("\"H\"\r\n")}, // from 2.7.9 on the body is empty
	Scrub:            jsonlines.Scrub,
	EmptyHeartbeats:  true,
	Starts:           jsonlines.Starts,
	ThrowableMessage: "originalMessage",
	New:              jsonlines.NewProto,
	Counts:           true,
}

// Tell distinguishes lines of JSON from the binary form by the first two bytes. A result starts with a digit, every other body
// with a quote. The length of a binary string of 34 bytes is a quote, too; its tag, a line end, follows then.
func Tell(b []byte, k decode.BodyKind) decode.Verdict {
	switch {
	case len(b) == 0:
		return decode.Unsure
	case k == decode.BodyResult:
		if b[0] >= '0' && b[0] <= '9' {
			return decode.Own
		}
		return decode.Foreign
	case b[0] != '"':
		return decode.Foreign
	case len(b) == 1:
		return decode.Unsure
	case b[1] == '\n':
		return decode.Foreign
	}
	return decode.Own
}
