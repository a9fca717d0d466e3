package screen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/report"
)

// Numbers are formatted as in reports. Unknown or impossible numbers are "-". Numbers in columns of the table are never
// cut: one that is too wide is printed with fewer digits and a unit.

const none = "-"

func isNumber(f float64) bool { return f >= 0 && !math.IsInf(f, 1) }

// rate formats bits per second in Mbit/s; perSecond formats a number per second.
func rate(bits float64) string { return perSecond(bits / 1e6) }

func perSecond(f float64) string {
	if !isNumber(f) {
		return none
	}
	return report.Rate(f)
}

func percent(f float64) string {
	switch {
	case !isNumber(f):
		return none
	case f == 0:
		return "0"
	case f < 0.05:
		return "<0.1"
	case f >= 99.95 && f < 100:
		return ">99.9"
	case f >= 99.95:
		return report.Rate(math.Round(f))
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// percentOf formats a percentage with its sign.
func percentOf(f float64) string {
	if !isNumber(f) {
		return none
	}
	return percent(f) + " %"
}

func size(f float64) string {
	if !isNumber(f) || f > math.MaxInt64/2 {
		return none
	}
	return report.Size(f)
}

func sizes(n int64) string { return size(float64(n)) }

// nanos prints a number of nanoseconds.
func nanos(f float64) string {
	if !isNumber(f) || f > math.MaxInt64/2 {
		return none
	}
	return elapsed(int64(f))
}

func elapsed(ns int64) string { return orNone(ns, report.Elapsed) }
func count(n int64) string    { return orNone(n, report.Count) }
func volume(n int64) string   { return orNone(n, report.Volume) }

// orNone formats a number that is negative if it is unknown.
func orNone(n int64, print func(int64) string) string {
	if n < 0 {
		return none
	}
	return print(n)
}

// shortNumber returns s, or the number f with three digits and a unit if s is wider than n columns.
func shortNumber(s string, f float64, n int) string {
	if len(s) <= n || !isNumber(f) {
		return s
	}
	for _, unit := range []string{"", "k", "M", "G", "T", "P", "E"} {
		if f < 999.5 || unit == "E" {
			digits := 2
			if f >= 99.95 {
				digits = 0
			} else if f >= 9.995 {
				digits = 1
			}
			return strconv.FormatFloat(min(f, 999), 'f', digits, 64) + unit
		}
		f /= 1000
	}
	return s
}

// clock formats the duration of a capture.
func clock(d time.Duration) string {
	s := max(int64(d/time.Second), 0)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		text = fmt.Sprintf("%dd %s", days, text)
	}
	return text
}

// seconds formats a duration in words: "12 s", "3 min 05 s".
func seconds(d time.Duration) string {
	switch s := max(int64(d/time.Second), 0); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	default:
		return fmt.Sprintf("%s h %02d min", report.Count(s/3600), s/60%60)
	}
}

// speed formats the capacity of a link: "1 Gbit/s", "2.5 Gbit/s", "100 Mbit/s".
func speed(bits float64) string {
	if bits >= 1e9 {
		return strconv.FormatFloat(bits/1e9, 'f', -1, 64) + " Gbit/s"
	}
	return strconv.FormatFloat(bits/1e6, 'f', -1, 64) + " Mbit/s"
}

// plural formats a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

var blocks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws the last n numbers, the newest at the right, relative to top. Missing numbers are blank.
func sparkline(history []float64, top float64, n int) string {
	if n <= 0 {
		return ""
	}
	if len(history) > n {
		history = history[len(history)-n:]
	}
	var b strings.Builder
	b.WriteString(spaces(n - len(history)))
	for _, f := range history {
		level := 0 // nothing
		if isNumber(f) && isNumber(top) && top > 0 {
			level = int(min(f/top, 1) * float64(len(blocks)-1))
			if level == 0 && f > top/100 {
				level = 1 // more than nothing must be visible
			}
		}
		b.WriteRune(blocks[level])
	}
	return b.String()
}

var eighths = []rune("▏▎▍▌▋▊▉█")

// bar draws a share of n columns. A share above 0 is always visible.
func bar(share float64, n int) string {
	if !isNumber(share) || share == 0 || n <= 0 {
		return ""
	}
	steps := max(int(math.Round(min(share, 1)*float64(n*8))), 1)
	s := strings.Repeat("█", steps/8)
	if steps%8 > 0 {
		s += string(eighths[steps%8-1])
	}
	return s
}
