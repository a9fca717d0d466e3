// Package java reads bodies written through a java.io.ObjectOutputStream, one stream per body: serialization 3 (java),
// and for the packages compactedjava (4) and nativejava (7) their dialects. It follows the Java Object Serialization
// Specification, chapter 6 (protocol version 2), whose names are used in comments, and Dubbo's JavaObjectOutput,
// NativeJavaObjectOutput and CompactedObjectOutputStream.
//
// A body comes in; a tree of its values goes out, or the number of bytes that each class of them has. Primitives that Dubbo
// writes (strings of the envelope, result kind, a byte before each object) are block data: one logical stream, which is cut
// into blocks at any byte. Objects stand between blocks. The stream describes its own classes, so every value can be read
// without the application's classes; only compactedjava leaves fields out, and an object of the application has no visible
// end there unless a class path says which fields it has (class_path.go).
//
// Memory: the body is borrowed until the next Reset; the tree gets copies of texts where it wants values.
package java

import (
	"encoding/binary"
	"fmt"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         3,
	Name:       "java",
	Depth:      decode.DepthFull,
	Releases:   "2.0.7 to 3.2.x, later by extension",
	Capture:    "java.pcap.zst",
	Heartbeats: [][]byte{{0xac, 0xed, 0x00, 0x05, tcBlockData, 1, 0}},
	Scrub:      Scrub,
	Starts:     Starts,
	New:        func() decode.Reader { return new(Reader) },
	Counts:     true,
}

// Starts accepts the head of a Java object stream.
var Starts = decode.Starts{Request: startsStream, Result: startsStream, Text: startsStream}

func startsStream(b []byte) bool {
	return len(b) >= 4 && binary.BigEndian.Uint32(b) == streamMagic<<16|streamVersion
}

// Reader reads one body; it borrows the body and keeps nothing of it.
type Reader struct {
	decode.Recorder
	native         bool // strings without a count of characters, objects without a byte before them
	compact        bool // classes without fields
	unknownHandles bool // handles may refer to what was not read
	embedded       bool // the stream ends with the buffer

	// assumeNoFields: classes whose fields are not known have none. assumed: there were such classes. unknown: reading
	// stopped at one.
	assumeNoFields, assumed, unknown bool
	// root is the class of the object of an embedded stream, rootNode its node; undivided: its fields have no names.
	root      int32
	rootNode  int
	undivided bool
	announced int          // the number of elements in the block read last
	source    *classSource // may be nil
	hiding    int32        // the class of the object that is being read if its fields hide others, else -1

	started bool
	block   int    // bytes left of the current block of data
	field   string // the field that is being read from block data
	scratch []byte // a value that lies in several blocks

	// viewOf is the node of a list that is a view of a map, view its shape: shapeKeys or shapeMapValues.
	viewOf      int
	view        shape
	hiddenDepth int  // hidden items that were begun
	copied      int  // elements without bytes of their own
	retried     int  // bytes that were read again
	noRetry     bool // nothing is read again

	around    []remaining // see countItems
	fieldsEnd int         // of the innermost container; see remaining

	table
}

// NewNative returns a reader of nativejava.
func NewNative() decode.Reader { return &Reader{native: true} }

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.started = false
	r.unknownHandles = false
	r.embedded, r.assumeNoFields, r.assumed, r.unknown = false, false, false, false
	r.block = 0
	if r.source != nil {
		r.source.used = false
	}
	r.viewOf, r.hiddenDepth, r.hiding = noNode, 0, -1
	r.copied, r.retried = 0, 0
	r.around = r.around[:0]
	r.table.reset()
}

const (
	streamMagic   = 0xaced
	streamVersion = 5
)

// start takes the head of the stream, once.
func (r *Reader) start() {
	if r.started || !r.OK() {
		return
	}
	r.head()
}

func (r *Reader) head() {
	r.started = true
	if !r.Need(4, "the stream's magic and version") {
		return
	}
	if head := binary.BigEndian.Uint32(r.Buf[r.Off:]); head != streamMagic<<16|streamVersion {
		r.Fail(decode.Malformed, "aced0005, the start of a stream", fmt.Sprintf("%08x", head))
		return
	}
	r.Skip(4, "the stream's magic and version")
	r.Role("stream")
}

// SkipText takes a string.
func (r *Reader) SkipText() {
	t := r.Tree
	r.Tree = nil
	r.start()
	if n := r.textLen(); n > 0 {
		r.skipData(n, "the characters of a string")
	}
	r.Pass()
	r.Tree = t
	r.Settle(t.Depth())
}

// Text takes a string: the number of its characters (not in nativejava; -1 is null), then as writeUTF does.
func (r *Reader) Text(name string) (s string, null bool) {
	r.start()
	first := r.NextNode()
	r.field = name
	n := r.textLen()
	if n > 0 {
		s = jdk.UTF(r.data(n, "the characters of a string"))
	}
	r.piece()
	r.field = ""
	r.Settle(r.Tree.Depth())
	if !r.OK() {
		return "", false
	}
	if r.Tree != nil {
		for i := first; i < len(r.Tree.Nodes); i++ {
			switch p := &r.Tree.Nodes[i]; {
			case p.Label != decode.ByField:
			case n < 0:
				p.Kind = decode.Null
			case r.Tree.WithValues:
				p.Text = s // every piece has the whole text
			}
		}
	}
	return s, n < 0
}

// textLen takes the lengths in front of a string and returns its number of bytes, -1 for null.
func (r *Reader) textLen() int {
	if !r.native {
		b := r.data(4, "the number of characters of a string")
		if !r.OK() {
			return 0
		}
		switch n := int32(binary.BigEndian.Uint32(b)); {
		case n == -1:
			return -1
		case n < -1:
			r.Fail(decode.Malformed, "the number of characters of a string", fmt.Sprintf("%d", n))
		}
	}
	if b := r.data(2, "the length of a string"); r.OK() {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

// Int takes an int.
func (r *Reader) Int(name string) int32 {
	r.start()
	v := int32(0)
	if b := r.data(4, "an int"); r.OK() {
		v = int32(binary.BigEndian.Uint32(b))
	}
	return r.IntField(name, v)
}

// ResultKind takes one byte.
func (r *Reader) ResultKind() byte {
	r.start()
	b := r.data(1, "a result kind")
	var kind int64
	if r.OK() {
		kind = int64(b[0])
	}
	return r.KindField(kind)
}

// Value takes one object. A byte in front of it is 1 for an object and 0 for null; nativejava has none.
func (r *Reader) Value(l decode.Label, name string, index int, _ string) {
	open := r.Tree.Depth()
	r.start()
	switch {
	case r.native:
		r.restart()
		r.item(l, name, index)
	case r.present():
		r.Role("type")
		r.restart()
		r.item(l, name, index)
	default:
		r.Leaf(decode.Null, l, name, index)
	}
	r.Settle(open)
}

// present takes the byte that tells an object from null.
func (r *Reader) present() bool {
	b := r.data(1, "the byte before an object")
	if !r.OK() {
		return false
	}
	if b[0] > 1 {
		r.FailAt(r.Off-1, decode.Malformed, "00 (null) or 01 (an object follows)", fmt.Sprintf("%02x", b[0]))
	}
	return b[0] == 1
}

// Throwable takes the exception, an object like others.
func (r *Reader) Throwable() { r.Value(decode.ByField, "exception", 0, "") }

// Attachments takes a map, an object like others.
func (r *Reader) Attachments() { r.Value(decode.ByField, "attachments", 0, "") }
