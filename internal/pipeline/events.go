package pipeline

import (
	"math"

	"dubbo-wire/internal/call"
)

// event is something that came out of a lane, and waits to be brought into order.
type event struct {
	order    uint64 // in capture order
	first    int64  // of a connection
	conn     *call.Conn
	m        *call.Message // the frame's; the request
	response *call.Message
	rare     *rare // nil in most events, of which there are many: what is in it costs them nothing
	kind     eventKind
	side     uint8
	selected bool
}

// rare is the row of a frame, where rows are wanted, or why a call was aborted.
type rare struct {
	row     Row
	aborted string
}

type eventKind uint8

const (
	eventBegan eventKind = iota
	eventEnded
	eventOpened
	eventFrame
	eventCall
	eventSettled
)

// recorder is the output of one worker: it keeps what comes out of its lanes, which is in capture order.
//
// From then on messages belong to two goroutines, each with fields of its own: numbers, owners and rendered values to the
// one that delivers, link bytes and everything of the pairer to the worker. Settled messages come back with the batch.
type recorder struct{ events []event }

// again begins another batch in the memory of one that was delivered.
func (r *recorder) reset(delivered []event, pool *call.Pool) {
	for i := range delivered {
		if e := &delivered[i]; e.kind == eventSettled {
			pool.Free(e.m)
		}
	}
	clear(delivered)
	r.events = delivered[:0]
}

func (r *recorder) add(l *lane, e event) {
	e.order = l.now
	r.events = append(r.events, e)
}

func (r *recorder) began(l *lane, first int64) { r.add(l, event{kind: eventBegan, first: first}) }
func (r *recorder) ended(l *lane, first int64) { r.add(l, event{kind: eventEnded, first: first}) }

func (r *recorder) opened(l *lane, c *call.Conn, first int64) {
	r.add(l, event{kind: eventOpened, conn: c, first: first})
}

func (r *recorder) frame(l *lane, m *call.Message, row *Row) {
	e := event{kind: eventFrame, m: m}
	if row != nil {
		e.rare = &rare{row: *row}
		e.rare.row.Msg = row.Msg.Clone(false, false)
	}
	r.add(l, e)
}

func (r *recorder) call(l *lane, c *call.Call, selected bool) {
	e := event{kind: eventCall, conn: c.Conn, side: uint8(c.Side), m: c.Request, response: c.Response, selected: selected}
	if c.Aborted != "" {
		e.rare = &rare{aborted: c.Aborted}
	}
	r.add(l, e)
}

func (r *recorder) settled(l *lane, m *call.Message) { r.add(l, event{kind: eventSettled, m: m}) }

// merge delivers what came out of the workers for one batch, in capture order.
func (d *delivery) merge(work []portion) {
	at := make([]int, len(work))
	for {
		// The worker that is furthest behind, up to where the next one begins.
		next, until := -1, uint64(math.MaxUint64)
		for i := range work {
			if at[i] == len(work[i].events) {
				continue
			}
			place := work[i].events[at[i]].order
			switch {
			case next < 0:
				next = i
			case place < work[next].events[at[next]].order:
				until = work[next].events[at[next]].order
				next = i
			case place < until:
				until = place
			}
		}
		if next < 0 {
			return
		}
		events := work[next].events
		k := at[next]
		for k < len(events) && events[k].order < until {
			d.deliver(&events[k])
			k++
		}
		at[next] = k
	}
}

func (d *delivery) deliver(e *event) {
	switch e.kind {
	case eventBegan:
		d.beginConnection(e.first)
	case eventEnded:
		d.forgetConnection(e.first)
	case eventOpened:
		d.numberConnection(e.conn, e.first)
	case eventFrame:
		var row *Row
		if e.rare != nil {
			row = &e.rare.row
		}
		d.numberFrame(e.m, row)
	case eventCall:
		d.scratch = call.Call{Conn: e.conn, Side: int(e.side), Request: e.m, Response: e.response}
		if e.rare != nil {
			d.scratch.Aborted = e.rare.aborted
		}
		d.closeCall(&d.scratch, e.selected)
	case eventSettled:
		d.settle(e.m)
	}
}
