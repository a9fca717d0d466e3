package record

import (
	"bytes"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/queue"
)

// Of every connection it is known whether it carries messages (then its packets are written at once), or not yet (then
// they are held). What is given up first, when there is too much: connections that nothing was heard of for longest, and
// of what they hold, packets with payload before the handshake.

const (
	// maxConns bounds the connections that are known at a time.
	maxConns = 1 << 18
	// slabConns is how many entries are allocated together.
	slabConns = 1 << 10
	// maxHandshake is how many packets without payload, before the first with, are kept apart as the handshake: copies and
	// repeats included.
	maxHandshake = 8
	// keepClosed is how long a connection with messages is remembered behind its end, keepIdle one whose end was not seen
	// (longer than the line knows it: then the line says again what it carries), keepSilent one that is undecided. All from
	// when it was last heard of, in nanoseconds of capture time.
	keepClosed = 60_000_000_000
	keepIdle   = 6 * 3600_000_000_000
	keepSilent = 600_000_000_000
	// expireAtOnce bounds what a packet has to do for others.
	expireAtOnce = 64
)

// pair is both ends of a connection, the lesser first.
type pair struct{ a, b packet.Endpoint }

// pairOf puts the ends in order; swapped says that they were not.
func pairOf(x, y packet.Endpoint) (p pair, swapped bool) {
	c := bytes.Compare(x.IP[:], y.IP[:])
	if c == 0 {
		c = int(x.Port) - int(y.Port)
	}
	if c > 0 {
		return pair{y, x}, true
	}
	return pair{x, y}, false
}

// The lists that connections are in, each by when they were last heard of.
const (
	quiet  = iota // undecided, without payload so far
	busy          // undecided, and holding packets with payload
	rpc           // carries messages
	closed        // carried messages, and has ended
	lists
)

// conn is one connection; generations with the same ends are one.
type conn struct {
	ends      pair
	list      uint8
	fins      uint8  // which directions have ended
	syn       bool   // seq is that of the SYN it began with
	seq       uint32 //
	place     queue.Link[*conn]
	last      int64 // when it was last heard of
	handshake chain
	payload   chain
}

// table is all connections.
type table struct {
	index map[pair]*conn
	free  []*conn
	limit int
	lists [lists]queue.Queue[*conn]
	mem   arena
	// leave is told of packets that are given up.
	heldPackets, heldBytes int64
	onLeftOut              func(packets, bytes int64)
}

func newTable(limit, memory int, onLeftOut func(packets, bytes int64)) *table {
	return &table{index: make(map[pair]*conn), limit: limit, mem: newArena(memory), onLeftOut: onLeftOut}
}

// add makes an entry, and forgets another if there are too many.
func (t *table) add(p *pair, which uint8) *conn {
	if len(t.index) >= t.limit {
		for _, l := range [...]uint8{closed, quiet, busy, rpc} {
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

// forget removes a connection, and what it holds.
func (t *table) forget(c *conn) {
	t.giveUp(&c.payload)
	t.giveUp(&c.handshake)
	c.place.Remove()
	delete(t.index, c.ends)
	t.free = append(t.free, c)
}

// giveUp leaves the packets of a chain out for good.
func (t *table) giveUp(c *chain) {
	for c.count > 0 {
		t.dropOldest(c)
	}
	*c = chain{}
}

// gone accounts for a packet that is held no longer.
func (t *table) uncount(h held) {
	t.heldPackets--
	t.heldBytes -= int64(h.wire)
}

// move makes a connection the newest of a list that it may be in already.
func (t *table) move(c *conn, which uint8) {
	c.place.Remove()
	c.list = which
	t.lists[which].Push(&c.place)
}

// segment notes what a segment says of a connection that carries messages.
func (t *table) update(c *conn, s *packet.Segment, swapped bool, now int64) {
	c.last = now
	switch {
	case s.Flags&packet.SYN != 0:
		c.fins = 0
	case s.Flags&packet.RST != 0:
		c.fins = 3
	case s.Flags&packet.FIN != 0:
		c.fins |= side(swapped)
	}
	if c.fins == 3 {
		t.move(c, closed)
	} else {
		t.move(c, rpc)
	}
}

func side(swapped bool) uint8 {
	if swapped {
		return 2
	}
	return 1
}

// hold keeps a packet of a connection that is undecided.
func (t *table) hold(c *conn, s *packet.Segment, h held, data []byte) {
	c.last = h.at
	if s.Flags&(packet.SYN|packet.ACK) == packet.SYN {
		if c.syn && c.seq != s.Seq || c.payload.count > 0 {
			// Another connection between the same ends: the one before has ended without a message.
			t.giveUp(&c.payload)
			t.giveUp(&c.handshake)
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

// oldestOf gives up the oldest packet of a chain.
func (t *table) dropOldest(c *chain) {
	h, _ := t.mem.pop(c, nil)
	t.uncount(h)
	t.onLeftOut(1, int64(h.wire))
}

// makeRoom gives up packets of others than connection c, those with payload first; at last its own. It reports whether
// there was anything.
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

// expire forgets what nothing more is expected of.
func (t *table) expire(now int64) {
	for n := 0; n < expireAtOnce; n++ {
		if !t.expireOne(closed, now-keepClosed) && !t.expireOne(quiet, now-keepSilent) && !t.expireOne(busy, now-keepSilent) &&
			!t.expireOne(rpc, now-keepIdle) {
			return
		}
	}
}

func (t *table) expireOne(which uint8, before int64) bool {
	l := &t.lists[which]
	if l.Empty() || l.First().last > before {
		return false
	}
	t.forget(l.First())
	return true
}

// giveUpAll leaves out all that is held: the recording has ended.
func (t *table) giveUpAll() {
	for _, which := range [...]uint8{quiet, busy} {
		for l := &t.lists[which]; !l.Empty(); {
			t.forget(l.First())
		}
	}
}
