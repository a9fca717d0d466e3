package findings

import (
	"fmt"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
)

const (
	// maxAttempts limits the closed calls in memory, the latest ones; maxChain those of them that a call is compared with.
	maxAttempts, maxChain = 1 << 15, 32
	// comparedTogether is how many calls are compared together.
	comparedTogether = 16
	// attemptPage is how many of them get memory at once.
	attemptPage = 1 << 10
	// A retry starts when the client gives up an attempt: up to afterFailure after the response of a failed one; from beforeTimeout before
	// the timeout, because the client starts to wait before the request is captured, up to afterTimeout after it, because clients notice it
	// late. In nanoseconds.
	afterFailure, beforeTimeout, afterTimeout = 25_000_000, 20_000_000, 250_000_000
	// maxIDStep limits the difference of the ids of an attempt and its retry.
	maxIDStep = 1 << 31
)

// attempt is a closed call that may be a retry, or be retried. It has no pointers, so that the garbage collector need not look at
// the thousands of them.
type attempt struct {
	body, arguments        uint64 // hashes; arguments is 0 if they were not sampled
	id                     uint64
	start                  int64 // time of the request in nanoseconds since the Unix epoch
	givenUp                int64 // time when the client gave it up, 0 if it did not or if that is unknown
	frame, bytes           int64
	client, method, server uint32 // their numbers
	file                   int32
	millis                 int32    // the timeout if it timed out, else 0
	retry                  uint32   // the number of its retry in attempts.retries, 0 if there is none
	older                  [2]links // in the chains of equal bodies and arguments
	answered               bool
}

// links are the ordinals of the attempts before one in two chains of a hash: of all attempts, and of those that were given up. A call
// that was not given up, as most are, is compared with the latter only.
type links struct{ all, givenUp uint32 }

// retry is the first request that repeats an attempt.
type retry struct {
	start, bytes  int64
	at            place
	moved, inTime bool
}

// attempts holds the latest closed calls.
type attempts struct {
	pages   [maxAttempts / attemptPage]*[attemptPage]attempt // a ring: ordinal n is at index n modulo maxAttempts
	count   uint32                                           // the ordinal of the latest one, from 1
	latest  [2][]links
	retries []retry // number n is at index n-1
	free    []uint32
	waiting []attempt // those that are not compared yet, fewer than comparedTogether
	loaded  uint32    // what was read to have it in the cache
}

// retries counts the retries among the requests of a method.
type retries struct {
	sum
	// timedOut and failed count the calls that were repeated, moved the retries at another server, inTime those that were neither given up
	// nor failed.
	timedOut, failed, moved, inTime int64
}

// addAttempt adds a closed call that expects a response to those that wait to be compared with earlier ones. millis is its timeout, 0 if it is
// unknown.
func (k *Collector) addAttempt(c *call.Call, of *conn, m *method, millis int64) {
	r := c.Request
	body, arguments := contents(r)
	if body == 0 || m.number == 0 || of.client.untracked {
		return
	}
	m.compared++
	if of.server == 0 {
		of.server = k.server(c.Server())
	}
	t := &k.attempts
	x := attempt{
		client: of.client.number, method: m.number, server: of.server, id: r.Exchange, start: r.FirstTime,
		body: body, arguments: arguments, bytes: r.FrameBytes() + c.Response.FrameBytes(), frame: r.Number, file: r.File,
		answered: c.Response != nil,
	}
	if !r.Protocol.Numbered { // exchanges count in each connection by itself
		x.id = uint64(r.Number)
	}
	x.giveUp(c, millis)
	if t.waiting = append(t.waiting, x); len(t.waiting) == comparedTogether {
		k.compareWaiting()
	}
}

// compareWaiting compares the attempts that wait with earlier ones. It first loads what all of them need from the tables, which are larger than
// a processor's cache: the processor then waits for all of these loads together.
func (k *Collector) compareWaiting() {
	t := &k.attempts
	waiting := t.waiting
	t.waiting = waiting[:0]
	if len(waiting) > 0 && t.latest[0] == nil {
		t.latest = [2][]links{make([]links, maxAttempts), make([]links, maxAttempts)}
	}
	for i := range waiting {
		x := &waiting[i]
		t.loaded += t.latest[0][x.slot(x.body)].all + t.latest[1][x.slot(x.arguments)].all
	}
	for i := range waiting {
		k.compareAttempt(&waiting[i])
	}
}

// slot returns the place of the chain of a hash in attempts.latest.
func (a *attempt) slot(hash uint64) uint64 {
	return (hash ^ uint64(a.method)*0x9e3779b97f4a7c15 ^ uint64(a.client)*0xc2b2ae3d27d4eb4f) % maxAttempts
}

// compareAttempt compares an attempt with earlier ones, and stores it.
func (k *Collector) compareAttempt(x *attempt) {
	t := &k.attempts
	t.count++
	for chain, hash := range [2]uint64{x.body, x.arguments} {
		if hash == 0 {
			continue
		}
		latest := &t.latest[chain][x.slot(hash)]
		x.older[chain] = *latest
		for n, left := latest.givenUp, maxChain; t.holds(n) && left > 0; left-- {
			o := t.at(n)
			t.compare(x, o)
			n = o.older[chain].givenUp
		}
		if x.givenUp != 0 {
			for n, left := latest.all, maxChain; t.holds(n) && left > 0; left-- {
				o := t.at(n)
				t.compare(o, x)
				n = o.older[chain].all
			}
			latest.givenUp = t.count
		}
		latest.all = t.count
	}
	forgotten := t.at(t.count)
	if forgotten.retry != 0 {
		of := k.order[forgotten.method-1]
		if of.retries == nil {
			of.rarely().retries = new(retries)
		}
		of.retries.add(forgotten, t)
		t.free = append(t.free, forgotten.retry)
	}
	*forgotten = *x
}

// contents returns hashes of the bodies and of the arguments of the messages of a request, 0 if they are not known.
func contents(r *call.Message) (body, arguments uint64) {
	const prime = 0x9e3779b97f4a7c15
	known := true
	for m := r; m != nil; m = m.Next {
		if m.BodyHash == 0 {
			return 0, 0
		}
		body = body*prime + m.BodyHash
		known = known && m.Sample != nil && m.Sample.Arguments != 0
		if known {
			arguments = arguments*prime + m.Sample.Arguments
		}
	}
	if !known {
		arguments = 0
	}
	return max(body, 1), arguments
}

// giveUp sets when the client gave up a call, if it did. millis is the timeout of the call, 0 if it is unknown.
func (a *attempt) giveUp(c *call.Call, millis int64) {
	p, limit := c.Answer(), c.Request.FirstTime+millis*1e6
	late := p == nil || p.Complete && p.LastByte > limit
	switch {
	case p != nil && p.Failed:
		a.givenUp = p.LastByte
	case c.Aborted != "":
		a.givenUp = c.AbortedAt
		late = c.AbortedAt >= limit-min(beforeTimeout, millis*1e6/2) // the client resets the call when it stops waiting
	}
	if millis > 0 && late {
		a.givenUp, a.millis = limit, int32(millis)
	}
}

// server returns the number of a server, from 1. Servers beyond maxClients share one.
func (k *Collector) server(address string) uint32 {
	n := k.serverNumbers[address]
	if n == 0 {
		n = uint32(len(k.serverNumbers) + 1)
		if n <= maxClients {
			k.serverNumbers[address] = n
		}
	}
	return n
}

// holds reports whether the attempt with an ordinal is in memory; at returns it. The one with the ordinal count is not yet there.
func (t *attempts) holds(n uint32) bool { return n > 0 && t.count-n < maxAttempts }

func (t *attempts) at(n uint32) *attempt {
	page := &t.pages[n%maxAttempts/attemptPage]
	if *page == nil {
		*page = new([attemptPage]attempt)
	}
	return &(*page)[n%attemptPage]
}

// compare notes x as the retry of a if it is one and none is earlier.
func (t *attempts) compare(x, a *attempt) {
	if a.client != x.client || a.method != x.method || a.body != x.body && (a.arguments != x.arguments || x.arguments == 0) {
		return
	}
	early, late := int64(0), int64(afterFailure)
	if a.millis > 0 {
		early, late = min(beforeTimeout, int64(a.millis)*1e6/2), afterTimeout
	}
	step, after := x.id-a.id, x.start-a.givenUp
	if a.givenUp == 0 || after < -early || after > late || step == 0 || step >= maxIDStep {
		return
	}
	switch n := len(t.free); {
	case a.retry != 0:
		if had := &t.retries[a.retry-1]; had.start < x.start || had.start == x.start && had.at.frame <= x.frame {
			return
		}
	case n > 0:
		a.retry, t.free = t.free[n-1], t.free[:n-1]
	default:
		t.retries = append(t.retries, retry{})
		a.retry = uint32(len(t.retries))
	}
	t.retries[a.retry-1] = retry{x.start, x.bytes, place{x.frame, int(x.file)}, x.server != a.server, x.answered && x.givenUp == 0}
}

// add counts a call that was repeated.
func (s *retries) add(a *attempt, t *attempts) {
	r := &t.retries[a.retry-1]
	s.sum.add(sum{1, r.bytes, r.at})
	s.timedOut += number01(a.millis > 0)
	s.failed += number01(a.millis == 0)
	s.moved += number01(r.moved)
	s.inTime += number01(r.inTime)
}

// retriedCalls finds methods with requests that repeat a call which the client has given up.
func retriedCalls(k *Collector, e *evidence) {
	k.compareWaiting()
	by := make(map[*method]*retries)
	for _, m := range k.order {
		if m.retries != nil {
			s := *m.retries
			by[m] = &s
		}
	}
	for _, page := range k.attempts.pages {
		if page == nil {
			continue
		}
		for i := range page {
			if a := &page[i]; a.retry != 0 {
				m := k.order[a.method-1]
				if by[m] == nil {
					by[m] = new(retries)
				}
				by[m].add(a, &k.attempts)
			}
		}
	}
	for _, m := range k.order {
		if s := by[m]; s != nil {
			s.find(m, e)
		}
	}
}

// find adds the finding about the retries of a method.
func (s *retries) find(m *method, e *evidence) {
	f := m.finding(s.first)
	why := "timed out"
	switch {
	case s.timedOut == 0:
		why = "failed"
	case s.failed > 0:
		why = fmt.Sprintf("timed out (%s) or failed (%s)", report.Count(s.timedOut), report.Count(s.failed))
	}
	of := m.asked()
	f.Text = fmt.Sprintf("%s of %s %s that had just %s; %s went to another server, %s got a response in time", report.Count(s.calls),
		report.Plural(of, "request"), verb(s.calls, "repeats a call", "repeat calls"), why, report.Count(s.moved), report.Count(s.inTime))
	if m.compared < of {
		f.Text += fmt.Sprintf(" (%s compared)", report.Plural(m.compared, "request"))
	}
	f.Facts = []report.Fact{
		fact("retries", s.calls), fact("requests", of), fact("timedOut", s.timedOut), fact("failed", s.failed), fact("otherServer", s.moved),
		fact("inTime", s.inTime), fact("compared", m.compared),
	}
	f.Weight = s.bytes
	e.addCalls(f, s.calls)
}
