package page

import (
	"fmt"
	"math"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// bins is the maximum number of bars of a histogram.
const bins = 16

// bin is a bar: n numbers from low to high.
type bin struct{ low, high, n int64 }

// histogram draws a distribution on a logarithmic axis. format formats a number of the axis; noun is what is counted, which determines
// the colour.
func (d *doc) histogram(title string, s *sizes.Stat, format func(int64) string, noun string) {
	d.f(`<figure class="hist %s"><figcaption>%s</figcaption>`, noun, title)
	defer d.f("</figure>\n")
	if s.Count == 0 {
		d.f("<p class=\"note\">none</p>")
		return
	}
	if s.Min == s.Max {
		d.f("<p class=\"note\">%s, exactly %s each.</p>", report.Plural(s.Count, noun), format(s.Min))
		return
	}
	place := func(v int64) float64 {
		lo, hi := scale(s.Min), scale(s.Max)
		return (scale(v) - lo) / (hi - lo)
	}
	var list [bins]bin
	most := int64(0)
	s.Buckets(func(low, high, n int64) {
		b := &list[min(int(place(low)*bins), bins-1)]
		if b.n == 0 {
			b.low = low
		}
		b.high = high
		b.n += n
		most = max(most, b.n)
	})
	d.f(`<svg role="img" aria-label="%s: %s from %s to %s">`, title, report.Plural(s.Count, noun), format(s.Min), format(s.Max))
	for i, b := range list {
		if b.n == 0 {
			continue
		}
		h := max(int64(math.Round(float64(b.n)/float64(most)*76)), 1)
		text := format(b.low)
		if b.high > b.low {
			text += " to " + format(b.high)
		}
		d.f(`<g><title>%s: %s, %s %%</title><rect x="%s" y="%d" width="5.65%%" height="%d"/><text x="%s" y="%d">%s</text></g>`,
			text, report.Plural(b.n, noun), report.Percent(b.n, s.Count), part(float64(i)/bins+0.003), 92-h, h,
			part((float64(i)+0.5)/bins), 89-h, shortCount(b.n))
	}
	d.f(`<line x1="0" x2="100%%" y1="92.5" y2="92.5"/>`)
	ps := s.Percentiles(50, 99)
	for i, name := range []string{"p50", "p99"} {
		x := part(place(ps[i]))
		d.f(`<line class="p" x1="%s" x2="%s" y1="14" y2="97"><title>%s: %s</title></line>`, x, x, name, format(ps[i]))
	}
	for _, t := range ticks(s.Min, s.Max, place) {
		anchor := ""
		switch t {
		case s.Min:
			anchor = ` class="l"`
		case s.Max:
			anchor = ` class="r"`
		}
		d.f(`<text%s x="%s" y="108">%s</text>`, markup(anchor), part(place(t)), format(t))
	}
	d.f("</svg>")
	whole := float64(s.Total) / float64(s.Count)
	mean := report.Size(whole)
	if noun == "call" {
		mean = report.Elapsed(s.Total / s.Count)
	}
	d.f(`<p class="note">%s: min %s, mean %s, p50 %s, p90 %s, p99 %s, max %s. Dashed: p50 and p99.</p>`, report.Plural(s.Count, noun), format(s.Min), mean,
		format(ps[0]), format(s.Percentile(90)), format(ps[1]), format(s.Max))
}

// scale returns a number's place on the logarithmic axis. Negative numbers occur if clocks were set back.
func scale(v int64) float64 {
	if v < 0 {
		return -math.Log1p(-float64(v))
	}
	return math.Log1p(float64(v))
}

// ticks returns the numbers to print below an axis: both ends, and round numbers between them if there is room.
func ticks(from, to int64, place func(int64) float64) []int64 {
	list := []int64{from, to}
	for _, digits := range [][]int64{{1}, {1, 2, 5}} {
		for decade := int64(1); decade > 0 && decade <= to; decade *= 10 {
			for _, k := range digits {
				v := k * decade
				if v <= from || v >= to || v/decade != k {
					continue
				}
				room := true
				for _, other := range list {
					room = room && math.Abs(place(other)-place(v)) > 0.19
				}
				if room {
					list = append(list, v)
				}
			}
			if decade > math.MaxInt64/10 {
				break
			}
		}
	}
	return list
}

// shortCount formats a count above a bar, where there is little room.
func shortCount(n int64) string {
	switch {
	case n < 10_000:
		return report.Count(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}
