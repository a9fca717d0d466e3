package pipeline

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/sizes"
)

// Conversations in which packets are missing and requests are answered twice, with limits that are reached: each framer
// is driven by its own direction and by what the other one finds, and what they hold stays consistent.
func TestLossAndSecondAnswers(t *testing.T) {
	seeds := 400
	if testkit.All && !testing.Short() {
		seeds = 3000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		var streams [2][]byte // from cli, from srv
		type cut struct{ side, from, to int }
		var order []cut
		say := func(side int, b []byte) {
			from := len(streams[side])
			streams[side] = append(streams[side], b...)
			order = append(order, cut{side, from, from + len(b)})
		}
		open := []byte{}
		for id := byte(1); id < 60; id++ {
			say(0, frame(true, id, r.IntN(400)))
			open = append(open, id)
			for len(open) > r.IntN(6) {
				k := r.IntN(len(open))
				say(1, frame(false, open[k], 0))
				if r.IntN(4) == 0 {
					say(1, frame(false, open[k], 0))
				} else {
					open = append(open[:k], open[k+1:]...)
				}
			}
		}
		s := &script{}
		ports := [2]uint16{cli, srv}
		if r.IntN(3) > 0 {
			s.send(cli, srv, syn, 0, nil)
			s.send(srv, cli, syn|ack, 0, nil)
		}
		lost, mss := 5+r.IntN(30), 40+r.IntN(300)
		var sent [2]int
		for _, c := range order {
			for sent[c.side] < c.to {
				n := min(mss, c.to-sent[c.side])
				if r.IntN(100) >= lost {
					at := sent[c.side]
					s.send(ports[c.side], ports[1-c.side], ack, uint32(1+at), streams[c.side][at:at+n])
				}
				sent[c.side] += n
			}
		}
		for _, limits := range []Limits{{}, {MaxOpenCalls: 5 * Lanes, GapPackets: 1}, {MaxOpenCalls: 1}} {
			s.at = 0
			totals, err := Run(s, Options{Protocols: protocols.All(), Formats: formats.All(), Limits: limits}, &sink{agg: sizes.New(sizes.DefaultBy(), 0, nil)})
			require.NoError(t, err, "seed %d", seed)
			require.LessOrEqual(t, totals.Frames, int64(len(order)), "seed %d", seed)
		}
	}
}
