// Package gson is serialization 16: one JSON text in a line, as Dubbo's GsonJsonObjectOutput writes it (gson 2.8.5
// with Dubbo 2.7.2 to 2.7.23, 2.13 in the extension for Dubbo 3). Nothing tells a class, not even that of an
// exception, except with the extension, which writes {"exception": …, "clazz": "…"}. See package jsonlines.
package gson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         16,
	Name:       "gson",
	Depth:      decode.DepthFull,
	Releases:   "2.7.2 to 2.7.23, 3.x by extension",
	Capture:    "gson.pcap.zst",
	Heartbeats: [][]byte{[]byte("null\n"), []byte("null\r\n")},
	New:        jsonlines.NewLines,
}
