package measure

import (
	"unsafe"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
)

// SettledCallSink returns the sink that passes everything on to next, and the selected calls to write when the link bytes of all their messages are
// final, in the order in which they are: retransmissions of a call may follow its end. Calls and messages with their values are borrowed. If calls of more than
// maxWaiting bytes wait, the oldest are written as they are, with Unsettled set.
func SettledCallSink(next pipeline.Sink, write func(*call.Call)) pipeline.Sink {
	return &settledCalls{Sink: next, write: write}
}

// maxWaiting is how many bytes of messages and their values may wait for retransmissions.
const maxWaiting = 64 << 20

type settledCalls struct {
	pipeline.Sink
	write          func(*call.Call)
	oldest, newest *settledCall // that wait
	waiting        int          // their bytes
	freeCalls      *settledCall
	freeMessages   *settledMessage
}

// settledCall is a closed call with copies of its messages, some of which are not settled.
type settledCall struct {
	call.Call
	of           *settledCalls
	messages     *settledMessage
	open         int // messages that are not settled
	bytes        int // that it adds to waiting; 0: it is written
	older, newer *settledCall
}

// settledMessage is the copy of a message, which it owns until that is settled. It lives until then, or until its call is written if that is later.
type settledMessage struct {
	call.Message
	of      *settledCall
	owner   call.Settler // of the next sink
	settled bool
	next    *settledMessage // of its call, or the next one that is free
}

func (s *settledCalls) Call(c *call.Call, selected bool) {
	s.Sink.Call(c, selected)
	if !selected {
		return
	}
	bytes := bytesOf(c.Request) + bytesOf(c.Response)
	if bytes > maxWaiting {
		unsettled := *c
		unsettled.Unsettled = true
		s.write(&unsettled)
		return
	}
	k := s.freeCalls
	if k == nil {
		k = &settledCall{of: s}
	} else {
		s.freeCalls = k.newer
	}
	k.Call = *c
	k.Request, k.Response = k.copies(c.Request), k.copies(c.Response)
	k.bytes, k.older, k.newer = bytes, s.newest, nil
	if s.newest == nil {
		s.oldest = k
	} else {
		s.newest.newer = k
	}
	s.newest = k
	for s.waiting += bytes; s.waiting > maxWaiting; {
		s.oldest.Unsettled = true
		s.oldest.end()
	}
}

// bytesOf returns what the messages from m on hold in memory, as far as their number and contents determine it.
func bytesOf(m *call.Message) (n int) {
	for ; m != nil; m = m.Next {
		n += int(unsafe.Sizeof(settledMessage{})) + len(m.Values) + len(m.AttachmentsJSON) + len(m.ErrorMessage) + len(m.ExceptionMessage)
	}
	return n
}

// copies returns copies of the messages from m on, which own them.
func (k *settledCall) copies(m *call.Message) (first *call.Message) {
	at := &first
	for ; m != nil; m = m.Next {
		c := k.of.freeMessages
		if c == nil {
			c = new(settledMessage)
		} else {
			k.of.freeMessages = c.next
		}
		*c = settledMessage{Message: m.Copy(), of: k, owner: m.Owner, next: k.messages}
		k.messages = c
		k.open++
		m.Owner = c
		*at, at = &c.Message, &c.Next
	}
	return first
}

// end writes a call that waits.
func (k *settledCall) end() {
	s := k.of
	s.write(&k.Call)
	k.Request.FreeValues()
	k.Response.FreeValues()
	if k.older == nil {
		s.oldest = k.newer
	} else {
		k.older.newer = k.newer
	}
	if k.newer == nil {
		s.newest = k.older
	} else {
		k.newer.older = k.older
	}
	s.waiting -= k.bytes
	for m := k.messages; m != nil; {
		next := m.next
		if m.Message = (call.Message{}); m.settled {
			m.free()
		}
		m = next
	}
	k.Call, k.bytes, k.messages, k.older, k.newer = call.Call{}, 0, nil, nil, nil
}

func (m *settledMessage) free() {
	s := m.of.of
	*m = settledMessage{next: s.freeMessages}
	s.freeMessages = m
}

// Settle implements [call.Settler].
func (m *settledMessage) Settle(final *call.Message) {
	if m.owner != nil {
		m.owner.Settle(final)
	}
	m.Wire, m.settled = final.Wire, true
	k := m.of
	k.open--
	switch {
	case k.bytes == 0: // the call was written before
		m.free()
	case k.open == 0:
		k.end()
	}
	if k.open == 0 {
		k.newer, k.of.freeCalls = k.of.freeCalls, k
	}
}
