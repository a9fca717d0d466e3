// Package assemble turns TCP segments into the ordered byte streams of connections, and says what is missing from
// them.
//
// It follows RFC 9293 (sequence numbers modulo 2^32). A connection generation is one use of a 4-tuple: a SYN with
// another initial sequence number starts a new one. Data in order is handed on at once, borrowed from the packet; data
// behind a hole is copied and held until the hole is filled, or until it is certain enough that it will not be
// ([Config]): then the hole becomes a gap of known length. The first copy of a byte wins; later ones are reported as
// repeats.
//
// The two directions are handed on in the order of cause and effect: data whose packet acknowledges bytes of the other
// direction that were not handed on yet is held too, until they are, or for as long as a hole is kept open. So an answer
// never comes before what it answers, also where packets were lost or captured in another order.
//
// Every link-layer byte of a packet with payload is handed on exactly once: payload bytes as Data, Gap (beyond the
// snap length) or Repeat, the packet's other bytes as Meta.Overhead with its first payload byte.
package assemble

import (
	"time"

	"dubbo-wire/internal/capture/packet"
)

// Config bounds what is held; zero values are the defaults.
type Config struct {
	// A hole becomes a gap when the receiver has acknowledged bytes behind its start and this many packets of the
	// capture, or this much capture time, have passed since (defaults 4096 and 1 s).
	GapPackets int64
	GapTime    time.Duration
	// MaxHeld and MaxHeldPerConnection bound the bytes held behind holes (defaults 16 MiB and 8 MiB); at a limit the
	// oldest hole of that connection becomes a gap.
	MaxHeld, MaxHeldPerConnection int
	// Linger is the capture time for which a closed connection still takes late packets (default 10 s), MaxClosed the
	// number of such connections (default 4096).
	Linger    time.Duration
	MaxClosed int
	// Apart reads each input alone: a 4-tuple in two files is two connections.
	Apart bool
}

func (c Config) withDefaults() Config {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if c.GapPackets == 0 {
		c.GapPackets = 4096
	}
	if c.GapTime == 0 {
		c.GapTime = time.Second
	}
	if c.Linger == 0 {
		c.Linger = 10 * time.Second
	}
	set(&c.MaxHeld, 16<<20)
	set(&c.MaxHeldPerConnection, 8<<20)
	set(&c.MaxClosed, 4096)
	return c
}

// Meta is what a consumer may want to know of the packet that brought bytes.
type Meta struct {
	// Time is when the packet was captured, in nanoseconds since the Unix epoch.
	Time int64
	// Packet and File say which packet it was (from 1, within its file) and of which input.
	Packet int64
	File   int
	// Pos is the place of the bytes in the stream, from 0.
	Pos int64
	// Overhead is the link-layer bytes of the packet that are no payload (headers, padding): they belong to the owner
	// of its first payload byte. 0 in calls for later pieces of the same packet.
	Overhead int
}

// Stream takes one direction of one connection.
type Stream interface {
	// Data is the next bytes of the stream, borrowed until return.
	Data(b []byte, m *Meta)
	// Gap is n bytes that the capture does not have. wire of them were in packets on the wire, beyond the snap length;
	// the others were never seen.
	Gap(n int64, wire int64, m *Meta)
	// Repeat is n bytes that were delivered before (m.Pos says where; negative: before the first byte delivered).
	Repeat(n int, m *Meta)
	// End says that nothing follows.
	End()
}

// Origin says which packet of the capture a segment came in.
type Origin struct {
	// Ordinal is the packet's place in the whole capture, whatever assembler it went to, from 1.
	Ordinal int64
	// Time is when it was captured, in nanoseconds since the Unix epoch.
	Time int64
	// Packet and File say which packet it was (from 1, within its file) and of which input; Interface is the
	// interface within that file.
	Packet    int64
	File      int
	Interface int
	// Overhead is the packet's link bytes that are no TCP payload.
	Overhead int
}

// Handler takes the connections.
type Handler interface {
	// Open is called before anything is handed on from a connection, and gives its two streams; side 0 is the end that
	// sent the first packet. A connection without payload is not opened. It may set Number.
	Open(c *Connection) (sides [2]Stream)
	// Close is called when a connection has ended, opened or not, behind the End of its streams. c is not valid any
	// longer when it returns.
	Close(c *Connection)
}

// Connection is one generation of a TCP connection.
type Connection struct {
	// Number is the handler's.
	Number int
	// First is the ordinal of its first packet.
	First int64
	// Ends are the two endpoints: 0 sent the first packet seen.
	Ends [2]packet.Endpoint
	// Joined: the capture has no SYN of it. Answered: its first packet answers one, so Ends[0] is who was asked.
	Joined, Answered bool
	// Payload is set once a packet had payload.
	Payload bool
	// Link is the bytes of its packets on the link.
	Link int64
	// File is the input of its first packet.
	File int

	sides    [2]side
	key      flowKey
	closed   bool // both ends said FIN, or one said RST
	closedAt int64
	ended    bool
	waiting  bool // in Assembler.waiting
}

// side is one direction: from Ends[i] to the other.
type side struct {
	stream  Stream
	started bool   // next is known
	next    uint32 // sequence number of the next byte wanted
	pos     int64  // its place in the stream
	isn     uint32 // initial sequence number, when syn
	syn     bool
	fin     bool
	finSeq  uint32 // sequence number behind the last byte, when fin
	seen    bool   // a packet of this side was captured

	acked   uint32 // highest acknowledgement the other side sent for this one
	ackSeen bool

	// held is sorted by seq, not overlapping. Before its first piece there is a hole, or the piece is the next one and
	// waits for the other side.
	held      []held
	heldBytes int
	// The hole was acknowledged (so it will not be filled by the sender), or the wait for the other side began, at this
	// packet and time; 0: not yet.
	ackedAtPacket, ackedAtTime int64
	// waived is an acknowledgement by the other side that is not waited for any longer, when isWaived.
	waived   uint32
	isWaived bool
}

// held is one piece of data behind a hole. data is the captured part of the n bytes.
type held struct {
	seq  uint32
	n    int // bytes on the wire
	data []byte
	meta Meta
	// again is the link bytes of later copies of these bytes.
	again int
	// ack is what the packet acknowledged, when acks; packet is the assembler's count when it came.
	ack    uint32
	acks   bool
	packet int64
}

// Ledger counts what passed, in bytes of TCP payload unless said otherwise.
type Ledger struct {
	// Packets with payload, and without.
	Data, Empty int64
	// Payload on the wire = Stream + Repeated + BeyondSnap.
	Payload    int64
	Stream     int64 // captured bytes delivered, each once
	Repeated   int64 // retransmitted, or captured twice
	BeyondSnap int64 // new bytes that the snap length cut off
	// Gaps of known length: holes (never seen), and their bytes.
	Gaps, GapBytes int64
	// EmptyLink is the link bytes of the packets without payload.
	EmptyLink int64
	// Connections by generation.
	Connections, WithoutData, Joined int64
}

// Assembler holds the connections of a capture.
type Assembler struct {
	Ledger  Ledger
	cfg     Config
	handler Handler
	flows   map[flowKey]*Connection
	recent  [512]*Connection // direct-mapped cache in front of flows
	packets int64
	now     int64
	heldAll int
	waiting []*Connection // holes that were acknowledged, oldest first
	closing []*Connection // closed connections, oldest first
	order   []*Connection // all open connections by number, for End
	free    [][]byte
	// Of the packet that is being taken.
	meta Meta
	ack  uint32
	acks bool
}

// New returns an assembler that hands streams to h.
func New(cfg Config, h Handler) *Assembler {
	return &Assembler{cfg: cfg.withDefaults(), handler: h, flows: make(map[flowKey]*Connection)}
}

// flowKey is the 4-tuple with the smaller endpoint first, so that both directions have one key; file tells inputs apart
// that are read each alone.
type flowKey struct {
	a, b packet.Endpoint
	file int32
}

// Tick says how far the capture is, so that what is due by time or packets is done while this assembler gets none.
func (a *Assembler) Tick(ordinal, at int64) {
	a.packets, a.now = ordinal, at
	if len(a.waiting) > 0 {
		a.giveUpOld()
	}
	if len(a.closing) > 0 {
		a.dropClosed()
	}
}

// Segment takes one TCP segment and returns its connection, which is valid until the next call; s and o are borrowed.
func (a *Assembler) Segment(s *packet.Segment, o *Origin) *Connection {
	a.Tick(o.Ordinal, o.Time)
	at, number, file, overhead := o.Time, o.Packet, o.File, o.Overhead

	c, i := a.lookup(s, file)
	d := &c.sides[i]
	d.seen = true
	c.Link += int64(overhead + s.PayloadLen)
	if s.Flags&packet.SYN != 0 {
		d.start(s.Seq)
	} else if s.Flags&packet.ACK != 0 {
		c.sides[1-i].acknowledge(a, c, s.Ack)
	}

	if s.PayloadLen > 0 {
		a.ready(c)
		a.Ledger.Data++
		a.Ledger.Payload += int64(s.PayloadLen)
		if !c.Payload {
			c.Payload = true
			a.Ledger.WithoutData--
		}
		a.meta = Meta{Time: at, Packet: number, File: file, Overhead: overhead}
		a.ack, a.acks = s.Ack, s.Flags&packet.ACK != 0
		seq := s.Seq
		if s.Flags&packet.SYN != 0 {
			seq++
		}
		a.data(c, i, seq, s.PayloadLen, s.Payload)
	} else {
		a.Ledger.Empty++
		a.Ledger.EmptyLink += int64(overhead)
	}

	if s.Flags&packet.FIN != 0 && !d.fin {
		d.fin = true
		d.finSeq = s.Seq + uint32(s.PayloadLen)
		if c.sides[1-i].fin {
			a.close(c)
		}
	}
	if s.Flags&packet.RST != 0 {
		a.close(c)
	}
	if o := &c.sides[1-i]; len(o.held) > 0 && o.held[0].seq == o.next {
		a.drain(c) // it may have waited for this
	}
	return c
}

// start takes the initial sequence number of a SYN.
func (d *side) start(isn uint32) {
	if d.started {
		return
	}
	d.started, d.syn, d.isn, d.next = true, true, isn, isn+1
}

// acknowledge notes that the receiver of this side has all bytes before ack.
func (d *side) acknowledge(a *Assembler, c *Connection, ack uint32) {
	if !d.ackSeen || after(ack, d.acked) {
		d.acked, d.ackSeen = ack, true
	}
	if !d.started && !c.Joined && !d.seen {
		// The SYN of this side was lost: the first acknowledgement says where its data starts.
		d.start(ack - 1)
	}
	if len(d.held) > 0 && d.ackedAtPacket == 0 && after(d.acked, d.next) {
		a.wait(c, d)
	}
}

// wait puts a connection with an acknowledged hole into the queue of holes to give up.
func (a *Assembler) wait(c *Connection, d *side) {
	d.ackedAtPacket, d.ackedAtTime = a.packets, a.now
	if !c.waiting {
		c.waiting = true
		a.waiting = append(a.waiting, c)
	}
}

// data takes n payload bytes at seq sent by side i, of which b were captured.
func (a *Assembler) data(c *Connection, i int, seq uint32, n int, b []byte) {
	d := &c.sides[i]
	if !d.started {
		// Joined midway: the stream starts with the first data seen.
		d.started, d.next = true, seq
	}
	early := a.acks && c.sides[1-i].lacks(a.ack)
	if seq == d.next && len(d.held) == 0 && !early {
		a.deliver(d, n, b)
		return
	}
	if old := int64(int32(d.next - seq)); old > 0 {
		// The first bytes were delivered before.
		r := min(old, int64(n))
		a.meta.Pos = d.pos - old
		a.Ledger.Repeated += r
		d.stream.Repeat(int(r), &a.meta)
		a.meta.Overhead = 0
		if r == int64(n) {
			return
		}
		seq += uint32(r)
		n -= int(r)
		b = b[min(int(r), len(b)):]
	}
	switch {
	case seq != d.next || early || len(d.held) > 0 && d.held[0].seq == seq:
		a.hold(c, i, seq, n, b)
	case len(d.held) > 0:
		a.fill(c, i, n, b)
	default:
		a.deliver(d, n, b)
	}
}

// maxEarly bounds how far ahead of the captured bytes an acknowledgement is believed: no window is larger.
const maxEarly = 1 << 30

// lacks reports whether bytes of this side before ack were not handed on yet and may still be.
func (d *side) lacks(ack uint32) bool {
	n := int32(ack - d.next)
	return n > 0 && n < maxEarly && d.started && d.seen &&
		!(d.fin && ack == d.finSeq+1 && n == 1) && !(d.isWaived && !after(ack, d.waived))
}

// deliver hands on n bytes at d.next, of which b were captured.
func (a *Assembler) deliver(d *side, n int, b []byte) {
	if len(b) > 0 {
		a.meta.Pos = d.pos
		a.Ledger.Stream += int64(len(b))
		d.pos += int64(len(b))
		d.stream.Data(b, &a.meta)
		a.meta.Overhead = 0
	}
	if cut := int64(n - len(b)); cut > 0 {
		a.meta.Pos = d.pos
		a.Ledger.BeyondSnap += cut
		d.pos += cut
		d.stream.Gap(cut, cut, &a.meta)
		a.meta.Overhead = 0
	}
	d.next += uint32(n)
}

// after reports whether sequence number x lies behind y.
func after(x, y uint32) bool { return int32(x-y) > 0 }

// Open returns the connections that are open, in the order of their first packets.
func (a *Assembler) Open() []*Connection {
	var open []*Connection
	for _, c := range a.order {
		if !c.ended {
			open = append(open, c)
		}
	}
	return open
}

// Finish gives up the holes of an open connection and ends it.
func (a *Assembler) Finish(c *Connection) {
	a.end(c)
	delete(a.flows, c.key)
	a.forget(c)
}

// End gives up all holes and ends all connections, in the order of their first packets.
func (a *Assembler) End() {
	for _, c := range a.Open() {
		a.Finish(c)
	}
}
