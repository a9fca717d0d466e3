// Package fastjson is serialization 6: JSON texts as fastjson 1.x writes them, one in a line with Dubbo 2.0.7 to
// 2.7.23 (FastJsonObjectOutput), behind a length in the extension for Dubbo 3 (DefaultJsonDataOutput). The first byte
// tells which. Types are not on the wire, except "@type" of exceptions and, in the extension, of every object;
// references ({"$ref": …}) stay as they are written. See package jsonlines.
package fastjson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         6,
	Name:       "fastjson",
	Depth:      decode.DepthFull,
	Releases:   "2.0.7 to 2.7.23, later by extension",
	Capture:    "fastjson.pcap.zst",
	Heartbeats: [][]byte{[]byte("null\n"), []byte("null\r\n"), []byte("\x00\x00\x00\x04null")},
	New:        jsonlines.NewEither,
}
