// Package fury reads bodies of Dubbo's serialization "fury" (id 28). It also reads those of Fory, as Fury is called now, which
// has the same id, and for package furycompatible those of "fury-compatible" (id 29).
//
// Each text and each object follows its length in four bytes, little-endian, so every extent is exact. An object is a Fury
// document: its classes are numbers or names, and its fields have neither names nor types. The reader turns objects of
// fury-core 0.2.0 of JDK classes into values, and of fury-core 0.10.2 strings, boxes, dates, and lists and maps of them, which
// attachments are. Objects of application classes are measured. Texts and the heads of objects differ between 0.2.0 and
// 0.10.2; Fory writes nearly as 0.10.2 does. The first bytes of a body tell them apart (dialects.go).
//
// With a class path all objects are read. A library (library.go) says which serializer Fury has for a class, a plan (plan.go) in which
// order it writes the fields, and what of a value their declared types tell; object.go follows them. In compatible mode of 0.2.0
// fields have tags (tag.go), and in that of 0.10 definitions of the classes are at the end of a document (defs.go). Objects with methods
// that java.io.ObjectOutputStream calls are in stream.go, and misfit.go says what happens if classes do not fit. 0.4.1 writes as 0.2.0
// does.
//
// The body is borrowed until the next Reset; the tree gets copies of texts where values are wanted.
//
// Sources: dubbo-serialization-fury 3.2.0 (FuryObjectOutput, BaseFurySerialization) with fury-core 0.2.0, which are the
// published ones: ClassResolver, DescriptorGrouper, ObjectCodecBuilder, CompatibleCodecBuilder, FieldResolver, ObjectStreamSerializer and
// the serializers; the source tree of the extensions with fury-core 0.10.2 and fory-core 0.11.0: also MetaStringResolver, ClassDefEncoder
// and AbstractMapSerializer. Bytes were measured with all of them.
package fury

import (
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// Heartbeats are the forms of null in heartbeats; in that of 0.2.0 the length includes its own bytes.
var Heartbeats = [][]byte{{5, 0, 0, 0, 0xfd}, {1, 0, 0, 0, 0xfd}, {1, 0, 0, 0, 3}}

// Format is serialization "fury", as fury-core 0.2.0 writes it.
var Format = decode.Format{
	ID:         28,
	Name:       "fury",
	Depth:      decode.DepthEnvelope,
	Classes:    decode.DepthFull,
	Releases:   "3.x, by extension",
	Capture:    "fury-3.2.16.pcap.zst",
	Heartbeats: Heartbeats,
	Scrub:      Scrub,
	Starts:     Starts,
	New:        New,
	Tell:       Tell,
}

// Format010 is serialization "fury", as fury-core 0.10 and Fory write it.
var Format010 = func() decode.Format {
	f := Format
	f.Dialect, f.Releases, f.Capture = "Fury 0.10", "3.3 and later, by extension built from source; Fory", ""
	f.New, f.Tell = New010, Tell010
	return f
}()

// New returns a reader for fury-core 0.2.0.
func New() decode.Reader { return new(Reader) }

// NewCompatible is New for compatible mode, in which fields have tags.
func NewCompatible() decode.Reader { return &Reader{tags: true} }

// New010 returns a reader for fury-core 0.10 and Fory.
func New010() decode.Reader { return &Reader{v010: true} }

// NewCompatible010 is New010 for compatible mode, in which documents have the offset of their class definitions.
func NewCompatible010() decode.Reader { return &Reader{v010: true, meta: true} }

// Starts accepts a length below 256, little-endian, and a text with or without a coder.
var Starts = decode.Starts{
	Request: func(b []byte) bool {
		return len(b) > 7 && b[1] == 0 && b[2] == 0 && b[3] == 0 && b[4] == 1 &&
			(decode.VersionAt(b, 6) || b[5] <= 1 && decode.VersionAt(b, 7))
	},
	Result: decode.IsKindByte,
}

// Reader reads one body.
type Reader struct {
	decode.Recorder
	v010 bool
	meta bool // compatible mode of 0.10
	tags bool // compatible mode of 0.2.0

	// State of one document.
	strings []string // parts of class names, in order of their first appearance
	objects []int32
	metas   []meta // the same of 0.10
	// defs are the definitions of the document; foryDefs: they are in the form of Fory.
	defs     []classDef
	foryDefs bool
	defOf    map[*class]int
	// fory: fields are in the order of Fory. ambiguous: that matters.
	fory, ambiguous bool
	quick           bool // values may be counted: see count.go
	tally           tally
	pairs           []pair
	lists           [heads]listHead

	names010 bool // classes have names instead of definitions

	application
}

// application is what a reader knows of the application's classes, and what it found of them in a body.
type application struct {
	library   *library             // nil: it was not given any
	named     map[string]*class    // by package and name
	key       []byte               // to look for one
	allowed   map[[2]*class]bool   // whether a declared class allows another one
	finals    map[*class]*declared // classes of elements, keys and values
	final     *declared            // the last of them
	distrust  *decode.Error        // what objects of the application fail with; nil if they are read
	variation *decode.Variation
	varied    []field

	// Of one body.
	used   []*class // of the class path, in the order in which their objects came
	within place    // where reading is
	// stopped is where the first value that could not be read stopped.
	stopped place
	fault   *decode.Error // of the first value that could not be read
	// incomplete: reading stopped because something is not in the class path. misread: a value has a class that cannot be.
	incomplete, misread bool
	copied, repeated    int   // bytes of texts copied for references, elements without bytes
	lastInt, sized      int64 // the last int that was read, and the last field named size
}

func (a *application) startBody() {
	a.used, a.within, a.fault, a.incomplete, a.misread, a.sized = a.used[:0], place{}, nil, false, false, noSize
	a.copied, a.repeated, a.stopped = 0, 0, place{}
}

// table returns the classes that have numbers.
func (r *Reader) table() []*class {
	if r.v010 {
		return classes010
	}
	return classes
}

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.begin()
	r.startBody()
}

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	r.Skip(r.length("the length of a string"), "a string")
	r.EndText()
}

// Text implements decode.Reader: a length, whether the string is not null, the string.
func (r *Reader) Text(field string) (s string, null bool) {
	if !r.OK() {
		return "", false
	}
	defer r.Settle(r.Tree.Depth())
	n := r.length("the length of a string")
	if !r.Need(n, "a string") {
		return "", false
	}
	body, end := r.Buf, r.Off+n
	r.Buf = body[:end]
	var x text
	switch b := r.Byte("whether a string is null"); {
	case b == 0:
		null = true
	case b == 1:
		x = r.text()
	case r.OK():
		r.Fail(decode.Malformed, "00 (null) or 01 before a string", decode.HexByte(b))
	}
	if r.OK() && r.Off != end {
		r.Fail(decode.Malformed, "the end of a string", fmt.Sprintf("%d bytes more", end-r.Off))
	}
	r.Buf = body
	if !r.OK() {
		if r.Err().Cause == r.Short { // the whole string is captured, so its length is wrong
			r.Err().Cause = decode.Malformed
		}
		return "", false
	}
	return r.TextField(field, x.decode(), null)
}

// Value implements decode.Reader. The declared type is not needed.
func (r *Reader) Value(l decode.Label, name string, index int, _ string) {
	r.document(decode.Place{Label: l, Name: name, Index: index})
}

// Throwable implements decode.Reader.
func (r *Reader) Throwable() {
	r.document(decode.Place{Label: decode.ByField, Name: "exception", Throwable: true})
}

// Attachments implements decode.Reader.
func (r *Reader) Attachments() {
	r.document(decode.Place{Label: decode.ByField, Name: "attachments"})
}

// length takes a length of four bytes.
func (r *Reader) length(what string) int {
	n := r.Little(4, what)
	if n > math.MaxInt32 {
		r.Fail(decode.Malformed, what, fmt.Sprint(int32(n)))
		return 0
	}
	return int(n)
}
