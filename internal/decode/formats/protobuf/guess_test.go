package protobuf

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode/formats/formattest"
)

// The first of eight bytes that is not printable is found at once.
func TestUnprintable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	edges := []byte{0, 0x1f, 0x20, 0x21, 0x7e, 0x7f, 0x80, 0xa0, 0xff}
	var b [8]byte
	for range 100_000 {
		want := len(b)
		for i := range b {
			b[i] = 0x20 + byte(rng.IntN(0x5f))
			if rng.IntN(10) == 0 {
				b[i] = edges[rng.IntN(len(edges))]
			}
			if want == len(b) && (b[i] < 0x20 || b[i] >= 0x7f) {
				want = i
			}
		}
		require.Equal(t, want, bits.TrailingZeros64(unprintable(binary.LittleEndian.Uint64(b[:])))/8, "%q", b)
	}
}

// Messages whose type is not known are counted as they are read, whatever is nested in them, and damaged ones too.
func TestCountsGuesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		b := guessable(rng, rng.IntN(6))
		for range i % 3 {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		formattest.Check(t, Format, append(append([]byte{2, 8, 4}, delimit(0, b)[1:]...), 0))
	}
	for _, tag := range []byte{0x0a, 0x0b} { // the last empty value is a message, if that is not too deep
		for depth := maxNested - 4; depth < maxNested+4; depth++ {
			b := []byte{0x0b, 0x0c, 0x0a, 0, 0x0a, 2, 8, 1, 0x0a, 0}
			for range depth {
				if b = delimit(0x12, b); tag == 0x0b {
					b = append(append([]byte{0x13}, b...), 0x14)
				}
			}
			formattest.Check(t, Format, append(append([]byte{2, 8, 4}, delimit(0, b)[1:]...), 0))
		}
	}
}

// guessable returns fields of all kinds, of which some have fields in them.
func guessable(rng *rand.Rand, depth int) (b []byte) {
	for range 1 + rng.IntN(4) {
		num := protowire.Number(1 + rng.IntN(3))
		if rng.IntN(20) == 0 {
			num = protowire.Number(1 + rng.IntN(4000))
		}
		for range 1 + rng.IntN(2) {
			switch wire := protowire.Type(rng.IntN(6)); wire {
			case protowire.VarintType:
				b = protowire.AppendVarint(protowire.AppendTag(b, num, wire), rng.Uint64()>>rng.IntN(64))
			case protowire.Fixed32Type:
				b = protowire.AppendFixed32(protowire.AppendTag(b, num, wire), rng.Uint32())
			case protowire.Fixed64Type:
				b = protowire.AppendFixed64(protowire.AppendTag(b, num, wire), rng.Uint64())
			case protowire.StartGroupType:
				b = protowire.AppendTag(b, num, wire)
				if depth > 0 {
					b = append(b, guessable(rng, depth-1)...)
				}
				b = protowire.AppendTag(b, num, protowire.EndGroupType)
			default:
				var inner []byte
				if texts := []string{"", "text", " A B C", "中\u0085", "a\nb", "\xff"}; depth > 0 && rng.IntN(3) > 0 {
					inner = guessable(rng, depth-1)
				} else {
					inner = []byte(texts[rng.IntN(len(texts))])
				}
				b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), inner)
			}
		}
	}
	return b
}
