package report

import "math"

// What other packages print in the same words as a report.

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

// ShortNames shortens the packages of names: to first letters (level 1) or to nothing (level 2). Names that would become
// equal keep what tells them apart.
func ShortNames(names []string, level int) []string { return shortenNames(names, level) }

// CutName shortens "Type/method" to n columns: the method says more than the type.
func CutName(name string, n int) string { return cutName(name, n) }
