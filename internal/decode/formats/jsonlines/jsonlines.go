// Package jsonlines reads bodies in which every write is one JSON text: followed by a line end (json 5, fastjson 6 of
// Dubbo 2.x, gson 16, jackson 18, protobuf-json 21), or after a four-byte length (fastjson's extension for Dubbo 3). A JSON
// string never contains a raw line end, so the extent of every write is exact whatever the text contains.
//
// The reader turns each text into values of a tree; with [writer] it follows what a library writes that is not JSON. Where
// a text cannot be read, its rest is opaque, the values before it stand, and the next text is read; [Reader.Fault] tells why.
// Beans and maps look alike: both are maps in the tree, except where a class is named.
//
// The body is borrowed until the next Reset; the tree gets copies of names and texts.
//
// Sources: RFC 8259; JsonObjectOutput, FastJsonObjectOutput, GsonJsonObjectOutput, JacksonObjectOutput and
// GenericProtobufJsonObjectOutput of Dubbo's releases, and the JSON libraries that they call.
package jsonlines

import (
	"bytes"
	"fmt"

	"dubbo-wire/internal/decode"
)

// writer says how the texts of a serialization differ from plain JSON.
type writer struct {
	// prefixed: texts follow a length and are not lines.
	prefixed bool
	// fastjson: references, keys that are not strings, numbers with a letter for their type, new Date(…), Set[…], x'…'.
	fastjson bool
	// classFirst: the first member of an object may name its class. classLast: the last member of a bean does.
	classFirst, classLast bool
	// notFinite: NaN and Infinity are written without quotes.
	notFinite bool
	// proto: the texts are protocol buffers messages.
	proto bool
}

// NewDubbo returns a reader for Dubbo's own JSON, where the last member of a bean is "class".
func NewDubbo() decode.Reader { return &Reader{writer: writer{classLast: true, notFinite: true}} }

// NewFastjson returns a reader for the lines of fastjson.
func NewFastjson() decode.Reader {
	return &Reader{writer: writer{fastjson: true, classFirst: true, notFinite: true}}
}

// NewPrefixed returns a reader for fastjson texts after lengths, which name the class of every object.
func NewPrefixed() decode.Reader {
	return &Reader{writer: writer{fastjson: true, classFirst: true, notFinite: true, prefixed: true}}
}

// NewGson returns a reader for the lines of Gson, which are plain JSON.
func NewGson() decode.Reader { return new(Reader) }

// NewJackson returns a reader for the lines of Jackson, where objects of annotated classes start with the class.
func NewJackson() decode.Reader { return &Reader{writer: writer{classFirst: true}} }

// NewProto returns a reader for protocol buffers messages as JSON. It knows Dubbo's own messages, for exceptions and
// attachments.
func NewProto() decode.Reader { return &Reader{writer: writer{proto: true, classFirst: true}} }

// Starts accepts a request that begins with a quoted string and a result that begins with a line of one digit.
var Starts = decode.Starts{
	Request: func(b []byte) bool { return b[0] == '"' && decode.VersionAt(b, 1) },
	Result: func(b []byte) bool {
		return b[0] >= '0' && b[0] <= '5' && len(b) > 1 && (b[1] == '\n' || b[1] == '\r')
	},
}

// Reader reads one body; it borrows the body and keeps nothing of it.
type Reader struct {
	decode.Recorder
	writer
	end int // the end of the JSON text being read
	// cut: the capture lacks the rest of the text.
	cut bool
	// outer says what the next object is; objects inside it are values.
	outer outer
	fault *decode.Error
	refs  references
	stack *[decode.MaxDepth]byte // scratch of tally

	printing printing
}

// outer says what the outermost object of a text is.
type outer uint8

const (
	aValue outer = iota // of any class: a bean, or a map
	aMap                // declared as a map
	theException
	theAttachments
)

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.outer = aValue
	r.fault = nil
	r.printing.to = nil
}

// Fault returns where and why the first text could not be read to its end, nil if there is none.
func (r *Reader) Fault() *decode.Error { return r.fault }

// write moves to the next JSON text, sets end and returns the offset after its line end. Where the capture lacks the line
// end, the text ends with the captured bytes.
func (r *Reader) write(what string) (behind int) {
	if !r.OK() {
		return 0
	}
	r.cut = false
	if r.prefixed {
		n := int(r.U32("the length of a text"))
		if r.OK() && n > r.Left() && r.Short != decode.Malformed {
			r.cut = true
			n = r.Left()
		}
		if !r.Need(n, what) {
			return 0
		}
		r.end = r.Off + n
		return r.end
	}
	n := bytes.IndexByte(r.Buf[r.Off:], '\n')
	if n < 0 {
		r.cut = true
		r.end = len(r.Buf)
		return r.end
	}
	r.end = r.Off + n
	behind = r.end + 1
	if n > 0 && r.Buf[r.end-1] == '\r' {
		r.end--
	}
	return behind
}

// whole fails if the text has no end, in the capture or at all.
func (r *Reader) whole(what string) {
	if r.OK() && r.cut {
		found := fmt.Sprintf("%d bytes without one", r.Left())
		if r.prefixed {
			found = "the end of the captured bytes"
		}
		r.Fail(r.Short, what, found)
	}
}

// SkipText takes a text.
func (r *Reader) SkipText() {
	behind := r.write("a string")
	r.whole("a string and a line end")
	if r.OK() {
		r.Off = behind
	}
	r.EndText()
}

// Text takes a JSON string or null.
func (r *Reader) Text(name string) (s string, null bool) {
	behind := r.write("a string")
	r.whole("a string and a line end")
	if r.OK() {
		switch text := r.Buf[r.Off:r.end]; {
		case string(text) == "null":
			null = true
		case len(text) >= 2 && stringEnd(text, 0) == len(text):
			s = Unquote(text[1 : len(text)-1])
		default:
			r.Fail(decode.Malformed, "a JSON string", excerpt(text))
		}
	}
	if r.OK() {
		r.Off = behind
	}
	return r.TextField(name, s, null)
}

// ResultKind takes one digit. fastjson's extension writes B, the type letter of a byte, after it.
func (r *Reader) ResultKind() byte {
	behind := r.write("a result kind")
	r.whole("a result kind and a line end")
	var kind byte
	if r.OK() {
		text := r.Buf[r.Off:r.end]
		if len(text) == 0 || text[0] < '0' || text[0] > '9' || len(text) > 1 && string(text[1:]) != "B" {
			r.Fail(decode.Malformed, "a result kind, 0 to 5", excerpt(text))
		} else {
			kind = text[0] - '0'
			r.Off = behind
		}
	}
	return r.KindField(int64(kind))
}

// Value takes one JSON text of any type.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if decode.IsMapType(typ) {
		r.outer = aMap
	}
	r.text(l, name, index)
	r.outer = aValue
}

// Whole takes a JSON text without a line end: the body of an HTTP message, which no library of Dubbo's own writes.
func (r *Reader) Whole(l decode.Label, name string, index int) {
	open, own := r.Tree.Depth(), r.writer
	r.writer = writer{}
	r.end, r.cut = len(r.Buf), r.Short != decode.Malformed
	switch {
	case r.Tree == nil && r.count(l, name, index):
	case r.printing.to != nil:
		r.unusual()
	default:
		r.document(l, name, index, open)
	}
	if r.cut && r.OK() {
		r.Fail(r.Short, "the rest of a text", "the end of the captured bytes")
	}
	r.writer = own
	r.Settle(open)
}

// Throwable takes the exception, an object with named fields. Where a member names its class ("@type" of fastjson,
// "clazz" of gson's extension, "class" of Dubbo's own JSON, "originalClassName" of protobuf) the node has it.
func (r *Reader) Throwable() {
	r.outer = theException
	r.text(decode.ByField, "exception", 0)
	r.outer = aValue
}

// Attachments takes the object at the end, which is a map whatever its keys are. With protobuf a null map takes no bytes.
func (r *Reader) Attachments() {
	if r.proto && r.Left() == 0 && r.Short == decode.Malformed {
		return
	}
	r.outer = theAttachments
	r.text(decode.ByField, "attachments", 0)
	r.outer = aValue
}

// text takes one JSON text. r.outer says what its outermost object is.
func (r *Reader) text(l decode.Label, name string, index int) {
	open := r.Tree.Depth()
	behind := r.write("a value")
	if r.OK() {
		r.Role("length")
		switch {
		case r.Tree == nil && r.count(l, name, index):
		case r.printing.to != nil:
			r.printLeaf(l, name, index, open)
		default:
			r.document(l, name, index, open)
		}
		if r.prefixed {
			r.whole("the rest of a text")
		} else {
			r.whole("a line end")
		}
	}
	if r.OK() {
		r.printLine(l, behind-r.Off)
		r.Off = behind
		r.Role("line")
	}
	r.Settle(open)
}

// document reads the text up to end. The bytes that cannot be read are opaque, unless the capture lacks the rest of the text
// or a limit was reached: then the error stands.
func (r *Reader) document(l decode.Label, name string, index, open int) {
	start, nodes := r.Mark(), r.NextNode()
	r.refs.begin(nodes)
	r.value(l, name, index)
	read := false
	if r.OK() {
		if r.space(); r.Off == r.end {
			r.Role("punct")
			return
		}
		r.fail("the end of the text")
		read = true
	}
	err := r.Err()
	at := err.At
	if read { // there is more than one value: all of them are opaque
		r.Rewind(start)
		at = r.Off
	}
	if err.Cause != decode.Malformed || r.cut || r.Tree.Full() {
		return
	}
	if r.fault == nil {
		r.fault = err
	}
	r.NeedTree()
	if r.NextNode() > nodes { // the opaque bytes lie in the innermost open object or list
		l, name, index = decode.Whole, "opaque", 0
	}
	if at < r.end || l != decode.Whole {
		r.Tree.Leaf(decode.Opaque, l, name, index, at, r.end)
	}
	r.Tree.CloseTo(open)
	r.Resume(r.end)
}

// excerpt shows the start of a text in an error.
func excerpt(text []byte) string {
	if len(text) > 32 {
		return fmt.Sprintf("%q and %d bytes more", text[:32], len(text)-32)
	}
	return fmt.Sprintf("%q", text)
}
