package pipeline

import (
	"dubbo-wire/internal/call"
)

// output receives the results of lanes.
type output interface {
	// began receives the first packet of each connection, ended that of each connection that ends without payload,
	// opened that of each connection with its first payload. first is the packet's ordinal in the capture.
	began(l *lane, first int64)
	ended(l *lane, first int64)
	opened(l *lane, c *call.Conn, first int64)
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
	// unopened is the numbers of connections without payload, by first packet.
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
	m.Wire += m.Repeated
	if m.Owner != nil {
		m.Owner.Settle(m)
	}
	if m.Watcher != nil {
		m.Watcher.Settle(m)
	}
}

// With one job a delivery is the output of the lanes.

func (d *delivery) began(_ *lane, first int64)                { d.beginConnection(first) }
func (d *delivery) ended(_ *lane, first int64)                { d.forgetConnection(first) }
func (d *delivery) opened(_ *lane, c *call.Conn, first int64) { d.numberConnection(c, first) }
func (d *delivery) frame(_ *lane, m *call.Message, r *Row)    { d.numberFrame(m, r) }
func (d *delivery) call(_ *lane, c *call.Call, selected bool) { d.closeCall(c, selected) }
func (d *delivery) settled(l *lane, m *call.Message) {
	d.settle(m)
	l.pool.Free(m)
}
