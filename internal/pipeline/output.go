package pipeline

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
)

// output receives the results of lanes.
type output interface {
	// began receives each connection with its first packet, ended each that ends without payload, opened each with its first payload.
	// mark is its number in the lane, in the order in which they began.
	began(l *lane, mark uint32)
	ended(l *lane, mark uint32)
	opened(l *lane, c *call.Conn, mark uint32)
	// frame receives each message; r is nil if rows are not needed, and borrowed.
	frame(l *lane, m *call.Message, r *Row)
	// call receives a closed call, which is borrowed.
	call(l *lane, c *call.Call, selected bool)
	// settled receives a settled message and frees it.
	settled(l *lane, m *call.Message)
}

// delivery numbers the results and passes them to the sink: connections in the order of their first packets, messages
// in the order of completion. It receives everything in capture order.
type delivery struct {
	sink    Sink
	frames  int64
	conns   int
	scratch call.Call
	// unopened is the connections without payload, by lane.
	unopened [Lanes]unopened
}

// unopened is the connections of a lane without payload, in the order in which they began. It takes a third of the memory of a map.
type unopened struct {
	blocks  []unopenedBlock
	n, gone int // connections in blocks, and those that were taken
}

// unopenedBlock has room for unopenedLen connections, so that nothing is copied when there are more.
type unopenedBlock []unopenedConn

const unopenedLen = 512

type unopenedConn struct{ mark, number uint32 } // number is 0 if it was taken

// take removes the connection with a mark, and returns its number.
func (u *unopened) take(mark uint32) int {
	k, _ := slices.BinarySearchFunc(u.blocks, mark, func(b unopenedBlock, mark uint32) int { return cmp.Compare(b[len(b)-1].mark, mark) })
	b := u.blocks[k]
	i, _ := slices.BinarySearchFunc(b, mark, func(c unopenedConn, mark uint32) int { return cmp.Compare(c.mark, mark) })
	n := b[i].number
	b[i].number = 0
	if u.gone++; u.gone > u.n/2 {
		old := u.blocks // read ahead of what is written to the same blocks
		u.blocks, u.n, u.gone = old[:0], 0, 0
		for _, b := range old {
			for _, c := range b {
				if c.number != 0 {
					u.add(c)
				}
			}
		}
	}
	return int(n)
}

func (u *unopened) add(c unopenedConn) {
	k := u.n / unopenedLen
	switch {
	case k < len(u.blocks):
	case k < cap(u.blocks):
		u.blocks = u.blocks[:k+1]
		u.blocks[k] = u.blocks[k][:0]
	default:
		u.blocks = append(u.blocks, nil)
	}
	if u.blocks[k] == nil {
		u.blocks[k] = make(unopenedBlock, 0, unopenedLen)
	}
	u.blocks[k] = append(u.blocks[k], c)
	u.n++
}

func (d *delivery) beginConnection(lane int, mark uint32) {
	d.conns++
	d.unopened[lane].add(unopenedConn{mark, uint32(d.conns)})
}

func (d *delivery) forgetConnection(lane int, mark uint32) { d.unopened[lane].take(mark) }

func (d *delivery) numberConnection(lane int, c *call.Conn, mark uint32) {
	c.Number = d.unopened[lane].take(mark)
}

func (d *delivery) numberFrame(m *call.Message, r *Row) {
	d.frames++
	m.Number = d.frames
	if r != nil {
		r.Number = d.frames
		d.sink.Frame(r)
	}
}

func (d *delivery) closeCall(c *call.Call, selected bool) {
	d.sink.Call(c, selected)
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			m.DropDetails()
		}
	}
}

func (d *delivery) settle(m *call.Message) {
	m.Wire += m.Repeated
	if m.Owner != nil {
		m.Owner.Settle(m)
	}
	if m.Watcher != nil {
		m.Watcher(m)
	}
}

// With one job a delivery is the output of the lanes.

func (d *delivery) began(l *lane, mark uint32)                { d.beginConnection(l.index, mark) }
func (d *delivery) ended(l *lane, mark uint32)                { d.forgetConnection(l.index, mark) }
func (d *delivery) opened(l *lane, c *call.Conn, mark uint32) { d.numberConnection(l.index, c, mark) }
func (d *delivery) frame(_ *lane, m *call.Message, r *Row)    { d.numberFrame(m, r) }
func (d *delivery) call(_ *lane, c *call.Call, selected bool) { d.closeCall(c, selected) }
func (d *delivery) settled(l *lane, m *call.Message) {
	d.settle(m)
	l.pool.Free(m)
}
