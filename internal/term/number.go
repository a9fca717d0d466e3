package term

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Counted formats a number with its noun: "1 frame", "2,000 frames".
func Counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}

// Count formats a number with thousands separators.
func Count(n int64) string { return Group(strconv.FormatInt(n, 10)) }

// GroupIn inserts thousands separators into the numbers of a sentence: words of four digits or more. If units are given, only
// numbers before one of these words are counts.
func GroupIn(text string, units ...string) string {
	run, longest := 0, 0
	for _, c := range []byte(text) {
		if run++; c < '0' || c > '9' {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest < 4 {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		if len(units) > 0 && (i+1 == len(words) || !slices.Contains(units, words[i+1])) {
			continue
		}
		digits := strings.Trim(word, "(),;:")
		if len(digits) < 4 || digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		words[i] = strings.Replace(word, digits, Group(digits), 1)
	}
	return strings.Join(words, " ")
}

// Group inserts thousands separators.
func Group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	whole, fraction, found := strings.Cut(digits, ".")
	if found {
		fraction = "." + fraction
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	b.WriteString(fraction)
	return b.String()
}

// byteUnits are the units that ParseBytes accepts: decimal, and binary with an i.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1e3},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
}

// ParseBytes parses a number of bytes such as 512, 2KB or 1.5MiB.
func ParseBytes(s string) (int64, error) {
	unit, number := 1.0, s
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(s, u.suffix); ok {
			unit, number = u.bytes, n
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) || v*unit > 1<<62 {
		return 0, errors.New("must be a number of bytes, optionally with KB, MB, GB (1000) or KiB, MiB, GiB (1024)")
	}
	return int64(v * unit), nil
}
