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
		if ns := at.UnixNano(); time.Unix(0, ns).Equal(at) {
			require.Equal(t, at.Format("2006-01-02T15:04:05.000000000Z07:00"), string(AppendNanos(nil, ns)))
		}
	}
	for day := 0; day < 2*146097; day += 7 { // 800 years, from 1570 on
		check(time.Unix(int64(day-146097)*secondsOfDay-1, 999).UTC())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		check(time.UnixMilli(int64(random.Uint64())).UTC())
		check(time.UnixMilli(int64(random.Uint64()) >> 16).UTC())
		check(time.Unix(0, int64(random.Uint64())).UTC())
	}
}
