package term

import "fmt"

// Bytes words a number of bytes with three digits, in decimal units.
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

// BytesOf words how many bytes of total there are; total is 0 or less where it is not known.
func BytesOf(n, total int64) string {
	if total <= 0 {
		return Bytes(n)
	}
	return fmt.Sprintf("%s of %s (%d %%)", Bytes(n), Bytes(total), min(int64(float64(n)/float64(total)*100), 100))
}

// Counted words a number with its noun: "1 frame", "2 frames".
func Counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
