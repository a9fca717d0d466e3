package triple

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// The fields of TripleRequestWrapper and of TripleResponseWrapper have the same numbers and are all bytes after a length.
const (
	fieldName  = 1 // serializeType
	fieldData  = 2 // args, repeated; or data
	fieldTypes = 3 // argTypes, repeated; or type
)

// The tags of these fields on the wire.
const (
	tagName  = fieldName<<3 | 2
	tagData  = fieldData<<3 | 2
	tagTypes = fieldTypes<<3 | 2
)

// field is a field of a wrapper: the offsets of its tag and of its content.
type field struct{ tag, from, to int }

// wrapper is a wrapper whose fields were found. It borrows the body.
type wrapper struct {
	b           []byte
	name        field
	data, types []field
	// typesFirst is set if the types precede the data.
	typesFirst bool
	// end is the offset after the last field, or after what there is of it. cut is set if the bytes end within a field.
	end int
	cut bool
}

// maxFields limits the fields of a wrapper that are kept. A Java method has at most 255 parameters.
const maxFields = 512

// certain are the names of serializations that hardly any other message starts with. Others are words that an application may
// send as the first text of a message of its own.
var certain = map[string]bool{
	hessian4: true, "hessian2": true, "fastjson2": true, "fastjson": true, "kryo": true, "kryo2": true, "fst": true, "msgpack": true,
	"protostuff": true, "nativejava": true, "compactedjava": true, "native-hessian": true, "protobuf-json": true, "fury-compatible": true,
}

// rare are names that alone are no proof, but seldom are a whole message of an application: a request of Dubbo's with such a name and
// nothing else calls a method without parameters.
var rare = map[string]bool{"protobuf": true, "gson": true, "jackson": true, "avro": true, "fury": true}

// enough is the number of bytes of a body that tell whether it is a wrapper with a certain name, and what its envelope is.
const enough = 256

// nameOf returns the first field of b if that can be the name of a serialization, and the offset after it.
func nameOf(b []byte) (name []byte, after int) {
	if len(b) < 2 || b[0] != tagName || b[1] == 0 || int(b[1]) > maxNameLen || len(b) < 2+int(b[1]) {
		return nil, 0
	}
	after = 2 + int(b[1])
	name = b[2:after]
	for _, c := range name {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return nil, 0
		}
	}
	return name, after
}

// mayBe reports whether the start of a body can be that of a wrapper, and whether its name is certain. more is set if more bytes
// than b has can tell; bodyLen is the length of the whole body.
func mayBe(b []byte, bodyLen int) (maybe, sure, more bool) {
	if len(b) < 2+maxNameLen+1 && len(b) < bodyLen {
		more = true
	}
	if len(b) > 0 && b[0] != tagName || bodyLen == 0 {
		return false, false, false
	}
	name, after := nameOf(b)
	if name == nil {
		return more, false, more
	}
	sure = certain[string(name)]
	switch {
	case after == bodyLen: // a request without arguments
		return sure || rare[string(name)], sure, false
	case after >= len(b):
		return true, sure, more
	}
	return b[after] == tagData || b[after] == tagTypes, sure, false
}

// enoughMessage is Enough for a gRPC message.
func (d *Decoder) enoughMessage(b []byte, m *rpc.Message) bool {
	maybe, sure, more := mayBe(b, m.BodyLen)
	switch {
	case more:
		return false
	case !maybe:
		return true
	case !sure:
		return false // all fields are needed to tell
	case len(b) < enough:
		return false
	case m.Kind == rpc.Request && m.Operation != nil && m.Operation.Generic:
		d.wrapper.scan(b)
		return len(d.wrapper.data) > 1 || len(d.wrapper.types) > 0 // the first argument, the method, is complete
	}
	return true
}

// scan finds the fields of b. It returns false if b has anything but the fields of a wrapper: the name, and then the data and the
// types, each in one run.
func (w *wrapper) scan(b []byte) bool {
	*w = wrapper{b: b, data: w.data[:0], types: w.types[:0]}
	last := byte(0)
	for at := 0; at < len(b); at = w.end {
		f, tag := field{tag: at}, b[at]
		size, n := protowire.ConsumeVarint(b[at+1:])
		if n < 0 {
			w.cut = true
			break
		}
		f.from = at + 1 + n
		left := uint64(len(b) - f.from)
		f.to = f.from + int(min(size, left))
		w.cut = size > left
		switch {
		case (tag == tagName) != (at == 0), len(w.data)+len(w.types) >= maxFields:
			return false
		case tag == tagName:
			w.name = f
		case tag == tagData && (last == tagData || len(w.data) == 0):
			w.typesFirst = len(w.types) > 0
			w.data = append(w.data, f)
		case tag == tagTypes && (last == tagTypes || len(w.types) == 0):
			w.types = append(w.types, f)
		default:
			return false
		}
		last, w.end = tag, f.to
	}
	return w.name.to > 0
}

// isWrapper reports whether w, whose fields were found, is the wrapper of a message. whole is set if its body is whole. known is set
// if the name is that of a serialization; another one needs types of the JDK.
func (w *wrapper) isWrapper(m *rpc.Message, whole, known bool) bool {
	name := string(w.b[w.name.from:w.name.to])
	if !whole || w.cut {
		// What tells is missing.
		return known && (certain[name] || len(w.data) > 0)
	}
	sure, needs, java := certain[name], classType, known
	if sure {
		needs = simpleType
	}
	for _, f := range w.types {
		kind := typeOf(w.b[f.from:f.to])
		if kind < needs || !known && kind < javaType {
			return false
		}
		java = java || kind == javaType
	}
	if !java {
		return false
	}
	if m.Kind == rpc.Response {
		return len(w.data) <= 1 && len(w.types) <= 1 && (sure || len(w.types) == 1 && (known || len(w.data) == 1))
	}
	if !sure && len(w.data) == 0 {
		use, _ := UseOf(m.Headers)
		return rare[name] && len(w.types) == 0 && use == Triple
	}
	// Dubbo 3.2 also names the observer of a server stream, for which it has no argument.
	return len(w.data) == len(w.types) || len(w.data)+1 == len(w.types) && w.namesObserver()
}

// namesObserver reports whether the last type is that of an observer.
func (w *wrapper) namesObserver() bool {
	last := w.types[len(w.types)-1]
	return bytes.HasSuffix(w.b[last.from:last.to], []byte("StreamObserver"))
}

// typeKind is what the name of a type may be, as Class.getName returns it.
type typeKind uint8

const (
	noType     typeKind = iota
	simpleType          // a class without a package, or a word
	classType           // a class with a package, named as Java's are
	javaType            // a class of the JDK, or an array
	primitive
)

// typeOf returns what b may name.
func typeOf(b []byte) typeKind {
	switch string(b) {
	case "boolean", "byte", "char", "short", "int", "long", "float", "double", "void":
		return primitive
	}
	switch {
	case !decode.IsClassName(string(b)):
		return noType
	case b[0] == '[', bytes.HasPrefix(b, []byte("java.")):
		return javaType
	}
	simple := b[bytes.LastIndexByte(b, '.')+1:]
	if len(simple) < len(b) && simple[0] >= 'A' && simple[0] <= 'Z' {
		return classType
	}
	return simpleType
}
