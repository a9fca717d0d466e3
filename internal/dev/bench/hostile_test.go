package bench_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// maxHostileMemory is what the whole process may take from the system while it reads a hostile capture, in bytes: twice what it needs, since the garbage
// collector comes when as much was allocated again.
const maxHostileMemory = 256 << 20

// maxSlowdown is how much more processor time one of them may take in a capture ten times as large. Time that grows with the
// square would give ten.
const maxSlowdown = 5

// hostileLimits are a sixteenth of the defaults, so that a tenth of a hostile capture reaches them.
var hostileLimits = pipeline.Limits{
	MaxConnections: 1 << 16, MaxEmpty: 1 << 16, MaxClosed: 1 << 12, MaxOpenCalls: 1 << 14,
	MaxHeld: 16 << 20, MaxHeldPerConnection: 1 << 20, MaxValues: 16 << 20, MaxBodies: 32 << 20,
}

// leftOut is where it is counted what a limit cost.
var leftOut = map[string]func(t *pipeline.Totals) int64{
	"connections":  func(t *pipeline.Totals) int64 { return t.TCP.Expired },
	"half-open":    func(t *pipeline.Totals) int64 { return t.TCP.Expired },
	"half-open-2g": func(t *pipeline.Totals) int64 { return t.TCP.Expired },
	"half-read":    func(t *pipeline.Totals) int64 { return t.TCP.Expired },
	"syn-flood":    func(t *pipeline.Totals) int64 { return t.TCP.Forgotten },
	"out-of-order": func(t *pipeline.Totals) int64 { return t.TCP.Gaps },
	"backwards":    func(t *pipeline.Totals) int64 { return t.TCP.Gaps },
	"holes":        func(t *pipeline.Totals) int64 { return t.TCP.Gaps },
	"unanswered":   func(t *pipeline.Totals) int64 { return t.Expired },
	"one-id":       func(t *pipeline.Totals) int64 { return t.Expired },

	"http2-connections": func(t *pipeline.Totals) int64 { return t.TCP.Expired },
	"http1-switching":   func(t *pipeline.Totals) int64 { return t.TCP.Expired },
	"http1-pipeline":    func(t *pipeline.Totals) int64 { return t.Expired },
	"http2-streams":     func(t *pipeline.Totals) int64 { return t.Expired },
	"tls-names":         func(t *pipeline.Totals) int64 { return t.Other["tls"].MoreHandshakes.Connections },
}

// larger are the captures that may take twice the memory: the report has 100,000 rows (--max-groups), of eight histograms each, or 20,000
// with names of 1 KiB;
// an HTTP/2 connection with an open message needs 3 KB.
var larger = []string{"methods", "http2-paths", "http2-connections", "http2-half-headers", "http2-half-blocks", "http1-switching", "http1-half-heads"}

// memoryPeak samples what the process has of the system's memory until stop is called, with the garbage collector as it is without
// GOGC: the other tests of the package let the heap grow further.
func memoryPeak() (stop func() uint64) {
	percent := debug.SetGCPercent(100)
	debug.FreeOSMemory()
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	end, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(samples)
			most = max(most, samples[0].Value.Uint64()-samples[1].Value.Uint64())
			select {
			case <-tick.C:
			case <-end:
				peak <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(end)
		debug.SetGCPercent(percent)
		return <-peak
	}
}

// hostileRun is what reading one hostile capture gave and cost.
type hostileRun struct {
	totals *pipeline.Totals
	inputs []capture.Input
	took   time.Duration // of the processor
	memory uint64        // the most while it was read
	live   uint64        // in use at the end of the capture
	report uint64        // the most while the report was written
}

// readHostile reads n of a hostile capture. On a busy machine the garbage collector comes late, so what takes too much memory once is read
// again with a collector that comes before that.
func readHostile(t *testing.T, h *traffic.Hostile, n int64, jobs int) *hostileRun {
	run := readHostileOnce(t, h, n, jobs)
	if bound := memoryBound(h); max(run.memory, run.report) >= bound {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(bound - bound/16)))
		more := readHostileOnce(t, h, n, jobs)
		run.memory, run.report = min(run.memory, more.memory), min(run.report, more.report)
	}
	return run
}

// liveAtEnd is a capture at whose end it is noted what the process has in use.
type liveAtEnd struct {
	io.Reader
	live uint64
}

func (r *liveAtEnd) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		r.live = sample[0].Value.Uint64()
	}
	return n, err
}

func readHostileOnce(t *testing.T, h *traffic.Hostile, n int64, jobs int) *hostileRun {
	stop := memoryPeak()
	used := testkit.CPU()
	in := &liveAtEnd{Reader: h.Reader(n)}
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: in})
	require.NoError(t, err)
	agg := sizes.New(sizes.DefaultBy(), 0, nil)
	opt := options(rpc.Envelope)
	opt.Limits, opt.Jobs = hostileLimits, jobs
	totals, err := pipeline.Run(src, opt, sink{agg})
	require.NoError(t, err)
	run := &hostileRun{totals: totals, inputs: src.Inputs(), took: used(), memory: stop(), live: in.live}
	stop = memoryPeak()
	r := report.Build(src.Inputs(), totals, sizes.DefaultBy(), agg.Groups())
	require.NoError(t, r.WriteJSON(io.Discard, false))
	require.NoError(t, r.Write(io.Discard, "table", report.Style{Width: 120}))
	run.report = stop()
	return run
}

// TestHostile reads captures that are made to be large: whatever they hold, memory stays below a bound, what was left out
// is counted, the books balance, and workers change nothing. A tenth of them reaches the limits. With the build tag alltests
// all of them is read, and the time grows with the capture and not faster.
func TestHostile(t *testing.T) {
	for i := range traffic.Hostiles {
		h := &traffic.Hostiles[i]
		if testing.Short() && i%16 != 1 {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			tenth := max(h.N/10, 1)
			byWorkers := func() *pipeline.Totals {
				shared := readHostile(t, h, tenth, 3)
				t.Logf("by three workers: %d MiB, %d MiB in use", shared.memory>>20, shared.live>>20)
				assert.Less(t, shared.memory, memoryBound(h), "by three workers: %d MiB", shared.memory>>20)
				return shared.totals
			}
			if testing.Short() { // the race detector finds nothing in one goroutine
				require.NoError(t, byWorkers().Balance())
				return
			}
			small := readHostile(t, h, tenth, 1)
			checkHostile(t, h, small, tenth)
			usual := i%2 == 0 // in "go test ./..."
			if usual && !testkit.Passed() || !usual && testkit.All {
				assert.Equal(t, small.totals, byWorkers(), "by three workers")
			}
			if !testkit.All {
				return
			}
			full := readHostile(t, h, h.N, 1)
			checkHostile(t, h, full, h.N)
			each := func(r *hostileRun, n int64) time.Duration { return r.took / time.Duration(n) }
			// Caches are shared with what else runs on the machine: what is measured once too slow is measured again.
			slow, fast := each(full, h.N), each(small, tenth)
			for range 3 {
				if full.took < 100*time.Millisecond || slow < maxSlowdown*max(fast, 200*time.Nanosecond) {
					return
				}
				slow = min(slow, each(readHostile(t, h, h.N, 1), h.N))
				fast = max(fast, each(readHostile(t, h, tenth, 1), tenth))
			}
			assert.Less(t, slow, maxSlowdown*max(fast, 200*time.Nanosecond), "%d %s", h.N, h.Text)
		})
	}
}

func memoryBound(h *traffic.Hostile) uint64 {
	if slices.Contains(larger, h.Name) {
		return 2 * maxHostileMemory
	}
	return maxHostileMemory
}

// checkHostile holds a run over n of a hostile capture against what must be so.
func checkHostile(t *testing.T, h *traffic.Hostile, r *hostileRun, n int64) {
	t.Helper()
	text := fmt.Sprintf("%d %s: %d packets, %v each, %d MiB, %d MiB in use, then %d MiB for the report",
		n, h.Text, r.totals.Packets, r.took/time.Duration(n), r.memory>>20, r.live>>20, r.report>>20)
	t.Log(text)
	bound := memoryBound(h)
	assert.Less(t, r.memory, bound, text)
	assert.Less(t, r.live, bound/2, text)
	assert.Less(t, r.report, bound, text)
	require.NoError(t, r.totals.Balance())
	if count := leftOut[h.Name]; count != nil {
		assert.Positive(t, count(r.totals), "what was left out")
	}
	assert.Empty(t, r.inputs[0].Err)
}

// Bounds of the memory of HTTP/2 messages of which everything is kept, in bytes: of the process without them, and for each byte of the
// capture.
const (
	maxWithoutHeads = 96 << 20
	maxForByte      = 4
)

// heads is a sink that has the headers of all messages described.
type heads struct{ sink }

func (heads) Frame(r *pipeline.Row) { r.Msg.Protocol.Header(nil, r.Msg, true) }

// TestHostileHeads reads hostile captures of HTTP/2 and of the switch to it as frames and explain do, which keep heads and bodies of
// messages and describe them: a message needs a few times as much memory as its bytes, whatever frames it comes in. Captures of very
// many connections are left to TestHostile. Without the build tag alltests it reads a few.
func TestHostileHeads(t *testing.T) {
	for i := range traffic.Hostiles {
		h := &traffic.Hostiles[i]
		if !strings.HasPrefix(h.Name, "http") || slices.Contains(larger, h.Name) || !testkit.All && i%4 != 1 || testing.Short() && i%16 != 1 {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			memory, linkBytes := readHeads(t, h)
			bound := uint64(maxWithoutHeads + maxForByte*linkBytes)
			for range 2 { // where much else runs, the garbage collector comes late: what takes too much once is read again
				if memory < bound {
					break
				}
				again, _ := readHeads(t, h)
				memory = min(memory, again)
			}
			text := fmt.Sprintf("%d MiB for a capture of %d MiB", memory>>20, linkBytes>>20)
			t.Log(text)
			assert.Less(t, memory, bound, text)
		})
	}
}

// readHeads reads a tenth of a hostile capture with everything kept. It returns the peak of memory and the capture's size, in bytes.
func readHeads(t *testing.T, h *traffic.Hostile) (memory uint64, linkBytes int64) {
	t.Helper()
	opt := options(rpc.Values)
	opt.Limits, opt.Rows, opt.WholeBodies = hostileLimits, true, true
	stop := memoryPeak()
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: h.Reader(max(h.N/10, 1))})
	require.NoError(t, err)
	totals, err := pipeline.Run(src, opt, heads{newSink()})
	require.NoError(t, err)
	return stop(), totals.LinkBytes
}
