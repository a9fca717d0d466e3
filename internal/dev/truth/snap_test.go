package truth

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

// Where the snap length cuts all packets, every frame is found whose header was captured at the start of a packet, or at a
// place known by the lengths of those before; nothing is invented, and sizes are exact.
func TestShortSnap(t *testing.T) {
	names := testkit.Some([]string{"interleaved", "mixed", "hessian2", "edge-hessian2", "kryo", "fastjson", "fleet"}, 3)
	if testing.Short() {
		names = names[:2]
	}
	each(t, names, func(t *testing.T, w *world) {
		for _, mss := range []int{536, 1448, 65000} {
			all, found := 0, 0
			for _, bytes := range []int{16, 24, 34, 40, 62, 100, 130, 190, 234} {
				kept := slices.Clone(recut(w.segments, mss))
				streams := streamsOf(w.segments)
				starts := map[way]map[int64]bool{}
				for i := range kept {
					s := &kept[i]
					if len(s.payload) == 0 {
						continue
					}
					if starts[s.way()] == nil {
						starts[s.way()] = map[int64]bool{}
					}
					starts[s.way()][int64(s.seq-streams[s.way()].first)] = true
					s.payload = s.payload[:min(len(s.payload), bytes)]
				}
				shape := *ethernet
				shape.snap = 66 + bytes // 14 Ethernet, 20 IP, 32 TCP
				got := look(t, pipeline.Limits{}, saved(t, ".pcap", shape.pcap(recut(w.segments, mss)))...)
				a, f := w.cut(t, got, newLosses(w, kept), starts, fmt.Sprintf("%d bytes of %d", bytes, mss))
				all, found = all+a, found+f
			}
			t.Logf("mss %d: %d of %d frames whose header was captured were found", mss, found, all)
		}
	})
}

// cut compares what was found of a capture whose packets were cut; it returns the frames whose header was captured, and
// those of them that were found.
func (w *world) cut(t *testing.T, got *view, l losses, starts map[way]map[int64]bool, what string) (all, found int) {
	for way, want := range w.view.frames {
		byStart := map[int64]seen{}
		for _, f := range got.frames[way] {
			byStart[f.start] = f
		}
		known := true
		for i, f := range want {
			ours, ok := byStart[f.start]
			delete(byStart, f.start)
			header := l.whole(way, f.start, f.start+16)
			if header {
				all++
			}
			switch {
			case ok:
				found++
				require.True(t, header)
				require.Equal(t, f.header, ours.header, "frame %d %v", i+1, way)
				require.Equal(t, f.length, ours.length)
			case header && (known || starts[way][f.start]):
				t.Errorf("%s: frame %d of %d %v at %d (+%d) is missing, known %v: %s", what, i+1, len(want), way, f.start, f.length, known, f.header)
			}
			known = ok
		}
		assert.Empty(t, byStart, "invented")
	}
	return all, found
}

// Bytes that the snap length cut count once a later copy has them: the sender repeated them in other segments, or another
// capture of the same packets was not cut.
func TestCutBytesOfCopies(t *testing.T) {
	names := testkit.Some([]string{"edge-hessian2", "mixed", "interleaved", "hessian2", "kryo", "fastjson"}, 2)
	each(t, names, func(t *testing.T, w *world) {
		short := *ethernet
		short.snap = 166 // 100 bytes of payload
		other := shape{link: capture.LinkLinuxSLL}
		delayed := func(by int64) []segment {
			later := slices.Clone(w.segments)
			for i := range later {
				later[i].at += by
			}
			return later
		}
		var repeated []segment
		for _, s := range w.segments {
			repeated = append(repeated, s)
			if len(s.payload) > 100 {
				parts := recut([]segment{s}, 100)
				slices.Reverse(parts)
				repeated = append(repeated, parts...)
			}
		}
		for _, c := range []struct {
			name  string
			files [][]byte
		}{
			{"retransmitted", [][]byte{short.pcap(repeated)}},
			{"both ends", [][]byte{short.pcap(w.segments), other.pcap(delayed(50_000))}},
			{"both ends, clocks differ", [][]byte{short.pcap(w.segments), other.pcap(delayed(2_000_000))}},
			{"the complete file first", [][]byte{ethernet.pcap(w.segments), short.pcap(delayed(50_000))}},
		} {
			t.Run(c.name, func(t *testing.T) {
				got := look(t, pipeline.Limits{}, saved(t, ".pcap", c.files...)...)
				w.same(t, got, nil)
				assert.Zero(t, got.totals.TCP.BeyondSnap+got.totals.TCP.Differing)
			})
		}
	})
}
