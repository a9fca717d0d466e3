// Package fury reads bodies of Dubbo's serialization "fury" (id 28), of Fory, which Fury was renamed to and which has the
// same id, and for package furycompatible of "fury-compatible" (id 29).
//
// Sources: dubbo-serialization-fury 3.2.0 (FuryObjectOutput, BaseFurySerialization) with fury-core 0.2.0, which are what
// is published; the source tree of the extensions with fury-core 0.10.2 and fory-core 0.11.0. Bytes measured with all of
// them: what 0.10.2 and Fory write does not differ, what 0.2.0 writes does, in texts and in the head of an object. The
// first bytes tell (tell.go).
//
// Each text and each object follows its length in four bytes, little-endian, so every extent is exact. An object is
// a Fury document. Its classes are numbers or names, its fields have neither names nor types: objects of application
// classes are measured. Of 0.2.0 the JDK's classes are read; of 0.10.2 strings, boxes, dates and maps of them, which
// attachments are.
//
// Memory: the body is borrowed until the next Reset; the tree gets copies of texts where it wants values.
package fury

import (
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// Heartbeats are null as prepared for them: in 0.2.0 the length then counts its own bytes.
var Heartbeats = [][]byte{{5, 0, 0, 0, 0xfd}, {1, 0, 0, 0, 0xfd}, {1, 0, 0, 0, 3}}

// Format is serialization "fury", as fury-core 0.2.0 writes it.
var Format = decode.Format{
	ID:         28,
	Name:       "fury",
	Depth:      decode.DepthEnvelope,
	Releases:   "3.x, by extension",
	Capture:    "fury-3.2.16.pcap.zst",
	Heartbeats: Heartbeats,
	Scrub:      Scrub,
	Starts:     Starts,
	New:        New,
	Tell:       Tell,
}

// Later is the same as fury-core 0.10 and Fory write it.
var Later = decode.Format{
	ID:         28,
	Name:       "fury",
	Dialect:    "Fury 0.10",
	Depth:      decode.DepthEnvelope,
	Releases:   "3.3 and later, by extension built from source; Fory",
	Heartbeats: Heartbeats,
	Scrub:      Scrub,
	Starts:     Starts,
	New:        NewLater,
	Tell:       TellLater,
}

// New returns a reader of what fury-core 0.2.0 writes.
func New() decode.Reader { return new(Reader) }

// NewLater returns a reader of what fury-core 0.10 and Fory write.
func NewLater() decode.Reader { return &Reader{later: true} }

// NewLaterCompatible is NewLater for compatible mode, whose documents say where their class definitions stand.
func NewLaterCompatible() decode.Reader { return &Reader{later: true, meta: true} }

// Starts accepts a length below 256, little-endian, and a text with its coder or without.
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
	later bool
	meta  bool // compatible mode of 0.10

	// State of one document.
	strings []name // parts of class names, in order of their first appearance
	objects []int32
}

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.begin()
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
		if r.Err().Cause == r.Short { // within its length the string ends early, whatever the capture lacks
			r.Err().Cause = decode.Malformed
		}
		return "", false
	}
	return r.TextField(field, x.decode(), null)
}

// ResultKind implements decode.Reader.
func (r *Reader) ResultKind() byte { return r.KindByte() }

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
	b := r.Bytes(4, what)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	if n > math.MaxInt32 {
		r.Fail(decode.Malformed, what, fmt.Sprint(int32(n)))
		return 0
	}
	return int(n)
}
