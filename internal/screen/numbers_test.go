package screen

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNumbers(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 40_000: "0.04", 9.8e6: "9.80", 612e6: "612", 12_345e6: "12,345", 3: "<0.01", -1: "-", math.Inf(1): "-"} {
		assert.Equal(t, want, rate(f))
	}
	assert.Equal(t, "-", rate(math.NaN()))
	for f, want := range map[float64]string{0: "0", 0.01: "<0.1", 0.3: "0.3", 12.4: "12.4", 99.97: ">99.9", 100: "100", 250.4: "250", -3: "-"} {
		assert.Equal(t, want, percent(f))
	}
	assert.Equal(t, "-", size(math.MaxFloat64))
	assert.Equal(t, "7,914,022", shortNumber(sizes(7_914_022), 7_914_022, 9))
	assert.Equal(t, "12.3M", shortNumber(sizes(12_345_678), 12_345_678, 9))
	assert.Equal(t, "100M", shortNumber(sizes(99_999_999), 99_999_999, 7))
	assert.Equal(t, "1.00G", shortNumber(sizes(999_999_999), 999_999_999, 7))
	for _, c := range columns {
		if c.word != nil {
			continue
		}
		for exponent := range 63 {
			for _, d := range []int64{-1, 0, 1} {
				n := int64(1)<<exponent + d
				assert.LessOrEqual(t, len(shortNumber(size(float64(n)), float64(n), c.Width)), c.Width, n)
			}
		}
	}
	assert.Equal(t, "811 ms", elapsed(int64(811*time.Millisecond)))
	assert.Equal(t, "44.1 ms", elapsed(int64(44100*time.Microsecond)))
	assert.Equal(t, "950 µs", elapsed(int64(950*time.Microsecond)))
	assert.Equal(t, "-", elapsed(-1))
	assert.Equal(t, "00:01:12", clock(72*time.Second))
	assert.Equal(t, "3d 01:00:05", clock(73*time.Hour+5*time.Second))
	assert.Equal(t, "12 s", seconds(12*time.Second))
	assert.Equal(t, "75 h 03 min", seconds(75*time.Hour+3*time.Minute))
	assert.Equal(t, "2.5 Gbit/s", speed(2.5e9))
	assert.Equal(t, "100 Mbit/s", speed(1e8))
	assert.Equal(t, " ▁▂▄█", sparkline([]float64{0, 2, 50, 100}, 100, 5))
	assert.Equal(t, "▁▁", sparkline([]float64{math.NaN(), -1}, math.NaN(), 2))
	assert.Equal(t, "██", bar(1, 2))
	assert.Equal(t, "▏", bar(1e-9, 2))
	assert.Empty(t, bar(math.NaN(), 2))
}

// Characters of which terminals disagree how wide they are do not move the columns right of them.
func TestClean(t *testing.T) {
	assert.Equal(t, "a.b/c", clean("a.b/c"))
	assert.Equal(t, `\x1b[31m\n`, clean("\x1b[31m\n"))
	assert.Equal(t, "注文🚀", clean("注文🚀"))
	assert.Equal(t, "??", clean("👩‍👩‍👧❤️"))
	assert.Less(t, len(clean(string(make([]byte, 1<<20)))), 5*longest)
}
