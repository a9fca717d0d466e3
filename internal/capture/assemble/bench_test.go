package assemble

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

func BenchmarkInOrder(b *testing.B) {
	w := newWire(Config{})
	w.open(1)
	s := packet.Segment{Src: client, Dst: server, Seq: 2, Ack: 5001, Flags: ack, Payload: make([]byte, 1448), PayloadLen: 1448}
	w.discard()
	b.SetBytes(1448)
	b.ReportAllocs()
	for b.Loop() {
		w.send1(&s, 0)
		s.Seq += 1448
	}
}

// BenchmarkLost has one packet of each 10 000 lost: thousands are held at a time.
func BenchmarkLost(b *testing.B) {
	w := newWire(Config{})
	w.open(1)
	s := packet.Segment{Src: client, Dst: server, Seq: 2, Ack: 5001, Flags: ack, Payload: make([]byte, 1448), PayloadLen: 1448}
	w.discard()
	back := packet.Segment{Src: server, Dst: client, Seq: 5001, Flags: ack}
	b.SetBytes(1448)
	n := 0
	for b.Loop() {
		if n++; n%10_000 != 0 {
			w.send1(&s, 0)
		}
		s.Seq += 1448
		if n%10_000 == 1 {
			back.Ack = s.Seq
			w.send1(&back, 0)
		}
	}
}

// discard lets the benchmarks measure the assembler alone.
func (w *wire) discard() {
	c := w.a.Open()[0]
	w.a.firstPayload(c)
	c.flow = new(Flow).Open([2]Stream{discard{}, c.flow.ways[1].stream})
}

// discards is a handler of connections of which nothing is wanted.
type discards struct{}

func (discards) Begin(*Connection)      {}
func (discards) Open(*Connection) *Flow { return new(Flow).Open([2]Stream{discard{}, discard{}}) }
func (discards) Close(*Connection)      {}

// heap is the memory in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

type discard struct{}

func (discard) Data([]byte, *Meta)        {}
func (discard) Gap(int64, int64, *Meta)   {}
func (discard) Repeat(int, *Meta)         {}
func (discard) End(bool)                  {}
func (discard) Late([]byte, int64, *Meta) {}

// A connection costs little, whatever became of it.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct {
		name string
		use  func(w *wire, s *packet.Segment)
	}{
		{"only SYN", func(w *wire, s *packet.Segment) {
			s.Flags = packet.SYN
			w.send1(s, 0)
		}},
		{"handshake and little data", func(w *wire, s *packet.Segment) {
			s.Flags = packet.SYN
			w.send1(s, 0)
			s.Seq, s.Flags, s.Payload, s.PayloadLen = 1, ack, []byte("data"), 4
			w.send1(s, 0)
		}},
		{"held and released", func(w *wire, s *packet.Segment) {
			s.Flags = packet.SYN
			w.send1(s, 0)
			s.Flags, s.Payload, s.PayloadLen = ack, []byte("data"), 4
			for _, seq := range []uint32{5, 9, 1} {
				s.Seq = seq
				w.send1(s, 0)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const n = 100_000
			for b.Loop() {
				w := &wire{a: New(Config{MaxEmpty: n}, discards{})}
				before := heap()
				for i := range n {
					s := packet.Segment{Src: client, Dst: server}
					s.Src.Port, s.Dst.IP[1] = uint16(i), byte(i>>16)
					c.use(w, &s)
				}
				b.ReportMetric(float64(heap()-before)/n, "B/connection")
				require.Equal(b, n, w.a.table.n)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
