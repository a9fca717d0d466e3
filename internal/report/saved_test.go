package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// anyReport is a report with something in every field, of a made run; seed makes it differ from others.
func anyReport(seed uint64, groups int) *Report { return anyReportOf(seed, groups, 300) }

// anyReportOf has less than so many numbers in each distribution.
func anyReportOf(seed uint64, groups, numbers int) *Report {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := func() int64 { return 1 + rng.Int64N(1000) }
	t := &pipeline.Totals{
		NotTCP: map[string]int64{"UDP": n(), "ARP": n()}, Unread: map[string]int64{"IP fragment": n()},
		OtherTCP: map[uint16]int64{6379: n(), 3306: n()}, Other: map[string]*pipeline.Other{"tls": {Connections: n(), Bytes: n()}},
		UnknownIDs: map[uint8]int64{30: n()}, Layouts: map[string]int64{"a fork": n()}, Contradicted: map[pipeline.Contradiction]int64{{HeaderID: 2, Header: "hessian2", Body: "kryo"}: n()},
	}
	for _, c := range bookNumbers(t) {
		*c = n()
	}
	t.ClockSteps = 0
	t.FirstTime = int64(1_700_000_000_000_000_000) + int64(seed)*1_000_000_000_000
	t.LastTime = t.FirstTime + 5_000_000_000 + n()
	by := sizes.By{Keys: []sizes.Key{sizes.Serialization, sizes.Service, sizes.Method, sizes.Status}}
	var list []*sizes.Group
	for i := range groups {
		g := &sizes.Group{Values: []string{"hessian2", "com.example.中文|Service", string(rune('a' + i)), "20"}, SerializationID: 2}
		if i == 1 {
			g.Values[0], g.SerializationID = `kryo (wide)`, -1
		}
		if i == 2 {
			g.Values[3] = "noResponse"
		}
		g.OneWay, g.Exceptions, g.Unanswered = n(), n(), n()
		g.Errors = g.Exceptions + n()
		g.Calls = g.OneWay + g.Errors + g.Unanswered + 3*int64(numbers)
		directions := []*sizes.Direction{&g.Request, &g.ResponseOK}
		if i%2 == 0 {
			g.NotOK = new(sizes.NotOK)
			directions = append(directions, &g.NotOK.Other, &g.NotOK.Error)
		}
		for _, d := range directions {
			count := rng.IntN(numbers)
			for _, s := range directionStats(d) { // of the same messages
				for range count {
					s.Add(rng.Int64N(1 << 30))
				}
			}
		}
		for _, s := range []*sizes.Stat{&g.Latency, &g.Wait} {
			for range rng.IntN(numbers) {
				s.Add(rng.Int64N(1<<30) - 1<<20) // a clock that was stepped back
			}
		}
		g.Largest = sizes.Largest{Frame: n(), BodyBytes: max(g.Request.Body.Max, g.Response().Body.Max)}
		list = append(list, g)
	}
	by.Sort(list)
	inputs := []capture.Input{{
		File: "a.pcap", Format: "pcap", Compression: "zstd", LinkTypes: []capture.LinkType{1, 113}, TruncatedTo: 96, Packets: t.Packets,
		Bytes: t.LinkBytes, TruncatedPackets: 7, FirstTime: t.FirstTime, LastTime: t.LastTime, Filter: "port 20880", Dropped: 3,
		Damage: []capture.Damage{{Packet: 9, Offset: 1234, Text: "cut\x1b"}}, DamageLeftOut: 2,
	}, {File: "no.pcap", Dropped: -1, Err: errors.New("no.pcap: not there")}}
	r := Build(inputs, t, by, list)
	t.RPCBytes = r.Selected.WireBytes() + t.EventBytes + t.IncompleteBytes
	t.LinkBytes = t.RPCBytes + 50_000
	t.CompleteBytes = min(t.CompleteBytes, t.FrameBytes)
	t.TCP.Stream = t.FrameBytes + t.OtherBytes() + t.Skipped
	t.Expired, t.LostBytes = n(), min(t.LostBytes, t.Gap)
	t.TCP.Connections = r.Connections + t.TCP.WithoutData
	if t.TCP.WithoutData > t.TCP.Connections || r.Connections < 0 {
		r.Connections = 5
		t.TCP.Connections = 5 + t.TCP.WithoutData
	}
	r.Origin = "made"
	return r
}

func save(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b, true))
	return b.String()
}

func asText(t testing.TB, r *Report) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, r.Write(&b, "table", Style{Exact: true, Top: 1000}))
	return b.String()
}

// What is read is what was saved, and its tables are the same but for the line that says so.
func TestReadSaved(t *testing.T) {
	for seed := range uint64(20) {
		r := anyReport(seed, int(seed%5))
		saved := save(t, r)
		got, err := Read(strings.NewReader(saved))
		require.NoError(t, err)
		require.Equal(t, saved, save(t, got))
		require.Equal(t, asText(t, r), strings.ReplaceAll(asText(t, got), "  "+fromSaved+"\n", ""))
	}
}

// Reading stops at the first thing that no report has, with one line that says what.
func TestReadWhatIsNoReport(t *testing.T) {
	good := save(t, anyReport(1, 3))
	without := func(drop string) string { return strings.Replace(good, drop, "", 1) }
	swap := func(old, other string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, other, 1)
	}
	plain := new(bytes.Buffer)
	require.NoError(t, anyReport(1, 3).WriteJSON(plain, false))
	for _, c := range []struct{ text, want string }{
		{"", "ends inside"},
		{"[]", "not a JSON object"},
		{"{}", `"schema"`},
		{`{"schema": "dubbo-wire/report/1"}`, `no "groups"`},
		{`{"schema": "dubbo-wire/report/2", "groups": []}`, `has the schema "dubbo-wire/report/2"`},
		{`{"schema": 5}`, "is a number"},
		{`{"groups": []}`, `"schema"`},
		{`{"schema": "dubbo-wire/report/1", "groups": []}`, `without "by"`},
		{`{"schema": "dubbo-wire/report/1", "by": [], "groups": []}`, `no keys`},
		{`{"schema": "dubbo-wire/report/1", "by": ["colour"], "groups": []}`, `unknown keys`},
		{`{"schema": "dubbo-wire/report/1", "by": ["method"], "groups": {}}`, `not a list`},
		{`{"schema": "dubbo-wire/report/1", "by": ["method"], "groups": [{}]}`, `group 1 has no method`},
		{`{"schema": "dubbo-wire/report/1", "by": ["method"], "groups": []}`, `no buckets`},
		{`{"x": ` + strings.Repeat("[", 200), "nested deeper"},
		{`{"x": ` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`, `"schema"`},
		{plain.String(), "no buckets; save reports with --buckets"},
		{good + "{}", "after the end"},
		{good[:len(good)/2], "ends inside"},
		{swap(`"linkBytes": `, `"linkBytes": -`), "impossible number"},
		{swap(`"tcpPayloadBytes": `, `"tcpPayloadBytes": 1`), "do not add up"},
		{swap(`"rpcBytes": `, `"rpcBytes": 1`), "do not add up"},
		{swap(`"file": "a.pcap",`+"\n    \"frame\"", `"file": "b.pcap",`+"\n    \"frame\""), "not an input"},
		{swap(`"calls": `, `"calls": -`), "impossible number"},
		{swap(`"firstTime": "2`, `"firstTime": "x`), "invalid time"},
		{swap(`"firstTime": "2`, `"firstTime": "9`), "invalid time"},
		{swap(`"count": `, `"count": 1`), "counts that differ"},
		{without(`"groups": `), "invalid JSON"},
		{`{"tolerances": 5}`, "is not a report of analyze: tolerances is a number"},
		{`{"inputs": [{"file": 5}]}`, "inputs.file is a number"},
		{swap(`"mean": `, `"mean": "12", "x": `), "groups.1.request.bodyBytes.mean is a string"},
		{swap(`"mean": `, `"mean": {}, "x": `), "mean is an object"},
		{`{"schema": "dubbo-wire/report/1", "by": ["method"], "groups": [{"method": "` + strings.Repeat("x", 2*maxSavedValue) + `"}]}`, "more than 16 MiB"},
	} {
		_, err := Read(strings.NewReader(c.text))
		require.Error(t, err, c.want)
		assert.Contains(t, err.Error(), c.want)
		assert.NotContains(t, err.Error(), "\n")
	}
	// However it is cut, it is an error, never a smaller report.
	for n := 0; n < len(good)-2; n += 97 {
		_, err := Read(strings.NewReader(good[:n]))
		require.Error(t, err)
	}
	_, err := Read(io.MultiReader(strings.NewReader(good[:500]), failing{}))
	assert.ErrorContains(t, err, "disk on fire")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

// A golden file says of each method once what it weighs.
func TestSummariesTwice(t *testing.T) {
	group := `{"service": "S", "method": "m", "calls": 1, "request": null, "response": {"count": 1, "bodyBytes": {"mean": 5, "p99": 5, "max": 5}}}`
	golden := func(groups ...string) string {
		return `{"schema": "dubbo-wire/report/1", "by": ["service", "method"], "groups": [` + strings.Join(groups, ", ") + `]}`
	}
	s, err := ReadSummaries(strings.NewReader(golden(group)))
	require.NoError(t, err)
	assert.Equal(t, "5", s.Groups[0].Response.Max.String())
	_, err = ReadSummaries(strings.NewReader(golden(group, strings.Replace(group, `"m"`, `"n"`, 1), group)))
	assert.ErrorContains(t, err, "group 3 (S/m) appears twice")
	_, err = ReadSummaries(strings.NewReader(golden(strings.Replace(group, `"max": 5`, `"max": "5"`, 1))))
	assert.ErrorContains(t, err, "groups.1.response.bodyBytes.max is a string")
}

// No group has more errors, messages or times than calls.
func TestReadImpossibleCounts(t *testing.T) {
	for _, c := range []struct {
		change func(g *sizes.Group)
		want   string
	}{
		{func(g *sizes.Group) { g.Errors = g.Calls + 1 }, "group 1 has 301 errors of 300 calls"},
		{func(g *sizes.Group) { g.Exceptions = g.Errors + 1 }, "exceptions of"},
		{func(g *sizes.Group) { g.OneWay, g.Unanswered = 200, 101 }, "has 301 one-way or unanswered calls of 300 calls"},
		{func(g *sizes.Group) { g.Request.Wire.Add(5) }, "wire sizes of requests"},
		{func(g *sizes.Group) { g.ResponseOK.Wire.Add(5) }, "wire sizes of responses"},
		{func(g *sizes.Group) { g.ResponseOK.Frame.Add(5) }, "different counts of frames"},
		{func(g *sizes.Group) { g.Latency = sizes.Stat{}; addMany(&g.Latency, 301) }, "latencies of 300 calls"},
		{func(g *sizes.Group) { g.Wait = sizes.Stat{}; addMany(&g.Wait, 301) }, "waits of 300 calls"},
		{func(g *sizes.Group) {
			for _, s := range []*sizes.Stat{&g.Request.Body, &g.Request.Frame, &g.Request.Wire} {
				addMany(s, 301)
			}
		}, "has parts that do not add up"}, // a streaming call may have several
		{func(g *sizes.Group) {
			for _, s := range []*sizes.Stat{&g.ResponseOK.Body, &g.ResponseOK.Frame, &g.ResponseOK.Wire} {
				addMany(s, 301)
			}
		}, "has parts that do not add up"},
	} {
		r := anyReport(1, 1)
		g := r.Groups[0]
		g.Calls, g.OneWay, g.Errors, g.Exceptions, g.Unanswered = 300, 0, 0, 0, 0
		r.Totals.RPCBytes -= g.ResponseWireBytes() - g.ResponseOK.Wire.Total
		g.NotOK = nil
		_, err := Read(strings.NewReader(save(t, r)))
		require.NoError(t, err)
		c.change(g)
		_, err = Read(strings.NewReader(save(t, r)))
		require.Error(t, err, c.want)
		assert.Contains(t, err.Error(), c.want)
	}
}

// The responses by kind add up to all responses.
func TestReadContradictoryResponses(t *testing.T) {
	r := anyReport(1, 1)
	g := r.Groups[0]
	require.NotNil(t, g.NotOK)
	saved := save(t, r)
	_, err := Read(strings.NewReader(saved))
	require.NoError(t, err)
	for _, c := range []struct{ old, with, want string }{
		{`"responseError"`, `"responseErr"`, "does not have all of responseOk"},
		{`"responseOk"`, `"response"`, "does not have all of responseOk"},
		{`"responseOther"`, `"answers": {"responses": 1, "bodyBytes": 1}, "responseOther"`, ""},
		{`"responseOther"`, `"responseOther": {"count": 0, "bodyBytes": {"total": 0}, "frameBytes": {"total": 0}, "wireBytes": {"total": 0}}, "was"`, "is not the sum"},
	} {
		_, err = Read(strings.NewReader(strings.Replace(saved, c.old, c.with, 1)))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
	g.NotOK = nil
	old := strings.Replace(save(t, r), `"latencyMicros"`, `"answers": {"responses": 0, "bodyBytes": 0}, "latencyMicros"`, 1)
	_, err = Read(strings.NewReader(old))
	require.ErrorContains(t, err, "an earlier version saved it")
}

func addMany(s *sizes.Stat, n int) {
	for range n {
		s.Add(7)
	}
}

// The sum of two reports does not depend on how they came, by file or straight from a run, and their order is that of
// their inputs only.
func TestMergeSteps(t *testing.T) {
	merged := func(list ...*Report) *Report {
		r, err := Merge(list, 1000)
		require.NoError(t, err)
		return r
	}
	read := func(s string) *Report {
		r, err := Read(strings.NewReader(s))
		require.NoError(t, err)
		return r
	}
	for seed := range uint64(10) {
		a, b, c := save(t, anyReport(seed, 4)), save(t, anyReport(seed+100, 3)), save(t, anyReport(seed+200, 5))
		ab := save(t, merged(read(a), read(b)))
		require.Equal(t, save(t, merged(read(ab), read(c))), save(t, merged(read(a), read(b), read(c))), "in any steps")
		var one, other struct{ Groups, Coverage, Wire any }
		require.NoError(t, json.Unmarshal([]byte(ab), &one))
		require.NoError(t, json.Unmarshal([]byte(save(t, merged(read(b), read(a)))), &other))
		require.Equal(t, one, other, "in any order")
		require.Equal(t, ab, save(t, read(ab)), "the sum can be read")
		whole, first, second := read(ab), read(a), read(b)
		assert.Equal(t, first.Selected.Calls+second.Selected.Calls, whole.Selected.Calls)
		assert.Equal(t, first.Totals.LinkBytes+second.Totals.LinkBytes, whole.Totals.LinkBytes)
		assert.Equal(t, float64(max(first.Last, second.Last)-min(first.First, second.First))/1e9, whole.Seconds)
	}
}

// Of equal largest messages the first one is named, in whatever steps reports are merged.
func TestMergeEqualLargest(t *testing.T) {
	reports := func() (list []*Report) {
		for _, seed := range []uint64{0, 200, 100} {
			r := anyReport(seed, 1)
			r.Groups[0].Largest = sizes.Largest{Frame: int64(seed) + 1, BodyBytes: 1000}
			list = append(list, r)
		}
		return list
	}
	merged := func(list ...*Report) *Report {
		r, err := Merge(list, 10)
		require.NoError(t, err)
		return r
	}
	list := reports()
	first := merged(list...).Groups[0].Largest
	assert.Equal(t, int64(1), first.Frame)
	list = reports()
	assert.Equal(t, first, merged(merged(list[0], list[1]), list[2]).Groups[0].Largest)
	// The report of the first and the last host begins before that with the second one.
	list = reports()
	list[0].Groups[0].Largest.BodyBytes = 10
	assert.Equal(t, int64(101), merged(merged(list[0], list[1]), list[2]).Groups[0].Largest.Frame)
}

// Beyond the limit groups become one row, the same whichever way the reports come.
func TestMergeBeyondLimit(t *testing.T) {
	a, b := anyReport(1, 4), anyReport(2, 6)
	calls := a.Selected.Calls + b.Selected.Calls
	r, err := Merge([]*Report{b, a}, 5)
	require.NoError(t, err)
	require.Len(t, r.Groups, 6)
	last := r.Groups[5]
	assert.True(t, last.Rest)
	assert.Equal(t, int64(1), last.Groups, "six methods, of which the earlier report has four")
	assert.Equal(t, calls, r.Selected.Calls)
	saved := save(t, r)
	again, err := Read(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Equal(t, saved, save(t, again))
	c := anyReport(3, 2)
	r, err = Merge([]*Report{again, c}, 5)
	require.NoError(t, err)
	assert.True(t, r.Groups[5].Rest)
	assert.Error(t, r.Select(map[sizes.Key][]call.Glob{sizes.Method: {call.ParseGlob("a")}}, "", "--method a"))
}

// A fleet has more calls than 32 bits count, in a group and in one bucket of it.
func TestMergeManyCalls(t *testing.T) {
	a, b := anyReport(1, 3), anyReport(2, 3)
	for _, r := range []*Report{a, b} {
		r.Groups[0].Calls += 3 << 30
		r.Groups[0].Latency.AddN(7000, 3<<30)
	}
	r, err := Merge([]*Report{a, b}, 1000)
	require.NoError(t, err)
	saved := save(t, r)
	again, err := Read(strings.NewReader(saved))
	require.NoError(t, err)
	for _, r := range []*Report{r, again} {
		assert.Greater(t, r.Selected.Latency.Count, int64(6<<30))
		assert.InEpsilon(t, 7000, r.Selected.Latency.Percentile(99), 0.01)
	}
}

// What cannot be added up is refused with the names of both.
func TestMergeRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(a, b *Report)
		want   string
	}{
		{func(a, b *Report) { b.By.Keys = b.By.Keys[:1] }, "grouped by serialization,service,method,status, the other by serialization;"},
		{func(a, b *Report) { b.Filter = "--method x" }, "the calls of no filter, the other those of --method x"},
		{func(a, b *Report) { a.Filter, b.Filter = "--since +3s", "--since +3s" }, "first packet of each"},
		{func(a, b *Report) { b.Parts = true }, "--parts"},
		{func(a, b *Report) { a.By.Keys[0], b.By.Keys[0] = sizes.Connection, sizes.Connection }, "connections are numbered"},
		{func(a, b *Report) { b.Inputs = a.Inputs }, "is already among the others"},
		{func(a, b *Report) { a.By.Keys[0], b.By.Keys[0] = sizes.Input, sizes.Input }, "two inputs are named"},
		{func(a, b *Report) { b.Last += 1 << 62; b.Last += 1 << 60 }, "century"},
		{func(a, b *Report) { a.Groups[0].Latency.Total = 1<<63 - 1; b.Groups[0].Latency.Total = 1<<63 - 1 }, "64 bits"},
		{func(a, b *Report) { a.Groups[0].Latency.Total = 1<<63 - 1; b.Groups[1].Latency.Total = 1<<63 - 1 }, "64 bits"},
	} {
		a, b := anyReport(1, 3), anyReport(2, 3)
		a.Origin, b.Origin = "a.json", "b.json"
		c.change(a, b)
		_, err := Merge([]*Report{a, b}, 1000)
		require.Error(t, err, c.want)
		assert.Contains(t, err.Error(), c.want)
	}
}

// Every key that can be asked for can be read back.
func TestEveryKeyIsRead(t *testing.T) {
	for _, name := range sizes.KeyNames() {
		by, err := sizes.ParseBy(name)
		require.NoError(t, err)
		r := anyReport(1, 1)
		r.By, r.Groups[0].Values = by, []string{"17"}
		got, err := Read(strings.NewReader(save(t, r)))
		require.NoError(t, err, name)
		assert.Equal(t, []string{"17"}, got.Groups[0].Values, name)
		assert.Equal(t, by, got.By)
	}
}

// FuzzSavedReport reads anything: an error, or a report that can be saved, printed and read again.
func FuzzSavedReport(f *testing.F) {
	f.Add([]byte(save(f, anyReportOf(1, 3, 4))))
	f.Add([]byte(save(f, anyReportOf(2, 0, 4))))
	one := save(f, anyReportOf(3, 1, 4))
	f.Add([]byte(strings.ReplaceAll(one, "\n", "")))
	f.Add([]byte(strings.Replace(one, `"by"`, `"x": [[[{"y": null}]]], "by"`, 1)))
	f.Add([]byte(`{"schema": "dubbo-wire/report/1", "by": ["method"], "groups": [{"rest": true}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data))
		require.True(t, (r == nil) == (err != nil) || err != nil)
		_, _ = ReadSummaries(bytes.NewReader(data))
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		saved := save(t, r)
		again, err := Read(strings.NewReader(saved))
		require.NoError(t, err)
		require.Equal(t, saved, save(t, again))
		require.NotEmpty(t, asText(t, r))
		r.Origin, again.Origin = "a", "b"
		_, _ = Merge([]*Report{r, again}, 10)
	})
}
