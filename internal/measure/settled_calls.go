package measure

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
)

// SettledCallSink returns the sink that passes everything on to next, and the selected calls to write when the link bytes of all their messages are
// final, in the order in which they are: retransmissions of a call may follow its end. Calls and messages are borrowed.
func SettledCallSink(next pipeline.Sink, write func(*call.Call)) pipeline.Sink {
	return &settledCalls{Sink: next, write: write}
}

type settledCalls struct {
	pipeline.Sink
	write func(*call.Call)
	free  *settledCall
}

// settledCall is a closed call with copies of its messages, some of which are not settled.
type settledCall struct {
	call.Call
	of       *settledCalls
	messages []settledMessage
	open     int // messages that are not settled
	next     *settledCall
}

// settledMessage is the copy of a message, which it owns until that is settled.
type settledMessage struct {
	call.Message
	of    *settledCall
	owner call.Settler // of the next sink
}

func (s *settledCalls) Call(c *call.Call, selected bool) {
	s.Sink.Call(c, selected)
	if !selected {
		return
	}
	k := s.free
	if k == nil {
		k = &settledCall{of: s}
	} else {
		s.free = k.next
	}
	k.Call, k.open = *c, c.Request.Count()+c.Response.Count()
	if cap(k.messages) < k.open {
		k.messages = make([]settledMessage, 0, k.open)
	}
	k.messages = k.messages[:0]
	k.Request, k.Response = k.copies(c.Request), k.copies(c.Response)
}

// copies returns copies of the messages from m on, which own them.
func (k *settledCall) copies(m *call.Message) (first *call.Message) {
	var last *call.Message
	for ; m != nil; m = m.Next {
		k.messages = append(k.messages, settledMessage{m.Copy(), k, m.Owner})
		at := &k.messages[len(k.messages)-1]
		m.Owner = at
		if last == nil {
			first = &at.Message
		} else {
			last.Next = &at.Message
		}
		last = &at.Message
	}
	return first
}

// Settle implements [call.Settler].
func (m *settledMessage) Settle(final *call.Message) {
	if m.owner != nil {
		m.owner.Settle(final)
	}
	m.Wire = final.Wire
	k := m.of
	if k.open--; k.open > 0 {
		return
	}
	s := k.of
	s.write(&k.Call)
	k.Call = call.Call{}
	clear(k.messages)
	k.next, s.free = s.free, k
}
