package print

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// fake is a runner of machines whose bodies have half the bytes of the record, and the ninth part of which fails in fst, which cannot decode
// the responses of a method.
type fake struct{ timing bool }

type child struct {
	fake
	vm       *estimate.VM
	received func(estimate.Encoded)
}

func (f fake) Start(_ context.Context, vm *estimate.VM, timing bool, received func(estimate.Encoded)) (estimate.Child, error) {
	return &child{fake{timing}, vm, received}, nil
}

func (*child) JVM() string { return "21.0.1 Fake VM" }

func (c *child) Send(record []byte) error {
	e := estimate.Encoded{ID: int64(binary.BigEndian.Uint64(record[1:]))}
	for _, name := range c.vm.Targets {
		b := estimate.EncodedBody{Bytes: len(record) / 2}
		if name == "fst" && e.ID%9 == 0 {
			b = estimate.EncodedBody{Cause: "null in a primitive field of Order.items[" + strconv.FormatInt(e.ID, 10) + "].\u202enote"}
		}
		e.Targets = append(e.Targets, b)
	}
	c.received(e)
	return nil
}

func (c *child) Finish() (list []estimate.Timing, err error) {
	for i := range c.vm.Targets {
		for g := range 64 {
			for _, response := range []bool{false, true} {
				if !c.timing {
					continue
				}
				t := estimate.Timing{Target: i, Group: g, Response: response, EncodeLow: 900, EncodeHigh: 1200, DecodeLow: 2000, DecodeHigh: 2500}
				if c.vm.Targets[i] == "fst" && response && g == 1 {
					t.DecodeLow, t.DecodeHigh, t.Unreadable = -1, -1, "InvalidClassException: a.B\u202e: no constructor"
				}
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// result estimates a committed capture with the fake runner.
func result(t *testing.T, by string, sample int) *estimate.Result {
	src, err := capture.Open([]string{testkit.Get(t, "hessian2").Path()}, capture.Options{})
	require.NoError(t, err)
	defer src.Close() //nolint:errcheck // only read
	opt := estimate.Options{Inputs: []string{"trace.pcap"}, Sample: sample, Values: true, Triple: true, Wrapped: true}
	if by != "" {
		opt.By, err = sizes.ParseBy(by)
		require.NoError(t, err)
	}
	run := pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}
	c := estimate.NewCollector(opt, &run)
	defer c.Close()
	_, err = pipeline.Run(src, run, c)
	require.NoError(t, err)
	usable := func(release string) string {
		if release != "2.7.23" {
			return "needs the jars of Dubbo " + release
		}
		return ""
	}
	plan := c.Plan([]string{"kryo", "fst", "fastjson2"}, "2.7.23", false, usable)
	r, err := c.Estimate(context.Background(), &estimate.Setup{Plan: plan, Usable: usable, Runner: fake{}, Timing: true, Seconds: 60})
	require.NoError(t, err)
	if r.CPU != "" {
		r.CPU = "a processor"
	}
	return r
}

func text(t *testing.T, format string, r *estimate.Result, s report.Style) string {
	var b strings.Builder
	require.NoError(t, Write(&b, format, r, s))
	return b.String()
}

// Tables as they are, in several widths and formats.
func TestTables(t *testing.T) {
	whole, grouped, sampled := result(t, "", 0), result(t, "service,method", 0), result(t, "", 5)
	for name, got := range map[string]string{
		"whole-80.txt":    text(t, "table", whole, report.Style{Width: 80}),
		"whole-160.txt":   text(t, "table", whole, report.Style{Width: 160}),
		"grouped-120.txt": text(t, "table", grouped, report.Style{Width: 120, Top: 2}),
		"sampled.txt":     text(t, "table", sampled, report.Style{Exact: true}),
		"sampled.md":      text(t, "markdown", sampled, report.Style{}),
	} {
		testkit.Golden(t, filepath.Join("testdata", name), got)
		assert.NotContains(t, got, "\u202e", name)
	}
	for _, width := range []int{80, 100, 120, 160, 200} {
		for line := range strings.Lines(text(t, "table", grouped, report.Style{Width: width})) {
			assert.LessOrEqual(t, term.Width(strings.TrimRight(line, "\n")), width)
		}
	}
}

// JSON has what the tables have, and CSV the same rows.
func TestMachineFormats(t *testing.T) {
	r := result(t, "service,method", 0)
	var j struct {
		Schema      string
		Calibration []map[string]any
		Targets     []struct {
			As       string
			Release  *string
			Measured bool
			Sampled  int64
			Groups   []map[string]any
			Failed   []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text(t, "json", r, report.Style{})), &j))
	assert.Equal(t, Schema, j.Schema)
	require.Len(t, j.Calibration, 1)
	for _, key := range []string{"serialization", "bodies", "equalSize", "equalBytes"} {
		assert.Contains(t, j.Calibration[0], key)
	}
	rows := 0
	for _, x := range j.Targets {
		assert.Equal(t, x.Measured || strings.HasPrefix(x.As, "triple/"), x.Release == nil, x.As)
		for _, g := range x.Groups {
			rows++
			for _, key := range []string{
				"service", "method", "calls", "callsEncoded", "request", "response", "requestFrame", "responseFrame", "observedRequest", "observedResponse", "encodeNanos", "decodeNanos",
			} {
				assert.Contains(t, g, key)
			}
		}
	}
	i := slices.IndexFunc(r.Targets, func(x *estimate.TargetResult) bool { return x.As == "fst" })
	assert.Len(t, j.Targets[i].Failed, len(r.Targets[i].Failed))
	assert.Equal(t, "null in a primitive field of Order.items[*].\u202enote", strings.TrimPrefix(j.Targets[i].Failed[0]["cause"].(string), "response: "))
	assert.Equal(t, rows+1, strings.Count(text(t, "csv", r, report.Style{}), "\n"))

	states := map[string]int{}
	for line := range strings.Lines(text(t, "jsonl", r, report.Style{})) {
		var x map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &x))
		state := x["state"].(string)
		states[state]++
		for _, key := range []string{"frame", "file", "service", "method", "observed", "as", "release"} {
			assert.Contains(t, x, key)
		}
		for _, key := range []string{"requestBodyBytes", "responseBodyBytes", "requestFrameBytes", "responseFrameBytes"} {
			_, has := x[key]
			assert.Equal(t, state == "encoded", has, key)
		}
	}
	assert.Equal(t, 4*132, states["encoded"]+states["failed"])
	assert.GreaterOrEqual(t, states["failed"], 132)
}

// A page has the tables and no text that is not escaped.
func TestPage(t *testing.T) {
	r := result(t, "service,method", 0)
	r.Groups[0].Values[0] = "<script>alert(1)</script>"
	got := text(t, "html", r, report.Style{Width: 80, Color: true})
	assert.Equal(t, 5, strings.Count(got, "<table"))
	assert.NotContains(t, got, "<script>alert")
	assert.NotContains(t, got, "\x1b")
	assert.Contains(t, got, "Calibration: ")
}
