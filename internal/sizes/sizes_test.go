package sizes

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// Buckets tile the integers: each value lies in the bucket of its index, and buckets are narrow.
func TestBuckets(t *testing.T) {
	values := []int64{0, 1, -1, 127, 128, 255, 256, 257, 511, 512, 1 << 20, 1<<20 + 12345, 1<<62 + 1, -1 << 62, -256, -257}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		values = append(values, rng.Int64()>>rng.IntN(63), -(rng.Int64() >> rng.IntN(63)))
	}
	slices.Sort(values)
	last := indexOf(values[0])
	for _, v := range values {
		i := indexOf(v)
		require.GreaterOrEqual(t, i, last, "order of %d", v)
		last = i
		lo, hi := bounds(i)
		require.LessOrEqual(t, lo, v)
		require.GreaterOrEqual(t, hi, v)
		width := float64(hi - lo)
		require.LessOrEqual(t, width/2, 0.005*max(1, abs(float64(v)))+0.5, "width at %d", v)
	}
}

func abs(f float64) float64 { return max(f, -f) }

// Percentiles are by nearest rank, within 1 %; counts, totals and bounds are exact.
func TestStat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 10, 99, 100, 101, 5000} {
		var s Stat
		var all []int64
		total := int64(0)
		for range n {
			v := rng.Int64N(1 << uint(1+rng.IntN(40)))
			s.Add(v)
			all = append(all, v)
			total += v
		}
		slices.Sort(all)
		assert.Equal(t, int64(n), s.Count)
		assert.Equal(t, total, s.Total)
		assert.Equal(t, all[0], s.Min)
		assert.Equal(t, all[n-1], s.Max)
		for _, p := range []float64{1, 50, 90, 95, 99, 100} {
			rank := int(p / 100 * float64(n))
			if float64(rank) < p/100*float64(n) {
				rank++
			}
			want := all[max(rank, 1)-1]
			assert.InDelta(t, want, s.Percentile(p), 0.01*float64(want)+0.5, "p%v of %d", p, n)
		}
	}
	var empty Stat
	assert.Zero(t, empty.Percentile(50))
	assert.Zero(t, empty.Mean())
}

// Two histograms merge to that of all values.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var a, b, all Stat
	for i := range 3000 {
		v := rng.Int64N(1 << 30)
		all.Add(v)
		if i%3 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	same := func() {
		t.Helper()
		assert.Equal(t, all.sorted(nil), a.sorted(nil))
		assert.Equal(t, [4]int64{all.Count, all.Total, all.Min, all.Max}, [4]int64{a.Count, a.Total, a.Min, a.Max})
	}
	a.Merge(&b)
	same()
	a.Merge(&Stat{})
	same()
}

// A number that counts several times is the same as several equal numbers.
func TestAddN(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var one, several, sum Stat
		var parts [3]Stat
		for range rng.IntN(40) {
			v, n := rng.Int64N(1000)-10, rng.Int64N(5)
			several.AddN(v, n)
			parts[rng.IntN(3)].AddN(v, n)
			for range n {
				one.Add(v)
			}
		}
		for i := range parts {
			sum.Merge(&parts[i])
		}
		require.True(t, one.Equal(&several))
		require.True(t, one.Equal(&sum))
		require.Equal(t, one.Percentiles(50, 99), several.Percentiles(50, 99))
	}
}

func TestParseBy(t *testing.T) {
	by, err := ParseBy("client, method,time:10s")
	require.NoError(t, err)
	assert.Equal(t, By{Keys: []Key{Client, Method, Time}, Step: 10 * time.Second}, by)
	for _, bad := range []string{"", "nothing", "method,method", "time:x", "time:-1s", "time"} {
		_, err := ParseBy(bad)
		assert.Error(t, err, bad)
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Stat
	rng := rand.New(rand.NewPCG(7, 8))
	values := make([]int64, 4096)
	for i := range values {
		values[i] = rng.Int64N(1 << uint(8+rng.IntN(12)))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Add(values[i&4095])
		i++
	}
}

// However its buckets are kept, a histogram has every number: few and far apart, many and close, many and then one far
// away, in any order.
func TestKeptAnyWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	dense, sparse := false, false
	for _, c := range []struct {
		n    int
		next func(i int) int64
	}{
		{5000, func(int) int64 { return rng.Int64N(3000) }},
		{5000, func(int) int64 { return rng.Int64N(1<<40) - 1<<39 }},
		{5000, func(i int) int64 { return int64(i) }},
		{5000, func(i int) int64 { return int64(4000 - i) }},
		{5000, func(i int) int64 {
			if i > 4000 {
				return rng.Int64() - 1<<62
			}
			return 100_000 + rng.Int64N(1000)*64
		}},
		{200, func(int) int64 { return rng.Int64() }},
	} {
		var s Stat
		want := make(map[int32]int64)
		for i := range c.n {
			v := c.next(i)
			s.Add(v)
			want[indexOf(v)]++
			if i%997 == 0 {
				s.Percentile(50) // reading in between changes nothing
			}
			dense = dense || s.counts != nil && s.counts.table != nil && s.counts.table.dense != nil
			sparse = sparse || s.counts != nil && s.counts.table != nil && s.counts.table.dense == nil && i > 1000
		}
		got := make(map[int32]int64)
		list := s.sorted(nil)
		for _, b := range list {
			got[b.index] += b.count
		}
		require.Equal(t, want, got)
		require.Len(t, list, len(want))
		require.True(t, slices.IsSortedFunc(list, func(a, b bucket) int { return int(a.index) - int(b.index) }))
	}
	assert.True(t, dense && sparse, "both ways were tried")
}
