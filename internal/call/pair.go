package call

import (
	"slices"

	"dubbo-wire/internal/decode/dubbo"
)

// Sink takes closed calls. The call is borrowed; its messages are valid until it returns.
type Sink interface {
	Call(c *Call)
}

// Config bounds a Pairer; zero values are the defaults.
type Config struct {
	// MaxOpen is the number of requests that may wait for a response (default 262 144, about 60 MB); beyond it the oldest
	// counts as unanswered.
	MaxOpen int
}

// Pairer pairs the messages of all connections.
type Pairer struct {
	cfg    Config
	sink   Sink
	open   map[key]*queue
	nOpen  int
	oldest []waiting // open requests in order of arrival, closed ones among them
	pool   *Message
	queues []*queue
	call   Call
	// Expired counts requests that were given up because too many were open.
	Expired int64
}

type key struct {
	conn int32
	side int8
	id   int64
}

// queue is the open requests with one key, oldest first.
type queue struct {
	conn        *Conn
	first, last *Message
}

type waiting struct {
	key    key
	number int64
}

// NewPairer returns a pairer that hands closed calls to sink.
func NewPairer(cfg Config, sink Sink) *Pairer {
	if cfg.MaxOpen == 0 {
		cfg.MaxOpen = 1 << 18
	}
	return &Pairer{cfg: cfg, sink: sink, open: make(map[key]*queue)}
}

// New returns an empty message, held once by the caller, who must Release it.
func (p *Pairer) New() *Message {
	m := p.pool
	if m == nil {
		return &Message{holders: 1}
	}
	p.pool = m.next
	*m = Message{holders: 1, Values: m.Values[:0], AttachmentsJSON: m.AttachmentsJSON[:0]}
	return m
}

// Hold notes one more who will Release m.
func (m *Message) Hold() { m.holders++ }

// AddSettler names one more who takes m's final number of link bytes; there may be two.
func (m *Message) AddSettler(s Settler) {
	if m.settlers[0] == nil {
		m.settlers[0] = s
	} else {
		m.settlers[1] = s
	}
}

// Release gives m up. The last one settles it and returns it to the pool.
func (p *Pairer) Release(m *Message) {
	m.holders--
	if m.holders > 0 {
		return
	}
	for _, s := range m.settlers {
		if s != nil {
			s.Settle(m)
		}
	}
	if cap(m.Values) > 1<<16 {
		m.Values = nil
	}
	m.next = p.pool
	p.pool = m
}

// Request takes a request sent by a side of conn. One-way requests are closed at once.
func (p *Pairer) Request(conn *Conn, side int, m *Message) {
	m.Hold()
	if !m.Header.TwoWay() {
		p.close(conn, side, m, nil)
		return
	}
	k := key{int32(conn.Number), int8(side), m.Header.ID}
	q := p.open[k]
	if q == nil {
		q = p.newQueue()
		q.conn = conn
		p.open[k] = q
	}
	m.next = nil
	if q.last == nil {
		q.first = m
	} else {
		q.last.next = m
	}
	q.last = m
	p.nOpen++
	p.oldest = append(p.oldest, waiting{k, m.Number})
	if len(p.oldest) > 2*p.nOpen+1024 {
		p.sweep()
	}
	if p.nOpen > p.cfg.MaxOpen {
		p.expire()
	}
}

// Response takes a response sent by a side of conn.
func (p *Pairer) Response(conn *Conn, side int, m *Message) {
	m.Hold()
	k := key{int32(conn.Number), int8(1 - side), m.Header.ID}
	q := p.open[k]
	if q == nil {
		p.close(conn, 1-side, nil, m)
		return
	}
	p.close(conn, 1-side, p.pop(k, q), m)
}

// pop takes the oldest request of a queue.
func (p *Pairer) pop(k key, q *queue) *Message {
	m := q.first
	q.first = m.next
	m.next = nil
	if q.first == nil {
		q.last = nil
		delete(p.open, k)
		p.queues = append(p.queues, q)
	}
	p.nOpen--
	return m
}

func (p *Pairer) newQueue() *queue {
	if k := len(p.queues) - 1; k >= 0 {
		q := p.queues[k]
		p.queues = p.queues[:k]
		return q
	}
	return new(queue)
}

func (p *Pairer) close(conn *Conn, side int, request, response *Message) {
	p.call = Call{Conn: conn, Side: side, Request: request, Response: response}
	p.sink.Call(&p.call)
	if request != nil {
		p.Release(request)
	}
	if response != nil {
		p.Release(response)
	}
}

// sweep drops closed requests from the list of arrivals.
func (p *Pairer) sweep() {
	kept := p.oldest[:0]
	for _, w := range p.oldest {
		if p.isOpen(w) {
			kept = append(kept, w)
		}
	}
	p.oldest = kept
}

func (p *Pairer) isOpen(w waiting) bool {
	q := p.open[w.key]
	if q == nil {
		return false
	}
	for m := q.first; m != nil; m = m.next {
		if m.Number == w.number {
			return true
		}
		if m.Number > w.number {
			return false
		}
	}
	return false
}

// expire closes the oldest open request.
func (p *Pairer) expire() {
	for len(p.oldest) > 0 {
		w := p.oldest[0]
		p.oldest = p.oldest[1:]
		if q := p.open[w.key]; q != nil && q.first.Number == w.number {
			p.Expired++
			p.close(q.conn, int(w.key.side), p.pop(w.key, q), nil)
			return
		}
	}
}

// End closes all open requests as unanswered, in order of arrival.
func (p *Pairer) End() {
	type left struct {
		k key
		q *queue
	}
	var all []left
	for k, q := range p.open {
		all = append(all, left{k, q})
	}
	slices.SortFunc(all, func(a, b left) int { return int(a.q.first.Number - b.q.first.Number) })
	for _, l := range all {
		for l.q.first != nil {
			p.close(l.q.conn, int(l.k.side), p.pop(l.k, l.q), nil)
		}
	}
	p.oldest = nil
}

// FillFrom copies what is kept of a decoded message.
func (m *Message) FillFrom(f *dubbo.Frame, d *dubbo.Message) {
	m.Kind, m.Header, m.Origin = d.Kind, f.Header, f.Last
	m.Complete = f.Complete()
	m.First, m.LastByte = f.First.Time, f.LastByte
	m.Start, m.End, m.Wire = f.Start, f.End(), f.Wire
	if d.Format != nil {
		m.Serialization = d.Format.Name
	}
	m.Names, m.Group = d.Names, d.Group
	m.GenericMethod, m.GenericTypes = d.GenericMethod, d.GenericTypes
	m.ResultKind, m.Exception = d.ResultKind, d.Exception()
	m.ExceptionClass, m.ExceptionMessage, m.ErrorMessage = d.ExceptionClass, d.ExceptionMessage, d.ErrorMessage
}
