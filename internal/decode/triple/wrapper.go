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

// The number of bytes of a body that its envelope is read from: of a body without compression the first ones suffice, so that a
// message is the same whether all of it was kept or not. Fewer are enough if they tell.
const (
	envelopeLen = 512
	enough      = 256
)

// opening is the start of a body, as far as it tells whether it is a wrapper.
type opening struct {
	// maybe is set if the body can be a wrapper; more is set if more bytes than there are can tell.
	maybe, more bool
	known       *known // the name, nil if it is not that of a serialization
	after       int    // the offset after the name
}

// certain reports whether the start alone tells that the body is a wrapper.
func (o *opening) certain() bool { return o.maybe && o.known != nil && o.known.certain }

// open reads the start b of a body of bodyLen bytes.
func (d *Decoder) open(b []byte, bodyLen int) (o opening) {
	if len(b) == 0 || b[0] != tagName {
		o.more = len(b) == 0 && bodyLen > 0
		o.maybe = o.more
		return o
	}
	size := 0
	if len(b) > 1 {
		size = int(b[1])
	}
	o.after = 2 + size
	if len(b) <= o.after && len(b) < bodyLen {
		o.more = size <= maxNameLen
		o.maybe = o.more
		return o
	}
	if size == 0 || size > maxNameLen || len(b) < o.after {
		return o
	}
	name := b[2:o.after]
	if o.known = d.named(name); o.known == nil && !isName(name) {
		return o
	}
	if o.after == bodyLen { // a request without arguments
		o.maybe = o.known != nil
		return o
	}
	o.maybe = b[o.after] == tagData || b[o.after] == tagTypes
	return o
}

// isName reports whether b can be the name of a serialization.
func isName(b []byte) bool {
	for _, c := range b {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// enoughMessage is Enough for a gRPC message.
func (d *Decoder) enoughMessage(b []byte, m *rpc.Message) bool {
	o := d.open(b, m.BodyLen)
	switch {
	case o.more:
		return false
	case !o.maybe:
		return true
	case len(b) >= envelopeLen:
		return true
	case !o.certain(), len(b) < enough:
		return false // all fields may be needed to tell
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

// isWrapper reports whether w, whose fields were found, is the wrapper of a message. name is nil if the name is not that of a
// serialization: then it needs types of the JDK.
func (b *body) isWrapper(w *wrapper, name *known) bool {
	d, m := b.d, b.m
	sure := name != nil && name.certain
	if !b.whole || w.cut {
		// What tells is missing.
		return sure || name != nil && len(w.data) > 0
	}
	needs, java := classType, name != nil
	if sure {
		needs = simpleType
	}
	for _, f := range w.types {
		kind := d.typeOf(w.b[f.from:f.to])
		if kind < needs || name == nil && kind < javaType {
			return false
		}
		java = java || kind == javaType
	}
	if !java {
		return false
	}
	if m.Kind == rpc.Response {
		return len(w.data) <= 1 && len(w.types) <= 1 && (sure || len(w.types) == 1 && (name != nil || len(w.data) == 1))
	}
	if !sure && len(w.data) == 0 {
		return name != nil && len(w.types) == 0 && (name.rare && b.isTriple() || d.wrapped[wrappedService{b.service, name}])
	}
	// Dubbo 3.2 also names the observer of a server stream, for which it has no argument.
	return len(w.data) == len(w.types) || len(w.data)+1 == len(w.types) && w.namesObserver()
}

// isTriple reports whether Dubbo's peers speak on the connection.
func (b *body) isTriple() bool {
	if first, _ := b.heads.both(); first.Sure {
		return first.Use == Triple
	}
	return b.m.Protocol != nil && b.m.Protocol.Name == "triple"
}

// wrappedService is a service and a name that its wrappers have.
type wrappedService struct {
	service string
	name    *known
}

// remember keeps the name in the wrapper of a service that is a word: from now on it is one also if the wrapper has nothing else.
// A service has wrappers for all of its methods that are not made of messages, and a message with the same word is a rare thing then.
func (d *Decoder) remember(service string, name *known, w *wrapper) {
	key := wrappedService{service, name}
	if name == nil || name.certain || len(w.data) == 0 || service == "" || d.wrapped[key] || len(d.wrapped) >= maxNames {
		return
	}
	if d.wrapped == nil {
		d.wrapped = make(map[wrappedService]bool)
	}
	d.wrapped[key] = true
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
func (d *Decoder) typeOf(b []byte) typeKind {
	kind, ok := d.types[string(b)]
	if !ok {
		kind = typeOf(b)
		if len(b) <= maxTypeLen && len(d.types) < maxTypes {
			d.types[string(b)] = kind
		}
	}
	return kind
}

// Bounds of the types that are kept.
const (
	maxTypes   = 1 << 12
	maxTypeLen = 256
)

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

// Wrapped reports whether the decoded body of m is a wrapper, which only Dubbo's peers send: gRPC's own messages are protobuf.
func Wrapped(m *rpc.Message) bool {
	return m.Format != nil && m.Format.Name != protobuf && m.Format.Name != json
}
