package measure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
)

// settleCount counts what the next sink owns.
type settleCount struct{ n int }

func (*settleCount) Frame(*pipeline.Row) {}

func (s *settleCount) Settle(*call.Message) { s.n++ }

func (s *settleCount) Call(c *call.Call, _ bool) {
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			m.Owner = s
		}
	}
}

// settle settles messages as the pipeline does, with n link bytes each.
func settle(n int64, messages ...*call.Message) {
	for _, m := range messages {
		m.Wire = n
		m.Owner.Settle(m)
	}
}

func newMessages(n, values int) []*call.Message {
	all := make([]*call.Message, n)
	for i := range all {
		all[i] = &call.Message{Details: &call.Details{Values: make([]byte, values)}}
		if i > 0 {
			all[i-1].Next = all[i]
		}
	}
	return all
}

// TestSettledCalls: a call is written once, when its last message is settled, and the next sink gets every message.
func TestSettledCalls(t *testing.T) {
	var wire []int64
	next := new(settleCount)
	s := SettledCallSink(next, func(c *call.Call) { wire = append(wire, c.WireBytes(c.Request), c.WireBytes(c.Response)) })
	first, second := newMessages(2, 10), newMessages(1, 10)
	s.Call(&call.Call{Request: first[0]}, true)
	s.Call(&call.Call{Request: second[0]}, true)
	left := newMessages(1, 10)
	s.Call(&call.Call{Request: left[0]}, false) // not selected: the next sink has it alone
	settle(7, first[1], second[0], left[0])
	require.Equal(t, []int64{7, 0}, wire)
	settle(5, first[0])
	require.Equal(t, []int64{7, 0, 12, 0}, wire)
	require.Equal(t, 4, next.n)
}

// TestSettledCallsThatWait: calls beyond the bound are written in their order without link bytes, and what is kept of them until they are settled
// does not grow with their messages.
func TestSettledCallsThatWait(t *testing.T) {
	const calls, messages, values = 40, 50, 128 << 10
	var written, unsettled int
	count := messages
	next := new(settleCount)
	s := SettledCallSink(next, func(c *call.Call) {
		if written++; c.Unsettled {
			unsettled++
			require.Negative(t, c.WireBytes(c.Request))
		} else {
			require.Equal(t, int64(9*messages), c.WireBytes(c.Request))
		}
		require.Equal(t, count, c.Request.Count())
	}).(*settledCalls)
	var last []*call.Message
	for range calls {
		all := newMessages(messages, values)
		s.Call(&call.Call{Request: all[0]}, true)
		require.LessOrEqual(t, s.waiting, maxWaiting)
		settle(9, all[:messages-1]...) // as those of a streaming call are when it is closed
		last = append(last, all[messages-1])
	}
	require.Positive(t, unsettled)
	require.Less(t, unsettled, calls)
	require.Equal(t, unsettled, written)
	settle(9, last...)
	require.Equal(t, calls, written)
	require.Zero(t, s.waiting)
	require.Nil(t, s.oldest)
	require.Equal(t, calls*messages, next.n)
	free := 0
	for m := s.freeMessages; m != nil; m = m.next {
		require.Equal(t, call.Message{}, m.Message)
		free++
	}
	require.LessOrEqual(t, free, calls*messages-unsettled*(messages-1)+messages)

	// One call that is larger than the bound does not wait at all.
	count = 1
	huge := newMessages(1, maxWaiting)
	s.Call(&call.Call{Request: huge[0]}, true)
	require.Equal(t, calls+1, written)
	require.Same(t, next, huge[0].Owner)
}
