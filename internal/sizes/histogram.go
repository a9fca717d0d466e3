// Package sizes adds calls up: exact counts and totals, percentiles within 1 %, per group.
package sizes

import (
	"math/bits"
	"slices"
)

// Stat is the distribution of one number over a group: total, minimum, maximum and count are exact, percentiles within
// 1 %. The zero value is empty. Negative numbers are allowed (a clock that was stepped back).
//
// It is a histogram with buckets whose width is 1/128 of their start (numbers below 256 have a bucket each), kept
// sparse: about 16 bytes a bucket that has something in it. Two of them merge exactly. A library's sketch (DDSketch)
// would need a kilobyte for each of a group's eight distributions even where a group has three calls.
type Stat struct {
	Count, Total int64
	Min, Max     int64
	buckets      []bucket // an open-addressed table, of 2^n slots; those with count 0 are free
	used         int      // slots
}

type bucket struct {
	index int32
	count uint32
}

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
	if s.Count == 0 || v < s.Min {
		s.Min = v
	}
	if s.Count == 0 || v > s.Max {
		s.Max = v
	}
	s.Count++
	s.Total += v
	s.count(indexOf(v), 1)
}

// count adds n to the bucket with that index.
func (s *Stat) count(index int32, n uint32) {
	if 4*s.used >= 3*len(s.buckets) {
		s.grow()
	}
	b := s.slot(index)
	if b.count == 0 {
		b.index = index
		s.used++
	}
	b.count += n
}

// slot finds the bucket with that index, or the free slot for it.
func (s *Stat) slot(index int32) *bucket {
	mask := uint32(len(s.buckets) - 1)
	for i := uint32(index) * 0x9e3779b1 >> 8; ; i++ {
		if b := &s.buckets[i&mask]; b.index == index || b.count == 0 {
			return b
		}
	}
}

func (s *Stat) grow() {
	old := s.buckets
	s.buckets = make([]bucket, max(2*len(old), 4))
	for _, b := range old {
		if b.count > 0 {
			*s.slot(b.index) = b
		}
	}
}

// sorted returns the buckets in the order of their values.
func (s *Stat) sorted() []bucket {
	list := make([]bucket, 0, s.used)
	for _, b := range s.buckets {
		if b.count > 0 {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b bucket) int { return int(a.index) - int(b.index) })
	return list
}

// Mean returns the mean; 0 when empty.
func (s *Stat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Total) / float64(s.Count)
}

// Percentile returns the nearest-rank percentile p (0 < p <= 100), within 1 % and between Min and Max.
func (s *Stat) Percentile(p float64) int64 {
	if s.Count == 0 {
		return 0
	}
	rank := int64(p / 100 * float64(s.Count))
	if float64(rank) < p/100*float64(s.Count) {
		rank++
	}
	rank = max(rank, 1)
	seen := int64(0)
	for _, b := range s.sorted() {
		seen += int64(b.count)
		if seen >= rank {
			lo, hi := bounds(b.index)
			return min(max(lo+(hi-lo)/2, s.Min), s.Max)
		}
	}
	return s.Max
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
	for _, b := range o.buckets {
		if b.count > 0 {
			s.count(b.index, b.count)
		}
	}
}
