package kryo

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"dubbo-wire/internal/decode"
)

// Kryo's OutputChunked writes data as chunks, each after its length, and 00 after the last one, so that readers can skip
// them. It ends a chunk where its buffer of 1 KiB is full, and where somebody flushes it: an OutputChunked that writes into it,
// or a Java stream. So the data of one field may be in pieces, and its pieces again.

// chunked is an object with fields in chunks.
type chunked struct {
	pieces *decode.Pieces
	buffer int // its number; one Java stream may go on in the chunks of all fields
}

// chunks is the content of chunks that is being read.
type chunks struct {
	within decode.Within
	// pieces are of several chunks. One chunk is read where it stands; whole says that its end is known.
	pieces *decode.Pieces
	whole  bool
	end    int // the offset after the 00
	outer  int // the buffer that they are in
}

// beginChunked begins an object, and endChunked ends it.
func (r *Reader) beginChunked() chunked {
	if r.level == len(r.pieces) {
		r.pieces = append(r.pieces, new(decode.Pieces))
	}
	p := r.pieces[r.level]
	p.Reset()
	r.level++
	r.buffers++
	return chunked{p, r.buffers}
}

func (r *Reader) endChunked() { r.level-- }

// maxGathered bounds the bytes that are copied out of chunks, per byte of the body: chunks may be in chunks.
const maxGathered = 16

// chunk takes the length of a chunk.
func (r *Reader) chunk() int {
	n := r.varint("the length of a chunk")
	if left := r.Left(); int64(n) > int64(left) && (left == 0 || r.Short == decode.Malformed) {
		r.Need(int(min(n, 1<<30)), "a chunk") // else the capture lacks the rest
	}
	return int(min(int64(n), int64(r.Left())))
}

// firstChunk takes the length of the first chunk of a field, which is not empty.
func (r *Reader) firstChunk() int {
	n := r.chunk()
	r.Role("length")
	if r.OK() && n == 0 {
		r.Fail(decode.Malformed, "data in a chunk", "no data")
	}
	return n
}

// openChunks goes into chunks of an object, and reports whether there are any; closeChunks leaves them.
func (r *Reader) openChunks(o *chunked, c *chunks) bool {
	n := r.firstChunk()
	if !r.OK() {
		return false
	}
	*c = chunks{outer: r.buffer}
	streams := len(r.streams) > 0 || bytes.Contains(r.Buf[r.Off:r.Off+n], javaStream)
	if after := r.Off + n; !streams && (after == len(r.Buf) || r.Buf[after] == 0) {
		if c.whole = after < len(r.Buf); c.whole {
			c.end = after + 1
			c.within = r.ReadWithin(n)
		}
		return true
	}
	from := r.Off
	p := o.pieces
	if r.gather(p, n); !r.OK() {
		return false
	}
	r.Off = from
	c.pieces, c.whole, c.end = p, p.Complete, p.End
	c.within = r.ReadPieces(p)
	r.buffer = o.buffer
	return true
}

// gather takes the bytes of several chunks, the first of which has n bytes, and the 00 after them.
func (r *Reader) gather(p *decode.Pieces, n int) {
	p.Begin()
	for head := r.Off; n > 0 && r.OK(); n = r.chunk() {
		if r.gathered += n; r.gathered > maxGathered*len(r.whole)+1<<12 {
			r.Fail(decode.Limit, "fewer chunks in each other", "more")
			return
		}
		off := r.Off
		p.Add(r.Bytes(n, "a chunk"), off, head)
		if head = r.Off; head == len(r.Buf) && r.Short != decode.Malformed {
			p.End = head
			return // the capture lacks the rest
		}
	}
	p.Complete, p.End = r.OK(), r.Off
}

// closeChunks leaves chunks, of which nothing may be left.
func (r *Reader) closeChunks(c *chunks) {
	if left := r.Left(); r.OK() && c.whole && left > 0 {
		r.misread = true
		r.Fail(decode.Malformed, "the end of the field's chunk", fmt.Sprintf("%d more bytes", left))
	}
	switch {
	case c.pieces != nil:
		r.EndPieces(c.within, c.pieces, "length")
		r.buffer = c.outer
	case c.whole:
		r.EndWithin(c.within)
	}
	switch {
	case !r.OK():
	case !c.whole:
		r.Need(1, "the end of a chunk")
	default:
		r.Off = c.end
		r.Role("end")
	}
}

// lost is what is not known after data that were skipped.
type lost struct {
	// objects: their numbers, from first on; names: those of the classes that are named next.
	objects, names bool
	first          int
}

// skipChunks takes chunks with the data of a field that the class of the class path does not have.
func (r *Reader) skipChunks(o *chunked, cl *class, name string) {
	n := r.firstChunk()
	from := r.Off
	if !r.OK() {
		return
	}
	p := o.pieces
	at := len(p.Bytes)
	if r.gather(p, n); !r.OK() {
		return
	}
	data := p.Bytes[at:]
	if !p.Complete {
		r.Need(1, "the end of a chunk")
		return
	}
	if bytes.IndexByte(data, refNew) >= 0 && !r.lost.objects {
		r.lost.objects, r.lost.first = true, r.objects
	}
	next := binary.AppendUvarint([]byte{idNamed}, uint64(len(r.names)))
	r.lost.names = r.lost.names || bytes.Contains(data, next)
	if r.fault == nil {
		r.fault = &decode.Error{
			Cause: decode.Unsupported, At: from, Expected: "field " + name + " of class " + cl.name,
			Found: "data of a type that only the writer's version of the class tells",
		}
	}
	r.Off = p.End - 1
	r.Leaf(decode.Opaque, decode.ByField, name, decode.Undeclared)
	r.Off++
	r.Role("end")
}

// Fault implements decode.Faulter.
func (r *Reader) Fault() *decode.Error { return r.fault }
