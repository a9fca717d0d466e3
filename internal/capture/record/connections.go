package record

import (
	"bytes"
	"cmp"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/queue"
)

// Each connection either carries messages, so its packets are written at once, or is undecided, so they are held. At a
// limit the connections that were idle for longest are dropped first, and of their packets the ones with payload before
// the handshake.

const (
	// maxConns limits the connections that are known at a time.
	maxConns = 1 << 18
	// slabConns is how many entries are allocated together.
	slabConns = 1 << 10
	// maxHandshake is how many packets before the first one with payload are held separately as the handshake,
	// including copies and retransmissions.
	maxHandshake = 8
	// keepClosed is how long a connection with messages is remembered after its end, keepIdle one without an end
	// (longer than the pipeline knows it, so that the pipeline reports it again), keepSilent an undecided one. All are
	// nanoseconds of capture time since the last packet.
	keepClosed = 60_000_000_000
	keepIdle   = 6 * 3600_000_000_000
	keepSilent = 600_000_000_000
	// expireAtOnce limits the connections that are dropped per packet.
	expireAtOnce = 64
)

// pair is both ends of a connection, the lesser one first.
type pair struct{ a, b packet.Endpoint }

// pairOf orders the ends. side is 2 if they were in the other order, else 1.
func pairOf(x, y packet.Endpoint) (p pair, side uint8) {
	if cmp.Or(bytes.Compare(x.IP[:], y.IP[:]), int(x.Port)-int(y.Port)) > 0 {
		return pair{y, x}, 2
	}
	return pair{x, y}, 1
}

// The lists of connections, each ordered by the time of the last packet.
const (
	quiet  = iota // undecided, without payload so far
	busy          // undecided, holds packets with payload
	rpc           // carries messages
	closed        // carried messages, and has ended
	lists
)

// keep is how long the connections of each list are remembered.
var keep = [lists]int64{quiet: keepSilent, busy: keepSilent, rpc: keepIdle, closed: keepClosed}

// dropOrder are the lists in the order in which connections are dropped.
var dropOrder = [lists]uint8{closed, quiet, busy, rpc}

// conn is a connection. Generations with the same ends are one.
type conn struct {
	ends      pair
	list      uint8
	fins      uint8 // directions that have ended
	syn       bool  // seq is the number of its SYN
	seq       uint32
	place     queue.Link[*conn]
	last      int64 // time of the last packet
	handshake chain
	payload   chain
}

// table holds all connections.
type table struct {
	index map[pair]*conn
	free  []*conn
	limit int
	lists [lists]queue.Queue[*conn]
	mem   arena
	// onLeftOut is called for packets that are dropped.
	heldPackets, heldBytes int64
	onLeftOut              func(packets, bytes int64)
}

func newTable(limit, memory int, onLeftOut func(packets, bytes int64)) *table {
	return &table{index: make(map[pair]*conn), limit: limit, mem: newArena(memory), onLeftOut: onLeftOut}
}

// add adds a connection, and drops another one if there are too many.
func (t *table) add(p *pair, which uint8) *conn {
	if len(t.index) >= t.limit {
		for _, l := range dropOrder {
			if !t.lists[l].Empty() {
				t.forget(t.lists[l].First())
				break
			}
		}
	}
	if len(t.free) == 0 {
		slab := make([]conn, slabConns)
		for i := range slab {
			t.free = append(t.free, &slab[i])
		}
	}
	c := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	*c = conn{ends: *p}
	c.place.Of = c
	t.index[*p] = c
	t.move(c, which)
	return c
}

// forget removes a connection and drops its held packets.
func (t *table) forget(c *conn) {
	t.giveUp(&c.payload, &c.handshake)
	c.place.Remove()
	delete(t.index, c.ends)
	t.free = append(t.free, c)
}

// giveUp drops all packets of chains.
func (t *table) giveUp(chains ...*chain) {
	for _, c := range chains {
		for c.count > 0 {
			t.dropOldest(c)
		}
		*c = chain{}
	}
}

// uncount accounts for a packet that is no longer held.
func (t *table) uncount(h held) {
	t.heldPackets--
	t.heldBytes -= int64(h.wire)
}

// move makes a connection the newest one of a list.
func (t *table) move(c *conn, which uint8) {
	c.place.Remove()
	c.list = which
	t.lists[which].Push(&c.place)
}

// update notes a segment of a connection that carries messages; side is from pairOf.
func (t *table) update(c *conn, s *packet.Segment, side uint8, now int64) {
	c.last = now
	switch {
	case s.Flags&packet.SYN != 0:
		c.fins = 0
	case s.Flags&packet.RST != 0:
		c.fins = 3
	case s.Flags&packet.FIN != 0:
		c.fins |= side
	}
	if c.fins == 3 {
		t.move(c, closed)
	} else {
		t.move(c, rpc)
	}
}

// hold holds a packet of an undecided connection.
func (t *table) hold(c *conn, s *packet.Segment, h held, data []byte) {
	c.last = h.at
	if s.Flags&(packet.SYN|packet.ACK) == packet.SYN {
		if c.syn && c.seq != s.Seq || c.payload.count > 0 {
			// A new connection between the same ends: the previous one has ended without a message.
			t.giveUp(&c.payload, &c.handshake)
		}
		c.syn, c.seq = true, s.Seq
	}
	to, which := &c.payload, uint8(busy)
	if s.PayloadLen == 0 && c.payload.count == 0 && c.handshake.count < maxHandshake {
		to, which = &c.handshake, quiet
	}
	need := heldHead + len(data)
	t.heldPackets++
	t.heldBytes += int64(h.wire)
	for c.payload.count > 0 && c.payload.bytes+need > maxHeldOfOne {
		t.dropOldest(&c.payload)
	}
	t.move(c, max(which, c.list))
	for !t.mem.room(to.chunksFor(need)) || need > maxHeldOfOne {
		if need > maxHeldOfOne || !t.makeRoom(c) {
			t.uncount(h)
			t.onLeftOut(1, int64(h.wire))
			return
		}
	}
	t.mem.push(to, h, data)
}

// dropOldest drops the oldest packet of a chain.
func (t *table) dropOldest(c *chain) {
	h, _ := t.mem.pop(c, nil)
	t.uncount(h)
	t.onLeftOut(1, int64(h.wire))
}

// makeRoom drops packets of other connections than c, the ones with payload first, and finally of c. It reports whether
// there were any.
func (t *table) makeRoom(c *conn) bool {
	if l := &t.lists[busy]; !l.Empty() && l.First() != c {
		o := l.First()
		t.giveUp(&o.payload)
		t.move(o, quiet)
		return true
	}
	if l := &t.lists[quiet]; !l.Empty() && l.First() != c {
		t.forget(l.First())
		return true
	}
	if c.payload.count > 0 {
		t.dropOldest(&c.payload)
		return true
	}
	return false
}

// expire removes connections from which nothing more is expected.
func (t *table) expire(now int64) {
	dropped := 0
	for _, which := range dropOrder {
		for l := &t.lists[which]; dropped < expireAtOnce && !l.Empty() && l.First().last <= now-keep[which]; dropped++ {
			t.forget(l.First())
		}
	}
}

// giveUpAll drops all held packets, at the end of the recording.
func (t *table) giveUpAll() {
	for _, which := range [...]uint8{quiet, busy} {
		for l := &t.lists[which]; !l.Empty(); {
			t.forget(l.First())
		}
	}
}
