package sizes

import (
	"errors"
	"math"
)

// Bucket is a bucket of a saved report: its upper bound, at most the maximum of the distribution, and its count.
type Bucket struct{ Upper, Count int64 }

// The errors of Restore.
var (
	errOrder  = errors.New("its buckets are not in order")
	errCount  = errors.New("a bucket has a count below 1, or the sum of counts exceeds 64 bits")
	errBounds = errors.New("its min and max are not in the first and last bucket")
	errTotal  = errors.New("its total cannot be that of its buckets")
)

// Restore returns the distribution with a total, a minimum, a maximum and the upper bounds and counts that [Stat.Buckets]
// returned. Its percentiles are those of the saved distribution. Contradictory numbers are an error.
func Restore(total, least, greatest int64, list []Bucket) (Stat, error) {
	s := Stat{Total: total, Min: least, Max: greatest}
	if len(list) == 0 {
		return Stat{}, nil
	}
	buckets := make([]bucket, len(list))
	low, high := 0.0, 0.0
	for i, b := range list {
		if b.Count < 1 || b.Count > math.MaxInt64-s.Count {
			return Stat{}, errCount
		}
		buckets[i] = bucket{indexOf(b.Upper), b.Count}
		if i > 0 && buckets[i].index <= buckets[i-1].index {
			return Stat{}, errOrder
		}
		s.Count += b.Count
		lo, hi := bounds(buckets[i].index)
		low, high = low+float64(max(lo, least))*float64(b.Count), high+float64(min(hi, greatest))*float64(b.Count)
	}
	if least > greatest || indexOf(least) != buckets[0].index || indexOf(greatest) != buckets[len(buckets)-1].index {
		return Stat{}, errBounds
	}
	// Sums of float64 are exact to a part in 10^15, so such a difference is not a contradiction.
	slack := (max(high, -high) + max(low, -low)) / 1e12
	if t := float64(total); t < low-slack || t > high+slack {
		return Stat{}, errTotal
	}
	s.counts = new(counts)
	if s.Count < tableFrom {
		s.counts.compact.encode(buckets)
	} else {
		s.counts.useTable(buckets)
	}
	return s, nil
}

// Grid calls f for each bucket that is not empty, in ascending order, with its lower bound and its count. The bounds are the
// same in all distributions.
func (s *Stat) Grid(f func(start, n int64)) {
	for _, b := range s.sorted(nil) {
		lo, _ := bounds(b.index)
		f(lo, b.count)
	}
}
