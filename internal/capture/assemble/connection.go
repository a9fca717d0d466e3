package assemble

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/capture/packet"
)

// Connection is one generation of a TCP connection.
type Connection struct {
	// Number is the handler's.
	Number int
	// First is the ordinal of its first packet.
	First int64
	// Link is the bytes of its packets on the link.
	Link int64
	// File is the input of its first packet.
	File int
	// Ends are the two endpoints: 0 sent the first packet seen.
	Ends [2]packet.Endpoint
	// Joined: the capture has no SYN of it. Answered: its first packet answers one, so Ends[0] is who was asked.
	Joined, Answered bool
	// Payload is set once a packet had payload.
	Payload bool

	state      state // says in which list it is
	id, tag    uint32
	prev, next uint32
	seen       int64 // time of its last packet
	queued     int64 // seen when it was put into its list; in closing: when it was closed
	sides      [2]side
	hold       *holding // nil while nothing is held
	first      synMarks
	suspect    *suspect // nil while nothing is suspected
}

type state uint8

const (
	empty   state = iota // no payload yet
	open                 // payload was seen
	closing              // both ends said FIN, or one said RST
)

// side is one direction: from Ends[i] to the other.
type side struct {
	stream         Stream
	pos            int64  // place of the next byte in the stream
	next           uint32 // its sequence number
	isn            uint32 // initial sequence number, when syn
	finSeq         uint32 // sequence number behind the last byte, when fin
	acked          uint32 // highest acknowledgement the other side sent for this one
	unconfirmedAck uint32 // an acknowledgement far ahead, believed when another one agrees; 0: none
	unawaited      uint32 // an acknowledgement by the other side that is not waited for any longer, when hasUnawaited
	source         source // where the newest bytes were captured
	started        bool   // next is known
	syn            bool
	fin            bool
	seen           bool // a packet of this side was captured
	ackSeen        bool

	hasUnawaited  bool
	guessed       bool // isn is, by the first acknowledgement; else it is that of a SYN
	pastHandshake bool // it sent something that is no SYN, so it sends none any more
}

// near is how far from what is known of a side its packets may be, in bytes: what is further off needs a second packet
// that agrees. It is more than a bandwidth-delay product, and more than a burst that a capture loses.
const near = 16 << 20

// maxAhead bounds how far ahead of the captured bytes anything is believed: no window is larger.
const maxAhead = 1 << 30

// after reports whether sequence number x lies behind y.
func after(x, y uint32) bool { return int32(x-y) > 0 }

// within reports whether x lies at most n before or behind y.
func within(x, y uint32, n uint32) bool { return x-y+n <= 2*n }

// side is which end sent s.
func (c *Connection) side(s *packet.Segment) int {
	if c.Ends[0] == s.Src && c.Ends[1] == s.Dst {
		return 0
	}
	return 1
}

// Opened reports whether it was opened.
func (c *Connection) Opened() bool { return c.sides[0].stream != nil }

// start opens a connection with its first packet.
func (a *Assembler) start(tag uint32, s *packet.Segment, o *Origin) *Connection {
	if a.empty.n >= a.cfg.MaxEmpty && !a.finishing {
		a.Ledger.Forgotten++
		a.Finish(a.leastUsed(&a.empty))
	}
	a.Ledger.Connections++
	a.Ledger.WithoutData++
	c := a.table.add(tag)
	c.First, c.File, c.Ends = o.Ordinal, o.File, [2]packet.Endpoint{s.Src, s.Dst}
	if s.Flags&packet.SYN == 0 {
		c.Joined = true
		a.Ledger.Joined++
	}
	c.Answered = s.Flags&(packet.SYN|packet.ACK) == packet.SYN|packet.ACK
	c.seen, c.queued = a.now, a.now
	a.table.push(&a.empty, c)
	a.handler.Begin(c)
	return c
}

// firstPayload opens the streams of a connection.
func (a *Assembler) firstPayload(c *Connection) {
	c.Payload = true
	a.Ledger.WithoutData--
	streams := a.handler.Open(c)
	c.sides[0].stream, c.sides[1].stream = streams[0], streams[1]
	if c.state != empty {
		return
	}
	a.table.pull(&a.empty, c)
	if a.open.n >= a.cfg.MaxConnections && !a.finishing {
		a.Ledger.Expired++
		a.Finish(a.leastUsed(&a.open))
	}
	c.queued = c.seen
	a.table.push(&a.open, c)
}

// touched says whether the first of a list was used since it was put there, and if so puts it at the end. So a packet
// need not move its connection: those used stand in the list by when they were found to be used.
func (a *Assembler) touched(l *list) bool {
	c := a.table.at(l.head)
	if c.seen == c.queued {
		return false
	}
	a.requeue(c, l, c.seen)
	return true
}

// leastUsed is the connection to end when there are too many. Each is put off once for its use, so this costs no more
// than the packets before it.
func (a *Assembler) leastUsed(l *list) *Connection {
	for a.touched(l) { //nolint:revive // touched does the work
	}
	return a.table.at(l.head)
}

// dropIdle ends the connections of a list that had no packet for long.
func (a *Assembler) dropIdle(l *list) {
	for l.n > 0 {
		c := a.table.at(l.head)
		if a.now-c.queued < int64(a.cfg.IdleTime) {
			return
		}
		if a.touched(l) {
			continue
		}
		if l.state == open {
			a.Ledger.Expired++
			a.Ledger.Idle++
		} else {
			a.Ledger.Forgotten++
		}
		a.Finish(c)
	}
}

// closed marks a connection that both ends finished. It still takes late packets for a while.
func (a *Assembler) closed(c *Connection) {
	if c.state == closing {
		return
	}
	a.requeue(c, &a.closing, a.now)
}

// requeue puts a connection at the end of a list.
func (a *Assembler) requeue(c *Connection, l *list, queued int64) {
	a.table.pull(a.listOf(c), c)
	c.queued = queued
	a.table.push(l, c)
}

// skewed is how much longer closed connections linger for other captures than the one they were first seen in: the clocks of two machines may be
// far apart, and what the other one captured is not to become a connection of its own.
const skewed = 12

func (a *Assembler) listOf(c *Connection) *list {
	return [...]*list{&a.empty, &a.open, &a.closing}[c.state]
}

// dropClosed ends the connections that were closed long enough ago.
func (a *Assembler) dropClosed() {
	for a.closing.n > 0 {
		c := a.table.at(a.closing.head)
		linger := int64(a.cfg.Linger)
		if a.files.mixed || c.File != a.files.last {
			linger *= skewed
		}
		if a.now-c.queued < linger && a.closing.n <= a.cfg.MaxClosed {
			return
		}
		a.Finish(c)
	}
}

// Open returns the connections that have not ended, in the order of their first packets.
func (a *Assembler) Open() []*Connection {
	all := make([]*Connection, 0, a.table.n)
	for _, l := range []*list{&a.empty, &a.open, &a.closing} {
		for id := l.head; id != 0; id = a.table.at(id).next {
			all = append(all, a.table.at(id))
		}
	}
	slices.SortFunc(all, func(x, y *Connection) int { return cmp.Compare(x.First, y.First) })
	return all
}

// Streams calls f with one of the two streams of each connection that was opened and has not ended; closed: both its ends
// have said FIN, or one RST.
func (a *Assembler) Streams(f func(s Stream, closed bool)) {
	for _, l := range []*list{&a.open, &a.closing} {
		for id := l.head; id != 0; id = a.table.at(id).next {
			if c := a.table.at(id); c.Opened() {
				f(c.sides[0].stream, l.state == closing)
			}
		}
	}
}

// End gives up all holes and ends all connections, in the order of their first packets.
func (a *Assembler) End() {
	for _, c := range a.Open() {
		a.Finish(c)
	}
}

// Finish gives up the connection's holes and ends it. A packet that looked like the first of a new generation, with
// nothing of the old one behind it, becomes one of its own.
func (a *Assembler) Finish(c *Connection) {
	p := a.takeSuspect(c)
	a.end(c)
	if p == nil {
		return
	}
	if p.oldPackets == 0 && p.seg.PayloadLen > 0 {
		a.Ledger.Reused++
		a.finishing = true
		n := a.start(p.tag, &p.seg, &p.origin)
		a.take(n, 0, &p.seg, &p.origin)
		a.end(n)
		a.finishing = false
	} else {
		a.stray(&p.seg, &p.origin)
	}
}

// end ends a connection of which nothing is suspected.
func (a *Assembler) end(c *Connection) {
	for c.hold != nil {
		a.abandonHole(c, c.firstSide())
	}
	if c.Opened() {
		for i := range c.sides {
			a.tail(c, &c.sides[i])
		}
		for i := range c.sides {
			c.sides[i].stream.End()
		}
	}
	a.handler.Close(c)
	delete(a.late, c)
	a.table.pull(a.listOf(c), c)
	a.table.remove(c)
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
	if n := int64(int32(end - d.next)); n > 0 && n < maxAhead {
		if !d.fin {
			n++
		}
		a.gap(d, n, Meta{Time: c.seen - a.ahead, File: c.File})
		d.next += uint32(n)
	}
}
