// Package nativehessian reads bodies of the serialization native-hessian (id 10), which Dubbo writes with the original
// hessian library instead of its own copy of it.
//
// Source: com.caucho:hessian 4.0.38 and 4.0.66, Dubbo's org.apache.dubbo.serialize.hessian.Hessian2ObjectOutput
// (2.7.2 to 2.7.23, then the extension), and measured bytes.
//
// The grammar is that of package hessian2, which reads it. What differs are classes of objects: Byte, Short and Float
// travel in handles, BigDecimal (4.0.38) as the JDK's fields, of which the value may be missing, java.time in handles of
// another package. Their names do not occur in hessian2, so package hessian2 knows them all.
//
// Dubbo 2.7.0 and 2.7.1 used id 10 for protostuff; such bodies are told apart and not read.
package nativehessian

import (
	"fmt"

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
	New:        func() decode.Reader { return &reader{hessian2.New()} },
}

// reader is that of hessian2 behind a look at the first bytes.
type reader struct{ *hessian2.Reader }

func (r *reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Reader.Reset(body, short, t)
	if isProtostuff(body) {
		r.Fail(decode.Unsupported, "native-hessian",
			fmt.Sprintf("% x, as Dubbo 2.7.0 and 2.7.1 write with protostuff under the same id", body[:min(len(body), 4)]))
	}
}

// isProtostuff reports whether a body starts as protostuff starts one, with the length of a text below 64 KiB in 4
// bytes: of Dubbo's version (a request) or of a class name (an event), or of a class name behind the byte 0 to 5 that
// is the result kind. In Hessian that would be a string that starts with a NUL, or an empty one.
func isProtostuff(body []byte) bool {
	return len(body) >= 4 && body[0] <= 5 && body[1] == 0 && body[2] == 0
}
