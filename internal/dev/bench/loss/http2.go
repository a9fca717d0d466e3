package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// newHTTP2Scene makes a capture of about size bytes with Triple and gRPC of all kinds.
func newHTTP2Scene(size int64, connections int) (*scene, error) {
	var all []*traffic.Message
	s, err := load(traffic.Config{Size: size, Connections: connections, Mix: "http2"}, func(m *traffic.Message) { all = append(all, m) })
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		// Streams are numbered by their first packets: handshakes come first, a connection after the other.
		st := s.streams[2*m.Conn+m.Side]
		st.messages = append(st.messages, m)
	}
	s.frames = len(all)
	return s, nil
}

// damage is what is done to a capture of HTTP/2.
type damage struct {
	name  string
	share float64 // of the packets with payload that are removed
	// midway removes the first part of each stream, as far as this share of it.
	midway float64
	snap   int
	// least is the share of the undamaged messages that must be found.
	least float64
}

// damages are those of the experiment.
var damages = []damage{
	{name: "0.01 % removed", share: 0.0001, least: 0.95},
	{name: "0.1 % removed", share: 0.001, least: 0.95},
	{name: "1 % removed", share: 0.01, least: 0.95},
	{name: "5 % removed", share: 0.05},
	{name: "joined midway", midway: 0.3, least: 0.9},
	{name: "joined midway, 1 % removed", midway: 0.3, share: 0.01},
	{name: "snap length 96", snap: 96},
	{name: "snap length 256", snap: 256},
}

// do damages a scene.
func (d *damage) do(s *scene, random func() float64) *lossy {
	l := s.remove(d.share, random)
	if d.midway > 0 {
		for i, p := range s.packets {
			if p.stream < 0 {
				l.removed[i] = l.removed[i] || p.syn
			} else if st := s.streams[p.stream]; float64(p.off) < d.midway*float64(len(st.bytes)) {
				l.removed[i] = true
			}
		}
	}
	return s.without(l.removed, d.snap)
}

// http2Cell is the outcome of one kind of damage, summed over the seeds.
type http2Cell struct {
	*damage
	body              *http2Body
	messages, damaged int
	// Undamaged messages, and those of them that were found with all their bytes.
	undamaged, found int
	// Calls that were found, those without a name, and those with another one.
	calls, unnamed, misnamed int
	// Messages that were not sent like this, or reported twice; incomplete ones with a size that no message of the call has.
	invented, tooLong int
	skipped, bytes    int64
	first             map[string]string // of each kind of failure
}

// foundMessage is a message as it was reported.
type foundMessage struct {
	rpc.Summary
	spans []traffic.Span
	name  string // of the call
	taken bool
}

// foundMessages takes the messages of calls, by stream.
type foundMessages struct {
	s       *scene
	byKey   map[key]int
	streams [][]*foundMessage
	calls   []foundCall
}

// foundCall is a call as it was reported: a stream of the connection of a stream of the scene.
type foundCall struct {
	stream   int
	exchange uint64
	name     string
}

func newFoundMessages(s *scene) *foundMessages {
	f := &foundMessages{s: s, byKey: map[key]int{}, streams: make([][]*foundMessage, len(s.streams))}
	for i, st := range s.streams {
		f.byKey[st.key] = i
	}
	return f
}

func (f *foundMessages) Frame(*pipeline.Row) {}

func (f *foundMessages) Call(c *call.Call, _ bool) {
	client := f.byKey[keyOf(c.Conn.Ends[c.Side], c.Conn.Ends[1-c.Side])]
	name, exchange := unnamed, uint64(0)
	if c.Request != nil {
		name = c.Request.Service() + "/" + c.Request.Method()
	}
	for i, first := range [2]*call.Message{c.Request, c.Response} {
		side := c.Side ^ i
		stream := f.byKey[keyOf(c.Conn.Ends[side], c.Conn.Ends[1-side])]
		// The first captured byte of a stream joined midway has another place.
		shift := int64(int32(c.Conn.Starts[side] - f.s.streams[stream].isn - 1))
		for m := first; m != nil; m = m.Next {
			g := &foundMessage{Summary: m.Summary, name: name}
			for s := range m.Spans {
				g.spans = append(g.spans, traffic.Span{From: s.From + shift, To: s.To + shift})
			}
			exchange = m.Exchange
			f.streams[stream] = append(f.streams[stream], g)
		}
	}
	f.calls = append(f.calls, foundCall{client, exchange, name})
}

const unnamed = call.Unknown + "/" + call.Unknown

// measureHTTP2 damages s, which has k's messages, for each of the seeds.
func measureHTTP2(s *scene, k *http2Body, d *damage, seeds int) (*http2Cell, error) {
	c := &http2Cell{damage: d, body: k}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		l := d.do(s, rng.Float64)
		got := newFoundMessages(s)
		t, err := l.run(got)
		if err != nil {
			return nil, err
		}
		c.skipped += t.Skipped
		c.bytes += s.bytes
		for i := range s.streams {
			c.compare(l, i, got.streams[i])
		}
		c.names(s, got.calls)
	}
	return c, nil
}

// names counts the calls by what they are called.
func (c *http2Cell) names(s *scene, calls []foundCall) {
	want := make([]map[uint64]string, len(s.streams))
	for i := 0; i < len(s.streams); i += 2 {
		want[i] = map[uint64]string{}
		for _, m := range s.streams[i].messages {
			want[i][uint64(m.Stream)] = m.Service + "/" + m.Method
		}
	}
	for _, f := range calls {
		c.calls++
		switch {
		case f.name == unnamed:
			c.unnamed++
		case want[f.stream][f.exchange] != f.name:
			c.misnamed++
			c.note("misnamed", "stream %d of connection %d: %s, not %s", f.exchange, f.stream/2, f.name, want[f.stream][f.exchange])
		}
	}
}

// compare counts what was found of a stream.
func (c *http2Cell) compare(l *lossy, stream int, got []*foundMessage) {
	st := l.streams[stream]
	at := map[int64]*foundMessage{}
	for _, g := range got {
		from := g.spans[0].From
		if at[from] != nil {
			c.wrong("twice", stream, g)
		}
		at[from] = g
	}
	owners := ownersOf(st.messages)
	for _, m := range st.messages {
		c.messages++
		g := at[m.Spans[0].From]
		whole := !slices.ContainsFunc(m.Spans, func(s traffic.Span) bool { return l.lacks(stream, s) })
		if g != nil && whole && g.Complete && g.is(m) {
			g.taken = true
			c.found++
		}
		switch {
		case !whole:
			c.damaged++
		default:
			if c.undamaged++; g == nil || !g.taken {
				c.note("missed", "%s: found %s", describe(stream, m), g)
			}
		}
	}
	for _, g := range got {
		if g.taken {
			continue
		}
		m := owners.at(g.spans[0].From)
		switch {
		case g.Complete, m == nil, uint64(m.Stream) != g.Exchange, g.Request != (m.Side == 0):
			c.wrong("invented", stream, g)
		case g.BodyLen > m.BodyLen && !announced(st.messages, g):
			c.tooLong++
			c.note("too long", "%s: found %s", describe(stream, m), g)
		}
	}
}

// announced reports whether a message of the same direction of the call has the size of an incomplete one: the headers before a
// gap may be those of another one.
func announced(messages []*traffic.Message, g *foundMessage) bool {
	return slices.ContainsFunc(messages, func(m *traffic.Message) bool { return uint64(m.Stream) == g.Exchange && m.BodyLen == g.BodyLen })
}

// is reports whether a message was reported as it was sent.
func (g *foundMessage) is(m *traffic.Message) bool {
	return g.Exchange == uint64(m.Stream) && g.Request == (m.Side == 0) && int(g.HeaderLen) == m.HeaderLen && g.BodyLen == m.BodyLen &&
		slices.Equal(g.spans, m.Spans)
}

func (g *foundMessage) String() string {
	if g == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s of stream %d, complete %v, header %d, body %d, %d", g.name, g.Exchange, g.Complete, g.HeaderLen, g.BodyLen, g.spans)
}

func describe(stream int, m *traffic.Message) string {
	return fmt.Sprintf("direction %d: message %d of stream %d, last %v, %s/%s, header %d, body %d, %d",
		stream, m.Ordinal, m.Stream, m.Last, m.Service, m.Method, m.HeaderLen, m.BodyLen, m.Spans)
}

// wrong counts a message that was never sent.
func (c *http2Cell) wrong(how string, stream int, g *foundMessage) {
	c.invented++
	c.note("invented", "%s: direction %d: %s", how, stream, g)
}

// note keeps the first failure of a kind.
func (c *http2Cell) note(kind, format string, args ...any) {
	if c.first[kind] == "" {
		if c.first == nil {
			c.first = map[string]string{}
		}
		c.first[kind] = fmt.Sprintf(format, args...)
	}
}

// lacks reports whether bytes of a stream are missing.
func (l *lossy) lacks(stream int, s traffic.Span) bool {
	m := l.missing[stream]
	i, _ := slices.BinarySearchFunc(m, int(s.From), func(g span, at int) int { return cmp.Compare(g.to, at+1) })
	return i < len(m) && m[i].from < int(s.To)
}

// owned is spans with the messages that own them, in order.
type owned []ownedSpan

type ownedSpan struct {
	traffic.Span
	m *traffic.Message
}

func ownersOf(messages []*traffic.Message) (all owned) {
	for _, m := range messages {
		for _, s := range m.Spans {
			all = append(all, ownedSpan{s, m})
		}
	}
	slices.SortFunc(all, func(a, b ownedSpan) int { return cmp.Compare(a.From, b.From) })
	return all
}

// at returns the message that owns a byte, or nil.
func (o owned) at(pos int64) *traffic.Message {
	i, ok := slices.BinarySearchFunc(o, pos, func(s ownedSpan, at int64) int { return cmp.Compare(s.From, at) })
	if !ok {
		i--
	}
	if i >= 0 && pos < o[i].To {
		return o[i].m
	}
	return nil
}

// broken says which promise the cell breaks; "" when none.
func (c *http2Cell) broken() string {
	switch {
	case c.body.nested:
		return "" // docs/loss.md says why
	case c.invented > 0:
		return "messages were invented: " + c.first["invented"]
	case c.misnamed > 0:
		return "calls were misnamed: " + c.first["misnamed"]
	case c.tooLong > 0:
		return "sizes were guessed: " + c.first["too long"]
	case float64(c.found) < c.least*float64(c.undamaged):
		return fmt.Sprintf("less than %.0f %% of the undamaged messages were found: %s", 100*c.least, c.first["missed"])
	}
	return ""
}
