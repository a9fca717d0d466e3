// Package fastjson is serialization 6: JSON texts of fastjson 1.x in two layouts, which the first byte of a body
// distinguishes. Package jsonlines reads the bodies and tells who owns memory.
//
// The first layout has one text per line; the wire has no classes except "@type" in exceptions. The second layout has each
// text after its length, with "@type" in every object and map, letters for the types of numbers, and the forms new Date(…),
// Set[…] and x'…'.
//
// Sources: FastJsonObjectOutput of Dubbo 2.0.7 to 2.7.23 and of the extension 1.0.1 for Dubbo 3.0 and 3.1 (lines);
// DefaultJsonDataOutput of the extension 3.2.0 for Dubbo 3.2 with fastjson 1.2.83 (lengths).
package fastjson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it, with one text per line.
var Format = decode.Format{
	ID:         6,
	Name:       "fastjson",
	Depth:      decode.DepthFull,
	Releases:   "2.0.7 to 2.7.23, 3.0 and 3.1 by extension",
	Capture:    "fastjson.pcap.zst",
	Heartbeats: [][]byte{[]byte("null\n"), []byte("null\r\n")},
	Scrub:      jsonlines.Scrub,
	Starts:     jsonlines.Starts,
	New:        jsonlines.NewFastjson,
	Counts:     true,
	Tell:       func(b []byte, _ decode.BodyKind) decode.Verdict { return tell(b, false) },
}

// Prefixed is the other layout, each text after its length.
var Prefixed = decode.Format{
	ID:         6,
	Name:       "fastjson",
	Dialect:    "length-prefixed",
	Depth:      decode.DepthFull,
	Releases:   "3.2 and later, by extension",
	Capture:    "fastjson-3.2.16.pcap.zst",
	Heartbeats: [][]byte{[]byte("\x00\x00\x00\x04null")},
	Scrub:      jsonlines.Scrub,
	Starts:     decode.Starts{Request: startsPrefixed, Result: decode.ShortLength},
	New:        jsonlines.NewPrefixed,
	Counts:     true,
	Tell:       func(b []byte, _ decode.BodyKind) decode.Verdict { return tell(b, true) },
}

// startsPrefixed accepts a string in quotes after its length.
func startsPrefixed(b []byte) bool {
	return len(b) > 5 && decode.ShortLength(b) && b[4] == '"' && decode.VersionAt(b, 5)
}

// tell decides by the first byte: no text starts with a byte 0, and every length below 16 MB does, which is longer than any
// first text.
func tell(b []byte, prefixed bool) decode.Verdict {
	switch {
	case len(b) == 0:
		return decode.Unsure
	case prefixed == (b[0] == 0):
		return decode.Own
	}
	return decode.Foreign
}
