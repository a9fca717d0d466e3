// Package nativejava reads bodies of serialization 7: Java serialization without the two additions that Dubbo's java (3) makes, a
// count of characters before a string and a byte before an object, as NativeJavaObjectOutput writes it (Dubbo 2.4.2 to
// 3.2.x, then the extension). A null string cannot be written. Package java has the reader, which borrows the body
// until the next Reset.
package nativejava

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/java"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         7,
	Name:       "nativejava",
	Depth:      decode.DepthFull,
	Releases:   "2.4.2 to 3.2.x, later by extension",
	Capture:    "nativejava.pcap.zst",
	Heartbeats: [][]byte{{0xac, 0xed, 0x00, 0x05, 0x70}}, // null
	Scrub:      java.Scrub,
	Starts:     java.Starts,
	New:        java.NewNative,
	Counts:     true,
}
