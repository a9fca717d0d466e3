package metrics

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// aggregated is the sink after the meter.
type aggregated struct{ *sizes.Aggregator }

func (aggregated) Frame(*pipeline.Row) {}

func (a aggregated) Call(c *call.Call, _ bool) { a.Aggregator.Call(c) }

func noDrops() (int64, float64) { return 0, 0 }

// read runs a capture and returns its meter, the groups that a report has, and the totals. watch is called between packets.
func read(t *testing.T, file string, limit int, watch func(*Meter, *pipeline.Running)) (*Meter, []*sizes.Group, *pipeline.Totals) {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	groups := sizes.New(by, 0, nil)
	m := newMeter(limit, noDrops, aggregated{groups})
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope}
	if watch != nil {
		opt.Live, opt.Watch = true, func(r *pipeline.Running) { watch(m, r) }
	}
	totals, err := pipeline.Run(src, opt, m)
	require.NoError(t, err)
	m.End(totals)
	return m, groups.Groups(), totals
}

// numbers are what a series and a group of a report have in common.
type numbers struct {
	calls, errors, unanswered, latencies, latency int64
	body, wire                                    [2]int64
}

func numbersOf(g *sizes.Group) numbers {
	n := numbers{calls: g.Calls, errors: g.Errors, unanswered: g.Unanswered, latencies: g.Latency.Count, latency: g.Latency.Total}
	n.body = [2]int64{g.Request.Body.Total, g.Response().Body.Total}
	n.wire = [2]int64{g.Request.Wire.Total, g.ResponseWireBytes()}
	return n
}

func (n *numbers) add(o numbers) {
	n.calls += o.calls
	n.errors += o.errors
	n.unanswered += o.unanswered
	n.latencies += o.latencies
	n.latency += o.latency
	for d := range n.body {
		n.body[d] += o.body[d]
		n.wire[d] += o.wire[d]
	}
}

// scraped returns the numbers that a scrape has, by the values of the labels.
func scraped(t *testing.T, m *Meter) map[string]numbers {
	families := scrape(t, m, "")
	all := map[string]numbers{}
	each := func(name string, set func(n *numbers, dir int, m *dto.Metric)) {
		for _, metric := range families["dubbo_wire_"+name].GetMetric() {
			values := map[string]string{}
			for _, l := range metric.Label {
				values[l.GetName()] = l.GetValue()
			}
			key := strings.Join([]string{values["service"], values["method"], values["serialization"], values["side"]}, "\x00")
			n := all[key]
			set(&n, slices.Index([]string{"request", "response"}, values["dir"]), metric)
			all[key] = n
		}
	}
	each("calls_total", func(n *numbers, _ int, m *dto.Metric) { n.calls = int64(m.Counter.GetValue()) })
	each("errors_total", func(n *numbers, _ int, m *dto.Metric) { n.errors = int64(m.Counter.GetValue()) })
	each("unanswered_total", func(n *numbers, _ int, m *dto.Metric) { n.unanswered = int64(m.Counter.GetValue()) })
	each("body_bytes_total", func(n *numbers, d int, m *dto.Metric) { n.body[d] = int64(m.Counter.GetValue()) })
	each("wire_bytes_total", func(n *numbers, d int, m *dto.Metric) { n.wire[d] = int64(m.Counter.GetValue()) })
	each("latency_seconds", func(n *numbers, _ int, m *dto.Metric) {
		n.latencies, n.latency = int64(m.Histogram.GetSampleCount()), int64(math.Round(m.Histogram.GetSampleSum()*1e9))
	})
	return all
}

// scrape returns what a client gets from the server that accepts a format.
func scrape(t *testing.T, m *Meter, accept string) map[string]*dto.MetricFamily {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{m, "1.2.3"})
	handler(registry, "1.2.3").ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	families := map[string]*dto.MetricFamily{}
	d := expfmt.NewDecoder(bytes.NewReader(w.Body.Bytes()), expfmt.ResponseFormat(w.Header()))
	for {
		f := new(dto.MetricFamily)
		if err := d.Decode(f); err == io.EOF {
			return families
		} else {
			require.NoError(t, err)
		}
		families[f.GetName()] = f
	}
}

// oneGoroutine skips a test in which the race detector finds nothing.
func oneGoroutine(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
}

// TestSameAsReport: a scrape at the end has the numbers of the report, for every group.
func TestSameAsReport(t *testing.T) {
	oneGoroutine(t)
	testkit.Once(t)
	for _, name := range []string{
		"fleet", "loss", "mixed", "both-ends", "triple-3.3.6", "triple-loss-3.3.6", "triple-midway-3.3.6", "triple-multiplexed-3.3.6", "rest-edge-3.3.6",
		"hessian-http-2.7.23", "bid-gzip",
	} {
		m, groups, totals := read(t, testkit.Get(t, name).Path(), math.MaxInt, nil)
		want := map[string]numbers{}
		for _, g := range groups {
			want[strings.Join(g.Values, "\x00")] = numbersOf(g)
		}
		assert.NotEmpty(t, want)
		assert.Equal(t, want, scraped(t, m), name)
		families := scrape(t, m, "")
		value := func(name string) float64 {
			one := families["dubbo_wire_"+name].GetMetric()[0]
			return one.GetCounter().GetValue() + one.GetGauge().GetValue()
		}
		assert.InDelta(t, totals.Percent()/100, value("coverage_ratio"), 1e-12)
		assert.InDelta(t, totals.Packets, value("packets_total"), 0)
		assert.InDelta(t, totals.LinkBytes, value("link_bytes_total"), 0)
		if all := value("covered_bytes_total") + value("uncovered_bytes_total"); all > 0 {
			assert.InDelta(t, totals.Percent()/100, value("covered_bytes_total")/all, 1e-12)
		}
		assert.InDelta(t, len(groups), value("series"), 0)
		// The same with room for 3: what is shown is right, and the rest is in other.
		m, _, _ = read(t, testkit.Get(t, name).Path(), 3, nil)
		m.groups.choose()
		m.End(totals)
		got, rest := scraped(t, m), numbers{}
		heaviest := slices.SortedFunc(maps.Values(want), func(a, b numbers) int {
			return int(b.wire[0] + b.wire[1] - a.wire[0] - a.wire[1])
		})
		for key, n := range want {
			if shown, ok := got[key]; ok {
				assert.Equal(t, n, shown)
				assert.GreaterOrEqual(t, n.wire[0]+n.wire[1], heaviest[min(2, len(heaviest)-1)].wire[0]+heaviest[min(2, len(heaviest)-1)].wire[1])
			} else {
				rest.add(n)
			}
		}
		other, ok := got["other\x00other\x00other\x00other"]
		assert.Equal(t, len(want) > 3, ok)
		assert.Equal(t, rest, other)
		assert.Len(t, m.groups.folded, max(0, len(want)-3))
	}
}

// TestMonotonic: no number of a scrape is below that of an earlier one, also while groups are merged. Only series that were shown before the
// choice may end.
func TestMonotonic(t *testing.T) {
	oneGoroutine(t)
	for _, limit := range []int{5, DefaultSeries} {
		before, watched, scrapes, ended := map[string]float64{}, 0, 0, 0
		_, _, _ = read(t, testkit.Get(t, "fleet").Path(), limit, func(m *Meter, r *pipeline.Running) {
			if watched++; watched%20 > 0 {
				return
			}
			if scrapes++; scrapes == 10 {
				m.groups.choose()
			}
			m.asked.Store(true)
			m.Watch(r)
			now := map[string]float64{}
			for name, f := range scrape(t, m, "") {
				if !strings.HasPrefix(name, "dubbo_wire_") {
					continue
				}
				for _, one := range f.Metric {
					add := func(what string, v float64) { now[fmt.Sprint(name, one.Label, what)] = v }
					if one.Counter != nil {
						add("", one.Counter.GetValue())
					}
					if h := one.Histogram; h != nil {
						add("count", float64(h.GetSampleCount()))
						add("sum", h.GetSampleSum())
						for _, b := range h.Bucket {
							add(fmt.Sprint(b.GetUpperBound()), float64(b.GetCumulativeCount()))
						}
					}
				}
			}
			for key, n := range before {
				after, ok := now[key]
				if !ok {
					ended++
					assert.Equal(t, 10, scrapes, "%s ended", key)
					continue
				}
				assert.GreaterOrEqual(t, after, n, key)
			}
			before = now
		})
		assert.Greater(t, scrapes, 10)
		assert.Equal(t, limit == 5, ended > 0)
	}
}

// fake is a call whose messages have sizes.
func fake(service, method string, bytes int) *call.Call {
	o := &rpc.Operation{Service: service, Method: method, Hash: 1}
	message := func(isRequest bool) *call.Message {
		return &call.Message{Details: new(call.Details), Summary: rpc.Summary{
			Protocol: &rpc.Protocol{}, Operation: o, Serialization: "kryo", Request: isRequest, TwoWay: isRequest, Complete: true, Ends: true,
			BodyLen: bytes, Wire: int64(bytes), Ordinal: 1, FirstTime: 1_000_000, LastByte: 3_000_000,
		}}
	}
	return &call.Call{Conn: new(call.Conn), Request: message(true), Response: message(false)}
}

type nothing struct{}

func (nothing) Frame(*pipeline.Row)   {}
func (nothing) Call(*call.Call, bool) {}

// TestChoice: the heaviest groups of the first minute have series, whenever they came; later ones have them while there is room, and nobody
// leaves other.
func TestChoice(t *testing.T) {
	m := newMeter(3, noDrops, nothing{})
	calls := func(name string, bytes int) { m.Call(fake("S", name, bytes), true) }
	shown := func() (names []string) {
		m.End(&pipeline.Totals{})
		for _, s := range m.latest.Load().series {
			names = append(names, s.values[1])
		}
		slices.Sort(names)
		return names
	}
	calls("a", 1)
	calls("b", 2)
	assert.Equal(t, []string{"a", "b"}, shown())
	for i, name := range []string{"c", "d", "e"} {
		calls(name, 10*(i+1))
	}
	assert.Equal(t, []string{"a", "b", "c"}, shown(), "the first ones until the choice")
	assert.Equal(t, 2, m.latest.Load().waiting)
	late := fake("S", "a", 5)
	m.Call(late, true)
	m.groups.choose()
	assert.Equal(t, []string{"c", "d", "e", "other"}, shown())
	assert.EqualValues(t, 2*1+2*2+2*5, m.groups.other.wire[0]+m.groups.other.wire[1])
	assert.Equal(t, 2, m.latest.Load().folded)
	late.Request.Repeated = 7 // retransmitted
	late.Request.Watcher(late.Request)
	assert.EqualValues(t, 2*1+2*2+2*5+7, m.groups.other.wire[0]+m.groups.other.wire[1])
	for range 100 {
		calls("b", 1000)
		calls("f", 1000)
	}
	assert.Equal(t, []string{"c", "d", "e", "other"}, shown())
	assert.Equal(t, 3, m.latest.Load().folded)
	assert.EqualValues(t, 203, m.groups.other.calls)

	m = newMeter(3, noDrops, nothing{})
	calls("a", 1)
	m.groups.choose()
	for _, name := range []string{"b", "c", "d"} {
		calls(name, 1)
	}
	assert.Equal(t, []string{"a", "b", "c", "other"}, shown(), "while there is room")
}

// TestManyGroups: memory does not grow with the number of names, before and after the choice.
func TestManyGroups(t *testing.T) {
	oneGoroutine(t)
	m := newMeter(3, noDrops, nothing{})
	for i := range maxChoices + maxFolded {
		m.Call(fake("S", fmt.Sprint(i), 1), true)
	}
	assert.Len(t, m.groups.order, maxChoices)
	m.groups.choose()
	for i := range maxFolded {
		m.Call(fake("T", fmt.Sprint(i), 1), true)
	}
	assert.Len(t, m.groups.order, 3)
	assert.Len(t, m.groups.folded, maxFolded)
	assert.LessOrEqual(t, len(m.groups.byKey), maxChoices)
	m.End(&pipeline.Totals{})
	total := int64(0)
	for _, n := range scraped(t, m) {
		total += n.calls
	}
	assert.EqualValues(t, maxChoices+2*maxFolded, total)
}

// TestNames: any name becomes a label that Prometheus accepts.
func TestNames(t *testing.T) {
	m := newMeter(10, noDrops, nothing{})
	long := strings.Repeat("ä", 1000)
	names := []string{"", "?", "a\xffb", "q\"uo\\te\n", long, long + "b", "other"}
	for _, name := range names {
		m.Call(fake(name, name, 1), true)
	}
	m.End(&pipeline.Totals{})
	all := scraped(t, m)
	assert.Len(t, all, len(names)-1, "the long ones are one")
	for key := range all {
		assert.True(t, utf8.ValidString(key), "%q", key)
		assert.LessOrEqual(t, len(key), 2*maxValue+20)
	}
	assert.Contains(t, all, "q\"uo\\te\n\x00q\"uo\\te\n\x00kryo\x00?")
}

// TestNoAllocation: counting a call of a known group needs no memory.
func TestNoAllocation(t *testing.T) {
	m := newMeter(10, noDrops, nothing{})
	c := fake("S", "m", 100)
	generic := fake("S", "$invoke", 100)
	generic.Request.Details = &call.Details{Details: rpc.Details{GenericMethod: "m"}}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		m.Call(c, true)
		m.Call(generic, true)
	}))
	assert.Len(t, m.groups.order, 1)
}

func BenchmarkCall(b *testing.B) {
	m := newMeter(10, noDrops, nothing{})
	c := fake("S", "m", 100)
	for b.Loop() {
		m.Call(c, true)
	}
}

// TestLatency: buckets are those of the client library, and both forms have all latencies.
func TestLatency(t *testing.T) {
	classic := make([]float64, len(bounds))
	for i, bound := range bounds {
		classic[i] = float64(bound) / 1e9
	}
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "h", Buckets: classic, NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: prometheus.NativeHistogramZeroThresholdZero,
	})
	var ours, other latency
	check := func() {
		var a, b dto.Metric
		require.NoError(t, h.Write(&a))
		require.NoError(t, (&histogram{&ours, []string{"", "", "", ""}}).Write(&b))
		assert.InDelta(t, a.Histogram.GetSampleSum(), b.Histogram.GetSampleSum(), 1e-6*a.Histogram.GetSampleSum())
		a.Histogram.SampleSum, a.Histogram.CreatedTimestamp = b.Histogram.SampleSum, nil
		assert.Equal(t, a.Histogram.String(), b.Histogram.String())
	}
	check()
	all := []int64{0, 1, 999, 100_000, 100_001, 1 << 20, 999_999_999, 1_000_000_000, 2_000_000_000, 30_000_000_000, 30_000_000_001, math.MaxInt64 / 64}
	for ns := int64(1); ns < 1e12; ns += ns/7 + 1 {
		all = append(all, ns)
	}
	for i, ns := range all {
		h.Observe(float64(ns) / 1e9)
		if i%2 == 0 {
			ours.add(ns)
		} else {
			other.add(ns)
		}
	}
	ours.merge(&other)
	check()
	ours.add(-5)
	h.Observe(0)
	check()
	c := ours.clone()
	ours.add(1)
	assert.NotEqual(t, c.native, ours.native)
}

// TestNative: Prometheus gets native buckets beside the classic ones if it asks for them.
func TestNative(t *testing.T) {
	m := newMeter(10, noDrops, nothing{})
	m.Call(fake("S", "m", 100), true)
	m.End(&pipeline.Totals{})
	text := scrape(t, m, "")["dubbo_wire_latency_seconds"].Metric[0].Histogram
	assert.Len(t, text.Bucket, len(bounds)+1)
	assert.Empty(t, text.PositiveSpan)
	native := scrape(t, m, string(expfmt.NewFormat(expfmt.TypeProtoDelim)))["dubbo_wire_latency_seconds"].Metric[0].Histogram
	assert.Len(t, native.Bucket, len(bounds))
	assert.Len(t, native.PositiveSpan, 1)
	assert.EqualValues(t, schema, native.GetSchema())
	assert.EqualValues(t, 1, native.GetSampleCount())
	assert.InDelta(t, 0.002, native.GetSampleSum(), 1e-12)
}

// TestBusy: a capture that does not answer makes a scrape fail, so that no old number is taken for a new one; one that does is asked once a
// second at most.
func TestBusy(t *testing.T) {
	m := newMeter(10, noDrops, nothing{})
	answered := make(chan *snapshot)
	go func() {
		s, _ := m.snapshot()
		answered <- s
	}()
	require.Eventually(t, m.asked.Load, 5*time.Second, time.Millisecond)
	m.publish(&pipeline.Totals{Packets: 7}, 1, 2, false)
	s := <-answered
	assert.EqualValues(t, 7, s.counters[packets])
	if again, err := m.snapshot(); time.Since(s.at) < fresh {
		assert.NoError(t, err)
		assert.Same(t, s, again)
		assert.False(t, m.asked.Load())
	}
}

// TestWritten: the documentation has every metric, and it, the alerts and the dashboard have no others.
func TestWritten(t *testing.T) {
	m, _, totals := read(t, testkit.Get(t, "bid-plain").Path(), 1, nil)
	m.groups.choose()
	m.End(totals)
	served := map[string]bool{}
	for name := range scrape(t, m, "") {
		if strings.HasPrefix(name, "dubbo_wire_") {
			served[name] = true
		}
	}
	for i, file := range []string{"docs/metrics.md", "examples/prometheus/alerts.yml", "examples/prometheus/alerts_test.yml", "examples/grafana/dubbo-wire.json"} {
		text, err := os.ReadFile(filepath.Join(testkit.Root(), file))
		require.NoError(t, err)
		written := map[string]bool{}
		for _, name := range regexp.MustCompile(`dubbo_wire_\w+`).FindAllString(string(text), -1) {
			if _, ok := served[name]; !ok {
				name = strings.TrimSuffix(name, "_bucket")
			}
			written[name] = true
			assert.Contains(t, served, name, file)
		}
		if i == 0 {
			assert.Equal(t, served, written)
			for _, limit := range append(slices.Collect(maps.Values(limits)), "metrics-series") {
				assert.Contains(t, string(text), "`"+limit+"`")
			}
		}
	}
}
