// Package sizes adds calls up: exact counts and totals, percentiles within 1 %, per group.
package sizes

import "math/bits"

// Stat is the distribution of one number over a group: total, minimum, maximum and count are exact, percentiles within
// 1 %. The zero value is empty. Negative numbers are allowed (a clock that was stepped back).
//
// It is a histogram with buckets whose width is 1/128 of their start (numbers below 256 have a bucket each), kept
// sparse: 8 bytes a bucket that has something in it. Two of them merge exactly. A library's sketch (DDSketch) would need
// a kilobyte for each of a group's eight distributions even where a group has three calls.
type Stat struct {
	Count, Total int64
	Min, Max     int64
	buckets      []bucket // sorted by index
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
	i := indexOf(v)
	b := s.buckets
	k, end := 0, len(b) // binary search, by hand: this is the inner loop of every report
	for k < end {
		if mid := int(uint(k+end) >> 1); b[mid].index < i {
			k = mid + 1
		} else {
			end = mid
		}
	}
	if k < len(b) && b[k].index == i {
		b[k].count++
		return
	}
	s.buckets = append(b, bucket{})
	copy(s.buckets[k+1:], s.buckets[k:])
	s.buckets[k] = bucket{i, 1}
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
	for _, b := range s.buckets {
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
	merged := make([]bucket, 0, len(s.buckets)+len(o.buckets))
	i, j := 0, 0
	for i < len(s.buckets) || j < len(o.buckets) {
		switch {
		case j == len(o.buckets) || i < len(s.buckets) && s.buckets[i].index < o.buckets[j].index:
			merged = append(merged, s.buckets[i])
			i++
		case i == len(s.buckets) || o.buckets[j].index < s.buckets[i].index:
			merged = append(merged, o.buckets[j])
			j++
		default:
			merged = append(merged, bucket{s.buckets[i].index, s.buckets[i].count + o.buckets[j].count})
			i, j = i+1, j+1
		}
	}
	s.buckets = merged
}
