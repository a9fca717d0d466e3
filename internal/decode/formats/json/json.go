// Package json is serialization 5, Dubbo's own JSON: one JSON text in a line, as JsonObjectOutput and
// GenericJSONConverter write it (Dubbo 2.0.7 to 2.6.0). Beans end with a member "class"; a map that ends with an entry
// "class" looks like one. Dates are local times without a zone, byte arrays are base64, enum constants their names:
// strings all three. The text is in the sender's default charset: UTF-8 is assumed, other bytes are U+FFFD. See package
// jsonlines.
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
	Starts:     jsonlines.Starts,
	New:        jsonlines.NewDubbo,
	Counts:     true,
}
