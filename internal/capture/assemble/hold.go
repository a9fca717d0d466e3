package assemble

import "sort"

// hold keeps a copy of n bytes at seq sent by side i, which lie behind a hole or came before what they acknowledge.
// Parts held already are repeats.
func (a *Assembler) hold(c *Connection, i int, seq uint32, n int, b []byte) {
	d, other := &c.sides[i], &c.sides[1-i]
	end := seq + uint32(n)
	// The first held piece that ends behind seq; in the usual case seq lies behind all.
	k := len(d.held)
	if k > 0 && after(d.held[k-1].end(), seq) {
		k = sort.Search(len(d.held), func(i int) bool { return after(d.held[i].end(), seq) })
	}
	for seq != end {
		if k < len(d.held) && !after(d.held[k].seq, seq) { // overlaps piece k
			h := &d.held[k]
			r := int(min(h.end()-seq, end-seq))
			h.again += r + a.meta.Overhead
			a.meta.Overhead = 0
			a.Ledger.Repeated += int64(r)
			seq += uint32(r)
			b = b[min(r, len(b)):]
			k++
			continue
		}
		r := int(end - seq)
		if k < len(d.held) && after(end, d.held[k].seq) {
			r = int(d.held[k].seq - seq)
		}
		captured := b[:min(r, len(b))]
		h := held{seq: seq, n: r, data: a.copy(captured), meta: a.meta, ack: a.ack, acks: a.acks, packet: a.packets}
		a.meta.Overhead = 0
		d.held = append(d.held, held{})
		copy(d.held[k+1:], d.held[k:])
		d.held[k] = h
		d.heldBytes += r
		a.heldAll += r
		seq += uint32(r)
		b = b[len(captured):]
		k++
	}
	if d.ackedAtPacket == 0 && (d.held[0].seq == d.next || after(d.acked, d.next) && d.ackSeen || !other.seen) {
		// Early, or acknowledged, or a capture of one direction, where acknowledgements are never seen.
		a.wait(c, d)
	}
	for c.holds() && (d.heldBytes > a.cfg.MaxHeldPerConnection || a.heldAll > a.cfg.MaxHeld) {
		a.giveUp(c, c.first())
	}
}

// holds reports whether bytes of the connection are held.
func (c *Connection) holds() bool { return len(c.sides[0].held)+len(c.sides[1].held) > 0 }

// first returns the side whose first held piece was captured first; there is one.
func (c *Connection) first() int {
	x, y := c.sides[0].held, c.sides[1].held
	if len(x) == 0 || len(y) > 0 && y[0].packet < x[0].packet {
		return 1
	}
	return 0
}

func (h *held) end() uint32 { return h.seq + uint32(h.n) }

// fill delivers n bytes of side i at its next place while pieces are held behind a hole, up to the first piece; the
// rest repeats or extends them.
func (a *Assembler) fill(c *Connection, i, n int, b []byte) {
	d := &c.sides[i]
	for n > 0 {
		if len(d.held) == 0 {
			a.deliver(d, n, b)
			break
		}
		h := &d.held[0]
		if room := int(h.seq - d.next); room > 0 {
			r := min(room, n)
			captured := b[:min(r, len(b))]
			a.deliver(d, r, captured)
			n, b = n-r, b[len(captured):]
			if r < room {
				return
			}
			continue
		}
		r := min(h.n, n)
		h.again += r + a.meta.Overhead
		a.meta.Overhead = 0
		a.Ledger.Repeated += int64(r)
		n, b = n-r, b[min(r, len(b)):]
		a.release(d)
	}
	a.drain(c)
}

// drain delivers the held pieces that now follow without a hole and do not come before what they acknowledge.
func (a *Assembler) drain(c *Connection) {
	for more := true; more; {
		more = false
		for i := range c.sides {
			d, other := &c.sides[i], &c.sides[1-i]
			for len(d.held) > 0 && d.held[0].seq == d.next && !(d.held[0].acks && other.lacks(d.held[0].ack)) {
				a.release(d)
				more = true
				d.ackedAtPacket = 0
			}
		}
	}
	for i := range c.sides {
		d, other := &c.sides[i], &c.sides[1-i]
		if len(d.held) == 0 || d.ackedAtPacket != 0 {
			continue
		}
		// What comes next was due as early as it came: its hole, or what it waits for, lies before that.
		if h := &d.held[0]; h.seq == d.next || after(d.acked, d.next) && d.ackSeen || !other.seen {
			a.wait(c, d)
			d.ackedAtPacket, d.ackedAtTime = h.packet, h.meta.Time
		}
	}
}

// release delivers the first held piece, which starts at d.next.
func (a *Assembler) release(d *side) {
	h := d.held[0]
	d.held[0] = held{}
	if d.held = d.held[1:]; len(d.held) == 0 {
		d.held = nil // moving what is left to the front of its memory would cost more than new memory
	}
	d.heldBytes -= h.n
	a.heldAll -= h.n
	saved := a.meta
	a.meta = h.meta
	pos := d.pos
	a.deliver(d, h.n, h.data)
	if h.again > 0 {
		a.meta = h.meta
		a.meta.Pos, a.meta.Overhead = pos, h.again
		d.stream.Repeat(0, &a.meta)
	}
	a.meta = saved
	if cap(h.data) <= 4096 && len(a.free) < 1024 { // a few MB at most
		a.free = append(a.free, h.data[:0])
	}
}

// copy returns a copy of b in memory that is used again.
func (a *Assembler) copy(b []byte) []byte {
	if k := len(a.free) - 1; k >= 0 && cap(a.free[k]) >= len(b) && len(b) > 0 {
		m := a.free[k]
		a.free = a.free[:k]
		return append(m, b...)
	}
	return append(make([]byte, 0, max(len(b), 1500)), b...)
}

// giveUp turns the hole in front of side i's first held piece into a gap, and delivers what follows. Where that piece
// waits for the other side, it is the other side's hole, or missing end, that was acknowledged and is given up.
func (a *Assembler) giveUp(c *Connection, i int) {
	d, other := &c.sides[i], &c.sides[1-i]
	h := &d.held[0]
	if h.seq == d.next {
		if len(other.held) == 0 || other.held[0].seq == other.next {
			a.giveUpEnd(other, h.ack, h.meta)
			a.drain(c)
			return
		}
		d, h = other, &other.held[0]
	}
	a.gap(d, int64(h.seq-d.next), h.meta)
	d.next = h.seq
	d.ackedAtPacket, d.ackedAtTime = 0, 0
	a.drain(c)
}

// giveUpEnd gives up waiting for the bytes of a side before ack.
func (a *Assembler) giveUpEnd(d *side, ack uint32, m Meta) {
	d.waived, d.isWaived = ack, true
	if d.fin && after(ack, d.finSeq) {
		ack = d.finSeq
	}
	if n := int32(ack - d.next); n > 1 && n <= maxEnd && len(d.held) == 0 { // one byte may be a FIN
		a.gap(d, int64(n), m)
		d.next = ack
	}
}

// maxEnd is how much may be missing at the end of what was captured of a side, in bytes; an acknowledgement further
// ahead says nothing.
const maxEnd = 16 << 20

// gap tells the stream that n bytes at d.pos were never captured.
func (a *Assembler) gap(d *side, n int64, m Meta) {
	a.Ledger.Gaps++
	a.Ledger.GapBytes += n
	m.Pos, m.Overhead = d.pos, 0
	d.pos += n
	d.stream.Gap(n, 0, &m)
}

// giveUpOld gives up the holes whose time has come. They stand in the order in which they were acknowledged.
func (a *Assembler) giveUpOld() {
	for len(a.waiting) > 0 {
		c := a.waiting[0]
		for c.holds() {
			i := c.first()
			if !a.due(&c.sides[i]) {
				if i = 1 - i; !a.due(&c.sides[i]) {
					break
				}
			}
			a.giveUp(c, i)
		}
		if open := c.sides[0].ackedAtPacket != 0 || c.sides[1].ackedAtPacket != 0; open && !c.ended {
			return
		}
		a.waiting[0] = nil
		a.waiting = a.waiting[1:]
		c.waiting = false
	}
}

// due reports whether the first held piece of a side has waited long enough.
func (a *Assembler) due(d *side) bool {
	return len(d.held) > 0 && d.ackedAtPacket != 0 &&
		(a.packets-d.ackedAtPacket >= a.cfg.GapPackets || a.now-d.ackedAtTime >= int64(a.cfg.GapTime))
}
