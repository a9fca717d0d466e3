package measure

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// FrameSink returns the sink of a run that prints frames with write.
func FrameSink(f *Filter, write func(*pipeline.Row)) pipeline.Sink {
	return &frameSink{write: write, filter: f, now: f.OfRequests()}
}

// CallSink returns the sink of a run that prints selected calls with write.
func CallSink(_ *Filter, write func(*call.Call)) pipeline.Sink { return callSink(write) }

type callSink func(*call.Call)

func (callSink) Frame(*pipeline.Row) {}

func (write callSink) Call(k *call.Call, selected bool) {
	if selected {
		write(k)
	}
}

// frameSink is the sink of a run that prints frames. Without a filter they are printed at once. With one, a frame waits
// until it is known whether its call is selected: of a response that is when it comes, of a request too where the filter
// asks for nothing but what stands in requests, else when its call is closed. Frames are still printed in their order.
type frameSink struct {
	write  func(*pipeline.Row)
	filter *Filter
	now    bool // the filter decides on requests alone
	// waiting is the frames from number first on; a rendered frame whose call is open has decided false.
	waiting []waitingFrame
	first   int64
}

type waitingFrame struct {
	row               *pipeline.Row // a copy that may be kept
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
		m := &call.Message{Number: r.Number}
		m.FillFrom(r.Msg)
		w.decided = true
		w.selected = f.filter.Match(&call.Call{Conn: r.Conn, Side: r.Side, Request: m})
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

// decide notes that the filter selects a message, or does not.
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

// drain prints the frames in front that are decided.
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
