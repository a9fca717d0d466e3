package findings

import (
	"slices"

	"dubbo-wire/internal/call"
)

const (
	// fewUnanswered and manyUnanswered are how many unanswered calls of a method have their time remembered: many until
	// maxUnanswered are remembered of all methods. Of more, the latest are: only those can be in doubt.
	fewUnanswered, manyUnanswered, maxUnanswered = 16, 1 << 10, 1 << 20
	// patience is how long an answer is waited for where the method has no other, in nanoseconds: Dubbo's default timeout.
	patience = 1_000_000_000
)

// unanswered is the calls of a method that want an answer and have none.
type unanswered struct {
	calls, bytes int64
	// asked is when the latest of them were sent completely, in nanoseconds since the Unix epoch; earlier how many more there
	// are, none of them later than until.
	asked          []int64
	earlier, until int64
	oldest         int64 // when the first was asked, and where
	at             place
}

// noAnswer counts a call without answer.
func (k *Collector) noAnswer(m *method, r *call.Message) {
	u := m.unanswered
	if u == nil {
		u = new(unanswered)
		m.unanswered = u
	}
	at := r.FirstTime
	if r.Complete {
		at = r.LastByte
	}
	if u.calls == 0 || at < u.oldest {
		u.oldest, u.at = at, placeOf(r)
	}
	u.calls++
	u.bytes += int64(r.FrameLen())
	keep := manyUnanswered
	if k.unanswered >= maxUnanswered {
		keep = fewUnanswered
	}
	if len(u.asked) >= 2*keep {
		slices.Sort(u.asked)
		left := len(u.asked) - keep
		u.earlier += int64(left)
		u.until = max(u.until, u.asked[left-1])
		u.asked = slices.Delete(u.asked, 0, left)
		k.unanswered -= left
	}
	u.asked = append(u.asked, at)
	k.unanswered++
}

// before returns how many of the calls were asked by then, at least, and when the last of these was asked.
func (u *unanswered) before(at int64) (calls, last int64) {
	if u.until <= at {
		calls, last = u.earlier, u.until
	}
	for _, t := range u.asked {
		if t <= at {
			calls++
			last = max(last, t)
		}
	}
	return calls, last
}
