package findings

import (
	"slices"

	"dubbo-wire/internal/call"
)

const (
	// largeAnswer is the body of an answer that others may have waited behind, in bytes.
	largeAnswer = 64 << 10
	// leastWait is how long a call must have waited to be counted, in nanoseconds.
	leastWait = 1_000_000
	// maxLarge bounds the large answers that are remembered of a connection's direction, maxAllLarge those of all.
	maxLarge, maxAllLarge = 256, 1 << 17
	// maxHit is how many methods are kept apart that waited behind one.
	maxHit = 64
)

// largeAnswers is the large answers of one way through a connection, in the order in which they were on it.
type largeAnswers struct {
	list []largeOne
	// forgotten is when the last one passed that is no longer in the list.
	forgotten int64
}

type largeOne struct {
	first, last int64 // nanoseconds since the Unix epoch
	method      *method
	at          place
}

// wait is how long one call waited behind the large answers of a method.
type wait struct {
	method *method
	ns     int64
	at     place // the large answer that it waited for longest
	most   int64
}

// waits is the calls that waited behind the large answers of a method.
type waits struct {
	calls, longest, total int64
	// at is a large answer that the call waited behind that waited longest, waiter that call's answer.
	at, waiter place
	methods    map[*method]int64
	other      int64 // calls of methods beyond maxHit
	unclear    int64 // calls that were open for longer than is remembered
}

// isLarge remembers a large answer.
func (k *Collector) isLarge(c *conn, p *call.Message, m *method) {
	if c.large == nil {
		c.large = new(largeAnswers)
	}
	if k.large >= maxAllLarge {
		for _, o := range k.conns {
			if o.large != nil {
				k.large -= o.large.forget(len(o.large.list))
			}
		}
	}
	if l := c.large; len(l.list) >= maxLarge {
		k.large -= l.forget(maxLarge / 2)
	}
	k.large++
	c.large.list = append(c.large.list, largeOne{first: p.FirstTime, last: p.LastByte, method: m, at: placeOf(p)})
}

// forget leaves out the first n.
func (l *largeAnswers) forget(n int) int {
	for i := range l.list[:n] {
		l.forgotten = max(l.forgotten, l.list[i].last)
	}
	l.list = slices.Delete(l.list, 0, n)
	return n
}

// waited counts a call whose request had been sent while a large answer was on the way that its own answer came behind.
//
// The time is that of the large answers' bytes after the request's last byte. The provider may have been busy with the
// call in that time, or in a part of it: the wire does not tell. So it is what the call waited at most.
func (k *Collector) waited(c *call.Call, l *largeAnswers) {
	r, p := c.Request, c.Response
	if r == nil || !r.Complete {
		return
	}
	k.scratch = k.scratch[:0]
	for i := len(l.list) - 1; i >= 0; i-- {
		o := &l.list[i]
		if o.last <= r.LastByte {
			break
		}
		if o.last > p.FirstTime {
			continue
		}
		ns := o.last - max(o.first, r.LastByte)
		at := slices.IndexFunc(k.scratch, func(w wait) bool { return w.method == o.method })
		if at < 0 {
			at = len(k.scratch)
			k.scratch = append(k.scratch, wait{method: o.method})
		}
		w := &k.scratch[at]
		w.ns += ns
		if ns > w.most {
			w.most, w.at = ns, o.at
		}
	}
	for i := range k.scratch {
		if w := &k.scratch[i]; w.ns >= k.waitFrom {
			w.method.waitedFor(w, k.method(c), p, l.forgotten > r.LastByte)
		}
	}
}

// waitedFor counts a call that waited behind large answers of m. unclear: it may have waited for more than is known.
func (m *method) waitedFor(w *wait, of *method, p *call.Message, unclear bool) {
	if m.waits == nil {
		m.waits = &waits{methods: make(map[*method]int64)}
	}
	s := m.waits
	if unclear {
		s.unclear++
		return
	}
	s.calls++
	s.total += w.ns
	if w.ns > s.longest {
		s.longest, s.at, s.waiter = w.ns, w.at, placeOf(p)
	}
	if _, known := s.methods[of]; !known && len(s.methods) >= maxHit {
		s.other++
		return
	}
	s.methods[of]++
}
