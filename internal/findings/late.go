package findings

import (
	"fmt"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
)

// maxDeadlines limits the pairs of a client and a method whose timeouts are in memory.
const maxDeadlines = 1 << 16

// deadline is what is known of the timeouts of a client's calls of a method.
type deadline struct {
	client *client
	method *method
	// millis is the timeout of all sampled requests, 0 if they have none or different ones. sampled is their number.
	millis, sampled int64
	key             string  // of the attachment with the timeout
	late            *lateOf // nil if no response was late
}

// lateOf counts the responses that came later than their own request's timeout, and those that came later than deadline.millis although
// their requests were not sampled.
type lateOf struct{ own, like late }

// late counts responses that came after the timeout of their calls.
type late struct {
	sum
	longest            int64 // latency in nanoseconds
	shortest, greatest int64 // timeouts in milliseconds
}

func (l *late) add(o late) {
	if o.calls == 0 {
		return
	}
	if l.calls == 0 || o.shortest < l.shortest {
		l.shortest = o.shortest
	}
	l.greatest, l.longest = max(l.greatest, o.greatest), max(l.longest, o.longest)
	l.sum.add(o.sum)
}

// deadline returns what is known of the timeouts of a call, or nil.
func (k *Collector) deadline(of *conn, m *method) *deadline {
	at := &k.latestDeadlines[(of.client.number*0x9e3779b1+m.number)%uint32(len(k.latestDeadlines))]
	if d := *at; d != nil && d.method == m && d.client == of.client {
		return d
	}
	key := clientMethod{of.client, m}
	d := k.deadlines[key]
	if d == nil {
		if len(k.deadlines) >= maxDeadlines {
			return nil
		}
		d = &deadline{client: of.client, method: m}
		k.deadlines[key] = d
		k.deadlineOrder = append(k.deadlineOrder, d)
	}
	*at = d
	return d
}

type clientMethod struct {
	*client
	*method
}

// inTime reports whether the response of a call came before any timeout that is known, as most do.
func (k *Collector) inTime(c *call.Call) bool {
	ns, ok := c.Latency()
	return k.leastTimeout == 0 || ok && c.Aborted == "" && ns <= k.leastTimeout*1e6
}

// addDeadline counts a request that expects a response, and its response if it came too late. It returns the timeout of the request in
// milliseconds as far as it is known.
func (k *Collector) addDeadline(c *call.Call, of *conn, m *method) int64 {
	s := c.Request.Sample
	if s == nil && k.inTime(c) {
		return 0
	}
	d := k.deadline(of, m)
	if d == nil {
		return 0
	}
	millis := d.millis
	if s != nil {
		millis = s.Timeout
		if d.sampled == 0 {
			d.millis = millis
		} else if d.millis != millis {
			d.millis = 0
		}
		d.sampled++
		if s.Timeout > 0 {
			d.key = s.TimeoutKey
			if k.leastTimeout == 0 || s.Timeout < k.leastTimeout {
				k.leastTimeout = s.Timeout
			}
		}
	}
	if ns, ok := c.Latency(); ok && millis > 0 && ns > millis*1e6 {
		if d.late == nil {
			d.late = new(lateOf)
		}
		count := &d.late.like
		if s != nil {
			count = &d.late.own
		}
		count.add(late{sum{1, c.Response.FrameBytes(), placeOf(c.Response)}, ns, millis, millis})
	}
	return millis
}

// lateResponses finds responses that came after the timeout of their calls.
func lateResponses(k *Collector, e *evidence) {
	type found struct {
		late
		clients, sampled int64
		inferred         int64
		key              string // "" if clients use different ones
	}
	by := make(map[*method]*found)
	for _, d := range k.deadlineOrder {
		if d.late == nil {
			continue
		}
		l := d.late.own
		inferred := int64(0)
		if d.millis > 0 {
			l.add(d.late.like)
			inferred = d.late.like.calls
		}
		if l.calls == 0 {
			continue
		}
		f := by[d.method]
		if f == nil {
			f = &found{key: d.key}
			by[d.method] = f
		}
		f.add(l)
		if f.key != d.key {
			f.key = ""
		}
		f.clients++
		f.sampled += d.sampled
		f.inferred += inferred
	}
	for _, m := range k.order {
		l := by[m]
		if l == nil {
			continue
		}
		f := m.finding(l.first)
		timeout := report.Elapsed(l.shortest * 1e6)
		if l.greatest > l.shortest {
			timeout += " to " + report.Elapsed(l.greatest*1e6)
		}
		f.Text = fmt.Sprintf("%s of %s came after the call's timeout of %s, up to %s after the request: %s no longer waited",
			report.Count(l.calls), report.Plural(m.answered, "response"), timeout, report.Elapsed(l.longest), verb(l.clients, "the client", "the clients"))
		if l.inferred > 0 {
			f.Text += fmt.Sprintf(" (timeout of %s sampled)", report.Plural(l.sampled, "request"))
		}
		f.Facts = []report.Fact{
			fact("calls", l.calls), fact("responses", m.answered), fact("timeoutMillis", l.shortest), fact("longestTimeoutMillis", l.greatest),
			micros("longestMicros", l.longest), fact("clients", l.clients), fact("timeoutsSampled", l.sampled),
		}
		if l.greatest == l.shortest {
			f.Verb, f.Args = "calls", []string{"--service", m.service, "--method", m.name, "--min-latency", fmt.Sprintf("%dms", l.shortest)}
			if l.key != "" {
				f.Args = append(f.Args, "--attachment", fmt.Sprintf("%s=%d", l.key, l.shortest))
			}
		}
		f.Weight = l.bytes
		e.addCalls(f, l.calls)
	}
}
