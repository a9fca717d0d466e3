package metrics

import (
	"math"
	"slices"
	"time"
)

// bounds are the upper bounds of the classic buckets, in nanoseconds.
var bounds = [...]int64{
	int64(100 * time.Microsecond), int64(250 * time.Microsecond), int64(500 * time.Microsecond),
	int64(time.Millisecond), int64(2500 * time.Microsecond), int64(5 * time.Millisecond),
	int64(10 * time.Millisecond), int64(25 * time.Millisecond), int64(50 * time.Millisecond),
	int64(100 * time.Millisecond), int64(250 * time.Millisecond), int64(500 * time.Millisecond),
	int64(time.Second), int64(2500 * time.Millisecond), int64(5 * time.Second),
	int64(10 * time.Second), int64(30 * time.Second),
}

// A native histogram of this schema has 8 buckets for each power of two: their bounds are 9 % apart.
const (
	schema     = 3
	perDoubled = 1 << schema
)

// fractions are the bounds of the native buckets between 0.5 and 1.
var fractions = func() (f [perDoubled]float64) {
	for i := range f {
		f[i] = math.Exp2(float64(i)/perDoubled) / 2
	}
	return f
}()

// latency is a histogram of latencies in both forms that Prometheus has. The zero value is empty.
type latency struct {
	count, sum int64              // sum in nanoseconds
	classic    [len(bounds)]int64 // not cumulative; what is above the last bound is only in count
	zeros      int64              // latencies of 0
	native     []int64            // the native buckets from first on
	first      int
}

// add counts a latency. One below 0, because the clock was set back, counts as 0: the sum of a histogram must not decrease.
func (l *latency) add(ns int64) {
	ns = max(ns, 0)
	l.count++
	l.sum += ns
	for i, bound := range &bounds {
		if ns <= bound {
			l.classic[i]++
			break
		}
	}
	if ns == 0 {
		l.zeros++
		return
	}
	l.addNative(nativeIndex(ns), 1)
}

// nativeIndex returns the index of the native bucket of a latency. Bucket i ends at 2^(i/8) seconds, and includes that.
func nativeIndex(ns int64) int {
	fraction, exponent := math.Frexp(float64(ns) / 1e9)
	i := 0
	for i < perDoubled && fractions[i] < fraction {
		i++
	}
	return i + (exponent-1)*perDoubled
}

// addNative adds n to a native bucket.
func (l *latency) addNative(index int, n int64) {
	const spare = perDoubled // so that it seldom grows
	switch {
	case l.native == nil:
		l.first, l.native = index-spare, make([]int64, 3*spare)
	case index < l.first:
		more := l.first - index + spare
		l.first, l.native = l.first-more, append(make([]int64, more), l.native...)
	case index >= l.first+len(l.native):
		l.native = append(l.native, make([]int64, index-l.first-len(l.native)+1+spare)...)
	}
	l.native[index-l.first] += n
}

func (l *latency) merge(o *latency) {
	l.count += o.count
	l.sum += o.sum
	l.zeros += o.zeros
	for i, n := range o.classic {
		l.classic[i] += n
	}
	for i, n := range o.native {
		if n > 0 {
			l.addNative(o.first+i, n)
		}
	}
}

func (l *latency) clone() latency {
	c := *l
	c.native = slices.Clone(l.native)
	return c
}
