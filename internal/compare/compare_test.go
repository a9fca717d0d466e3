package compare

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

func statOf(values ...int64) *sizes.Stat {
	s := new(sizes.Stat)
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// Known values: those of tables of U and of R's wilcox.test, and of worked examples in textbooks.
func TestMannWhitneyKnown(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []int64
		p    float64
	}{
		// Without ties, all of one side below the other: 2 / C(n+m, n).
		{"3 and 3", []int64{1, 2, 3}, []int64{4, 5, 6}, 2.0 / 20},
		{"4 and 4", []int64{1, 2, 3, 4}, []int64{5, 6, 7, 8}, 2.0 / 70},
		{"5 and 5", []int64{1, 2, 3, 4, 5}, []int64{6, 7, 8, 9, 10}, 2.0 / 252},
		// U = 2 of 16: of the 70 ways U <= 2 has 1 + 1 + 2.
		{"U = 2", []int64{1, 2, 3, 6}, []int64{4, 5, 7, 8}, 2 * 4.0 / 70},
		// Mann and Whitney's tortoise and hares (H T T T T T H H H H H): U = 11 and 25; C(12, 6) ways.
		{"tortoises", []int64{2, 3, 4, 5, 6, 12}, []int64{1, 7, 8, 9, 10, 11}, 0.30952},
		// One number on each side tells nothing.
		{"1 and 1", []int64{1}, []int64{2}, 1},
		{"equal", []int64{5, 5, 5}, []int64{5, 5}, 1},
	} {
		got := MannWhitney(statOf(c.a...), statOf(c.b...))
		assert.InDelta(t, c.p, got.P, 1e-4, c.name)
		assert.LessOrEqual(t, got.Least, got.P+1e-12)
		assert.InDelta(t, got.P, MannWhitney(statOf(c.b...), statOf(c.a...)).P, 1e-12, "%s, swapped", c.name)
	}
}

// brute is the exact test by trying every way in which the numbers could have fallen.
func brute(a, b []int64) float64 {
	all := append(append([]int64{}, a...), b...)
	n := len(all)
	ranks := make([]float64, n)
	for i, x := range all {
		below, equal := 0, 0
		for _, y := range all {
			if y < x {
				below++
			}
			if y == x {
				equal++
			}
		}
		ranks[i] = float64(below) + float64(equal+1)/2
	}
	sum := func(set uint) (s float64, size int) {
		for i := range n {
			if set>>i&1 == 1 {
				s += ranks[i]
				size++
			}
		}
		return s, size
	}
	mean := float64(len(a)) * float64(n+1) / 2
	got, _ := sum(1<<len(a) - 1)
	hits, ways := 0.0, 0.0
	for set := uint(0); set < 1<<n; set++ {
		s, size := sum(set)
		if size != len(a) {
			continue
		}
		ways++
		if math.Abs(s-mean) >= math.Abs(got-mean)-1e-9 {
			hits++
		}
	}
	return hits / ways
}

func TestMannWhitneyCountsAllWays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b := make([]int64, 1+rng.IntN(7)), make([]int64, 1+rng.IntN(7))
		for _, list := range [][]int64{a, b} {
			for i := range list {
				list[i] = rng.Int64N(6) // with many ties
			}
		}
		require.InDelta(t, brute(a, b), MannWhitney(statOf(a...), statOf(b...)).P, 1e-9, "%v %v", a, b)
	}
}

// Where both ways of computing meet, they agree; and a true hypothesis is rejected as often as it says.
func TestMannWhitneyNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rejected, runs := 0, 2000
	for range runs {
		a, b := new(sizes.Stat), new(sizes.Stat)
		for range 40 {
			a.Add(int64(1000 * math.Exp(rng.NormFloat64())))
			b.Add(int64(1000 * math.Exp(rng.NormFloat64())))
		}
		if MannWhitney(a, b).P < 0.05 {
			rejected++
		}
	}
	assert.InDelta(t, 0.05, float64(rejected)/float64(runs), 0.015)

	for range 50 {
		a, b := new(sizes.Stat), new(sizes.Stat)
		for range 10 {
			a.Add(rng.Int64N(200))
			b.Add(rng.Int64N(230))
		}
		exact := MannWhitney(a, b).P
		c, d := *a, *b // one number more on each side: the normal way
		c.Add(100)
		d.Add(100)
		assert.InDelta(t, exact, MannWhitney(&c, &d).P, 0.15)
	}
}

// made is a report of methods with sizes.
func made(methods map[string][]int64) *report.Report {
	by := sizes.By{Keys: []sizes.Key{sizes.Service, sizes.Method}}
	var groups []*sizes.Group
	for name, list := range methods {
		service, method, _ := strings.Cut(name, "/")
		g := &sizes.Group{Values: []string{service, method}, Calls: int64(len(list))}
		for i, v := range list {
			for k, s := range []*sizes.Stat{
				&g.Request.Body, &g.Request.Frame, &g.Request.Wire, &g.ResponseOK.Body, &g.ResponseOK.Frame, &g.ResponseOK.Wire, &g.Latency, &g.Wait,
			} {
				s.Add(v + int64(k)*100)
			}
			if i%10 == 9 {
				g.Errors++
			}
		}
		groups = append(groups, g)
	}
	by.Sort(groups)
	return report.Build(nil, &pipeline.Totals{}, by, groups)
}

func compared(t *testing.T, sides ...*report.Report) *Comparison {
	t.Helper()
	var list []Side
	for i, r := range sides {
		list = append(list, Side{string(rune('a' + i)), r})
	}
	c, err := New(list, 0.05)
	require.NoError(t, err)
	return c
}

func anyMethods(rng *rand.Rand) map[string][]int64 {
	all := make(map[string][]int64)
	for _, name := range []string{"S/a", "S/b", "S/c", "T/a"} {
		list := make([]int64, 1+rng.IntN(80))
		for i := range list {
			list[i] = 100 + rng.Int64N(1+rng.Int64N(50))
		}
		all[name] = list
	}
	return all
}

// A report and itself: no change in anything.
func TestSameHasNoChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		m := anyMethods(rng)
		c := compared(t, made(m), made(m))
		require.Len(t, c.Methods, 4)
		require.Empty(t, c.Only)
		for _, x := range c.Mix {
			assert.Equal(t, Same, x.Changes[0].Verdict)
		}
		for _, m := range c.Methods {
			assert.Empty(t, m.tableMeasures())
			for _, x := range m.Measures {
				assert.Equal(t, Same, x.Changes[0].Verdict)
			}
		}
	}
}

// Swapped sides: every ratio is the inverse, every verdict and p the same.
func TestSwapped(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		a, b := made(anyMethods(rng)), made(anyMethods(rng))
		c, d := compared(t, a, b), compared(t, b, a)
		c.Sort("key")
		for i := range c.Methods {
			require.Equal(t, c.Methods[i].Values, d.Methods[i].Values)
			for k, x := range c.Methods[i].Measures {
				one, other := x.Changes[0], d.Methods[i].Measures[k].Changes[0]
				assert.Equal(t, one.Verdict, other.Verdict)
				if !one.Ratio.missing() && one.Ratio != 0 {
					assert.InDelta(t, 1, float64(one.Ratio*other.Ratio), 1e-9)
				}
				if !one.P.missing() {
					assert.InDelta(t, float64(one.P), float64(other.P), 1e-9)
				}
			}
		}
	}
}

func measure(t *testing.T, m *Method, name string) *Measure {
	t.Helper()
	for i := range m.Measures {
		if m.Measures[i].Name == name {
			return &m.Measures[i]
		}
	}
	require.Fail(t, name)
	return nil
}

func repeat(n int, values ...int64) (list []int64) {
	for range n {
		list = append(list, values...)
	}
	return list
}

// What a change is worth.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []int64
		want Verdict
	}{
		{"one size each", repeat(3, 100), repeat(4, 80), Exact},
		{"one size, the same", repeat(3, 100), repeat(4, 100), Same},
		{"three calls", []int64{100, 101, 102}, []int64{200, 201, 203}, Few},
		{"many", repeat(20, 100, 101), repeat(20, 110, 120), Differs},
		{"mixed", repeat(20, 100, 200), append(repeat(20, 100, 200), 201), Noise},
	} {
		x := compared(t, made(map[string][]int64{"S/m": c.a}), made(map[string][]int64{"S/m": c.b}))
		assert.Equal(t, c.want, measure(t, x.Methods[0], RequestP50).Changes[0].Verdict, c.name)
	}
}

// Only the median has the p of the test. A p99 that rises while most calls become smaller has none, and few calls have no p99.
func TestOnlyMediansAreTested(t *testing.T) {
	for n, want := range map[int]Verdict{30: Few, 300: Untested} {
		x := compared(t, made(map[string][]int64{"S/m": repeat(n/2, 100, 101)}), made(map[string][]int64{"S/m": append(repeat(n/2, 80, 81), repeat(n/20, 900)...)}))
		for _, name := range []string{Request, RequestP99, Latency, LatencyP99} {
			assert.True(t, measure(t, x.Methods[0], name).Changes[0].P.missing(), name)
		}
		p99 := measure(t, x.Methods[0], RequestP99).Changes[0]
		assert.Equal(t, want, p99.Verdict)
		assert.Greater(t, float64(p99.Ratio), 8.0)
		median := measure(t, x.Methods[0], RequestP50).Changes[0]
		assert.Equal(t, Differs, median.Verdict)
		assert.Less(t, float64(median.P), 0.001)
		assert.Less(t, float64(median.Ratio), 1.0)
		var b strings.Builder
		require.NoError(t, x.Write(&b, "markdown", report.Style{}))
		assert.Regexp(t, `request p50 \| 100 \| 8[01] \| -.* % \| p&lt;0.001 \|`, b.String())
		word := map[Verdict]string{Few: "few", Untested: ""}[want]
		assert.Regexp(t, `request p99 \| 101 \| \d+ \| .* \| `+word+` *\|`, b.String())
	}
}

// The same mix: methods weighted as the first side calls them, those of one side left out.
func TestSameMix(t *testing.T) {
	c := compared(t, made(map[string][]int64{"S/a": repeat(10, 100), "S/b": repeat(30, 200), "S/gone": repeat(5, 9000)}),
		made(map[string][]int64{"S/a": repeat(1000, 50), "S/b": repeat(1, 100), "S/new": repeat(7, 1)}))
	assert.Equal(t, 2, c.MixMethods)
	assert.Equal(t, []Number{(10*100 + 30*200) / 40.0, (10*50 + 30*100) / 40.0}, c.Mix[0].Values)
	assert.Equal(t, Number(0.5), c.Mix[0].Changes[0].Ratio)
	require.Len(t, c.Only, 2)
	assert.Equal(t, []int64{5, 0}, c.Only[0].Calls)
	assert.Equal(t, []int64{0, 7}, c.Only[1].Calls)
	_, err := New([]Side{{"a", made(map[string][]int64{"S/a": {1}})}, {"b", made(nil)}}, 0.05)
	assert.ErrorIs(t, err, ErrNothing)
}

// Between sides of different protocols frames are compared, and bodies are shown without a change.
func TestTwoProtocols(t *testing.T) {
	a, b := made(map[string][]int64{"S/a": repeat(10, 100)}), made(map[string][]int64{"S/a": repeat(10, 50)})
	a.Totals.AddControl("one", 10, 0)
	b.Totals.AddControl("two", 10, 170)
	c := compared(t, a, b)
	for name, want := range map[string][]Number{RequestFrame: {200, 150}, ResponseFrame: {500, 450}, Control: {0, 17}} {
		at := slices.IndexFunc(c.Mix, func(m Measure) bool { return m.Name == name })
		require.Positive(t, at, name)
		assert.Equal(t, want, c.Mix[at].Values, name)
	}
	var out strings.Builder
	require.NoError(t, c.Write(&out, "table", report.Style{Width: 80}))
	assert.Regexp(t, `request body, mean bytes +100 +50 *\n`, out.String())
	assert.Regexp(t, `request frame, mean bytes +200 +150 +-25.0 %`, out.String())
	assert.Regexp(t, `control bytes per call +0 +17 +from 0`, out.String())
	b.Totals.Control = a.Totals.Control
	out.Reset()
	require.NoError(t, compared(t, a, b).Write(&out, "table", report.Style{Width: 80}))
	assert.NotContains(t, out.String(), "frame")
}

// Names and labels of anybody do no harm in any format, and every format has every method.
func TestHostileNames(t *testing.T) {
	names := map[string][]int64{}
	for _, n := range []string{"a|b/<script>", "\x1b[31m/red", "中文服务/方法", "a\nb/::error::x", "`x`/[y](z)"} {
		names[n] = repeat(5, 100)
	}
	other := map[string][]int64{"only\x07/here": {1}}
	for n := range names {
		other[n] = repeat(5, 120)
	}
	c := compared(t, made(names), made(other))
	c.Sides[0].Label, c.Sides[1].Label = "x|\x1b]0;y\x07", "<b>\n"
	for _, format := range []string{"table", "markdown", "csv", "json"} {
		for _, width := range []int{0, 40, 80, 160} {
			var b strings.Builder
			require.NoError(t, c.Write(&b, format, report.Style{Width: width}))
			if format != "csv" { // as analyze has them: for programs
				assert.NotContains(t, b.String(), "\x1b", format)
			}
			if format == "markdown" {
				assert.NotContains(t, b.String(), "<script>")
				for line := range strings.Lines(b.String()) {
					assert.False(t, strings.HasPrefix(line, "::"), line)
				}
			}
			if format == "json" {
				assert.True(t, json.Valid([]byte(b.String())))
			}
			assert.Contains(t, b.String(), "方法")
		}
	}
}

// Fisher's test of the tea tasting lady and other known tables; with too few failures no P is small.
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int64
		p          float64
	}{
		{3, 4, 1, 4, 0.485714},
		{1, 10, 11, 14, 0.002759},
		{1, 26, 1, 24, 1},
		{0, 5, 5, 5, 0.007937},
	} {
		assert.InDelta(t, c.p, fisher(c.a, c.n, c.b, c.m).P, 1e-6)
		assert.InDelta(t, c.p, fisher(c.b, c.m, c.a, c.n).P, 1e-6)
	}
	assert.Greater(t, fisher(1, 26, 1, 24).Least, 0.05)
	assert.Less(t, fisher(3, 300, 30, 300).Least, 0.001)
	assert.Equal(t, Test{P: 1, Least: 1}, fisher(9, 3, 1<<62, 1))
	assert.InDelta(t, 0.2113, fisher(500_000, 1_000_000, 499_116, 1_000_000).P, 1e-3)
}

// A share of errors is tested, its change is in points, and one that is noise does not list the method.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int64
		want       Verdict
		row        string
	}{
		{1, 26, 1, 24, Few, ""},
		{10, 100, 12, 100, Noise, ""},
		{0, 3, 1, 3, Few, "| errors | 0.0 % | 33.3 % | +33.3 points | few |"},
		{1, 100, 20, 100, Differs, "| errors | 1.0 % | 20.0 % | +19.0 points | p&lt;0.001 |"},
	} {
		side := func(failed, calls int64) *report.Report {
			r := made(map[string][]int64{"S/m": repeat(int(calls), 100)})
			r.Groups[0].Errors = failed
			return r
		}
		x := compared(t, side(c.a, c.n), side(c.b, c.m))
		assert.Equal(t, c.want, measure(t, x.Methods[0], Errors).Changes[0].Verdict)
		var b strings.Builder
		require.NoError(t, x.Write(&b, "markdown", report.Style{}))
		if c.row == "" {
			assert.Empty(t, x.Methods[0].tableMeasures())
		} else {
			assert.Contains(t, b.String(), c.row)
		}
	}
}
