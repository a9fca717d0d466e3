package estimate

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// collect collects the calls of a committed capture.
func collect(t testing.TB, name string, jobs int, opt Options) *Collector {
	src, err := capture.Open([]string{testkit.Get(t, name).Path()}, capture.Options{})
	require.NoError(t, err)
	defer src.Close() //nolint:errcheck // only read
	opt.Inputs = []string{name}
	run := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Jobs: jobs}
	opt.TempDir = os.TempDir()
	c := NewCollector(opt, &run)
	t.Cleanup(c.Close)
	_, err = pipeline.Run(src, run, c)
	require.NoError(t, err)
	return c
}

// fake is a runner whose bodies are as large as the observed ones, or what size makes of them.
type fake struct {
	c      *Collector
	size   func(target string, j *job) EncodedBody
	dies   int // after so many records; 0: never
	vms    []VM
	finish error
}

type fakeChild struct {
	f        *fake
	vm       *VM
	received func(Encoded)
	jobs     []job
	sent     int
	timing   bool
}

func (f *fake) Start(_ context.Context, vm *VM, timing bool, received func(Encoded)) (Child, error) {
	if f.size == nil {
		return nil, errors.New("no such machine")
	}
	f.vms = append(f.vms, *vm)
	return &fakeChild{f: f, vm: vm, received: received, timing: timing}, nil
}

func (c *fakeChild) JVM() string { return "21 Fake VM" }

func (c *fakeChild) Send(record []byte) error {
	if c.f.dies > 0 && c.sent >= c.f.dies {
		return errors.New("it died")
	}
	c.sent++
	kind, id := record[0], int64(binary.BigEndian.Uint64(record[1:]))
	j := &c.jobs[id]
	if (kind == 2) != j.response {
		return errors.New("another kind")
	}
	e := Encoded{ID: id}
	for _, name := range c.vm.Targets {
		e.Targets = append(e.Targets, c.f.size(name, j))
	}
	c.received(e)
	return nil
}

func (c *fakeChild) Finish() ([]Timing, error) {
	var list []Timing
	for i := range c.vm.Targets {
		for g := range int32(maxTimed) {
			list = append(list, Timing{i, int(g), false, 100, 200, -1, -1, ""}, Timing{i, int(g), true, 10, 20, -1, -1, "no constructor [3]"})
		}
	}
	if !c.timing {
		list = nil
	}
	return list, c.f.finish
}

// same is a body as it was observed.
func same(j *job) EncodedBody {
	return EncodedBody{Bytes: j.message().plain, Hash: j.message().hash}
}

// estimateWith estimates with a fake runner, which gets the jobs of the machines.
func estimateWith(t *testing.T, c *Collector, f *fake, as ...string) *Result {
	usable := func(string) string { return "" }
	plan := c.Plan(as, "", false, usable)
	runner := &jobsRunner{fake: f, plan: plan}
	r, err := c.Estimate(context.Background(), &Setup{Plan: plan, Usable: usable, Runner: runner, Timing: true, Seconds: 30})
	require.NoError(t, err)
	return r
}

type jobsRunner struct {
	*fake
	plan *Plan
}

func (r *jobsRunner) Start(ctx context.Context, vm *VM, timing bool, received func(Encoded)) (Child, error) {
	child, err := r.fake.Start(ctx, vm, timing, received)
	if err != nil {
		return nil, err
	}
	for _, run := range r.plan.runs {
		if run.vm == vm {
			child.(*fakeChild).jobs = run.jobs
		}
	}
	return child, nil
}

func target(t *testing.T, r *Result, as string, measured bool) *TargetResult {
	i := slices.IndexFunc(r.Targets, func(t *TargetResult) bool { return t.As == as && t.Measured == measured })
	require.GreaterOrEqual(t, i, 0, as)
	return r.Targets[i]
}

// Both sides of a comparison have the same calls, and all is added up.
func TestAddUp(t *testing.T) {
	by, err := sizes.ParseBy("service,method")
	require.NoError(t, err)
	c := collect(t, "hessian2", 2, Options{Values: true, By: by})
	r := estimateWith(t, c, &fake{c: c, size: func(name string, j *job) EncodedBody {
		b := same(j)
		if name == "kryo" {
			b.Bytes, b.Hash = b.Bytes/2, [8]byte{}
		}
		if name == "kryo" && j.call.name == "createUser" && !j.response {
			return EncodedBody{Cause: "null in a primitive field of User[3].age"}
		}
		return b
	}}, "kryo", "hessian2")
	require.Len(t, r.Targets, 3)
	measured, kryo, again := target(t, r, "hessian2", true), target(t, r, "kryo", false), target(t, r, "hessian2", false)

	assert.EqualValues(t, 132, r.Calls)
	assert.EqualValues(t, 132, measured.All.Encoded)
	assert.Equal(t, measured.All.Estimated.Request.Total, again.All.Estimated.Request.Total)
	assert.Equal(t, measured.All.Estimated.FrameBytes(), again.All.Estimated.FrameBytes())
	assert.Nil(t, again.All.Error)

	require.Len(t, kryo.Failed, 1)
	assert.Equal(t, "null in a primitive field of User[*].age", kryo.Failed[0].Text)
	assert.Equal(t, kryo.All.Calls-kryo.All.Encoded, kryo.Failed[0].Calls)
	assert.Equal(t, kryo.All.Encoded, kryo.All.Observed.Request.Count)
	assert.Equal(t, kryo.All.Estimated.Request.Count, kryo.All.Observed.Request.Count)
	assert.Less(t, kryo.All.Observed.Request.Total, measured.All.Estimated.Request.Total)
	require.NotNil(t, kryo.BytesPerMonth)
	perCall := float64(kryo.All.Estimated.FrameBytes()) / float64(kryo.All.Encoded)
	assert.InEpsilon(t, perCall*132/30*month, float64(*kryo.BytesPerMonth), 1e-9)

	var total int64
	for i, g := range kryo.Groups {
		if g == nil {
			continue
		}
		assert.Equal(t, r.Groups[i].Calls, g.Calls)
		total += g.Estimated.Request.Total
		if g.Encoded > 0 {
			assert.Equal(t, &Range{110, 220}, g.Encode)
			assert.Nil(t, g.Decode)
		}
	}
	assert.Equal(t, total, kryo.All.Estimated.Request.Total)
	assert.Equal(t, []Cause{{Text: "response: no constructor [*]", Calls: kryo.All.Encoded}}, kryo.Unreadable)

	require.Len(t, r.Calibrations, 1)
	k := r.Calibrations[0]
	assert.True(t, k.Good())
	assert.Equal(t, k.Bodies, k.EqualBytes)
	assert.EqualValues(t, 2*132, k.Bodies)
	assert.Nil(t, kryo.Calibration)

	rows, failed := 0, 0
	r.Rows(func(x *Row) {
		rows++
		if x.State == "failed" {
			failed++
			assert.Equal(t, "null in a primitive field of User[3].age", x.Cause)
		}
	})
	assert.Equal(t, 2*132, rows)
	assert.EqualValues(t, kryo.Failed[0].Calls, failed)
}

// The calibration always runs, and bodies that come out in another size are named.
func TestCalibration(t *testing.T) {
	c := collect(t, "hessian2", 1, Options{Values: true})
	r := estimateWith(t, c, &fake{c: c, size: func(name string, j *job) EncodedBody {
		b := same(j)
		if name == "hessian2" && j.call.name == "getUser" && j.response {
			b.Bytes += 7
		}
		return b
	}}, "kryo")
	require.Len(t, r.Targets, 2, "the observed serialization was not asked for")
	k := r.Calibrations[0]
	assert.False(t, k.Good())
	assert.Equal(t, k.EqualSize, k.EqualBytes)
	list := k.Differences()
	require.Len(t, list, 2, "two services have such a method")
	assert.Equal(t, "org.apache.dubbo.benchmark.service.UserService/getUser", list[0].Method)
	assert.True(t, list[0].Response)
	assert.Equal(t, list[0].Differ+list[1].Differ, k.Bodies-k.EqualSize)
	assert.Equal(t, 7*list[0].Differ, list[0].AgainBytes-list[0].ObservedBytes)
	assert.Equal(t, 7*(k.Bodies-k.EqualSize), k.Off)
	assert.Same(t, k, target(t, r, "kryo", false).Calibration)
}

// A machine that ends early leaves the calls that it has encoded.
func TestMachineEnds(t *testing.T) {
	c := collect(t, "hessian2", 1, Options{Values: true})
	r := estimateWith(t, c, &fake{c: c, dies: 40, size: func(_ string, j *job) EncodedBody { return same(j) }}, "kryo")
	require.Len(t, r.Problems, 1)
	assert.Contains(t, r.Problems[0], "it died")
	kryo := target(t, r, "kryo", false)
	assert.InDelta(t, 20, float64(kryo.Sampled), 1)
	assert.NotNil(t, kryo.All.Error)
	assert.False(t, r.Stopped)

	r = estimateWith(t, collect(t, "hessian2", 1, Options{Values: true}), &fake{}, "kryo")
	require.NotEmpty(t, r.Problems)
	assert.Zero(t, target(t, r, "kryo", false).All.Encoded)
	assert.Contains(t, r.Nothing(), "no such machine")
}

// The sample is the same for any number of workers, and what it gives is near to what all calls give.
func TestSample(t *testing.T) {
	frames := func(jobs, sample int) (list []int64, r *Result) {
		c := collect(t, "hessian2", jobs, Options{Values: true, Sample: sample})
		r = estimateWith(t, c, &fake{c: c, size: func(_ string, j *job) EncodedBody { return same(j) }}, "kryo")
		r.Rows(func(x *Row) { list = append(list, x.Frame) })
		return list, r
	}
	one, r := frames(1, 3)
	several, _ := frames(4, 3)
	assert.Equal(t, one, several)
	assert.Less(t, r.Sampled, r.Calls)
	assert.Equal(t, 3, r.PerMethod)
	k := target(t, r, "kryo", false)
	assert.Equal(t, r.Calls, k.All.Calls, "sampled calls stand for all")
	all, whole := frames(1, All)
	assert.Len(t, all, int(whole.Calls))
	assert.Nil(t, target(t, whole, "kryo", false).All.Error)
}

// Sizes that a sample gives lie within its error as often as it says.
func TestSamplingError(t *testing.T) {
	by := sizes.By{}
	inside, runs := 0, 200
	for seed := range runs {
		s := newSample(40)
		c := &Collector{opt: Options{By: by}, sample: s, groups: []*Group{{}}}
		var sum float64
		const n = 1000
		for i := range n {
			m := s.method("S", []string{"a", "b"}[i%2], "x")
			size := int32(100 + mix(uint64(seed*n+i))%900*uint64(1+i%2*5))
			sum += float64(size)
			k := &sampled{hash: mix(uint64(i) + uint64(seed)<<32), method: m, request: message{prepared: &prepared{}, bodyBytes: 500, frameBytes: 516}}
			k.results = []cell{{request: size, state: encoded}}
			s.add(m, k)
		}
		r := c.addUp(&Target{As: "y"}, 0, s.take(), &Result{})
		require.EqualValues(t, n, r.All.Calls)
		if math.Abs(r.All.Estimated.Request.Mean()-sum/n) <= r.All.Error.Request {
			inside++
		}
	}
	assert.InDelta(t, 0.95, float64(inside)/float64(runs), 0.04)
}

// The sample lowers its limit to what fits, the same for each method.
func TestSampleLimit(t *testing.T) {
	s := newSample(0)
	for i := range 30_000 {
		name := "rare"
		if i%10 > 0 {
			name = []string{"a", "b"}[i%2]
		}
		m := s.method("S", name, "x")
		s.add(m, &sampled{hash: mix(uint64(i)), method: m, Frame: int64(i)})
	}
	assert.LessOrEqual(t, s.calls, sampleCalls)
	assert.Greater(t, s.calls, sampleCalls-5)
	for _, m := range s.list {
		assert.Equal(t, min(int(m.calls), s.limit), len(m.kept), m.name)
	}
	assert.Len(t, s.take(), s.calls)
}

// What is known of real Triple: the same calls of Dubbo 3.3.6 over the dubbo protocol and over Triple have the same bytes.
func TestTripleFraming(t *testing.T) {
	rows := func(name string, opt Options) map[string][][2]int64 {
		c := collect(t, name, 1, opt)
		r, err := c.Estimate(context.Background(), &Setup{})
		require.NoError(t, err)
		list := make(map[string][][2]int64)
		if !opt.Wrapped {
			for _, k := range r.calls {
				if k.hasResponse {
					list[k.name] = append(list[k.name], [2]int64{int64(k.request.frameBytes), int64(k.response.frameBytes)})
				}
			}
			return list
		}
		r.Rows(func(x *Row) {
			if x.State == "encoded" && x.Response >= 0 {
				list[x.Method] = append(list[x.Method], [2]int64{x.RequestFrame, x.ResponseFrame})
			}
		})
		return list
	}
	estimated, real := rows("hessian2-3.3.6", Options{Wrapped: true, Triple: true}), rows("triple-3.3.6", Options{})
	var equal, all int
	for name, list := range estimated {
		for i, e := range list[:min(len(list), len(real[name]))] {
			o := real[name][i]
			all++
			if o[0] -= e[0]; o[0] == 9 { // some requests end with an empty frame
				o[0] = 0
			}
			if o[0] == 0 && o[1] == e[1] {
				equal++
			}
		}
	}
	assert.Greater(t, all, 100)
	assert.Equal(t, all, equal)
}

// An attachment that is left out takes its key, its value and, in JSON, what is between entries.
func TestWithout(t *testing.T) {
	for name, bytes := range map[string]int64{"hessian2": 55, "fastjson": 58, "java": 58, "kryo": 56} {
		c := collect(t, name, 1, Options{Without: []string{"interface"}})
		r, err := c.Estimate(context.Background(), &Setup{})
		require.NoError(t, err)
		x := target(t, r, name+"-attachment:interface", false)
		require.Empty(t, x.Failed, name)
		r.Rows(func(x *Row) {
			if strings.HasSuffix(x.Service, "benchmark.EchoService") {
				assert.Equal(t, bytes, x.ObservedRequest-x.Request, name)
				assert.Equal(t, x.Request+dubboHeader, x.RequestFrame)
				assert.Equal(t, x.ObservedResponse, x.Response)
			}
		})
	}
	c := collect(t, "smartbuf", 1, Options{Without: []string{"path"}}) // its text is a symbol that interface refers to
	r, err := c.Estimate(context.Background(), &Setup{})
	require.NoError(t, err)
	assert.Contains(t, target(t, r, "smartbuf-attachment:path", false).Failed[0].Text, "refers to the attachment path")
}

func TestCompression(t *testing.T) {
	list := []Compression{{Name: "gzip"}, {Name: "gzip", Level: 1, Connection: true}, {Name: "zstd", Level: 19}, {Name: "zstd", Connection: true}, {Name: "snappy"}}
	c := collect(t, "hessian2", 1, Options{Compress: list})
	r, err := c.Estimate(context.Background(), &Setup{})
	require.NoError(t, err)
	require.Len(t, r.Targets, 6)
	for _, z := range list {
		x := target(t, r, "hessian2"+z.String(), false)
		assert.Equal(t, x.All.Calls, x.All.Encoded, x.As)
		assert.Less(t, x.All.Estimated.FrameBytes(), x.All.Observed.FrameBytes(), x.As)
	}
	assert.Less(t, target(t, r, "hessian2+zstd stream", false).All.Estimated.FrameBytes(), target(t, r, "hessian2+zstd:19", false).All.Estimated.FrameBytes())
	assert.Error(t, Compression{Name: "gzip", Level: 10}.Check())
	assert.Error(t, Compression{Name: "zstd", Level: 23}.Check())
	assert.NoError(t, Compression{Name: "zstd", Level: 22}.Check())
}

func TestPlan(t *testing.T) {
	c := collect(t, "hessian2", 1, Options{})
	only := func(release string) string {
		if release != "2.7.23" {
			return "needs the jars of Dubbo " + release
		}
		return ""
	}
	p := c.Plan([]string{"all"}, "2.7.23", true, only)
	names := make(map[string]*Target)
	for _, x := range p.Targets {
		assert.NotContains(t, names, x.As)
		names[x.As] = x
	}
	for _, name := range Names()[1:] {
		assert.Contains(t, names, name)
	}
	assert.Equal(t, "2.7.23", names["kryo"].Release)
	assert.Nil(t, names["kryo"].size)
	assert.NotEqual(t, "2.7.23", names["fastjson2"].Release)
	assert.NotNil(t, names["fastjson2"].size, "not usable")
	assert.GreaterOrEqual(t, names["triple/hessian2"].Release, "3")
	require.Len(t, p.runs, 2)
	assert.Equal(t, []string{"2.7.23"}, p.Releases())
	for _, r := range p.runs {
		assert.Equal(t, r.vm.Registered, len(r.vm.Targets) == 3)
	}
	assert.True(t, Known("triple/kryo"))
	assert.False(t, Known("triple/kyro"))
	assert.Equal(t, "2.7.23", c.Release())
}

// The release is known from what its messages have.
func TestRelease(t *testing.T) {
	for name, release := range map[string]string{
		"hessian2-2.5.3": "2.5.3", "hessian2-2.5.10": "2.5.10", "hessian2-2.6.12": "2.6.12", "hessian2-2.7.8": "2.7.23", "hessian2-3.2.16": "3.2.16",
		"hessian2-3.3.6": "3.3.6", "fst-3.2.16": "3.2.16", "fst-2.6.12": "2.6.12", "triple-3.3.6": "3.3.6", "triple-3.2.16": "3.2.16", "protobuf-2.7.5": "2.7.5",
	} {
		assert.Equal(t, release, collect(t, name, 1, Options{}).Release(), name)
	}
}

// Header blocks are those of RFC 7541 without Huffman codes.
func TestHeaderTable(t *testing.T) {
	var x headerTable
	assert.Equal(t, 1, x.block(field{":method", "POST"}))
	assert.Equal(t, 1+1+15, x.block(field{":authority", "127.0.0.1:20880"}))
	assert.Equal(t, 1, x.block(field{":authority", "127.0.0.1:20880"}))
	assert.Equal(t, 1+1+2+1+8, x.block(field{"te", "trailers"}))
	assert.Equal(t, 1+1+4, x.block(field{"te", "none"}), "the name is in the table")
	assert.Equal(t, 2, intLen(127, 7))
	assert.Equal(t, 3, intLen(127+128, 7))
	for i := range 200 {
		x.field(field{"n", strings.Repeat("v", i)})
		assert.LessOrEqual(t, x.size, tableSize)
	}
	size := x.size
	x.field(field{"n", strings.Repeat("v", 5000)})
	assert.Equal(t, size, x.size, "a field larger than the table is not in it")
}

// Causes that differ in places and numbers alone are counted together.
func TestCauses(t *testing.T) {
	assert.Equal(t, "hessian2: malformed: expected [*]", general("hessian2: malformed at body offset 12: expected [3]"))
	assert.Equal(t, alike("VerifyError in Builder$bc12 of a.b[3].c"), alike("VerifyError in Builder$bc7 of a.b[41].c"))
	assert.NotEqual(t, alike("null in a"), alike("null in b"))
	assert.Len(t, alike(strings.Repeat("é", 300)), maxAlike)
}

func TestSpool(t *testing.T) {
	s := &spool{dir: t.TempDir()}
	defer s.close()
	list := [][]byte{[]byte("one"), []byte("two and more"), nil}
	messages := make([]message, len(list))
	for i, b := range list {
		messages[i] = message{prepared: &prepared{values: b}}
		s.keep(&messages[i])
		assert.Nil(t, messages[i].values)
	}
	for i := range list {
		b, err := s.values(&messages[i])
		require.NoError(t, err)
		assert.Equal(t, list[i], b)
	}
}
