package http2

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShifts tries all numbers of insertions with random header blocks: those that shifts leaves out prove nothing.
func TestShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var d blockDecoder
	names := make([]*field, 12)
	for i := range names {
		names[i] = newField(newName("name-"+string(rune('a'+i))), "value")
	}
	proofs := 0
	for range 2_000 {
		var side table
		for range rng.IntN(12) {
			side.doubted = append(side.doubted, names[rng.IntN(len(names))])
		}
		var since []*field
		for range rng.IntN(4) {
			since = append(since, names[rng.IntN(len(names))])
		}
		var block []byte
		for range 1 + rng.IntN(6) {
			switch index := byte(1 + rng.IntN(staticLen+24)); rng.IntN(12) {
			case 0:
				block = append(block, 0x40, 1, 'n', 1, 'v') // inserted
			case 1:
				block = append(block, 0x40|min(index, 62), 1, 'v')
			case 2:
				block = append(block, 0, 1, 'n', 1, 'v')
			case 3:
				block = append(block, min(index, 14), 1, 'v')
			case 4:
				block = append(block, byte(rng.Uint32()))
			default:
				block = append(block, 0x80|byte(staticLen+1+rng.IntN(24)))
			}
		}
		from, to := shifts(block, len(side.doubted), len(since))
		for shift := range maxShift {
			trial := table{max: maxTable, older: true, entries: append([]*field(nil), side.doubted...)}
			for range shift {
				trial.entries = append(trial.entries, unknownField)
			}
			trial.entries = append(trial.entries, since...)
			n := len(trial.entries)
			if d.decode(block, &trial, maxTable, true) && d.order != 0 && side.anchored(&d, n) {
				require.True(t, from <= shift && shift < to, "%x: %d", block, shift)
				proofs++
			}
		}
	}
	require.Positive(t, proofs)
}
