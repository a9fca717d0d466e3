package assemble

import (
	"bytes"

	"dubbo-wire/internal/capture/packet"
)

// lookup finds the connection of a segment, or opens one, and says which side sent it.
func (a *Assembler) lookup(s *packet.Segment, file int) (c *Connection, side int) {
	slot := &a.recent[(uint(s.Src.Port)*31^uint(s.Dst.Port)*31^uint(s.Src.IP[15])^uint(s.Dst.IP[15]))%uint(len(a.recent))]
	if c = *slot; c != nil {
		switch {
		case a.cfg.Apart && c.File != file:
			c = nil
		case c.Ends[0] == s.Src && c.Ends[1] == s.Dst:
			side = 0
		case c.Ends[1] == s.Src && c.Ends[0] == s.Dst:
			side = 1
		default:
			c = nil
		}
	}
	var key flowKey
	if c == nil {
		key = a.keyOf(s, file)
		if c = a.flows[key]; c != nil && c.Ends[0] != s.Src {
			side = 1
		}
	}
	if c != nil && (s.Flags&packet.SYN != 0 && c.reused(side, s.Seq) || c.closed && s.PayloadLen > 0 && c.sides[side].foreign(s.Seq)) {
		a.end(c)
		delete(a.flows, c.key)
		key = c.key
		c = nil
	}
	if c == nil {
		c, side = a.open(key, s, file), 0
	}
	*slot = c
	return c, side
}

// reused reports whether a SYN with initial sequence number isn, sent by that side, starts a new generation. A SYN that
// was sent again has the same number.
func (c *Connection) reused(side int, isn uint32) bool {
	d := &c.sides[side]
	switch {
	case d.syn:
		return d.isn != isn
	case d.started:
		return d.next-uint32(d.pos) != isn+1 // else it was captured behind the first data
	}
	return c.closed
}

// foreign reports whether seq can be no late packet of a closed connection: its 4-tuple is in use again, and the capture
// lacks the SYN.
func (d *side) foreign(seq uint32) bool {
	n := int32(seq - d.next)
	return d.started && (n > maxEnd || n < -maxEnd)
}

func (a *Assembler) open(key flowKey, s *packet.Segment, file int) *Connection {
	a.Ledger.Connections++
	a.Ledger.WithoutData++
	c := &Connection{First: a.packets, Ends: [2]packet.Endpoint{s.Src, s.Dst}, key: key, File: file}
	if s.Flags&packet.SYN == 0 {
		c.Joined = true
		a.Ledger.Joined++
	}
	c.Answered = s.Flags&(packet.SYN|packet.ACK) == packet.SYN|packet.ACK
	a.flows[key] = c
	a.order = append(a.order, c)
	return c
}

func (a *Assembler) keyOf(s *packet.Segment, file int) flowKey {
	k := flowKey{a: s.Src, b: s.Dst}
	if !less(&s.Src, &s.Dst) {
		k.a, k.b = k.b, k.a
	}
	if a.cfg.Apart {
		k.file = int32(file)
	}
	return k
}

func less(x, y *packet.Endpoint) bool {
	if k := bytes.Compare(x.IP[:], y.IP[:]); k != 0 {
		return k < 0
	}
	return x.Port < y.Port
}

// close marks a connection that both ends finished. It still takes late packets for a while.
func (a *Assembler) close(c *Connection) {
	if c.closed {
		return
	}
	c.closed, c.closedAt = true, a.now
	a.closing = append(a.closing, c)
}

// dropClosed ends the connections that were closed long enough ago.
func (a *Assembler) dropClosed() {
	for len(a.closing) > 0 {
		c := a.closing[0]
		if a.now-c.closedAt < int64(a.cfg.Linger) && len(a.closing) <= a.cfg.MaxClosed {
			return
		}
		a.closing[0] = nil
		a.closing = a.closing[1:]
		if !c.ended {
			a.end(c)
			delete(a.flows, c.key)
			a.forget(c)
		}
	}
}

func (a *Assembler) forget(c *Connection) {
	for i := range a.recent {
		if a.recent[i] == c {
			a.recent[i] = nil
		}
	}
}

// end gives up the connection's holes and ends its streams.
func (a *Assembler) end(c *Connection) {
	if c.ended {
		return
	}
	c.ended = true
	for c.holds() {
		a.giveUp(c, c.first())
	}
	for i := range c.sides {
		a.tail(c, &c.sides[i])
	}
	if c.opened() {
		for i := range c.sides {
			c.sides[i].stream.End()
		}
	}
	a.handler.Close(c)
	if len(a.order) > 64 {
		a.compact()
	}
}

// tail reports bytes at the end of a stream that were acknowledged and never seen.
func (a *Assembler) tail(c *Connection, d *side) {
	if !d.started || !d.ackSeen {
		return
	}
	end := d.acked
	if d.fin {
		if after(end, d.finSeq) {
			end = d.finSeq
		}
	} else {
		end-- // it may be a FIN that was acknowledged and not captured
	}
	if n := int64(int32(end - d.next)); n > 0 && n < 1<<30 {
		if !d.fin {
			n++
		}
		a.ready(c)
		a.gap(d, n, a.meta)
		d.next += uint32(n)
	}
}

// compact drops ended connections from the list that End walks, once they are the larger part of it.
func (a *Assembler) compact() {
	if len(a.flows) > len(a.order)/2 {
		return
	}
	kept := a.order[:0]
	for _, c := range a.order {
		if !c.ended {
			kept = append(kept, c)
		}
	}
	clear(a.order[len(kept):])
	a.order = kept
}

func (c *Connection) opened() bool { return c.sides[0].stream != nil }

// ready opens the connection's streams, unless they are open.
func (a *Assembler) ready(c *Connection) {
	if !c.opened() {
		streams := a.handler.Open(c)
		c.sides[0].stream, c.sides[1].stream = streams[0], streams[1]
	}
}
