package packet

import (
	"encoding/binary"
	"slices"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/queue"
)

// IP fragments (RFC 791, section 3.2; RFC 8200, section 4.5) are held until their packet is complete, in any order. The
// first copy of a byte wins. The captured part of the packet ends at the first byte that a snap length cut.
//
// If a capture has every packet twice (a port mirror, two interfaces), the copies make a second packet, so the
// assembler sees two copies of a segment, as it does without fragments.

// Limits of what is held. Abandoned TCP data becomes a gap in the stream, and is counted.
const (
	maxFragmentBytes = 4 << 20
	maxFragmentTime  = 30_000_000_000 // nanoseconds of capture time; Linux waits as long
	maxPieces        = 256            // per packet; regular packets have fewer than 120
	maxCopies        = 4              // per packet
	maxSpare         = 8              // released datagrams that are kept for reuse
	copiesApart      = 100_000_000    // nanoseconds between the fragments of copies
)

// Fragments counts link packets with IP fragments, and their link bytes.
type Fragments struct{ Packets, Bytes int64 }

func (f *Fragments) add(o Fragments) {
	f.Packets += o.Packets
	f.Bytes += o.Bytes
}

// fragmentKey identifies the packet that a fragment belongs to.
type fragmentKey struct {
	src, dst [16]byte
	id       uint32
	proto    uint8 // IPv4 only
	v6       bool
}

// piece is a part of a packet: the wire bytes [from, to), of which the first have bytes are in the buffer at at.
type piece struct{ from, to, at, have int }

// datagram is a packet of which some fragments have come.
type datagram struct {
	key        fragmentKey
	head       []byte  // IP header, without options and extensions
	next       uint8   // protocol of the first fragment's payload
	size       int     // wire bytes of the whole payload, -1 until the last fragment has come
	got        int     // wire bytes of pieces
	pieces     []piece // sorted, without overlap
	buf        []byte
	parts      []Part // of buf, if Layers is set
	held       Fragments
	padding    int       // of held
	born, last int64     // when its first and its latest fragment came
	seen       bool      // another copy of this packet was complete
	copy       *datagram // an older one with the same key
	age        queue.Link[*datagram]
	charged    int
}

// fragments holds the datagrams.
type fragments struct {
	open           map[fragmentKey]*datagram // the newest of each key
	byAge          queue.Queue[*datagram]
	bytes          int
	spare          []*datagram
	whole          []byte
	lost, repeated Fragments
	done           [64]fragmentKey // the last ones that were complete
	doneAt         int
}

// fragment is what an IP header says about a fragment.
type fragment struct {
	key      fragmentKey
	offset   int
	more     bool
	next     uint8 // protocol of the first fragment's payload
	from, to int   // its payload, as offsets in the link packet on the wire
	head     []byte
}

// Abandoned returns the fragments that were held and abandoned so far: fragments of packets that never became complete,
// and fragments that only repeat others.
func (d *Decoder) Abandoned() (lost, repeated Fragments) {
	if d.frags == nil {
		return lost, repeated
	}
	return d.frags.lost, d.frags.repeated
}

// Flush abandons all held fragments, at the end of the capture.
func (d *Decoder) Flush() {
	for d.frags != nil && !d.frags.byAge.Empty() {
		d.frags.abandon(d.frags.byAge.First())
	}
}

// Earlier returns the fragments for which Decode returned Held and that are now part of the last packet. The link bytes
// of that packet are its own and these. Segment.Extra is the same for TCP.
func (d *Decoder) Earlier() Fragments { return d.earlier }

// fragment4 takes a fragment whose IPv4 header is at data offset off.
func (d *Decoder) fragment4(p *capture.Packet, off, header, total int) Verdict {
	b := p.Data[off:]
	if !mayCarryTCP(b[9]) {
		return NotTCP
	}
	bits := binary.BigEndian.Uint16(b[6:])
	f := fragment{offset: int(bits&0x1fff) * 8, more: bits&0x2000 != 0, next: b[9], from: off + header, to: off + total, head: b[:20]}
	f.key.id, f.key.proto = uint32(binary.BigEndian.Uint16(b[4:])), b[9]
	copy(f.key.src[:], b[12:16])
	copy(f.key.dst[:], b[16:20])
	return d.hold(p, &f)
}

// fragment6 takes a fragment whose IPv6 header is at off and whose fragment header is at off+at. Extension headers
// before the fragment header belong to the fragment, and are left out of the whole packet.
func (d *Decoder) fragment6(p *capture.Packet, off, at, end int) Verdict {
	b := p.Data[off:]
	bits := binary.BigEndian.Uint16(b[at+2:])
	f := fragment{offset: int(bits &^ 7), more: bits&1 != 0, next: b[at], from: off + at + 8, to: end, head: b[:40]}
	f.key.id, f.key.v6 = binary.BigEndian.Uint32(b[at+4:]), true
	f.key.src, f.key.dst = [16]byte(b[8:24]), [16]byte(b[24:40])
	return d.hold(p, &f)
}

// hold takes a fragment. If the fragment completes its packet, the packet is parsed next.
func (d *Decoder) hold(p *capture.Packet, f *fragment) Verdict {
	n := f.to - f.from
	limit := 0xffff // largest payload of a whole packet
	if !f.key.v6 {
		limit -= len(f.head)
	}
	switch {
	case n <= 0, f.more && n%8 != 0, f.offset+n > limit:
		return Malformed
	case f.to > p.WireLen: // cut by a tool that did not keep the original length
		return Fragment
	}
	if p != &d.inner {
		d.begin(p)
	}
	if d.frags == nil {
		d.frags = &fragments{open: make(map[fragmentKey]*datagram)}
	}
	r := d.frags
	for !r.byAge.Empty() && p.Time-r.byAge.First().born > maxFragmentTime {
		r.abandon(r.byAge.First())
	}
	g := r.find(f, n, p.Time)
	if g == nil {
		return Fragment
	}
	if len(g.pieces) == 0 {
		g.born = p.Time
		g.head = append(g.head[:0], f.head...)
	}
	g.last = p.Time
	if f.offset == 0 {
		g.next = f.next
	}
	if !f.more {
		g.size = f.offset + n
	}
	captured := min(f.from, len(p.Data))
	g.insert(f.offset, p.Data[captured:min(f.to, len(p.Data))], n, d.Layers, captured)
	link := Fragments{1 + d.earlier.Packets, int64(d.outer) + d.earlier.Bytes}
	padding := d.trailing + p.WireLen - f.to
	if g.got != g.size {
		g.held.add(link)
		g.padding += padding
		r.charge(g)
		d.earlier = Fragments{}
		return Held
	}
	d.earlier.add(g.held)
	d.trailing = g.padding + padding
	captured = r.reassemble(g)
	if d.Layers != nil {
		d.Layers.joined(g, r.whole[:captured])
	}
	r.done[r.doneAt] = g.key
	r.doneAt = (r.doneAt + 1) % len(r.done)
	for c := r.open[g.key]; c != nil; c = c.copy {
		c.seen = true
	}
	r.remove(g)
	d.inner = capture.Packet{Data: r.whole[:captured], WireLen: len(g.head) + g.size, Time: p.Time}
	d.innerKind = ipType(g.head[0] >> 4)
	return inside
}

// find returns the datagram that lacks f, which is n bytes long, or a new one; nil if there are too many. Of several
// copies it is the most complete one, the newest of equal ones. An older one may be left from an earlier use of the
// identification, as may be one that got no fragment for a while.
func (r *fragments) find(f *fragment, n int, now int64) *datagram {
	copies := 0
	var best *datagram
	for g := r.open[f.key]; g != nil; g = g.copy {
		copies++
		if g.accepts(f, n) && (best == nil || now-g.last <= copiesApart && g.got > best.got) {
			best = g
		}
	}
	if best == nil && copies < maxCopies {
		best = r.add(f.key)
	}
	return best
}

// accepts reports whether f fits and brings new bytes.
func (g *datagram) accepts(f *fragment, n int) bool {
	end, last := f.offset+n, 0
	if len(g.pieces) > 0 {
		last = g.pieces[len(g.pieces)-1].to
	}
	if len(g.pieces) > maxPieces-2 ||
		!f.more && (g.size >= 0 && g.size != end || last > end) || f.more && g.size >= 0 && end > g.size {
		return false
	}
	missing := n
	for _, q := range g.pieces {
		if from, to := max(q.from, f.offset), min(q.to, end); from < to {
			missing -= to - from
		}
	}
	return missing > 0
}

// insert adds the missing parts of n wire bytes at that offset, of which data were captured. source is the position of
// data in what is being parsed, for layers if that is set.
func (g *datagram) insert(offset int, data []byte, n int, layers *Layers, source int) {
	for from, end := offset, offset+n; from < end; {
		i, to := 0, end
		for i < len(g.pieces) && g.pieces[i].to <= from {
			i++
		}
		if i < len(g.pieces) {
			if q := g.pieces[i]; q.from <= from {
				from = q.to
				continue
			}
			to = min(to, g.pieces[i].from)
		}
		if len(g.pieces) == maxPieces {
			return // the packet stays incomplete
		}
		part := data[min(from-offset, len(data)):min(to-offset, len(data))]
		at := len(g.buf)
		g.buf = append(g.buf, part...)
		if layers != nil {
			g.parts = layers.parts(g.parts, source+min(from-offset, len(data)), len(part), at)
		}
		g.got += to - from
		if i > 0 {
			if q := &g.pieces[i-1]; q.to == from && q.at+q.have == at && q.have == q.to-q.from {
				q.to, q.have = to, q.have+len(part) // in order, the usual case
				from = to
				continue
			}
		}
		g.pieces = slices.Insert(g.pieces, i, piece{from, to, at, len(part)})
		from = to
	}
}

// reassemble joins header and pieces in r.whole, and returns how many bytes of it were captured.
func (r *fragments) reassemble(g *datagram) int {
	w := append(r.whole[:0], g.head...)
	if g.key.v6 {
		binary.BigEndian.PutUint16(w[4:], uint16(g.size))
		w[6] = g.next
	} else {
		w[0] = 0x45
		binary.BigEndian.PutUint16(w[2:], uint16(g.size+20))
		w[6], w[7] = 0, 0
	}
	for _, q := range g.pieces {
		w = append(w, g.buf[q.at:q.at+q.have]...)
		if q.have < q.to-q.from {
			break
		}
	}
	r.whole = w
	return len(w)
}

// add starts a datagram, as the newest one of its key.
func (r *fragments) add(key fragmentKey) *datagram {
	var g *datagram
	if n := len(r.spare); n > 0 {
		g, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		g = new(datagram)
	}
	*g = datagram{key: key, head: g.head[:0], size: -1, pieces: g.pieces[:0], buf: g.buf[:0], parts: g.parts[:0], copy: r.open[key]}
	g.age.Of = g
	g.seen = slices.Contains(r.done[:], key)
	r.byAge.Push(&g.age)
	r.open[key] = g
	return g
}

// charge accounts for the memory of g, and abandons the oldest datagrams if there is too much.
func (r *fragments) charge(g *datagram) {
	n := 512 + cap(g.buf) + 32*cap(g.pieces)
	r.bytes += n - g.charged
	g.charged = n
	for r.bytes > maxFragmentBytes {
		r.abandon(r.byAge.First())
	}
}

// abandon gives up a datagram.
func (r *fragments) abandon(g *datagram) {
	if g.seen {
		r.repeated.add(g.held)
	} else {
		r.lost.add(g.held)
	}
	r.remove(g)
}

// remove removes a datagram from all lists.
func (r *fragments) remove(g *datagram) {
	if first := r.open[g.key]; first != g {
		for first.copy != g {
			first = first.copy
		}
		first.copy = g.copy
	} else if g.copy != nil {
		r.open[g.key] = g.copy
	} else {
		delete(r.open, g.key)
	}
	g.age.Remove()
	r.bytes -= g.charged
	g.copy = nil
	if len(r.spare) < maxSpare && cap(g.buf) <= 0x10000 {
		r.spare = append(r.spare, g)
	}
}
