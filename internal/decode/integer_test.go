package decode

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Integers are those of package strconv, whatever memory they are appended to.
func TestAppendInt(t *testing.T) {
	check := func(n int64) {
		for _, n := range []int64{n, -n} {
			want := strconv.FormatInt(n, 10)
			require.Equal(t, want, string(AppendInt(nil, n)))
			dst := make([]byte, 3, 3+len(want))
			require.Equal(t, "\x00\x00\x00"+want, string(AppendInt(dst, n)))
		}
	}
	for power := int64(1); power > 0 && power <= 1e18; power *= 10 {
		check(power - 1)
		check(power)
		check(power + 1)
	}
	for shift := range 63 {
		check(1 << shift)
		check(1<<shift - 1)
	}
	check(math.MaxInt64)
	check(math.MinInt64)
	random := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		check(int64(random.Uint64()) >> random.IntN(64))
	}
}

func BenchmarkAppendInt(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]int64, 1<<12)
	for i := range numbers {
		numbers[i] = int64(random.Uint64()) >> random.IntN(64)
	}
	for name, appendInt := range map[string]func([]byte, int64) []byte{
		"own": AppendInt, "strconv": func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) },
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 32)
			for b.Loop() {
				for _, n := range numbers {
					dst = appendInt(dst[:0], n)
				}
			}
		})
	}
}
