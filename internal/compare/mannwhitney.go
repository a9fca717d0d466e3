package compare

import (
	"maps"
	"math"
	"slices"

	"dubbo-wire/internal/sizes"
)

// The test is exact for up to exactUpTo numbers of both sides together, and for up to smallUpTo if one side has at most smallSide, because the
// distribution of ranks is then far from normal. More would take too long for thousands of methods.
const exactUpTo, smallSide, smallUpTo = 20, 3, 100

// Test is the result of a Mann-Whitney U test of whether the numbers of one distribution tend to be larger than those of another.
// It compares buckets of histograms, so numbers that differ by less than 1/128 are ties.
type Test struct {
	// P is the two-sided probability of a difference at least as large if both sides were samples of the same calls.
	P float64
	// Least is the smallest possible P for this many numbers, 0 if the test is not exact.
	Least float64
}

// MannWhitney tests two distributions that are not empty. The test is exact for few numbers; else it uses the normal approximation,
// corrected for ties and continuity.
func MannWhitney(a, b *sizes.Stat) Test {
	ties := commonBuckets(a, b)
	n1, n2 := a.Count, b.Count
	if n1+n2 <= exactUpTo || min(n1, n2) <= smallSide && n1+n2 <= smallUpTo {
		return exactTest(ties, n1, n2)
	}
	n := float64(n1 + n2)
	ranks, below, equal := 0.0, 0.0, 0.0
	for _, t := range ties {
		all := float64(t.a + t.b)
		ranks += float64(t.a) * (below + (all+1)/2)
		below += all
		equal += all * (all*all - 1)
	}
	u := ranks - float64(n1)*(float64(n1)+1)/2
	half := float64(n1) * float64(n2) / 2
	variance := half / 6 * (n + 1 - equal/(n*(n-1)))
	if variance <= 0 {
		return Test{P: 1} // all are equal
	}
	z := max(math.Abs(u-half)-0.5, 0) / math.Sqrt(variance)
	return Test{P: math.Erfc(z / math.Sqrt2)}
}

// tie is the counts of both sides in a bucket.
type tie struct{ a, b int64 }

// commonBuckets returns the buckets of two distributions in ascending order.
func commonBuckets(a, b *sizes.Stat) []tie {
	byStart := make(map[int64]tie)
	a.Grid(func(start, n int64) { byStart[start] = tie{a: n} })
	b.Grid(func(start, n int64) { byStart[start] = tie{byStart[start].a, n} })
	all := make([]tie, 0, len(byStart))
	for _, start := range slices.Sorted(maps.Keys(byStart)) {
		all = append(all, byStart[start])
	}
	return all
}

// exactTest is the exact test. ways[k][s] is the number of ways in which k numbers of the ties so far have the rank sum s. Ranks are
// doubled, so that those of ties are integers.
func exactTest(ties []tie, n1, n2 int64) Test {
	swap := n2 < n1
	if swap {
		n1 = n2
	}
	n := int64(0)
	for _, t := range ties {
		n += t.a + t.b
	}
	sums := n1*(2*n) + 1
	ways := make([][]float64, n1+1)
	for k := range ways {
		ways[k] = make([]float64, sums)
	}
	ways[0][0] = 1
	before, got := int64(0), int64(0)
	for _, t := range ties {
		all := t.a + t.b
		rank := 2*before + all + 1
		mine := t.a
		if swap {
			mine = t.b
		}
		got += mine * rank
		for k := n1; k >= 0; k-- { // downwards, so that additions are not visited again
			for s := sums - 1; s >= 0; s-- {
				if ways[k][s] == 0 {
					continue
				}
				choose := 1.0
				for j := int64(1); j <= all && k+j <= n1; j++ {
					choose = choose * float64(all-j+1) / float64(j)
					ways[k+j][s+j*rank] += ways[k][s] * choose
				}
			}
		}
		before += all
	}
	mean := n1 * (n + 1) // of doubled rank sums
	distance := func(s int64) int64 { return max(s-mean, mean-s) }
	total, atLeast, farthest, extreme := 0.0, 0.0, int64(-1), 0.0
	for s, w := range ways[n1] {
		if w == 0 {
			continue
		}
		d := distance(int64(s))
		total += w
		if d >= distance(got) {
			atLeast += w
		}
		switch {
		case d > farthest:
			farthest, extreme = d, w
		case d == farthest:
			extreme += w
		}
	}
	return Test{P: atLeast / total, Least: extreme / total}
}
