// Package json is serialization 5, Dubbo's own JSON: one text per line. Package jsonlines reads the bodies and tells who owns
// memory.
//
// The last member of a bean is "class"; a map whose last entry is "class" looks like a bean. Dates are local times without a
// zone, byte arrays are base64 and constants of enums are their names: all three are strings. The text is in the sender's
// default charset. UTF-8 is assumed, and other bytes become U+FFFD.
//
// Sources: Dubbo 2.0.7 to 2.6.0, JsonObjectOutput and GenericJSONConverter.
package json

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         5,
	Name:       "json",
	Depth:      decode.DepthFull,
	Releases:   "2.0.7 to 2.6.0",
	Capture:    "json-2.5.3.pcap.zst",
	Heartbeats: [][]byte{[]byte("null\n"), []byte("null\r\n")},
	Scrub:      jsonlines.Scrub,
	ScrubBody:  jsonlines.NewBodyScrubber,
	Starts:     jsonlines.Starts,
	New:        jsonlines.NewDubbo,
	Counts:     true,
}
