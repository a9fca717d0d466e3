package redact

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/rpc"
)

// flow is the two ends of a direction: sequence numbers are those of a flow.
type flow struct{ src, dst packet.Endpoint }

// direction is one direction of the successive connections between two ends. Places are sequence numbers that do not wrap.
type direction struct {
	at     flow
	seq    uint32 // a sequence number
	claims []*claim
	place  int64 // of the sequence number seq
	// decided is the place before which no more claims come.
	decided int64
	// firstLate to lastLate are the units that were written before all of their claims were known, in the order of the file; 0 if there are
	// none. lateTo is the place after all that there were.
	lateTo              int64
	firstLate, lastLate int32
	applied             int32 // the number of the claim that was applied last
	conns               int32 // open connections
	units               int32 // whose packets are not written
	known               bool
	framed              bool // it has frames of a protocol
}

// claim is bytes of a stream and their replacement.
type claim struct {
	d                     *direction
	from, to              int64
	original, replacement []byte
	ordinal               int64 // of the packet that was taken last
	next                  *claim
	memory                *slab  // that has both; nil if they are in none
	job                   *batch // that has the replacement; nil if it is complete
	dropped               bool
	tentative             bool // valid only if no message owns the bytes
}

// connection is what is kept of an open connection.
type connection struct {
	dirs  [2]*direction
	start [2]uint32 // sequence number of the stream's first byte, where known
	pos   [2]int64  // of the bytes that were taken last, in the stream
	known [2]bool
	heads [2]*streamHead // nil without any
	begin [2]bool        // the start of the stream is claimed, or needs no claim
	// frames says that the connection had messages, so candidates no longer matter.
	frames bool
}

// placeOf returns the place of a sequence number.
func (d *direction) placeOf(seq uint32) int64 { return d.place + int64(int32(seq-d.seq)) }

func (r *Redactor) direction(at flow) *direction {
	d := r.dirs[at]
	if d == nil {
		d = &direction{at: at, decided: -1 << 62}
		r.dirs[at] = d
	}
	return d
}

// flow returns a keyed hash of the two ends of a direction.
func (a *keyed) flow(at *flow) uint64 {
	var b [36]byte
	copy(b[:], at.src.IP[:])
	copy(b[16:], at.dst.IP[:])
	binary.BigEndian.PutUint16(b[32:], at.src.Port)
	binary.BigEndian.PutUint16(b[34:], at.dst.Port)
	h := a.prf(kindFlow, 0, b[:16])
	for _, part := range [2][]byte{b[16:32], b[32:]} {
		var in [16]byte
		copy(in[:], part)
		for i := range in {
			in[i] ^= h[i]
		}
		h = a.prf(kindFlow, 1, in[:])
	}
	return binary.LittleEndian.Uint64(h[:])
}

// forget forgets a direction that is no longer needed.
func (r *Redactor) forget(d *direction) {
	if d.conns == 0 && d.units == 0 && len(d.claims) == 0 && d.firstLate == 0 && r.dirs[d.at] == d {
		delete(r.dirs, d.at)
	}
}

// connection returns what is kept of c.
func (r *Redactor) connection(c *assemble.Connection) *connection {
	k := r.conns[uint64(c.First)]
	if k == nil {
		k = new(connection)
		for i := range k.dirs {
			d := r.direction(flow{c.Ends[i], c.Ends[1-i]})
			d.conns++
			k.dirs[i] = d
		}
		r.conns[uint64(c.First)] = k
	}
	return k
}

// Data takes the next bytes of a stream, for [pipeline.StreamTap].
func (r *Redactor) Data(c *assemble.Connection, side int, b []byte, m *assemble.Meta) {
	k := r.connection(c)
	d := k.dirs[side]
	if !k.known[side] {
		k.known[side], k.start[side] = true, m.Seq-uint32(m.Pos)
		r.begin(d, m.Seq)
	}
	d.place, d.seq = d.placeOf(m.Seq), m.Seq
	k.pos[side] = m.Pos
	if !k.begin[side] {
		h := k.heads[side]
		if h == nil && r.begins(b) {
			k.begin[side] = true
		} else {
			if h == nil {
				h = new(streamHead)
			}
			k.heads[side] = h
			if h.take(r, d, b, m.Seq) {
				k.heads[side], k.begin[side] = nil, true
			}
		}
	}
	for i := range r.starts {
		p := &r.starts[i]
		if !c.Joined && m.Pos == 0 && bytes.HasPrefix(b, p.Magic) {
			r.keepStart(d, m.Seq, b[:min(len(b), p.HeaderLen)], p.HeaderLen, p.HeaderLen)
		} else if !k.frames {
			r.keepCandidates(d, m.Seq, b, p)
		}
	}
}

// begun is called before the first claim of a message of a direction, or of what its protocol needs.
func (k *connection) begun(r *Redactor, side int) {
	k.frames = true
	if h := k.heads[side]; h != nil && len(h.parts) > 0 {
		h.end(r, k.dirs[side]) // a later claim would replace the message's
		k.heads[side], k.begin[side] = nil, true
	}
}

// Framing takes bytes of no message that the protocol needs, for [pipeline.StreamTap].
func (r *Redactor) Framing(c *assemble.Connection, side int, m *rpc.Message) {
	k := r.conns[uint64(c.First)]
	if k == nil || !k.known[side] {
		return
	}
	k.begun(r, side)
	k.dirs[side].framed = true
	n := len(m.Head)
	both := append(make([]byte, 0, 2*n), m.Head...)
	r.split(k, side, m.Pieces, n, r.scrubber.Head(both, m), nil)
	r.claimRuns(k, side, nil)
}

// split sets r.runs to those of the pieces of a message whose head has so many bytes. both is the message, and after it its replacement, which c is
// to write unless it is nil. It comes before all claims of the message, which may wait for c.
func (r *Redactor) split(k *connection, side int, pieces []rpc.Piece, head int, both []byte, c *copied) {
	if c != nil {
		c.pieces = append(c.pieces, pieces...)
		pieces = c.pieces
	}
	original, replacement := both[:len(both)/2], both[len(both)/2:]
	for i := 0; i < len(pieces); {
		x := run{from: pieces[i].From}
		first, to := i, x.from
		for i < len(pieces) && pieces[i].From == to {
			to += int64(pieces[i].Len)
			i++
		}
		if k.pos[side]-x.from > maxBack {
			continue
		}
		n := int(to - x.from)
		x.pieces = pieces[first:i]
		x.original, x.memory = r.room(2 * n)
		x.copy = x.original[n : n : 2*n]
		x.original = x.append(x.original, original, head)[:n:n]
		if c == nil {
			x.append(x.copy, replacement, head)
		}
		r.runs = append(r.runs, x)
	}
	if c != nil {
		c.runs = append(c.runs, r.runs...)
	}
}

// claimRuns claims the bytes of r.runs, whose replacement job has, or which have it.
func (r *Redactor) claimRuns(k *connection, side int, job *batch) {
	for i := range r.runs {
		x := &r.runs[i]
		r.claim(k.dirs[side], k.start[side]+uint32(x.from), x.original, x.copy[:len(x.original)], x.memory, job)
	}
	r.runs = emptied(r.runs)
}

// maxBack bounds how far a claim may lie behind the bytes that were taken last: sequence numbers wrap.
const maxBack = 1 << 30

// starts finds where messages of a protocol may begin.
type starts struct {
	*rpc.Protocol
	mayBegin func(b []byte) (n int, may bool)
}

// keepCandidates keeps what may begin a message, in a connection without messages so far: the header, and as few bytes of the
// body as are needed to recognise it.
func (r *Redactor) keepCandidates(d *direction, seq uint32, b []byte, p *starts) {
	for at := bytes.Index(b, p.Magic); at >= 0; {
		n, may := p.mayBegin(b[at:])
		if may {
			is := make([]byte, n)
			for kept := p.HeaderLen; kept <= min(n, p.HeaderLen+maxStart); kept++ {
				copy(is, b[at:at+kept])
				r.filler.write(is[kept:], b[at+kept:at+n], &d.at, d.framed, seq+uint32(at+kept))
				if _, may := p.mayBegin(is); may {
					r.keepStart(d, seq+uint32(at), b[at:at+n], kept, p.HeaderLen)
					break
				}
			}
		}
		next := bytes.Index(b[at+len(p.Magic):], p.Magic)
		if next < 0 {
			return
		}
		at += len(p.Magic) + next
	}
}

// maxStart is how many bytes of a body are needed to recognise it at most: a length and the number of a version.
const maxStart = 8

// keepStart claims that the first bytes of b stay and the others become filler.
func (r *Redactor) keepStart(d *direction, seq uint32, b []byte, kept, header int) {
	both := append(make([]byte, 0, 2*len(b)), b...)
	both = append(both, b...)
	kept = min(kept, len(b))
	r.filler.write(both[len(b)+kept:], b[kept:], &d.at, d.framed, seq+uint32(kept))
	r.claim(d, seq, both[:len(b):len(b)], both[len(b):], nil, nil).tentative = len(b) > header
}

// begin starts another stream in a direction, whose first byte is at seq, and drops the claims of the one before. The packets of that one
// are written before; the last packet of the window has the first byte of this one.
func (r *Redactor) begin(d *direction, seq uint32) {
	if d.known && d.units > 1 && len(d.claims) > 0 {
		r.flush(cost(r.tail))
	}
	for _, c := range d.claims {
		c.dropped = true
	}
	d.claims = nil
	if !d.known {
		d.known, d.seq, d.place = true, seq, 1<<32
	} else {
		d.place = d.placeOf(seq) + 1<<33 // after all places of the stream before
		d.seq = seq
	}
	d.decided = d.place
}

// Decided says that no further message owns bytes of a stream before pos.
func (r *Redactor) Decided(c *assemble.Connection, side int, pos int64) {
	k := r.conns[uint64(c.First)]
	if k == nil || !k.known[side] {
		return
	}
	d := k.dirs[side]
	seq := k.start[side] + uint32(pos)
	if h := k.heads[side]; h != nil {
		seq = h.from()
	}
	d.decided = max(d.decided, d.placeOf(seq))
	r.settle(d)
}

// Ended takes the end of a connection.
func (r *Redactor) Ended(c *assemble.Connection) {
	k := r.conns[uint64(c.First)]
	if k == nil {
		return
	}
	delete(r.conns, uint64(c.First))
	for i, d := range k.dirs {
		if h := k.heads[i]; h != nil {
			h.end(r, d)
		}
		if d.conns--; d.conns == 0 {
			d.decided = math.MaxInt64 // until another stream begins
			r.settle(d)
		}
		r.forget(d)
	}
}

// claim says that the bytes original of a direction, from sequence number seq on, become replacement. It keeps both.
// They are in memory, which may be nil, and which it releases. job is what writes the replacement, nil if it is complete.
func (r *Redactor) claim(d *direction, seq uint32, original, replacement []byte, memory *slab, job *batch) *claim {
	from := d.placeOf(seq)
	c := &claim{d: d, from: from, to: from + int64(len(original)), original: original, replacement: replacement, memory: memory, job: job}
	i := d.search(from, len(d.claims))
	j := i
	for ; j < len(d.claims) && d.claims[j].from < c.to; j++ { // the later claim wins
		last := d.claims[j]
		if last.to > c.to {
			rest := last.part(c.to, last.to)
			if rest.memory != nil {
				rest.memory.refs++
			}
			r.keepClaim(rest)
			d.claims = slices.Insert(d.claims, j+1, rest)
		}
		if last.from < from {
			kept := last.part(last.from, from)
			r.claimed -= int64(2 * (last.to - from))
			last.original, last.replacement, last.to = kept.original, kept.replacement, from
			i++
			continue
		}
		last.dropped = true
	}
	d.claims = slices.Replace(d.claims, i, j, c)
	r.keepClaim(c)
	r.rewrite(d, c)
	for r.claimed > int64(r.opt.Memory) && r.oldest != r.newest && r.oldest.ordinal < r.first() {
		o := r.oldest
		r.oldest = o.next
		r.claimed -= int64(2 * len(o.original))
		if o.job != nil {
			r.await(o.job) // which writes to the memory
		}
		r.release(o.memory)
		if !o.dropped {
			o.dropped = true
			all := o.d.claims
			if i := o.d.search(o.from, 0); i == 0 {
				all[0] = nil
				o.d.claims = all[1:]
			} else {
				o.d.claims = slices.Delete(all, i, i+1)
			}
			r.forget(o.d)
		}
	}
	return c
}

// search returns the number of the first claim that ends after from. It looks near a number first: a search among all of them has to load many.
func (d *direction) search(from int64, near int) int {
	for i := max(0, near-1); i < min(near+2, len(d.claims)); i++ {
		if d.claims[i].to > from && (i == 0 || d.claims[i-1].to <= from) {
			return i
		}
	}
	if k := len(d.claims); near >= k && (k == 0 || d.claims[k-1].to <= from) {
		return k
	}
	return sort.Search(len(d.claims), func(i int) bool { return d.claims[i].to > from })
}

// keepClaim adds a claim to those that are kept.
func (r *Redactor) keepClaim(c *claim) {
	c.ordinal = r.ordinal + 1
	if r.newest == nil {
		r.oldest = c
	} else {
		r.newest.next = c
	}
	r.newest = c
	r.claimed += int64(2 * len(c.original))
}

// part returns a claim of the bytes from from to to, which are some of those of c.
func (c *claim) part(from, to int64) *claim {
	return &claim{
		d: c.d, from: from, to: to, original: c.original[from-c.from : to-c.from], replacement: c.replacement[from-c.from : to-c.from],
		tentative: c.tentative, memory: c.memory, job: c.job,
	}
}

// span is the bytes of a payload from from to before to.
type span struct{ from, to int }

// apply replaces the claimed bytes of the open parts of a unit, and appends what stays open to rest.
func (r *Redactor) apply(d *direction, u *unit, open []span, rest []span) []span {
	start := d.placeOf(u.seq)
	for _, o := range open {
		at := o.from
		from := start + int64(o.from)
		i := d.search(from, int(d.applied))
		d.applied = int32(i)
		for ; i < len(d.claims) && at < o.to; i++ {
			c := d.claims[i]
			lo, hi := max(int(c.from-start), at), min(int(c.to-start), o.to)
			if c.from-start >= int64(o.to) || lo >= hi {
				break
			}
			if c.tentative && c.to > d.decided {
				continue
			}
			if lo > at {
				rest = append(rest, span{at, lo})
			}
			if c.job != nil {
				r.await(c.job)
				c.job = nil
			}
			u.put(lo, c.original[start+int64(lo)-c.from:start+int64(hi)-c.from], c.replacement[start+int64(lo)-c.from:])
			at = hi
		}
		if at < o.to {
			rest = append(rest, span{at, o.to})
		}
	}
	return rest
}

// put writes claimed bytes to a payload, from at on. Bytes that differ from the claimed ones get replacements that differ, too.
func (u *unit) put(at int, original, replacement []byte) {
	dst := u.payload()[at : at+len(original)]
	if u.done || bytes.Equal(dst, original) {
		copy(dst, replacement)
		return
	}
	for i, c := range dst {
		dst[i] = replacement[i]
		if c != original[i] {
			dst[i] = controls[(c+c>>4)&15]
			if dst[i] == replacement[i] {
				dst[i] = controls[(c+c>>4+1)&15]
			}
		}
	}
}
