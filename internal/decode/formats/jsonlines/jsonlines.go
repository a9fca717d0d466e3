// Package jsonlines reads bodies whose every write is one JSON text: followed by a line end (json 5, fastjson 6 of
// Dubbo 2.x, gson 16, jackson 18, protobuf-json 21), or behind a four-byte length (fastjson's extension for Dubbo 3).
// A JSON string never contains a raw line end, so the extent of every write is exact whatever it holds.
//
// It follows Dubbo's GsonJsonObjectOutput and FastJsonObjectOutput and RFC 8259, and takes what fastjson writes beyond
// it: keys that are no strings, numbers with a letter for their type, new Date(…), Set[…], x'…'; and what Dubbo's own
// JSON writes: a bean's class as its last member, NaN and Infinity. A text that is something else is opaque: its extent is
// known, so reading goes on behind it. Beans and maps look alike and both are maps here, except where a class is named.
package jsonlines

import (
	"bytes"
	"fmt"

	"dubbo-wire/internal/decode"
)

// NewLines returns a reader of texts that end with a line end.
func NewLines() decode.Reader { return new(Reader) }

// NewPrefixed returns a reader of texts behind their length, written by fastjson with the class of every object.
func NewPrefixed() decode.Reader { return &Reader{prefixed: true} }

// NewDubbo returns a reader of texts that end with a line end and were written by Dubbo's own JSON, where the last member
// of a bean is "class".
func NewDubbo() decode.Reader { return &Reader{dubbo: true} }

// NewProto returns a reader of texts that end with a line end and are protocol buffers messages, of which Dubbo's own, for
// exceptions and attachments, are known.
func NewProto() decode.Reader { return &Reader{proto: true} }

// Reader reads one body; it borrows the body and keeps nothing of it.
type Reader struct {
	decode.Recorder
	prefixed bool // lengths, not lines
	dubbo    bool // written by Dubbo's own JSON
	proto    bool // written by protobuf
	end      int  // of the JSON text being read
	bad      bool // the text is not what this package knows
	// outer is what the next object to begin is; those inside it are values.
	outer outer
}

// outer is what is known of the outermost object of a text.
type outer uint8

const (
	aValue outer = iota // of any class: a bean, or a map
	aMap                // declared as one
	theException
	theAttachments
)

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.bad = false
	r.outer = aValue
}

// write moves to the next JSON text, sets end and returns the offset behind its line end.
func (r *Reader) write(what string) (behind int) {
	if !r.OK() {
		return 0
	}
	if r.prefixed {
		n := int(r.U32("the length of a text"))
		if !r.Need(n, what) {
			return 0
		}
		r.end = r.Off + n
		return r.end
	}
	n := bytes.IndexByte(r.Buf[r.Off:], '\n')
	if n < 0 {
		r.Fail(r.Short, what+" and a line end", fmt.Sprintf("%d bytes without one", r.Left()))
		return 0
	}
	r.end = r.Off + n
	behind = r.end + 1
	if n > 0 && r.Buf[r.end-1] == '\r' {
		r.end--
	}
	return behind
}

// SkipText takes a text.
func (r *Reader) SkipText() {
	if behind := r.write("a string"); r.OK() {
		r.Off = behind
	}
	r.Pass()
	r.Settle(r.Tree.Depth())
}

// Text takes a JSON string or null.
func (r *Reader) Text(name string) (s string, null bool) {
	behind := r.write("a string")
	if r.OK() {
		switch text := r.Buf[r.Off:r.end]; {
		case string(text) == "null":
			null = true
		case len(text) >= 2 && stringLen(text) == len(text):
			s = Unquote(text[1 : len(text)-1])
		default:
			r.Fail(decode.Malformed, "a JSON string", excerpt(text))
		}
	}
	if !r.OK() {
		r.Settle(r.Tree.Depth())
		return "", false
	}
	r.Off = behind
	kind := decode.String
	if null {
		kind = decode.Null
	}
	if n := r.Leaf(kind, decode.ByField, name, 0); n != nil && r.Values() {
		n.Text = s
	}
	r.Settle(r.Tree.Depth())
	return s, null
}

// ResultKind takes one digit; fastjson's extension writes the type letter of a byte behind it.
func (r *Reader) ResultKind() byte {
	behind := r.write("a result kind")
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
	if n := r.Leaf(decode.Int, decode.ByField, "flag", 0); n != nil {
		n.Num = int64(kind)
	}
	r.Settle(r.Tree.Depth())
	return kind
}

// Value takes one JSON text of any type.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if isMapType(typ) {
		r.outer = aMap
	}
	r.text(l, name, index)
	r.outer = aValue
}

// text takes one JSON text, the outermost object of which is r.outer.
func (r *Reader) text(l decode.Label, name string, index int) {
	open := r.Tree.Depth()
	behind := r.write("a value")
	if r.OK() {
		r.Role("length")
		r.document(l, name, index)
	}
	if r.OK() {
		r.Off = behind
		r.Role("line")
	}
	r.Settle(open)
}

// document reads the text up to end, as opaque when it is not JSON.
func (r *Reader) document(l decode.Label, name string, index int) {
	start := r.Mark()
	r.bad = false
	r.value(l, name, index)
	if r.OK() && !r.bad {
		r.space()
		r.Role("punct")
	}
	if r.OK() && (r.bad || r.Off != r.end) {
		r.Rewind(start)
		r.Off = r.end
		r.Leaf(decode.Opaque, l, name, index)
	}
}

// Throwable takes the exception, an object with named fields. Where a member names its class ("@type" of fastjson,
// "clazz" of gson's extension, "class" of Dubbo's own JSON, "originalClassName" of protobuf) the node has it.
func (r *Reader) Throwable() {
	r.outer = theException
	r.text(decode.ByField, "exception", 0)
	r.outer = aValue
}

// Attachments takes the object at the end, a map whatever its keys are. With protobuf a null map is written as nothing.
func (r *Reader) Attachments() {
	if r.proto && r.Left() == 0 && r.Short == decode.Malformed {
		return
	}
	r.outer = theAttachments
	r.text(decode.ByField, "attachments", 0)
	r.outer = aValue
}

// excerpt shows the start of a text in an error.
func excerpt(text []byte) string {
	if len(text) > 32 {
		return fmt.Sprintf("%q and %d bytes more", text[:32], len(text)-32)
	}
	return fmt.Sprintf("%q", text)
}
