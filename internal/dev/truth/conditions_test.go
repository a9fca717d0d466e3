package truth

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// transformed returns the captures whose packets are put into other conditions.
func transformed() []string {
	return testkit.Some([]string{"interleaved", "mixed", "hessian2", "loss", "edge-hessian2", "kryo", "fastjson"}, 4)
}

// seen is a frame and the place in its stream where it was found.
type seen struct {
	start    int64
	length   int
	complete bool
	number   int64  // in the capture, 0 in what is compared
	header   string // what the header says
	text     string // its record, without what depends on the capture
}

// view is what was seen of a capture.
type view struct {
	frames map[way][]seen
	calls  []string
	pairs  map[int64]int64 // request frame → response frame, by number
	totals *pipeline.Totals
	report *report.Report
}

type viewer struct {
	t      *testing.T
	frames report.Frames
	calls  report.Calls
	agg    *sizes.Aggregator
	out    *view
	buf    []byte
}

// Frame notes a frame without what depends on the capture instead of the traffic.
func (v *viewer) Frame(r *pipeline.Row) {
	f, m := dubbo.FrameOf(r.Msg), *r.Msg
	w := way{r.Conn.Ends[r.Side], r.Conn.Ends[1-r.Side]}
	m.First, m.Last, m.Resync = rpc.Origin{}, rpc.Origin{}, false
	v.buf = v.frames.AppendJSON(v.buf[:0], &pipeline.Row{Conn: new(call.Conn), Msg: &m})
	v.out.frames[w] = append(v.out.frames[w], seen{
		start: f.Start, length: f.FrameLen(), complete: f.Complete(), number: r.Number,
		header: fmt.Sprintf("%v id %d flags %02x status %d body %d", r.Msg.Kind, f.ID, f.Flags, f.Status, f.BodyLen),
		text:   string(v.buf),
	})
}

// Call notes a call likewise.
func (v *viewer) Call(k *call.Call, _ bool) {
	if k.Request != nil && k.Response != nil {
		v.out.pairs[k.Request.Number] = k.Response.Number
	}
	c := call.Call{Conn: new(call.Conn), Unsettled: true} // link bytes differ
	for i, m := range [2]*call.Message{k.Request, k.Response} {
		if m == nil {
			continue
		}
		n := *m
		n.Number, n.File, n.FirstTime, n.LastByte = 0, 0, 0, 0
		*[2]**call.Message{&c.Request, &c.Response}[i] = &n
	}
	v.buf = v.calls.AppendJSON(v.buf[:0], &c)
	v.out.calls = append(v.out.calls, string(v.buf))
	v.agg.Call(k)
}

// look reads captures with everything wanted, and balances the books.
func look(t *testing.T, limits pipeline.Limits, files ...string) *view {
	src, err := capture.Open(files, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	v := &viewer{t: t, agg: sizes.New(sizes.DefaultBy(), 0, nil), out: &view{frames: map[way][]seen{}, pairs: map[int64]int64{}}}
	v.out.totals, err = pipeline.Run(src, pipeline.Options{
		Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, RenderValues: true, Rows: true, Limits: limits,
	}, v)
	require.NoError(t, err)
	v.out.report = report.Build(src.Inputs(), v.out.totals, sizes.DefaultBy(), v.agg.Groups())
	slices.Sort(v.out.calls)
	books(t, &run{totals: v.out.totals, report: v.out.report})
	return v.out
}

// world is a committed capture taken apart.
type world struct {
	name     string
	truth    string
	segments []segment
	view     *view
}

func newWorld(t *testing.T, name string) *world {
	for _, p := range allCaptures(t) {
		if p.Name == name {
			w := &world{name: name, truth: p.Truth, segments: dedupe(readSegments(t, p.File))}
			w.view = look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(w.segments))...)
			w.logged(t)
			return w
		}
	}
	require.FailNow(t, "no capture "+name)
	return nil
}

var ethernet = &shape{link: capture.LinkEthernet, nanos: true}

// dedupe brings a capture with loss into the order of its streams.
func dedupe(all []segment) []segment {
	streams := streamsOf(all)
	next := map[way]uint32{}
	var out []segment
	for _, s := range all {
		w := s.way()
		if s.flags&packet.SYN != 0 {
			if _, ok := next[w]; !ok {
				next[w] = s.end()
				out = append(out, s)
			}
			continue
		}
		if len(s.payload) > 0 {
			// Where this segment is new, it brings all bytes up to its end.
			st := streams[w]
			end := s.seq + uint32(len(s.payload))
			if int32(end-next[w]) <= 0 {
				continue
			}
			s.seq = next[w]
			s.payload = st.bytes[s.seq-st.first : end-st.first]
			next[w] = end
		}
		out = append(out, s)
	}
	return out
}

// logged compares the untransformed frames with what the senders logged: every header and every size.
func (w *world) logged(t *testing.T) {
	sent, _, _, _ := readTruth(t, w.truth)
	total := 0
	for way, log := range sent {
		total += len(log)
		frames := w.view.frames[way]
		require.Len(t, frames, len(log))
		for i := range log {
			l := &log[i]
			status := l.Status
			if l.Flags&0x80 != 0 {
				status = 0
			}
			want := fmt.Sprintf("%s id %s flags %02x status %d body %d", l.Kind, l.ID, l.Flags, status, l.BodyBytes)
			require.Equal(t, want, frames[i].header)
		}
	}
	require.Equal(t, int64(total), w.view.totals.Frames)
}

// same requires that all frames, calls and totals are those of the untransformed capture.
func (w *world) same(t *testing.T, got *view, rename func(string) string) {
	if rename == nil {
		rename = func(s string) string { return s }
	}
	require.Len(t, got.frames, len(w.view.frames))
	for way, want := range w.view.frames {
		way.src, way.dst = rename(way.src), rename(way.dst)
		frames := got.frames[way]
		require.Len(t, frames, len(want), "frames %v", way)
		for i := range want {
			a, b := want[i], frames[i]
			require.Equal(t, a.header, b.header, "frame %d %v", i+1, way)
			a.number, b.number = 0, 0
			require.True(t, a == b, "frame %d %v\n%s\n%s", i+1, way, a.text[:min(len(a.text), 400)], b.text[:min(len(b.text), 400)])
		}
	}
	differ := 0
	for i := range got.calls {
		if i >= len(w.view.calls) || w.view.calls[i] != got.calls[i] {
			differ++
		}
	}
	assert.Equal(t, len(w.view.calls), len(got.calls), "calls")
	assert.Zero(t, differ, "calls that differ")
	assert.Zero(t, got.totals.Skipped)
	assert.Zero(t, got.totals.Gap)
	assert.Equal(t, w.view.totals.FrameBytes, got.totals.FrameBytes)
	assert.Equal(t, w.view.totals.OtherBytes(), got.totals.OtherBytes())
}

func inV6(s string) string {
	a := netip.MustParseAddrPort(s)
	if !a.Addr().Is4() {
		return s
	}
	b := a.Addr().As4()
	v6 := [16]byte{0x20, 1, 0x0d, 0xb8, 12: b[0], b[1], b[2], b[3]}
	return netip.AddrPortFrom(netip.AddrFrom16(v6), a.Port()).String()
}

func each(t *testing.T, names []string, f func(t *testing.T, w *world)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, newWorld(t, name))
		})
	}
}

// The link layer and the file format change nothing but link bytes.
func TestShapes(t *testing.T) {
	raw := shape{link: capture.LinkRaw}
	eth := shape{link: capture.LinkEthernet}
	shapes := []struct {
		name   string
		write  func(all []segment) []byte
		rename func(string) string
	}{
		{"big-endian", (&shape{link: capture.LinkEthernet, big: true}).pcap, nil},
		{"big-endian nanoseconds", (&shape{link: capture.LinkEthernet, big: true, nanos: true}).pcap, nil},
		{"microseconds", eth.pcap, nil},
		{"padding", (&shape{link: capture.LinkEthernet, padding: true}).pcap, nil},
		{"vlan", (&shape{link: capture.LinkEthernet, tags: []uint16{0x8100}, padding: true}).pcap, nil},
		{"qinq", (&shape{link: capture.LinkEthernet, tags: []uint16{0x88a8, 0x8100}}).pcap, nil},
		{"old qinq", (&shape{link: capture.LinkEthernet, tags: []uint16{0x9100, 0x8100, 0x8100}}).pcap, nil},
		{"cooked v1", (&shape{link: capture.LinkLinuxSLL}).pcap, nil},
		{"cooked v2", (&shape{link: capture.LinkLinuxSLL2}).pcap, nil},
		{"null", (&shape{link: capture.LinkNull}).pcap, nil},
		{"null, other order", (&shape{link: capture.LinkNull, big: true}).pcap, nil},
		{"loop", (&shape{link: capture.LinkLoop}).pcap, nil},
		{"raw", raw.pcap, nil},
		{"raw as DLT", (&shape{link: capture.LinkDLTRaw}).pcap, nil},
		{"ipv6", (&shape{link: capture.LinkEthernet, v6: true, padding: true}).pcap, inV6},
		{"ipv6 extended", func(all []segment) []byte {
			return (&shape{link: capture.LinkLinuxSLL2, v6: true, extended: true}).pcap(recut(all, 60000))
		}, inV6},
		{"ipv6 loopback", func(all []segment) []byte {
			return (&shape{link: capture.LinkNull, v6: true, extended: true}).pcap(recut(all, 60000))
		}, inV6},
		{"pcapng, two interfaces", func(all []segment) []byte { return pcapng(all, [2]shape{eth, raw}) }, nil},
		{"pcapng, big-endian", func(all []segment) []byte {
			return pcapng(all, [2]shape{{link: capture.LinkLinuxSLL, big: true}, {link: capture.LinkNull, big: true}})
		}, nil},
		{"gzip", func(all []segment) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(eth.pcap(all))
			_ = z.Close()
			return b.Bytes()
		}, nil},
		{"zstd", func(all []segment) []byte {
			z, _ := zstd.NewWriter(nil)
			return z.EncodeAll(eth.pcap(all), nil)
		}, nil},
	}
	each(t, []string{"hessian2", "mixed"}, func(t *testing.T, w *world) {
		for _, s := range shapes {
			t.Run(s.name, func(t *testing.T) {
				w.same(t, look(t, pipeline.Limits{}, saved(t, ".pcap", s.write(w.segments))...), s.rename)
			})
		}
	})
}

// What the network does to segments changes nothing but link bytes, as long as every byte is captured.
func TestNetwork(t *testing.T) {
	conditions := []struct {
		name  string
		apply func(all []segment, r *rand.Rand) []segment
	}{
		{"mss 100", func(all []segment, _ *rand.Rand) []segment { return recut(all, 100) }},
		{"mss 536", func(all []segment, _ *rand.Rand) []segment { return recut(all, 536) }},
		{"mss 1448", func(all []segment, _ *rand.Rand) []segment { return recut(all, 1448) }},
		{"mss 7", func(all []segment, _ *rand.Rand) []segment { return recut(all[:min(len(all), 300)], 7) }},
		{"reordered by 3", func(all []segment, r *rand.Rand) []segment { return reorder(recut(all, 1448), 3, true, r) }},
		{"reordered by 50", func(all []segment, r *rand.Rand) []segment { return reorder(recut(all, 1448), 50, true, r) }},
		{"reordered by 3000", func(all []segment, r *rand.Rand) []segment { return reorder(recut(all, 536), 3000, true, r) }},
		{"captured in another order", func(all []segment, r *rand.Rand) []segment { return reorder(recut(all, 1448), 5, false, r) }},
		{"repeated", func(all []segment, r *rand.Rand) []segment { return repeat(recut(all, 1448), 0.2, false, r) }},
		{"repeated in other cuts", func(all []segment, r *rand.Rand) []segment { return repeat(recut(all, 536), 0.3, true, r) }},
		{"repeated, then reordered", func(all []segment, r *rand.Rand) []segment {
			return reorder(repeat(recut(all, 536), 0.3, true, r), 40, true, r)
		}},
		{"everything twice", func(all []segment, _ *rand.Rand) []segment {
			var out []segment
			for _, s := range all {
				out = append(out, s, s)
			}
			return out
		}},
		{"sequence numbers wrap", func(all []segment, _ *rand.Rand) []segment { return wrapped(recut(all, 1448)) }},
		{"sequence numbers wrap, reordered", func(all []segment, r *rand.Rand) []segment {
			return reorder(repeat(wrapped(recut(all, 1448)), 0.1, true, r), 20, true, r)
		}},
	}
	each(t, transformed(), func(t *testing.T, w *world) {
		for i, c := range conditions {
			t.Run(c.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, uint64(i)))
				all := spread(c.apply(slices.Clone(w.segments), r), 1000)
				got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(all))...)
				if strings.HasPrefix(c.name, "mss 7") {
					w.found(t, got, newLosses(w, all), nil)
					return
				}
				w.same(t, got, nil)
			})
		}
	})
}

// wrapped moves the sequence numbers of both directions so that they wrap in the middle of the streams.
func wrapped(all []segment) []segment {
	streams := streamsOf(all)
	moved := map[way]uint32{}
	for w, s := range streams {
		moved[w] = -s.first - uint32(len(s.bytes)/2)
	}
	out := slices.Clone(all)
	for i := range out {
		s := &out[i]
		s.seq += moved[s.way()]
		if s.flags&packet.ACK != 0 {
			s.ack += moved[way{s.dst.String(), s.src.String()}]
		}
	}
	return out
}

// losses says which bytes of each stream a capture has.
type losses map[way][]bool

func newLosses(w *world, kept []segment) losses {
	l := losses{}
	streams := streamsOf(w.segments)
	for way, s := range streams {
		l[way] = make([]bool, len(s.bytes))
	}
	for _, s := range kept {
		st := streams[s.way()]
		for i := range s.payload {
			l[s.way()][int(s.seq-st.first)+i] = true
		}
	}
	return l
}

func (l losses) whole(w way, from, to int64) bool {
	for _, ok := range l[w][from:min(to, int64(len(l[w])))] {
		if !ok {
			return false
		}
	}
	return true
}

// found requires of a capture with losses, which has each stream from where joined says (nil: from its SYN): no frame is invented; every frame at a known place is found, complete when
// none of its bytes was lost; after a loss the next frame that is whole and is followed by a header is found again.
// The missing bytes are counted exactly.
func (w *world) found(t *testing.T, got *view, l losses, joined map[way]int64) {
	missed, damaged, all := 0, 0, 0
	for way, want := range w.view.frames {
		byStart := map[int64]seen{}
		for _, f := range got.frames[way] {
			f.start += joined[way]
			byStart[f.start] = f
		}
		known := joined == nil
		for i, f := range want {
			all++
			ours, ok := byStart[f.start]
			delete(byStart, f.start)
			header, whole := l.whole(way, f.start, f.start+16), l.whole(way, f.start, f.start+int64(f.length))
			last := i == len(want)-1
			if !known && whole && (last || l.whole(way, want[i+1].start, want[i+1].start+16)) {
				known = true
			}
			switch {
			case ok:
				require.Equal(t, f.header, ours.header, "frame %d %v", i+1, way)
				require.Equal(t, whole, ours.complete, "frame %d %v", i+1, way)
				if whole {
					require.Equal(t, f.text, ours.text)
				}
				require.True(t, header)
				known = true
			case known && header:
				t.Errorf("frame %d of %d %v at %d (+%d) is missing: %s", i+1, len(want), way, f.start, f.length, f.header)
			case whole:
				missed++
			}
			if !header {
				known = false
			}
			if !whole {
				damaged++
			}
		}
		for _, f := range byStart {
			t.Errorf("invented: %v at %d: %s", way, f.start, f.header)
		}
	}
	lost := int64(0)
	for way := range w.view.frames {
		for _, ok := range l[way] {
			if !ok {
				lost++
			}
		}
	}
	assert.LessOrEqual(t, got.totals.Gap, lost)
	t.Logf("%d frames, %d damaged, %d whole ones not found; %d bytes lost, gap %d, skipped %d", all, damaged, missed, lost, got.totals.Gap, got.totals.Skipped)
}

// paired requires that calls are paired as in the whole capture, where both frames were found.
func (w *world) paired(t *testing.T, got *view) {
	ours := map[int64]int64{} // frame numbers there → here
	for way, want := range w.view.frames {
		byStart := map[int64]int64{}
		for _, f := range got.frames[way] {
			byStart[f.start] = f.number
		}
		for _, f := range want {
			ours[f.number] = byStart[f.start]
		}
	}
	wrong, all := 0, 0
	for request, response := range w.view.pairs {
		a, b := ours[request], ours[response]
		if a == 0 || b == 0 {
			continue
		}
		all++
		if got.pairs[a] != b {
			wrong++
		}
	}
	assert.Zero(t, wrong, "of %d calls", all)
}

// Lost packets damage only the frames that they carried bytes of.
func TestLoss(t *testing.T) {
	each(t, transformed(), func(t *testing.T, w *world) {
		for i, share := range []float64{0.001, 0.02, 0.1} {
			for _, acks := range []bool{true, false} {
				for _, mss := range []int{536, 1448} {
					if !acks && mss == 1448 {
						continue
					}
					t.Run(fmt.Sprintf("%v acks %v mss %d", share, acks, mss), func(t *testing.T) {
						r := rand.New(rand.NewPCG(11, uint64(i)))
						var kept []segment
						for _, s := range recut(w.segments, mss) {
							if s.flags&packet.SYN == 0 && (len(s.payload) > 0 && r.Float64() < share || !acks && len(s.payload) == 0 && s.flags&packet.FIN == 0) {
								continue
							}
							kept = append(kept, s)
						}
						got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(spread(kept, 100_000)))...)
						w.found(t, got, newLosses(w, kept), nil)
						w.paired(t, got)
					})
				}
			}
		}
	})
}

// A capture that starts while calls are running has every frame after its start.
func TestJoined(t *testing.T) {
	each(t, transformed(), func(t *testing.T, w *world) {
		for _, mss := range []int{100, 536, 65000} {
			for _, share := range []int{3, 50, 97} {
				t.Run(fmt.Sprintf("after %d %%, mss %d", share, mss), func(t *testing.T) {
					all := recut(w.segments, mss)
					kept := all[len(all)*share/100:]
					if slices.ContainsFunc(kept, func(s segment) bool { return s.flags&packet.SYN != 0 }) {
						t.Skip("a connection begins later")
					}
					streams, joined := streamsOf(w.segments), map[way]int64{}
					for i := len(kept) - 1; i >= 0; i-- {
						if s := &kept[i]; len(s.payload) > 0 {
							joined[s.way()] = int64(s.seq - streams[s.way()].first)
						}
					}
					got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(kept))...)
					w.found(t, got, newLosses(w, kept), joined)
				})
			}
		}
	})
}

// A capture of one direction has every frame of it.
func TestOneDirection(t *testing.T) {
	each(t, transformed(), func(t *testing.T, w *world) {
		for _, server := range []bool{true, false} {
			for _, handshake := range []bool{true, false} {
				t.Run(fmt.Sprintf("from server %v handshake %v", server, handshake), func(t *testing.T) {
					var kept []segment
					for _, s := range recut(w.segments, 1448) {
						if syn := s.flags&packet.SYN != 0; (s.src.Port == 20880) == server && !syn || syn && handshake {
							kept = append(kept, s)
						}
					}
					got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(kept))...)
					for way, want := range w.view.frames {
						if from, _ := netip.ParseAddrPort(way.src); (from.Port() == 20880) != server {
							assert.Empty(t, got.frames[way])
							continue
						}
						require.Len(t, got.frames[way], len(want))
						for i := range want {
							require.Equal(t, want[i].text, got.frames[way][i].text)
						}
					}
					assert.Zero(t, got.totals.Skipped)
				})
			}
		}
	})
}

// snapped returns segments as a capture with that snap length has them, and writes the capture.
func snapped(t *testing.T, all []segment, snap int) (kept []segment, files []string) {
	kept = slices.Clone(all)
	for i := range kept {
		s := &kept[i]
		s.payload = s.payload[:max(0, min(len(s.payload), snap-66))] // 14 Ethernet, 20 IP, 32 TCP
	}
	shape := *ethernet
	shape.snap = snap
	return kept, saved(t, ".pcap", shape.pcap(all))
}

// What the snap length cut off is known by its length.
func TestSnap(t *testing.T) {
	each(t, transformed(), func(t *testing.T, w *world) {
		for _, mss := range []int{1448, 65000} {
			for _, snap := range []int{82, 96, 200, 1400} {
				t.Run(fmt.Sprintf("%d mss %d", snap, mss), func(t *testing.T) {
					kept, files := snapped(t, recut(w.segments, mss), snap)
					got := look(t, pipeline.Limits{}, files...)
					w.found(t, got, newLosses(w, kept), nil)
					w.paired(t, got)
				})
			}
		}
	})
}

// A capture that starts while calls are running and has little more than headers has every frame from the first one on that is a packet.
func TestJoinedSnap(t *testing.T) {
	each(t, transformed(), func(t *testing.T, w *world) {
		streams, all := streamsOf(w.segments), w.segments[len(w.segments)*3/10:]
		for i, s := range slices.Backward(all) {
			if s.flags&packet.SYN != 0 { // no connection begins later
				all = all[i+1:]
				break
			}
		}
		for _, snap := range []int{82, 96, 200} {
			t.Run(strconv.Itoa(snap), func(t *testing.T) {
				kept, files := snapped(t, all, snap)
				joined, due := map[way]int64{}, map[way]int64{} // where a direction begins, and where its first frame does that is a packet
				for i := len(all) - 1; i >= 0; i-- {
					s := &all[i]
					if len(s.payload) == 0 {
						continue
					}
					at := int64(s.seq - streams[s.way()].first)
					joined[s.way()] = at
					if slices.ContainsFunc(w.view.frames[s.way()], func(f seen) bool { return f.start == at && f.length == len(s.payload) }) {
						due[s.way()] = at
					}
				}
				got := look(t, pipeline.Limits{}, files...)
				w.found(t, got, newLosses(w, kept), joined)
				require.NotEmpty(t, due)
				for way, at := range due {
					require.NotEmpty(t, got.frames[way])
					assert.LessOrEqual(t, got.frames[way][0].start+joined[way], at, "%v", way)
				}
			})
		}
	})
}

// A 4-tuple that is used again is another connection.
func TestPortUsedAgain(t *testing.T) {
	first, second := newWorld(t, "hessian2"), newWorld(t, "mixed")
	client, server := first.segments[0].src, first.segments[0].dst
	without := func(flags uint8, all []segment) (out []segment) {
		for _, s := range all {
			if s.flags&flags == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	for _, c := range []struct {
		name          string
		before, after []segment
	}{
		{"after FIN", first.segments, second.segments},
		{"after nothing", without(packet.FIN, first.segments), second.segments},
		{"after RST", append(without(packet.FIN, first.segments), segment{
			src: server, dst: client, seq: first.segments[1].seq + 1, flags: packet.RST,
		}), second.segments},
		{"after FIN, its SYNs lost", first.segments, without(packet.SYN, second.segments)},
		{"after FIN, its SYN lost", first.segments, second.segments[1:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := slices.Clone(c.before)
			asked := second.segments[0].src
			for _, s := range c.after {
				if s.src == asked {
					s.src, s.dst = client, server
				} else {
					s.src, s.dst = server, client
				}
				all = append(all, s)
			}
			got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(spread(all, 1000)))...)
			assert.Equal(t, int64(2), got.totals.TCP.Connections)
			for _, ends := range [][2]packet.Endpoint{{client, server}, {server, client}} {
				there := way{ends[0].String(), ends[1].String()}
				from := way{asked.String(), second.segments[0].dst.String()}
				if ends[0] == server {
					from.src, from.dst = from.dst, from.src
				}
				want := append(slices.Clone(first.view.frames[there]), second.view.frames[from]...)
				require.Len(t, got.frames[there], len(want))
				for i := range want {
					require.Equal(t, want[i].text, got.frames[there][i].text)
				}
			}
			assert.Len(t, got.calls, len(first.view.calls)+len(second.view.calls))
			assert.Zero(t, got.totals.Orphans)
		})
	}
}

// Several files are one capture.
func TestSeveralFiles(t *testing.T) {
	w := newWorld(t, "edge-hessian2")
	part := func(keep func(i int) bool) []byte {
		var out []segment
		for i, s := range w.segments {
			if keep(i) {
				out = append(out, s)
			}
		}
		return ethernet.pcap(out)
	}
	n := len(w.segments)
	later := slices.Clone(w.segments)
	for i := range later {
		later[i].at += 50_000
	}
	for _, c := range []struct {
		name  string
		files [][]byte
	}{
		{"rotated, in another order", [][]byte{
			part(func(i int) bool { return i >= n/3 && i < n/2 }), part(func(i int) bool { return i < n/3 }),
			part(func(i int) bool { return i >= n/2 }),
		}},
		{"a file per direction", [][]byte{
			part(func(i int) bool { return w.segments[i].src.Port == 20880 }),
			part(func(i int) bool { return w.segments[i].src.Port != 20880 }),
		}},
		{"captured at both ends", [][]byte{ethernet.pcap(w.segments), (&shape{link: capture.LinkLinuxSLL}).pcap(later)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.same(t, look(t, pipeline.Limits{}, saved(t, ".pcap", c.files...)...), nil)
		})
	}
	t.Run("other captures at the same time", func(t *testing.T) {
		worlds := []*world{newWorld(t, "hessian2"), newWorld(t, "mixed"), newWorld(t, "kryo")}
		var files [][]byte
		frames, calls := 0, 0
		for i, w := range worlds {
			shift := worlds[0].segments[0].at - w.segments[0].at
			all := slices.Clone(w.segments)
			for k := range all {
				s := &all[k]
				s.at += shift
				for _, e := range []*packet.Endpoint{&s.src, &s.dst} {
					e.IP[15] = byte(10 + i)
				}
			}
			files = append(files, ethernet.pcap(all))
			frames += int(w.view.totals.Frames)
			calls += len(w.view.calls)
		}
		got := look(t, pipeline.Limits{}, saved(t, ".pcap", files...)...)
		assert.Equal(t, frames, int(got.totals.Frames))
		var want []string
		for _, w := range worlds {
			want = append(want, w.view.calls...)
		}
		slices.Sort(want)
		require.Equal(t, want, got.calls)
	})
}
