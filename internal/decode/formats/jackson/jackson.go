// Package jackson is serialization 18: one JSON text per line. Package jsonlines reads the bodies and tells who owns memory.
//
// Members that are null are omitted, and java.time values are numbers, as Jackson's module writes them. The text has no
// classes, not even that of an exception.
//
// Source: JacksonObjectOutput of Dubbo's extension 3.2.0, with Jackson's ObjectMapper.
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
