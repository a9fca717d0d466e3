package assemble

import "sort"

// hold keeps a copy of n bytes at seq, which lie behind a hole. Parts held already are repeats.
func (a *Assembler) hold(c *Connection, d *side, seq uint32, n int, b []byte) {
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
		h := held{seq: seq, n: r, data: a.copy(captured), meta: a.meta}
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
	other := &c.sides[0]
	if other == d {
		other = &c.sides[1]
	}
	if d.ackedAtPacket == 0 && (after(d.acked, d.next) && d.ackSeen || !other.seen) {
		// Acknowledged, or a capture of one direction, where acknowledgements are never seen.
		a.wait(c, d)
	}
	for len(d.held) > 0 && (d.heldBytes > a.cfg.MaxHeldPerConnection || a.heldAll > a.cfg.MaxHeld) {
		a.giveUp(d)
	}
}

func (h *held) end() uint32 { return h.seq + uint32(h.n) }

// fill delivers n bytes at d.next while pieces are held, up to the first piece; the rest repeats or extends them.
func (a *Assembler) fill(d *side, seq uint32, n int, b []byte) {
	for n > 0 {
		if len(d.held) == 0 {
			a.deliver(d, n, b)
			return
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
	a.drain(d)
}

// drain delivers the held pieces that now follow without a hole.
func (a *Assembler) drain(d *side) {
	for len(d.held) > 0 && d.held[0].seq == d.next {
		a.release(d)
	}
	if len(d.held) == 0 {
		d.ackedAtPacket, d.ackedAtTime = 0, 0
	}
}

// release delivers the first held piece, which starts at d.next.
func (a *Assembler) release(d *side) {
	h := d.held[0]
	copy(d.held, d.held[1:])
	d.held[len(d.held)-1] = held{}
	d.held = d.held[:len(d.held)-1]
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

// giveUp turns the hole in front of the first held piece into a gap and delivers what follows.
func (a *Assembler) giveUp(d *side) {
	if len(d.held) == 0 {
		return
	}
	n := int64(d.held[0].seq - d.next)
	a.gap(d, n, d.held[0].meta)
	d.next = d.held[0].seq
	d.ackedAtPacket, d.ackedAtTime = 0, 0
	a.drain(d)
}

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
		due, open := false, false
		for i := range c.sides {
			d := &c.sides[i]
			if d.ackedAtPacket == 0 {
				continue
			}
			open = true
			if a.packets-d.ackedAtPacket >= a.cfg.GapPackets || a.now-d.ackedAtTime >= int64(a.cfg.GapTime) {
				due = true
				a.giveUp(d)
				if len(d.held) > 0 && (after(d.acked, d.next) || !d.ackSeen) {
					d.ackedAtPacket, d.ackedAtTime = a.packets, a.now
				}
			}
		}
		if open && !due && !c.ended {
			return
		}
		a.waiting[0] = nil
		a.waiting = a.waiting[1:]
		c.waiting = false
		for i := range c.sides {
			if c.sides[i].ackedAtPacket != 0 && !c.ended && !c.waiting {
				c.waiting = true
				a.waiting = append(a.waiting, c)
			}
		}
	}
}
