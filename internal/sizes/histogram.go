// Package sizes adds calls up: exact counts and totals, percentiles within 1 %, per group.
package sizes

import (
	"math/bits"
)

// Stat is the distribution of one number over a group: total, minimum, maximum and count are exact, percentiles within
// 1 %. The zero value is empty. Negative numbers are allowed (a clock that was stepped back).
//
// It is a histogram with buckets whose width is 1/128 of their start (numbers below 256 have a bucket each). The first
// hundred numbers take a byte each: see few. From then on it is a table of the buckets that have something in them, or,
// where these lie close, an array: see many. Two histograms merge exactly. A library's sketch (DDSketch) would need a
// kilobyte for each of a group's eight distributions even where a group has three calls.
type Stat struct {
	Count, Total int64
	Min, Max     int64
	few          few
	many         *many // instead of few, from manyFrom numbers on
}

type bucket struct {
	index int32
	count uint32
}

// manyFrom is from which count on a distribution has many numbers.
const manyFrom = 128

// precision is the bits of a number that its bucket keeps, below the highest one.
const precision = 7

// indexOf returns the bucket of v; order of indexes is order of values.
func indexOf(v int64) int32 {
	if v < 0 {
		return -1 - indexOf(-(v + 1))
	}
	if v < 1<<(precision+1) {
		return int32(v)
	}
	e := bits.Len64(uint64(v)) - 1 - precision
	return int32(e)<<precision + int32(v>>e)
}

// bounds returns the least and the greatest value of a bucket.
func bounds(i int32) (lo, hi int64) {
	if i < 0 {
		lo, hi = bounds(-1 - i)
		return -hi - 1, -lo - 1
	}
	if i < 1<<(precision+1) {
		return int64(i), int64(i)
	}
	e := i>>precision - 1
	m := int64(i&(1<<precision-1)) + 1<<precision
	return m << e, (m+1)<<e - 1
}

// Add counts v.
func (s *Stat) Add(v int64) {
	if s.Count == 0 {
		s.Min, s.Max = v, v
	}
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	s.Count++
	s.Total += v
	if m := s.many; m != nil {
		m.index[m.waiting] = indexOf(v)
		if m.waiting++; m.waiting == batchLen {
			m.flush()
		}
		return
	}
	s.few.add(indexOf(v))
	if s.Count >= manyFrom {
		var room [manyFrom]bucket
		s.manyOf(s.few.sorted(room[:0]))
	}
}

// manyOf makes the histogram one of many numbers, with these buckets.
func (s *Stat) manyOf(list []bucket) {
	s.many, s.few = newMany(len(list)), few{}
	for _, b := range list {
		s.many.count(b.index, b.count)
	}
}

// sorted returns the buckets in the order of their values.
func (s *Stat) sorted() []bucket {
	if s.many != nil {
		return s.many.sorted()
	}
	return s.few.sorted(nil)
}

// Mean returns the mean; 0 when empty.
func (s *Stat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Total) / float64(s.Count)
}

// Percentile returns the nearest-rank percentile p (0 < p <= 100), within 1 % and between Min and Max.
func (s *Stat) Percentile(p float64) int64 { return s.Percentiles(p)[0] }

// Percentiles returns several percentiles, which must be given in rising order, as Percentile does each.
func (s *Stat) Percentiles(ps ...float64) []int64 {
	out := make([]int64, len(ps))
	if s.Count == 0 {
		return out
	}
	done, seen := 0, int64(0)
	for _, b := range s.sorted() {
		seen += int64(b.count)
		for ; done < len(ps) && seen >= s.rank(ps[done]); done++ {
			lo, hi := bounds(b.index)
			out[done] = min(max(lo+(hi-lo)/2, s.Min), s.Max)
		}
	}
	for ; done < len(ps); done++ {
		out[done] = s.Max
	}
	return out
}

// rank is the place, from 1, of the number that is the percentile p.
func (s *Stat) rank(p float64) int64 {
	rank := int64(p / 100 * float64(s.Count))
	if float64(rank) < p/100*float64(s.Count) {
		rank++
	}
	return max(rank, 1)
}

// Buckets calls f for each bucket that has something in it, in order: n numbers from low to high.
func (s *Stat) Buckets(f func(low, high, n int64)) {
	for _, b := range s.sorted() {
		lo, hi := bounds(b.index)
		f(max(lo, s.Min), min(hi, s.Max), int64(b.count))
	}
}

// Merge adds another distribution.
func (s *Stat) Merge(o *Stat) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 || o.Min < s.Min {
		s.Min = o.Min
	}
	if s.Count == 0 || o.Max > s.Max {
		s.Max = o.Max
	}
	s.Count += o.Count
	s.Total += o.Total
	if s.many == nil && s.Count < manyFrom {
		s.few.merge(o.few.sorted(nil))
		return
	}
	if s.many == nil {
		s.manyOf(s.few.sorted(nil))
	}
	for _, b := range o.sorted() {
		s.many.count(b.index, b.count)
	}
}
