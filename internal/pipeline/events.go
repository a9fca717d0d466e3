package pipeline

import (
	"math"

	"dubbo-wire/internal/call"
)

// event is one result of a lane that waits to be merged into capture order.
type event struct {
	order    uint64 // position in capture order
	mark     uint32 // of the connection
	lane     uint8
	conn     *call.Conn
	m        *call.Message // the message, or the request of a call
	response *call.Message
	rare     *rare // nil in most events, which keeps them small
	kind     eventKind
	side     uint8
	selected bool
}

// rare holds the row of a message, if rows are needed, or the reason of an aborted call.
type rare struct {
	row       Row
	aborted   string
	abortedAt int64
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

// recorder is the output of one worker. It keeps the results of its lanes in capture order.
//
// A recorded message is used by two goroutines, each with its own fields: the delivering one has number, owner and
// rendered values, the worker has link bytes and everything of the pairer. Settled messages return with the batch.
type recorder struct{ events []event }

// preloadedEvents is how many events before its turn the message of one is loaded, which another processor has written.
const preloadedEvents = 4

// reset starts a new batch in the memory of a delivered one.
func (r *recorder) reset(delivered []event, pool *call.Pool) {
	for i := range delivered {
		if next := i + preloadedEvents; next < len(delivered) && delivered[next].kind == eventSettled {
			delivered[next].m.Preload(true)
		}
		if e := &delivered[i]; e.kind == eventSettled {
			pool.Free(e.m)
		}
	}
	clear(delivered)
	r.events = delivered[:0]
}

func (r *recorder) add(l *lane, e event) {
	e.order, e.lane = l.now, uint8(l.index)
	r.events = append(r.events, e)
}

func (r *recorder) began(l *lane, mark uint32) { r.add(l, event{kind: eventBegan, mark: mark}) }
func (r *recorder) ended(l *lane, mark uint32) { r.add(l, event{kind: eventEnded, mark: mark}) }

func (r *recorder) opened(l *lane, c *call.Conn, mark uint32) {
	r.add(l, event{kind: eventOpened, conn: c, mark: mark})
}

func (r *recorder) frame(l *lane, m *call.Message, row *Row) {
	e := event{kind: eventFrame, m: m}
	if row != nil {
		row.Prepare()
		e.rare = &rare{row: *row}
		e.rare.row.Msg = row.Msg.Clone(false, false)
	}
	r.add(l, e)
}

func (r *recorder) call(l *lane, c *call.Call, selected bool) {
	e := event{kind: eventCall, conn: c.Conn, side: uint8(c.Side), m: c.Request, response: c.Response, selected: selected}
	if c.Aborted != "" {
		e.rare = &rare{aborted: c.Aborted, abortedAt: c.AbortedAt}
	}
	r.add(l, e)
}

func (r *recorder) settled(l *lane, m *call.Message) { r.add(l, event{kind: eventSettled, m: m}) }

// merge delivers the results of all workers for one batch in capture order.
func (d *delivery) merge(work []portion) {
	at := make([]int, len(work))
	for {
		// Take the worker with the lowest order, up to the order of the next worker.
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
			if next := k + preloadedEvents; next < len(events) {
				events[next].m.Preload(false)
				events[next].response.Preload(false)
			}
			d.deliver(&events[k])
			k++
		}
		at[next] = k
	}
}

func (d *delivery) deliver(e *event) {
	switch e.kind {
	case eventBegan:
		d.beginConnection(int(e.lane), e.mark)
	case eventEnded:
		d.forgetConnection(int(e.lane), e.mark)
	case eventOpened:
		d.numberConnection(int(e.lane), e.conn, e.mark)
	case eventFrame:
		var row *Row
		if e.rare != nil {
			row = &e.rare.row
		}
		d.numberFrame(e.m, row)
	case eventCall:
		d.scratch = call.Call{Conn: e.conn, Side: int(e.side), Request: e.m, Response: e.response}
		if e.rare != nil {
			d.scratch.Aborted, d.scratch.AbortedAt = e.rare.aborted, e.rare.abortedAt
		}
		d.closeCall(&d.scratch, e.selected)
	case eventSettled:
		d.settle(e.m)
	}
}
