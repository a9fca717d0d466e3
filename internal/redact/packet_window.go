package redact

import (
	"math"

	"dubbo-wire/internal/capture/packet"
)

// record is one packet of the output.
type record struct {
	data     []byte // of the copy; nil once it is in the file
	n        int    // its length
	ordinal  int64  // of the packet, from 1, including those that were left out
	number   int64  // in its file
	file     int
	time     int64
	wireLen  int
	iface    int
	unit     *unit
	comments []string
	frames   []int64 // that the comments are about
	waits    *batch  // that may add one; nil without any
	at       int64   // of data in the file, once written
	fragment bool    // an IP fragment whose packet is not complete yet
	omitted  bool
	chunk    *chunk
	next     *record
	plain    bool // nothing but the window refers to it, and to its unit
	own      unit // that most have
}

// unit is a TCP segment in a packet, or in one that was reassembled from fragments.
type unit struct {
	dir      *direction
	data     []byte // of its packet; nil once that was written
	from, to int    // its payload: in open parts the original, until the packet is written
	open     []span // parts of the payload that no claim has replaced
	layers   []layer
	in       int
	rec      *record    // of its last fragment; else of its packet
	pieces   *fragments // nil if data is the record's
	seq      uint32
	done     bool // data is final except for the open parts, which are filler
	// The memory of open and layers of most units.
	one [1]span
	few [2]layer
}

// layer is a [packet.Layer] of a unit, less its In. An end that does not fit is after all bytes there can be.
type layer struct {
	kind          packet.LayerKind
	from, to, end int32
}

// fragments are those of a reassembled packet: where its data is in them, and the record of each.
type fragments struct {
	parts   []packet.Part
	sources []*record
}

// keepLayer adds a layer.
func (u *unit) keepLayer(l *packet.Layer) {
	u.layers = append(u.layers, layer{l.Kind, int32(l.From), int32(l.To), int32(min(l.End, math.MaxInt32))})
}

// appendLayers appends the layers to list.
func (u *unit) appendLayers(list []packet.Layer) []packet.Layer {
	for _, l := range u.layers {
		list = append(list, packet.Layer{Kind: l.kind, In: u.in, From: int(l.from), To: int(l.to), End: int(l.end)})
	}
	return list
}

// sumUnit sets the checksums of the headers in data.
func (r *Redactor) sumUnit(u *unit, again bool) {
	r.layers = u.appendLayers(r.layers[:0])
	r.addresses.checksums(u.data, r.layers, u.in, again)
}

// newRecord returns a record with the memory of one that was written, if there is one.
func (r *Redactor) newRecord() *record {
	k := len(r.free)
	if k == 0 {
		return new(record)
	}
	rec := r.free[k-1]
	r.free = r.free[:k-1]
	return rec
}

// reuse takes the memory of a record that was written, unless something else needs it.
func (r *Redactor) reuse(rec *record) {
	if rec.plain && rec.unit == nil && len(r.free) < maxFree {
		*rec = record{}
		r.free = append(r.free, rec)
	}
}

// maxFree bounds the records that are kept for other packets.
const maxFree = 1 << 10

func (u *unit) payload() []byte { return u.data[u.from:u.to] }

// chunk is memory for packets that is reused when none of them needs it.
type chunk struct {
	b    []byte
	used int
	refs int
}

// chunkSize is how many bytes are allocated at once.
const chunkSize = 1 << 20

// memory returns n bytes for a record, which may have any value.
func (r *Redactor) memory(rec *record, n int) []byte {
	c := r.chunk
	if c == nil || len(c.b)-c.used < n {
		if c != nil {
			r.unref(c)
		}
		c = nil
		if k := len(r.chunks); k > 0 && n <= chunkSize {
			c, r.chunks = r.chunks[k-1], r.chunks[:k-1]
			c.used = 0
		}
		if c == nil {
			c = &chunk{b: r.allocate(max(n, chunkSize))}
		}
		c.refs = 1
		r.chunk = c
	}
	b := c.b[c.used : c.used+n : c.used+n]
	c.used += n
	if rec.chunk == nil {
		rec.chunk = c
		c.refs++
	}
	return b
}

func (r *Redactor) unref(c *chunk) {
	if c.refs--; c.refs == 0 && len(c.b) == chunkSize && len(r.chunks) < 64 {
		r.chunks = append(r.chunks, c)
	}
}

// push puts a record at the end of the window.
func (r *Redactor) push(rec *record) {
	if r.tail == nil {
		r.front = rec
	} else {
		r.tail.next = rec
	}
	r.tail = rec
	r.held += cost(rec)
}

const recordCharge = 400

func cost(rec *record) int { return recordCharge + 2*rec.n }

// first returns the ordinal of the first packet that is not written.
func (r *Redactor) first() int64 {
	if r.front == nil {
		return r.ordinal
	}
	return r.front.ordinal
}

// flush writes the oldest packets until the window is no larger than limit.
func (r *Redactor) flush(limit int) {
	for r.front != nil && r.held > limit {
		rec := r.front
		r.held -= cost(rec)
		if r.front = rec.next; r.front == nil {
			r.tail = nil
		}
		rec.next = nil
		r.emit(rec)
		r.unref(rec.chunk)
		rec.chunk, rec.data = nil, nil
		r.reuse(rec)
	}
}

// emit writes one packet.
func (r *Redactor) emit(rec *record) {
	if rec.waits != nil {
		r.await(rec.waits)
		rec.waits = nil
	}
	if rec.fragment && r.now-rec.time > fragmentTime {
		r.omitFragment(rec, "fragment of no packet")
	}
	if rec.omitted {
		rec.unit = nil
		return
	}
	u, late := rec.unit, false
	first := u != nil && !u.done
	if first {
		late = r.finish(u)
	}
	r.sum.Packets++
	if first && u.pieces == nil {
		rec.at = r.out.packet(rec, u)
		u.data = nil
	} else {
		rec.at = r.out.packet(rec, nil)
	}
	rec.comments, rec.frames = nil, nil
	switch {
	case late:
		r.addLate(u, rec)
	case first:
		u.open, u.data = nil, nil
		r.forget(u.dir)
	}
	if u != nil && (len(u.open) == 0 || u.pieces == nil) {
		rec.unit = nil
	}
}

// fragmentTime is how long the fragments of a packet may take to arrive, in nanoseconds.
const fragmentTime = 31_000_000_000

// finish replaces the bytes of a unit as far as their claims are known when its first packet is written. The output does the rest of a unit
// without fragments. It reports whether there may be more claims.
func (r *Redactor) finish(u *unit) (late bool) {
	d := u.dir
	r.spans = append(r.spans[:0], u.open...)
	u.open = r.apply(d, u, r.spans, u.open[:0])
	for _, o := range u.open {
		r.filled += int64(o.to - o.from)
	}
	u.done = true
	if u.pieces != nil {
		for _, o := range u.open {
			b := u.payload()[o.from:o.to]
			r.filler.write(b, b, &d.at, d.framed, u.seq+uint32(o.from))
		}
		r.sumUnit(u, false)
		r.writeParts(u)
	}
	d.units--
	end := d.placeOf(u.seq) + int64(u.to-u.from)
	return len(u.open) > 0 && end > d.decided && d.conns > 0 && r.late.used < maxLate
}

// writeParts copies the bytes of a reassembled packet to its fragments.
func (r *Redactor) writeParts(u *unit) {
	if u.pieces == nil {
		return
	}
	for i, p := range u.pieces.parts {
		b := u.data[p.At : p.At+p.N]
		if rec := u.pieces.sources[i]; rec.data != nil {
			copy(rec.data[p.From:], b)
		} else if !rec.omitted {
			r.out.rewrite(b, rec.at+int64(p.From))
		}
	}
}
