package jdk

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Dates are those of package time.
func TestDates(t *testing.T) {
	check := func(at time.Time) {
		year, month, day := at.Date()
		hour, minute, second := at.Clock()
		want := Date{year, int(month), day}.String() + "T" + Clock{hour, minute, second, at.Nanosecond()}.String() + "Z"
		require.Equal(t, want, Instant(at))
	}
	for day := 0; day < 2*146097; day += 7 { // 800 years, from 1570 on
		check(time.Unix(int64(day-146097)*secondsOfDay-1, 999).UTC())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		check(time.UnixMilli(int64(random.Uint64())).UTC())
		check(time.UnixMilli(int64(random.Uint64()) >> 16).UTC())
	}
}
