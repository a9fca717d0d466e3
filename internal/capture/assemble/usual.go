package assemble

import "dubbo-wire/internal/capture/packet"

// usual processes the usual segment in a fifth of the instructions, and reports whether it was one: it has an acknowledgement and no
// other flags that matter, its bytes are the next ones of an open connection that holds nothing, and what it acknowledges is known. For
// such a segment needsCheck, below, far and missesBefore are false, and take does no more than this.
func (a *Assembler) usual(c *Connection, i int, s *packet.Segment, o *Origin) bool {
	d, other, f := &c.sides[i], &c.sides[1-i], c.flow
	newAcks := int32(s.Ack - other.acked)
	if s.Flags&(packet.SYN|packet.FIN|packet.RST|packet.ACK) != packet.ACK || s.Seq != d.next || c.state != open || f.hold != nil || c.suspected ||
		!d.started || d.fin || !other.ackSeen || newAcks > near || len(s.Payload) != s.PayloadLen ||
		s.PayloadLen > 0 && int32(s.Ack-other.next) > 0 {
		return false
	}
	d.seen, d.pastHandshake = true, true
	c.seen = a.now
	c.Link += int64(o.Overhead + s.PayloadLen)
	if newAcks > 0 {
		other.acked = s.Ack
	}
	if s.PayloadLen == 0 {
		a.Ledger.EmptyLink += int64(o.Overhead)
		return true
	}
	m, w := &a.meta, &f.ways[i]
	m.Time, m.Packet, m.File, m.Overhead, m.Pos, m.Seq = o.Time, o.Packet, o.File, o.Overhead, w.pos, d.next
	a.Ledger.Overhead += int64(o.Overhead)
	a.Ledger.Stream += int64(s.PayloadLen)
	w.pos += int64(s.PayloadLen)
	d.next += uint32(s.PayloadLen)
	w.source = sourceOf(s, o)
	w.stream.Data(s.Payload, m)
	a.remember(c, i, s, o, w.source, true)
	return true
}
