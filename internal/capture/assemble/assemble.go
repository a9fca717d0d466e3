// Package assemble turns TCP segments into the ordered byte streams of connections. Segments come in with the packet
// that each came from; for each direction of a connection a [Stream] gets its bytes in order, its gaps and its
// retransmissions.
//
// It follows RFC 9293 (sequence numbers modulo 2^32), RFC 5961 (one segment with wild numbers ends nothing), RFC 1122,
// 4.2.3.6 (keep-alive) and RFC 7413 (data on SYN). Data in order is handed on at once. Data after a hole is copied and
// held until the hole is filled, or until it is certain enough that it will not be filled ([Config]); then the hole
// becomes a gap of known length. The first copy of a byte wins. Bytes that the snap length cut are a hole that a later copy
// may fill; cut_bytes.go describes for how long.
//
// A connection generation is one use of a 4-tuple; generation.go describes when a new one starts. Bytes that were seen
// before were retransmitted, or they are duplicates that were captured twice; retransmission.go describes which.
//
// The two directions are handed on in the order of cause and effect: data whose packet acknowledges bytes of the other
// direction that were not handed on yet is held until they are, or for as long as a hole is held open. So a response
// never comes before its request, even if packets were lost or captured in another order.
//
// Every link-layer byte of a packet has one place in the [Ledger]. The bytes of a packet with payload are handed on
// exactly once: as Data, Gap (beyond the snap length) or Repeat, and the other bytes of the packet as Meta.Overhead
// with its first payload byte. Duplicates and strays, which belong to no stream, are not handed on.
//
// Payload is borrowed until Segment returns; held data is copied. A connection costs about 180 bytes, even one of which
// only a SYN was seen, and its [Flow] 90 more. All limits are in [Config]. An Assembler must be used by one goroutine. Several can share the
// work if all packets of a 4-tuple go to the same one.
package assemble

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/queue"
)

// Config limits what is held. Zero values are the defaults. All limits apply to one assembler.
type Config struct {
	// A hole becomes a gap when the receiver has acknowledged bytes after its start and then this many packets of the
	// capture, or this much capture time, have passed (defaults 4096 and 1 s). In a capture of one direction, which has
	// no acknowledgements, they count from the first packet after the hole.
	GapPackets int64
	GapTime    time.Duration
	// MaxHeld and MaxHeldPerConnection limit the memory for data after holes (defaults 16 MiB and 8 MiB). At a limit
	// the oldest hole of that connection becomes a gap, or the one of the connection that has held data longest.
	MaxHeld, MaxHeldPerConnection int
	// Linger is the capture time for which a closed connection still takes late packets (default 10 s; twelve times
	// that for other captures than its first). MaxClosed is the largest number of such connections (default 4096).
	Linger    time.Duration
	MaxClosed int
	// MaxConnections limits the open connections with payload (default 262144), MaxEmpty the ones without (default
	// 65536), so a flood of SYNs ends no connection that is in use. The least recently used are ended.
	MaxConnections, MaxEmpty int
	// IdleTime ends connections without packets for that long, at the latest after twice that time (default 0: never).
	IdleTime time.Duration
	// Apart is the source of each input, by its index, if sources are read separately: the same 4-tuple in two sources
	// is two connections. nil: all inputs are one capture.
	Apart []int
	// Buffers are shared with other assemblers of the same goroutine; nil: the assembler has its own.
	Buffers *Buffers
}

func (c Config) withDefaults() Config {
	c.GapPackets = cmp.Or(c.GapPackets, 4096)
	c.GapTime = cmp.Or(c.GapTime, time.Second)
	c.Linger = cmp.Or(c.Linger, 10*time.Second)
	c.MaxHeld = cmp.Or(c.MaxHeld, 16<<20)
	c.MaxHeldPerConnection = cmp.Or(c.MaxHeldPerConnection, 8<<20)
	c.MaxClosed = cmp.Or(c.MaxClosed, 4096)
	c.MaxConnections = cmp.Or(c.MaxConnections, 1<<18)
	c.MaxEmpty = cmp.Or(c.MaxEmpty, 1<<16)
	c.Buffers = cmp.Or(c.Buffers, new(Buffers))
	return c
}

// Origin describes the packet that a segment came in.
type Origin struct {
	// Ordinal is the packet's place among all packets with a segment of the whole capture, from 1, in all assemblers
	// together.
	Ordinal int64
	// Time is the capture time in nanoseconds since the Unix epoch.
	Time int64
	// Clock is the capture time by a clock that never goes back; 0: Time.
	Clock int64
	// Packet is the number of the packet in its file, from 1; File is the index of the input, Interface the number of
	// the interface within the file.
	Packet    int64
	File      int
	Interface int
	// Overhead is the number of link bytes of the packet that are not TCP payload.
	Overhead int
}

func (o *Origin) clock() int64 {
	if o.Clock != 0 {
		return o.Clock
	}
	return o.Time
}

// Meta describes the packet that brought bytes.
type Meta struct {
	// Time is the capture time in nanoseconds since the Unix epoch.
	Time int64
	// Packet is the number of the packet in its file, from 1; File is the index of the input.
	Packet int64
	File   int
	// Pos is the position of the bytes in the stream, from 0; Seq is the sequence number of the first one, in calls of
	// Data.
	Pos int64
	Seq uint32
	// Overhead is the number of link-layer bytes of the packet that are not payload (headers, padding). They belong to
	// the owner of its first payload byte; it is 0 in calls for later pieces of the same packet.
	Overhead int
}

// Stream takes one direction of a connection.
type Stream interface {
	// Data takes the next bytes of the stream, which are borrowed until it returns.
	Data(b []byte, m *Meta)
	// Gap takes n bytes that the capture does not have. wire of them were in captured packets, beyond the snap length;
	// the others were never seen.
	Gap(n int64, wire int64, m *Meta)
	// Late takes captured bytes of a packet, and the number of bytes after them that the snap length cut, that have no place in
	// the stream (m.Pos is negative): they come before the start of a stream joined midway, after the bytes that follow them had
	// been handed on; or their numbers fit no generation of the connection. b is borrowed until it returns.
	Late(b []byte, cut int64, m *Meta)
	// Repeat takes n bytes that were retransmitted. m.Pos is their position; it is negative before the first delivered
	// byte.
	Repeat(n int, m *Meta)
	// End is called when nothing follows. closed is set if all bytes up to a FIN were handed on.
	End(closed bool)
}

// Handler takes the connections.
type Handler interface {
	// Begin is called with the first packet of each connection.
	Begin(c *Connection)
	// Open is called before the first bytes of a connection are handed on, and returns memory for its flow with the two streams. It is not
	// called for a connection without payload.
	Open(c *Connection) *Flow
	// Close is called when a connection has ended, opened or not, after the End of its streams. c must not be used
	// after it returns.
	Close(c *Connection)
}

// Assembler holds the connections of a capture, or of a part of it.
type Assembler struct {
	Ledger  Ledger
	cfg     Config
	handler Handler
	table   table
	recent  recent
	files   files

	packets, now int64 // progress of the capture
	ahead        int64 // difference between now and the times of packets

	// Every connection is in one of these lists, least recently used first (approximately: see touched).
	empty, open, closing list
	finishing            bool // a connection is opened and ended at once; it must not end another one

	holders, waiting queue.Queue[*holding] // connections that hold data, oldest first; and the ones whose wait has started
	// The packet and the time before which no wait ends; 0: a wait has started or ended since they were known.
	duePacket, dueTime int64
	heldAll            int
	buffers            *Buffers
	suspects           queue.Queue[*suspect]
	suspectOf          map[*Connection]*suspect
	suspectBytes       int
	late               map[*Connection]*lateSpans

	// State of the packet that is being processed.
	seg     *packet.Segment
	origin  *Origin
	meta    Meta
	acks    bool // it has an acknowledgement, seg.Ack
	kind    kind // of its bytes that were seen before
	differs bool // these bytes are known to differ from their first copy
	isNew   bool // it brought bytes that were not seen before
}

// New returns an assembler that hands streams to h.
func New(cfg Config, h Handler) *Assembler {
	cfg = cfg.withDefaults()
	a := &Assembler{cfg: cfg, handler: h, buffers: cfg.Buffers, late: map[*Connection]*lateSpans{}, suspectOf: map[*Connection]*suspect{}}
	a.empty.state, a.open.state, a.closing.state = empty, open, closing
	a.table.init(rand.Uint64(), rand.Uint64())
	a.recent.init()
	return a
}

// Tick reports the progress of the capture, by a clock that never goes back, so that what is due by time or by packets
// is done while this assembler gets no packets.
func (a *Assembler) Tick(ordinal, at int64) {
	a.packets, a.now = ordinal, at
	if !a.waiting.Empty() && (a.packets >= a.duePacket || a.now >= a.dueTime) {
		a.abandonExpired()
	}
	if a.closing.n > 0 {
		a.dropClosed()
	}
	if a.cfg.IdleTime > 0 {
		a.dropIdle(&a.empty)
		a.dropIdle(&a.open)
	}
}

// Segment takes one TCP segment and returns its connection, which is valid until the next call. s and o are borrowed.
func (a *Assembler) Segment(s *packet.Segment, o *Origin) *Connection {
	tag, c, i := a.arrived(s, o)
	if c != nil && a.usual(c, i, s, o) {
		return c
	}
	return a.unusual(tag, c, i, s, o)
}

// arrived counts a segment, does what is due, and finds the connection.
func (a *Assembler) arrived(s *packet.Segment, o *Origin) (tag uint32, c *Connection, i int) {
	a.files.observe(o)
	a.Tick(o.Ordinal, o.clock())
	a.ahead = o.clock() - o.Time
	a.Ledger.Link += int64(o.Overhead + s.PayloadLen)
	a.Ledger.Payload += int64(s.PayloadLen)
	if s.PayloadLen > 0 {
		a.Ledger.Data++
	} else {
		a.Ledger.Empty++
	}
	source := a.source(o.File)
	tag = a.table.hash(&s.Src, &s.Dst, source)
	c, i = a.find(tag, s, source)
	return tag, c, i
}

// unusual processes any segment, of connection c or, if that is nil, of none yet.
func (a *Assembler) unusual(tag uint32, c *Connection, i int, s *packet.Segment, o *Origin) *Connection {
	if c != nil && c.needsCheck(i, s) {
		var wanted bool
		if c, wanted = a.checkGeneration(c, i, s, o); !wanted {
			return c
		}
		if c != nil {
			i = c.side(s)
		}
	}
	if c == nil {
		c, i = a.start(tag, s, o), 0
	}
	a.take(c, i, s, o)
	return c
}

// take processes a segment that belongs to connection c.
func (a *Assembler) take(c *Connection, i int, s *packet.Segment, o *Origin) {
	d, other := &c.sides[i], &c.sides[1-i]
	d.seen = true
	c.seen = a.now
	c.Link += int64(o.Overhead + s.PayloadLen)
	if s.PayloadLen == 0 && (s.Flags&packet.SYN != 0 && (!d.syn || d.guessed) || s.Flags&packet.FIN != 0 && !d.fin) {
		c.Handshake = uint16(min(int(c.Handshake)+o.Overhead, math.MaxUint16))
	}
	if s.Flags&packet.SYN != 0 {
		if d.syn && d.isn == s.Seq && c.Payload && o.File != int(c.File) {
			a.files.skewed = true // a SYN is not retransmitted after data, so it was captured twice
		}
		if c.takeSYN(i, s, o); s.Flags&packet.ACK != 0 && !other.started {
			other.acknowledge(c, s.Ack) // the client's SYN is missing
		}
	} else if s.Flags&packet.ACK != 0 {
		d.pastHandshake = true
		other.acknowledge(c, s.Ack)
		if c.flow.hold != nil {
			a.acknowledged(c, 1-i)
		}
	}
	switch {
	case s.PayloadLen == 0:
		a.Ledger.EmptyLink += int64(o.Overhead)
	case s.Flags&packet.RST != 0:
		// RFC 1122, 4.2.2.12: this text explains the reset; it is not data.
		a.stray(s, o)
	default:
		if !c.Payload {
			a.firstPayload(c)
		}
		a.seg, a.origin, a.kind, a.differs, a.isNew = s, o, unclassified, false, false
		a.meta = Meta{Time: o.Time, Packet: o.Packet, File: o.File, Overhead: o.Overhead}
		a.acks = s.Flags&packet.ACK != 0
		seq := s.Seq
		if s.Flags&packet.SYN != 0 {
			seq++
		}
		a.data(c, i, seq, s.PayloadLen, s.Payload)
		from := sourceOf(s, o)
		if a.isNew {
			c.flow.ways[i].source = from
			if c.state == closing {
				a.requeue(c, &a.closing, a.now) // it was closed too early, because its data still comes
			}
		}
		a.remember(c, i, s, o, from, a.isNew)
	}
	if s.Flags&packet.FIN != 0 && !d.fin {
		if d.fin = true; !other.fin {
			c.FirstFIN = int8(i)
		}
		d.finSeq = s.Seq + uint32(s.PayloadLen)
		if s.Flags&packet.SYN != 0 {
			d.finSeq++
		}
	}
	if s.Flags&packet.RST != 0 || d.fin && other.fin {
		a.closed(c)
	}
	if c.flow.hold != nil {
		a.drain(c) // held data may have waited for this segment
	}
}

// data takes n payload bytes at seq that side i sent, of which b were captured.
func (a *Assembler) data(c *Connection, i int, seq uint32, n int, b []byte) {
	d := &c.sides[i]
	early := a.acks && c.missesBefore(1-i, a.seg.Ack)
	if !d.started {
		// Joined midway: the stream starts with the first data seen.
		d.started, d.next = true, seq
		if n == 1 && len(b) == 1 && b[0] == 0 && a.seg.Flags&packet.PSH == 0 {
			d.next++ // a keep-alive: the byte before the next one, with any content
		}
	}
	below := c.below(i, seq)
	if below == 1 && n == 1 || below > 0 && c.moveStart(i, seq) {
		below = 0 // a keep-alive before the first data; or this is the start now
	}
	if seq == d.next && c.flow.hold == nil && !early && len(b) == n {
		a.isNew = true
		a.deliver(c, i, n, b)
		return
	}
	if below > 0 {
		r := int(min(below, int64(n)))
		captured := min(r, len(b))
		if a.takeBeforeStart(c, i, r, b[:captured], below); r == n {
			return
		}
		seq += uint32(r)
		n -= r
		b = b[captured:]
	}
	if old := int64(int32(d.next - seq)); old > 0 {
		// The first bytes were delivered before.
		r := int(min(old, int64(n)))
		a.repeat(c, i, r, c.flow.ways[i].pos-old)
		if r == n {
			return
		}
		seq += uint32(r)
		n -= r
		b = b[min(r, len(b)):]
	}
	first := c.firstHeld(i)
	switch {
	case seq != d.next || early || len(b) < n || first != nil && first.seq == seq:
		a.holdData(c, i, seq, n, b)
	case first != nil:
		// It fills the hole before the first piece; the rest repeats or extends the pieces.
		r := min(int(first.seq-seq), n)
		a.isNew = true
		if a.deliver(c, i, r, b[:r]); r < n {
			a.holdData(c, i, seq+uint32(r), n-r, b[r:])
		}
	default:
		a.isNew = true
		a.deliver(c, i, n, b)
	}
}

// overhead counts the packet's overhead, which goes to a stream.
func (a *Assembler) overhead() { a.Ledger.Overhead += int64(a.meta.Overhead) }

// deliver hands on the next n bytes of side i, of which b were captured.
func (a *Assembler) deliver(c *Connection, i, n int, b []byte) {
	d, w := &c.sides[i], &c.flow.ways[i]
	a.overhead()
	if len(b) > 0 {
		a.meta.Pos, a.meta.Seq = w.pos, d.next
		a.Ledger.Stream += int64(len(b))
		w.pos += int64(len(b))
		w.stream.Data(b, &a.meta)
		a.meta.Overhead = 0
	}
	if cut := int64(n - len(b)); cut > 0 {
		a.meta.Pos = w.pos
		a.Ledger.BeyondSnap += cut
		w.pos += cut
		w.stream.Gap(cut, cut, &a.meta)
		a.meta.Overhead = 0
	}
	d.next += uint32(n)
}

// gap reports to the stream of side i that its next n bytes were never captured.
func (a *Assembler) gap(c *Connection, i int, n int64, m Meta) {
	w := &c.flow.ways[i]
	a.Ledger.Gaps++
	a.Ledger.GapBytes += n
	m.Pos, m.Overhead = w.pos, 0
	w.pos += n
	w.stream.Gap(n, 0, &m)
}
