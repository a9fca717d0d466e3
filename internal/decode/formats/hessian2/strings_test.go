package hessian2

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// slowUnits is skipUnits byte by byte.
func slowUnits(b []byte, at, n int) (stop, left int) {
	for n > 0 {
		if at >= len(b) {
			return at, n
		}
		size := sequenceLen(b[at])
		units := 1
		if size == 4 {
			if _, k := utf8.DecodeRune(b[at:]); k != 4 || n < 2 {
				return at, n
			}
			units = 2
		}
		if size == 0 || len(b)-at < size || !continues(b[at+1:at+size]) {
			return at, n
		}
		at += size
		n -= units
	}
	return at, 0
}

// Whatever the text, its length, its place and what is wrong with it: words at a time are bytes at a time.
func TestSkipUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pieces := []string{"a", "plain ascii text ", "é", "ßöä", "编", "编码解码", "\xed\xa0\xbd\xed\xb8\x80", "😀", "\xc0\x80", "\x7f", "\x00"}
	wrong := []string{"\x80", "\xbf", "\xc3", "\xe7\xbc", "\xf0\x9f\x98", "\xff", "\xf8", "\xe7a", "\xe7\xbca", "\xc3\xc3"}
	for range 200_000 {
		var b []byte
		one := rng.IntN(3)
		for k := rng.IntN(30); k > 0; k-- {
			p := pieces[rng.IntN(len(pieces))]
			if one > 0 {
				p = pieces[1+one*(k%3)]
			}
			b = append(b, p...)
		}
		if rng.IntN(2) == 0 {
			at := rng.IntN(len(b) + 1)
			b = append(b[:at:at], append([]byte(wrong[rng.IntN(len(wrong))]), b[at:]...)...)
		}
		at, n := rng.IntN(len(b)+1)/4, rng.IntN(len(b)+3)
		wantStop, wantLeft := slowUnits(b, at, n)
		stop, left := skipUnits(b, at, n)
		require.Equal(t, [2]int{wantStop, wantLeft}, [2]int{stop, left}, "%q from %d, %d units", b, at, n)
	}
}
