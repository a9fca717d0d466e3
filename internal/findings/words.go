package findings

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
)

func fact(name string, n int64) report.Fact { return report.Fact{Name: name, Value: float64(n)} }

func words(name, text string) report.Fact { return report.Fact{Name: name, Text: text} }

// micros is a time in microseconds.
func micros(name string, ns int64) report.Fact {
	return report.Fact{Name: name, Value: float64(ns) / 1e3}
}

func number01(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// share is n of d in percent: whole percents from 10 on, else one decimal. A part is never rounded to nothing or to all.
func share(n, d int64) string {
	f := 100 * float64(n) / float64(d)
	switch {
	case n == d:
		return "100 %"
	case n > 0 && f < 0.05:
		return "<0.1 %"
	case f < 9.95:
		return strconv.FormatFloat(f, 'f', 1, 64) + " %"
	case n < d && f >= 99.5:
		return ">99 %"
	case n > d && f < 100.5:
		return ">100 %"
	}
	return strconv.FormatFloat(f, 'f', 0, 64) + " %"
}

// mean is n/d as bytes are printed.
func mean(n, d int64) string { return report.Size(float64(n) / float64(d)) }

// times is n/d with two decimals: 0.21x; never nothing.
func times(n, d int64) string {
	if f := float64(n) / float64(d); f >= 0.005 {
		return strconv.FormatFloat(f, 'f', 2, 64) + "x"
	}
	return "<0.01x"
}

// scaled is all·n/d, without overflow; at most all.
func scaled(all, n, d int64) int64 {
	if d <= 0 || n <= 0 || all <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(all), uint64(min(n, d)))
	q, _ := bits.Div64(hi, lo, uint64(d))
	return int64(q)
}

// counted words a number with its noun.
func counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return report.Count(n) + " " + one + "s"
}

func others(n int64) string {
	if n == 1 {
		return "1 other call"
	}
	return report.Count(n) + " other calls"
}

// someOf lists the first n of texts.
func someOf(texts []string, n int) string {
	n = min(n, len(texts))
	return listed(texts[:n], len(texts)-n)
}

// listed joins texts, and says how many more there are.
func listed(texts []string, more int) string {
	s := strings.Join(texts, ", ")
	if more > 0 {
		s += ", " + report.Count(int64(more)) + " more"
	}
	return s
}

// both joins texts with commas and a last "and"; of more than n the first, and how many more there are.
func both(texts []string, n int) string {
	if len(texts) > n+1 {
		return someOf(texts, n)
	}
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// part is one of a count.
type part[K comparable] struct {
	of K
	n  int64
}

// most are the parts of a count, the largest first; those that are equal by name.
func most[K comparable](m map[K]int64, name func(K) string) []part[K] {
	list := make([]part[K], 0, len(m))
	for k := range maps.Keys(m) {
		list = append(list, part[K]{k, m[k]})
	}
	slices.SortFunc(list, func(a, b part[K]) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(name(a.of), name(b.of)))
	})
	return list
}
