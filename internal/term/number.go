package term

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bytes formats a number of bytes with three digits, in decimal units.
func Bytes(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, u := float64(n), 0
	for v >= 999.5 && u < len(units)-1 {
		v /= 1000
		u++
	}
	digits := 0
	if u > 0 && v < 99.95 {
		digits = 1
	}
	if u > 0 && v < 9.995 {
		digits = 2
	}
	return fmt.Sprintf("%.*f %s", digits, v, units[u])
}

// BytesOf formats n of total bytes, with a percentage. A total of 0 or less is unknown.
func BytesOf(n, total int64) string {
	if total <= 0 {
		return Bytes(n)
	}
	return fmt.Sprintf("%s of %s (%d %%)", Bytes(n), Bytes(total), min(int64(float64(n)/float64(total)*100), 100))
}

// Counted formats a number with its noun: "1 frame", "2 frames".
func Counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
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
		return 0, errors.New("write a number of bytes, with KB, MB, GB (1000) or KiB, MiB, GiB (1024) if you like")
	}
	return int64(v * unit), nil
}
