// Package fastjson2 reads bodies of serialization 23. Every write is a length of four bytes, big-endian, and one JSONB
// document of that length, the binary form of fastjson2.
//
// Dubbo's settings write objects with their class where a reader could not infer it, field names as symbols (a name is
// written once and then numbered), maps with plain keys, and no fields with default values. A constant of an enum is its
// name, with its class if its type is not declared; in a field declared as that enum it is only its ordinal. Symbols and
// references start again in every document.
//
// The reader turns each document into values of a tree. If it cannot read a document, the rest of that document is opaque,
// the next one is read, and [Reader.Fault] tells why. The body is borrowed until the next Reset; the tree gets copies of names
// and texts.
//
// Sources: Dubbo 3.1 and later, FastJson2ObjectOutput; fastjson2 2.0.23 to 2.0.60, JSONWriterJSONB and JSONBDump.
package fastjson2

import (
	"encoding/binary"
	"fmt"

	"dubbo-wire/internal/decode"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         23,
	Name:       "fastjson2",
	Depth:      decode.DepthFull,
	Releases:   "3.1 and later",
	Capture:    "fastjson2-3.3.6.pcap.zst",
	Heartbeats: [][]byte{{0, 0, 0, 1, opNull}},
	Skim:       skim,
	SkimKind:   skimKind,
	Scrub:      scrub,
	ScrubBody:  newBodyScrubber,
	Starts:     decode.Starts{Request: startsRequest, Result: decode.ShortLength},
	New:        func() decode.Reader { return new(Reader) },
	Counts:     true,
}

// lengthSize is the size of the length before a document.
const lengthSize = 4

// skim returns where the first n documents end if they are texts in Latin-1 or null.
func skim(b []byte, n int) int {
	at := 0
	for range n {
		size := documentLen(b[at:])
		if size < 0 {
			return -1
		}
		at += lengthSize
		text := -1 // the length of a text with its head
		switch op := b[at]; {
		case op == opNull:
			text = 1
		case op >= opASCII0 && op < opASCII:
			text = 1 + int(op-opASCII0)
		case op == opASCII && size > 2 && b[at+1] <= opIntMax:
			text = 2 + int(b[at+1])
		case op == opASCII && size > 3 && b[at+1] >= opInt12Zero && b[at+1] < opInt19:
			text = 3 + int(b[at+1]-opInt12Zero)<<8 + int(b[at+2])
		}
		if text != size {
			return -1
		}
		at += size
	}
	return at
}

// documentLen returns the length of the document that b starts with, without its own length, -1 if b does not have all of it.
func documentLen(b []byte) int {
	if len(b) < lengthSize {
		return -1
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	if n <= 0 || n > len(b)-lengthSize {
		return -1
	}
	return n
}

// skimKind returns the value of a byte from 0 to 5, as Dubbo writes it.
func skimKind(b []byte) (kind int8, size int) {
	if len(b) > lengthSize+1 && documentLen(b) == 2 && b[lengthSize] == opInt8 && b[lengthSize+1] <= 5 {
		return int8(b[lengthSize+1]), lengthSize + 2
	}
	return -1, 0
}

// startsRequest accepts a text after the length of its document and its first byte.
func startsRequest(b []byte) bool {
	return len(b) > 5 && decode.ShortLength(b) && decode.VersionAt(b, 5)
}

// Reader reads one body; it borrows the body. While it reads a document, its cursor ends where the document does.
type Reader struct {
	decode.Recorder
	body  []byte
	short decode.Cause
	// begin and end are the offsets of the document, its length included. end may lie beyond the captured bytes.
	begin, end int
	fault      *decode.Error

	symbols []symbol
	sparse  map[int32]symbol // symbols whose numbers are not consecutive
	// repeated is the number of bytes that symbols of the body repeated.
	repeated int

	// inside is the node of the innermost object, map or list.
	inside int
	refs   references
	around []container // the array or bean whose values are counted, after the ones around it

	printing printing
}

// Reset starts a body; see [decode.Reader].
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.body, r.short = body, r.Short
	r.fault, r.repeated = nil, 0
	r.printing.to = nil
}

// Fault returns where and why the first opaque value could not be read, nil if there is none.
func (r *Reader) Fault() *decode.Error { return r.fault }

func (r *Reader) setFault(err *decode.Error) {
	if r.fault == nil {
		r.fault = err
	}
}

// open takes the length of a document and confines the cursor to the document. Where the capture lacks the end of the body,
// the document may end beyond the captured bytes.
func (r *Reader) open() {
	r.begin = r.Off
	n := int(int32(r.U32("the length of a value")))
	if !r.OK() {
		return
	}
	if left := len(r.body) - r.Off; n < 0 || n > left && r.short == decode.Malformed {
		r.FailAt(r.begin, decode.Malformed, "the length of a value", fmt.Sprintf("%d with %d bytes to the end of the body", n, left))
		return
	}
	r.end = r.Off + n
	if r.end <= len(r.body) {
		r.Buf, r.Short = r.body[:r.end], decode.Malformed
	}
}

// close ends what open began. The caller takes bytes after the value.
func (r *Reader) close() {
	r.Buf, r.Short = r.body, r.short
	if r.OK() && r.end > len(r.body) {
		r.Off = len(r.body)
		r.Need(r.end-len(r.body), "a value")
	}
}

// rest records the bytes of a document after its value.
func (r *Reader) rest() {
	if r.OK() && r.Off < r.end {
		r.Off = r.end
		r.role("trailing")
	}
	r.Settle(r.Tree.Depth())
}

// SkipText takes a string or null.
func (r *Reader) SkipText() {
	r.open()
	r.textHead()
	r.close()
	if r.OK() {
		r.Off = r.end
	}
	r.EndText()
}

// textHead takes a string or null without decoding it.
func (r *Reader) textHead() (s text, null bool) {
	switch op := r.Byte("a string"); {
	case !r.OK():
	case op == opNull:
		return text{}, true
	case isText(op):
		return r.text(op), false
	default:
		r.FailAt(r.Off-1, decode.Malformed, "a string", found(op))
	}
	return text{}, false
}

// Text takes a string or null.
func (r *Reader) Text(name string) (s string, null bool) {
	r.open()
	raw, null := r.textHead()
	r.close()
	s, null = r.TextField(name, raw.string(), null)
	r.rest()
	return s, null
}

// ResultKind takes a byte, or an integer of another width.
func (r *Reader) ResultKind() byte {
	r.open()
	v := r.integer("a result kind")
	if r.OK() && (v < 0 || v > 0xff) {
		r.FailAt(r.begin+lengthSize, decode.Malformed, "a result kind, 0 to 5", fmt.Sprint(v))
	}
	r.close()
	kind := r.KindField(v)
	r.rest()
	return kind
}

// Value takes one document.
func (r *Reader) Value(l decode.Label, name string, index int, _ string) {
	depth := r.Tree.Depth()
	r.open()
	r.printed(l, name, func() {
		if r.OK() {
			r.document(l, name, index, depth)
		} else {
			r.close()
		}
		r.rest()
	})
	r.Settle(depth)
}

// document takes the value of a document. Bytes that cannot be read are opaque, unless the end of the document is missing or
// the tree is full: then the error stands.
func (r *Reader) document(l decode.Label, name string, index, depth int) {
	r.forget()
	nodes := r.NextNode()
	r.value(l, name, index)
	if r.OK() || r.end > len(r.body) || r.Tree.Full() {
		r.close()
		return
	}
	r.setFault(r.Err())
	r.NeedTree()
	from := r.Off - r.Pending()
	if r.NextNode() > nodes {
		l, name, index = decode.Whole, "opaque", 0
	}
	r.Tree.Leaf(decode.Opaque, l, name, index, from, r.end)
	r.Tree.CloseTo(depth)
	r.Resume(r.end)
	r.close()
}

// Throwable takes an object: its class, its message in field detailMessage.
func (r *Reader) Throwable() { r.Value(decode.ByField, "exception", 0, "") }

// Attachments takes a map.
func (r *Reader) Attachments() { r.Value(decode.ByField, "attachments", 0, "") }
