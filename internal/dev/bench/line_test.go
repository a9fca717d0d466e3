package bench_test

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/hessian2"
	"dubbo-wire/internal/decode/formats/json"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// sink adds calls up, as analyze does.
type sink struct{ sizes *sizes.Aggregator }

func newSink() sink { return sink{sizes.New(sizes.DefaultBy(), 0, nil)} }

func (s sink) Frame(*pipeline.Row) {}

func (s sink) Call(c *call.Call, selected bool) {
	if selected {
		s.sizes.Call(c)
	}
}

func options(detail rpc.Detail) pipeline.Options {
	return pipeline.Options{Protocols: protocols.All(), Formats: []decode.Format{hessian2.Format, json.Format}, Detail: detail}
}

func source(t testing.TB, capturedBytes []byte) capture.Source {
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(capturedBytes)})
	require.NoError(t, err)
	return src
}

// What the line finds is what was written.
func TestLineFindsTheTruth(t *testing.T) {
	for _, mix := range traffic.Mixes {
		t.Run(mix.Name, func(t *testing.T) {
			var b bytes.Buffer
			truth, err := traffic.Write(&b, traffic.Config{Size: 2e6, Mix: mix.Name})
			require.NoError(t, err)
			for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Values} {
				into := newSink()
				opt := options(detail)
				opt.Formats = append(opt.Formats, json.Format)
				totals, err := pipeline.Run(source(t, b.Bytes()), opt, into)
				require.NoError(t, err)
				assert.Equal(t, truth.Frames, totals.Frames)
				assert.Equal(t, truth.Packets, totals.Packets)
				assert.Equal(t, truth.LinkBytes, totals.LinkBytes)
				assert.Zero(t, totals.Unanswered+totals.Orphans+totals.Skipped+totals.Gap+totals.Incomplete)
				assert.EqualValues(t, truth.Connections, totals.TCP.Connections)
				if detail == rpc.Values {
					assert.Zero(t, totals.BodiesPartly+totals.BodiesOpaque)
					if !mix.HTTP2() { // where some messages have no body
						assert.Equal(t, truth.Frames, totals.BodiesDecoded)
					}
				}
				// A method of HTTP/2 may be called by Triple and by gRPC, with different outcomes.
				found := make(map[string]traffic.Method)
				for _, g := range into.sizes.Groups() {
					m := found[g.Values[2]+"/"+g.Values[3]]
					m.Service, m.Method = g.Values[2], g.Values[3]
					m.Requests += g.Calls
					m.RequestBytes += g.Request.Body.Total
					m.Responses += g.Response().Body.Count
					m.ResponseBytes += g.Response().Body.Total
					found[g.Values[2]+"/"+g.Values[3]] = m
				}
				assert.Len(t, found, len(truth.Methods))
				calls := int64(0)
				for _, m := range truth.Methods {
					assert.Equal(t, m, found[m.Service+"/"+m.Method])
					calls += m.Requests
				}
				assert.Equal(t, calls, totals.Calls)
			}
		})
	}
}

// counter counts the allocations that follow the first packets of a capture.
type counter struct {
	capture.Source
	n, warm       int64
	before, after runtime.MemStats
}

func (c *counter) Next(p *capture.Packet) error {
	if c.n++; c.n == c.warm {
		runtime.ReadMemStats(&c.before)
	}
	err := c.Source.Next(p)
	if err != nil {
		runtime.ReadMemStats(&c.after)
	}
	return err
}

// Once the line has seen the methods and connections, it allocates nothing per packet, nothing per frame, and nothing per
// value where it adds up what bytes are for.
func TestLineAllocatesNothing(t *testing.T) {
	for _, mix := range []string{"default", "triple", "rest"} {
		t.Run(mix, func(t *testing.T) { lineAllocatesNothing(t, mix) })
	}
}

func lineAllocatesNothing(t *testing.T, mix string) {
	var b bytes.Buffer
	truth, err := traffic.Write(&b, traffic.Config{Size: 60e6, Mix: mix})
	require.NoError(t, err)
	for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts} {
		c := &counter{Source: source(t, b.Bytes()), warm: truth.Packets * 3 / 4}
		into := newSink()
		totals, err := pipeline.Run(c, options(detail), into)
		require.NoError(t, err)
		require.Equal(t, truth.Frames, totals.Frames)
		n, packets := c.after.Mallocs-c.before.Mallocs, uint64(truth.Packets-c.warm)
		t.Logf("%d allocations of %d bytes for %d packets", n, c.after.TotalAlloc-c.before.TotalAlloc, packets)
		bound := packets / 100
		switch mix {
		case "triple":
			bound = packets / 50 // spans of messages that lie apart
		case "rest":
			bound = packets / 25 // lines of heads, each length with one of its own
		}
		assert.Less(t, n, bound, "what is left is tables that grow now and then")
		for _, g := range into.sizes.Groups() {
			parts := int64(0)
			for _, n := range g.Parts() {
				parts += n
			}
			if detail == rpc.Envelope {
				assert.Zero(t, parts)
			} else {
				assert.Equal(t, g.Request.Body.Total+g.Response().Body.Total, parts)
			}
		}
	}
}

func BenchmarkLine(b *testing.B) { benchmarkLine(b, "default") }

// BenchmarkLineTriple is BenchmarkLine with the same values over Triple.
func BenchmarkLineTriple(b *testing.B) { benchmarkLine(b, "triple") }

func benchmarkLine(b *testing.B, mix string) {
	path := filepath.Join(b.TempDir(), "bench.pcap")
	truth, err := traffic.WriteFile(path, traffic.Config{Size: 100e6, Mix: mix})
	require.NoError(b, err)
	for _, c := range []struct {
		name   string
		detail rpc.Detail
	}{
		{"sizes", rpc.Envelope},
		{"parts", rpc.Parts},
		{"values", rpc.Values},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(truth.FileBytes)
			b.ReportAllocs()
			begin := bench.CPUTime()
			for b.Loop() {
				src, err := capture.Open([]string{path}, capture.Options{})
				require.NoError(b, err)
				totals, err := pipeline.Run(src, options(c.detail), newSink())
				require.NoError(b, err)
				require.Equal(b, truth.Frames, totals.Frames)
				require.NoError(b, src.Close())
			}
			b.ReportMetric(float64(bench.CPUTime()-begin)/float64(b.N)/float64(truth.Frames), "cpu-ns/message")
		})
	}
}
