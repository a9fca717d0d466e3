package hessian2

import (
	"strconv"
	"strings"
	"time"
)

// The texts of numbers and times, written as java.math and java.time write them.

// isDecimal reports whether s is a number as BigDecimal.toString writes it.
func isDecimal(s string) bool {
	mantissa, exponent, scientific := strings.Cut(s, "E")
	whole, fraction, point := strings.Cut(unsigned(mantissa), ".")
	return digits(whole) && (!point || digits(fraction)) && (!scientific || digits(unsigned(exponent)))
}

func unsigned(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// formatDecimal writes unscaled * 10^-scale as BigDecimal.toString does; scale is an int of Java.
func formatDecimal(unscaled string, scale int64) string {
	if scale != int64(int32(scale)) {
		return ""
	}
	coefficient := strings.TrimPrefix(unscaled, "-")
	sign := unscaled[:len(unscaled)-len(coefficient)]
	point := int64(len(coefficient)) - scale // where it goes, from the first digit
	switch {
	case scale == 0:
		return unscaled
	case scale > 0 && point > 0:
		return sign + coefficient[:point] + "." + coefficient[point:]
	case scale > 0 && point > -6:
		return sign + "0." + strings.Repeat("0", int(-point)) + coefficient
	}
	s := sign + coefficient[:1]
	if len(coefficient) > 1 {
		s += "." + coefficient[1:]
	}
	switch {
	case point > 1:
		s += "E+" + strconv.FormatInt(point-1, 10)
	case point < 1:
		s += "E" + strconv.FormatInt(point-1, 10)
	}
	return s
}

// formatInstant writes a time since 1970 in RFC 3339, UTC, with 0, 3, 6 or 9 digits of fraction. A year outside 0000
// to 9999 has a sign, as ISO 8601 and java.time.Instant write it.
func formatInstant(seconds, nanos int64) string {
	t := time.Unix(seconds, nanos).UTC()
	b := appendDate(nil, int64(t.Year()), int64(t.Month()), int64(t.Day()))
	b = append(b, 'T')
	b = appendTime(b, int64(t.Hour()), int64(t.Minute()), int64(t.Second()), nanos)
	return string(append(b, 'Z'))
}

func formatOffset(seconds int64) string {
	if seconds == 0 {
		return "Z"
	}
	b := []byte{'+'}
	if seconds < 0 {
		b[0], seconds = '-', -seconds
	}
	b = appendPadded(b, seconds/3600, 2)
	b = appendPadded(append(b, ':'), seconds/60%60, 2)
	if seconds%60 != 0 {
		b = appendPadded(append(b, ':'), seconds%60, 2)
	}
	return string(b)
}

// isOffset reports whether s is an offset as formatOffset writes it.
func isOffset(s string) bool {
	if s == "Z" {
		return true
	}
	if len(s) != len("+08:00") && len(s) != len("+08:00:00") || s[0] != '+' && s[0] != '-' {
		return false
	}
	for i := range s[1:] {
		if c := s[1+i]; i%3 == 2 && c != ':' || i%3 != 2 && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func appendDate(b []byte, year, month, day int64) []byte {
	switch {
	case year < 0:
		b, year = append(b, '-'), -year
	case year > 9999:
		b = append(b, '+')
	}
	b = appendPadded(b, year, 4)
	b = appendPadded(append(b, '-'), month, 2)
	return appendPadded(append(b, '-'), day, 2)
}

// appendLocalTime appends a time as java.time.LocalTime.toString writes it: without seconds where there are none.
func appendLocalTime(b []byte, hour, minute, second, nano int64) []byte {
	if second != 0 || nano != 0 {
		return appendTime(b, hour, minute, second, nano)
	}
	return appendPadded(append(appendPadded(b, hour, 2), ':'), minute, 2)
}

func appendTime(b []byte, hour, minute, second, nano int64) []byte {
	b = appendPadded(b, hour, 2)
	b = appendPadded(append(b, ':'), minute, 2)
	b = appendPadded(append(b, ':'), second, 2)
	switch {
	case nano == 0:
		return b
	case nano%1e6 == 0:
		return appendPadded(append(b, '.'), nano/1e6, 3)
	case nano%1e3 == 0:
		return appendPadded(append(b, '.'), nano/1e3, 6)
	}
	return appendPadded(append(b, '.'), nano, 9)
}

// appendPadded appends n, which is not negative, with at least width digits.
func appendPadded(b []byte, n int64, width int) []byte {
	for low := int64(10); width > 1; width, low = width-1, low*10 {
		if n < low {
			for range width - 1 {
				b = append(b, '0')
			}
			break
		}
	}
	return strconv.AppendInt(b, n, 10)
}

// join returns a, sep and b as one text, "" when one of a and b is.
func join(a, sep, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return a + sep + b
}
