package http2

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/rpc"
)

// TestFound compares Found with a search from every place.
func TestFound(t *testing.T) {
	everywhere := func(b []byte) bool {
		if sniff(b) == rpc.Mine {
			return true
		}
		s := side{maxFrame: maxFrame, search: &search{buf: b, deliveries: rpc.HeldChunks{{}}}}
		for at := 0; len(b)-at >= frameHeaderLen && at < maxFound; at++ {
			if mayBegin(b[at:]) && s.follow(&candidate{start: at, next: at}, enoughMarks) == rpc.Mine {
				return true
			}
		}
		return false
	}
	rng := rand.New(rand.NewPCG(1, 2))
	frames := [][]byte{
		{0, 0, 0, 4, 1, 0, 0, 0, 0},
		{0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8},
		{0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 1, 0},
		{0, 0, 3, 1, 4, 0, 0, 0, 3, 0x83, 0x86, 0xbf},
		{0, 0, 7, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 2, 'h', 'i'},
	}
	large := append([]byte{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0xff, 0xfd}, make([]byte, 0xfffd)...) // longer than 64 KiB
	found := 0
	for range 20_000 {
		var b []byte
		for range rng.IntN(4) {
			switch rng.IntN(8) {
			case 0:
				b = append(b, make([]byte, rng.IntN(30))...)
			case 1, 2:
				for range rng.IntN(20) {
					b = append(b, byte(rng.Uint32()))
				}
			case 3:
				f := frames[rng.IntN(len(frames))]
				b = append(b, f[:rng.IntN(len(f))]...)
			default:
				b = append(b, frames[rng.IntN(len(frames))]...)
			}
		}
		if rng.IntN(200) == 0 {
			b = append(append([]byte{7, 7, 7}[:rng.IntN(4)], large...), b...)
		}
		want := everywhere(b)
		require.Equal(t, want, Found(b), "%x", b[:min(len(b), 99)])
		if want {
			found++
		}
	}
	require.Positive(t, found)
}
