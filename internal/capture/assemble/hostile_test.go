package assemble

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// hostileStream checks that a stream is one: places follow each other.
type hostileStream struct {
	t     *testing.T
	w     *hostileHandler
	pos   int64
	ended bool
}

type hostileHandler struct {
	t                   *testing.T
	link                int64
	opened, ended, shut int
}

func (h *hostileHandler) Begin(*Connection) {}

func (h *hostileHandler) Open(*Connection) *Flow {
	h.opened++
	return new(Flow).Open([2]Stream{&hostileStream{t: h.t, w: h}, &hostileStream{t: h.t, w: h}})
}

func (h *hostileHandler) Close(c *Connection) {
	h.shut++
	require.Equal(h.t, c.Opened(), c.Payload)
}

func (s *hostileStream) at(n, wire int64, m *Meta) {
	require.False(s.t, s.ended)
	require.Equal(s.t, s.pos, m.Pos)
	require.Positive(s.t, n)
	s.pos += n
	s.w.link += wire + int64(m.Overhead)
}

func (s *hostileStream) Data(b []byte, m *Meta) { s.at(int64(len(b)), int64(len(b)), m) }

func (s *hostileStream) Gap(n, wire int64, m *Meta) {
	s.at(n, wire, m)
	require.LessOrEqual(s.t, n, int64(maxAhead+2*agreeing))
}

func (s *hostileStream) Repeat(n int, m *Meta) {
	require.False(s.t, s.ended)
	require.Less(s.t, m.Pos, s.pos)
	s.w.link += int64(n + m.Overhead)
}

func (s *hostileStream) Late(b []byte, cut int64, m *Meta) {
	n := int64(len(b))
	require.False(s.t, s.ended)
	require.Positive(s.t, n+cut)
	require.LessOrEqual(s.t, m.Pos+n+cut, int64(0))
	s.w.link += n + cut + int64(m.Overhead)
}

func (s *hostileStream) End(bool) {
	require.False(s.t, s.ended)
	s.ended = true
	s.w.ended++
}

// Any segments: the books balance at every step, limits hold, and what is handed on is a stream.
func FuzzHostile(f *testing.F) {
	f.Add([]byte("\x00\x02\x00\x00\x00\x10\x01\x03\x05\x08\x10\x21\x03\x09\x08\x10\x01\x01\x05\x08"))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := make([]byte, 5*rng.IntN(400))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		hostile(t, script)
		short(t, script)
	})
}

// scripted calls f with the segments that a script describes.
func scripted(script []byte, f func(s *packet.Segment, o *Origin)) {
	payload := make([]byte, 256)
	next := [2]uint32{}
	o := Origin{Overhead: overhead}
	for ; len(script) >= 5; script = script[5:] {
		where, flags, jump, n, what := script[0], script[1], script[2], int(script[3]), script[4]
		side := int(where & 1)
		s := packet.Segment{Src: client, Dst: server, Flags: flags, PayloadLen: n, IPID: uint16(what >> 4)}
		s.Payload = payload[:n]
		if what&1 != 0 {
			s.Payload = payload[:n/2]
		}
		payload[0] = what
		s.Src.Port += uint16(where >> 1 & 7)
		switch jump >> 5 {
		case 0, 1, 2, 3:
			s.Seq = next[side]
		case 4:
			s.Seq = next[side] + uint32(jump&31)*7
		case 5:
			s.Seq = next[side] - uint32(jump&31)*7
		case 6:
			s.Seq = next[side] + 1<<(jump&31)
		case 7:
			s.Seq = next[side] - 1<<(jump&31)
		}
		if jump>>5 < 6 {
			next[side] = s.Seq + uint32(n)
		}
		s.Ack = next[1-side]
		if what&2 != 0 {
			s.Ack += 1 << (what >> 3)
		}
		if side == 1 {
			s.Src, s.Dst = s.Dst, s.Src
		}
		o.Ordinal++
		o.Time += int64(where>>5) * int64(time.Second) / 4
		o.File, o.Interface = int(what>>7), int(where>>4&1)
		f(&s, &o)
	}
}

// hostileConfig has limits that a short script reaches.
var hostileConfig = Config{
	GapPackets: 30, MaxHeld: 20_000, MaxHeldPerConnection: 8000, MaxClosed: 3, MaxConnections: 4, MaxEmpty: 3,
	IdleTime: 20 * time.Second, Linger: 5 * time.Second,
}

func hostile(t *testing.T, script []byte) {
	h, cfg := &hostileHandler{t: t}, hostileConfig
	a, looks := New(cfg, h), New(cfg, &hostileHandler{t: t})
	a.table.init(1, 2) // the same in every run
	looks.table.init(1, 2)
	scripted(script, func(s *packet.Segment, o *Origin) {
		looks.empty.looked, looks.open.looked = 0, 0 // it looks for idle connections with each packet
		looks.Segment(s, o)
		a.Segment(s, o)
		require.True(t, looks.Ledger == a.Ledger) // Equal takes most of the time
		require.NoError(t, a.Ledger.Balance())
		require.LessOrEqual(t, a.heldAll, cfg.MaxHeld)
		require.LessOrEqual(t, a.open.n, cfg.MaxConnections)
		require.LessOrEqual(t, a.empty.n, cfg.MaxEmpty)
		require.LessOrEqual(t, a.closing.n, cfg.MaxClosed+1)
		require.Equal(t, a.table.n, a.open.n+a.empty.n+a.closing.n)
	})
	a.End()
	l := &a.Ledger
	require.NoError(t, l.Balance())
	require.Zero(t, l.Held+l.HeldLink)
	require.Zero(t, a.heldAll+a.suspectBytes+a.table.n+len(a.late))
	require.True(t, a.waiting.Empty() && a.holders.Empty() && a.suspects.Empty())
	require.Equal(t, l.Stream+l.Repeated+l.BeyondSnap+l.Overhead, h.link)
	require.Equal(t, 2*h.opened, h.ended)
	require.Equal(t, int(l.Connections), h.shut)
	require.Equal(t, l.Connections-l.WithoutData, int64(h.opened))
}

// What usual does with a segment is what unusual would have done.
func short(t *testing.T, script []byte) {
	with, without := newWire(hostileConfig), newWire(hostileConfig)
	for _, w := range []*wire{with, without} {
		w.a.table.init(1, 2)
		w.h.order = &w.order
	}
	scripted(script, func(s *packet.Segment, o *Origin) {
		c := with.a.Segment(s, o)
		d := without.a.unusual(without.arrived(s, o))
		require.True(t, without.a.Ledger == with.a.Ledger) // Equal takes most of the time
		require.Equal(t, d == nil, c == nil)
		if c != nil {
			x, y := *c, *d
			v, w := x.flow.ways, y.flow.ways
			for i := range 2 {
				v[i].stream, w[i].stream = nil, nil
			}
			require.Equal(t, v, w)
			x.flow, y.flow = nil, nil
			require.True(t, x == y, "%+v, %+v", x, y)
		}
	})
	require.Equal(t, without.a.recent, with.a.recent)
	with.a.End()
	without.a.End()
	require.Equal(t, without.order.String(), with.order.String())
	require.Equal(t, without.a.Ledger, with.a.Ledger)
}

func (w *wire) arrived(s *packet.Segment, o *Origin) (uint32, *Connection, int, *packet.Segment, *Origin) {
	tag, c, i := w.a.arrived(s, o)
	return tag, c, i, s, o
}
