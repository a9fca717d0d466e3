// Package dubboserialization reads bodies of serialization 1, "dubbo" (Dubbo 2.0.7 to 2.6.0).
//
// Sources: Dubbo 2.0.7, 2.5.3 and 2.6.0 GenericObjectOutput, GenericDataOutput, GenericDataFlags and Builder, which
// generates a writer for each class.
//
// A body comes in; a tree of its values goes out, or the number of bytes that each class of them has. A value written by
// writeObject starts with the descriptor of its class, or with the descriptor's number in a fixed list. An object of the
// application is the number of its fields and their values, in the order of their names; names and types are not written:
// members #0, #1, …, unless a class path has the class (class_path.go). A number in a field may be of any width, the bits of a float or a double, or a boolean: it is an integer
// here. Two things in a field have an end that only the class knows: a collection of some classes, which continues after its
// own fields, and a byte array that looks like UTF-8 text. The reader takes the reading that leads exactly to the end of the
// body (plan.go) and stops with cause Unsupported if there is none; the attachments are then found from the end
// (attachments.go). With its class an object is read by the declared types of its fields, and nothing is tried. Exceptions, and objects with transient fields, are streams of Java serialization with a length
// (java_stream.go).
//
// Memory: the body is borrowed until the next Reset; the tree gets copies of texts where it wants values.
package dubboserialization

import (
	"fmt"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/java"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         1,
	Name:       "dubbo",
	Depth:      decode.DepthFull,
	Releases:   "2.0.7 to 2.6.0",
	Capture:    "dubbo-2.5.3.pcap.zst",
	Heartbeats: [][]byte{{tagNull}},
	Scrub:      scrub,
	Starts:     decode.Starts{Request: startsRequest, Result: startsResult},
	New:        func() decode.Reader { return new(Reader) },
	Counts:     true,
}

// startsRequest accepts a text of one byte of length.
func startsRequest(b []byte) bool {
	return len(b) > 2 && b[0] == 0x83 && b[1] > 0x80 && decode.VersionAt(b, 2)
}

// startsResult accepts a small int from 0 to 5.
func startsResult(b []byte) bool { return b[0] >= 0x19 && b[0] <= 0x1e }

// Reader reads one body. The zero value is ready for Reset.
type Reader struct {
	decode.Recorder
	// kind is the result kind of a response, noKind before it was read.
	kind byte
	// texts counts the strings of an envelope; arguments is the number of arguments by the fifth string, -1 if unknown.
	texts, arguments int
	// count is the number of objects so far that later bytes may refer to, nodes their nodes in the tree.
	count int
	nodes []int32
	// unknownObjects: part of the body was not read, so that objects may be missing.
	unknownObjects bool
	names          map[string]string // of classes by descriptor
	frames         []frame           // containers whose values are counted
	known          []knownClass      // of the body; borrowed
	plan           plan
	probe          *Reader      // tries ways to read
	work           int          // the cost of that, in addition to the bytes read
	java           *java.Reader // of embedded streams
	source         *classSource // may be nil
}

// noKind: no response, or not known.
const noKind = 0xff

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.kind = noKind
	r.texts, r.arguments = 0, -1
	r.count = 0
	if cap(r.nodes) > 1<<13 {
		r.nodes = nil
	}
	r.nodes = r.nodes[:0]
	r.unknownObjects = false
	if r.source != nil {
		r.source.used = false
	}
	r.work = 0
	r.frames, r.known = r.frames[:0], r.known[:0]
	r.plan.reset()
}

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	r.envelope()
	r.EndText()
}

// Text implements decode.Reader.
func (r *Reader) Text(name string) (s string, null bool) {
	x := r.envelope()
	if r.OK() {
		s = x.decode()
	}
	return r.TextField(name, s, x.null)
}

// envelope takes a string of an envelope. The parameter types of a request are the fifth.
func (r *Reader) envelope() text {
	x := r.text()
	if r.texts++; r.texts == 5 && r.OK() {
		r.arguments = countTypes(x.raw)
	}
	return x
}

// ResultKind implements decode.Reader.
func (r *Reader) ResultKind() byte {
	at := r.Off
	v := r.varint("a result kind")
	if r.OK() && (v < 0 || v > 5) {
		r.FailAt(at, decode.Malformed, "a result kind, 0 to 5", fmt.Sprint(v))
	}
	if r.OK() {
		r.kind = byte(v)
	}
	return r.KindField(v)
}

// Value implements decode.Reader. The declared type is not needed.
func (r *Reader) Value(l decode.Label, name string, index int, _ string) {
	end := ending{fewest: 1, most: 1} // attachments
	switch {
	case l == decode.ByIndex && index < r.arguments:
		end.fewest = r.arguments - index
		end.most = end.fewest
	case l == decode.ByIndex:
		end.most = len(r.Buf)
	case r.kind < 3:
		end = ending{}
	case r.kind == noKind:
		end.fewest = 0
	}
	r.top(r.at(l, name, index), end)
}

// Throwable implements decode.Reader.
func (r *Reader) Throwable() { r.Value(decode.ByField, "exception", 0, "") }

// Attachments implements decode.Reader.
func (r *Reader) Attachments() { r.top(r.at(decode.ByField, "attachments", 0), ending{}) }

// top takes a value that was written by writeObject; end is what may follow it in the body.
func (r *Reader) top(p place, end ending) {
	if !r.OK() {
		return
	}
	open := r.Tree.Depth()
	r.planned(p, end)
	r.Settle(open)
}
