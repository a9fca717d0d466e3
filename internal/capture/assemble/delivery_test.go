package assemble

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

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
