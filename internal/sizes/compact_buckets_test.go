package sizes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// A histogram is the same after every number, wherever the way changes in which it is kept.
func TestFewThenMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, next := range []func() int64{
		func() int64 { return 7 },
		func() int64 { return rng.Int64N(4) },
		func() int64 { return rng.Int64N(100_000) },
		func() int64 { return rng.Int64() - rng.Int64() },
		func() int64 { return [2]int64{math.MinInt64, math.MaxInt64}[rng.IntN(2)] },
	} {
		var s Stat
		want := make(map[int32]int64)
		for i := range 3 * tableFrom {
			v := next()
			s.Add(v)
			want[indexOf(v)]++
			got := make(map[int32]int64)
			list := s.sorted(nil)
			for _, b := range list {
				got[b.index] += b.count
			}
			require.Equal(t, want, got, "after %d", i)
			require.Len(t, list, len(want))
			require.True(t, slices.IsSortedFunc(list, func(a, b bucket) int { return int(a.index) - int(b.index) }))
		}
	}
}

// Histograms of any counts merge to that of all their numbers.
func TestMergeAnyCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, n := range [][2]int{{0, 3}, {3, 0}, {5, 6}, {60, 67}, {60, 68}, {100, 100}, {3, 500}, {500, 3}, {400, 500}} {
		var a, b, all Stat
		for i := range n[0] + n[1] {
			v := rng.Int64N(1<<30) - 1<<20
			all.Add(v)
			if i < n[0] {
				a.Add(v)
			} else {
				b.Add(v)
			}
		}
		a.Merge(&b)
		assert.Equal(t, all.sorted(nil), a.sorted(nil), n)
		assert.Equal(t, all.Percentiles(50, 90, 99), a.Percentiles(50, 90, 99), n)
		a.Add(5) // it can be added to
		all.Add(5)
		assert.Equal(t, all.sorted(nil), a.sorted(nil), n)
	}
}

// What is restored from its buckets is what it was.
func TestRestore(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1, 2, 7, 99, 127, 128, 129, 5000} {
		for _, bits := range []uint{3, 12, 40, 62} {
			var s Stat
			for range n {
				s.Add(rng.Int64N(1<<bits) - rng.Int64N(1<<bits)/4)
			}
			list := savedBuckets(&s)
			require.Equal(t, s.Max, list[len(list)-1].Upper)
			got, err := Restore(s.Total, s.Min, s.Max, list)
			if bits == 62 && n > 2 {
				continue // their total is beyond 64 bits
			}
			require.NoError(t, err)
			assert.Equal(t, s.sorted(nil), got.sorted(nil))
			assert.Equal(t, s.Count, got.Count)
			assert.Equal(t, s.Mean(), got.Mean())
			assert.Equal(t, s.Percentiles(50, 90, 95, 99), got.Percentiles(50, 90, 95, 99))
			assert.Equal(t, list, savedBuckets(&got))
		}
	}
	for _, bad := range []struct {
		total, least, greatest int64
		list                   []Bucket
		err                    error
	}{
		{3, 1, 2, []Bucket{{2, 1}, {1, 1}}, errOrder},
		{3, 1, 2, []Bucket{{2, 1}, {2, 1}}, errOrder},
		{3, 1, 2, []Bucket{{1, 0}}, errCount},
		{3, 1, 2, []Bucket{{1, -1}}, errCount},
		{3, 1, 2, []Bucket{{1, 1}, {2, 1<<63 - 1}}, errCount},
		{3, 1, 3, []Bucket{{1, 1}, {2, 1}}, errBounds},
		{3, 0, 2, []Bucket{{1, 1}, {2, 1}}, errBounds},
		{3, 2, 1, []Bucket{{1, 1}, {2, 1}}, errBounds},
		{4, 1, 2, []Bucket{{1, 1}, {2, 1}}, errTotal},
		{2, 1, 2, []Bucket{{1, 1}, {2, 1}}, errTotal},
	} {
		_, err := Restore(bad.total, bad.least, bad.greatest, bad.list)
		assert.Equal(t, bad.err, err, bad)
	}
	empty, err := Restore(0, 0, 0, nil)
	require.NoError(t, err)
	assert.Zero(t, empty.Count)
}

// A bucket may have more than 32 bits of numbers: those of a fleet, or of a capture of weeks.
func TestManyNumbersInABucket(t *testing.T) {
	const n = 3 << 30
	for _, buckets := range []int64{3, 200} { // a table, an array
		var one, sum Stat
		for v := range buckets {
			one.AddN(v, n)
		}
		one.AddN(0, 5*n)
		for range 3 {
			sum.Merge(&one)
			for range 2 * batchLen { // counted in batches
				sum.Add(1)
			}
		}
		require.EqualValues(t, 3*((buckets+5)*n+2*batchLen), sum.Count)
		list := savedBuckets(&sum)
		require.Len(t, list, int(buckets))
		assert.Equal(t, Bucket{0, 18 * n}, list[0])
		assert.Equal(t, Bucket{1, 3 * (n + 2*batchLen)}, list[1])
		assert.Equal(t, Bucket{2, 3 * n}, list[2])
		assert.Zero(t, sum.Percentile(float64(600)/float64(buckets+6)))
		restored, err := Restore(sum.Total, sum.Min, sum.Max, list)
		require.NoError(t, err)
		assert.True(t, restored.Equal(&sum))
	}
}

// A group of less than a hundred calls takes at most 2 KiB, with its names and its place among all, however much its
// sizes and times differ.
func TestGroupMemory(t *testing.T) {
	const groups = 10_000
	for _, calls := range []int{1, 10, 99} {
		rng := rand.New(rand.NewPCG(17, uint64(calls)))
		before := heap()
		a := New(DefaultBy(), groups, nil)
		for i := range groups {
			request := &call.Message{Details: new(call.Details), Summary: rpc.Summary{Protocol: &rpc.Protocol{Name: "dubbo"}, Serialization: "hessian2"}}
			request.Operation = &rpc.Operation{Service: fmt.Sprintf("org.apache.dubbo.samples.Service%04d", i/10), Method: fmt.Sprintf("method%d", i%10)}
			g := a.groupByKey(&call.Call{Request: request}) // it copies the names: they have no hash
			for _, d := range []*Direction{&g.Request, g.Response()} {
				for range calls {
					body := int64(200 * math.Exp(1.5*rng.NormFloat64()))
					d.Body.Add(body)
					d.Frame.Add(body + 16)
					d.Wire.Add(body + 82)
				}
			}
			for range calls {
				ns := int64(2e6 * math.Exp(1.5*rng.NormFloat64()))
				g.Latency.Add(ns)
				g.Wait.Add(ns - 40_000)
			}
		}
		each := float64(heap()-before) / groups
		t.Logf("%d calls: %.0f bytes a group", calls, each)
		assert.LessOrEqual(t, each, 2048.0)
		runtime.KeepAlive(a)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// savedBuckets returns the buckets of s as a report saves them.
func savedBuckets(s *Stat) (list []Bucket) {
	s.Buckets(func(_, high, n int64) { list = append(list, Bucket{high, n}) })
	return list
}
