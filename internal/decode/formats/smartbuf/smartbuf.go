// Package smartbuf reads bodies of serialization 13, the third-party smartbuf-dubbo 1.0.1 with smartbuf 0.1.3. Every write is
// one packet that tells its own end.
//
// A packet is a head byte, names and structs (meta areas), numbers and strings (data areas), and one value that refers to
// them. Symbols, and structs and names that are "added", stay valid in later packets of the same body. The wire has no
// classes: an object is a struct, a list of field names. The reader turns objects of lasting structs into objects. A
// temporary struct is written again in each packet, and its objects are maps in the tree; senders without stream mode (Dubbo
// 2.7.9 and later) write beans so, too.
//
// The body is borrowed until the next Reset; the tree gets copies of names and texts.
//
// Sources: the library's classes Input, InputMetaPool and InputDataPool.
package smartbuf

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:               13,
	Name:             "smartbuf",
	Depth:            decode.DepthFull,
	Releases:         "third party, for 2.6 and 2.7",
	Capture:          "smartbuf.pcap.zst",
	Heartbeats:       [][]byte{{version | hasStream, constNull}, {version, constNull}},
	Scrub:            scrub,
	EmptyHeartbeats:  true,
	Starts:           decode.Starts{Request: startsRequest, Result: startsResult},
	ThrowableMessage: "msg",
	New:              func() decode.Reader { return new(Reader) },
	Counts:           true,
}

// startsRequest accepts a packet that is one text.
func startsRequest(b []byte) bool {
	return len(b) > 3 && b[0] == 0x1c && b[1] == 0x18 && decode.VersionAt(b, 3)
}

// startsResult accepts the head of a packet.
func startsResult(b []byte) bool { return b[0]&0xf0 == 0x10 }

// Reader reads one body; it borrows the body and keeps nothing of it.
type Reader struct {
	decode.Recorder
	context
	pools
	// throwable is set until the fields of an exception are read, one of which is the name of its class: className.
	throwable bool
	className string
	frames    []frame // containers whose values are counted
}

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.context.reset()
	r.pools.reset()
	r.throwable = false
	r.frames = r.frames[:0]
}

// packet takes one packet; read takes its value. A packet without its end is not taken at all, since its pools precede the
// values that own their bytes.
func (r *Reader) packet(read func()) {
	start, from := r.Mark(), r.Off
	open := r.Tree.Depth()
	r.areas()
	if r.OK() {
		read()
		r.unused()
	}
	if !r.OK() {
		if err := r.Err(); r.Off > from && err.Found != "" {
			err.Found += fmt.Sprintf(" (offset %d)", err.At)
		}
		r.Rewind(start)
	}
	r.Settle(open)
}

// textPacket reads a packet with a string or null without recording it. It is a function of its own so that nothing escapes
// to the heap.
func (r *Reader) textPacket() (b []byte, null bool) {
	t := r.Tree
	r.Tree = nil
	r.areas()
	switch head := r.uvarint("a string"); {
	case !r.OK():
	case head == constNull:
		null = true
	case head&kindMask != kindString:
		r.Fail(decode.Malformed, "a string", fmt.Sprintf("a value with head %x", head))
	default:
		if e := r.lookup(r.lists[kindString], head>>kindBits, "string"); e != nil {
			b = r.content(e)
		}
	}
	r.claim()
	r.Tree = t
	return b, null
}

// SkipText takes a string.
func (r *Reader) SkipText() {
	start := r.Mark()
	r.textPacket()
	r.finish(start)
}

// finish ends a packet that is recorded as one node.
func (r *Reader) finish(start decode.Mark) {
	r.Pass()
	if !r.OK() {
		r.Rewind(start)
	}
	r.Settle(r.Tree.Depth())
}

// Text takes a string or null.
func (r *Reader) Text(name string) (s string, null bool) {
	start, from := r.Mark(), r.Off
	b, null := r.textPacket()
	r.Discount(start)
	kind := decode.String
	if null {
		kind = decode.Null
	}
	if r.OK() {
		s = decode.UTF8(b)
	}
	if n := r.LeafAt(kind, decode.ByField, name, 0, from, r.Off); n != nil && r.Values() {
		n.Text = s
	}
	r.finish(start)
	return s, null
}

// ResultKind takes a packet with a small integer.
func (r *Reader) ResultKind() byte {
	start, from := r.Mark(), r.Off
	t := r.Tree
	r.Tree = nil
	r.areas()
	var v int64
	switch head := r.uvarint("a result kind"); {
	case !r.OK():
	case head&kindMask != kindVarint || head>>kindBits == 0:
		r.Fail(decode.Malformed, "a result kind, a number", fmt.Sprintf("a value with head %x", head))
	default:
		if e := r.lookup(r.lists[kindVarint], head>>kindBits, "number"); e != nil {
			v = r.number(e)
		}
	}
	if r.OK() && (v < 0 || v > 255) {
		r.Fail(decode.Malformed, "a result kind, 0 to 5", fmt.Sprint(v))
	}
	r.claim()
	r.Tree = t
	r.Discount(start)
	r.LeafAt(decode.Int, decode.ByField, "flag", 0, from, r.Off).SetNum(v)
	r.finish(start)
	return byte(v)
}

// Value takes one value of any type.
func (r *Reader) Value(l decode.Label, name string, index int, _ string) {
	r.packet(func() { r.value(l, name, index) })
}

// Throwable takes the exception, an object with the fields msg, stack, cause and type; the last names its class.
func (r *Reader) Throwable() {
	r.throwable = true
	r.Value(decode.ByField, "exception", 0, "")
	r.throwable = false
}

// Attachments takes a map.
func (r *Reader) Attachments() { r.Value(decode.ByField, "attachments", 0, "") }
