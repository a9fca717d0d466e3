// Package fastjson is serialization 6: JSON texts as fastjson 1.x writes them, in two layouts. Dubbo 2.0.7 to 2.7.23 and
// the extension 1.0.1 for Dubbo 3.0 and 3.1 (FastJsonObjectOutput) write one text in a line; types are not on the wire,
// except "@type" of exceptions. The extension 3.2.0 for Dubbo 3.2 (DefaultJsonDataOutput, fastjson 1.2.83) writes each
// text after its length, with "@type" of every object and map, letters after numbers for their types, and new Date(…),
// Set[…], x'…'. The first byte tells which. See package jsonlines.
package fastjson

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

// Format is the serialization as Dubbo users configure it, a text in each line.
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

// tell judges the first byte: a text starts with none that is 0, and a length below 16 MB, longer than any first text,
// does.
func tell(b []byte, prefixed bool) decode.Verdict {
	switch {
	case len(b) == 0:
		return decode.Unsure
	case prefixed == (b[0] == 0):
		return decode.Own
	}
	return decode.Foreign
}
