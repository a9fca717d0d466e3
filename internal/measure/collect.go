package measure

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// Config says what is measured.
type Config struct {
	By        sizes.By
	ByGiven   bool // else saved reports keep their own grouping
	MaxGroups int  // 0 for sizes.DefaultMaxGroups
	Filter    *Filter

	Parts    bool // decode all bodies and sum their parts
	Details  bool
	Findings bool
	Presets  []sizes.Preset
	Top      int // calls of a preset; 0 for report.DefaultTop
	Sample   int // calls to sample of each method on each lane, AsNeeded, or pipeline.AllCalls
	// Formats are the formats that the report is printed in. They decide what is collected.
	Formats []string
}

// AsNeeded samples as many calls as the formats of the report need.
const AsNeeded = -2

// Collector is the sink of a run. It collects the groups and the other contents of a report.
type Collector struct {
	cfg      *Config
	opt      *pipeline.Options
	groups   *sizes.Aggregator
	pairs    *sizes.Pairs
	timeline *sizes.Timeline
	worst    []*sizes.Worst
	findings *findings.Collector
	prints   pipeline.Fingerprints
}

func (c *Collector) Frame(*pipeline.Row) {}

func (c *Collector) Call(k *call.Call, selected bool) {
	if !selected {
		return
	}
	c.groups.Call(k)
	if c.timeline != nil {
		c.timeline.Call(k)
	}
	for _, w := range c.worst {
		w.Call(k)
	}
	if c.findings != nil {
		c.findings.Call(k)
	}
}

// The default sample of each method on each lane: calls, and bytes of their bodies. It takes little time compared with
// measuring all calls.
const (
	sampleCalls = 256
	sampleBytes = 192 << 10
	// All calls of a capture with at most so many packets are sampled.
	samplePackets = 4096
	// So many are if bytes by path are printed, which are exact then.
	samplePathPackets = 16_384
)

// Collect returns the sink for a run and sets the run's options. inputs are the names of the inputs by index. opt must stay
// as it is until Report returns.
func (cfg *Config) Collect(inputs []string, opt *pipeline.Options) *Collector {
	has := func(formats ...string) bool {
		return slices.ContainsFunc(cfg.Formats, func(f string) bool { return slices.Contains(formats, f) })
	}
	c := &Collector{cfg: cfg, opt: opt, groups: sizes.New(cfg.By, cmp.Or(cfg.MaxGroups, sizes.DefaultMaxGroups), inputs)}
	opt.Fingerprints = &c.prints
	cfg.Filter.Apply(opt)
	detail := rpc.Envelope
	if cfg.Parts {
		detail = rpc.Parts
	}
	opt.Detail = max(opt.Detail, detail)
	for _, preset := range cfg.Presets {
		c.worst = append(c.worst, sizes.NewWorst(preset, cmp.Or(cfg.Top, report.DefaultTop)))
		if preset == sizes.Errors {
			opt.Detail, opt.Records = max(opt.Detail, rpc.Parts), true // an exception's class is a value
		}
	}
	read := has("table", "markdown", "html") // formats for people
	paths := cfg.Details || has("html", "pprof", "folded")
	if read || cfg.Findings || paths {
		opt.Sample = pipeline.Sample{Calls: sampleCalls, Bytes: sampleBytes, Packets: samplePackets, Paths: paths}
		if paths {
			opt.Sample.Packets = samplePathPackets
		}
	}
	if read || cfg.Findings {
		c.findings, opt.Sample.Bodies = findings.New(), true
	}
	opt.Borrow = !opt.Live // a row of a live capture may be kept
	if cfg.Sample != AsNeeded {
		opt.Sample.Calls, opt.Sample.Bytes, opt.Sample.Packets = cfg.Sample, 0, 0
	}
	if opt.Sample.Calls == pipeline.AllCalls {
		opt.Detail = rpc.Values
	}
	if read {
		c.pairs = sizes.NewPairs()
		c.groups.CountPairs(c.pairs)
	}
	if has("html") {
		c.timeline = new(sizes.Timeline)
		opt.Seen = c.timeline.Packet
		begin := opt.Begin
		opt.Begin = func(at int64) {
			c.timeline.Begin(at)
			if begin != nil {
				begin(at)
			}
		}
	}
	return c
}

// Report returns the report of what was collected. It fails if the totals do not balance.
func (c *Collector) Report(inputs []capture.Input, t *pipeline.Totals) (*report.Report, error) {
	if err := t.Balance(); err != nil {
		return nil, exit.Errorf(exit.Partly, "no report: %v", err)
	}
	// Here, how much of the bodies was decoded depends on the filter. Coverage must not depend on it.
	t.BodiesDecoded, t.BodiesPartly, t.BodiesOpaque, t.Causes = 0, 0, 0, nil
	r := report.Build(inputs, t, c.cfg.By, c.groups.Groups())
	r.Filtered, r.Filter = !c.cfg.Filter.Empty(), c.cfg.Filter.Text
	if c.cfg.Filter != nil {
		r.Filters, r.Side = c.cfg.Filter.Flags, c.cfg.Filter.Side
	}
	r.Fingerprints = &c.prints
	r.Inside, r.Details = c.opt.Sample.Paths, c.cfg.Details
	r.Parts = c.cfg.Parts || c.opt.Sample.Calls == pipeline.AllCalls || r.Inside && r.SampledAll()
	r.Pairs, r.Timeline, r.Worst = c.pairs, c.timeline, c.worst
	if c.findings != nil {
		r.Findings, r.Basis = c.findings.Findings(t), c.findings.Basis()
	}
	if !r.Parts && c.opt.Sample.Calls != 0 {
		r.Estimate()
	}
	return r, nil
}
