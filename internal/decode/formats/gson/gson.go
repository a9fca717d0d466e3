// Package gson is serialization 16: one JSON text in a line, as Dubbo's GsonJsonObjectOutput writes it (gson 2.8.5
// with Dubbo 2.7.2 to 2.7.23, 2.13 in the extension for Dubbo 3). Nothing tells a class, except that of an exception in
// late 2.7 releases (2.7.23 measured) and the extension, which write {"exception": …, "clazz": "…"}. See package
// jsonlines.
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
