// Package nativehessian reads bodies of the serialization native-hessian (id 10), which Dubbo writes with the original
// hessian library instead of its own copy of it.
//
// Source: com.caucho:hessian 4.0.38 and 4.0.66, Dubbo's org.apache.dubbo.serialize.hessian.Hessian2ObjectOutput
// (2.7.2 to 2.7.23, then the extension), and measured bytes.
//
// The grammar is that of package hessian2, which reads it. What differs are classes of objects: Byte, Short and Float
// travel in handles, BigDecimal (4.0.38) as the JDK's fields, whose value may be missing, java.time in handles of
// another package. Their names do not occur in hessian2, so package hessian2 reads them all, with the same memory rules.
//
// Dubbo 2.7.0 and 2.7.1 used id 10 for protostuff; Tell recognises such bodies.
package nativehessian

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/hessian2"
)

// Format is native-hessian as reports list it.
var Format = decode.Format{
	ID:         10,
	Name:       "native-hessian",
	Depth:      decode.DepthFull,
	Releases:   "2.7.2 to 2.7.23, later by extension",
	Capture:    "native-hessian.pcap.zst",
	Heartbeats: [][]byte{{'N'}}, // writeObject(null)
	Starts:     hessian2.Format.Starts,
	New:        func() decode.Reader { return hessian2.NewOriginal() },
	Tell:       tell,
	Skim:       hessian2.Format.Skim,
	SkimKind:   hessian2.Format.SkimKind,
	Scrub:      hessian2.Format.Scrub,
	Counts:     true,
}

// tell judges the first byte: of a request that of a short text, Dubbo's version; of a result its kind, a small int; else
// that of a text or of null. Protostuff starts with the length of a text in four bytes, and a result with the bytes 0 to
// 5.
func tell(b []byte, k decode.BodyKind) decode.Verdict {
	switch {
	case len(b) == 0:
		return decode.Unsure
	case k == decode.BodyResult && b[0] >= 0x90 && b[0] <= 0x95:
		return decode.Own
	case k == decode.BodyResult && b[0] <= 5:
		return decode.Foreign
	case k == decode.BodyResult:
		return decode.Unsure
	case b[0] == 0 && len(b) > 1: // else an empty text
		return decode.Foreign
	case b[0] > 0 && b[0] < 0x20 || b[0] >= 0x30 && b[0] <= 0x33 || b[0] == 'R' || b[0] == 'S' || b[0] == 'N':
		return decode.Own
	}
	return decode.Unsure
}
