package hessian2

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// Text is passed by units wherever its alphabets change, whatever follows it, and as far as it goes where it ends early.
func TestSkipUnitsAcrossAlphabets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabets := []string{"a", "é", "字", "🙂"}
	for range 20_000 {
		var text strings.Builder
		for range rng.IntN(6) {
			text.WriteString(strings.Repeat(alphabets[rng.IntN(len(alphabets))], rng.IntN(50)))
		}
		units := len(utf16.Encode([]rune(text.String())))
		behind := make([]byte, rng.IntN(40))
		for i := range behind {
			behind[i] = byte(rng.Uint32())
		}
		b := append([]byte{0}, text.String()...)
		stop, left := skipUnits(append(b, behind...), 1, units)
		require.Equal(t, len(b), stop, "%q", text.String())
		require.Zero(t, left)
		stop, left = skipUnits(b, 1, units+1)
		require.Equal(t, len(b), stop, "%q", text.String())
		require.Equal(t, 1, left)
	}
}
