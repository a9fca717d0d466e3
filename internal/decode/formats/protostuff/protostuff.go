// Package protostuff reads bodies of Dubbo's serialization "protostuff" (id 12; 10 in Dubbo 2.7.0 and 2.7.1).
//
// An object is written as the lengths of a class name and of a message, the name and the message, so every extent is exact.
// Messages have field numbers and no names: objects of application classes are measured, and decoded only with the class path, from
// which the schemas of protostuff are computed (schema.go, shape.go; object.go reads by them). The reader turns
// boxes, strings, numbers, dates, arrays, collections and maps into values. Nested messages are groups, and repeated objects
// are references; Dubbo 2.7.0 writes nested messages after their length, each time in full. The wire type of the first
// nested message of a value tells which form it has; see nested.
//
// The body is borrowed until the next Reset; the tree gets copies of texts where values are wanted.
//
// Sources: Dubbo 2.7.0, 2.7.1 and 2.7.8 ProtostuffObjectOutput, WrapperUtils and Wrapper; protostuff 1.5.9 GraphIOUtil,
// ProtostuffOutput, ProtobufIOUtil, ProtobufOutput, RuntimeSchema, ObjectSchema, CollectionSchema, MapSchema and ArraySchemas; with
// classes also 1.8.0, RuntimeFieldFactory and the factories that it chooses, PolymorphicCollectionSchema and PolymorphicMapSchema, EnumIO.
package protostuff

import (
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// wrapper is the class that Dubbo puts around null and around values without a message of their own.
const wrapper = "org.apache.dubbo.common.serialize.protostuff.Wrapper"

// Format is Dubbo's serialization "protostuff".
var Format = decode.Format{
	ID:         12,
	Name:       "protostuff",
	Depth:      decode.DepthEnvelope,
	Classes:    decode.DepthFull,
	Counts:     true,
	Releases:   "2.7.2 to 2.7.23, later by extension",
	Capture:    "protostuff.pcap.zst",
	Heartbeats: [][]byte{append([]byte{0, 0, 0, byte(len(wrapper)), 0, 0, 0, 0}, wrapper...)},
	Scrub:      scrub,
	Starts:     starts,
	New:        func() decode.Reader { return new(Reader) },
}

// Format10 is the same serialization in Dubbo 2.7.0 and 2.7.1, where it has the id of native-hessian. The two releases write
// nested messages differently. Their writer throws on null, so there are no heartbeats.
var Format10 = func() decode.Format {
	f := Format
	f.ID, f.Dialect, f.Releases, f.Capture = 10, "id 10", "2.7.0, 2.7.1", "protostuff-2.7.1.pcap.zst"
	f.Heartbeats, f.Tell = nil, tellID10
	return f
}()

// tellID10 distinguishes protostuff from native-hessian by the first bytes. A text, or the class name of an object, starts with
// its length in four bytes, the first of which is 0; a request's is that of Dubbo's version. In Hessian that would be an
// empty text. A result starts with its kind, 0 to 5, which in Hessian starts texts.
func tellID10(b []byte, k decode.BodyKind) decode.Verdict {
	switch {
	case len(b) == 0:
		return decode.Unsure
	case k == decode.BodyResult && b[0] <= 5:
		return decode.Own
	case k == decode.BodyResult || b[0] != 0:
		return decode.Foreign
	case len(b) < 5:
		return decode.Unsure
	case k == decode.BodyRequest && (b[1] != 0 || b[2] != 0 || b[4] < '0' || b[4] > '9'):
		return decode.Unsure
	}
	return decode.Own
}

// starts accepts a text after a length of four bytes.
var starts = decode.Starts{
	Request: func(b []byte) bool { return decode.ShortLength(b) && decode.VersionAt(b, 4) },
	Result:  decode.IsKindByte,
}

// namedSchema is the schema of a class with the name by which it was asked for.
type namedSchema struct {
	name   string
	schema *schema
}

// Reader reads one body. The zero value is ready for Reset.
type Reader struct {
	decode.Recorder
	seen    []seen   // objects of the current value that references may mean
	form    byte     // wire type of the nested messages of the current value, 0 before the first one
	copied  int      // bytes of texts repeated for references
	nulls   int      // fields that have no bytes
	again   bool     // bytes are read again, whose objects have numbers
	seconds int32    // of the last zone offset that was read
	groups  []uint64 // scratch for the fields of the groups that skipGroup is in
	library *library // may be nil

	// With a library:
	known        map[string]*schema // by the names of their classes
	last         namedSchema        // the one of them that was asked for last
	distrust     *decode.Error
	used         []*schema // whose fields were read, in this body
	entered      bool      // whether that was in the current value
	within       place     // the innermost object, and its field
	stopped      bool      // within is where the current value failed
	tally        tally
	more         sameClass
	fault        *decode.Error // why the first part could not be read
	misfit       *decode.Error // the same of the first one that does not fit its class
	variation    *decode.Variation
	varies       *schema // the schema that varied is made of
	varied       []field
	variedSimple []simple
}

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.copied, r.nulls = 0, 0
	clear(r.used)
	r.used = r.used[:0]
	r.within, r.fault, r.misfit = place{}, nil, nil
	r.begin()
}

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	r.Skip(r.length("the length of a string"), "a string")
	r.EndText()
}

// Text implements decode.Reader. The format has no null.
func (r *Reader) Text(name string) (s string, null bool) {
	return r.TextField(name, decode.UTF8(r.Bytes(r.length("the length of a string"), "a string")), false)
}

// Value implements decode.Reader. The declared type is not needed.
func (r *Reader) Value(l decode.Label, name string, index int, _ string) {
	r.object(decode.Place{Label: l, Name: name, Index: index})
}

// Throwable implements decode.Reader.
func (r *Reader) Throwable() {
	r.object(decode.Place{Label: decode.ByField, Name: "exception", Throwable: true})
}

// Attachments implements decode.Reader.
func (r *Reader) Attachments() {
	r.object(decode.Place{Label: decode.ByField, Name: "attachments"})
}

// object takes the length of a class name, the length of a message, the class name and the message. A message that cannot
// be read is one opaque value.
func (r *Reader) object(p decode.Place) {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	h := header{lengths: r.Off + 8}
	name, size := r.length("the length of a class name"), r.length("the length of a value")
	class := r.Name(r.Bytes(name, "a class name"))
	if !r.Need(size, "a value") {
		return
	}
	h.class = r.Off
	mark, body, short := r.Mark(), r.Buf, r.Short
	r.Buf, r.Short = body[:r.Off+size], decode.Malformed
	r.begin()
	r.message(class, p, h)
	if n := r.Left(); n > 0 {
		r.Fail(decode.Unsupported, "the end of a value", fmt.Sprintf("%d bytes more", n))
	}
	r.Buf, r.Short = body, short
	err := r.Err()
	if err == nil || err.Cause == decode.Limit && r.Tree.Full() {
		return
	}
	r.note(err)
	r.Resume(h.class)
	r.Rewind(mark)
	r.head(decode.Object, p, h, class)
	r.Skip(size, "a value")
	r.Leaf(decode.Opaque, decode.Whole, "opaque", 0)
	r.Close()
}

// begin restarts the numbers of objects.
func (r *Reader) begin() {
	if cap(r.seen) > 1<<16 {
		r.seen = nil
	}
	clear(r.seen)
	r.seen = r.seen[:0]
	r.form, r.again, r.entered, r.stopped = 0, false, false, false
	r.more.class = ""
}

// length takes a length of four bytes.
func (r *Reader) length(what string) int {
	n := r.U32(what)
	if n > math.MaxInt32 {
		r.Fail(decode.Malformed, what, fmt.Sprint(int32(n)))
		return 0
	}
	return int(n)
}
