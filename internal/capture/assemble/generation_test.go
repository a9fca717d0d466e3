package assemble

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// A generation ends when the packets say so, and not for less.
func TestGenerations(t *testing.T) {
	const far = 3 << 29 // from all numbers of the first generation
	for _, c := range []struct {
		name  string
		run   func(w *wire)
		want  map[string]string
		stray int64 // bytes
	}{
		{"after FIN", func(w *wire) {
			w.open(100)
			w.send("c", ack|packet.FIN, 101, 5001, "old")
			w.send("s", ack|packet.FIN, 5001, 105, "")
			w.send("c", packet.SYN, 9000, 0, "")
			w.send("c", ack, 9001, 1, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 0},
		{"after one FIN", func(w *wire) {
			w.open(100)
			w.send("c", ack|packet.FIN, 101, 5001, "old")
			w.send("c", packet.SYN, 9000, 0, "")
			w.send("c", ack, 9001, 1, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 0},
		{"after nothing, with SYN", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("c", packet.SYN, 9000, 0, "")
			w.send("c", ack, 9001, 1, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 0},
		{"after nothing, with data on SYN", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("c", packet.SYN, 9000, 0, "ne")
			w.send("s", packet.SYN|ack, 800, 9003, "")
			w.send("c", ack, 9003, 801, "w")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 0},
		{"after nothing, without SYN", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("c", ack, far, far, "new")
			w.send("c", ack, far+3, far, "er")
		}, map[string]string{"1.0": "old<end>", "2.0": "newer<end>"}, 0},
		{"after nothing, without SYN, answered", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("c", ack, far, far+9, "new")
			w.send("s", ack, far+9, far+3, "er")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>", "2.1": "er<end>"}, 0},
		{"after nothing, without SYN, from the other end", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("s", ack, far, far, "new")
			w.send("s", ack, far+3, far, "er")
		}, map[string]string{"1.0": "old<end>", "1.1": "<end>", "2.0": "newer<end>"}, 0},
		{"after nothing, one packet, and the end", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "old")
			w.send("c", ack, far, far, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 0},
		{"a stray", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, far, 5001, "wild")
			w.send("c", ack, 104, 5001, "def")
			w.idle(40)
			w.send("c", ack, 107, 5001, "ghi")
		}, map[string]string{"1.0": "abcdefghi<end>"}, 4},
		{"a stray, captured twice", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, far, 5001, "wild")
			w.again(0, 1)
			w.send("c", ack, 104, 5001, "def")
		}, map[string]string{"1.0": "abcdef<end>"}, 8},
		{"two strays", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, far, 5001, "wild")
			w.send("c", ack, far+1<<28, 5001, "wilder")
			w.send("c", ack, 104, 5001, "def")
		}, map[string]string{"1.0": "abcdef<end>"}, 10},
		{"many strays", func(w *wire) {
			w.open(100)
			for i := range uint32(100) {
				w.send("c", ack, far+i<<24, 5001, "x")
				w.send("c", ack, 101+i, 5001, "y")
			}
		}, map[string]string{"1.0": y100 + "<end>"}, 100},
		{"a stray SYN", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", packet.SYN, far, 0, "")
			w.send("s", ack, 5001, 104, "") // RFC 5961: what the other end answers
			w.send("c", ack, 104, 5001, "def")
		}, map[string]string{"1.0": "abcdef<end>"}, 0},
		{"a stray SYN with a number near those in use", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", packet.SYN, 5, 0, "")
			w.send("s", ack, 5001, 104, "xyz")
			w.send("c", ack, 104, 5001, "def")
		}, map[string]string{"1.0": "abcdef<end>", "1.1": "xyz<end>"}, 0},
		{"a SYN with a number near those in use, answered", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", packet.SYN, 5000, 0, "")
			w.send("s", packet.SYN|ack, 7000, 5001, "")
			w.send("c", ack, 5001, 7001, "def")
		}, map[string]string{"1.0": "abc<end>", "2.0": "def<end>"}, 0},
		{"a stray RST", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", packet.RST, far, 0, "")
			w.sleep(20 * time.Second)
			w.send("c", ack, 104, 5001, "def")
		}, map[string]string{"1.0": "abcdef<end>"}, 0},
		{"a stray acknowledgement", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", ack, 5001, 104+1<<29, "")
			w.send("s", ack, 5001, 104, "")
			w.sleep(20 * time.Second)
			w.send("c", ack, 104, 5001, "def")
		}, map[string]string{"1.0": "abcdef<end>"}, 0},
		{"a RST with text", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", packet.RST, 5001, 0, "no such service")
		}, map[string]string{"1.0": "abc<end>", "1.1": "<end>"}, 15},
		{"data behind a RST that was not meant", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", packet.RST, 5001, 0, "")
			for i := range uint32(4) {
				w.sleep(8 * time.Second)
				w.send("c", ack, 104+i, 5001, "d")
			}
		}, map[string]string{"1.0": "abcdddd<end>"}, 0},
		{"more lost than is near, as acknowledgements say", func(w *wire) {
			w.open(100)
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 104+1<<28, 5001, "def")
			w.send("s", ack, 5001, 107+1<<28, "")
			w.send("s", ack, 5001, 108+1<<28, "")
			w.idle(40)
			w.send("c", ack, 107+1<<28, 5001, "g")
		}, map[string]string{"1.0": "abc<gap 268435456>defg<end>"}, 0},
		{"more lost than is near, in one direction", func(w *wire) {
			w.send("c", packet.SYN, 100, 0, "")
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 104+1<<28, 5001, "def")
			w.send("c", ack, 107+1<<28, 5001, "ghi")
			w.idle(40)
		}, map[string]string{"1.0": "abc<gap 268435456>defghi<end>"}, 0},
		{"a SYN captured behind data that overtook others", func(w *wire) {
			w.send("c", ack, 104, 5001, "def")
			w.send("c", packet.SYN, 100, 0, "")
			w.send("c", ack, 107, 5001, "ghi")
		}, map[string]string{"1.0": "defghi<end>"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(Config{GapPackets: 16})
			c.run(w)
			require.NoError(t, w.a.Ledger.Balance())
			w.a.End()
			got := map[string]string{}
			for side := range c.want {
				require.Contains(t, w.h.streams, side)
				got[side] = unplaced.ReplaceAllString(w.h.streams[side].b.String(), "")
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.stray, w.a.Ledger.Stray+w.a.Ledger.Unplaced)
			for side := range w.h.streams {
				assert.Contains(t, []string{"1", "2"}[:1+w.a.Ledger.Reused], side[:1], "generations")
			}
			balance(t, w)
		})
	}
}

// unplaced is how the streams of the tests show the bytes of strays.
var unplaced = regexp.MustCompile(fmt.Sprintf(`<late %d\+\d+>`, noPlace))

var y100 = func() string {
	b := make([]byte, 100)
	for i := range b {
		b[i] = 'y'
	}
	return string(b)
}()

// sleep lets capture time pass.
func (w *wire) sleep(d time.Duration) { w.n += int64(d / time.Millisecond) }

// A million uses of one 4-tuple leave nothing
func TestGenerationsAreForgotten(t *testing.T) {
	w := newWire(Config{})
	s := packet.Segment{Src: client, Dst: server, Flags: packet.SYN}
	const n = 100_000
	for i := range uint32(n) {
		s.Seq = i * 12345
		w.send1(&s, int64(i))
	}
	assert.Equal(t, int64(n), w.a.Ledger.Connections)
	assert.Equal(t, int64(n-1), w.a.Ledger.Reused)
	assert.Equal(t, 1, w.a.table.n)
	assert.Len(t, w.a.table.blocks, 1)
	w.a.End()
	balance(t, w)
}

// A flood of SYNs ends no connection that is in use, and takes no more memory than its limit.
func TestFlood(t *testing.T) {
	w := newWire(Config{MaxEmpty: 100, MaxConnections: 10})
	w.open(100)
	w.send("c", ack, 101, 5001, "abc")
	for i := range 100_000 {
		s := packet.Segment{Src: client, Dst: server, Flags: packet.SYN, Seq: uint32(i)}
		s.Src.IP[3], s.Src.IP[4], s.Src.IP[5] = 1+byte(i>>16), byte(i), byte(i>>8)
		w.send1(&s, w.n*1e6)
	}
	w.send("c", ack, 104, 5001, "def")
	assert.Equal(t, 101, w.a.table.n)
	assert.Len(t, w.a.table.blocks, 1)
	assert.Equal(t, int64(100_000-100), w.a.Ledger.Forgotten)
	assert.Zero(t, w.a.Ledger.Expired)
	w.a.End()
	assert.Equal(t, "abcdef<end>", w.h.streams["1.0"].b.String())
	assert.Equal(t, w.a.Ledger.Connections, w.h.closed)
	balance(t, w)
}

// With too many connections, those not used for longest are ended.
func TestLeastUsed(t *testing.T) {
	w := newWire(Config{MaxConnections: 10})
	next := map[int]uint32{}
	use := func(i int) {
		s := packet.Segment{Src: client, Dst: server, Flags: ack, Seq: next[i], Payload: []byte("x"), PayloadLen: 1}
		s.Src.Port = uint16(i)
		w.send1(&s, w.n*1e6)
		next[i]++
	}
	for i := range 1000 {
		use(1) // this one is always in use
		use(2 + i)
	}
	assert.Equal(t, int64(1001-10), w.a.Ledger.Expired)
	assert.Equal(t, int64(1001), w.a.Ledger.Connections, "the one in use is still the same")
	assert.Equal(t, 10, w.a.table.n)
	w.a.End()
	balance(t, w)
}

// The connection that follows the first one in the list may be idle sooner: it is looked at when it has become the first.
func TestIdleAfterAnother(t *testing.T) {
	w := newWire(Config{IdleTime: time.Minute, Linger: time.Hour})
	next := map[uint16]uint32{}
	use := func(port uint16, second int64, flags uint8) {
		s := packet.Segment{Src: client, Dst: server, Flags: flags, Seq: next[port], Payload: []byte("x"), PayloadLen: 1}
		if flags&packet.RST != 0 {
			s.Payload, s.PayloadLen = nil, 0
		}
		s.Src.Port = port
		w.send1(&s, second*1e9)
		next[port]++
	}
	use(1, 0, ack)
	use(2, 1, ack)
	use(2, 20, ack)
	use(1, 50, ack)
	w.a.Tick(w.n, 61e9) // both go to the end of the list, by their last packets: 1 (of second 50), 2 (of second 20)
	use(1, 62, ack|packet.RST)
	w.a.Tick(w.n, 79e9)
	assert.Zero(t, w.a.Ledger.Idle)
	w.a.Tick(w.n, 81e9)
	assert.Equal(t, int64(1), w.a.Ledger.Idle)
}

func TestIdle(t *testing.T) {
	w := newWire(Config{IdleTime: time.Minute})
	w.open(100)
	w.send("c", ack, 101, 5001, "abc")
	s := packet.Segment{Src: client, Dst: server, Flags: ack}
	s.Src.Port = 9
	w.send1(&s, w.n*1e6)
	at := time.Duration(w.n) * time.Millisecond
	for range 5 { // as long as there are packets, it stays
		at += 50 * time.Second
		w.a.Tick(w.n, int64(at))
		w.n = int64(at / time.Millisecond)
		w.send("c", ack, 104, 5001, "")
	}
	assert.Equal(t, int64(1), w.a.Ledger.Forgotten)
	assert.Zero(t, w.a.Ledger.Expired)
	w.a.Tick(w.n, int64(at+2*time.Minute+time.Second))
	assert.Equal(t, int64(1), w.a.Ledger.Expired)
	assert.Empty(t, w.a.Open())
	assert.Equal(t, "abc<end>", w.h.streams["1.0"].b.String())
	balance(t, w)
}

// Open ones come in the order of their first packets, and can be ended in any order.
func TestOpenAndFinish(t *testing.T) {
	w := newWire(Config{})
	for i := range 100 {
		s := packet.Segment{Src: client, Dst: server, Flags: packet.SYN}
		s.Src.Port = uint16(i * 7919)
		if i%3 == 0 {
			s.Payload, s.PayloadLen = []byte("data"), 4
		}
		if i%10 == 0 {
			s.Flags = packet.RST
		}
		w.send1(&s, 0)
	}
	open := w.a.Open()
	require.Len(t, open, 100)
	for i, c := range open {
		assert.Equal(t, int64(i+1), c.First)
	}
	for i := range open {
		w.a.Finish(open[(i*37)%100])
	}
	assert.Empty(t, w.a.Open())
	assert.Equal(t, int64(100), w.h.closed)
	balance(t, w)
}

// The table finds all that are in it, in both directions, whatever was taken out.
func TestTable(t *testing.T) {
	w := newWire(Config{Apart: []int{0, 1}})
	segment := func(i int) *packet.Segment {
		s := &packet.Segment{Src: client, Dst: server, Flags: ack}
		s.Src.Port, s.Dst.IP[14] = uint16(i), byte(i>>16)
		return s
	}
	const n = 20_000
	find := func(i int) (*Connection, int) {
		s := segment(i)
		s.Src, s.Dst = s.Dst, s.Src
		return w.a.find(w.a.table.hash(&s.Src, &s.Dst, i%2), s, i%2)
	}
	for i := range n {
		w.a.Segment(segment(i), &Origin{Ordinal: int64(i) + 1, File: i % 2})
	}
	for i := range n {
		c, side := find(i)
		require.NotNil(t, c, i)
		require.Equal(t, int64(i)+1, c.First)
		require.Equal(t, 1, side)
		if i%3 == 0 {
			w.a.Finish(c)
		}
	}
	for i := range n {
		c, _ := find(i)
		require.Equal(t, i%3 == 0, c == nil, i)
	}
}
