package pipeline

import (
	"unsafe"

	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/rpc"
)

// manyConnections is the number of open connections from which on they are loaded before their turn. What fewer have, the processor's caches have.
var manyConnections = 4096

// preloadConnections begins to load the connections of n segments, at most maxBatch, which at returns with their lanes and inputs. Each step
// takes all segments in turn: what it follows has come meanwhile, and they wait for memory together.
func preloadConnections(n int, at func(i int) (l *lane, s *packet.Segment, file int)) {
	var tags [maxBatch]uint32
	var conns [maxBatch]*assemble.Connection
	for i := range n {
		if l, s, file := at(i); l != nil {
			tags[i] = l.asm.PreloadSlot(s, file)
		}
	}
	for i := range n {
		if l, _, _ := at(i); l != nil {
			conns[i] = l.asm.PreloadConnection(tags[i])
		}
	}
	for _, c := range conns[:n] {
		if c != nil {
			c.PreloadFlow(unsafe.Offsetof(connection{}.flow))
		}
	}
	for _, there := range [...]bool{false, true} {
		for i, c := range conns[:n] {
			if c == nil {
				continue
			}
			_, s, _ := at(i)
			stream, side := c.Stream(s)
			if d, ok := stream.(*direction); ok {
				if r, ok := d.conn.reader.(rpc.Preloader); ok {
					r.Preload(side, there)
				}
			}
		}
	}
}
