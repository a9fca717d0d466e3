package assemble

import "dubbo-wire/internal/capture/packet"

// What a side can and cannot have sent, by its sequence numbers and its SYN.
//
// Nothing comes before the first byte of a side whose SYN was captured, and nothing after its FIN (RFC 9293, 3.4 and
// 3.6): such a segment belongs to another generation, or to none. The start of a stream that was joined midway is not
// known (before_start.go).
//
// A SYN with the sequence number of the first SYN is the first one, retransmitted or captured twice. It is another
// packet if it comes from a side that has finished its handshake, or after the connection was closed.

// below returns how many bytes before the first byte of the side seq is; 0 or less if it is not before it.
func (c *Connection) below(i int, seq uint32) int64 {
	d := &c.sides[i]
	if !d.started {
		return 0
	}
	return int64(int32(d.next-seq)) - c.flow.ways[i].pos
}

// needsCheck reports whether a packet may belong to another generation.
func (c *Connection) needsCheck(i int, s *packet.Segment) bool {
	d := &c.sides[i]
	return s.Flags&packet.SYN != 0 || c.suspected || c.state == closing || d.fin || c.below(i, s.Seq) > 1 || c.far(i, s.Seq)
}

// impossible reports whether a segment has payload at a place where the side cannot have any.
func (c *Connection) impossible(i int, s *packet.Segment) bool {
	if s.PayloadLen == 0 || s.Flags&(packet.SYN|packet.RST) != 0 {
		return false
	}
	d, o := &c.sides[i], &c.sides[1-i]
	if b := c.below(i, s.Seq); b > 1 { // one byte: a keep-alive before the first data
		return d.syn && !d.guessed || c.state == closing && b > agreeing
	}
	end := s.Seq + uint32(s.PayloadLen)
	if d.fin {
		// A keep-alive after the FIN repeats its number. A FIN before known data is not trusted.
		return after(end, d.finSeq) && !after(d.next, d.finSeq) && (s.PayloadLen > 1 || s.Seq != d.finSeq)
	}
	// After a reset: it leaves a hole and acknowledges bytes that were never seen.
	return c.state == closing && d.started && after(s.Seq, d.next) && c.flow.hold == nil &&
		s.Flags&packet.ACK != 0 && o.started && after(s.Ack, o.next+1)
}

// contradicts reports whether a packet that is not a SYN has numbers that the connection cannot have.
func (c *Connection) contradicts(i int, s *packet.Segment) bool {
	if s.Flags&packet.SYN != 0 {
		return false
	}
	if c.impossible(i, s) || s.PayloadLen > 0 && c.far(i, s.Seq) {
		return true
	}
	o := &c.sides[1-i]
	return s.Flags&packet.ACK != 0 && o.started &&
		(o.syn && !o.guessed && c.below(1-i, s.Ack) > 0 || o.fin && after(s.Ack, o.finSeq+1) && !after(o.next, o.finSeq))
}

// synMarks identifies the packet with the first SYN of a connection, the SYN that answers no other.
type synMarks struct {
	id, sum uint16 // IPv4 identification, checksum
	from    uint32 // twice the place where it was captured, plus its side
}

func marksOf(i int, s *packet.Segment, o *Origin) synMarks {
	return synMarks{s.IPID, s.Checksum, sourceOf(s, o).place<<1 | uint32(i)}
}

// takeSYN processes the SYN of a side.
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

// isOtherSYN reports whether a SYN with the number of the first one is another packet. A SYN in another file counts as
// a copy, because the same packet may have other marks there. So do a SYN before any payload, which was retransmitted,
// a SYN that answers one, and a SYN of the other side.
func (a *Assembler) isOtherSYN(c *Connection, i int, s *packet.Segment, o *Origin) bool {
	m, first := marksOf(i, s, o), c.first
	if o.File != int(c.File) || !c.Payload || s.Flags&packet.ACK != 0 || (m.from^first.from)&1 != 0 {
		return false
	}
	samePlace := m.from == first.from
	// By the IPv4 identification, or without one by the checksum, which covers the timestamp. Checksums differ at other
	// places (offload).
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

// longClosed reports whether the connection was closed so long ago that no copies of its packets will come.
func (a *Assembler) longClosed(c *Connection, o *Origin, limit int64) bool {
	return c.state == closing && o.File == int(c.File) && !a.files.mixed && a.now-c.queued > limit
}
