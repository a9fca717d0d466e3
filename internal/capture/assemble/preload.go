package assemble

import (
	"unsafe"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/prefetch"
)

// A segment needs a slot of the table, then its connection, then the flow of that. With many connections none of them is in a cache. These
// functions begin to load them one by one, so that a caller can do so for several segments in turn.

// PreloadSlot begins to load the slot of the connection of a segment, and returns the hash that PreloadConnection needs.
func (a *Assembler) PreloadSlot(s *packet.Segment, file int) (tag uint32) {
	t := &a.table
	tag = t.hash(&s.Src, &s.Dst, a.source(file))
	prefetch.Bytes(unsafe.Slice((*byte)(unsafe.Pointer(&t.slots[tag&uint32(len(t.slots)-1)])), 1))
	return tag
}

// PreloadConnection begins to load a connection with that hash, and returns it, nil if there is none. Another connection may have the hash as well.
func (a *Assembler) PreloadConnection(tag uint32) *Connection {
	t := &a.table
	mask := uint32(len(t.slots) - 1)
	for k := tag & mask; t.slots[k].id != 0; k = (k + 1) & mask {
		if t.slots[k].tag == tag {
			c := t.at(t.slots[k].id)
			prefetch.Write(unsafe.Pointer(c), unsafe.Sizeof(*c))
			return c
		}
	}
	return nil
}

// PreloadFlow begins to load the flow of a connection, and that many bytes before it: the handler's data, if these contain the flow. They are
// not read, so they need not exist.
func (c *Connection) PreloadFlow(before uintptr) {
	if f := c.flow; f != &noFlow {
		prefetch.Write(unsafe.Add(unsafe.Pointer(f), -int(before)), before+unsafe.Sizeof(*f))
	}
}

// Stream returns the stream of the side that sent a segment, nil before the first payload, and the side.
func (c *Connection) Stream(s *packet.Segment) (Stream, int) {
	i := c.side(s)
	return c.flow.ways[i].stream, i
}
