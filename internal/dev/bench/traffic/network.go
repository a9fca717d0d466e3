package traffic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// chooser chooses what is sent.
type chooser struct {
	rng  *rand.Rand
	mix  Mix
	pool *pool
}

// generator sends the calls.
type generator struct {
	chooser
	record  func(*Message) // takes the messages of HTTP/2; may be nil
	writer  *writer
	truth   Truth
	methods []Method // what was sent of each of the pool's methods
	ids     []int64  // the last request id of each client
	queued  int64    // bytes that are written and not sent
	open    int64    // requests that wait for their response
}

// conn is a connection.
type conn struct {
	sides  [2]side // client, server
	client int     // whose request ids it uses
	open   []call  // requests that wait for their response
	http2  *http2Conn
}

// side is one end, with the stream it sends.
type side struct {
	end     endpoint
	seq     uint32 // of the next byte to send
	sent    int64  // bytes
	written int64  // bytes, sent or not
	queue   []byte // queue[head:] is to be sent
	head    int
	unacked int     // segments of the other side that this one did not acknowledge yet
	again   segment // to be sent once more
}

type segment struct {
	seq     uint32
	payload []byte
}

// call is a request on its way.
type call struct {
	id     int64
	method *method
	index  int // of the method with its name among all that are sent
	text   bool
	end    int64 // of the request, in the client's stream
}

const (
	maxOpen   = 8        // calls open on a connection
	maxQueue  = 64 << 10 // bytes: after it a side waits
	callers   = 4        // connections of one client
	maxBurst  = 8        // segments sent in a row
	clientNet = 0x0a010000
	serverNet = 0x0a020000
)

// Of a thousand segments so many are sent again, and so many change places with the next one, if there is one.
const (
	againPerMille = 2.1
	swapPerMille  = 1.6
)

func (g *generator) run(cfg Config) {
	conns := make([]*conn, cfg.Connections)
	g.ids = make([]int64, (cfg.Connections+callers-1)/callers)
	for i := range conns {
		conns[i] = g.connect(i)
		if styles := g.mix.styles; styles != nil {
			conns[i].http2 = newHTTP2Conn(&g.chooser, i, &styles[i%len(styles)], g.sent)
		}
	}
	for g.writer.fileBytes+g.queued+g.open*g.mix.mean() < cfg.Size {
		g.turn(conns[g.rng.IntN(len(conns))], true)
	}
	for busy := true; busy; {
		busy = false
		for _, c := range conns {
			if c.busy() {
				busy = true
				g.turn(c, false)
			}
		}
	}
	for _, c := range conns {
		g.disconnect(c)
	}
}

func (g *generator) connect(i int) *conn {
	c := &conn{client: i / callers}
	server := i % callers
	c.sides[0].end = endpoint{ip: clientNet + 1 + uint32(c.client), port: uint16(32768 + i%28000), mac: uint32(c.client)}
	c.sides[1].end = endpoint{ip: serverNet + 1 + uint32(server), port: 20880, mac: 1<<16 + uint32(server)}
	for k := range c.sides {
		c.sides[k].seq = g.rng.Uint32()
		c.sides[k].end.clock = g.rng.Uint32() >> 1
	}
	g.packet(c, 0, flagSYN, nil)
	c.sides[0].seq++
	g.packet(c, 1, flagSYN|flagACK, nil)
	c.sides[1].seq++
	g.packet(c, 0, flagACK, nil)
	return c
}

func (g *generator) disconnect(c *conn) {
	g.packet(c, 0, flagFIN|flagACK, nil)
	c.sides[0].seq++
	g.packet(c, 1, flagFIN|flagACK, nil)
	c.sides[1].seq++
	g.packet(c, 0, flagACK, nil)
}

func (c *conn) busy() bool {
	for i := range c.sides {
		if s := &c.sides[i]; len(s.queue) > s.head || s.again.payload != nil {
			return true
		}
	}
	return len(c.open) > 0 || c.http2 != nil && c.http2.busy()
}

// turn lets a connection do a little: ask, answer, send.
func (g *generator) turn(c *conn, ask bool) {
	if c.http2 != nil {
		g.turnHTTP2(c, ask)
	} else {
		most := maxOpen
		if g.mix.http1 {
			most = 1
		}
		for n := 1 + g.rng.IntN(3); ask && n > 0 && len(c.open) < most && !c.sides[0].full(); n-- {
			g.ask(c)
		}
		for n := 1 + g.rng.IntN(3); n > 0 && len(c.open) > 0 && !c.sides[1].full(); n-- {
			g.answer(c)
		}
	}
	g.burst(c, 0)
	g.burst(c, 1)
}

// turnHTTP2 lets the sides of an HTTP/2 connection write.
func (g *generator) turnHTTP2(c *conn, ask bool) {
	h := c.http2
	open := len(h.open)
	h.step(ask, [2]int64{c.sides[0].sent, c.sides[1].sent}, [2]bool{c.sides[0].full(), c.sides[1].full()})
	g.open += int64(len(h.open) - open)
	for k := range c.sides {
		g.enqueue(&c.sides[k], h.take(k))
	}
}

// sent counts a message of HTTP/2.
func (g *generator) sent(m *Message) {
	x := &g.methods[m.method.index]
	n := int64(m.BodyLen)
	if m.Side == 0 {
		if m.Ordinal == 0 {
			x.Requests++
		}
		x.RequestBytes += n
		g.truth.Requests++
		g.truth.RequestBytes += n
	} else {
		x.Responses++
		x.ResponseBytes += n
		g.truth.Responses++
		g.truth.ResponseBytes += n
	}
	if g.record != nil {
		g.record(m)
	}
}

func (s *side) full() bool { return len(s.queue)-s.head >= maxQueue }

// ask writes a request.
func (g *generator) ask(c *conn) {
	m, k, b := g.request()
	body, index := b.dubbo, m.index
	if n := g.mix.copies; n > 0 {
		i := g.rng.IntN(n)
		body, index = m.renamed(body, copyName(i)), index+i*len(g.pool.methods)
	}
	g.ids[c.client]++
	id := g.ids[c.client]
	if g.mix.http1 {
		g.http1Request(&c.sides[0], m, len(body))
	} else {
		g.frame(&c.sides[0], 0xc2, 0, id, body)
	}
	c.open = append(c.open, call{id: id, method: m, index: index, text: k == text, end: c.sides[0].written})
	g.open++
	n := int64(len(body))
	g.methods[index].Requests++
	g.methods[index].RequestBytes += n
	g.truth.Requests++
	g.truth.RequestBytes += n
}

// answer writes the response to one of the requests that arrived.
func (g *generator) answer(c *conn) {
	i := g.rng.IntN(len(c.open))
	a := c.open[i]
	if a.end > c.sides[0].sent {
		return // not there yet
	}
	c.open[i] = c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	m := a.method
	body := g.response(m, a.text).dubbo
	if g.mix.http1 {
		g.http1Response(&c.sides[1], len(body))
	} else {
		g.frame(&c.sides[1], 0x02, 20, a.id, body)
	}
	g.open--
	n := int64(len(body))
	g.methods[a.index].Responses++
	g.methods[a.index].ResponseBytes += n
	g.truth.Responses++
	g.truth.ResponseBytes += n
}

// copyName is what the name of a method ends with that has several.
func copyName(i int) string { return fmt.Sprintf("%04d", i) }

// renamed returns the body of a request with a name that ends with more. The name follows the version and is a short string.
func (m *method) renamed(body []byte, more string) []byte {
	before, after, _ := bytes.Cut(body, append([]byte("\x050.0.0"), byte(len(m.name))))
	b := append(slices.Clip(before), "\x050.0.0"...)
	b = append(b, byte(len(m.name)+len(more)))
	b = append(append(b, m.name...), more...)
	return append(b, after[len(m.name):]...)
}

// request chooses a request.
func (g *chooser) request() (*method, class, body) {
	k := g.class()
	methods := g.pool.objects
	if k == text {
		methods = g.pool.texts
	}
	m := methods[g.rng.IntN(len(methods))]
	return m, k, one(g.rng, m.requests[k])
}

// response chooses a response of a method, whose request had a long text or not.
func (g *chooser) response(m *method, long bool) body {
	k := text
	for !long && k == text {
		k = g.class()
	}
	return one(g.rng, m.responses[k])
}

func one(rng *rand.Rand, bodies []body) body { return bodies[rng.IntN(len(bodies))] }

func (g *chooser) class() class {
	n := g.rng.IntN(100)
	for c := small; ; c++ {
		if n -= g.mix.Percent[c]; n < 0 {
			return c
		}
	}
}

func (g *chooser) perMille(n float64) bool { return n > 0 && g.rng.Float64()*1000 < n }

// frame appends a header and a body to what a side has to send.
func (g *generator) frame(s *side, flags, status byte, id int64, body []byte) {
	head := append(make([]byte, 0, 16), 0xda, 0xbb, flags, status)
	head = binary.BigEndian.AppendUint64(head, uint64(id))
	g.enqueue(s, binary.BigEndian.AppendUint32(head, uint32(len(body))))
	g.enqueue(s, body)
}

// enqueue appends to what a side has to send.
func (g *generator) enqueue(s *side, b []byte) {
	if s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
	} else if s.head > maxQueue {
		s.queue = s.queue[:copy(s.queue, s.queue[s.head:])]
		s.head = 0
	}
	s.queue = append(s.queue, b...)
	s.written += int64(len(b))
	g.queued += int64(len(b))
}

// burst sends some segments of one side, and the other side's acknowledgements.
func (g *generator) burst(c *conn, from int) {
	s := &c.sides[from]
	if again := s.again; again.payload != nil {
		s.again = segment{}
		g.truth.Retransmissions++
		g.segment(c, from, again)
		g.acknowledge(c, 1-from)
	}
	for n := 1 + g.rng.IntN(maxBurst); n > 0 && s.head < len(s.queue); n-- {
		first := g.take(s)
		if len(s.queue) > s.head && g.perMille(swapPerMille) {
			second := g.take(s)
			g.truth.Swapped++
			g.segment(c, from, second)
			g.segment(c, from, first)
			c.sides[1-from].unacked += 2
		} else {
			g.segment(c, from, first)
			c.sides[1-from].unacked++
			if s.again.payload == nil && g.perMille(againPerMille) {
				s.again = segment{first.seq, append([]byte(nil), first.payload...)}
			}
		}
		if c.sides[1-from].unacked >= 2 {
			g.acknowledge(c, 1-from)
		}
	}
}

// take cuts the next segment off a side's queue.
func (g *generator) take(s *side) segment {
	n := min(len(s.queue)-s.head, g.mix.MSS)
	t := segment{s.seq, s.queue[s.head : s.head+n]}
	s.head += n
	s.seq += uint32(n)
	s.sent += int64(n)
	g.queued -= int64(n)
	return t
}

// segment sends payload; the acknowledgement goes with it.
func (g *generator) segment(c *conn, from int, t segment) {
	flags := byte(flagACK)
	if len(t.payload) < g.mix.MSS {
		flags |= flagPSH
	}
	s, o := &c.sides[from], &c.sides[1-from]
	g.writer.packet(&s.end, &o.end, flags, t.seq, o.seq, t.payload, g.pause())
	s.unacked = 0
}

func (g *generator) acknowledge(c *conn, from int) {
	g.packet(c, from, flagACK, nil)
	c.sides[from].unacked = 0
}

// packet sends a packet at the place where a side is.
func (g *generator) packet(c *conn, from int, flags byte, payload []byte) {
	s, o := &c.sides[from], &c.sides[1-from]
	ack := o.seq
	if flags&flagACK == 0 {
		ack = 0
	}
	g.writer.packet(&s.end, &o.end, flags, s.seq, ack, payload, g.pause())
}

// pause is the microseconds until the next packet.
func (g *generator) pause() int64 { return 1 + int64(g.rng.IntN(9)) }
