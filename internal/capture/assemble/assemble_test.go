package assemble

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// recorder notes what a stream is given, as text: data as it is, "<gap n>", "<repeat pos+n>", "<end>".
type recorder struct {
	b     strings.Builder
	order *strings.Builder // of all streams, if wanted
	link  int64            // link bytes: payload on the wire and overhead
}

func (r *recorder) Data(b []byte, m *Meta) {
	r.b.Write(b)
	if r.order != nil {
		r.order.Write(b)
	}
	r.link += int64(len(b) + m.Overhead)
}

func (r *recorder) Gap(n, wire int64, m *Meta) {
	fmt.Fprintf(&r.b, "<gap %d>", n)
	if r.order != nil {
		fmt.Fprintf(r.order, "<%d>", n)
	}
	r.link += wire + int64(m.Overhead)
}

func (r *recorder) Repeat(n int, m *Meta) {
	fmt.Fprintf(&r.b, "<repeat %d+%d>", m.Pos, n)
	r.link += int64(n + m.Overhead)
}

func (r *recorder) End() { r.b.WriteString("<end>") }

// handler keeps the streams of every connection by its number and side.
type handler struct {
	opened  int
	closed  int64
	streams map[string]*recorder
	order   *strings.Builder
}

func (h *handler) Open(c *Connection) [2]Stream {
	var s [2]Stream
	h.opened++
	c.Number = h.opened
	for i := range s {
		r := &recorder{order: h.order}
		h.streams[fmt.Sprintf("%d.%d", c.Number, i)] = r
		s[i] = r
	}
	return s
}

func (h *handler) Begin(*Connection) {}
func (h *handler) Close(*Connection) { h.closed++ }

// wire is a test's network: it sends segments from "c" (the client) or "s".
type wire struct {
	a     *Assembler
	h     *handler
	n     int64
	o     Origin
	last  packet.Segment
	quiet bool // send only prepares last
	order strings.Builder
}

func newWire(cfg Config) *wire {
	h := &handler{streams: map[string]*recorder{}}
	return &wire{a: New(cfg, h), h: h}
}

const overhead = 66

var (
	client = packet.Endpoint{IP: [16]byte{15: 1}, Port: 40000}
	server = packet.Endpoint{IP: [16]byte{15: 2}, Port: 20880}
)

func (w *wire) send(from string, flags uint8, seq, ack uint32, data string) {
	w.cut(from, flags, seq, ack, data, len(data))
}

// cut sends a segment of n bytes of which the capture kept data.
func (w *wire) cut(from string, flags uint8, seq, ack uint32, data string, n int) {
	s := packet.Segment{Src: client, Dst: server, Seq: seq, Ack: ack, Flags: flags, Payload: []byte(data), PayloadLen: n}
	s.IPID = uint16(w.n + 1)
	if from == "s" {
		s.Src, s.Dst = server, client
	}
	if w.last = s; w.quiet {
		return
	}
	w.again(0, 0)
}

// again sends the last segment (again), as a packet of that file and interface.
func (w *wire) again(file, iface int) {
	w.n++
	s := w.last
	w.a.Segment(&s, &Origin{
		Ordinal: w.n, Time: w.n * int64(time.Millisecond), Packet: w.n, File: file, Interface: iface, Overhead: overhead,
	})
}

// send1 sends a segment as it is.
func (w *wire) send1(s *packet.Segment, at int64) {
	w.n++
	w.o = Origin{Ordinal: w.n, Time: at, Packet: w.n, Overhead: overhead}
	w.a.Segment(s, &w.o)
}

func (w *wire) open(isn uint32) {
	w.send("c", packet.SYN, isn, 0, "")
	w.send("s", packet.SYN|packet.ACK, 5000, isn+1, "")
	w.send("c", packet.ACK, isn+1, 5001, "")
}

const ack = packet.ACK

func TestStreams(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w *wire)
		want map[string]string
	}{
		{"in order", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", ack, 5001, 104, "xyz")
			w.send("c", ack, 104, 5004, "def")
		}, map[string]string{"1.0": "abcdef<end>", "1.1": "xyz<end>"}},
		{"sequence wraps around", func(w *wire) {
			w.open(0xfffffffd)
			w.send("c", ack, 0xfffffffe, 5001, "abcd")
			w.send("c", ack, 2, 5001, "ef")
		}, map[string]string{"1.0": "abcdef<end>"}},
		{"data on SYN", func(w *wire) {
			w.send("c", packet.SYN, 100, 0, "abc")
			w.send("c", ack, 104, 1, "def")
		}, map[string]string{"1.0": "abcdef<end>"}},
		{"reordered", func(w *wire) {
			w.open(100)
			w.send("c", ack, 104, 5001, "def")
			w.send("c", ack, 107, 5001, "ghi")
			w.send("c", ack, 101, 5001, "abc")
		}, map[string]string{"1.0": "abcdefghi<end>"}},
		{"retransmitted", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 102, 5001, "bcdef")
		}, map[string]string{"1.0": "abc<repeat 0+3><repeat 1+2>def<end>"}},
		{"first copy wins", func(w *wire) {
			w.open(100)
			w.send("c", ack, 104, 5001, "def")
			w.send("c", ack, 102, 5001, "BCDEFG")
			w.send("c", ack, 101, 5001, "aB")
		}, map[string]string{"1.0": "aBC<repeat 1+0>def<repeat 3+0>G<end>"}},
		{"lost and acknowledged", func(w *wire) {
			w.open(100)
			w.send("c", ack, 104, 5001, "def")
			w.send("s", ack, 5001, 107, "")
			for range 20 {
				w.send("s", ack, 5001, 107, "")
			}
			w.send("c", ack, 107, 5001, "ghi")
		}, map[string]string{"1.0": "<gap 3>defghi<end>"}},
		{"lost at the end", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack|packet.FIN, 110, 5001, "")
			w.send("s", ack, 5001, 111, "")
		}, map[string]string{"1.0": "abc<gap 6><end>"}},
		{"a FIN that was not captured is no gap", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", ack, 5001, 105, "")
		}, map[string]string{"1.0": "abc<end>"}},
		{"cut by the snap length", func(w *wire) {
			w.open(100)
			w.cut("c", ack, 101, 5001, "ab", 5)
			w.send("c", ack, 106, 5001, "fg")
		}, map[string]string{"1.0": "ab<gap 3>fg<end>"}},
		{"joined midway", func(w *wire) {
			w.send("c", ack, 900, 5001, "abc")
			w.send("s", ack, 5001, 903, "xyz")
			w.send("c", ack, 890, 5004, "before")
		}, map[string]string{"1.0": "abc<repeat -10+6><end>", "1.1": "xyz<end>"}},
		{"SYN of the answer lost", func(w *wire) {
			w.send("c", packet.SYN, 100, 0, "")
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", ack, 5004, 104, "uvw")
			w.send("s", ack, 5001, 104, "xyz")
		}, map[string]string{"1.0": "abc<end>", "1.1": "xyzuvw<end>"}},
		{"port used again after RST", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("s", packet.RST, 5001, 0, "")
			w.open(70000)
			w.send("c", ack, 70001, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}},
		{"port used again after nothing at all", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.open(70000)
			w.send("c", ack, 70001, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}},
		{"port used again after RST, without its SYN", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("s", packet.RST, 5001, 0, "")
			w.send("c", ack, 98, 5001, "late") // a late packet is none of the new connection
			w.send("c", ack, 3<<30, 5001, "new")
		}, map[string]string{"1.0": "old<repeat -3+4><end>", "2.0": "new<end>"}},
		{"a SYN sent again is no new generation", func(w *wire) {
			w.send("c", packet.SYN, 100, 0, "")
			w.send("c", packet.SYN, 100, 0, "")
			w.send("s", packet.SYN|ack, 5000, 101, "")
			w.send("s", packet.SYN|ack, 5000, 101, "")
			w.send("c", ack, 101, 5001, "abc")
		}, map[string]string{"1.0": "abc<end>"}},
		{"keep-alive", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 103, 5001, "\x00")
			w.send("c", ack, 104, 5001, "d")
		}, map[string]string{"1.0": "abc<repeat 2+1>d<end>"}},
		{"keep-alive without data", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 103, 5001, "")
			w.send("s", ack, 5001, 104, "")
			w.send("c", ack, 104, 5001, "d")
		}, map[string]string{"1.0": "abcd<end>"}},
		{"keep-alive before any data", func(w *wire) {
			w.open(100)
			w.send("c", ack, 100, 5001, "\x00")
			w.send("c", ack, 101, 5001, "abc")
		}, map[string]string{"1.0": "<repeat -1+1>abc<end>"}},
		{"joined at a keep-alive", func(w *wire) {
			w.send("c", ack, 103, 5001, "\x00")
			w.send("s", ack, 5001, 104, "")
			w.send("c", ack|packet.PSH, 104, 5001, "d")
		}, map[string]string{"1.0": "<repeat -1+1>d<end>"}},
		{"zero-window probes", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			for range 3 {
				w.send("c", ack, 104, 5001, "d") // the next byte, not taken
				w.send("s", ack, 5001, 104, "")
			}
			w.send("c", ack, 104, 5001, "def")
			w.idle(40)
			w.send("c", ack, 107, 5001, "g")
		}, map[string]string{"1.0": "abcd<repeat 3+1><repeat 3+1><repeat 3+1>efg<end>"}},
		{"acknowledged before it was captured", func(w *wire) {
			w.open(100)
			w.send("s", ack, 5001, 107, "")
			w.send("c", ack, 104, 5001, "def")
			w.idle(8)
			w.send("c", ack, 101, 5001, "abc")
		}, map[string]string{"1.0": "abcdef<end>"}},
		{"sent again in one piece over many that are held", func(w *wire) {
			w.open(100)
			for i := uint32(0); i < 10; i += 2 {
				w.send("c", ack, 102+i, 5001, string(rune('b'+i)))
			}
			w.send("c", ack, 101, 5001, "abcdefghijk")
		}, map[string]string{"1.0": "ab<repeat 1+0>cd<repeat 3+0>ef<repeat 5+0>gh<repeat 7+0>ij<repeat 9+0>k<end>"}},
		{"FIN on data, data behind it", func(w *wire) {
			w.open(100)
			w.send("c", ack|packet.FIN, 101, 5001, "abc")
			w.send("s", ack, 5001, 105, "xyz")
			w.send("s", ack|packet.FIN, 5004, 105, "")
			w.send("c", ack, 105, 5005, "")
		}, map[string]string{"1.0": "abc<end>", "1.1": "xyz<end>"}},
		{"joined, data of both ways, without acknowledgements", func(w *wire) {
			w.send("c", 0, 900, 0, "abc")
			w.send("s", 0, 3000, 0, "xyz")
			w.send("c", 0, 903, 0, "def")
		}, map[string]string{"1.0": "abcdef<end>", "1.1": "xyz<end>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(Config{GapPackets: 16})
			c.run(w)
			w.a.End()
			for side, want := range c.want {
				require.Contains(t, w.h.streams, side)
				assert.Equal(t, want, w.h.streams[side].b.String(), side)
			}
			balance(t, w)
		})
	}
}

// The directions of a connection are delivered in the order of cause and effect, whatever was lost or came in another
// order; q and a stand for questions and answers.
func TestCauseAndEffect(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w *wire)
		want string
	}{
		{"captured in another order", func(w *wire) {
			w.open(100)
			w.send("s", ack, 5001, 103, "a1")
			w.send("c", ack, 101, 5001, "q1")
		}, "q1a1"},
		{"a hole before the question", func(w *wire) {
			w.open(100)
			w.send("c", ack, 103, 5001, "q2")
			w.send("s", ack, 5001, 105, "a2")
			w.send("c", ack, 105, 5003, "q3")
			w.send("s", ack, 5003, 107, "a3")
		}, "<2>q2a2q3a3"},
		{"a hole in both", func(w *wire) {
			w.open(100)
			w.send("c", ack, 103, 5001, "q2")
			w.send("s", ack, 5003, 105, "a2")
			w.send("c", ack, 105, 5005, "q3")
			w.send("s", ack, 5005, 107, "a3")
		}, "<2>q2<2>a2q3a3"},
		{"the end of the question lost", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "q1")
			w.send("s", ack, 5001, 105, "a1")
			w.idle(40)
			w.send("c", ack, 105, 5003, "q2")
		}, "q1<2>a1q2"},
		{"an answer in time is not held", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "q1")
			w.send("s", ack, 5001, 103, "a1")
			w.send("c", ack|packet.FIN, 103, 5003, "")
			w.send("s", ack, 5003, 104, "a2")
			if n := w.a.heldAll; n != 0 {
				w.order.WriteString("held")
			}
		}, "q1a1a2"},
		{"an answer to a FIN captured late", func(w *wire) {
			w.open(100)
			w.send("s", ack, 5001, 104, "a1")
			w.send("c", ack|packet.FIN, 101, 5001, "q1")
		}, "q1a1"},
		{"the second hole is not acknowledged yet", func(w *wire) {
			w.open(100)
			w.send("c", ack, 103, 5001, "q2")
			w.send("c", ack, 107, 5001, "q4")
			w.send("s", ack, 5001, 105, "")
			w.idle(10)
			w.send("c", ack, 101, 5001, "q1")
			w.idle(10) // as long as the first hole would have had
			w.send("c", ack, 105, 5001, "q3")
		}, "q1q2q3q4"},
		{"an acknowledgement of what never was", func(w *wire) {
			w.open(100)
			w.send("s", ack, 5001, 101+1<<28, "a1")
			w.idle(40)
			w.send("c", ack, 101, 5003, "q1")
			w.send("s", ack, 5003, 103, "a2")
		}, "a1q1a2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(Config{GapPackets: 16})
			w.h.order = &w.order
			c.run(w)
			done := w.order.String()
			w.a.End()
			if c.want != done { // the rest comes at the end
				done = w.order.String()
			}
			assert.Equal(t, c.want, done)
			balance(t, w)
		})
	}
}

// idle lets time pass: packets of another connection.
func (w *wire) idle(packets int) {
	for range packets {
		s := packet.Segment{Src: client, Dst: server, Flags: ack}
		s.Src.Port = 1
		w.n++
		w.a.Segment(&s, &Origin{Ordinal: w.n, Time: w.n * int64(time.Millisecond), Packet: w.n, Overhead: overhead})
	}
}

// The SYN may be captured behind the first data.
func TestLateSYN(t *testing.T) {
	w := newWire(Config{})
	w.send("c", ack, 101, 5001, "abc")
	w.send("c", packet.SYN, 100, 0, "")
	w.send("s", packet.SYN|ack, 5000, 101, "")
	w.send("c", ack, 104, 5001, "def")
	w.a.End()
	assert.Equal(t, "abcdef<end>", w.h.streams["1.0"].b.String())
	assert.Equal(t, int64(1), w.a.Ledger.Connections)
}

// balance checks that every byte of the packets with payload was handed on once.
func balance(t *testing.T, w *wire) {
	l := w.a.Ledger
	require.NoError(t, l.Balance())
	assert.Zero(t, l.Held+l.HeldLink)
	link := int64(0)
	for _, r := range w.h.streams {
		link += r.link
	}
	assert.Equal(t, l.Stream+l.Repeated+l.BeyondSnap+l.Overhead, link, "link bytes handed on")
}

// One-sided captures have no acknowledgements: holes are given up all the same, and memory is bounded.
func TestOneSided(t *testing.T) {
	w := newWire(Config{GapPackets: 8, MaxHeld: 1 << 10})
	w.send("c", packet.SYN, 100, 0, "")
	for i := range 1000 {
		if i%100 == 50 {
			continue
		}
		w.send("c", ack, 101+uint32(i)*10, 0, "0123456789")
		assert.LessOrEqual(t, w.a.heldAll, 1<<10)
	}
	w.a.End()
	assert.Equal(t, 10, strings.Count(w.h.streams["1.0"].b.String(), "<gap 10>"))
	balance(t, w)
}

// Thousands of packets may be overtaken, in any order; nothing is lost as long as the limits allow, and the time for each
// does not grow with their number.
func TestThousandsReordered(t *testing.T) {
	const n, size = 20_000, 20
	orders := map[string]func(i int) int{
		"one behind all":   func(i int) int { return (i + 1) % n },
		"backwards":        func(i int) int { return n - 1 - i },
		"even before odd":  func(i int) int { return i*2%n + i*2/n },
		"middle outwards":  func(i int) int { return n/2 + (i+1)/2*(i%2*2-1) },
		"shuffled in rows": func(i int) int { return i/5000*5000 + (i*1777)%5000 },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			w := newWire(Config{MaxHeld: 64 << 20, MaxHeldPerConnection: 64 << 20})
			w.open(0)
			payload := strings.Repeat("x", size)
			seen := map[int]bool{}
			for i := range n {
				k := (order(i)%n + n) % n
				seen[k] = true
				w.send("c", ack, 1+uint32(k*size), 5001, payload)
			}
			require.Len(t, seen, n)
			assert.Equal(t, int64(n*size), w.a.Ledger.Stream)
			assert.Zero(t, w.a.Ledger.Gaps)
			w.a.End()
			balance(t, w)
		})
	}
}

// Where many connections hold data, that of the one that held it longest is given up first.
func TestMaxHeld(t *testing.T) {
	w := newWire(Config{MaxHeld: 10 * (128 + pieceCharge)})
	s := packet.Segment{Src: client, Dst: server, Flags: packet.SYN}
	for i := range 15 {
		s.Src.Port, s.Flags, s.Seq, s.Payload, s.PayloadLen = uint16(i), packet.SYN, 0, nil, 0
		w.send1(&s, 0)
		s.Flags, s.Seq, s.Payload, s.PayloadLen = ack, 10, []byte("data"), 4
		w.send1(&s, 0)
	}
	assert.LessOrEqual(t, w.a.heldAll, w.a.cfg.MaxHeld)
	assert.Equal(t, int64(5), w.a.Ledger.Gaps)
	for i := 1; i <= 15; i++ {
		got := w.h.streams[fmt.Sprint(i, ".0")].b.String()
		assert.Equal(t, i <= 5, got == "<gap 9>data", "%d: %s", i, got)
	}
	w.a.End()
	balance(t, w)
}

// Closed connections are forgotten: a capture of many short ones keeps memory flat.
func TestClosedAreForgotten(t *testing.T) {
	w := newWire(Config{MaxClosed: 10})
	for i := range 1000 {
		s := packet.Segment{Src: client, Dst: server, Seq: 1, Flags: packet.SYN}
		s.Src.Port = uint16(1000 + i)
		w.send1(&s, int64(i))
		s.Flags = packet.RST
		w.send1(&s, int64(i))
	}
	assert.LessOrEqual(t, w.a.table.n, 12)
	assert.LessOrEqual(t, len(w.a.table.blocks), 1)
}

// Connections that ended before the capture did are no reason to leave others out, or to stumble over them.
func TestEndOfMany(t *testing.T) {
	for closed := range 100 {
		w := newWire(Config{Linger: time.Nanosecond})
		for i := range 100 {
			s := packet.Segment{Src: client, Dst: server, Seq: 1, Flags: packet.SYN}
			s.Src.Port = uint16(1000 + i)
			w.send1(&s, 0)
		}
		for i := range closed {
			s := packet.Segment{Src: client, Dst: server, Seq: 2, Flags: packet.RST}
			s.Src.Port = uint16(1000 + i)
			w.send1(&s, 0)
		}
		s := packet.Segment{Src: client, Dst: server, Seq: 2, Flags: ack}
		s.Src.Port = 1099
		w.send1(&s, int64(time.Second)) // time passes: they are forgotten
		w.a.End()
		for name, r := range w.h.streams {
			assert.Equal(t, "<end>", r.b.String(), name)
		}
	}
}

// FuzzDelivery sends a stream cut, shuffled, repeated and thinned out. What arrives is the stream, with gaps in place of
// what was never sent, whatever the order.
func FuzzDelivery(f *testing.F) {
	f.Add(uint64(1), uint32(100), 500, uint8(0))
	f.Add(uint64(2), uint32(0xffffff00), 3000, uint8(10))
	f.Add(uint64(3), uint32(7), 20, uint8(90))
	f.Fuzz(func(t *testing.T, seed uint64, isn uint32, n int, loss uint8) {
		if n < 0 || n > 5000 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		stream := make([]byte, n)
		for i := range stream {
			stream[i] = 'a' + byte(rng.IntN(26))
		}
		type piece struct{ from, to int }
		var pieces []piece
		present := make([]bool, n)
		for at := 0; at < n; {
			to := min(n, at+1+rng.IntN(40))
			if rng.IntN(100) >= int(loss%100) {
				pieces = append(pieces, piece{at, to})
				if rng.IntN(4) == 0 { // again, with other borders
					pieces = append(pieces, piece{max(0, at-rng.IntN(10)), min(n, to+rng.IntN(10))})
				}
			}
			at = to
		}
		for i := range pieces { // some reordering
			if k := i + rng.IntN(6); k < len(pieces) {
				pieces[i], pieces[k] = pieces[k], pieces[i]
			}
		}
		w := newWire(Config{GapPackets: 1 << 40, GapTime: time.Hour})
		w.send("c", packet.SYN, isn, 0, "")
		for _, p := range pieces {
			for i := p.from; i < p.to; i++ {
				present[i] = true
			}
			w.send("c", ack, isn+1+uint32(p.from), 0, string(stream[p.from:p.to]))
		}
		w.send("c", ack|packet.FIN, isn+1+uint32(n), 0, "")
		w.send("s", ack, 1, isn+2+uint32(n), "")
		w.a.End()
		var want strings.Builder
		for i := 0; i < n; {
			k := i
			for k < n && present[k] == present[i] {
				k++
			}
			if present[i] {
				want.Write(stream[i:k])
			} else {
				fmt.Fprintf(&want, "<gap %d>", k-i)
			}
			i = k
		}
		if len(pieces) == 0 {
			require.Empty(t, w.h.streams, "nothing was seen")
			return
		}
		got := w.h.streams["1.0"].b.String()
		for { // repeats are told wherever they come; they are not part of the stream
			i := strings.Index(got, "<repeat")
			if i < 0 {
				break
			}
			got = got[:i] + got[i+strings.IndexByte(got[i:], '>')+1:]
		}
		require.Equal(t, want.String()+"<end>", got)
		balance(t, w)
	})
}

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
	c.sides[0].stream = discard{}
}

// discards is a handler of connections of which nothing is wanted.
type discards struct{}

func (discards) Begin(*Connection)          {}
func (discards) Open(*Connection) [2]Stream { return [2]Stream{discard{}, discard{}} }
func (discards) Close(*Connection)          {}

// heap is the memory in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

type discard struct{}

func (discard) Data([]byte, *Meta)      {}
func (discard) Gap(int64, int64, *Meta) {}
func (discard) Repeat(int, *Meta)       {}
func (discard) End()                    {}
