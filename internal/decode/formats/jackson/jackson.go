// Package jackson is serialization 18: one JSON text in a line, as JacksonObjectOutput of Dubbo's extension 3.2.0 writes it
// with Jackson's ObjectMapper: null members are left out, java.time by its module and as numbers. Nothing tells a class,
// not even that of an exception. See package jsonlines.
package jackson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         18,
	Name:       "jackson",
	Depth:      decode.DepthFull,
	Releases:   "3.2 and 3.3 by extension",
	Capture:    "jackson-3.2.16.pcap.zst",
	Heartbeats: [][]byte{[]byte("null\n"), []byte("null\r\n")},
	Scrub:      jsonlines.Scrub,
	Starts:     jsonlines.Starts,
	New:        jsonlines.NewJackson,
	Counts:     true,
}
