package measure

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// FrameSink returns the sink that passes the selected frames to write, in their order.
func FrameSink(f *Filter, write func(*pipeline.Row)) pipeline.Sink {
	return &frameSink{write: write, filter: f, now: f.OfRequests()}
}

// CallSink returns the sink that passes the selected calls to write.
func CallSink(write func(*call.Call)) pipeline.Sink { return callSink(write) }

type callSink func(*call.Call)

func (callSink) Frame(*pipeline.Row) {}

func (write callSink) Call(k *call.Call, selected bool) {
	if selected {
		write(k)
	}
}

// frameSink passes frames on at once if there is no filter. With a filter, a frame waits until its call is closed, because only
// then it is known whether the call is selected. A filter that needs only requests decides at the request. The frames keep
// their order.
type frameSink struct {
	write  func(*pipeline.Row)
	filter *Filter
	now    bool // the filter decides on requests alone
	// waiting has the frames from number first on.
	waiting []waitingFrame
	first   int64
}

type waitingFrame struct {
	row               *pipeline.Row // a copy
	decided, selected bool
}

func (f *frameSink) Frame(r *pipeline.Row) {
	if f.filter.Empty() {
		f.write(r)
		return
	}
	if len(f.waiting) == 0 {
		f.first = r.Number
	}
	w := waitingFrame{}
	switch {
	case r.Msg.Kind.Control(): // heartbeats and events belong to no call
		w.decided = true
	case r.Msg.Kind == rpc.Request && f.now:
		w.decided, w.selected = true, f.filter.matchRequest(r)
	}
	if !w.decided || w.selected {
		w.row = r.Clone()
	}
	f.waiting = append(f.waiting, w)
	f.drain()
}

func (f *frameSink) Call(c *call.Call, selected bool) {
	if f.filter.Empty() {
		return
	}
	for _, m := range []*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			f.decide(m, selected)
		}
	}
	f.drain()
}

// decide notes whether the filter selects a message.
func (f *frameSink) decide(m *call.Message, selected bool) {
	i := m.Number - f.first
	if i < 0 || i >= int64(len(f.waiting)) || f.waiting[i].decided {
		return
	}
	w := &f.waiting[i]
	w.decided, w.selected = true, selected
	if !selected {
		w.row = nil
	}
}

// drain passes on the leading frames that are decided.
func (f *frameSink) drain() {
	n := 0
	for n < len(f.waiting) && f.waiting[n].decided {
		if f.waiting[n].selected {
			f.write(f.waiting[n].row)
		}
		f.waiting[n].row = nil
		n++
	}
	f.waiting = f.waiting[n:]
	f.first += int64(n)
}
