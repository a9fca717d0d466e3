package assemble

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

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
		}, map[string]string{"1.0": "abc<late -10+6><end>", "1.1": "xyz<end>"}},
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
			w.send("c", ack, 101, 5001, "old") // a late packet is none of the new connection
			w.send("c", ack, 3<<30, 5001, "new")
		}, map[string]string{"1.0": "old<repeat 0+3><end>", "2.0": "new<end>"}},
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

// The SYN may be captured after the first data.
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
