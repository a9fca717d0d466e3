package main

import (
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// collector is the sink of a run that ends in a report: groups, and what else the report is to show.
type collector struct {
	a        *analyzeFlags
	p        *parsedAnalyze
	groups   *sizes.Aggregator
	pairs    *sizes.Pairs
	timeline *sizes.Timeline
	worst    []*sizes.Worst
	findings *findings.Collector
}

func (c *collector) Frame(*pipeline.Row) {}

func (c *collector) Call(k *call.Call, selected bool) {
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

// Of each method so many calls are looked into in each lane, as long as their bodies have not more bytes: few enough that
// it takes little beside the measuring of all.
const (
	sampleCalls = 256
	sampleBytes = 192 << 10
	// Of a capture with no more packets all calls are looked into.
	samplePackets = 4096
)

// collect sets a run up for what the flags and the targets ask for.
func (a *analyzeFlags) collect(p *parsedAnalyze, inputs []string, targets []*output.Target, opt *pipeline.Options) *collector {
	has := func(formats ...string) bool { return output.Any(targets, formats...) }
	c := &collector{a: a, p: p, groups: sizes.New(p.by, a.maxGroups, inputs)}
	read := has("table", "markdown", "html") // by people
	inside := a.details || has("html", "pprof", "folded")
	opt.Detail = max(opt.Detail, a.detail())
	for _, preset := range p.presets {
		top := a.top
		if top == 0 {
			top = report.DefaultTop
		}
		c.worst = append(c.worst, sizes.NewWorst(preset, top))
		if preset == sizes.Errors {
			opt.Detail = dubbo.Values // classes of exceptions are among the values
		}
	}
	if read || a.findings {
		c.findings = findings.New()
		opt.Sample = pipeline.Sample{Calls: sampleCalls, Bytes: sampleBytes, Packets: samplePackets, Bodies: true}
	}
	if inside {
		opt.Sample.Calls, opt.Sample.Bytes, opt.Sample.Paths = pipeline.AllCalls, 0, true
	}
	if p.sample != unset {
		opt.Sample.Calls, opt.Sample.Bytes, opt.Sample.Packets = p.sample, 0, 0
	}
	if opt.Sample.Calls == pipeline.AllCalls {
		opt.Detail = dubbo.Values
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

// report is what was collected.
func (c *collector) report(inputs []capture.Input, t *pipeline.Totals, opt *pipeline.Options) *report.Report {
	withoutBodies(t)
	r := report.Build(inputs, t, c.p.by, c.groups.Groups())
	r.Filtered = !c.p.filter.empty
	r.Parts = c.a.parts || opt.Sample.Calls == pipeline.AllCalls
	r.Inside, r.Details = opt.Sample.Paths, c.a.details
	r.Pairs, r.Timeline, r.Worst = c.pairs, c.timeline, c.worst
	if c.findings != nil {
		r.Findings, r.Basis = c.findings.Findings(t), c.findings.Basis()
	}
	if !r.Parts && opt.Sample.Calls != 0 {
		r.Estimate()
	}
	return r
}

// unset is a --sample that was not given.
const unset = -2

// parseSample reads --sample.
func parseSample(text string) (int, error) {
	switch text {
	case "":
		return unset, nil
	case "all":
		return pipeline.AllCalls, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, exit.Usagef("--sample %s: write a number of calls, or all", text)
	}
	return n, nil
}

// explainCommand is what shows a frame of the same files: frames are numbered over all of them.
func explainCommand(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = report.ShellWord(arg)
	}
	files := strings.Join(quoted, " ")
	if len(files) > 200 {
		files = quoted[0] + " ... " + quoted[len(quoted)-1] // the same files as here
	}
	return "dubbo-wire explain " + files
}
