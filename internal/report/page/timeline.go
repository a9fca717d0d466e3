package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// height is the height of a chart in its own units.
const height = 1000

// line is one series of a chart.
type line struct {
	class, name string
	value       func(*sizes.Slot) float64
	area        bool
}

// timeline draws the traffic over time.
func (p *page) timeline() {
	if p.report.Timeline == nil {
		p.f("<p class=\"note\">This report does not contain traffic over time.</p>\n")
		return
	}
	start, step, slots := p.report.Timeline.Slots()
	if len(slots) == 0 {
		return
	}
	p.section("time", "Over time")
	mbit := func(of func(*sizes.Slot) int64) func(*sizes.Slot) float64 {
		return func(s *sizes.Slot) float64 { return float64(of(s)) * 8000 / float64(step) }
	}
	second := func(of func(*sizes.Slot) int64) func(*sizes.Slot) float64 {
		return func(s *sizes.Slot) float64 { return float64(of(s)) * 1e9 / float64(step) }
	}
	traffic := []line{
		{"t-link", "all packets", mbit(func(s *sizes.Slot) int64 { return s.LinkBytes }), true},
		{"t-request", "request frames", mbit(func(s *sizes.Slot) int64 { return s.RequestBytes }), false},
		{"t-response", "response frames", mbit(func(s *sizes.Slot) int64 { return s.ResponseBytes }), false},
	}
	calls := []line{
		{"t-calls", "calls", second(func(s *sizes.Slot) int64 { return s.Calls }), true},
		{"t-errors", "errors", second(func(s *sizes.Slot) int64 { return s.Errors }), false},
	}
	axis := timeAxis(start, step, len(slots))
	p.f(`<div class="charts" data-slots="%d">`, len(slots))
	p.chart("Mbit/s", traffic, slots, axis)
	if p.view.Ranking != nil {
		p.chart("calls/s", calls, slots, axis)
	}
	p.f("</div>\n<p class=\"note\">UTC, %s. Steps of %s", time.Unix(0, start).UTC().Format(time.DateOnly), stepText(step))
	if len(slots) > 1 {
		p.f("; the last one is incomplete")
	}
	p.f(". A frame counts when its last byte was captured, a call when its request was. Point at a chart, or use the arrow keys in it, to see the numbers.</p>\n")
	p.f("<details><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"over time\"><table id=\"slots\"><thead><tr><th scope=\"col\" class=\"t\">from")
	for _, l := range append(traffic, calls...) {
		unit := "Mbit/s"
		if strings.HasPrefix(l.class, "t-calls") || l.class == "t-errors" {
			unit = "/s"
		}
		p.f(`<th scope="col">%s %s`, l.name, unit)
	}
	p.f("</thead><tbody>\n")
	for i := range slots {
		s := &slots[i]
		p.f("<tr><td class=\"t\">%s", clock(start+int64(i)*step, step))
		raw := [...]int64{s.LinkBytes, s.RequestBytes, s.ResponseBytes, s.Calls, s.Errors}
		for k, l := range append(traffic, calls...) {
			if raw[k] == 0 {
				p.f("<td>0")
				continue
			}
			unit := "B"
			if k > 2 {
				unit = ""
			}
			p.f(`<td title="%s">%s`, strings.TrimSpace(report.Count(raw[k])+" "+unit), report.Rate(l.value(s)))
		}
		p.f("\n")
	}
	p.f("</tbody></table></div></details>\n</section>\n")
}

// chart draws several series. The picture scales with the page; its texts do not.
func (p *page) chart(unit string, lines []line, slots []sizes.Slot, axis []timeTick) {
	most := 0.0
	for i := range slots {
		for _, l := range lines {
			most = max(most, l.value(&slots[i]))
		}
	}
	top, stepY := niceTop(most)
	p.f(`<figure class="chart"><figcaption><b>%s</b><ul class="legend">`, unit)
	for _, l := range lines {
		peak := 0.0
		for i := range slots {
			peak = max(peak, l.value(&slots[i]))
		}
		p.f(`<li><i class="%s"></i>%s <small>max %s</small></li>`, l.class, l.name, report.Rate(peak))
	}
	p.f(`</ul></figcaption><div class="plot"><svg class="y" aria-hidden="true">`)
	for v := 0.0; v <= top*1.0001; v += stepY {
		p.f(`<text x="100%%" y="%s">%s</text>`, part(0.05+0.83*(1-v/top)), axisNumber(v))
	}
	p.f(`</svg><div class="area" tabindex="0" role="img" aria-label="%s over time"><svg>`, unit)
	for v := 0.0; v <= top*1.0001; v += stepY {
		y := part(0.05 + 0.83*(1-v/top))
		p.f(`<line class="grid" x1="0" x2="100%%" y1="%s" y2="%s"/>`, y, y)
	}
	p.f(`<svg y="5%%" width="100%%" height="83%%" viewBox="0 0 %d %d" preserveAspectRatio="none">`, len(slots), height)
	for _, l := range lines {
		p.f(`<path class="%s" d="%s"/>`, l.class, markup(l.path(slots, top)))
	}
	p.f("</svg>")
	for i, t := range axis {
		class := ""
		switch {
		case t.at > 0.95:
			class = " r"
		case t.at < 0.05:
			class = " l"
		}
		if i%2 == 1 {
			class += " odd"
		}
		p.f(`<line class="tick" x1="%s" x2="%s" y1="88%%" y2="90%%"/><text class="x%s" x="%s" y="98%%">%s</text>`,
			part(t.at), part(t.at), class, part(t.at), t.text)
	}
	p.f("</svg></div></div></figure>\n")
}

// path returns the path of a step for each slot.
func (l *line) path(slots []sizes.Slot, top float64) string {
	var b strings.Builder
	last := -1
	for i := range slots {
		y := height
		if top > 0 {
			y = height - int(math.Round(l.value(&slots[i])/top*height))
		}
		switch {
		case i == 0 && l.area:
			fmt.Fprintf(&b, "M0 %dV%d", height, y)
		case i == 0:
			fmt.Fprintf(&b, "M0 %d", y)
		case y != last:
			fmt.Fprintf(&b, "H%dV%d", i, y)
		}
		last = y
	}
	fmt.Fprintf(&b, "H%d", len(slots))
	if l.area {
		fmt.Fprintf(&b, "V%dZ", height)
	}
	return b.String()
}

// niceTop returns a round number not below the largest value, and the distance of at most five grid lines up to it.
func niceTop(most float64) (top, step float64) {
	if most <= 0 {
		return 1, 1
	}
	decade := math.Pow(10, math.Floor(math.Log10(most/5)))
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		if step = k * decade; most <= 5*step*1.0000001 {
			break
		}
	}
	return math.Ceil(most/step*0.9999999) * step, step
}

func axisNumber(v float64) string {
	if v == 0 {
		return "0"
	}
	if v >= 1000 {
		return report.Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// timeTick is a label of the time axis. at is its place, from 0 to 1.
type timeTick struct {
	at   float64
	text string
}

// steps are the possible distances of labels on the time axis.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// timeAxis returns labels at round times, or only the start if the time is very short.
func timeAxis(start, step int64, slots int) []timeTick {
	span := step * int64(slots)
	d := steps[len(steps)-1]
	for int64(d) < math.MaxInt64/4 && span/int64(d) > 7 {
		d *= 2
	}
	for _, s := range steps {
		if span/int64(s) <= 7 {
			d = s
			break
		}
	}
	var list []timeTick
	at := time.Unix(0, start).UTC().Truncate(d)
	for ; ; at = at.Add(d) {
		since := at.UnixNano() - start
		if since < 0 {
			continue
		}
		if since > span || len(list) > 16 {
			break
		}
		list = append(list, timeTick{float64(since) / float64(span), tickText(at, d)})
	}
	if len(list) == 0 {
		list = append(list, timeTick{0, clock(start, step)})
	}
	return list
}

func tickText(at time.Time, d time.Duration) string {
	switch {
	case d < time.Second:
		return at.Format("15:04:05.000")
	case d < time.Minute:
		return at.Format("15:04:05")
	case d < 24*time.Hour:
		return at.Format("15:04")
	}
	return at.Format(time.DateOnly)
}

// clock formats the start of a slot with the precision of the slots' width.
func clock(ns, step int64) string {
	layout := "15:04:05"
	if step%int64(time.Second) != 0 {
		layout = "15:04:05.000"
	}
	if step > int64(time.Hour) {
		layout = "2006-01-02 15:04"
	}
	return time.Unix(0, ns).UTC().Format(layout)
}

// stepText formats the width of a slot, which is a multiple of a millisecond.
func stepText(step int64) string {
	if step < int64(time.Second) {
		return fmt.Sprintf("%d ms", step/int64(time.Millisecond))
	}
	return strconv.FormatFloat(float64(step)/1e9, 'f', -1, 64) + " s"
}
