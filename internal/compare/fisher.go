package compare

import "math"

// maxSum limits the terms of an exact test.
const maxSum = 1e5

// fisher is Fisher's exact test, two-sided: whether a of n calls and b of m calls fail at the same rate. Least is the smallest P that
// this number of failures can have.
func fisher(a, n, b, m int64) Test {
	failed, all := a+b, n+m
	if failed <= 0 || failed >= all || min(a, b) < 0 || a > n || b > m {
		return Test{P: 1, Least: 1}
	}
	low, high := max(0, failed-m), min(failed, n)
	if high-low > maxSum { // the normal approximation
		rate := float64(failed) / float64(all)
		z := math.Abs(float64(a)/float64(n)-float64(b)/float64(m)) / math.Sqrt(rate*(1-rate)*(1/float64(n)+1/float64(m)))
		return Test{P: math.Erfc(z / math.Sqrt2)}
	}
	choose := func(n, k int64) float64 {
		x, _ := math.Lgamma(float64(n) + 1)
		y, _ := math.Lgamma(float64(k) + 1)
		z, _ := math.Lgamma(float64(n-k) + 1)
		return x - y - z
	}
	total := choose(all, failed)
	chance := func(k int64) float64 {
		return math.Exp(choose(n, k) + choose(m, failed-k) - total)
	}
	const same = 1 + 1e-6 // equal chances differ by rounding
	got, rarest := chance(a)*same, min(chance(low), chance(high))*same
	var t Test
	for k := low; k <= high; k++ {
		p := chance(k)
		if p <= got {
			t.P += p
		}
		if p <= rarest {
			t.Least += p
		}
	}
	t.P, t.Least = min(t.P, 1), min(t.Least, 1)
	return t
}
