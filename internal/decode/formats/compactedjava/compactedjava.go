// Package compactedjava reads bodies of serialization 4: Java serialization with class descriptors cut down to the class's name, as
// Dubbo's CompactedObjectOutputStream writes it (Dubbo 2.0.7 to 3.2.x, then the extension). Objects of the JDK are
// read, since their fields are known. Objects of the application are read with its classes, if a class path has them; else they have no end that can be
// seen, and the attachments after them are searched for. Package java has the reader, which borrows the body until the next Reset.
package compactedjava

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/java"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         4,
	Name:       "compactedjava",
	Depth:      decode.DepthClasses,
	Classes:    decode.DepthFull,
	Releases:   "2.0.7 to 3.2.x, later by extension",
	Capture:    "compactedjava.pcap.zst",
	Heartbeats: java.Format.Heartbeats,
	Scrub:      java.Scrub,
	Starts:     java.Starts,
	New:        java.NewCompact,
	Counts:     true,
}
