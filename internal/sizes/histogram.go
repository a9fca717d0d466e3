// Package sizes aggregates calls: counts, sizes and times by group, by pair of hosts and over time, and the worst calls. It
// receives closed calls, and later the final link bytes of their messages. It returns groups with exact counts and totals and
// with percentiles within 1 %; distributions of two runs merge exactly. It copies what it keeps of a call, except for the
// names, which all requests of a method share; the number of groups, paths, pairs and kinds of failures is bounded. The rules
// of counting are in docs/counting.md, the buckets are log-linear, as in HDR histograms.
package sizes

import (
	"math/bits"
	"slices"
)

// Stat is the distribution of one number over a group. Total, minimum, maximum and count are exact, percentiles are within
// 1 %. The zero value is empty. Negative numbers are allowed, because a clock may be set back.
//
// It is a histogram with buckets whose width is 1/128 of their start; numbers below 256 have a bucket each. The first
// hundred numbers take about a byte each (compactBuckets), more are in a table (bucketTable). Two histograms merge exactly.
// A library's sketch (DDSketch) needs a kilobyte for each of a group's eight distributions even if the group has three calls.
type Stat struct {
	Count, Total int64
	Min, Max     int64
	counts       *counts // nil: at most fewNumbers, which the other fields tell
}

// fewNumbers is the largest count for which minimum, maximum and total tell every number.
const fewNumbers = 3

type counts struct {
	compact compactBuckets
	table   *bucketTable // instead of compact, from tableFrom numbers on
}

type bucket struct {
	index int32
	count int64
}

// tableFrom is the count from which on a distribution has a table.
const tableFrom = 128

// precision is the number of bits below the highest one that select the bucket of a number.
const precision = 7

// indexOf returns the index of the bucket of v. A larger number never has a smaller index.
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
	c := s.counts
	switch {
	case c != nil:
	case s.Count == 0:
		s.Min, s.Max = v, v
	case s.Count == fewNumbers:
		c = s.makeCounts()
	}
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	s.Count++
	s.Total += v
	if c == nil {
		return
	}
	if t := c.table; t != nil {
		t.batch[t.pending] = indexOf(v)
		if t.pending++; t.pending == batchLen {
			t.flush()
		}
		return
	}
	c.compact.add(indexOf(v))
	if s.Count >= tableFrom {
		var buffer [tableFrom]bucket
		c.useTable(c.compact.sorted(buffer[:0]))
	}
}

// few appends the buckets of at most fewNumbers to an empty list in ascending order.
func (s *Stat) few(list []bucket) []bucket {
	numbers := [...]int64{s.Min, s.Max, s.Max}
	if s.Count == fewNumbers {
		numbers[1] = s.Total - s.Min - s.Max // right even if the total has overflowed
	}
	for _, v := range numbers[:s.Count] {
		index := indexOf(v)
		if last := len(list) - 1; last >= 0 && list[last].index == index {
			list[last].count++
			continue
		}
		list = append(list, bucket{index, 1})
	}
	return list
}

// makeCounts returns the counts. If the numbers are few, it makes them.
func (s *Stat) makeCounts() *counts {
	if s.counts == nil {
		var room [fewNumbers]bucket
		list := s.few(room[:0])
		s.counts = new(counts)
		for _, b := range list {
			for range b.count {
				s.counts.compact.add(b.index)
			}
		}
	}
	return s.counts
}

// AddN counts v n times: a sampled number that stands for others.
func (s *Stat) AddN(v, n int64) {
	switch {
	case n <= 0:
		return
	case n == 1:
		s.Add(v)
		return
	case s.Count == 0:
		s.Min, s.Max = v, v
	}
	c := s.makeCounts()
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	s.Count += n
	s.Total += v * n
	if c.table == nil {
		c.useTable(c.compact.sorted(nil))
	}
	c.table.add(indexOf(v), n)
}

// useTable replaces the buckets by a table with those of list.
func (c *counts) useTable(list []bucket) {
	c.table, c.compact = newBucketTable(len(list)), compactBuckets{}
	for _, b := range list {
		c.table.add(b.index, b.count)
	}
}

// sorted returns the buckets in ascending order. Those of a distribution without a table are appended to room, which is empty.
func (s *Stat) sorted(room []bucket) []bucket {
	switch c := s.counts; {
	case c == nil:
		return s.few(room)
	case c.table != nil:
		return c.table.sorted()
	default:
		return c.compact.sorted(room)
	}
}

// Mean returns the mean, 0 if s is empty.
func (s *Stat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Total) / float64(s.Count)
}

// Percentile returns the nearest-rank percentile p, 0 < p <= 100. It is within 1 % and between Min and Max.
func (s *Stat) Percentile(p float64) int64 { return s.Percentiles(p)[0] }

// Percentiles returns several percentiles, which must be in ascending order.
func (s *Stat) Percentiles(ps ...float64) []int64 { return s.AppendPercentiles(nil, ps...) }

// AppendPercentiles appends what [Stat.Percentiles] returns.
func (s *Stat) AppendPercentiles(out []int64, ps ...float64) []int64 {
	seen := int64(0)
	var room [tableFrom]bucket
	for _, b := range s.sorted(room[:0]) {
		seen += b.count
		for ; len(ps) > 0 && seen >= s.rank(ps[0]); ps = ps[1:] {
			lo, hi := bounds(b.index)
			out = append(out, min(max(lo+(hi-lo)/2, s.Min), s.Max))
		}
	}
	for range ps {
		out = append(out, s.Max)
	}
	return out
}

// rank returns the position, from 1, of the percentile p among the sorted numbers.
func (s *Stat) rank(p float64) int64 {
	rank := int64(p / 100 * float64(s.Count))
	if float64(rank) < p/100*float64(s.Count) {
		rank++
	}
	return max(rank, 1)
}

// Buckets calls f for each bucket that is not empty, in ascending order: it has n numbers from low to high.
func (s *Stat) Buckets(f func(low, high, n int64)) {
	var room [tableFrom]bucket
	for _, b := range s.sorted(room[:0]) {
		lo, hi := bounds(b.index)
		f(max(lo, s.Min), min(hi, s.Max), b.count)
	}
}

// Equal reports whether two distributions have the same numbers, as far as buckets tell.
func (s *Stat) Equal(o *Stat) bool {
	return s.Count == o.Count && s.Total == o.Total && s.Min == o.Min && s.Max == o.Max && slices.Equal(s.sorted(nil), o.sorted(nil))
}

// Merge adds another distribution.
func (s *Stat) Merge(o *Stat) {
	if o.Count == 0 {
		return
	}
	few := s.counts == nil && o.counts == nil && s.Count+o.Count <= fewNumbers
	if !few {
		s.makeCounts()
	}
	if s.Count == 0 {
		s.Min, s.Max = o.Min, o.Max
	}
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.Count += o.Count
	s.Total += o.Total
	if few {
		return
	}
	var room [tableFrom]bucket
	list, c := o.sorted(room[:0]), s.counts
	if c.table == nil {
		if s.Count < tableFrom {
			c.compact.merge(list)
			return
		}
		c.useTable(c.compact.sorted(nil))
	}
	for _, b := range list {
		c.table.add(b.index, b.count)
	}
}
