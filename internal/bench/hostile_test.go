package bench_test

import (
	"fmt"
	"io"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/bench/traffic"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// maxHostileMemory is what the whole process may take from the system while it reads a hostile capture, in bytes.
const maxHostileMemory = 256 << 20

// maxSlowdown is how much longer one of them may take in a capture ten times as large. Time that grows with the square
// would give ten.
const maxSlowdown = 5

// unbounded names the captures that still take more than the bounds, and of what.
var unbounded = map[string]string{
	"connections":  "connections",
	"half-open":    "connections, bodies below 64 KiB",
	"half-open-2g": "connections, bodies below 64 KiB",
	"half-read":    "connections, bodies below 64 KiB",
	"syn-flood":    "connections",
	"out-of-order": "pieces of held data",
	"backwards":    "pieces of held data",
	"holes":        "connections",
	"methods":      "a report of 100,000 groups as JSON",
	"unanswered":   "open requests",
	"one-id":       "open requests",
	"fragments":    "connections",
	"generations":  "open requests, which keep their connections",
	"resets":       "open requests, which keep their connections",
}

// memoryPeak samples what the process has of the system's memory until stop is called.
func memoryPeak() (stop func() uint64) {
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
	return func() uint64 { close(end); return <-peak }
}

// hostileRun is what reading one hostile capture gave and cost.
type hostileRun struct {
	totals *pipeline.Totals
	inputs []capture.Input
	took   time.Duration
	memory uint64 // the most while it was read
	report uint64 // the most while the report was written
}

func (r *hostileRun) perPacket() time.Duration {
	return r.took / time.Duration(max(r.totals.Packets, 1))
}

func readHostile(t *testing.T, h *traffic.Hostile, n int64) *hostileRun {
	stop := memoryPeak()
	start := time.Now()
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: h.Reader(n)})
	require.NoError(t, err)
	agg := sizes.New(sizes.DefaultBy(), 0, nil)
	totals, err := pipeline.Run(src, options(dubbo.Envelope), sink{agg})
	require.NoError(t, err)
	run := &hostileRun{totals: totals, inputs: src.Inputs(), took: time.Since(start), memory: stop()}
	stop = memoryPeak()
	r := report.Build(src.Inputs(), totals, sizes.DefaultBy(), agg.Groups())
	require.NoError(t, r.WriteJSON(io.Discard, false))
	require.NoError(t, r.Write(io.Discard, "table", report.Style{Width: 120}))
	run.report = stop()
	return run
}

// TestHostile reads captures that are made to be large: whatever they hold, memory stays below a bound, time grows with
// the capture and not faster, and the books balance.
func TestHostile(t *testing.T) {
	for i := range traffic.Hostiles {
		h := &traffic.Hostiles[i]
		t.Run(h.Name, func(t *testing.T) {
			if what := unbounded[h.Name]; what != "" {
				t.Skip("without a bound yet:", what)
			}
			n := h.N
			if testing.Short() {
				n /= 10
			}
			// What one of them takes.
			each := func(r *hostileRun, n int64) time.Duration { return r.took / time.Duration(n) }
			tenth := max(n/10, 1)
			small, full := readHostile(t, h, tenth), readHostile(t, h, n)
			text := fmt.Sprintf("%d %s: %d packets, %v each (%v each in a tenth), %d MiB, then %d MiB for the report",
				n, h.Text, full.totals.Packets, each(full, n), each(small, tenth), full.memory>>20, full.report>>20)
			t.Log(text)
			assert.Less(t, full.memory, uint64(maxHostileMemory), text)
			assert.Less(t, full.report, uint64(maxHostileMemory), text)
			if full.took > 100*time.Millisecond {
				assert.Less(t, each(full, n), maxSlowdown*max(each(small, tenth), 200*time.Nanosecond), text)
			}
			tcp := full.totals.TCP
			assert.Equal(t, tcp.Payload, tcp.Stream+tcp.Repeated+tcp.BeyondSnap)
			assert.Equal(t, tcp.Stream, full.totals.FrameBytes+full.totals.OtherBytes()+full.totals.Skipped)
			assert.Empty(t, full.inputs[0].Err)
		})
	}
}
