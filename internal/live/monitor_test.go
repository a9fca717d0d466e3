package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// counted is the sink after the monitor.
type counted struct{ *sizes.Aggregator }

func (counted) Frame(*pipeline.Row) {}

func (c counted) Call(k *call.Call, _ bool) { c.Aggregator.Call(k) }

// watch runs a capture as if it came from an interface, and returns all snapshots and what the run was in the end.
func watch(t *testing.T, file string, s func(n int) Settings, p Probe) (all []*Snapshot, totals *pipeline.Totals, groups []*sizes.Group) {
	src, err := capture.Open([]string{"../../testdata/captures/" + file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	agg := sizes.New(sizes.By{Keys: []sizes.Key{sizes.Service, sizes.Method}}, 0, nil)
	if p.Interfaces == nil {
		p.Interfaces = func() []Interface { return []Interface{{Name: "eth0", Up: true}} }
	}
	if p.Stats == nil {
		p.Stats = func() (Traffic, float64) { return Traffic{}, 0 }
	}
	p.Recording = func() Recording { return Recording{} }
	m := NewMonitor(p, counted{agg}, formats.All(), false)
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Rows: true, Live: true}
	n := 0
	opt.Watch = func(r *pipeline.Running) {
		if snap := m.Watch(r, s(n)); snap != nil {
			all = append(all, snap)
		}
		n++
	}
	totals, err = pipeline.Run(src, opt, m)
	require.NoError(t, err)
	return all, totals, agg.Groups()
}

// TestMonitor: what snapshots say adds up to what the run was, whatever the grouping.
func TestMonitor(t *testing.T) {
	for _, by := range []Grouping{ByMethod, ByService, BySerialization, ByClient, ByServer, ByPair} {
		all, totals, _ := watch(t, "fleet.pcap.zst", func(int) Settings { return Settings{By: by} }, Probe{})
		require.Greater(t, len(all), 2)
		last := all[len(all)-1]
		assert.InDelta(t, totals.Packets, last.Packets, 1024, by.String())
		assert.LessOrEqual(t, last.Calls, totals.Calls)
		assert.Greater(t, last.Calls, int64(0))
		assert.Equal(t, by, last.By)
		for _, s := range all {
			sum, share := 0.0, 0.0
			for _, r := range s.Rows {
				sum += r.Number("calls/s")
				share += r.Number("share")
				assert.NotEmpty(t, r.Name)
				assert.GreaterOrEqual(t, r.Number("response max"), r.Number("response mean"))
			}
			assert.InDelta(t, s.CallsPerSecond, sum, 0.001)
			if len(s.Rows) > 0 {
				assert.InDelta(t, 100, share, 0.001)
			}
			assert.LessOrEqual(t, len(s.Rows), s.Groups)
			assert.InDelta(t, s.Link, s.Messages+s.Other, 1)
			assert.LessOrEqual(t, s.Window, Window(0).Duration()+time.Second)
		}
	}
}

// TestMonitorFilter: a filter leaves rows out and nothing else.
func TestMonitorFilter(t *testing.T) {
	for _, filter := range []string{"user", "USER", "*User*/get*", "nothing like it"} {
		all, _, _ := watch(t, "edge-hessian2-2.7.3.pcap.zst", func(int) Settings { return Settings{Filter: filter} }, Probe{})
		plain, _, _ := watch(t, "edge-hessian2-2.7.3.pcap.zst", func(int) Settings { return Settings{} }, Probe{})
		a, b := all[len(all)-1], plain[len(plain)-1]
		assert.Equal(t, b.Groups, a.Groups)
		wanted := NameMatcher(filter)
		var names []string
		for _, r := range b.Rows {
			if wanted(r.Name) {
				names = append(names, r.Name)
			}
		}
		var got []string
		for _, r := range a.Rows {
			got = append(got, r.Name)
		}
		assert.ElementsMatch(t, names, got, filter)
	}
}

// TestDetail: an opened method has the calls, sizes and parts that a run over the whole capture finds for it.
func TestDetail(t *testing.T) {
	const file = "edge-hessian2-2.7.3.pcap.zst"
	_, _, groups := watch(t, file, func(int) Settings { return Settings{} }, Probe{})
	require.NotEmpty(t, groups)
	responses := int64(0)
	defer func() { assert.Greater(t, responses, int64(0)) }()
	for _, g := range groups {
		m := Method{g.Values[0], g.Values[1]}
		all, totals, _ := watch(t, file, func(int) Settings { return Settings{Open: m} }, Probe{})
		d := all[len(all)-1].Detail
		require.NotNil(t, d)
		assert.Equal(t, m, d.Method)
		assert.LessOrEqual(t, d.Calls, g.Calls)
		if d.Calls == 0 {
			continue // all of them came after the last snapshot
		}
		require.NotNil(t, d.Largest, m.String())
		assert.LessOrEqual(t, d.Largest.ResponseBytes, g.Response().Body.Max)
		assert.LessOrEqual(t, d.Largest.RequestBytes, g.Request.Body.Max)
		assert.LessOrEqual(t, d.Largest.Frame, totals.Frames)
		text := strings.Join(d.Largest.Request, "\n") + strings.Join(d.Largest.Response, "\n")
		assert.NotContains(t, text, "Wireshark", "there is no file")
		assert.Contains(t, text, "header")
		for _, line := range append(d.Largest.Request, d.Largest.Response...) {
			assert.LessOrEqual(t, len([]rune(line)), 80)
		}
		sum := 0.0
		for _, c := range d.Classes {
			sum += c.Percent
		}
		assert.InDelta(t, 100, sum, 0.01)
		n := int64(0)
		for _, b := range d.ResponseSizes {
			n += b.Count
		}
		assert.LessOrEqual(t, n, g.Response().Body.Count)
		responses += n
		for k := 1; k < len(d.ResponseSizes); k++ {
			assert.Equal(t, d.ResponseSizes[k-1].High+1, d.ResponseSizes[k].Low)
		}
	}
}

// TestCounters: with a kernel filter, what else is on the wire comes from the interface's own counters, which may start
// again.
func TestCounters(t *testing.T) {
	n := int64(0)
	p := Probe{
		KernelFilter: "port 20880",
		Counters: func() (in, out int64, ok bool) {
			n++
			return 1_000_000 * (n % 5), 2_000_000 * (n % 5), true
		},
	}
	all, _, _ := watch(t, "fleet.pcap.zst", func(int) Settings { return Settings{} }, p)
	for _, s := range all[1:] {
		assert.True(t, s.OtherFromCounters)
		assert.GreaterOrEqual(t, s.In, 0.0)
		assert.GreaterOrEqual(t, s.Other, 0.0)
		assert.InDelta(t, max(0, s.In+s.Out-s.Messages), s.Other, 1)
	}
}

func TestBins(t *testing.T) {
	var s sizes.Stat
	for _, v := range []int64{0, 1, 3, 40, 41, 4096, -5} {
		s.Add(v)
	}
	got := bins(&s)
	total := int64(0)
	for i, b := range got {
		total += b.Count
		if i > 0 {
			assert.Equal(t, got[i-1].High+1, b.Low)
		}
	}
	assert.Equal(t, int64(7), total)
	assert.Equal(t, Bin{32, 63, 2}, got[6])
	assert.Equal(t, Bin{4096, 8191, 1}, got[len(got)-1])
}
