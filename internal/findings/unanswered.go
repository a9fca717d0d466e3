package findings

import (
	"slices"

	"dubbo-wire/internal/call"
)

const (
	// manyUnanswered limits the times in memory of a method, fewUnanswered if there are maxUnanswered of all methods. The
	// latest ones are kept, because only they may still get a response.
	fewUnanswered, manyUnanswered, maxUnanswered = 16, 1 << 10, 1 << 20
	// patience is the expected time of a response in nanoseconds if the method has none: Dubbo's default timeout.
	patience = 1_000_000_000
)

// unanswered counts the calls of a method without a response, except one-way calls.
type unanswered struct {
	calls, bytes int64
	// sent has the times of the last byte of the latest ones, in nanoseconds since the Unix epoch. earlier is the number of
	// further ones, which were sent at until or before.
	sent           []int64
	earlier, until int64
	oldest         int64 // time of the first one
	at             place // of the first one
}

// addUnanswered counts a call without a response. r is the first message of its request. The client waits from the last one on, so
// a request that has not ended does not count.
func (k *Collector) addUnanswered(m *method, r *call.Message) {
	last := r
	for last.Next != nil {
		last = last.Next
	}
	if !last.Ends {
		return
	}
	u := m.unanswered
	if u == nil {
		u = new(unanswered)
		m.rarely().unanswered = u
	}
	at := last.FirstTime
	if last.Complete {
		at = last.LastByte
	}
	if u.calls == 0 || at < u.oldest {
		u.oldest, u.at = at, placeOf(r)
	}
	u.calls++
	u.bytes += r.FrameBytes()
	keep := manyUnanswered
	if k.unansweredLen >= maxUnanswered {
		keep = fewUnanswered
	}
	if len(u.sent) >= 2*keep {
		slices.Sort(u.sent)
		left := len(u.sent) - keep
		u.earlier += int64(left)
		u.until = max(u.until, u.sent[left-1])
		u.sent = slices.Delete(u.sent, 0, left)
		k.unansweredLen -= left
	}
	u.sent = append(u.sent, at)
	k.unansweredLen++
}

// before returns the least number of calls that were sent at a time or before, and the time of the last of them.
func (u *unanswered) before(at int64) (calls, last int64) {
	if u.until <= at {
		calls, last = u.earlier, u.until
	}
	for _, t := range u.sent {
		if t <= at {
			calls++
			last = max(last, t)
		}
	}
	return calls, last
}
