package findings

import (
	"slices"

	"dubbo-wire/internal/call"
)

const (
	// largeResponse is the minimum size in bytes of a body that delays the responses after it.
	largeResponse = 64 << 10
	// leastWait is the minimum wait in nanoseconds.
	leastWait = 1_000_000
	// maxLarge limits the large responses in memory of a direction of a connection, maxAllLarge those of all.
	maxLarge, maxAllLarge = 256, 1 << 17
	// maxWaiting limits the methods that waited after one method.
	maxWaiting = 64
)

// largeResponses holds the large responses of a direction of a connection in their order on the wire.
type largeResponses struct {
	list []largeMessage
	// forgotten is the time of the last one that was removed from the list.
	forgotten int64
}

type largeMessage struct {
	first, last int64 // nanoseconds since the Unix epoch
	method      *method
	at          place
}

// wait is the time that a call waited after large responses of a method.
type wait struct {
	method *method
	ns     int64
	at     place // the large response with the longest wait
	most   int64 // the longest wait
}

// waits counts the calls that waited after large responses of a method.
type waits struct {
	calls, longest, total int64
	// waiter is the response with the longest wait, at the large response before it.
	at, waiter place
	methods    map[*method]int64
	unclear    int64 // calls that began before the large responses in memory
}

// addLarge keeps the time of a large response.
func (k *Collector) addLarge(c *conn, p *call.Message, m *method) {
	if c.large == nil {
		c.large = new(largeResponses)
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
	c.large.list = append(c.large.list, largeMessage{first: p.FirstTime, last: p.LastByte, method: m, at: placeOf(p)})
}

// forget removes the first n and returns n.
func (l *largeResponses) forget(n int) int {
	for i := range l.list[:n] {
		l.forgotten = max(l.forgotten, l.list[i].last)
	}
	l.list = slices.Delete(l.list, 0, n)
	return n
}

// addWaits counts a call whose response followed large responses that were not complete when its request was sent.
//
// The wait is the time of the large responses after the last byte of the request. It is an upper bound, because the server
// may have worked on the call in that time, which the packets do not show.
func (k *Collector) addWaits(c *call.Call, l *largeResponses) {
	r, p := c.Request, c.Response
	if r == nil || !r.Complete {
		return
	}
	k.waits = k.waits[:0]
	for i := len(l.list) - 1; i >= 0; i-- {
		o := &l.list[i]
		if o.last <= r.LastByte {
			break
		}
		if o.last > p.FirstTime {
			continue
		}
		ns := o.last - max(o.first, r.LastByte)
		at := slices.IndexFunc(k.waits, func(w wait) bool { return w.method == o.method })
		if at < 0 {
			at = len(k.waits)
			k.waits = append(k.waits, wait{method: o.method})
		}
		w := &k.waits[at]
		w.ns += ns
		if ns > w.most {
			w.most, w.at = ns, o.at
		}
	}
	for i := range k.waits {
		if w := &k.waits[i]; w.ns >= k.waitFrom {
			w.method.addWait(w, k.method(c), p, l.forgotten > r.LastByte)
		}
	}
}

// addWait counts a call that waited after large responses of m. unclear is set if it may have waited longer.
func (m *method) addWait(w *wait, of *method, p *call.Message, unclear bool) {
	if m.waits == nil {
		m.rarely().waits = &waits{methods: make(map[*method]int64)}
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
	countUpTo(s.methods, of, maxWaiting)
}
