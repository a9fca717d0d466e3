package record

import "encoding/binary"

// Packets of undecided connections are stored in chains of small chunks. So the limit on all of them holds whatever
// their sizes are, nothing is allocated per packet, and dropping a packet costs no more than storing it.

const (
	chunkData    = 508
	slabChunks   = 256 // chunks that are allocated together
	maxHeld      = 32 << 20
	maxHeldOfOne = 256 << 10 // per connection
)

// chunk is a part of a chain; 512 bytes.
type chunk struct {
	next int32
	data [chunkData]byte
}

// arena is the memory of all chains. It grows up to its limit and does not shrink.
type arena struct {
	slabs [][]chunk
	free  int32 // first free chunk, -1: none
	spare int   // number of free chunks
	limit int   // largest number of chunks
}

// newArena returns an arena of that many bytes, rounded up to whole slabs.
func newArena(bytes int) arena {
	slab := slabChunks * (chunkData + 4)
	return arena{free: -1, limit: (bytes + slab - 1) / slab * slabChunks}
}

func (a *arena) at(i int32) *chunk { return &a.slabs[i/slabChunks][i%slabChunks] }

// room reports whether n more chunks are available.
func (a *arena) room(n int) bool { return a.spare+a.limit-len(a.slabs)*slabChunks >= n }

func (a *arena) take() int32 {
	if a.free < 0 {
		first := int32(len(a.slabs) * slabChunks)
		a.slabs = append(a.slabs, make([]chunk, slabChunks))
		for i := range int32(slabChunks) {
			a.at(first + i).next = first + i + 1
		}
		a.at(first + slabChunks - 1).next = -1
		a.free, a.spare = first, slabChunks
	}
	i := a.free
	c := a.at(i)
	a.free, c.next = c.next, -1
	a.spare--
	return i
}

func (a *arena) give(i int32) {
	a.at(i).next = a.free
	a.free = i
	a.spare++
}

// heldHead is the number of bytes before each packet in a chain: time, length on the wire, captured bytes, interface.
const heldHead = 8 + 4 + 4 + 4

// held is a packet in a chain, without its bytes.
type held struct {
	at         int64
	wire, size int
	iface      int32
}

// chain is a sequence of packets; the zero value is empty.
type chain struct {
	first, last int32 // chunks, valid if count > 0
	from, to    int   // start in first, end in last
	bytes       int   // including the heads
	count       int
}

// chunksFor returns an upper bound of the chunks that the chain needs for n more bytes.
func (c *chain) chunksFor(n int) int {
	if c.count > 0 {
		n -= min(n, chunkData-c.to)
	}
	return (n + chunkData - 1) / chunkData
}

// push appends a packet. There must be room for it.
func (a *arena) push(c *chain, h held, data []byte) {
	if c.count == 0 {
		c.first = a.take()
		c.last, c.from, c.to, c.bytes = c.first, 0, 0, 0
	}
	var head [heldHead]byte
	binary.LittleEndian.PutUint64(head[:], uint64(h.at))
	binary.LittleEndian.PutUint32(head[8:], uint32(h.wire))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(data)))
	binary.LittleEndian.PutUint32(head[16:], uint32(h.iface))
	a.write(c, head[:])
	a.write(c, data)
	c.bytes += heldHead + len(data)
	c.count++
}

func (a *arena) write(c *chain, b []byte) {
	for len(b) > 0 {
		if c.to == chunkData {
			i := a.take()
			a.at(c.last).next = i
			c.last, c.to = i, 0
		}
		n := copy(a.at(c.last).data[c.to:], b)
		c.to += n
		b = b[n:]
	}
}

// pop removes the first packet and returns it, with its bytes appended to into unless that is nil.
func (a *arena) pop(c *chain, into []byte) (held, []byte) {
	var head [heldHead]byte
	a.read(c, head[:0], heldHead)
	h := held{
		at:    int64(binary.LittleEndian.Uint64(head[:])),
		wire:  int(binary.LittleEndian.Uint32(head[8:])),
		size:  int(binary.LittleEndian.Uint32(head[12:])),
		iface: int32(binary.LittleEndian.Uint32(head[16:])),
	}
	into = a.read(c, into, h.size)
	c.bytes -= heldHead + h.size
	c.count--
	if c.count == 0 {
		a.give(c.first) // all chunks before it are free already
	}
	return h, into
}

// read removes n bytes from the start of the chain, and appends them to into unless that is nil.
func (a *arena) read(c *chain, into []byte, n int) []byte {
	for n > 0 {
		if c.from == chunkData {
			next := a.at(c.first).next
			a.give(c.first)
			c.first, c.from = next, 0
		}
		part := min(n, chunkData-c.from)
		if into != nil {
			into = append(into, a.at(c.first).data[c.from:c.from+part]...)
		}
		c.from += part
		n -= part
	}
	return into
}
