package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// run is a report of methods, each with the sizes of its requests; responses are ten times as large.
func run(methods map[string][]int64) *report.Report {
	by := sizes.By{Keys: []sizes.Key{sizes.Serialization, sizes.Service, sizes.Method}}
	var groups []*sizes.Group
	for name, list := range methods {
		service, method, _ := strings.Cut(name, "/")
		g := &sizes.Group{Values: []string{"hessian2", service, method}, Calls: int64(len(list)), SerializationID: 2}
		for _, v := range list {
			g.Request.Body.Add(v)
			g.ResponseOK.Body.Add(10 * v)
		}
		groups = append(groups, g)
	}
	by.Sort(groups)
	return report.Build(nil, &pipeline.Totals{}, by, groups)
}

// golden is what stands in a golden file of a report.
func golden(t *testing.T, r *report.Report) *report.Summaries {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b, false))
	s, err := report.ReadSummaries(&b)
	require.NoError(t, err)
	return s
}

// check is Run with the name of a golden file.
func check(t *testing.T, was *report.Summaries, terms Terms, is *report.Report) *Result {
	t.Helper()
	res, err := Run(was, terms, is)
	require.NoError(t, err)
	res.Golden = "golden.json"
	return res
}

func checked(t *testing.T, was, is map[string][]int64, tolerance string) *Result {
	t.Helper()
	tol, err := ParseTolerance(tolerance)
	require.NoError(t, err)
	return check(t, golden(t, run(was)), Terms{All: tol}, run(is))
}

func TestTolerance(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"5%", "5 %"},
		{"5", "5 %"},
		{" 0.5 % ", "0.5 %"},
		{"0", "0 %"},
		{"100%", "100 %"},
		{"33.333333%", "33.333333 %"},
	} {
		got, err := ParseTolerance(c.text)
		require.NoError(t, err)
		assert.Equal(t, c.want, got.String())
		var text string
		require.NoError(t, json.Unmarshal(got.JSON(), &text))
		again, err := ParseTolerance(text)
		require.NoError(t, err)
		assert.Equal(t, got.String(), again.String())
	}
	for _, bad := range []string{"", "x", "-1%", "1e9", "5%%", "1/3", "NaN", strings.Repeat("9", 30)} {
		_, err := ParseTolerance(bad)
		assert.Error(t, err, bad)
	}
	assert.Equal(t, "0 %", Tolerance{}.String())
	// Exactly at the bound is within it, however the numbers are written.
	tol, _ := ParseTolerance("10%")
	assert.True(t, tol.tolerates(big.NewRat(1003, 10), big.NewRat(11033, 100)))
	assert.False(t, tol.tolerates(big.NewRat(1003, 10), big.NewRat(110331, 1000)))
	assert.True(t, tol.tolerates(big.NewRat(100, 1), big.NewRat(90, 1)))
	assert.False(t, tol.tolerates(big.NewRat(100, 1), big.NewRat(899, 10)))
}

// Without tolerance the slightest difference is drift, in both directions, and the same run never is: also where a mean has no
// end.
func TestNoTolerance(t *testing.T) {
	was := map[string][]int64{"S/a": {100, 100, 101}, "S/b": {7, 8, 8, 9, 9, 9, 9}}
	res := checked(t, was, was, "0")
	assert.Equal(t, 2, res.Within)
	assert.False(t, res.Drifted())

	res = checked(t, was, map[string][]int64{"S/a": {100, 101, 101}, "S/b": {7, 8, 8, 9, 9, 9, 9}}, "0")
	assert.True(t, res.Drifted())
	assert.Equal(t, [2]int{1, 1}, [2]int{res.Over, res.Within})
	assert.Equal(t, "request mean 100.333 -> 100.667 (+0.3 %, allowed 0 %), response mean 1,003.333 -> 1,006.667 (+0.3 %, allowed 0 %)", res.sentence(&res.Methods[0]))

	res = checked(t, was, map[string][]int64{"S/a": {100, 100, 100}, "S/b": was["S/b"]}, "0")
	assert.Equal(t, [2]int{1, 1}, [2]int{res.Under, res.Within})

	// The change that is printed is never one that is allowed.
	res = checked(t, map[string][]int64{"S/a": {3574}, "S/b": {100000000}}, map[string][]int64{"S/a": {3215}, "S/b": {110000001}}, "10%")
	assert.Equal(t, "request (all) 3,574 -> 3,215 (-10.04 %, allowed 10 %), response (all) 35,740 -> 32,150 (-10.04 %, allowed 10 %)", res.sentence(&res.Methods[1]))
	assert.Contains(t, res.sentence(&res.Methods[0]), "request (all) 100,000,000 -> 110,000,001 (+10.000001 %, allowed 10 %)")

	// Counts are the load's.
	res = checked(t, was, map[string][]int64{"S/a": append(was["S/a"], was["S/a"]...), "S/b": was["S/b"]}, "0")
	assert.False(t, res.Drifted())
}

func TestVanishedAndNew(t *testing.T) {
	res := checked(t, map[string][]int64{"S/a": {1}, "S/b": {1, 2}}, map[string][]int64{"S/a": {1}, "S/c": {5}}, "0")
	assert.Equal(t, [3]int{1, 1, 1}, [3]int{res.Vanished, res.New, res.Within})
	assert.True(t, res.Drifted())
	assert.Equal(t, "S/b", res.Methods[0].Name)
	assert.Equal(t, int64(2), res.Methods[0].Calls)
	assert.Equal(t, New, res.Methods[1].Status)

	res = checked(t, map[string][]int64{"S/a": {1}}, map[string][]int64{"S/a": {1}, "S/c": {5}}, "0")
	assert.False(t, res.Drifted())
	res.Strict = true
	assert.True(t, res.Drifted())

	// Answers that are gone are drift, answers that come are not.
	quiet := run(map[string][]int64{"S/a": {1}})
	quiet.Groups[0].ResponseOK = sizes.Direction{}
	got, err := Run(golden(t, quiet), Terms{}, run(map[string][]int64{"S/a": {1}}))
	require.NoError(t, err)
	assert.Equal(t, [2]int{1, 0}, [2]int{got.New, got.Within})
	assert.Equal(t, "new in the run: response mean 10; --update adds it to the golden file", got.sentence(&got.Methods[0]))
	assert.False(t, got.Drifted())
	got.Strict = true
	assert.True(t, got.Drifted())
	var b strings.Builder
	require.NoError(t, got.Write(&b, "table", report.Style{}))
	assert.Contains(t, b.String(), "NEW SIZES")
	assert.Regexp(t, `\+  S/a +1  response mean +10\n`, b.String())
	// What drifts as well is named by that.
	got, err = Run(golden(t, quiet), Terms{}, run(map[string][]int64{"S/a": {2}}))
	require.NoError(t, err)
	assert.Equal(t, [2]int{0, 1}, [2]int{got.New, got.Over})
	assert.Equal(t, "request (all) 1 -> 2 (+100.0 %, allowed 0 %), response (all) 20 (none before)", got.sentence(&got.Methods[0]))
	got, err = Run(golden(t, run(map[string][]int64{"S/a": {1}})), Terms{}, quiet)
	require.NoError(t, err)
	assert.True(t, got.Drifted())
	assert.Contains(t, got.sentence(&got.Methods[0]), "none any more")
}

func TestTolerancesOfMethods(t *testing.T) {
	s := &report.Summaries{Golden: report.Golden{Tolerance: json.RawMessage(`"1%"`), Tolerances: map[string]json.RawMessage{"S/a": json.RawMessage(`20`)}}}
	terms, err := TermsOf(s)
	require.NoError(t, err)
	is := run(map[string][]int64{"S/a": {110}, "S/b": {110}})
	res, err := Run(golden(t, run(map[string][]int64{"S/a": {100}, "S/b": {100}})), terms, is)
	require.NoError(t, err)
	assert.Equal(t, [2]int{1, 1}, [2]int{res.Over, res.Within})
	assert.Equal(t, "S/b", res.Methods[0].Name)
	for _, bad := range []string{`"x"`, `{}`, `[1]`, `-1`, `null`} {
		s.Tolerances["S/a"] = json.RawMessage(bad)
		_, err := TermsOf(s)
		assert.Error(t, err, bad)
	}
}

// Methods of the golden file that are not asked for have not vanished, and tolerances that are for none are told.
func TestNotAskedFor(t *testing.T) {
	was := golden(t, run(map[string][]int64{"S/a": {1}, "S/b": {1}, "T/a": {1}}))
	leftOut := was.Select(map[sizes.Key][]call.Glob{sizes.Method: {call.ParseGlob("a")}, sizes.Serialization: nil, sizes.Client: {call.ParseGlob("x")}})
	assert.Equal(t, 1, leftOut)
	terms := Terms{Of: map[string]Tolerance{"S/a": {}, "S/b": {}, "S/new": {}, "S/typo\n::error::": {}}}
	res := check(t, was, terms, run(map[string][]int64{"S/a": {1}, "S/new": {1}}))
	assert.Equal(t, [5]int{1, 1, 1, 0, 1}, [5]int{res.Vanished, res.New, res.Within, res.Over, res.LeftOut})
	assert.Contains(t, res.Summary(), "tolerance 0 %, 1 excluded by filters;")
	require.Equal(t, []string{"S/typo\n::error::"}, res.Unused)
	for format, want := range map[string]string{
		"table": "TOLERANCES without a method", "markdown": "**TOLERANCES without a method**", "json": `"tolerancesOfNoMethod": [`,
		"github": "\n::warning title=Sizes on the wire%3A tolerance without a method::S/typo", "junit": "<system-out>S/typo",
	} {
		var b strings.Builder
		require.NoError(t, res.Write(&b, format, report.Style{}))
		assert.Contains(t, b.String(), want)
		assert.NotContains(t, b.String(), "\n::error::\"")
	}
}

// Names that are not UTF-8 are held to what JSON made of them.
func TestUnreadableNames(t *testing.T) {
	methods := map[string][]int64{"S/\xff": {1}, "S/\xfe": {3}, "S/\xff\xff": {5}, "S/a": {7}}
	was := run(methods)
	require.NoError(t, was.Readable())
	require.Len(t, was.Groups, 3)
	is := run(methods)
	require.NoError(t, is.Readable())
	res, err := Run(golden(t, was), Terms{}, is)
	require.NoError(t, err)
	assert.Equal(t, 3, res.Within)
	assert.False(t, res.Drifted())
}

// A golden file of anybody: numbers that are none are refused, and none costs more than it says.
func TestHostileGolden(t *testing.T) {
	for _, number := range []string{"1e999999999", "1E5", strings.Repeat("9", 50), "0." + strings.Repeat("9", 50)} {
		g := golden(t, run(map[string][]int64{"S/a": {100}}))
		g.Groups[0].Request.Mean = json.Number(number)
		_, err := Run(g, Terms{}, run(map[string][]int64{"S/a": {100}}))
		assert.Error(t, err, number)
	}
}

var hostile = []string{
	"a|b<script>&\"'/m", "\x1b[31m/red", "中文服务/方法", "a\n::error::owned/x\r::set-env name=A::b", "##[error]x/y", "a,b:c%0A::warning::/z", "\x01\x7f\ufffe/\u202e",
}

// Names from captures neither start a workflow command, nor end one, nor break XML, Markdown or the terminal.
func TestHostileNames(t *testing.T) {
	was, is := map[string][]int64{}, map[string][]int64{"new\n::error::x/##[error]y": {1}}
	for i, n := range hostile {
		was[n], is[n] = []int64{100}, []int64{101 + int64(i)}
	}
	was["::gone\n/away"] = []int64{5}
	res := checked(t, was, is, "0")
	res.Golden, res.Explain, res.MinCoverage = "g\n::error::.json", "dubbo-wire explain 'a\n::error::b'", 100
	require.True(t, res.Drifted())

	var b strings.Builder
	require.NoError(t, res.Write(&b, "github", report.Style{}))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, len(hostile)+2+1, "one a method, and the summary")
	command := regexp.MustCompile(`^::(error|notice) title=Sizes on the wire%3A (over|vanished|new)::[^\r\n]+$`)
	for _, line := range lines[:len(lines)-1] {
		assert.Regexp(t, command, line)
		assert.Equal(t, strings.Count(line, "%"), len(regexp.MustCompile(`%(25|0A|0D|3A|2C)`).FindAllString(line, -1)), "all escaped: %s", line)
	}
	last := lines[len(lines)-1]
	assert.False(t, strings.HasPrefix(strings.TrimSpace(last), "::"), last)
	assert.NotContains(t, last, "##[")

	b.Reset()
	require.NoError(t, res.Write(&b, "junit", report.Style{}))
	cases := 0
	for dec := xml.NewDecoder(strings.NewReader(b.String())); ; {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "testcase" {
			cases++
		}
	}
	assert.Equal(t, len(hostile)+3, cases, "and one for the coverage")
	assert.Contains(t, b.String(), "方法")

	for _, format := range []string{"table", "markdown", "json"} {
		for _, width := range []int{0, 40, 80, 100} {
			b.Reset()
			require.NoError(t, res.Write(&b, format, report.Style{Width: width}))
			assert.NotContains(t, b.String(), "\x1b", format)
			if format == "json" {
				assert.True(t, json.Valid([]byte(b.String())))
				continue
			}
			for line := range strings.Lines(b.String()) {
				assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::error"), "%s: %q", format, line)
			}
		}
	}
}

// Low coverage fails in every format that a machine reads.
func TestLowCoverage(t *testing.T) {
	res := checked(t, map[string][]int64{"S/a": {1}}, map[string][]int64{"S/a": {1}}, "0")
	res.Golden, res.MinCoverage, res.Coverage = "g.json", 99, 98.5
	for format, want := range map[string]string{
		"table": "below the 99 % of --min-coverage", "github": "::error title=Coverage::98.5 %25", "junit": `<failure message="98.5 %, --min-coverage is 99 %"`,
		"json": `"failed": true`, "markdown": "below the 99 %",
	} {
		var b strings.Builder
		require.NoError(t, res.Write(&b, format, report.Style{}))
		assert.Contains(t, b.String(), want)
	}
}

// runIn is run with another serialization.
func runIn(serialization string, methods map[string][]int64) *report.Report {
	r := run(methods)
	for _, g := range r.Groups {
		g.Values[0] = serialization
	}
	return r
}

// of is a report that is grouped by protocol, too.
func of(protocol string, r *report.Report) *report.Report {
	for _, g := range r.Groups {
		g.Values = append([]string{protocol}, g.Values...)
	}
	return report.Build(nil, &pipeline.Totals{}, sizes.DefaultBy(), r.Groups)
}

// joined is one report with the groups of several.
func joined(reports ...*report.Report) *report.Report {
	var groups []*sizes.Group
	for _, r := range reports {
		groups = append(groups, r.Groups...)
	}
	reports[0].By.Sort(groups)
	return report.Build(nil, &pipeline.Totals{}, reports[0].By, groups)
}

// A method whose serialization changed is one line. Serializations that come or go beside others are new or vanished.
func TestChangedSerialization(t *testing.T) {
	a := map[string][]int64{"S/a": {100}}
	for _, c := range []struct {
		name               string
		was, is            *report.Report
		changed, new, gone int
		growth             bool // fails with --growth-only
		sentence           string
	}{
		{"one", run(a), runIn("kryo", map[string][]int64{"S/a": {50}}), 1, 0, 0, false, "serialization hessian2 -> kryo, request mean 100 -> 50 (-50.0 %), response mean 1,000 -> 500 (-50.0 %)"},
		{"same size", run(a), runIn("kryo", a), 1, 0, 0, false, "serialization hessian2 -> kryo, request mean 100, response mean 1,000"},
		{"larger", run(a), runIn("kryo", map[string][]int64{"S/a": {101}}), 1, 0, 0, true, ""},
		{
			"larger at most", run(map[string][]int64{"S/a": {100, 100}}), runIn("kryo", map[string][]int64{"S/a": {10, 101}}), 1, 0, 0, true,
			"serialization hessian2 -> kryo, request mean 100 -> 55.5 (-44.5 %), request p99 100 -> 101 (+1.0 %), request max 100 -> 101 (+1.0 %), ",
		},
		{
			"to two", run(a), joined(runIn("kryo", map[string][]int64{"S/a": {40}}), runIn("fst", map[string][]int64{"S/a": {60}})), 1, 0, 0, false,
			"serialization hessian2 -> fst, kryo, request mean 100 -> 50 (-50.0 %), response mean 1,000 -> 500 (-50.0 %)",
		},
		{"from two", joined(run(a), runIn("fst", a)), runIn("kryo", a), 1, 0, 0, true, "serialization fst, hessian2 -> kryo, request mean 100, response mean 1,000"},
		{"beside", run(a), joined(run(a), runIn("kryo", a)), 0, 1, 0, false, ""},
		{"away", joined(run(a), runIn("kryo", a)), run(a), 0, 0, 1, true, ""},
		{"protocol", of("dubbo", run(a)), of("other", runIn("kryo", a)), 1, 0, 0, true, "serialization dubbo/hessian2 -> other/kryo, request mean 100, response mean 1,000"},
		{"beside in another protocol", of("dubbo", run(a)), joined(of("dubbo", run(a)), of("other", run(a))), 0, 1, 0, false, ""},
		{"another method", run(a), runIn("kryo", map[string][]int64{"S/b": {1}}), 0, 1, 1, true, ""},
	} {
		res := check(t, golden(t, c.was), Terms{}, c.is)
		assert.Equal(t, [3]int{c.changed, c.new, c.gone}, [3]int{res.Changed, res.New, res.Vanished}, c.name)
		assert.Equal(t, c.changed+c.gone > 0, res.Drifted(), c.name)
		res.GrowthOnly = true
		assert.Equal(t, c.growth, res.Drifted(), c.name)
		if c.sentence != "" {
			assert.Contains(t, res.sentence(&res.Methods[0]), c.sentence, c.name)
			assert.Equal(t, "S/a", res.Methods[0].Name, c.name)
		}
	}
}

func TestGrowthOnly(t *testing.T) {
	res := checked(t, map[string][]int64{"S/a": {100}, "S/b": {100, 100}}, map[string][]int64{"S/a": {50}, "S/b": {1, 100}}, "0")
	assert.True(t, res.Drifted())
	res.GrowthOnly = true
	assert.False(t, res.Drifted())
	// One size that grew fails, and so do answers that are gone.
	res = checked(t, map[string][]int64{"S/a": {100, 100}}, map[string][]int64{"S/a": {1, 101}}, "0")
	res.GrowthOnly = true
	assert.True(t, res.Drifted())
	// Only what grew is marked as a failure.
	var rows []string
	for _, row := range res.driftSection(9, func(*Method) {}).Rows {
		rows = append(rows, row[0].Text+"|"+row[1].Text+"|"+row[2].Text)
	}
	assert.Equal(t, []string{
		"x|S/a|request p99", "||request max", "||response p99", "||response max", "-||request mean", "-||response mean",
	}, rows)
	assert.NotContains(t, res.sentence(&res.Methods[0]), "mean")
	quiet := run(map[string][]int64{"S/a": {1}})
	quiet.Groups[0].ResponseOK = sizes.Direction{}
	res = check(t, golden(t, run(map[string][]int64{"S/a": {1}})), Terms{}, quiet)
	res.GrowthOnly = true
	assert.True(t, res.Drifted())
}

// Only successful responses in the serialization of the request are compared. Without any, those in other serializations are.
func TestSuccessfulResponses(t *testing.T) {
	r := run(map[string][]int64{"S/a": {1, 3}})
	g := r.Groups[0]
	g.NotOK = new(sizes.NotOK)
	g.NotOK.Other.Body.Add(50)
	g.NotOK.Error.Body.Add(9999)
	r.Golden = &report.Golden{Tolerance: json.RawMessage(`"0%"`)}
	written := func() string {
		var b bytes.Buffer
		require.NoError(t, WriteGolden(&b, r))
		return b.String()
	}
	was, err := ReadGolden(strings.NewReader(written()))
	require.NoError(t, err)
	res := check(t, was, Terms{}, r)
	assert.Equal(t, 1, res.Within)
	mean, p99, most := res.Methods[0].measure("response mean"), res.Methods[0].measure("response p99"), res.Methods[0].measure("response max")
	assert.Equal(t, [...]report.Number{"20", "20", "30", "30", "30", "30"}, [...]report.Number{mean.Was, mean.Is, p99.Was, p99.Is, most.Was, most.Is})
	budget := Budget{Size: "response max"}
	_, is, _ := budget.measure(r.By, g)
	assert.Equal(t, 30.0, is)

	// A full report is read as the sum of all successful responses, and one of an earlier version as the sum of all.
	res = check(t, golden(t, r), Terms{}, r)
	assert.Equal(t, 1, res.Within)
	assert.Equal(t, report.Number("30"), res.Methods[0].measure("response mean").Is)
	assert.Nil(t, res.Methods[0].measure("response p99"), "a sum of reports cannot have it")
	old := golden(t, run(map[string][]int64{"S/a": {1, 3}}))
	old.Groups[0].Response, old.Groups[0].AllResponses = report.Summary{Mean: "2522.25", P99: "9999", Max: "9999"}, true
	res = check(t, old, Terms{}, r)
	assert.Equal(t, 1, res.Within)

	g.ResponseOK = sizes.Direction{}
	assert.Contains(t, written(), `"response": {"mean": 50, "p99": 50, "max": 50}`)
}

func TestParseBudget(t *testing.T) {
	for text, want := range map[string]string{
		"S/a response max<=2KB":             "S/a response max<=2000",
		"  *  request   mean <= 1.5 KiB ":   "* request mean<=1536",
		"rest/GET /users/* request p99<=10": "rest/GET /users/* request p99<=10",
		"a response max x response max<=0":  "a response max x response max<=0",
	} {
		b, err := ParseBudget(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, b.String())
	}
	for _, bad := range []string{"", "response max<=1", "S/a max<=1", "S/a response max<1", "S/a response p50<=1", "S/a response max<=", "S/a response max<=-1", "S/a response max<=x"} {
		_, err := ParseBudget(bad)
		assert.Error(t, err, bad)
	}
	list, err := ReadBudgets(strings.NewReader("# comment\n\n S/a request max<=1\r\nS/b response mean<=2"))
	require.NoError(t, err)
	assert.Len(t, list, 2)
	_, err = ReadBudgets(strings.NewReader("# nothing\n"))
	assert.ErrorContains(t, err, "has no budgets")
	_, err = ReadBudgets(strings.NewReader("S/a request max<=1\nS/b\n"))
	assert.ErrorContains(t, err, "line 2: ")
}

func TestBudgets(t *testing.T) {
	r := run(map[string][]int64{"com.acme.User/get": {100, 100, 101}, "com.acme.User/list": {500}})
	for text, want := range map[string]Spent{
		"com.acme.User/get request max<=101": {Status: Within, Within: 1},
		"User/get request max<=100":          {Status: Over, Over: 1},
		"get request mean<=100.9":            {Status: Over, Over: 1}, // a budget is whole bytes
		"User/* request p99<=101":            {Status: Over, Over: 1, Within: 1},
		"* response max<=5KB":                {Status: Within, Within: 2},
		"*list response mean<=0":             {Status: Over, Over: 1},
		"Use/get request max<=1":             {Status: NoCalls},
		"com.acme.User request max<=1":       {Status: NoCalls},
	} {
		b, err := ParseBudget(text)
		require.NoError(t, err)
		res, err := Run(nil, Terms{}, r)
		require.NoError(t, err)
		res.CheckBudgets([]Budget{b}, r)
		got := res.Budgets[0]
		assert.Equal(t, [...]any{want.Status, want.Over, want.Within}, [...]any{got.Status, got.Over, got.Within}, text)
		assert.Equal(t, want.Status == Over, res.Failed(), text)
		res.Strict = true
		assert.Equal(t, want.Status != Within, res.Failed(), text)
	}
	// A mean that is over by less than its rounding does not look as if it were within.
	var list []int64
	for range 9999 {
		list = append(list, 100)
	}
	r = run(map[string][]int64{"S/a": append(list, 101)})
	res, err := Run(nil, Terms{}, r)
	require.NoError(t, err)
	b, err := ParseBudget("S/a request mean<=100")
	require.NoError(t, err)
	res.CheckBudgets([]Budget{b}, r)
	require.Len(t, res.Budgets[0].Methods, 1)
	assert.Equal(t, report.Number("100.0001"), res.Budgets[0].Methods[0].Now)
}

// What WriteGolden writes is read back, as a method a line.
func TestSizesFile(t *testing.T) {
	r := run(map[string][]int64{"S/b": {100, 101}, "S/a<&>\u2028": {3}, "S/quiet": {5}})
	for _, g := range r.Groups {
		if g.Values[2] == "quiet" {
			g.ResponseOK = sizes.Direction{}
		}
	}
	r.Golden = &report.Golden{Tolerance: json.RawMessage(`"5%"`)}
	var b bytes.Buffer
	require.NoError(t, WriteGolden(&b, r))
	assert.True(t, json.Valid(b.Bytes()))
	assert.Contains(t, b.String(), "\n  {\"serialization\": \"hessian2\", \"service\": \"S\", \"method\": \"quiet\", \"request\": {\"mean\": 5, \"p99\": 5, \"max\": 5}, \"response\": null}\n ]\n}\n")
	s, err := ReadGolden(&b)
	require.NoError(t, err)
	full := golden(t, r)
	for i := range full.Groups {
		full.Groups[i].Calls = 0 // counts are not compared
	}
	assert.Equal(t, full.Groups, s.Groups)
	assert.True(t, full.By.Equal(s.By))
	terms, err := TermsOf(s)
	require.NoError(t, err)
	res := check(t, s, terms, r)
	assert.Equal(t, 3, res.Within)

	b.Reset()
	require.NoError(t, r.WriteJSON(&b, false))
	s, err = ReadGolden(&b)
	require.NoError(t, err)
	assert.Len(t, s.Groups, 3)
	for text, want := range map[string]string{
		``:                                 "ends inside the report",
		`{"schema": "dubbo-wire/sizes/1"`:  "invalid JSON at byte 31",
		`{"schema": "dubbo-wire/sizes/1"}`: `has no "methods"`,
		`{"schema": "dubbo-wire/sizes/1", "methods": [1]}`:                                                              "methods",
		`{"schema": "dubbo-wire/sizes/1", "by": ["x"], "methods": []}`:                                                  `"by"`,
		`{"schema": "dubbo-wire/sizes/1", "methods": [{"protocol": "x"}]}`:                                              `method 1 has no "serialization"`,
		`{"schema": "dubbo-wire/sizes/1", "methods": [{"protocol": [[]]}]}`:                                             `method 1 has the protocol [[]], which is not a text`,
		`{"schema": "dubbo-wire/sizes/1", "by": ["method"], "methods": [{"method": "a"}, {"method": "a"}]}`:             "method 2 (a) appears twice",
		`{"schema": "dubbo-wire/sizes/1", "by": ["method"], "methods": [{"method": "a", "request": {"mean": 1}}]}`:      "without mean, p99 or max",
		`{"schema": "dubbo-wire/sizes/1", "by": ["method"], "methods": [{"method": "a", "request": {"mean": "many"}}]}`: "has the request",
	} {
		_, err := ReadGolden(strings.NewReader(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// Golden files are edited and merged by hand: no file panics, and one that is read can be compared.
func FuzzReadGolden(f *testing.F) {
	f.Add([]byte(`{"schema": "dubbo-wire/sizes/1", "tolerance": 5, "methods": [{"protocol": "dubbo", "serialization": "kryo", "service": "S", "method": "a", "request": {"mean": 1, "p99": 1, "max": 1}, "response": null}]}`))
	f.Add([]byte(`{"schema": "dubbo-wire/sizes/1", "tolerances": {"S/a": "1%"}, "by": ["service", "method"], "methods": [{"service": "S", "method": "a"}]}`))
	f.Add([]byte(`{"schema": "dubbo-wire/report/1", "by": ["method"], "groups": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadGolden(bytes.NewReader(data))
		if err != nil {
			return
		}
		terms, err := TermsOf(s)
		if err != nil {
			return
		}
		r := run(map[string][]int64{"S/a": {1}})
		if s.By.Equal(r.By) {
			_, _ = Run(s, terms, r)
		}
	})
}

// The command shows a message of the direction that is over, in the serialization of the line.
func TestExplainCommand(t *testing.T) {
	r := run(map[string][]int64{"S/a": {1, 3}})
	g := *r.Groups[0]
	g.Values = []string{"kryo (Kryo 5)", "S", "a"}
	r.Groups = append(r.Groups, &g)
	commands := func(rule string) (list []string) {
		b, err := ParseBudget(rule)
		require.NoError(t, err)
		res, err := Run(nil, Terms{}, r)
		require.NoError(t, err)
		res.Explain = "explain x.pcap"
		res.CheckBudgets([]Budget{b}, r)
		for i := range res.Budgets[0].Methods {
			list = append(list, res.explainCommand(&res.Budgets[0].Methods[i].method))
		}
		return list
	}
	assert.Equal(t, []string{
		"explain x.pcap --serialization 'hessian2' --service 'S' --method 'a' --min-request 2",
		"explain x.pcap --serialization 'kryo (Kryo 5)' --service 'S' --method 'a' --min-request 2",
	}, commands("a request mean<=1"))
	g.NotOK = new(sizes.NotOK)
	g.NotOK.Other.Body.Add(50)
	r.Inputs, r.Groups[0].LargestOK, g.Largest = []report.Input{{File: "x.pcap"}}, 4, sizes.Largest{Frame: 6, BodyBytes: 50}
	assert.Equal(t, []string{
		"explain x.pcap --frame 4",
		"explain x.pcap --serialization 'kryo (Kryo 5)' --service 'S' --method 'a' --min-response 30 --response",
	}, commands("a response max<=10"))
	g.Request.Body.Add(60)
	g.Largest = sizes.Largest{Frame: 5, BodyBytes: 60}
	assert.Equal(t, []string{"explain x.pcap --frame 5"}, commands("a request max<=10"))
}
