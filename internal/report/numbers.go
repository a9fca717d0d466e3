package report

import (
	"math"
	"strconv"
	"time"

	"dubbo-wire/internal/term"
)

// Count prints all digits in groups of three.
func Count(n int64) string { return term.Count(n) }

// formatSize prints bytes per message: whole bytes, a mean of a few bytes with one decimal.
func formatSize(f float64, whole, exact bool) string {
	switch {
	case whole:
		return Count(int64(f))
	case exact:
		return term.Group(strconv.FormatFloat(f, 'f', 3, 64))
	case math.Abs(f) < 9.95:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return Count(int64(math.Round(f)))
}

// formatVolume prints a sum of bytes with three digits and a decimal unit.
func formatVolume(n int64, exact bool) string {
	if exact {
		return Count(n)
	}
	if n < 1000 && n > -1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		f /= 1000
		if math.Abs(f) < 999.5 || unit == "TB" {
			return threeDigits(f) + " " + unit
		}
	}
	return ""
}

// bytesText formats a sum of bytes for a sentence.
func bytesText(n int64, s *Style) string {
	if !s.Exact {
		return formatVolume(n, false)
	}
	return Plural(n, "byte")
}

// threeDigits prints at least three significant digits, and all before the point.
func threeDigits(f float64) string {
	switch a := math.Abs(f); {
	case a < 9.995:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case a < 99.95:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return term.Group(strconv.FormatFloat(f, 'f', 0, 64))
}

// formatRate prints Mbit/s, or calls per second.
func formatRate(f float64, exact bool) string {
	switch {
	case f == 0:
		return "0"
	case exact:
		return term.Group(strconv.FormatFloat(f, 'f', 3, 64))
	case f < 0.005 && f > 0:
		return "<0.01"
	}
	return threeDigits(f)
}

// formatPercent prints n/d in percent with one decimal; a part is never rounded to nothing or to all.
func formatPercent(n, d int64, exact bool) string {
	f := 100 * float64(n) / float64(d)
	switch {
	case exact:
		return strconv.FormatFloat(f, 'f', 3, 64)
	case n > 0 && f < 0.05:
		return "<0.1"
	case n < d && f >= 99.95:
		return ">99.9"
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// percentText formats n of d for a sentence.
func percentText(n, d int64, s *Style) string {
	switch n {
	case 0:
		return "0 %"
	case d:
		return "100 %"
	}
	return formatPercent(n, d, s.Exact) + " %"
}

// formatCoverage prints a coverage, which is never rounded up.
func formatCoverage(p float64, exact bool) string {
	if !exact {
		p = math.Floor(p*100+1e-6) / 100 // 99.57 is 9956.999… hundredths
	}
	return strconv.FormatFloat(p, 'f', -1, 64) + " %"
}

// formatElapsed prints nanoseconds with three digits and a unit; exactly: in microseconds.
func formatElapsed(ns int64, exact bool) string {
	if exact {
		return term.Group(strconv.FormatFloat(float64(ns)/1e3, 'f', -1, 64)) + " µs"
	}
	f := float64(ns)
	switch a := math.Abs(f); {
	case a < 999.5e3:
		return threeDigits(f/1e3) + " µs"
	case a < 999.5e6:
		return threeDigits(f/1e6) + " ms"
	}
	return threeDigits(f/1e9) + " s"
}

// Plural prints a count with its noun, which is given in the singular.
func Plural(n int64, noun string) string { return plural(n, noun, noun+"s") }

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// formatTime prints nanoseconds since the Unix epoch. fraction is the layout of the fraction of a second, "" for none.
func formatTime(ns int64, fraction string, local bool) string {
	t := time.Unix(0, ns).UTC()
	if local {
		t = t.Local()
	}
	return t.Format("2006-01-02T15:04:05" + fraction + "Z07:00")
}

// Rate prints Mbit/s or calls per second with three digits.
func Rate(f float64) string { return formatRate(f, false) }

// Size prints bytes per message: whole bytes, a mean of a few bytes with one decimal.
func Size(f float64) string { return formatSize(f, f == math.Trunc(f), false) }

// Volume prints a sum of bytes with three digits and a decimal unit.
func Volume(n int64) string { return formatVolume(n, false) }

// Elapsed prints nanoseconds with three digits and a unit.
func Elapsed(ns int64) string { return formatElapsed(ns, false) }

// Coverage prints a coverage, which is never rounded up.
func Coverage(percent float64) string { return formatCoverage(percent, false) }

// Percent prints n of d in percent, without a percent sign.
func Percent(n, d int64) string {
	if d == 0 {
		return "-"
	}
	return formatPercent(n, d, false)
}
