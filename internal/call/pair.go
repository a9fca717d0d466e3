package call

import (
	"fmt"

	"dubbo-wire/internal/rpc"
)

// Sink takes what becomes of messages.
type Sink interface {
	// Call takes a closed call. c is borrowed; its messages stay until they are freed.
	Call(c *Call)
	// Settled takes a message that gets no more link bytes and whose call, if it has one, is closed. The sink must Free it
	// when it is done with it.
	Settled(m *Message)
}

// Config bounds a Pairer; zero values are the defaults.
type Config struct {
	// MaxOpen is the number of messages in calls that are not closed (default 262 144, about 80 MB); beyond it the oldest
	// call counts as unanswered.
	MaxOpen int
	// MaxValues bounds the rendered values of requests that wait, in bytes (default 128 MiB); beyond it those of the
	// oldest become opaque.
	MaxValues int
	// Pool is where messages come from and go to; nil: the pairer has its own.
	Pool *Pool
}

// Pool is memory for messages, shared by the pairers of one goroutine. The zero value is ready.
type Pool struct{ first *Message }

// Free takes a message back.
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
	valued         *Message // the oldest of them whose values are kept; nil: look from oldest
	values         int      // bytes of their values
	followers      int      // messages of open calls beside the first one
	pool           *Pool
	call           Call
	// Expired counts requests that were given up because too many were open, ExpiredByTime those that waited for too long.
	Expired, ExpiredByTime int64
}

// NewPairer returns a pairer that hands closed calls to sink.
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

// New returns an empty message, held once by the caller, who must Release it.
func (p *Pairer) New() *Message {
	m := p.pool.first
	if m == nil {
		return &Message{holders: 1, Details: &plain}
	}
	p.pool.first = m.next
	*m = Message{holders: 1, Details: &plain}
	return m
}

// Hold notes one more who will Release m.
func (m *Message) Hold() { m.holders++ }

// Release gives m up. The last one settles it.
func (p *Pairer) Release(m *Message) {
	if m.holders--; m.holders == 0 {
		p.sink.Settled(m)
	}
}

// Free takes a settled message back.
func (p *Pairer) Free(m *Message) { p.pool.Free(m) }

// stream is what an open call with several messages has beside its first one.
type stream struct {
	lastRequest, response, lastResponse *Message
	requestEnded                        bool
	// orphan: the first message is of the response; the capture has no request.
	orphan bool
}

// Request takes a request sent by a side of conn. One-way requests are closed at once, or with their last message.
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
		p.close(conn, side, m, nil, "")
		return
	}
	if !m.Ends {
		m.stream = &stream{lastRequest: m}
	}
	p.add(conn, side, m)
}

// add takes the first message of a call.
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
	p.bound(m)
}

// follow takes a further message of an open call.
func (p *Pairer) follow(m *Message) {
	p.followers++
	p.bound(m)
}

func (p *Pairer) bound(m *Message) {
	if m.Values != nil {
		p.values += m.size()
		p.forgetValues()
	}
	if p.open.n+p.followers > p.cfg.MaxOpen {
		p.Expired++
		p.unanswered(p.oldest)
	}
}

// size is the bytes of the message's rendered values.
func (m *Message) size() int { return cap(m.Values) + cap(m.AttachmentsJSON) }

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

// forgetValues makes the values of the oldest open requests opaque until the others are within their bound; those of the
// newest stay.
func (p *Pairer) forgetValues() {
	if p.valued == nil {
		p.valued = p.oldest
	}
	for p.values > p.cfg.MaxValues && p.valued != p.newest {
		head := p.valued
		p.valued = head.newer
		head.each(func(m *Message) {
			if m.Values == nil || m.forgotten {
				return
			}
			p.values -= m.size()
			m.forgotten = true // the details are its own: it has values
			m.Values = fmt.Appendf(nil, `[{"@opaque":%d}]`, m.BodyLen)
			m.AttachmentsJSON = []byte(`{"@opaque":0}`)
		})
	}
}

// Expects reports whether a side of conn has to answer in that exchange.
func (p *Pairer) Expects(conn *Conn, side int, exchange uint64) bool {
	return p.open.find(conn, 1-side, exchange) != nil
}

// Asked returns the request that a response in that exchange, sent by a side of conn, answers; nil if there is none.
func (p *Pairer) Asked(conn *Conn, side int, exchange uint64) *Message {
	return p.open.find(conn, 1-side, exchange)
}

// Response takes a response sent by a side of conn.
func (p *Pairer) Response(conn *Conn, side int, m *Message) {
	m.Hold()
	head := p.open.find(conn, 1-side, m.Exchange)
	switch {
	case head == nil && m.Ends:
		p.close(conn, 1-side, nil, m, "")
	case head == nil:
		m.stream = &stream{response: m, lastResponse: m, requestEnded: true, orphan: true}
		p.add(conn, 1-side, m)
	case head.stream == nil && m.Ends:
		p.take(head)
		p.close(conn, 1-side, head, m, "")
	default:
		if head.stream == nil {
			head.stream = &stream{lastRequest: head, requestEnded: true}
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

// Abort closes the call of an exchange that a side of conn asked for: it was reset or cancelled.
func (p *Pairer) Abort(conn *Conn, side int, exchange uint64, why string) {
	if head := p.open.find(conn, side, exchange); head != nil {
		p.end(head, why)
	}
}

// finish closes the call that starts with m.
func (p *Pairer) finish(m *Message) { p.end(m, "") }

func (p *Pairer) end(m *Message, why string) {
	if p.open.find(m.conn, int(m.side), m.Exchange) == nil {
		return // a bound ended it just now
	}
	p.take(m)
	switch s := m.stream; {
	case s == nil:
		p.close(m.conn, int(m.side), m, nil, why)
	case s.orphan:
		p.close(m.conn, int(m.side), nil, m, why)
	default:
		p.close(m.conn, int(m.side), m, s.response, why)
	}
}

// take makes a call no longer open.
func (p *Pairer) take(m *Message) {
	p.open.remove(m)
	p.followers++ // the first one is none
	m.each(func(m *Message) {
		p.followers--
		if m.Values != nil && !m.forgotten {
			p.values -= m.size()
		}
	})
	if p.valued == m {
		p.valued = m.newer
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

// unanswered closes an open call.
func (p *Pairer) unanswered(m *Message) { p.end(m, "") }

func (p *Pairer) close(conn *Conn, side int, request, response *Message, why string) {
	p.call = Call{Conn: conn, Side: side, Request: request, Response: response, Aborted: why}
	p.sink.Call(&p.call)
	for _, m := range [2]*Message{request, response} {
		for m != nil {
			next := m.Next
			p.Release(m)
			m = next
		}
	}
}

// Oldest returns the open request that came first, nil if there is none.
func (p *Pairer) Oldest() *Message { return p.oldest }

// GiveUp closes the oldest open request as unanswered.
func (p *Pairer) GiveUp() { p.unanswered(p.oldest) }

// GiveUpBefore closes the open requests that came before that time as unanswered.
func (p *Pairer) GiveUpBefore(at int64) {
	for p.oldest != nil && p.oldest.Arrived < at {
		p.ExpiredByTime++
		p.GiveUp()
	}
}

// OpenCalls is how many requests wait for a response.
func (p *Pairer) OpenCalls() int { return p.open.n }

// End closes all open requests as unanswered, in order of arrival.
func (p *Pairer) End() {
	for p.oldest != nil {
		p.GiveUp()
	}
}

// FillFrom copies what is kept of a message.
func (m *Message) FillFrom(d *rpc.Message) {
	m.Summary = d.Summary
	m.Details = &plain
	if !d.Details.IsZero() {
		m.Detail().Details = d.Details
	}
}
