// Package formats is the list of serializations: the only place that knows every one. To add a serialization, add its
// folder and its line here.
package formats

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/avro"
	"dubbo-wire/internal/decode/formats/compactedjava"
	"dubbo-wire/internal/decode/formats/custom"
	"dubbo-wire/internal/decode/formats/dubboserialization"
	"dubbo-wire/internal/decode/formats/fastjson"
	"dubbo-wire/internal/decode/formats/fastjson2"
	"dubbo-wire/internal/decode/formats/fst"
	"dubbo-wire/internal/decode/formats/fury"
	"dubbo-wire/internal/decode/formats/furycompatible"
	"dubbo-wire/internal/decode/formats/gson"
	"dubbo-wire/internal/decode/formats/hessian2"
	"dubbo-wire/internal/decode/formats/jackson"
	"dubbo-wire/internal/decode/formats/java"
	"dubbo-wire/internal/decode/formats/json"
	"dubbo-wire/internal/decode/formats/kryo"
	"dubbo-wire/internal/decode/formats/kryo2"
	"dubbo-wire/internal/decode/formats/msgpack"
	"dubbo-wire/internal/decode/formats/nativehessian"
	"dubbo-wire/internal/decode/formats/nativejava"
	"dubbo-wire/internal/decode/formats/protobuf"
	"dubbo-wire/internal/decode/formats/protobufjson"
	"dubbo-wire/internal/decode/formats/protostuff"
	"dubbo-wire/internal/decode/formats/smartbuf"
)

// All returns every serialization that is known, by id.
func All() []decode.Format { return With(nil) }

// With returns every serialization. Readers of those that do not describe their objects know the classes of p, which may be nil.
func With(p *classpath.Path) []decode.Format {
	only := func(has bool) *classpath.Path { // a user may bring the schemas of one serialization alone
		if has || p.HasClasses() {
			return p
		}
		return nil
	}
	protos, schemas := only(p.HasProtos()), only(p.HasAvroSchemas())
	p = only(false)
	return []decode.Format{
		dubboserialization.With(dubboserialization.Format, p), // 1
		hessian2.Format,                          // 2
		java.Format,                              // 3
		java.With(compactedjava.Format, p),       // 4
		json.Format,                              // 5
		fastjson.Format,                          // 6
		fastjson.Prefixed,                        // 6
		nativejava.Format,                        // 7
		kryo.With(kryo.Format, p),                // 8
		kryo.With(kryo.Format5, p),               // 8
		fst.With(fst.Format, p),                  // 9
		fst.With(fst.Format1, p),                 // 9
		nativehessian.Format,                     // 10
		protostuff.With(protostuff.Format10, p),  // 10
		avro.With(avro.Format, schemas),          // 11
		protostuff.With(protostuff.Format, p),    // 12
		smartbuf.Format,                          // 13
		gson.Format,                              // 16
		jackson.Format,                           // 18
		protobufjson.Format,                      // 21
		protobuf.With(protobuf.Format21, protos), // 21
		protobuf.With(protobuf.Format, protos),   // 22
		fastjson2.Format,                         // 23
		kryo.With(kryo2.Format, p),               // 25
		kryo.With(kryo2.Format5, p),              // 25
		msgpack.Format,                           // 27
		fury.With(fury.Format, p),                // 28
		fury.With(fury.Format010, p),             // 28
		fury.With(furycompatible.Format, p),      // 29
		fury.With(furycompatible.Format010, p),   // 29
		custom.Format,                            // 31
	}
}
