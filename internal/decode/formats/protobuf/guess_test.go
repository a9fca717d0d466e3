package protobuf

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Eight bytes at once are what eight bytes one by one are.
func TestPrintable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	edges := []byte{0, 0x1f, 0x20, 0x21, 0x7e, 0x7f, 0x80, 0xa0, 0xff}
	var b [8]byte
	for range 100_000 {
		want := true
		for i := range b {
			b[i] = 0x20 + byte(rng.IntN(0x5f))
			if rng.IntN(10) == 0 {
				b[i] = edges[rng.IntN(len(edges))]
			}
			want = want && b[i] >= 0x20 && b[i] < 0x7f
		}
		require.Equal(t, want, printable(binary.LittleEndian.Uint64(b[:])), "%q", b)
	}
}
