package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// printer prints all records in all formats to nowhere, and requires valid JSON of them.
type printer struct {
	checker
	frameTables []*report.FrameTable
	callTables  []*report.CallTable
}

func newPrinter(t *testing.T) *printer {
	p := &printer{checker: checker{t: t, agg: sizes.New(sizes.DefaultBy(), 0, nil)}}
	for _, format := range []string{"table", "markdown", "csv"} {
		for _, width := range []int{0, 60, 200} {
			f, err := report.NewFrameTable(io.Discard, format, report.Style{Width: width, Color: width > 0}, []string{"-"})
			require.NoError(t, err)
			c, err := report.NewCallTable(io.Discard, format, report.Style{Width: width, Exact: width > 0}, report.Calls{Inputs: []string{"-"}})
			require.NoError(t, err)
			p.frameTables, p.callTables = append(p.frameTables, f), append(p.callTables, c)
		}
	}
	return p
}

func (p *printer) Frame(r *pipeline.Row) {
	p.checker.Frame(r)
	for _, t := range p.frameTables {
		require.NoError(p.t, t.Row(r))
	}
}

func (p *printer) Call(c *call.Call, selected bool) {
	p.checker.Call(c, selected)
	for _, t := range p.callTables {
		require.NoError(p.t, t.Row(c))
	}
}

func (p *printer) close() {
	for i := range p.frameTables {
		require.NoError(p.t, p.frameTables[i].Close())
		require.NoError(p.t, p.callTables[i].Close())
	}
}

// Reading any bytes may allocate as much as a run takes before its first packet, and so much per byte: a body of an
// input is read several times, each of its bytes may be a value, and each value is printed in ten ways.
const (
	allocatedAtFirst = 64 << 20
	allocatedPerByte = 64 << 10
)

// wholeLine reads any bytes as a capture with everything there is to be done with one.
func wholeLine(t *testing.T, b []byte) {
	begin := bench.CPUTime() // of the process, since workers take some of it
	var first *pipeline.Totals
	for _, opt := range []pipeline.Options{
		{Detail: rpc.Envelope},
		{Detail: rpc.Envelope, Jobs: 3},
		{Detail: rpc.Values, RenderValues: true, Rows: true},
		{Detail: rpc.Values, Rows: true, Limits: pipeline.Limits{
			GapPackets: 3, MaxHeld: 16, MaxHeldPerConnection: 1, MaxClosed: 16, MaxConnections: 16, MaxEmpty: 16, MaxOpenCalls: 16, MaxBodies: 16,
		}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(b)})
		if err != nil {
			return // no capture
		}
		p := newPrinter(t)
		opt.Protocols, opt.Formats = protocols.All(), formats.All()
		totals, err := pipeline.Run(src, opt, p)
		require.NoError(t, err)
		p.close()
		require.NoError(t, totals.Balance())
		r := report.Build(src.Inputs(), totals, sizes.DefaultBy(), p.agg.Groups())
		books(t, &run{totals: totals, report: r})
		var out bytes.Buffer
		require.NoError(t, r.WriteJSON(&out, true))
		require.True(t, json.Valid(out.Bytes()))
		for _, format := range []string{"table", "markdown", "csv"} {
			require.NoError(t, r.Write(io.Discard, format, report.Style{Width: 80}))
		}
		require.NoError(t, src.Close())
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(allocatedAtFirst+allocatedPerByte*len(b)), "bytes allocated for %d", len(b))
		switch {
		case opt.Detail != rpc.Envelope:
		case first == nil:
			first = totals
		default:
			require.Equal(t, first, totals, "by three workers")
		}
	}
	require.Less(t, bench.CPUTime()-begin, 40*time.Second)
}

// lineSeeds are the beginnings of committed captures, as they are and as pcap.
func lineSeeds(tb testing.TB) [][]byte {
	paths, err := filepath.Glob("../../../testdata/captures/*.pcap*")
	require.NoError(tb, err)
	var seeds [][]byte
	for i, path := range paths {
		b, err := os.ReadFile(path)
		require.NoError(tb, err)
		if i%8 == 0 {
			seeds = append(seeds, b[:min(len(b), 3000)])
		}
		if i%3 > 0 {
			continue
		}
		src, err := capture.Open([]string{path}, capture.Options{})
		require.NoError(tb, err)
		var p capture.Packet
		var out []byte
		for src.Next(&p) == nil && len(out)+len(p.Data) < 6000 {
			if out == nil {
				out = pcapHeader(p.Link)
			}
			out = appendRecord(out, &p)
		}
		require.NoError(tb, src.Close())
		seeds = append(seeds, out)
	}
	return seeds
}

// TestWholeLine: what FuzzLine requires holds for the captures it starts from.
func TestWholeLine(t *testing.T) {
	for _, b := range lineSeeds(t) {
		wholeLine(t, b)
		wholeLine(t, b[:len(b)/2])
	}
}

// FuzzLine reads any bytes as a capture, up to what is printed of it: no panic, bounded memory and time, balanced books,
// valid JSON, and the same totals by several workers.
func FuzzLine(f *testing.F) {
	for _, b := range lineSeeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 1<<16 {
			wholeLine(t, b)
		}
	})
}

func pcapHeader(link capture.LinkType) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0)
	return binary.LittleEndian.AppendUint32(b, uint32(link))
}

func appendRecord(b []byte, p *capture.Packet) []byte {
	for _, v := range []int64{p.Time / 1e9, p.Time % 1e9 / 1e3, int64(len(p.Data)), int64(p.WireLen)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return append(b, p.Data...)
}
