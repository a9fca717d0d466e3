package call

import (
	"fmt"

	"dubbo-wire/internal/decode/dubbo"
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
	// MaxOpen is the number of requests that may wait for a response (default 262 144, about 60 MB); beyond it the oldest
	// counts as unanswered.
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

// Request takes a request sent by a side of conn. One-way requests are closed at once.
func (p *Pairer) Request(conn *Conn, side int, m *Message) {
	m.Hold()
	if !m.Header.TwoWay() {
		p.close(conn, side, m, nil)
		return
	}
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
	if p.open.n > p.cfg.MaxOpen {
		p.Expired++
		p.unanswered(p.oldest)
	}
	if m.Values != nil {
		p.values += m.size()
		p.forgetValues()
	}
}

// size is the bytes of the message's rendered values.
func (m *Message) size() int { return cap(m.Values) + cap(m.AttachmentsJSON) }

// forgetValues makes the values of the oldest open requests opaque until the others are within their bound; those of the
// newest stay.
func (p *Pairer) forgetValues() {
	if p.valued == nil {
		p.valued = p.oldest
	}
	for p.values > p.cfg.MaxValues && p.valued != p.newest {
		m := p.valued
		p.valued = m.newer
		if m.Values == nil || m.forgotten {
			continue
		}
		p.values -= m.size()
		m.forgotten = true // the details are its own: it has values
		m.Values = fmt.Appendf(nil, `[{"@opaque":%d}]`, m.Header.BodyLen)
		m.AttachmentsJSON = []byte(`{"@opaque":0}`)
	}
}

// Expects reports whether a side of conn owes the answer to a request with that id.
func (p *Pairer) Expects(conn *Conn, side int, id int64) bool {
	return p.open.find(conn, 1-side, id) != nil
}

// Asked returns the request that a response with that id, sent by a side of conn, answers; nil if there is none.
func (p *Pairer) Asked(conn *Conn, side int, id int64) *Message { return p.open.find(conn, 1-side, id) }

// Response takes a response sent by a side of conn.
func (p *Pairer) Response(conn *Conn, side int, m *Message) {
	m.Hold()
	request := p.open.find(conn, 1-side, m.Header.ID)
	if request != nil {
		p.take(request)
	}
	p.close(conn, 1-side, request, m)
}

// take makes a request no longer open.
func (p *Pairer) take(m *Message) {
	p.open.remove(m)
	if m.Values != nil && !m.forgotten {
		p.values -= m.size()
	}
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

// unanswered closes an open request.
func (p *Pairer) unanswered(m *Message) {
	p.take(m)
	p.close(m.conn, int(m.side), m, nil)
}

func (p *Pairer) close(conn *Conn, side int, request, response *Message) {
	p.call = Call{Conn: conn, Side: side, Request: request, Response: response}
	p.sink.Call(&p.call)
	for _, m := range [2]*Message{request, response} {
		if m != nil {
			p.Release(m)
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

// FillFrom copies what is kept of a decoded message.
func (m *Message) FillFrom(f *dubbo.Frame, d *dubbo.Message) {
	m.Kind, m.Header, m.Origin = d.Kind, f.Header, f.Last
	m.Parts = d.Parts
	m.Complete = f.Complete()
	m.First, m.LastByte = f.First.Time, f.LastByte
	m.Start, m.Wire = f.Start, f.Wire
	m.Serialization, m.Names = d.Serialization, d.Names
	m.ResultKind, m.Exception = d.ResultKind, d.Exception()
	m.Details = &plain
	if d.Header != nil || d.Group != "" || d.GenericMethod != "" || d.Said || d.ExceptionClass != "" || d.ExceptionMessage != "" || d.ErrorMessage != "" {
		*m.Detail() = Details{
			Group: d.Group, GenericMethod: d.GenericMethod, GenericTypes: d.GenericTypes, Said: d.Said,
			ExceptionClass: d.ExceptionClass, ExceptionMessage: d.ExceptionMessage, ErrorMessage: d.ErrorMessage,
		}
		if d.Header != nil {
			m.HeaderSerialization = d.Header.Name
		}
	}
}
