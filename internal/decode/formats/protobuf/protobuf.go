// Package protobuf reads bodies in which every write is a protocol buffers message after its length, a varint: id 22, and
// id 21 in Dubbo 2.7.5, which gave it the id of protobuf-json.
//
// Strings and numbers are in the wrappers StringValue, Int32Value and so on. So the envelope, error texts, exceptions and
// attachments are known. Arguments and results are messages of the application, whose schema is not on the wire. With the schemas of
// a class path ([With]) they are read as these say, and a message that does not fit its schema is read without it. Without a schema they become
// objects with members "#1", "#2" by field number, and fixed rules decide what the wire does not tell:
//   - A varint is a signed 64-bit integer: a bool is 0 or 1, an enum its number, and a sint32 stays in zigzag form.
//   - Four or eight bytes are a floating point number if that is 0 (not -0), infinite, the largest finite one, the usual NaN
//     or of a magnitude from 1e-9 to 1e15; else an integer. (Small integers, read as floating point, are far below that.)
//   - Bytes after a length are a text if they are UTF-8 without control characters; else a message if they are whole fields
//     from the first byte to the last; else a text if they are UTF-8 whose only control characters are tabs and line ends;
//     else bytes. No bytes are an empty text, or an empty message in a list after a message.
//   - Consecutive members with the same number are a list. Packed numbers are bytes or, if they look so, a message.
//
// An argument that is declared as one of the wrappers is the wrapped value. The body is borrowed until the next Reset; the
// tree gets copies of names and texts.
//
// Sources: Dubbo's GenericProtobufObjectOutput (2.7.5 to 2.7.23, and the extension 3.2.0 for Dubbo 3), MapValue.proto and
// ThrowablePB.proto; https://protobuf.dev/programming-guides/encoding.
package protobuf

import (
	"fmt"
	"math"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/protoschema"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:               22,
	Name:             "protobuf",
	Depth:            decode.DepthFull,
	Releases:         "2.7.6 to 2.7.23, later by extension",
	Capture:          "protobuf-2.7.23.pcap.zst",
	Heartbeats:       heartbeats,
	Scrub:            scrub,
	EmptyHeartbeats:  true,
	Starts:           starts,
	ThrowableMessage: "originalMessage",
	New:              New,
	Counts:           true,
}

// Format21 is the same format under the id of protobuf-json.
var Format21 = func() decode.Format {
	f := Format
	f.ID, f.Dialect, f.Releases, f.Capture = 21, "id 21", "2.7.5", "protobuf-2.7.5.pcap.zst"
	f.Tell = Tell
	return f
}()

// heartbeats has the string H, which stands for null; from 2.7.9 on the body is empty.
var heartbeats = [][]byte{{3, 0x0a, 1, 'H'}}

// starts accepts a StringValue, or an Int32Value, which is empty for 0, after its length.
var starts = decode.Starts{
	Request: func(b []byte) bool { return len(b) > 3 && b[1] == 0x0a && decode.VersionAt(b, 3) },
	Result:  func(b []byte) bool { return b[0] == 0 || len(b) > 2 && b[0] == 2 && b[1] == 8 && b[2] <= 5 },
}

// Reader reads one body; it borrows the body and keeps nothing of it.
type Reader struct {
	decode.Recorder
	// plain is a stretch of text without control characters, lines one that may have tabs and line ends.
	plain, lines stretch
	// nested is the number of open messages.
	nested int
	// unusualAt is where countGuessed stopped last, -1 if it did not in this body. Messages that have that offset are not counted there, so
	// that no byte is passed again for each message around it.
	unusualAt int
	guessed   guessed
	// fault says why the first opaque value of the body is opaque.
	fault *decode.Error
	// groups maps the start of each group that fields has passed to its end.
	groups map[int]int

	// schemas are those of the application, nil if none was given; writer is who wrote the body.
	schemas *schemas
	writer  decode.Side
	// method is the type of the messages that Whole takes, nil if it is not known.
	method *protoschema.Message
	// slots has a bit for each slot of the open messages.
	slots []uint64
	// partial: the end of the body is missing.
	partial bool
	// doubt says why the message that is being read does not fit its type.
	doubt *decode.Misfit
}

// New returns a reader.
func New() decode.Reader { return &Reader{lines: stretch{lines: true}} }

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.plain.forget()
	r.lines.forget()
	r.nested = 0
	r.unusualAt = -1
	r.fault = nil
	clear(r.groups)
	r.slots = r.slots[:0]
	r.partial = short != decode.Malformed && short != decode.None
	r.doubt = nil
}

// Fault returns where and why the first value of the body could not be read.
func (r *Reader) Fault() *decode.Error { return r.fault }

// opaque takes the pending bytes and those up to end as a value that cannot be read.
func (r *Reader) opaque(p place, end int, cause decode.Cause, expected string) {
	if r.fault == nil && r.OK() {
		r.fault = &decode.Error{Cause: cause, At: r.Off, Expected: expected}
	}
	r.Off = end
	r.Leaf(decode.Opaque, p.label, p.name, p.index)
}

// write takes the length of a message and returns the offset of its end, which is within the body.
func (r *Reader) write(what string) (end int) {
	if !r.OK() {
		return 0
	}
	v, n := varint(r.Buf[r.Off:])
	if n < 0 {
		if len(r.Buf)-r.Off >= maxVarint {
			r.Fail(decode.Malformed, what, "a length of more than 64 bits")
			return 0
		}
		r.Need(len(r.Buf)-r.Off+1, what)
		return 0
	}
	r.Off += n
	if size := int(min(v, math.MaxInt32)); r.Need(size, what) {
		return r.Off + size
	}
	return 0
}

// maxVarint is the largest size of a varint, in bytes.
const maxVarint = 10

// SkipText takes a message.
func (r *Reader) SkipText() {
	if end := r.write("a string"); r.OK() {
		r.Off = end
	}
	r.EndText()
}

// Text takes a StringValue. The format has no null.
func (r *Reader) Text(name string) (s string, null bool) {
	if end := r.write("a string"); r.OK() {
		v, ok := wrappers["StringValue"].read(r.Buf[r.Off:end])
		if ok {
			s = decode.UTF8(v.raw)
			r.Off = end
		} else {
			r.Fail(decode.Malformed, "a StringValue", fmt.Sprintf("% x", r.Buf[r.Off:min(end, r.Off+16)]))
		}
	}
	return r.TextField(name, s, false)
}

// ResultKind takes an Int32Value.
func (r *Reader) ResultKind() byte {
	var v scalar
	if end := r.write("a result kind"); r.OK() {
		ok := false
		if v, ok = wrappers["Int32Value"].read(r.Buf[r.Off:end]); ok && v.num <= math.MaxInt8 {
			r.Off = end
		} else {
			r.Fail(decode.Malformed, "a result kind, 0 to 5", fmt.Sprintf("% x", r.Buf[r.Off:min(end, r.Off+16)]))
		}
	}
	return r.KindField(int64(v.num))
}

// Value takes a message.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	r.value(place{l, name, index}, typ, r.schemas.ofType(r.writer, typ))
}

// Whole takes a message without a length: the bytes of a gRPC message. If the capture lacks its end, its complete fields are taken.
func (r *Reader) Whole(l decode.Label, name string, index int) {
	open, end := r.Tree.Depth(), len(r.Buf)
	if r.partial {
		end = r.completeFields()
	}
	r.typed(place{l, name, index}, end, r.method)
	if r.OK() && end < len(r.Buf) {
		r.Need(len(r.Buf)-r.Off+1, "a field")
	}
	r.Settle(open)
}

// Throwable takes a ThrowableProto.
func (r *Reader) Throwable() {
	r.value(place{label: decode.ByField, name: "exception"}, "", throwable)
}

func (r *Reader) value(p place, typ string, m *protoschema.Message) {
	open := r.Tree.Depth()
	end := r.write("a message")
	switch {
	case !r.OK():
	case m != nil || !r.declared(p, typ, end):
		r.typed(p, end, m)
	}
	r.Settle(open)
}

// declared takes a message up to end as the wrapped value, if its declared type is a wrapper.
func (r *Reader) declared(p place, typ string, end int) bool {
	class, ok := strings.CutPrefix(typ, "Lcom/google/protobuf/")
	if !ok {
		return false
	}
	w, ok := wrappers[strings.TrimSuffix(class, ";")]
	if !ok || w.kind == decode.Null { // Empty is a message without members
		return false
	}
	v, ok := w.read(r.Buf[r.Off:end])
	if !ok {
		return false
	}
	r.Off = end
	v.fill(r.Leaf(w.kind, p.label, p.name, p.index), r.Values())
	return true
}

// place names a value within its container.
type place struct {
	label decode.Label
	name  string
	index int
}
