package hessian2

import "strings"

// Texts that objects hold, and what may stand in them.

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

// isOffset reports whether s is an offset as java.time.ZoneOffset writes it.
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

// join returns a, sep and b as one text, "" when one of a and b is.
func join(a, sep, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return a + sep + b
}
