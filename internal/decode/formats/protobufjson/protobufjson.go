// Package protobufjson is serialization 21: protocol buffers messages as JSON, one in a line, as Dubbo's
// GenericProtobufJsonObjectOutput writes them with protobuf's JsonFormat (2.7.5 to 2.7.23, and the extension 3.2.0), and
// GenericProtobufObjectOutput of 2.7.4. (That of 2.7.2 and 2.7.3 refuses every string, and so every call.) Members are
// named as in JSON, a long is a text, bytes are base64, what is 0 or empty is left out. See package jsonlines.
//
// Dubbo 2.7.5 gave the same id to the binary form; the first byte of a body tells: see package protobuf.
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

// Tell tells lines of JSON from the binary form by the first two bytes: a result starts with a digit, all else with a
// quote. A binary string may be 34 bytes long, which is a quote; a line end follows then, its tag.
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
