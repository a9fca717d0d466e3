package assemble

import (
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/queue"
)

// A generation ends, and the next one starts, with
//   - a SYN with another initial sequence number, at once if the old generation has had a FIN or RST, or no payload;
//   - a SYN with the same number that is another packet (isOtherSYN), likewise, but only after payload;
//   - a segment with payload far from the old numbers, or where the old generation cannot have any (impossible), if both
//     ends sent a FIN or one a RST;
//   - otherwise two packets that agree. One packet alone is a suspect: it is put aside until another packet continues
//     where it ends, or acknowledges it. Then the suspect belongs to the connection after all, after a hole (its
//     acknowledgement number fits), or it is the first packet of a new generation. If the old generation continues
//     instead, or another suspect comes, the suspect was a stray: its bytes are handed on as late ones, which
//     have no place in the stream.
//
// So one wild segment neither makes a gap of 2 GB nor ends a live connection.

// suspect is a packet that may be the first of a new generation.
type suspect struct {
	c          *Connection
	side       int
	tag        uint32
	seg        packet.Segment // its payload is a copy
	origin     Origin
	oldPackets int  // packets of the old generation since the suspect came
	nearby     bool // its numbers are near the known ones, but impossible
	link       queue.Link[*suspect]
}

const (
	// agreeing is how far in bytes the packet that confirms a suspect may be from the end of the suspect.
	agreeing = 1 << 20
	// maxOldPackets is how many packets of the old generation make a suspect a stray.
	maxOldPackets = 16
	// maxSuspects limits the memory of suspects in bytes: their payload, and suspectCharge for each.
	maxSuspects   = 4 << 20
	suspectCharge = 256
)

// far reports whether seq is far from the known numbers of a side.
func (c *Connection) far(i int, seq uint32) bool {
	d := &c.sides[i]
	if !d.started || within(seq, d.next, near) {
		return false
	}
	if n := int32(seq - d.next); n <= -maxAhead || n >= maxAhead {
		return true
	}
	if d.ackSeen && within(seq, d.acked, near) {
		return false
	}
	if c.flow.hold != nil {
		if p := c.flow.hold.piles[i].pieces; len(p) > 0 && within(seq, p[len(p)-1].end(), near) {
			return false
		}
	}
	return true
}

// farAck reports whether the acknowledgement of a segment of side i is far from the known numbers of the other side.
func (c *Connection) farAck(i int, s *packet.Segment) bool {
	d := &c.sides[1-i]
	return s.Flags&packet.ACK != 0 && (d.started || d.ackSeen) &&
		!(d.started && within(s.Ack, d.next, near)) && !(d.ackSeen && within(s.Ack, d.acked, near))
}

// checkGeneration handles a packet that may be of another generation. It returns the connection of the packet, or nil
// if a new one must be opened, and whether the packet is to be processed.
func (a *Assembler) checkGeneration(c *Connection, i int, s *packet.Segment, o *Origin) (_ *Connection, wanted bool) {
	if p := a.suspect(c); p != nil && p.agrees(i, s) {
		c = a.confirmed(c, i, s)
		if i = c.side(s); c.far(i, s.Seq) {
			a.setSuspect(c, i, s, o) // its numbers contradict the old generation only
			return c, false
		}
		return c, true
	}
	switch {
	case s.Flags&packet.SYN != 0 && a.reused(c, i, s, o):
		if !c.Payload || c.state == closing || c.sides[0].fin || c.sides[1].fin {
			a.Ledger.Reused++
			a.Finish(c)
			return nil, true
		}
	case s.Flags&packet.SYN != 0 && c.sides[i].syn && c.sides[i].isn == s.Seq:
		return c, true // retransmitted or captured twice, however much data came in between
	case !c.far(i, s.Seq) && !c.impossible(i, s):
		if p := a.suspect(c); p != nil && s.Flags&packet.SYN == 0 {
			if p.oldPackets++; p.oldPackets == maxOldPackets {
				a.discardSuspect(c)
			}
		}
		return c, true
	case c.state == closing && s.PayloadLen > 0 && s.Flags&packet.RST == 0:
		a.Ledger.Reused++
		a.Finish(c)
		return nil, true
	}
	if s.Flags&packet.RST != 0 || c.state == closing {
		a.stray(s, o)
		return c, false
	}
	a.setSuspect(c, i, s, o)
	return c, false
}

// reused reports whether a SYN starts a new generation.
func (a *Assembler) reused(c *Connection, i int, s *packet.Segment, o *Origin) bool {
	d := &c.sides[i]
	switch {
	case d.syn && !d.guessed && d.isn == s.Seq:
		return a.isOtherSYN(c, i, s, o)
	case d.syn && !d.guessed:
		return true
	case d.started:
		if a.longClosed(c, o, sameIDTime) {
			return true
		}
		// Otherwise it was captured after the first data, which may also have been out of order.
		pos := c.flow.ways[i].pos
		first := d.next - uint32(pos)
		return pos > near || first-(s.Seq+1) > agreeing
	}
	return c.state == closing
}

// agrees reports whether a packet confirms the suspect: it continues or acknowledges the suspect and is not a copy of
// it. The initial number of a SYN may be near the numbers of the old generation (it grows with time), so data that
// continues from there proves nothing.
func (p *suspect) agrees(i int, s *packet.Segment) bool {
	if s.Flags&packet.RST != 0 {
		return false
	}
	end, syn := p.seg.Seq+uint32(p.seg.PayloadLen), p.seg.Flags&packet.SYN != 0
	if syn {
		end++
	}
	if i == p.side {
		if s.Seq == p.seg.Seq && s.PayloadLen == p.seg.PayloadLen && s.Ack == p.seg.Ack && s.Flags == p.seg.Flags {
			return false
		}
		switch {
		case p.nearby:
			return p.c.contradicts(i, s)
		case syn && p.repeats():
			return s.Seq == end && s.Flags&packet.SYN == 0
		case syn:
			return s.Seq-end <= agreeing && s.Seq != p.c.sides[i].next
		}
		return within(s.Seq, end, agreeing)
	}
	if s.Flags&packet.ACK == 0 {
		return false
	}
	if p.nearby {
		return p.c.contradicts(i, s)
	}
	if syn {
		if o := &p.c.sides[i]; p.repeats() && s.Flags&packet.SYN != 0 && o.syn && o.isn == s.Seq {
			return false // it may be the answer to the first SYN, retransmitted or captured twice
		}
		return s.Flags&packet.SYN != 0 && s.Ack-(p.seg.Seq+1) <= uint32(p.seg.PayloadLen) || s.Ack-end <= agreeing && p.c.farAck(i, s)
	}
	return within(s.Ack, end, agreeing)
}

// repeats reports whether the suspect is a SYN with the number of the first SYN.
func (p *suspect) repeats() bool {
	d := &p.c.sides[p.side]
	return p.seg.Flags&packet.SYN != 0 && d.syn && d.isn == p.seg.Seq
}

// confirmed handles a suspect that s confirms: the suspect belongs to the old generation, or it starts a new one. It
// returns the connection of the suspect.
func (a *Assembler) confirmed(c *Connection, i int, s *packet.Segment) *Connection {
	p := a.takeSuspect(c)
	if p.seg.Flags&packet.SYN == 0 && !p.nearby {
		n := int32(p.seg.Seq - c.sides[p.side].next)
		ahead := n > 0 && n < maxAhead
		if i == p.side {
			ahead = ahead && !c.farAck(p.side, &p.seg)
		} else {
			ahead = ahead && !c.far(i, s.Seq)
		}
		if !c.far(p.side, p.seg.Seq) || ahead {
			a.take(c, p.side, &p.seg, &p.origin)
			return c
		}
	}
	a.Ledger.Reused++
	a.end(c)
	fresh := a.start(p.tag, &p.seg, &p.origin)
	a.take(fresh, 0, &p.seg, &p.origin)
	return fresh
}

// setSuspect puts a packet aside. An earlier suspect of the connection becomes a stray.
func (a *Assembler) setSuspect(c *Connection, i int, s *packet.Segment, o *Origin) {
	if c.suspected {
		a.discardSuspect(c)
	}
	p := &suspect{c: c, side: i, tag: a.tagOf(c), seg: *s, origin: *o}
	p.nearby = s.Flags&packet.SYN == 0 && !c.far(i, s.Seq)
	p.seg.Payload = append([]byte(nil), s.Payload...)
	p.link.Of = p
	a.suspectOf[c], c.suspected = p, true
	a.suspects.Push(&p.link)
	a.suspectBytes += p.size()
	a.Ledger.Held += int64(s.PayloadLen)
	a.Ledger.HeldLink += int64(o.Overhead)
	for a.suspectBytes > maxSuspects {
		a.discardSuspect(a.suspects.First().c)
	}
}

// suspect returns the suspect of a connection, nil if there is none.
func (a *Assembler) suspect(c *Connection) *suspect {
	if !c.suspected {
		return nil
	}
	return a.suspectOf[c]
}

func (p *suspect) size() int { return len(p.seg.Payload) + suspectCharge }

// takeSuspect removes the suspect from its connection; the caller must count its bytes elsewhere.
func (a *Assembler) takeSuspect(c *Connection) *suspect {
	p := a.suspect(c)
	if p == nil {
		return nil
	}
	delete(a.suspectOf, c)
	c.suspected = false
	p.link.Remove()
	a.suspectBytes -= p.size()
	a.Ledger.Held -= int64(p.seg.PayloadLen)
	a.Ledger.HeldLink -= int64(p.origin.Overhead)
	return p
}

// discardSuspect makes the connection's suspect a stray.
func (a *Assembler) discardSuspect(c *Connection) {
	a.unplaced(c, a.takeSuspect(c))
}

// noPlace is the position of bytes that have none: before all others.
const noPlace = -1 << 40

// unplaced hands on the bytes of a suspect that has no place in the stream of its connection.
func (a *Assembler) unplaced(c *Connection, p *suspect) {
	s, o := &p.seg, &p.origin
	if s.PayloadLen == 0 {
		a.stray(s, o)
		return
	}
	if !c.Payload {
		a.firstPayload(c)
	}
	captured := int64(len(s.Payload))
	cut := int64(s.PayloadLen) - captured
	a.Ledger.Strays++
	a.Ledger.Unplaced += captured
	a.Ledger.Stream += captured
	a.Ledger.BeyondSnap += cut
	a.Ledger.Overhead += int64(o.Overhead)
	c.flow.ways[p.side].stream.Late(s.Payload, cut, &Meta{Time: o.Time, Packet: o.Packet, File: o.File, Pos: noPlace, Overhead: o.Overhead})
}

// stray counts a packet that belongs to no stream.
func (a *Assembler) stray(s *packet.Segment, o *Origin) {
	if s.PayloadLen == 0 {
		a.Ledger.EmptyLink += int64(o.Overhead)
		return
	}
	a.Ledger.Strays++
	a.Ledger.Stray += int64(s.PayloadLen)
	a.Ledger.StrayLink += int64(o.Overhead)
}

// start sets the initial sequence number of a side.
func (d *side) start(isn uint32) {
	if d.started {
		return
	}
	d.started, d.syn, d.isn, d.next = true, true, isn, isn+1
}

// acknowledge notes that the receiver of this side has all bytes before ack. An acknowledgement far ahead needs a
// second one that agrees.
func (d *side) acknowledge(c *Connection, ack uint32) {
	if !d.started && !c.Joined && !d.seen {
		// The SYN of this side was lost: its data starts where the first acknowledgement says.
		d.start(ack - 1)
		d.guessed = true
	}
	known := d.next
	if d.ackSeen {
		known = d.acked
	}
	n := int32(ack - known)
	if (d.ackSeen || d.started) && n > near {
		if n >= maxAhead || d.unconfirmedAck == 0 || d.unconfirmedAck == ack || !within(ack, d.unconfirmedAck, near) {
			d.unconfirmedAck = ack
			return
		}
	}
	if !d.ackSeen || n > 0 {
		d.acked, d.ackSeen = ack, true
	}
}
