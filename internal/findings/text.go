package findings

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
)

func fact(name string, n int64) report.Fact { return report.Fact{Name: name, Value: float64(n)} }

func words(name, text string) report.Fact { return report.Fact{Name: name, Text: text} }

// micros returns a time in microseconds.
func micros(name string, ns int64) report.Fact {
	return report.Fact{Name: name, Value: float64(ns) / 1e3}
}

func number01(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// share formats n of d in percent: whole percents from 10 on, else one decimal. A part is never rounded to 0 or 100 %.
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

// verb returns one for one thing, else many.
func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// mean formats n/d bytes.
func mean(n, d int64) string { return report.Size(float64(n) / float64(d)) }

// scaled returns all·n/d without overflow, at most all.
func scaled(all, n, d int64) int64 {
	if d <= 0 || n <= 0 || all <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(all), uint64(min(n, d)))
	q, _ := bits.Div64(hi, lo, uint64(d))
	return int64(q)
}

// someOf joins the first n texts and adds the number of the others.
func someOf(texts []string, n int) string {
	n = min(n, len(texts))
	return listed(texts[:n], len(texts)-n)
}

// listed joins texts and adds the number of further ones.
func listed(texts []string, more int) string {
	s := strings.Join(texts, ", ")
	if more > 0 {
		s += ", " + report.Count(int64(more)) + " more"
	}
	return s
}

// both joins texts with commas and a last "and". If there are more than n+1, it joins the first n like someOf.
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

// part is a key of a map with its count.
type part[K comparable] struct {
	key K
	n   int64
}

// most returns the keys of a map with their counts in descending order; keys with equal counts are sorted by name.
func most[K comparable](m map[K]int64, name func(K) string) []part[K] {
	list := make([]part[K], 0, len(m))
	for k, n := range m {
		list = append(list, part[K]{k, n})
	}
	slices.SortFunc(list, func(a, b part[K]) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(name(a.key), name(b.key)))
	})
	return list
}

// reasons joins the texts whose count is above 0, the most frequent first, with their counts unless there is one only.
func reasons(texts []string, counts []int64) string {
	var list []part[string]
	for i, n := range counts {
		if n > 0 {
			list = append(list, part[string]{texts[i], n})
		}
	}
	if len(list) == 1 {
		return list[0].key
	}
	slices.SortStableFunc(list, func(a, b part[string]) int { return cmp.Compare(b.n, a.n) })
	var parts []string
	for _, r := range list {
		parts = append(parts, report.Count(r.n)+": "+r.key)
	}
	return strings.Join(parts, "; ")
}
