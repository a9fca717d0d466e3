// Package furycompatible reads bodies of Dubbo's serialization "fury-compatible" (id 29): Fury in compatible mode.
//
// In this mode objects of application classes have field names, or hashes of them. Without a class path these objects are measured.
// Package fury reads all values and owns the memory as it says there.
//
// Sources: dubbo-serialization-fury 3.2.0 FuryCompatibleSerialization and those of package fury.
package furycompatible

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/fury"
)

// Format is serialization "fury-compatible", as fury-core 0.2.0 writes it.
var Format = decode.Format{
	ID:              29,
	Name:            "fury-compatible",
	Depth:           decode.DepthEnvelope,
	Classes:         decode.DepthFull,
	Releases:        "3.x, by extension",
	Capture:         "fury-compatible-3.2.16.pcap.zst",
	Heartbeats:      fury.Heartbeats,
	Scrub:           fury.Scrub,
	EmptyHeartbeats: true,
	Starts:          fury.Starts,
	New:             fury.NewCompatible,
	Tell:            fury.Tell,
}

// Format010 is serialization "fury-compatible", as fury-core 0.10 and Fory write it.
var Format010 = func() decode.Format {
	f := Format
	f.Dialect, f.Releases, f.Capture = "Fury 0.10", "3.3 and later, by extension built from source; Fory", ""
	f.New, f.Tell = fury.NewCompatible010, fury.Tell010
	return f
}()
