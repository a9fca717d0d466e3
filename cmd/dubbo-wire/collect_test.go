package main

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// collected runs the pipeline over captures with what a page and all presets ask for.
func collected(t *testing.T, cfg measure.Config, jobs int, files ...string) *report.Report {
	t.Helper()
	cfg.Presets = []sizes.Preset{sizes.BigRequests, sizes.BigResponses, sizes.Slow, sizes.Errors}
	cfg.Top, cfg.Filter, cfg.Formats = 3, &measure.Filter{}, []string{"html", "table"}
	if len(cfg.By.Keys) == 0 {
		cfg.By = sizes.DefaultBy()
	}
	src, err := capture.Open(files, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Jobs: jobs}
	c := cfg.Collect(files, &opt)
	totals, err := pipeline.Run(src, opt, c)
	require.NoError(t, err)
	r, err := c.Report(src.Inputs(), totals)
	require.NoError(t, err)
	return r
}

// Whatever a report is cut by, it is all of the same bytes: the anatomies are the bodies, the pairs are the groups, the slots
// of time are the link; and presets name the calls that a look at all of them finds.
func sectionsAddUp(t *testing.T, p *printed) {
	r := collected(t, measure.Config{Sample: measure.AsNeeded}, 1, p.path)
	for _, g := range r.Groups {
		if in := g.Anatomy; in != nil {
			assert.Equal(t, g.Request.Body.Count, in.Request.Messages, g.Values)
			assert.Equal(t, g.Request.Body.Total, in.Request.Bytes, g.Values)
			assert.Equal(t, g.Response().Body.Count, in.Response.Messages, g.Values)
			assert.Equal(t, g.Response().Body.Total, in.Response.Bytes, g.Values)
			var classes [decode.ClassMissing]int64
			for _, a := range []*sizes.Anatomy{&in.Request, &in.Response} {
				for _, path := range a.Paths() {
					classes[path.Class] += path.Bytes
				}
			}
			assert.Equal(t, *g.Parts(), classes, g.Values)
		} else {
			assert.Zero(t, g.Request.Body.Total+g.Response().Body.Total, g.Values)
		}
	}
	pairs, n, complete := r.Pairs.Busiest(1 << 20)
	assert.Len(t, pairs, n)
	assert.True(t, complete)
	wire, calls := int64(0), int64(0)
	for _, pair := range pairs {
		wire += pair.WireBytes
		calls += pair.Calls
		assert.LessOrEqual(t, pair.Top().WireBytes, pair.WireBytes)
	}
	assert.Equal(t, r.Selected.WireBytes(), wire)
	assert.Equal(t, r.Selected.Calls, calls)
	_, _, slots := r.Timeline.Slots()
	var sum sizes.Slot
	for _, s := range slots {
		sum.LinkBytes += s.LinkBytes
		sum.RequestBytes += s.RequestBytes
		sum.ResponseBytes += s.ResponseBytes
		sum.Calls += s.Calls
		sum.Errors += s.Errors
	}
	assert.Equal(t, sizes.Slot{
		LinkBytes: r.Totals.LinkBytes, RequestBytes: r.Selected.Request.Frame.Total, ResponseBytes: r.Selected.Response().Frame.Total,
		Calls: r.Selected.Calls, Errors: r.Selected.Errors,
	}, sum)
	presetsAgree(t, r, p.path)
}

// everyCall keeps what presets choose from.
type everyCall struct {
	requests, responses, latencies []chosen
	failed                         int64
}

type chosen struct {
	number, frame int64
}

func (*everyCall) Frame(*pipeline.Row) {}

func (e *everyCall) Call(c *call.Call, _ bool) {
	if m := c.Request; m != nil && m.Complete {
		e.requests = append(e.requests, chosen{m.BodyBytes(), m.Number})
	}
	if m := c.Response; m != nil && m.Complete {
		e.responses = append(e.responses, chosen{m.BodyBytes(), m.Number})
		if ns, ok := c.Latency(); ok && ns >= 0 {
			e.latencies = append(e.latencies, chosen{ns, m.Number})
		}
	}
	if c.Failed() {
		e.failed++
	}
}

func presetsAgree(t *testing.T, r *report.Report, file string) {
	t.Helper()
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	all := &everyCall{}
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values}, all)
	require.NoError(t, err)
	for _, w := range r.Worst {
		calls, others := w.Calls()
		if w.Preset == sizes.Errors {
			failed := others
			for _, k := range calls {
				failed += k.Number
			}
			assert.Equal(t, all.failed, failed)
			continue
		}
		list := map[sizes.Preset][]chosen{sizes.BigRequests: all.requests, sizes.BigResponses: all.responses, sizes.Slow: all.latencies}[w.Preset]
		slices.SortStableFunc(list, func(a, b chosen) int { return cmp.Compare(b.number, a.number) })
		var want, have []int64
		for _, x := range list[:min(3, len(list))] {
			want = append(want, x.number)
		}
		for _, x := range calls {
			have = append(have, x.Number)
			assert.Contains(t, list, chosen{x.Number, x.Frame})
		}
		assert.Equal(t, want, have, w.Preset)
	}
}

// What is sampled of a capture that is larger than the sample is the same for any number of workers, and stands for the
// whole in proportion.
func TestSample(t *testing.T) {
	file := capturePath("fleet.pcap.zst")
	one := collected(t, measure.Config{Sample: 2}, 1, file)
	four := collected(t, measure.Config{Sample: 2}, 4, file)
	all := collected(t, measure.Config{Sample: pipeline.AllCalls}, 1, file)
	require.Equal(t, len(one.Groups), len(four.Groups))
	looked := int64(0)
	for i, g := range one.Groups {
		assert.Equal(t, g.Sampled(), four.Groups[i].Sampled())
		assert.Equal(t, g.Parts(), four.Groups[i].Parts())
		looked += g.Sampled()[0]
	}
	assert.Less(t, looked, one.Selected.Calls)
	assert.True(t, one.Sampled)
	assert.False(t, all.Sampled)
	sum := func(parts *sizes.ClassBytes) (n int64) {
		for _, x := range parts {
			n += x
		}
		return n
	}
	body := all.Selected.Request.Body.Total + all.Selected.Response().Body.Total
	assert.Equal(t, body, sum(all.Selected.Parts()))
	assert.InEpsilon(t, body, sum(one.Selected.Parts()), 1e-3)
	none := collected(t, measure.Config{}, 1, file)
	assert.False(t, none.Sampled)
}

// Of tens of thousands of methods the first ones of each group of connections are sampled, also among the first packets, and the report
// says so.
func TestSampledMethods(t *testing.T) {
	file := filepath.Join(t.TempDir(), "methods.pcap")
	_, err := traffic.WriteFile(file, traffic.Config{Size: 2_000_000, Mix: "methods", Connections: 1})
	require.NoError(t, err)
	sampled := func(r *report.Report) (values [][]string) {
		for _, g := range r.Groups {
			if g.Sampled()[0] > 0 {
				values = append(values, g.Values)
				assert.NotNil(t, g.Anatomy, g.Values)
			}
		}
		return values
	}
	one := collected(t, measure.Config{Sample: measure.AsNeeded}, 1, file)
	assert.Len(t, sampled(one), 512)
	assert.Greater(t, len(one.Groups), 1024)
	assert.Equal(t, sampled(one), sampled(collected(t, measure.Config{Sample: measure.AsNeeded}, 4, file)))
	assert.Contains(t, one.SampleNote(), "Bytes by path come from a sample: "+report.Count(one.Selected.Sampled()[0])+" of ")
	assert.Len(t, sampled(collected(t, measure.Config{Sample: pipeline.AllCalls}, 1, file)), len(one.Groups))
}

// An estimate weighs every method by its bytes, also where a group has several: the few calls that were sampled are not
// those that fill the wire.
func TestEstimate(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	for _, file := range []string{"loss.pcap.zst", "both-ends.pcap.zst", "fleet.pcap.zst"} {
		for _, keys := range []string{"server", "serialization", "service", "method"} {
			by, err := sizes.ParseBy(keys)
			require.NoError(t, err)
			few := collected(t, measure.Config{Sample: 3, By: by}, 1, capturePath(file))
			all := collected(t, measure.Config{Sample: pipeline.AllCalls, By: by}, 1, capturePath(file))
			require.True(t, few.Sampled)
			body := all.Selected.Request.Body.Total + all.Selected.Response().Body.Total
			for class, n := range all.Selected.Parts() {
				assert.InDelta(t, float64(n), float64(few.Selected.Parts()[class]), 0.04*float64(body), "%s by %s: %s", file, keys, decode.Class(class))
			}
		}
	}
}

// Labelled inputs are read alone, as if each were the only one: what two of them have in common is in both.
func TestLabels(t *testing.T) {
	fst, kryo := capturePath("fst.pcap.zst"), capturePath("kryo.pcap.zst")
	bothEnds, consumer := capturePath("both-ends.pcap.zst"), capturePath("both-ends.consumer.pcap.zst")
	groups := func(args ...string) map[string]int64 {
		var r struct {
			Groups []struct {
				Input string
				Calls int64
			}
		}
		require.NoError(t, json.Unmarshal([]byte(must(t, append([]string{"analyze", "--format", "json", "--by", "input"}, args...)...)), &r))
		calls := make(map[string]int64)
		for _, g := range r.Groups {
			calls[g.Input] = g.Calls
		}
		return calls
	}
	assert.Equal(t, map[string]int64{"x": 132, "y": 132}, groups("x="+fst, "y="+kryo))
	assert.Equal(t, map[string]int64{"x": 132, "y": 132}, groups("x="+fst, "y="+fst))
	assert.Equal(t, map[string]int64{"x": 134, "both-ends.consumer.pcap.zst": 134}, groups("x="+bothEnds, consumer))
	assert.Equal(t, map[string]int64{"both-ends.pcap.zst": 134, "both-ends.consumer.pcap.zst": 134}, groups(bothEnds, consumer))
	_, stderr, code := dubboWire("analyze", "x="+fst, "x="+kryo)
	assert.Equal(t, exit.Usage, code)
	assert.Contains(t, stderr, "the same label")
}
