package pipeline

import (
	"dubbo-wire/internal/call"
)

// output takes what comes out of lanes.
type output interface {
	// began is told of the first packet of each connection, ended of connections that were never opened, first being the
	// place of their first packet in the capture; opened comes with the first payload.
	began(l *lane, first int64)
	ended(l *lane, first int64)
	opened(l *lane, c *call.Conn, first int64)
	// frame takes each frame; r is nil where nobody wants rows, and borrowed.
	frame(l *lane, m *call.Message, r *Row)
	// call takes a closed call, which is borrowed.
	call(l *lane, c *call.Call, selected bool)
	// settled takes a message for good, and frees it.
	settled(l *lane, m *call.Message)
}

// delivery gives what comes out to the sink, with numbers: of connections in the order of their first packets, of frames
// in the order in which they were complete. Everything comes in capture order.
type delivery struct {
	sink    Sink
	frames  int64
	conns   int
	scratch call.Call
	// waiting is the numbers of connections that are not opened, by their first packet.
	unopened map[int64]int
}

func (d *delivery) beginConnection(first int64) {
	d.conns++
	if d.unopened == nil {
		d.unopened = make(map[int64]int)
	}
	d.unopened[first] = d.conns
}

func (d *delivery) forgetConnection(first int64) { delete(d.unopened, first) }

func (d *delivery) numberConnection(c *call.Conn, first int64) {
	c.Number = d.unopened[first]
	delete(d.unopened, first)
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
	if m.Owner != nil {
		m.Owner.Settle(m)
	}
}

// With one job a delivery is the output itself.

func (d *delivery) began(_ *lane, first int64)                { d.beginConnection(first) }
func (d *delivery) ended(_ *lane, first int64)                { d.forgetConnection(first) }
func (d *delivery) opened(_ *lane, c *call.Conn, first int64) { d.numberConnection(c, first) }
func (d *delivery) frame(_ *lane, m *call.Message, r *Row)    { d.numberFrame(m, r) }
func (d *delivery) call(_ *lane, c *call.Call, selected bool) { d.closeCall(c, selected) }
func (d *delivery) settled(l *lane, m *call.Message) {
	d.settle(m)
	l.pool.Free(m)
}
