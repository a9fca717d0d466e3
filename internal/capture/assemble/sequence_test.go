package assemble

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// synAgain sends a SYN that may be the first one: with that identification and checksum, so much later.
func (w *wire) synAgain(later time.Duration, seq uint32, id, sum uint16) {
	w.sleep(later)
	w.last = packet.Segment{Src: client, Dst: server, Seq: seq, Flags: packet.SYN, IPID: id, Checksum: sum}
	w.again(0, 0)
}

// closes lets both ends say FIN after n bytes of the client and none of the server.
func (w *wire) closes(n uint32) {
	w.send("c", ack|packet.FIN, 101+n, 5001, "")
	w.send("s", ack|packet.FIN, 5001, 102+n, "")
	w.send("c", ack, 102+n, 5002, "")
}

// A generation with the numbers of the one before it, or close to them; and what only looks like one.
func TestGenerationsNearby(t *testing.T) {
	const wrapped = 1<<32 - 50
	first := func(w *wire, id, sum uint16) { // up to "old" of the client
		w.synAgain(0, 100, id, sum)
		w.send("s", packet.SYN|ack, 5000, 101, "")
		w.send("c", ack, 101, 5001, "old")
		w.send("s", ack, 5001, 104, "")
	}
	for _, c := range []struct {
		name            string
		run             func(w *wire)
		want            map[string]string
		reused          int64
		stray, repeated int64 // bytes
	}{
		{"same SYN number after FIN, another packet", func(w *wire) {
			first(w, 7, 1)
			w.closes(3)
			w.synAgain(0, 100, 8, 1)
			w.send("s", packet.SYN|ack, 5000, 101, "")
			w.send("c", ack, 101, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"same SYN number after RST, another packet", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.synAgain(0, 100, 8, 1)
			w.send("c", ack, 101, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"same SYN number after RST, without identification, another timestamp", func(w *wire) {
			first(w, 0, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.synAgain(0, 100, 0, 2)
			w.send("c", ack, 101, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"the same SYN after RST, too late for a copy", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.synAgain(2*time.Second, 100, 7, 1)
			w.send("c", ack, 101, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"the same SYN after RST, as late as copies are", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.synAgain(900*time.Millisecond, 100, 7, 1)
		}, map[string]string{"1.0": "old<end>"}, 0, 0, 0},
		{"the same SYN after RST, at another interface", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.sleep(2 * time.Second)
			w.last = packet.Segment{Src: client, Dst: server, Seq: 100, Flags: packet.SYN, IPID: 7, Checksum: 9}
			w.again(0, 1)
		}, map[string]string{"1.0": "old<end>"}, 0, 0, 0},
		{"same SYN number after RST, in another file", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.sleep(2 * time.Second)
			w.last = packet.Segment{Src: client, Dst: server, Seq: 100, Flags: packet.SYN, IPID: 8}
			w.again(1, 0)
		}, map[string]string{"1.0": "old<end>"}, 0, 0, 0},
		{"same SYN number after nothing, answered", func(w *wire) {
			first(w, 7, 1)
			w.synAgain(time.Minute, 100, 8, 2)
			w.send("s", packet.SYN|ack, 5000, 101, "")
			w.send("c", ack, 101, 5001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"same SYN number after nothing, goes on", func(w *wire) {
			first(w, 7, 1)
			w.synAgain(time.Minute, 100, 8, 2)
			w.send("c", ack, 101, 6001, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"a SYN sent again before data", func(w *wire) {
			w.synAgain(0, 100, 7, 1)
			w.synAgain(time.Second, 100, 8, 2)
			w.send("s", packet.SYN|ack, 5000, 101, "")
			w.send("c", ack, 101, 5001, "old")
		}, map[string]string{"1.0": "old<end>"}, 0, 0, 0},
		{"a SYN with data sent again", func(w *wire) {
			w.send("c", packet.SYN, 100, 0, "old")
			w.send("s", packet.SYN|ack, 5000, 104, "")
			w.send("c", packet.SYN, 100, 0, "old")
			w.send("s", packet.SYN|ack, 5000, 104, "")
			w.send("c", ack, 104, 5001, "er")
		}, map[string]string{"1.0": "old<repeat 0+3>er<end>"}, 0, 0, 3},
		{"a SYN sent again, captured behind data", func(w *wire) {
			first(w, 7, 1)
			w.synAgain(0, 100, 8, 2)
			w.send("s", ack, 5001, 104, "")
			w.send("c", ack, 104, 5001, "er")
			w.send("c", ack, 104, 5001, "er")
		}, map[string]string{"1.0": "older<repeat 3+2><end>"}, 0, 0, 2},
		{"an answer sent again behind data", func(w *wire) {
			first(w, 7, 1)
			w.send("s", packet.SYN|ack, 5000, 101, "")
			w.send("c", ack, 101, 5001, "old")
			w.send("c", ack, 104, 5001, "er")
		}, map[string]string{"1.0": "old<repeat 0+3>er<end>"}, 0, 0, 3},
		{"behind FIN, close", func(w *wire) {
			first(w, 7, 1)
			w.closes(3)
			w.send("c", ack, 106, 6000, "new")
			w.send("c", ack, 109, 6000, "er")
		}, map[string]string{"1.0": "old<end>", "2.0": "newer<end>"}, 1, 0, 0},
		{"behind FIN, a hole away", func(w *wire) {
			first(w, 7, 1)
			w.closes(3)
			w.send("s", ack, 70_000, 90_000, "new")
		}, map[string]string{"1.0": "old<end>", "1.1": "<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"behind FIN, what is sent again and a keep-alive", func(w *wire) {
			first(w, 7, 1)
			w.closes(3)
			w.send("c", ack|packet.FIN, 101, 5001, "old")
			w.send("c", ack, 103, 5001, "d")
		}, map[string]string{"1.0": "old<repeat 0+3><repeat 2+1><end>"}, 0, 0, 4},
		{"behind FIN, what was captured late", func(w *wire) {
			first(w, 7, 1)
			w.closes(5)
			w.send("c", ack, 104, 5001, "er")
		}, map[string]string{"1.0": "older<end>"}, 0, 0, 0},
		{"behind one FIN, two packets", func(w *wire) {
			first(w, 7, 1)
			w.send("c", ack|packet.FIN, 104, 5001, "")
			w.send("c", ack, 1000, 6000, "new")
			w.send("c", ack, 1003, 6000, "er")
		}, map[string]string{"1.0": "old<end>", "2.0": "newer<end>"}, 1, 0, 0},
		{"behind one FIN, one packet", func(w *wire) {
			first(w, 7, 1)
			w.send("c", ack|packet.FIN, 104, 5001, "")
			w.send("c", ack, 1000, 5001, "wild")
			w.send("s", ack, 5001, 105, "answer")
		}, map[string]string{"1.0": "old<end>", "1.1": "answer<end>"}, 0, 4, 0},
		{"behind RST, a hole and an unseen acknowledgement", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.send("c", ack, 1000, 6000, "new")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>"}, 1, 0, 0},
		{"behind RST, a hole", func(w *wire) {
			first(w, 7, 1)
			w.send("c", packet.RST, 104, 0, "")
			w.send("c", ack, 106, 5001, "er")
		}, map[string]string{"1.0": "old<gap 2>er<end>"}, 0, 0, 0},
		{"below the SYN, after FIN", func(w *wire) {
			first(w, 7, 1)
			w.closes(3)
			w.send("c", ack, wrapped, 4000, "new")
			w.send("c", ack, wrapped+3, 4000, "er")
		}, map[string]string{"1.0": "old<end>", "2.0": "newer<end>"}, 1, 0, 0},
		{"below the SYN, after nothing", func(w *wire) {
			first(w, 7, 1)
			w.send("c", ack, wrapped, 4000, "new")
			w.send("c", ack, wrapped+3, 4000, "er")
		}, map[string]string{"1.0": "old<end>", "2.0": "newer<end>"}, 1, 0, 0},
		{"below the SYN, after nothing, answered", func(w *wire) {
			first(w, 7, 1)
			w.send("c", ack, wrapped, 4000, "new")
			w.send("s", ack, 4000, wrapped+3, "answer")
		}, map[string]string{"1.0": "old<end>", "2.0": "new<end>", "2.1": "answer<end>"}, 1, 0, 0},
		{"below the SYN, one packet", func(w *wire) {
			first(w, 7, 1)
			w.send("c", ack, wrapped, 5001, "wild")
			w.send("s", ack, 5001, 104, "answer")
			w.send("c", ack, 104, 5007, "er")
		}, map[string]string{"1.0": "older<end>", "1.1": "answer<end>"}, 0, 4, 0},
		{"a keep-alive before the first data", func(w *wire) {
			w.open(100)
			w.send("c", ack, 100, 5001, "\x00")
			w.send("c", ack, 101, 5001, "old")
			w.send("c", ack, 103, 5001, "d")
		}, map[string]string{"1.0": "<repeat -1+1>old<repeat 2+1><end>"}, 0, 0, 2},
		{"joined, and the start captured late", func(w *wire) {
			w.send("c", ack, 104, 5001, "def")
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 100, 5001, "0abcdefghi")
		}, map[string]string{"1.0": "def<late -3+3><repeat -3+3><late -4+1><repeat -3+3><repeat 0+3>ghi<end>"}, 0, 0, 9},
		{"joined, and the start captured late and twice", func(w *wire) {
			w.send("c", ack, 104, 5001, "def")
			w.send("c", ack, 101, 5001, "abc")
			w.again(0, 0)
		}, map[string]string{"1.0": "def<late -3+3><end>"}, 0, 0, 0},
		{"joined, and the start captured late, cut by the snap length", func(w *wire) {
			w.send("c", ack, 104, 5001, "def")
			w.cut("c", ack, 101, 5001, "a", 3)
		}, map[string]string{"1.0": "def<late -3+3><end>"}, 0, 0, 0},
		{"joined, and the start captured late while all is held", func(w *wire) {
			w.send("s", ack, 5001, 90, "x")
			w.send("c", ack, 104, 5003, "def") // acknowledges what comes later
			w.send("c", ack, 101, 5001, "abc")
			w.send("s", ack, 5002, 90, "y")
		}, map[string]string{"1.0": "xy<end>", "1.1": "abcdef<end>"}, 0, 0, 0},
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
			assert.Equal(t, c.reused, w.a.Ledger.Reused)
			assert.Equal(t, c.stray, w.a.Ledger.Stray+w.a.Ledger.Unplaced)
			assert.Equal(t, c.repeated, w.a.Ledger.Repeated)
			balance(t, w)
		})
	}
}

// Late bytes are told from late bytes that come again, as long as they lie in few places.
func TestLateSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s lateSpans
		seen := [100]bool{}
		for range 1 + rng.IntN(12) {
			from := rng.IntN(len(seen))
			for to := min(len(seen), from+1+rng.IntN(9)); from < to; {
				was, until := s.at(1, int32(from-len(seen)))
				k := min(to, int(until)+len(seen))
				require.Greater(t, k, from)
				if !was {
					s.add(1, span32{int32(from - len(seen)), int32(k - len(seen))})
				}
				for ; from < k; from++ {
					require.False(t, !was && seen[from], "seen, and forgotten")
					seen[from] = true
				}
			}
			pieces := 0
			for i, b := range seen {
				if b && (i == 0 || !seen[i-1]) {
					pieces++
				}
			}
			if pieces > len(s[1]) {
				break
			}
			for i, b := range seen {
				was, _ := s.at(1, int32(i-len(seen)))
				require.Equal(t, b, was)
			}
		}
		assert.Zero(t, s[0])
	}
}
