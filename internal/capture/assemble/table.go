package assemble

import (
	"encoding/binary"
	"math/bits"

	"dubbo-wire/internal/capture/packet"
)

// table finds connections by 4-tuple. The connections are in blocks that do not move, so pointers to them stay valid,
// and are reused; the slots have no pointers. It uses open addressing with linear probing and is at most seven eighths
// full. The hash is seeded, so no capture can choose packets that collide.
type table struct {
	seed   [2]uint64
	slots  []slot
	n      int
	blocks []*[blockLen]Connection
	free   uint32 // the first free id, whose connection has the next one as next; 0: none
	used   uint32 // ids given out, including free ones; 0 is none
}

const blockLen = 128

// slot is a place of the table; id 0 means that it is empty.
type slot struct{ tag, id uint32 }

func (t *table) init(s0, s1 uint64) {
	t.seed = [2]uint64{s0, s1}
	t.slots = make([]slot, 1024)
	t.used = 1
}

// source returns the source of an input; 0 if all inputs are one capture.
func (a *Assembler) source(file int) int {
	if file < len(a.cfg.Apart) {
		return a.cfg.Apart[file]
	}
	return 0
}

// hash is equal for both directions of a connection in a source.
func (t *table) hash(x, y *packet.Endpoint, source int) uint32 {
	h := t.mix(x) + t.mix(y)
	h ^= uint64(source) * 0xa0761d6478bd642f
	return uint32((h * 0x9e3779b97f4a7c15) >> 32)
}

// tagOf returns the hash of a connection.
func (a *Assembler) tagOf(c *Connection) uint32 {
	return a.table.hash(&c.Ends[0], &c.Ends[1], a.source(int(c.File)))
}

// mix folds an endpoint: one round of wyhash, with secrets instead of its constants.
func (t *table) mix(e *packet.Endpoint) uint64 {
	x := binary.LittleEndian.Uint64(e.IP[:8]) + uint64(e.Port)*0x9e3779b97f4a7c15
	hi, lo := bits.Mul64(x^t.seed[0], binary.LittleEndian.Uint64(e.IP[8:])^t.seed[1])
	return hi ^ lo
}

func (t *table) at(id uint32) *Connection { return &t.blocks[id/blockLen][id%blockLen] }

// find returns the connection of a segment, or nil, and which side sent the segment.
func (a *Assembler) find(tag uint32, s *packet.Segment, source int) (*Connection, int) {
	t := &a.table
	mask := uint32(len(t.slots) - 1)
	for k := tag & mask; ; k = (k + 1) & mask {
		e := t.slots[k]
		if e.id == 0 {
			return nil, 0
		}
		if e.tag != tag {
			continue
		}
		c := t.at(e.id)
		if a.cfg.Apart != nil && a.source(int(c.File)) != source {
			continue
		}
		if c.Ends[0].Same(&s.Src) && c.Ends[1].Same(&s.Dst) {
			return c, 0
		}
		if c.Ends[1].Same(&s.Src) && c.Ends[0].Same(&s.Dst) {
			return c, 1
		}
	}
}

// add adds a connection.
func (t *table) add(tag uint32) *Connection {
	if t.n >= len(t.slots)/8*7 {
		t.grow()
	}
	id := t.free
	if id != 0 {
		t.free = t.at(id).next
	} else {
		id = t.used
		t.used++
		if int(id/blockLen) == len(t.blocks) {
			t.blocks = append(t.blocks, new([blockLen]Connection))
		}
	}
	t.put(slot{tag, id})
	t.n++
	c := t.at(id)
	c.id = id
	return c
}

func (t *table) put(e slot) {
	mask := uint32(len(t.slots) - 1)
	k := e.tag & mask
	for t.slots[k].id != 0 {
		k = (k + 1) & mask
	}
	t.slots[k] = e
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, e := range old {
		if e.id != 0 {
			t.put(e)
		}
	}
}

// remove removes a connection and clears it. Later slots move up, so that no search ends too early.
func (t *table) remove(c *Connection, tag uint32) {
	mask := uint32(len(t.slots) - 1)
	hole := tag & mask
	for t.slots[hole].id != c.id {
		hole = (hole + 1) & mask
	}
	for k := (hole + 1) & mask; t.slots[k].id != 0; k = (k + 1) & mask {
		if home := t.slots[k].tag & mask; (k-home)&mask >= (k-hole)&mask {
			t.slots[hole] = t.slots[k]
			hole = k
		}
	}
	t.slots[hole] = slot{}
	t.n--
	id := c.id
	*c = Connection{flow: &noFlow, next: t.free}
	t.free = id
}

// list is a list of connections by id, in the order in which they were pushed.
type list struct {
	head, tail uint32
	n          int
	state      state
	// looked is the first connection that dropIdle saw, which is not idle before idleFrom.
	looked   uint32
	idleFrom int64
}

func (t *table) push(l *list, c *Connection) {
	c.prev, c.next, c.state = l.tail, 0, l.state
	if l.tail != 0 {
		t.at(l.tail).next = c.id
	} else {
		l.head = c.id
	}
	l.tail = c.id
	l.n++
}

func (t *table) pull(l *list, c *Connection) {
	if c.prev != 0 {
		t.at(c.prev).next = c.next
	} else {
		l.head = c.next
	}
	if c.next != 0 {
		t.at(c.next).prev = c.prev
	} else {
		l.tail = c.prev
	}
	c.prev, c.next = 0, 0
	l.n--
}
