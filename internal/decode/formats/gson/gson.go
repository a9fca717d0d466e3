// Package gson is serialization 16: one JSON text per line, as Dubbo's GsonJsonObjectOutput writes it. Package jsonlines
// reads the bodies and tells who owns memory.
//
// The text has no classes. Exceptions of late 2.7 releases (measured with 2.7.23) and of the extension are an exception:
// {"exception": …, "clazz": "…"}.
//
// Sources: Dubbo 2.7.2 to 2.7.23 with gson 2.8.5, and the extension for Dubbo 3 with gson 2.13.
package gson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:               16,
	Name:             "gson",
	Depth:            decode.DepthFull,
	Releases:         "2.7.2 to 2.7.23, later by extension",
	Capture:          "gson.pcap.zst",
	Heartbeats:       [][]byte{[]byte("null\n"), []byte("null\r\n")},
	Scrub:            jsonlines.Scrub,
	Starts:           jsonlines.Starts,
	ThrowableMessage: "exception",
	New:              jsonlines.NewGson,
	Counts:           true,
}
