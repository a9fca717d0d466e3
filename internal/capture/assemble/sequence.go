package assemble

import "dubbo-wire/internal/capture/packet"

// What a side can and cannot have sent, by its sequence numbers and by its SYN.
//
// Nothing lies before the first byte of a side whose SYN was captured, and nothing behind its FIN (RFC 9293, 3.4 and
// 3.6): such a segment is of another generation, or of none. Of a stream that was joined midway
// the start is not known (late.go).
//
// A SYN with the number of the first one is that one, sent or captured again; but not from a side that is past its
// handshake, or when the connection was closed, and it is another packet.

// below is how far seq lies before the first byte of the side, in bytes; 0 or less: it does not.
func (d *side) below(seq uint32) int64 {
	if !d.started {
		return 0
	}
	return int64(int32(d.next-seq)) - d.pos
}

// odd reports whether a packet needs a look before it is taken.
func (c *Connection) needsCheck(i int, s *packet.Segment) bool {
	d := &c.sides[i]
	return s.Flags&packet.SYN != 0 || c.suspect != nil || c.state == closing || d.fin || d.below(s.Seq) > 1 || c.far(i, s.Seq)
}

// impossible reports whether a segment has payload where the side can have none.
func (c *Connection) impossible(i int, s *packet.Segment) bool {
	if s.PayloadLen == 0 || s.Flags&(packet.SYN|packet.RST) != 0 {
		return false
	}
	d, o := &c.sides[i], &c.sides[1-i]
	if b := d.below(s.Seq); b > 1 { // one byte: a keep-alive before the first data
		return d.syn && !d.guessed || c.state == closing && b > agreeing
	}
	end := s.Seq + uint32(s.PayloadLen)
	if d.fin {
		// A keep-alive behind the FIN repeats its number, and a FIN that lies before known data is not to be believed.
		return after(end, d.finSeq) && !after(d.next, d.finSeq) && (s.PayloadLen > 1 || s.Seq != d.finSeq)
	}
	// Behind a reset: it leaves a hole, and acknowledges what was never seen.
	return c.state == closing && d.started && after(s.Seq, d.next) && c.hold == nil &&
		s.Flags&packet.ACK != 0 && o.started && after(s.Ack, o.next+1)
}

// strange reports whether a packet that is no SYN has numbers that cannot be those of the connection.
func (c *Connection) contradicts(i int, s *packet.Segment) bool {
	if s.Flags&packet.SYN != 0 {
		return false
	}
	if c.impossible(i, s) || s.PayloadLen > 0 && c.far(i, s.Seq) {
		return true
	}
	o := &c.sides[1-i]
	return s.Flags&packet.ACK != 0 && o.started &&
		(o.syn && !o.guessed && o.below(s.Ack) > 0 || o.fin && after(s.Ack, o.finSeq+1) && !after(o.next, o.finSeq))
}

// synMarks is which packet the first SYN of a connection was that answers none.
type synMarks struct {
	id, sum uint16 // IPv4 identification, checksum
	from    uint32 // twice its place, and its side
}

func marksOf(i int, s *packet.Segment, o *Origin) synMarks {
	return synMarks{s.IPID, s.Checksum, sourceOf(s, o).place<<1 | uint32(i)}
}

// takeSYN takes the SYN of a side.
func (c *Connection) takeSYN(i int, s *packet.Segment, o *Origin) {
	d := &c.sides[i]
	if s.Flags&packet.ACK == 0 && c.first == (synMarks{}) {
		c.first = marksOf(i, s, o)
	}
	if d.syn && d.isn == s.Seq {
		d.guessed = false
	}
	d.start(s.Seq)
}

// another reports whether a SYN with the number of the first is none of its copies. What another file has is taken for a
// copy: the same packet may have other marks there. So is a SYN without payload of the side behind it, which was sent
// again, and a SYN that answers one, which may be.
func (a *Assembler) isOtherSYN(c *Connection, i int, s *packet.Segment, o *Origin) bool {
	m, first := marksOf(i, s, o), c.first
	if o.File != c.File || !c.Payload || s.Flags&packet.ACK != 0 || (m.from^first.from)&1 != 0 {
		return false
	}
	samePlace := m.from == first.from
	// By its identification; where there is none, by its checksum, which covers its timestamp. Other places see other
	// checksums (offload).
	other := m.id != 0 && first.id != 0 && m.id != first.id || m.id == 0 && first.id == 0 && m.sum != first.sum && samePlace
	if c.state != closing {
		return other && c.sides[i].pastHandshake
	}
	limit := sameIDTime
	if s.IPID == 0 {
		limit = noIDTime
	}
	return other || samePlace && a.longClosed(c, o, limit)
}

// longClosed reports whether the connection was closed so long ago that no copy of its packets is to come.
func (a *Assembler) longClosed(c *Connection, o *Origin, limit int64) bool {
	return c.state == closing && o.File == c.File && !a.files.mixed && a.now-c.queued > limit
}
