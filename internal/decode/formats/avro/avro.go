// Package avro reads bodies of Dubbo's serialization "avro" (id 11).
//
// A value is a datum under a schema that both ends derive from the class. The wire has neither schema, class nor length.
// Null, and each class of java.* without a schema of its own (dates, maps, attachments), takes no bytes. The reader
// therefore reads arguments by their declared types as long as these are primitives, strings, numbers or arrays of them, and
// as long as the bytes say which of them are null (plan.go). A result is the rest of the body, since attachments take no
// bytes.
//
// With the application's classes (class_path.go) the schemas are those that Avro's reflection makes of them (library.go), and so objects are
// read to the last field (object.go).
//
// The body is borrowed until the next Reset; the tree gets copies of texts where values are wanted.
//
// Sources: Dubbo 2.7.8 AvroObjectOutput; avro 1.8.2, 1.9.2, 1.10.2 and 1.11.4 BinaryEncoder, ReflectData, SpecificData and ReflectDatumWriter; Avro specification
// 1.8.2, "Binary Encoding".
package avro

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// Format is Dubbo's serialization "avro". Its heartbeats are empty bodies.
var Format = decode.Format{
	ID:              11,
	Name:            "avro",
	Depth:           decode.DepthEnvelope,
	Classes:         decode.DepthFull,
	Releases:        "2.7.2 to 2.7.23, later by extension",
	Capture:         "avro.pcap.zst",
	Scrub:           scrub,
	EmptyHeartbeats: true,
	Starts:          decode.Starts{Request: startsRequest, Result: decode.IsKindByte},
	New:             func() decode.Reader { return new(Reader) },

	NoAttachments: true,
	Counts:        true,
}

// startsRequest accepts a text of less than 32 bytes after its length, which is doubled as a zigzag number.
func startsRequest(b []byte) bool {
	return b[0] > 0 && b[0] < 0x40 && b[0]&1 == 0 && decode.VersionAt(b, 1)
}

// Reader reads one body. The zero value is ready for Reset.
type Reader struct {
	decode.Recorder
	plan  plan
	fault *decode.Error
	// parameters are those of the last request: the next one is often of the same method.
	parameters struct {
		descriptor string
		types      []string
	}

	// With classes of the application:
	source    *source
	strict    bool // what Java's writer does not write is an error
	fits      bool // the arguments can be read in one way at least
	touched   bool // the body has values of such classes, as far as types tell
	used      []*schema
	within    place
	visits    int
	variation *variation
	walk      walk
	whole     way // the last value found that is the rest of the body
	trial     *Reader
}

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.plan.reset()
	r.fault = nil
	r.strict, r.touched, r.fits = false, false, false
	r.used, r.within, r.visits = r.used[:0], place{}, 0
	r.walk.begin(body, r.variation)
	r.whole = way{}
}

// Fault implements decode.Faulter.
func (r *Reader) Fault() *decode.Error { return r.fault }

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	r.bytes("a string")
	r.EndText()
}

// Text implements decode.Reader. The format has no null.
func (r *Reader) Text(name string) (s string, null bool) {
	s, _ = r.TextField(name, decode.UTF8(r.bytes("a string")), false)
	return s, false
}

// Value implements decode.Reader. The arguments of a request are read by a plan, other values directly.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	if typ == "" {
		r.rest(l, name, index)
		return
	}
	if l == decode.ByField {
		r.result(l, name, index, typ)
		return
	}
	if l == decode.ByIndex && index == 0 {
		r.readTypes()
	}
	if p := &r.plan; l == decode.ByIndex && index == p.next && index < len(p.types) && typ == p.types[index] {
		r.argument(l, name, index, typ)
		return
	}
	r.afterUnknown(l, name, index, typ)
}

// readTypes finds the types of the arguments, which start here, in the envelope before them. It may have been passed over.
func (r *Reader) readTypes() {
	const texts = 5
	var method, types []byte
	at := 0
	for range texts {
		method = types
		if types, at = r.block(at); at < 0 || at > r.Off {
			return
		}
	}
	if at != r.Off {
		return
	}
	p := &r.plan
	if string(types) != r.parameters.descriptor || r.parameters.types == nil {
		r.parameters.descriptor = decode.UTF8(types)
		r.parameters.types, _ = decode.SplitDescriptor(r.parameters.descriptor)
	}
	p.types = r.parameters.types
	p.generic = (string(method) == "$invoke" || string(method) == "$invokeAsync") && string(types) == "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
}

// Throwable implements decode.Reader. An exception is written as the fields of its class, which only the class can
// separate, and its message. Without fields the message alone is the rest of the body.
func (r *Reader) Throwable() {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	if r.exception() {
		return
	}
	m := r.Mark()
	r.Open(decode.Object, decode.ByField, "exception", 0)
	if r.message() {
		r.Close()
		return
	}
	if r.OK() {
		r.Rewind(m)
		r.rest(decode.ByField, "exception", 0)
	}
}

// message takes an exception's message, a union of null and string, if it is the rest of the body.
func (r *Reader) message() bool {
	const (
		null = 0x00 // index 0 of the union, as a zigzag varint
		str  = 0x02
	)
	off := r.Off
	body := r.Buf[off:]
	if r.Short != decode.Malformed || len(body) == 0 || body[0] != null && body[0] != str {
		return false
	}
	if body[0] == null {
		if len(body) > 1 {
			return false
		}
		r.Off++
		r.Leaf(decode.Null, decode.ByField, "detailMessage", 0)
		return true
	}
	n, size := varint(body[1:])
	if size == 0 || unzigzag(n) != int64(len(body)-1-size) {
		return false
	}
	r.Off++
	r.Role("type")
	raw := r.bytes("a message")
	r.FillUTF8(r.Leaf(decode.String, decode.ByField, "detailMessage", 0), raw)
	return true
}

// rest takes a value that ends with the body.
func (r *Reader) rest(l decode.Label, name string, index int) {
	if r.Short != decode.Malformed {
		r.Fail(r.Short, "a value to the end of the body", fmt.Sprintf("%d captured bytes", r.Left()))
		return
	}
	r.Skip(r.Left(), "a value")
	r.Leaf(decode.Opaque, l, name, index)
}

// Attachments implements decode.Reader. The writer writes none.
func (r *Reader) Attachments() {}
