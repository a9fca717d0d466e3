// Package sizes adds calls up: exact counts and totals, percentiles within 1 %, per group.
package sizes

import (
	"math"
	"math/bits"
	"slices"
)

// Stat is the distribution of one number over a group: total, minimum, maximum and count are exact, percentiles within
// 1 %. The zero value is empty. Negative numbers are allowed (a clock that was stepped back).
//
// It is a histogram with buckets whose width is 1/128 of their start (numbers below 256 have a bucket each), kept
// sparse: about 16 bytes a bucket that has something in it. Where the buckets in use lie so close that an array of all
// between them takes no more than twice that, it is one. Two histograms merge exactly. A library's sketch (DDSketch)
// would need a kilobyte for each of a group's eight distributions even where a group has three calls.
//
// Numbers of a distribution that has many wait in a batch: a report has eight distributions a group, whose buckets do
// not stay in a processor's cache from one number to the next, and counted in a row the misses pass at the same time.
type Stat struct {
	Count, Total int64
	Min, Max     int64
	waiting      *batch
	buckets      []bucket // an open-addressed table, of 2^n slots; those with count 0 are free
	used         int      // slots
	dense        []uint32 // instead of the table: the counts from index first on
	first        int32
}

type bucket struct {
	index int32
	count uint32
}

// batch is the indexes of numbers that are not in their buckets yet.
type batch struct {
	n     int32
	index [batchLen]int32
}

const (
	batchLen = 31 // with their number 128 bytes
	// batchFrom is from which number on they are batched, so that small groups have no batch.
	batchFrom = 256
	// denseFrom is from how many buckets on they may be an array.
	denseFrom = 64
)

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
	if w := s.waiting; w != nil {
		w.index[w.n] = indexOf(v)
		if w.n++; w.n == batchLen {
			s.flush()
		}
		return
	}
	s.count(indexOf(v), 1)
	if s.Count >= batchFrom {
		s.waiting = new(batch)
	}
}

// flush counts the numbers that wait.
func (s *Stat) flush() {
	if s.waiting == nil {
		return
	}
	waiting := s.waiting.index[:s.waiting.n]
	s.waiting.n = 0
	dense, first := s.dense, s.first
	for _, index := range waiting {
		if i := int(index) - int(first); uint(i) < uint(len(dense)) {
			dense[i]++
			continue
		}
		s.count(index, 1)
		dense, first = s.dense, s.first
	}
}

// count adds n to the bucket with that index.
func (s *Stat) count(index int32, n uint32) {
	if s.dense != nil {
		if i := int(index) - int(s.first); uint(i) < uint(len(s.dense)) {
			s.dense[i] += n
			return
		}
		s.widen(index)
		s.count(index, n)
		return
	}
	if 4*s.used >= 3*len(s.buckets) {
		s.grow()
		s.count(index, n)
		return
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

// grow makes room for more buckets: a larger table, or an array where that is not much larger.
func (s *Stat) grow() {
	old, size := s.buckets, max(2*len(s.buckets), 4)
	if s.used > denseFrom {
		lo, hi := s.ends(old)
		if fitsDense(int64(hi)-int64(lo)+1, size) {
			s.buckets, s.first, s.dense = nil, lo, make([]uint32, hi-lo+1)
			for _, b := range old {
				if b.count > 0 {
					s.dense[b.index-lo] = b.count
				}
			}
			return
		}
	}
	s.buckets = make([]bucket, size)
	for _, b := range old {
		if b.count > 0 {
			*s.slot(b.index) = b
		}
	}
}

// fitsDense reports whether an array of n counts takes no more than twice a table of so many slots.
func fitsDense(n int64, slots int) bool { return 4*n <= 2*8*int64(slots) }

// ends returns the least and the greatest index in use.
func (s *Stat) ends(table []bucket) (lo, hi int32) {
	lo, hi = math.MaxInt32, math.MinInt32
	for _, b := range table {
		if b.count > 0 {
			lo, hi = min(lo, b.index), max(hi, b.index)
		}
	}
	return lo, hi
}

// widen makes the array reach an index outside of it, with a quarter more than that for the next ones, or a table of it
// where that would be too far.
func (s *Stat) widen(index int32) {
	lo, hi := int64(s.first), int64(s.first)+int64(len(s.dense))
	spare := int64(len(s.dense)) / 4
	if int64(index) < lo {
		lo = int64(index) - spare
	} else {
		hi = int64(index) + 1 + spare
	}
	used := 0
	for _, n := range s.dense {
		if n > 0 {
			used++
		}
	}
	old, first := s.dense, s.first
	slots := 4
	for 3*slots <= 4*(used+1) {
		slots *= 2
	}
	if fitsDense(hi-lo, 2*slots) {
		s.first, s.dense = int32(lo), make([]uint32, hi-lo)
		copy(s.dense[first-s.first:], old)
		return
	}
	s.buckets, s.dense, s.used = make([]bucket, slots), nil, used
	for i, n := range old {
		if n > 0 {
			at := first + int32(i)
			*s.slot(at) = bucket{at, n}
		}
	}
}

// sorted returns the buckets in the order of their values.
func (s *Stat) sorted() []bucket {
	s.flush()
	if s.dense != nil {
		list := make([]bucket, 0, len(s.dense)/2)
		for i, n := range s.dense {
			if n > 0 {
				list = append(list, bucket{s.first + int32(i), n})
			}
		}
		return list
	}
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
	for _, b := range o.sorted() {
		s.count(b.index, b.count)
	}
}
