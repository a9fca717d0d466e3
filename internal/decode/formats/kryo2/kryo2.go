// Package kryo2 reads bodies of Dubbo's serialization "kryo2" (id 25): those of package kryo without the class ids of
// top-level objects. Package kryo has the reader, which borrows the body until the next Reset.
//
// Sources: Dubbo 2.7.8 KryoObjectOutput2, the same of dubbo-serialization-kryo 3.2.0, and those of package kryo.
//
// Where the declared type does not tell the runtime class (an interface, any class that is not final, a result) the
// reader stops with cause Unsupported, and the attachments are found from the end of the body.
package kryo2

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/kryo"
)

// Format is Dubbo's serialization "kryo2", as Kryo 4 writes it. It has no heartbeat body of its own: null makes its
// writer throw, and the body stays empty.
var Format = decode.Format{
	ID:              25,
	Name:            "kryo2",
	Depth:           decode.DepthEnvelope,
	Classes:         decode.DepthFull,
	Releases:        "2.7.6 to 2.7.23",
	Capture:         "kryo2.pcap.zst",
	Scrub:           kryo.Scrub,
	EmptyHeartbeats: true,
	Starts:          kryo.Starts,
	New:             kryo.NewUntagged4,
	Tell:            kryo.Tell4,
	TellWhole:       kryo.TellWhole4,
}

// Format5 is the same as Kryo 5 writes it.
var Format5 = func() decode.Format {
	f := Format
	f.Dialect, f.Releases, f.Capture = "Kryo 5", "3.x, by extension", "kryo2-3.2.16.pcap.zst"
	f.New, f.Tell, f.TellWhole = kryo.NewUntagged5, kryo.Tell5, kryo.TellWhole5
	return f
}()
