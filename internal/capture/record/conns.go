package record

import (
	"bytes"

	"dubbo-wire/internal/capture/packet"
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
	ends       pair
	list       uint8
	fins       uint8  // which directions have ended
	syn        bool   // seq is that of the SYN it began with
	seq        uint32 //
	prev, next int32  // in its list; next is also that of the free ones
	last       int64  // when it was last heard of
	handshake  chain
	payload    chain
}

type list struct{ oldest, newest int32 }

// table is all connections.
type table struct {
	index map[pair]int32
	slabs [][]conn
	free  int32
	limit int
	lists [lists]list
	mem   arena
	// leave is told of packets that are given up.
	heldPackets, heldBytes int64
	left                   func(packets, bytes int64)
}

func newTable(limit, memory int, left func(packets, bytes int64)) *table {
	t := &table{index: make(map[pair]int32), free: -1, limit: limit, mem: newArena(memory), left: left}
	for i := range t.lists {
		t.lists[i] = list{-1, -1}
	}
	return t
}

func (t *table) at(i int32) *conn { return &t.slabs[i/slabConns][i%slabConns] }

// find returns the connection between two ends, or -1.
func (t *table) find(p *pair) int32 {
	if i, ok := t.index[*p]; ok {
		return i
	}
	return -1
}

// add makes an entry, and forgets another if there are too many.
func (t *table) add(p *pair, which uint8) int32 {
	if len(t.index) >= t.limit {
		for _, l := range [...]uint8{closed, quiet, busy, rpc} {
			if i := t.lists[l].oldest; i >= 0 {
				t.forget(i)
				break
			}
		}
	}
	if t.free < 0 {
		first := int32(len(t.slabs) * slabConns)
		t.slabs = append(t.slabs, make([]conn, slabConns))
		for i := range int32(slabConns) {
			t.at(first + i).next = first + i + 1
		}
		t.at(first + slabConns - 1).next = -1
		t.free = first
	}
	i := t.free
	c := t.at(i)
	t.free = c.next
	*c = conn{ends: *p}
	t.index[*p] = i
	t.append(i, which)
	return i
}

// forget removes a connection, and what it holds.
func (t *table) forget(i int32) {
	c := t.at(i)
	t.giveUp(&c.payload)
	t.giveUp(&c.handshake)
	t.unlink(i)
	delete(t.index, c.ends)
	c.next = t.free
	t.free = i
}

// giveUp leaves the packets of a chain out for good.
func (t *table) giveUp(c *chain) {
	for c.count > 0 {
		h, _ := t.mem.pop(c, nil)
		t.gone(h)
		t.left(1, int64(h.wire))
	}
	*c = chain{}
}

// gone accounts for a packet that is held no longer.
func (t *table) gone(h held) {
	t.heldPackets--
	t.heldBytes -= int64(h.wire)
}

func (t *table) unlink(i int32) {
	c := t.at(i)
	l := &t.lists[c.list]
	if c.prev >= 0 {
		t.at(c.prev).next = c.next
	} else {
		l.oldest = c.next
	}
	if c.next >= 0 {
		t.at(c.next).prev = c.prev
	} else {
		l.newest = c.prev
	}
}

// append makes a connection the newest of a list.
func (t *table) append(i int32, which uint8) {
	c, l := t.at(i), &t.lists[which]
	c.list, c.prev, c.next = which, l.newest, -1
	if l.newest >= 0 {
		t.at(l.newest).next = i
	} else {
		l.oldest = i
	}
	l.newest = i
}

// move makes a connection the newest of a list that it may be in already.
func (t *table) move(i int32, which uint8) {
	if t.at(i).list == which && t.lists[which].newest == i {
		return
	}
	t.unlink(i)
	t.append(i, which)
}

// segment notes what a segment says of a connection that carries messages.
func (t *table) segment(i int32, s *packet.Segment, swapped bool, now int64) {
	c := t.at(i)
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
		t.move(i, closed)
	} else {
		t.move(i, rpc)
	}
}

func side(swapped bool) uint8 {
	if swapped {
		return 2
	}
	return 1
}

// hold keeps a packet of a connection that is undecided.
func (t *table) hold(i int32, s *packet.Segment, h held, data []byte) {
	c := t.at(i)
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
		t.oldestOf(&c.payload)
	}
	t.move(i, max(which, c.list))
	for !t.mem.room(to.chunksFor(need)) || need > maxHeldOfOne {
		if need > maxHeldOfOne || !t.makeRoom(i) {
			t.gone(h)
			t.left(1, int64(h.wire))
			return
		}
	}
	t.mem.push(to, h, data)
}

// oldestOf gives up the oldest packet of a chain.
func (t *table) oldestOf(c *chain) {
	h, _ := t.mem.pop(c, nil)
	t.gone(h)
	t.left(1, int64(h.wire))
}

// makeRoom gives up packets of others than connection i, those with payload first; at last its own. It reports whether
// there was anything.
func (t *table) makeRoom(i int32) bool {
	if o := t.lists[busy].oldest; o >= 0 && o != i {
		c := t.at(o)
		t.giveUp(&c.payload)
		t.move(o, quiet)
		return true
	}
	if o := t.lists[quiet].oldest; o >= 0 && o != i {
		t.forget(o)
		return true
	}
	if c := t.at(i); c.payload.count > 0 {
		t.oldestOf(&c.payload)
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
	i := t.lists[which].oldest
	if i < 0 || t.at(i).last > before {
		return false
	}
	t.forget(i)
	return true
}

// giveUpAll leaves out all that is held: the recording has ended.
func (t *table) giveUpAll() {
	for _, which := range [...]uint8{quiet, busy} {
		for t.lists[which].oldest >= 0 {
			t.forget(t.lists[which].oldest)
		}
	}
}
