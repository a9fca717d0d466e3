package estimate

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"dubbo-wire/internal/sizes"
)

// Result is what calls weigh, and cost, in targets.
type Result struct {
	By     sizes.By
	Inputs []string
	Groups []*Group
	// Calls counts the selected calls that have a request, WithoutRequest the other ones, Sampled those of the sample.
	Calls, WithoutRequest, Sampled int64
	// Compressed counts the selected calls of which a body was compressed when it was observed.
	Compressed int64
	// PerMethod is the number of calls that were sampled of each method, 0 if all were.
	PerMethod int
	// Seconds is the time that the capture covers.
	Seconds float64
	// Release is that of the plan, "" without one; Guessed is set if it is known only from the calls.
	Release      string
	Guessed      bool
	Observed     []string
	Calibrations []*Calibration
	Targets      []*TargetResult
	// JVMs and CPU name what the times are from. Problems are machines that ended early.
	JVMs     []string
	CPU      string
	Problems []string
	// Stopped is set if a signal ended the machines, Unfinished if a machine has not encoded all sampled calls.
	Stopped, Unfinished bool

	calls []*sampled // in capture order
}

// TargetResult is a row of the table.
type TargetResult struct {
	*Target
	// Groups are by the index of Result.Groups, nil where no call of the group belongs to the target. All has all calls.
	Groups []*GroupResult
	All    *GroupResult
	// Sampled counts the calls that were encoded, or were not and why.
	Sampled int64
	Failed  []Cause
	// Unreadable are encoded calls whose bodies the serialization cannot decode again. They are known if times are measured.
	Unreadable []Cause
	// BytesPerMonth is the bytes of the frames of all calls in 30 days at the rate of the capture, as if those that were not encoded were like the
	// others; nil if it is not known.
	BytesPerMonth *int64
	// Calibration is that of the calls with which the calibration is worst, nil if none is known or all are good.
	Calibration *Calibration

	index int
}

// Measures are sizes in bytes, by direction.
type Measures struct{ Request, Response, RequestFrame, ResponseFrame sizes.Stat }

func (m *Measures) add(request, response, requestFrame, responseFrame int64, hasResponse bool, n int64) {
	m.Request.AddN(request, n)
	m.RequestFrame.AddN(requestFrame, n)
	if hasResponse {
		m.Response.AddN(response, n)
		m.ResponseFrame.AddN(responseFrame, n)
	}
}

// Merge adds other calls.
func (m *Measures) Merge(o *Measures) {
	m.Request.Merge(&o.Request)
	m.Response.Merge(&o.Response)
	m.RequestFrame.Merge(&o.RequestFrame)
	m.ResponseFrame.Merge(&o.ResponseFrame)
}

// FrameBytes returns the bytes of all frames.
func (m *Measures) FrameBytes() int64 { return m.RequestFrame.Total + m.ResponseFrame.Total }

// GroupResult is a group in a target. Counts are of calls; a sampled call counts for all that it stands for.
type GroupResult struct {
	// Calls counts all calls that the target is about, Encoded those of them that were encoded.
	Calls, Encoded int64
	// Estimated and Observed are of the calls that were encoded. Observed is nil for what is measured.
	Estimated Measures
	Observed  *Measures
	// Encode and Decode are the CPU time per call, nil if they were not measured.
	Encode, Decode *Range
	// Error is the error of sampling, nil if all calls were encoded.
	Error *SamplingError

	strata map[*method]*moments
}

// Range is nanoseconds.
type Range struct{ Low, High int64 }

// SamplingError is what a sample may be off by, at 95 % confidence: the means in bytes, the ratio of the bytes of frames in percent.
type SamplingError struct{ Request, Response, Frames float64 }

// Cause is why calls are not estimated.
type Cause struct {
	Text  string
	Calls int64
	State string // failed or notDecoded
}

// maxCauses bounds the causes that are counted one by one.
const maxCauses = 200

// moments are sums over the sampled calls of a method in a group.
type moments struct {
	calls     int64 // that it stands for
	n         float64
	responses float64
	// Sums of the sizes of requests and responses, of frames as estimated and observed, and of squares and a product.
	request, request2, response, response2, y, x, yy, xx, xy float64
}

// Close removes what the collector has kept on disk.
func (c *Collector) Close() { c.spool.close() }

// Calls returns the number of selected calls.
func (c *Collector) Calls() (n int64) {
	for _, m := range c.sample.list {
		n += m.calls
	}
	return n + c.without
}

// Nothing returns the most frequent cause if there are targets and no call was encoded in any, else "".
func (r *Result) Nothing() string {
	cause := Cause{}
	for _, t := range r.Targets {
		switch {
		case t.Measured:
		case t.All.Encoded > 0 || r.Stopped:
			return ""
		case len(t.Failed) > 0 && t.Failed[0].Calls > cause.Calls:
			cause = t.Failed[0]
		}
	}
	if len(r.Problems) > 0 {
		return r.Problems[0]
	}
	return cause.Text
}

// LibraryMissing reports whether a cause is that the jars of Dubbo lack a library.
func LibraryMissing(cause string) bool {
	return strings.Contains(cause, "ClassNotFoundException: ") || strings.Contains(cause, "NoClassDefFoundError: ")
}

// Observed returns the serializations of the calls that were collected.
func (c *Collector) Observed() (names []string) {
	for _, o := range c.order {
		names = append(names, o.name)
	}
	return names
}

// Setup is what an estimate needs besides the calls.
type Setup struct {
	// Plan is nil if no Java virtual machine is needed. Registered and Usable are as in Collector.Plan.
	Plan       *Plan
	Registered bool
	Usable     func(release string) string
	Runner     Runner
	Timing     bool
	// Prepare, if set, is called with the targets of each release before the first machine starts.
	Prepare func(targets map[string][]string) error
	// Progress, if set, is called with the number of messages that were encoded, and of all.
	Progress func(done, all int)
	// Seconds is the time that the capture covers.
	Seconds float64
}

// Estimate estimates what was collected. When ctx ends, the result has what is done.
func (c *Collector) Estimate(ctx context.Context, s *Setup) (*Result, error) {
	calls := c.sample.take()
	res := &Result{By: c.opt.By, Inputs: c.opt.Inputs, Groups: c.groups, WithoutRequest: c.without, Compressed: c.compressed, Sampled: int64(len(calls)), Seconds: s.Seconds, Observed: c.Observed()}
	for _, m := range c.sample.list {
		res.Calls += m.calls
	}
	if res.Sampled < res.Calls {
		res.PerMethod = c.sample.limit
	}
	var targets []*Target
	var runs []*run
	if s.Plan != nil {
		res.Release, res.Guessed = s.Plan.Release, s.Plan.Guessed
		res.Calibrations = s.Plan.observe(s.Registered, s.Usable)
		targets, runs = s.Plan.Targets, s.Plan.runs
	}
	targets = append(slices.Clip(targets), c.plainTargets()...)
	for _, k := range calls {
		k.results = make([]cell, len(targets))
	}
	if err := c.run(ctx, s, runs, calls, res); err != nil {
		return nil, err
	}
	for _, k := range calls {
		for i, t := range targets {
			cell := &k.results[i]
			switch {
			case t.Of != "" && t.Of != k.method.observed:
			case t.size != nil && t.Release == "" && t.Of != "":
				t.size(k, cell)
			case k.cause != "":
				cell.state, cell.cause = notDecoded, k.cause
			case t.size != nil:
				t.size(k, cell)
			default:
				cell.finish(k)
			}
		}
	}
	for i, k := range res.Calibrations {
		res.Calibrations[i] = k.best()
	}
	for _, o := range c.order {
		res.Targets = append(res.Targets, c.measured(o))
	}
	for i, t := range targets {
		if !t.hidden {
			res.Targets = append(res.Targets, c.addUp(t, i, calls, res))
		}
	}
	res.times(runs, targets)
	slices.SortFunc(calls, func(a, b *sampled) int { return cmp.Compare(a.Frame, b.Frame) })
	res.calls = calls
	return res, nil
}

// run encodes the calls in the machines.
func (c *Collector) run(ctx context.Context, s *Setup, runs []*run, calls []*sampled, res *Result) error {
	if len(runs) == 0 {
		return nil
	}
	var jobs []job
	for _, k := range calls {
		if k.cause != "" {
			continue
		}
		jobs = append(jobs, job{k, false})
		if k.hasResponse {
			jobs = append(jobs, job{k, true})
		}
	}
	if len(jobs) == 0 || ctx.Err() != nil {
		res.Stopped = ctx.Err() != nil
		res.Unfinished = res.Stopped
		return nil
	}
	needed := make(map[string][]string)
	for _, r := range runs {
		r.jobs = jobs
		needed[r.vm.Release] = append(needed[r.vm.Release], r.vm.Targets...)
	}
	if s.Prepare != nil {
		if err := s.Prepare(needed); err != nil {
			if ctx.Err() != nil {
				res.Stopped, res.Unfinished = true, true
				return nil
			}
			return err
		}
	}
	var done atomic.Int64
	encodeAll(ctx, s.Runner, runs, s.Timing, func(n int) {
		if s.Progress != nil {
			s.Progress(int(done.Add(int64(n))), len(jobs)*len(runs))
		}
	})
	for _, r := range runs {
		if problem := r.problem(); problem != "" {
			res.Problems = append(res.Problems, problem)
		}
		if r.jvm != "" && !slices.Contains(res.JVMs, r.jvm) {
			res.JVMs = append(res.JVMs, r.jvm)
		}
		res.Unfinished = res.Unfinished || r.done < len(jobs)
		if len(r.timings) > 0 {
			res.CPU = processor()
		}
	}
	res.Stopped = ctx.Err() != nil
	return nil
}

// measured returns the row of an observed serialization. All its calls are in it, not only the sampled ones.
func (c *Collector) measured(o *observed) *TargetResult {
	t := &TargetResult{Target: &Target{As: o.name, Of: o.name, Measured: true}, Groups: make([]*GroupResult, len(c.groups)), All: new(GroupResult), Sampled: o.calls}
	for g, m := range o.groups {
		t.Groups[g] = &GroupResult{Calls: m.Request.Count, Encoded: m.Request.Count, Estimated: *m}
	}
	for _, g := range t.Groups {
		if g != nil {
			t.All.Calls, t.All.Encoded = t.All.Calls+g.Calls, t.All.Encoded+g.Encoded
			t.All.Estimated.Merge(&g.Estimated)
		}
	}
	if missing := o.calls - t.All.Calls; missing > 0 {
		t.All.Calls = o.calls
		t.Failed = []Cause{{incomplete, missing, "notDecoded"}}
	}
	return t
}

// addUp adds up the sampled calls in a target.
func (c *Collector) addUp(t *Target, index int, calls []*sampled, res *Result) *TargetResult {
	out := &TargetResult{Target: t, Groups: make([]*GroupResult, len(c.groups)), All: new(GroupResult), index: index}
	ran, shared := make(map[*method]int64), make(map[*method]int64)
	for _, k := range calls {
		if k.results[index].state != notRun {
			ran[k.method]++
		}
	}
	causes := make(map[Cause]*Cause) // by what is alike
	for _, k := range calls {
		cell := &k.results[index]
		if cell.state == notRun {
			continue
		}
		out.Sampled++
		// A sampled call stands for itself and for others, so that all of a method add up to its calls.
		i, n, all := shared[k.method], ran[k.method], k.method.calls
		shared[k.method]++
		weight := all/n + (all%n*(i+1)/n - all%n*i/n)
		g := out.Groups[k.group]
		if g == nil {
			g = &GroupResult{Observed: new(Measures), strata: make(map[*method]*moments)}
			out.Groups[k.group] = g
		}
		g.Calls += weight
		if cell.state != encoded {
			key := Cause{Text: alike(cell.cause), State: stateNames[cell.state]}
			if len(causes) >= maxCauses && causes[key] == nil {
				key.Text = "other causes"
			}
			cause := causes[key]
			if cause == nil {
				cause = &Cause{Text: general(cell.cause), State: key.State}
				causes[key] = cause
			}
			cause.Calls += weight
			continue
		}
		g.Encoded += weight
		request, response := t.frames(k, cell)
		g.Estimated.add(int64(cell.request), int64(cell.response), request, response, k.hasResponse, weight)
		g.Observed.add(int64(k.request.bodyBytes), int64(k.response.bodyBytes), int64(k.request.frameBytes), int64(k.response.frameBytes), k.hasResponse, weight)
		m := g.strata[k.method]
		if m == nil {
			m = new(moments)
			g.strata[k.method] = m
		}
		m.add(k, cell, float64(request+response), float64(k.request.frameBytes)+float64(k.response.frameBytes), weight)
	}
	for _, cause := range causes {
		out.Failed = append(out.Failed, *cause)
	}
	sortCauses(out.Failed)
	all := out.All
	all.Observed, all.strata = new(Measures), make(map[*method]*moments)
	for _, g := range out.Groups {
		if g == nil {
			continue
		}
		all.Calls, all.Encoded = all.Calls+g.Calls, all.Encoded+g.Encoded
		all.Estimated.Merge(&g.Estimated)
		all.Observed.Merge(g.Observed)
		for m, o := range g.strata {
			if all.strata[m] == nil {
				all.strata[m] = new(moments)
			}
			all.strata[m].merge(o)
		}
		g.Error = g.samplingError()
	}
	all.Error = all.samplingError()
	if t.Of == "" && t.size == nil {
		for _, k := range res.Calibrations {
			if k.Bodies > 0 && !k.Good() && (out.Calibration == nil || k.Off*max(out.Calibration.Bytes, 1) > out.Calibration.Off*max(k.Bytes, 1)) {
				out.Calibration = k
			}
		}
	}
	return out
}

// times adds up the times of the machines.
func (r *Result) times(runs []*run, targets []*Target) {
	for _, t := range r.Targets {
		t.BytesPerMonth = PerMonth(t.All, r.Seconds)
		if t.Measured {
			continue
		}
		type key struct {
			method   int
			response bool
		}
		times := make(map[key]Timing)
		for _, run := range runs {
			for i, c := range run.columns {
				if targets[c.target] != t.Target {
					continue
				}
				for _, x := range run.timings {
					if x.Target == i {
						times[key{x.Group, x.Response}] = x
					}
				}
			}
		}
		if len(times) == 0 {
			continue
		}
		unreadable := make(map[string]int64)
		for m, sum := range t.All.strata {
			if text := times[key{int(m.timed()), false}].Unreadable; text != "" {
				unreadable[general(text)] += sum.calls
			} else if text := times[key{int(m.timed()), true}].Unreadable; text != "" {
				unreadable["response: "+general(text)] += sum.calls
			}
		}
		for text, n := range unreadable {
			t.Unreadable = append(t.Unreadable, Cause{Text: text, Calls: n})
		}
		sortCauses(t.Unreadable)
		for _, g := range append(slices.Clone(t.Groups), t.All) {
			if g == nil || g.Encoded == 0 {
				continue
			}
			var n float64
			var sums [4]float64
			known := [2]bool{true, true}
			for m, sum := range g.strata {
				weight := float64(sum.calls)
				n += weight
				for _, response := range [2]bool{false, true} {
					share := weight
					if response {
						share *= sum.responses / sum.n
					}
					if share == 0 {
						continue
					}
					x, ok := times[key{int(m.timed()), response}]
					for i, v := range [4]int64{x.EncodeLow, x.EncodeHigh, x.DecodeLow, x.DecodeHigh} {
						sums[i] += share * float64(v)
						known[i/2] = known[i/2] && ok && v >= 0
					}
				}
			}
			if known[0] && n > 0 {
				g.Encode = &Range{int64(math.Round(sums[0] / n)), int64(math.Round(sums[1] / n))}
			}
			if known[1] && n > 0 {
				g.Decode = &Range{int64(math.Round(sums[2] / n)), int64(math.Round(sums[3] / n))}
			}
		}
	}
}

// month is 30 days in seconds.
const month = 30 * 24 * 3600

// PerMonth returns the bytes of the frames of all calls of a group in 30 days at the rate of a capture of some seconds, nil if it is not known.
// Calls that were not encoded count as the others do.
func PerMonth(g *GroupResult, seconds float64) *int64 {
	if seconds <= 0 || g.Encoded == 0 {
		return nil
	}
	v := math.Round(float64(g.Estimated.FrameBytes()) / float64(g.Encoded) * float64(g.Calls) / seconds * month)
	if v >= math.MaxInt64 {
		return nil
	}
	n := int64(v)
	return &n
}

func (m *moments) add(k *sampled, c *cell, y, x float64, weight int64) {
	m.calls += weight
	m.n++
	m.request += float64(c.request)
	m.request2 += float64(c.request) * float64(c.request)
	if k.hasResponse {
		m.responses++
		m.response += float64(c.response)
		m.response2 += float64(c.response) * float64(c.response)
	}
	m.y, m.x, m.yy, m.xx, m.xy = m.y+y, m.x+x, m.yy+y*y, m.xx+x*x, m.xy+x*y
}

func (m *moments) merge(o *moments) {
	m.calls, m.n, m.responses = m.calls+o.calls, m.n+o.n, m.responses+o.responses
	m.request, m.request2, m.response, m.response2 = m.request+o.request, m.request2+o.request2, m.response+o.response, m.response2+o.response2
	m.y, m.x, m.yy, m.xx, m.xy = m.y+o.y, m.x+o.x, m.yy+o.yy, m.xx+o.xx, m.xy+o.xy
}

// samplingError returns the error of a stratified sample, nil if it has all calls.
func (g *GroupResult) samplingError() *SamplingError {
	var all, responses, x, y float64
	sampled := false
	for _, m := range g.strata {
		w := float64(m.calls) / m.n
		all += float64(m.calls)
		responses += w * m.responses
		x, y = x+w*m.x, y+w*m.y
		sampled = sampled || float64(m.calls) > m.n
	}
	if !sampled {
		return nil
	}
	ratio := 0.0
	if x > 0 {
		ratio = y / x
	}
	var request, response, frames float64
	for _, m := range g.strata {
		// variance is that of the sum over a method of numbers with these sums over n sampled ones.
		variance := func(n, sum, squares, all float64) float64 {
			if n < 2 || all <= n {
				return 0
			}
			s2 := max(squares-sum*sum/n, 0) / (n - 1)
			return all * all * (1 - n/all) * s2 / n
		}
		calls := float64(m.calls)
		request += variance(m.n, m.request, m.request2, calls)
		response += variance(m.responses, m.response, m.response2, calls/m.n*m.responses)
		frames += variance(m.n, m.y-ratio*m.x, m.yy-2*ratio*m.xy+ratio*ratio*m.xx, calls)
	}
	const z95 = 1.96
	e := &SamplingError{Request: z95 * math.Sqrt(request) / all}
	if responses > 0 {
		e.Response = z95 * math.Sqrt(response) / responses
	}
	if x > 0 {
		e.Frames = 100 * z95 * math.Sqrt(frames) / x
	}
	return e
}

var stateNames = [...]string{notRun: "", encoded: "encoded", failed: "failed", notDecoded: "notDecoded"}

// particular matches what differs between causes that are the same: offsets and indexes.
var particular = regexp.MustCompile(` at body offset \d+|\[\d+\]`)

// general returns a cause without what differs from call to call.
func general(cause string) string {
	return particular.ReplaceAllStringFunc(cause, func(s string) string {
		if s[0] == '[' {
			return "[*]"
		}
		return ""
	})
}

// maxAlike is the number of bytes in which causes differ if they do.
const maxAlike = 160

// alike returns what causes that are the same have in common: those of generated classes differ in numbers.
func alike(cause string) string {
	text := digits.ReplaceAllString(general(cause), "0")
	return text[:min(len(text), maxAlike)]
}

var digits = regexp.MustCompile(`\d+`)

func sortedCauses(counts map[string]int64) (list []Cause) {
	for text, n := range counts {
		list = append(list, Cause{Text: text, Calls: n, State: stateNames[failed]})
	}
	sortCauses(list)
	return list
}

func sortCauses(list []Cause) {
	slices.SortFunc(list, func(a, b Cause) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Text, b.Text)) })
}

// Row is a call in a target.
type Row struct {
	Frame                                          int64
	File                                           string
	Service, Method                                string
	Observed                                       string
	ObservedRequest, ObservedResponse              int64 // a response of -1: there is none that was successful
	As, Release, State, Cause                      string
	Request, Response, RequestFrame, ResponseFrame int64 // if State is encoded
}

// Rows calls f for each sampled call and target, in capture order.
func (r *Result) Rows(f func(*Row)) {
	for _, k := range r.calls {
		for _, t := range r.Targets {
			if t.Measured || k.results[t.index].state == notRun {
				continue
			}
			c := &k.results[t.index]
			row := &Row{
				Frame: k.Frame, Service: "?", Method: "?", Observed: k.method.observed, ObservedRequest: int64(k.request.bodyBytes), ObservedResponse: -1,
				As: t.As, Release: t.Release, State: stateNames[c.state], Cause: c.cause, Response: -1,
			}
			if int(k.File) < len(r.Inputs) {
				row.File = r.Inputs[k.File]
			}
			row.Service, row.Method = k.service, k.name
			if k.hasResponse {
				row.ObservedResponse = int64(k.response.bodyBytes)
			}
			if c.state == encoded {
				row.Request = int64(c.request)
				row.RequestFrame, row.ResponseFrame = t.frames(k, c)
				if k.hasResponse {
					row.Response = int64(c.response)
				}
			}
			f(row)
		}
	}
}
