package truth

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

// A connection ends in any way, and its 4-tuple is used again with other sequence numbers, of which the capture has a part:
// every payload byte is in the books, and coverage is below 100 % unless all of them belong to complete frames.
func TestPayloadOfNewNumbers(t *testing.T) {
	w := newWorld(t, "mixed")
	client := w.segments[0].src
	side := func(s *segment) int {
		if s.src == client {
			return 0
		}
		return 1
	}
	var first, after [2]uint32
	for i := range w.segments {
		s := &w.segments[i]
		if i < 2 {
			first[side(s)] = s.seq
		}
		after[side(s)] = s.end()
	}
	type keep func(s *segment) bool
	flags := func(f uint8) keep { return func(s *segment) bool { return s.flags&f != 0 } }
	not := func(f keep) keep { return func(s *segment) bool { return !f(s) } }
	both := func(f, g keep) keep { return func(s *segment) bool { return f(s) && g(s) } }
	either := func(f, g keep) keep { return func(s *segment) bool { return f(s) || g(s) } }
	of := func(k int) keep { return func(s *segment) bool { return side(s) == k } }
	all := func(*segment) bool { return true }
	data := func(s *segment) bool { return len(s.payload) > 0 }
	syn, fin := flags(packet.SYN), flags(packet.FIN)
	reset := segment{
		src: w.segments[1].src, dst: client, seq: after[1] - 1, ack: after[0] - 1, flags: packet.RST | packet.ACK,
	}
	type variant struct {
		name string
		keep
	}
	before := []variant{
		{"FIN of both", all},
		{"no FIN", not(fin)},
		{"FIN of the client", either(not(fin), of(0))},
		{"FIN of the server", either(not(fin), of(1))},
		{"RST", not(fin)},
		{"only the client", of(0)},
		{"only the server", of(1)},
		{"no data", not(data)},
		{"no data and no FIN", both(not(data), not(fin))},
		{"only the SYN", both(syn, of(0))},
		{"SYN and RST", syn},
	}
	kept := []variant{
		{"all", all},
		{"no SYN", not(syn)},
		{"no SYN of the client", not(both(syn, of(0)))},
		{"no SYN of the server", not(both(syn, of(1)))},
		{"only the client", of(0)},
		{"only the server", of(1)},
		{"only data", data},
		{"only data of the client", both(data, of(0))},
		{"only data of the server", both(data, of(1))},
		{"no SYN, no acknowledgements", not(syn)},
	}
	const mib = 1 << 20
	n := 0
	for _, b := range before {
		for _, apart := range [][2]int32{
			{100, 100},
			{mib, mib},
			{-3 * mib, -3 * mib},
			{64 * mib, 64 * mib},
			{-64 * mib, -64 * mib},
			{-1 << 31, 1 << 30},
			{1 << 30, 100},
			{100, 1 << 30},
		} {
			for _, k := range kept {
				for _, pause := range []int64{1000, 15e9} {
					if n++; !testkit.All && n%20 != 0 {
						continue
					}
					what := fmt.Sprintf("%s, then %s, %d later", b.name, k.name, apart)
					var segments []segment
					want := int64(0)
					add := func(s segment) {
						segments = append(segments, s)
						want += int64(len(s.payload))
					}
					for _, s := range w.segments {
						if b.keep(&s) {
							add(s)
						}
					}
					if b.name == "RST" || b.name == "SYN and RST" {
						add(reset)
					}
					at := spread(segments, 1000)[len(segments)-1].at + pause
					shift := [2]uint32{after[0] - first[0] + uint32(apart[0]), after[1] - first[1] + uint32(apart[1])}
					for _, s := range w.segments {
						if !k.keep(&s) {
							continue
						}
						i := side(&s)
						if s.seq += shift[i]; s.flags&packet.ACK != 0 {
							s.ack += shift[1-i]
						}
						if k.name == "no SYN, no acknowledgements" {
							s.flags &^= packet.ACK
						}
						at += 1000
						s.at = at
						add(s)
					}
					got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(segments))...)
					require.Equal(t, want, got.totals.TCP.Stream, what)
					if got.totals.CompleteBytes < want {
						require.Less(t, got.totals.Percent(), 100.0, what)
					}
				}
			}
		}
	}
}
