package scrub

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode/formats"
)

// Numbers keep their sign, their digits and their bytes, and become others, one to one.
func TestInt(t *testing.T) {
	s := New(formats.All(), key)
	seen := map[int64]int64{}
	for n := int64(-3000); n <= 3000; n++ {
		m := s.Int(n)
		assert.NotEqual(t, n, m)
		assert.Equal(t, n < 0, m < 0)
		assert.Len(t, strconv.FormatInt(m, 10), len(strconv.FormatInt(n, 10)))
		assert.Equal(t, m, s.Int(n))
		was, ok := seen[m]
		assert.False(t, ok, "%d and %d", was, n)
		seen[m] = n
	}
	for _, n := range []int64{math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, 1 << 40, 1732240000000, -1 << 40} {
		m := s.Int(n)
		assert.NotEqual(t, n, m)
		assert.Len(t, strconv.FormatInt(m, 10), len(strconv.FormatInt(n, 10)))
		assert.Equal(t, n == int64(int32(n)), m == int64(int32(m)))
	}
}

func TestWithin(t *testing.T) {
	s := New(nil, key)
	seen := map[int64]bool{}
	for n := int64(1); n <= 12; n++ {
		m := s.Within(n, 1, 12)
		assert.True(t, m >= 1 && m <= 12 && m != n && !seen[m])
		seen[m] = true
	}
	assert.EqualValues(t, 13, s.Within(13, 1, 12))
	assert.EqualValues(t, 7, s.Within(7, 7, 7))
}

func TestFloat(t *testing.T) {
	s := New(nil, key)
	for _, f := range []float64{12.5, -12.5, 1, 0.1, 1e10, 123456.789, 3.4028234663852886e+38, 1.7976931348623157e308, 5e-320, 0.30000000000000004} {
		g := s.Float(f, 64)
		assert.NotEqual(t, f, g)
		assert.Equal(t, math.Signbit(f), math.Signbit(g))
		assert.False(t, math.IsInf(g, 0))
		assert.Equal(t, g, s.Float(f, 64))
	}
	for _, f := range []float64{0, math.Inf(1), math.Inf(-1)} {
		assert.Equal(t, f, s.Float(f, 64))
	}
	assert.InDelta(t, s.Float(12.5, 32), s.Float(12.5, 64), 1e-6, "the same number in any width")
}

func TestDigits(t *testing.T) {
	s := New(nil, key)
	for _, text := range []string{"12.50", "-0.001", "100", "1E+3", "2024-05-06", "2024-05-06T07:08:09.123Z", "07:08", "1234567890123456789012345"} {
		b := []byte(text)
		s.Digits(b)
		assert.NotEqual(t, text, string(b))
		for i := range b {
			assert.Equal(t, text[i] >= '0' && text[i] <= '9', b[i] >= '0' && b[i] <= '9', "%s %s", text, b)
		}
	}
	zero := []byte("0.00")
	s.Digits(zero)
	assert.Equal(t, "0.00", string(zero))
	b := []byte("12.5")
	s.Digits(b)
	f, _ := strconv.ParseFloat(string(b), 64)
	assert.Equal(t, s.Float(12.5, 64), f, "a number in digits becomes what it becomes in bits")
}

func TestFiller(t *testing.T) {
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n\r\n\r\n", "~~~~~~~~~~", "\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e", "\xda\xbb\xda\xbb\xda\xbb"} {
		out := make([]byte, len(text))
		fill(out, []byte(text))
		assert.Len(t, out, len(text))
		assert.NotContains(t, string(out), "\xda\xbb")
		for i := 0; i+4 <= len(text); i++ {
			assert.NotEqual(t, text[i:i+4], string(out[i:i+4]), "%q", text)
		}
	}
}
