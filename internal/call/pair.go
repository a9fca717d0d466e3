package call

import (
	"fmt"

	"dubbo-wire/internal/rpc"
)

// Sink receives calls and settled messages.
type Sink interface {
	// Call receives a closed call. c is borrowed; its messages live until they are settled.
	Call(c *Call)
	// Settled receives a message whose link bytes are final and whose call, if any, is closed. The sink must return
	// it to the pool with Free.
	Settled(m *Message)
}

// Config bounds the memory of a Pairer. Zero values are the defaults.
type Config struct {
	// MaxOpen is the number of messages in open calls (default 262,144, about 80 MB). Beyond it the oldest call
	// expires.
	MaxOpen int
	// MaxValues bounds the rendered values of open requests, in bytes (default 128 MiB). Beyond it those of the
	// oldest become opaque.
	MaxValues int
	// Pool provides the messages; nil: the pairer has its own.
	Pool *Pool
}

// Pool is a free list of messages, shared by the pairers of one goroutine. The zero value is ready to use.
type Pool struct{ first *Message }

// Free returns a message to the pool.
func (p *Pool) Free(m *Message) {
	m.next = p.first
	p.first = m
}

// Pairer pairs the messages of its connections.
type Pairer struct {
	cfg            Config
	sink           Sink
	open           table
	oldest, newest *Message // open requests in order of arrival
	oldestValued   *Message // oldest open request that may have values; nil: start at oldest
	valueBytes     int      // rendered values of open calls
	followers      int      // messages of open calls without the first of each
	pool           *Pool
	scratch        Call
	// Expired counts requests that exceeded MaxOpen, ExpiredByTime those that waited too long.
	Expired, ExpiredByTime int64
}

// NewPairer returns a pairer that passes closed calls to sink.
func NewPairer(cfg Config, sink Sink) *Pairer {
	if cfg.MaxOpen == 0 {
		cfg.MaxOpen = 1 << 18
	}
	if cfg.MaxValues == 0 {
		cfg.MaxValues = 128 << 20
	}
	if cfg.Pool == nil {
		cfg.Pool = new(Pool)
	}
	return &Pairer{cfg: cfg, sink: sink, open: newTable(), pool: cfg.Pool}
}

// New returns an empty message with one hold, which the caller must Release.
func (p *Pairer) New() *Message {
	m := p.pool.first
	if m == nil {
		return &Message{holders: 1, Details: &noDetails}
	}
	p.pool.first = m.next
	*m = Message{holders: 1, Details: &noDetails}
	return m
}

// Hold adds a holder, who must Release m.
func (m *Message) Hold() { m.holders++ }

// Release removes a holder. The last one settles m.
func (p *Pairer) Release(m *Message) {
	if m.holders--; m.holders == 0 {
		p.sink.Settled(m)
	}
}

// Free returns a settled message to the pool.
func (p *Pairer) Free(m *Message) { p.pool.Free(m) }

// Preload begins to load what Request or Response will look up for a message that a side of conn sent. When some time has passed, the result
// begins to load the rest.
func (p *Pairer) Preload(conn *Conn, side int, kind rpc.Kind, exchange uint64) Preloaded {
	if kind == rpc.Response {
		side = 1 - side
	}
	return Preloaded{p.open.preload(conn, side, exchange)}
}

// Preloaded is a bucket of open requests.
type Preloaded struct{ bucket **Message }

// Rest begins to load the last request in the bucket: the one that a response answers, or the one before a request.
func (p Preloaded) Rest() { (*p.bucket).Preload(true) }

// stream is the state of an open call with several messages.
type stream struct {
	lastRequest, response, lastResponse *Message
	requestEnded                        bool
	// orphan is set if the capture has no request: the first message belongs to the response.
	orphan bool
}

// Request adds a request that a side of conn sent. A one-way call is closed at once, or with its last message.
func (p *Pairer) Request(conn *Conn, side int, m *Message) {
	m.Hold()
	if m.Ordinal > 0 {
		if head := p.open.find(conn, side, m.Exchange); head != nil && head.stream != nil && !head.stream.orphan {
			s := head.stream
			s.lastRequest.Next, s.lastRequest = m, m
			s.requestEnded = m.Ends
			p.follow(m)
			if m.Ends && (!head.TwoWay || s.lastResponse != nil && s.lastResponse.Ends) {
				p.finish(head)
			}
			return
		}
	}
	if !m.TwoWay && m.Ends {
		p.close(conn, side, m, nil, "", 0)
		return
	}
	if !m.Ends {
		m.Detail().stream = &stream{lastRequest: m}
	}
	p.add(conn, side, m)
}

// add opens a call with its first message.
func (p *Pairer) add(conn *Conn, side int, m *Message) {
	m.conn, m.side = conn, int8(side)
	m.older, m.newer = p.newest, nil
	if p.newest == nil {
		p.oldest = m
	} else {
		p.newest.newer = m
	}
	p.newest = m
	if p.open.add(m) {
		p.open.grow(p.oldest)
	}
	p.enforceLimits(m)
}

// follow counts a further message of an open call.
func (p *Pairer) follow(m *Message) {
	p.followers++
	p.enforceLimits(m)
}

func (p *Pairer) enforceLimits(m *Message) {
	if m.Values != nil {
		p.valueBytes += m.valueBytes()
		p.dropValues()
	}
	if p.open.n+p.followers > p.cfg.MaxOpen {
		p.Expired++
		p.finish(p.oldest)
	}
}

// valueBytes returns the memory of the rendered values: that of their buffer.
func (m *Message) valueBytes() int {
	if m.buffer != nil {
		return cap(m.buffer.b)
	}
	return cap(m.Values) + cap(m.AttachmentsJSON)
}

// each calls f for all messages of an open call.
func (m *Message) each(f func(m *Message)) {
	for k := m; k != nil; k = k.Next {
		f(k)
	}
	if s := m.stream; s != nil && !s.orphan {
		for k := s.response; k != nil; k = k.Next {
			f(k)
		}
	}
}

// dropValues makes the values of the oldest open requests opaque until MaxValues holds. The newest request keeps its
// values.
func (p *Pairer) dropValues() {
	if p.oldestValued == nil {
		p.oldestValued = p.oldest
	}
	for p.valueBytes > p.cfg.MaxValues && p.oldestValued != p.newest {
		head := p.oldestValued
		p.oldestValued = head.newer
		head.each(func(m *Message) {
			if m.Values == nil || m.dropped {
				return
			}
			p.valueBytes -= m.valueBytes()
			m.dropped = true // details with values are never shared
			m.freeValues()
			m.Values = fmt.Appendf(nil, `[{"@opaque":%d}]`, m.BodyLen)
			m.AttachmentsJSON = []byte(`{"@opaque":0}`)
		})
	}
}

// Expects reports whether a side of conn owes a response in that exchange.
func (p *Pairer) Expects(conn *Conn, side int, exchange uint64) bool {
	return p.open.find(conn, 1-side, exchange) != nil
}

// OpenRequest returns the open request that a response in that exchange answers if a side of conn sends it, or nil.
func (p *Pairer) OpenRequest(conn *Conn, side int, exchange uint64) *Message {
	return p.open.find(conn, 1-side, exchange)
}

// Response adds a response that a side of conn sent.
func (p *Pairer) Response(conn *Conn, side int, m *Message) {
	m.Hold()
	head := p.open.find(conn, 1-side, m.Exchange)
	switch {
	case head == nil && m.Ends:
		p.close(conn, 1-side, nil, m, "", 0)
	case head == nil:
		m.Detail().stream = &stream{response: m, lastResponse: m, requestEnded: true, orphan: true}
		p.add(conn, 1-side, m)
	case head.stream == nil && m.Ends:
		p.remove(head)
		p.close(conn, 1-side, head, m, "", 0)
	default:
		if head.stream == nil {
			head.Detail().stream = &stream{lastRequest: head, requestEnded: true}
		}
		s := head.stream
		if s.response == nil {
			s.response = m
		} else {
			s.lastResponse.Next = m
		}
		s.lastResponse = m
		p.follow(m)
		if m.Ends && s.requestEnded {
			p.finish(head)
		}
	}
}

// Abort closes the call that a side of conn started in that exchange, because it was reset or cancelled at a capture time.
func (p *Pairer) Abort(conn *Conn, side int, exchange uint64, why string, at int64) {
	if head := p.open.find(conn, side, exchange); head != nil {
		p.end(head, why, at)
	}
}

// finish closes the call that starts with m.
func (p *Pairer) finish(m *Message) { p.end(m, "", 0) }

func (p *Pairer) end(m *Message, why string, at int64) {
	if p.open.find(m.conn, int(m.side), m.Exchange) == nil {
		return // a limit has just closed it
	}
	p.remove(m)
	switch s := m.stream; {
	case s == nil:
		p.close(m.conn, int(m.side), m, nil, why, at)
	case s.orphan:
		p.close(m.conn, int(m.side), nil, m, why, at)
	default:
		p.close(m.conn, int(m.side), m, s.response, why, at)
	}
}

// remove takes a call out of the open ones.
func (p *Pairer) remove(m *Message) {
	p.open.remove(m)
	p.followers++ // the loop below also subtracts the first message
	m.each(func(m *Message) {
		p.followers--
		if m.Values != nil && !m.dropped {
			p.valueBytes -= m.valueBytes()
		}
	})
	if p.oldestValued == m {
		p.oldestValued = m.newer
	}
	if m.older == nil {
		p.oldest = m.newer
	} else {
		m.older.newer = m.newer
	}
	if m.newer == nil {
		p.newest = m.older
	} else {
		m.newer.older = m.older
	}
	m.older, m.newer = nil, nil
}

func (p *Pairer) close(conn *Conn, side int, request, response *Message, why string, at int64) {
	if request != nil && response != nil && request.Serialization == "" && request.SerializationID == rpc.NoSerialization {
		request.Serialization = response.Serialization // it has no body
	}
	p.scratch = Call{Conn: conn, Side: side, Request: request, Response: response, Aborted: why, AbortedAt: at}
	p.sink.Call(&p.scratch)
	for _, m := range [2]*Message{request, response} {
		for m != nil {
			next := m.Next
			p.Release(m)
			m = next
		}
	}
}

// Oldest returns the oldest open request, or nil.
func (p *Pairer) Oldest() *Message { return p.oldest }

// ExpireOldest closes the oldest open request without a response.
func (p *Pairer) ExpireOldest() { p.finish(p.oldest) }

// ExpireBefore closes the open requests that arrived before a time without a response.
func (p *Pairer) ExpireBefore(at int64) {
	for p.oldest != nil && p.oldest.Arrived < at {
		p.ExpiredByTime++
		p.ExpireOldest()
	}
}

// OpenCalls returns the number of open requests.
func (p *Pairer) OpenCalls() int { return p.open.n }

// End closes all open requests without a response, in order of arrival.
func (p *Pairer) End() {
	for p.oldest != nil {
		p.ExpireOldest()
	}
}

// FillFrom copies the summary and the details of a message.
func (m *Message) FillFrom(d *rpc.Message) {
	m.Summary = d.Summary
	m.Details = &noDetails
	if !d.Details.IsZero() {
		m.Detail().Details = d.Details
	}
}
