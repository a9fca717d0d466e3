package main

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
)

// frameRows is the sink of a run that prints frames. Without a filter they are printed at once. With one, a frame waits
// until its call is closed, since a filter selects calls; frames are still printed in their order.
type frameRows struct {
	w   *rowWriter[*pipeline.Row]
	all bool
	// waiting is the frames from number first on; a rendered frame whose call is open has decided false.
	waiting []waitingFrame
	first   int64
}

type waitingFrame struct {
	row               *pipeline.Row // a copy that may be kept
	decided, selected bool
}

func (f *frameRows) Frame(r *pipeline.Row) {
	if f.all {
		f.w.row(r)
		return
	}
	if len(f.waiting) == 0 {
		f.first = r.Number
	}
	w := waitingFrame{}
	if r.Msg.Kind > 1 { // heartbeats and events belong to no call
		w.decided = true
	} else {
		w.row = r.Clone()
	}
	f.waiting = append(f.waiting, w)
	f.drain()
}

func (f *frameRows) Call(c *call.Call, selected bool) {
	if f.all {
		return
	}
	for _, m := range []*call.Message{c.Request, c.Response} {
		if m == nil {
			continue
		}
		if i := m.Number - f.first; i >= 0 && i < int64(len(f.waiting)) {
			w := &f.waiting[i]
			w.decided, w.selected = true, selected
			if !selected {
				w.row = nil
			}
		}
	}
	f.drain()
}

// drain prints the frames in front that are decided.
func (f *frameRows) drain() {
	n := 0
	for n < len(f.waiting) && f.waiting[n].decided {
		if f.waiting[n].selected {
			f.w.row(f.waiting[n].row)
		}
		f.waiting[n].row = nil
		n++
	}
	f.waiting = f.waiting[n:]
	f.first += int64(n)
}

// flush ends the run: nothing is open any more.
func (f *frameRows) flush() { f.drain() }
