package assemble

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/capture/packet"
)

// Connection is one generation of a TCP connection.
type Connection struct {
	// First is the ordinal of its first packet.
	First int64
	// Link is the number of bytes of its packets on the link.
	Link int64
	// Ends are the two endpoints; Ends[0] sent the first packet that was seen.
	Ends [2]packet.Endpoint
	// File is the input of its first packet.
	File int32
	// Mark is for the handler.
	Mark uint32
	// Joined is set if the capture has no SYN of the connection. Answered is set if the first packet answers a SYN, so
	// Ends[0] is the server.
	Joined, Answered bool
	// Payload is set when a packet had payload.
	Payload bool
	// FirstFIN is the index of the side that sent the first FIN, -1 without one.
	FirstFIN int8
	// Handshake is the number of bytes on the link of its packets with SYN or FIN and without payload, the first of each side; at most
	// 65,535.
	Handshake uint16

	suspected  bool  // Assembler.suspectOf has a suspect
	state      state // the list that it is in
	id         uint32
	prev, next uint32
	seen       int64 // time of its last packet
	queued     int64 // value of seen when it was put into its list; in closing: the time when it was closed
	sides      [2]side
	first      synMarks
	flow       *Flow // &noFlow before the first payload
}

// Flow is what a connection has from its first payload on, with the streams of the handler. The handler's data of the connection may contain
// it, so that a packet finds both in one place.
type Flow struct {
	ways [2]way
	hold *holding // nil if nothing is held
}

// Open sets the streams; side 0 is the end that sent the first packet.
func (f *Flow) Open(sides [2]Stream) *Flow {
	f.ways[0].stream, f.ways[1].stream = sides[0], sides[1]
	return f
}

// way is what a side has besides from the first payload of its connection on.
type way struct {
	stream       Stream
	pos          int64  // position of the next byte in the stream
	source       source // where the newest bytes were captured
	unawaited    uint32 // bytes before it, which the other side acknowledged, are not waited for; valid if hasUnawaited is set
	hasUnawaited bool
}

// noFlow is shared by all connections without payload, and never changed.
var noFlow Flow

type state uint8

const (
	empty   state = iota // no payload yet
	open                 // payload was seen
	closing              // both ends sent a FIN, or one sent a RST
)

// side is one direction: from Ends[i] to the other end.
type side struct {
	next           uint32 // sequence number of the next byte in the stream
	isn            uint32 // initial sequence number, valid if syn is set
	finSeq         uint32 // sequence number after the last byte, valid if fin is set
	acked          uint32 // highest acknowledgement the other side sent for this one
	unconfirmedAck uint32 // an acknowledgement far ahead, trusted when a second one agrees; 0: none
	started        bool   // next is known
	syn            bool
	fin            bool
	seen           bool // a packet of this side was captured
	ackSeen        bool
	guessed        bool // isn comes from the first acknowledgement, not from a SYN
	pastHandshake  bool // it sent a packet that is not a SYN, so it sends no more SYNs
}

// near is the distance in bytes from the known numbers of a side within which its packets are accepted. A packet
// further away needs a second packet that agrees. It is larger than a bandwidth-delay product, and than a burst that a
// capture loses.
const near = 16 << 20

// maxAhead bounds how far after the captured bytes any number is trusted: no window is larger.
const maxAhead = 1 << 30

// after reports whether sequence number x is after y.
func after(x, y uint32) bool { return int32(x-y) > 0 }

// within reports whether x is at most n before or after y.
func within(x, y uint32, n uint32) bool { return x-y+n <= 2*n }

// side returns which end sent s.
func (c *Connection) side(s *packet.Segment) int {
	if c.Ends[0].Same(&s.Src) && c.Ends[1].Same(&s.Dst) {
		return 0
	}
	return 1
}

// Opened reports whether the handler has opened the connection.
func (c *Connection) Opened() bool { return c.flow != &noFlow }

// LastTime returns the time of its last packet on the steady clock, in nanoseconds.
func (c *Connection) LastTime() int64 { return c.seen }

// OneSided reports whether packets of one end only were captured.
func (c *Connection) OneSided() bool { return c.sides[0].seen != c.sides[1].seen }

// ClientISN returns the initial sequence number of the end that opened the connection, from its SYN or from the answer to it. ok is false if
// the capture has neither.
func (c *Connection) ClientISN() (isn uint32, ok bool) {
	d := &c.sides[0]
	if c.Answered {
		d = &c.sides[1]
	}
	return d.isn, d.syn && !c.Joined
}

// start adds a connection with its first packet.
func (a *Assembler) start(tag uint32, s *packet.Segment, o *Origin) *Connection {
	if a.empty.n >= a.cfg.MaxEmpty && !a.finishing {
		a.Ledger.Forgotten++
		a.Finish(a.leastUsed(&a.empty))
	}
	a.Ledger.Connections++
	a.Ledger.WithoutData++
	c := a.table.add(tag)
	c.First, c.File, c.Ends, c.FirstFIN, c.flow = o.Ordinal, int32(o.File), [2]packet.Endpoint{s.Src, s.Dst}, -1, &noFlow
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
	c.flow = a.handler.Open(c)
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

// touched reports whether the first connection of a list was used since it was put there, and if so moves it to the
// end. So packets need not move their connections; the order of the list is the order in which use was noticed.
func (a *Assembler) touched(l *list) bool {
	c := a.table.at(l.head)
	if c.seen == c.queued {
		return false
	}
	a.requeue(c, l, c.seen)
	return true
}

// leastUsed returns the connection to end if there are too many. Each connection is moved at most once per use, so the
// cost is bounded by the number of packets.
func (a *Assembler) leastUsed(l *list) *Connection {
	for a.touched(l) { //nolint:revive // touched does the work
	}
	return a.table.at(l.head)
}

// dropIdle ends the connections of a list that had no packet for IdleTime. It is called for each packet, and looks at the first connection
// again when that one may be idle.
func (a *Assembler) dropIdle(l *list) {
	if l.head == l.looked && a.now < l.idleFrom {
		return
	}
	for l.n > 0 {
		c := a.table.at(l.head)
		if a.now-c.queued < int64(a.cfg.IdleTime) {
			l.looked, l.idleFrom = l.head, c.queued+int64(a.cfg.IdleTime)
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

// closed marks a connection that both ends closed. It still takes late packets for a while.
func (a *Assembler) closed(c *Connection) {
	if c.state == closing {
		return
	}
	a.requeue(c, &a.closing, a.now)
}

// requeue moves a connection to the end of a list.
func (a *Assembler) requeue(c *Connection, l *list, queued int64) {
	a.table.pull(a.listOf(c), c)
	c.queued = queued
	a.table.push(l, c)
}

// skewed is the factor by which closed connections linger longer for other captures than the one they were first seen
// in. The clocks of two machines may differ, and what the other machine captured must not become a connection of its
// own.
const skewed = 12

func (a *Assembler) listOf(c *Connection) *list {
	return [...]*list{&a.empty, &a.open, &a.closing}[c.state]
}

// dropClosed ends the connections that were closed long enough ago.
func (a *Assembler) dropClosed() {
	for a.closing.n > 0 {
		c := a.table.at(a.closing.head)
		linger := int64(a.cfg.Linger)
		if a.files.mixed || int(c.File) != a.files.last {
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

// Streams calls f with one of the two streams of each opened connection that has not ended. closed reports that both
// ends sent a FIN, or one a RST.
func (a *Assembler) Streams(f func(s Stream, closed bool)) {
	for _, l := range []*list{&a.open, &a.closing} {
		for id := l.head; id != 0; id = a.table.at(id).next {
			if c := a.table.at(id); c.Opened() {
				f(c.flow.ways[0].stream, l.state == closing)
			}
		}
	}
}

// End turns all holes into gaps and ends all connections, in the order of their first packets.
func (a *Assembler) End() {
	for _, c := range a.Open() {
		a.Finish(c)
	}
}

// Finish turns the connection's holes into gaps and ends it. A suspect that nothing of the old generation followed,
// or whose old generation has no payload, becomes a connection of its own.
func (a *Assembler) Finish(c *Connection) {
	p := a.takeSuspect(c)
	own := p != nil && p.seg.PayloadLen > 0 && (p.oldPackets == 0 || !c.Payload)
	if p != nil && !own {
		a.unplaced(c, p)
	}
	a.end(c)
	if own {
		a.Ledger.Reused++
		a.finishing = true
		n := a.start(p.tag, &p.seg, &p.origin)
		a.take(n, 0, &p.seg, &p.origin)
		a.end(n)
		a.finishing = false
	}
}

// end ends a connection without a suspect.
func (a *Assembler) end(c *Connection) {
	for c.flow.hold != nil {
		a.abandonHole(c, c.firstSide())
	}
	if c.Opened() {
		for i := range c.sides {
			a.tail(c, i)
		}
		for i := range c.sides {
			d := &c.sides[i]
			c.flow.ways[i].stream.End(d.fin && d.next == d.finSeq)
		}
	}
	a.handler.Close(c)
	delete(a.late, c)
	a.table.pull(a.listOf(c), c)
	a.table.remove(c, a.tagOf(c))
}

// tail reports bytes at the end of a stream that were acknowledged and never captured.
func (a *Assembler) tail(c *Connection, i int) {
	d := &c.sides[i]
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
		a.gap(c, i, n, Meta{Time: c.seen - a.ahead, File: int(c.File)})
		d.next += uint32(n)
	}
}
