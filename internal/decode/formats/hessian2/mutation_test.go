package hessian2

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

var mutations = flag.Int("mutations", 4000, "how many damaged bodies TestMutations reads")

// mutate damages a body: bytes and opcodes are changed, cut out, repeated, or taken from another body.
func mutate(rng *rand.Rand, body, other []byte) []byte {
	b := append([]byte(nil), body...)
	for range 1 + rng.IntN(4) {
		if len(b) == 0 {
			return b
		}
		at := rng.IntN(len(b))
		n := min(1+rng.IntN(16), len(b)-at)
		switch rng.IntN(8) {
		case 0, 1:
			b[at] = byte(rng.Uint32())
		case 2:
			b[at] ^= 1 << rng.IntN(8)
		case 3: // opcodes that refer, announce or nest
			b[at] = []byte("\x51\x43\x4f\x56\x58\x55\x57\x48\x4d\x5a\x52\x53\x41\x49\x4e\x60\x78\x79")[rng.IntN(18)]
		case 4:
			b = append(b[:at], b[at+n:]...)
		case 5:
			b = append(b[:at+n], append(append([]byte(nil), b[at:at+n]...), b[at+n:]...)...)
		case 6:
			b = b[:at]
		case 7:
			from := rng.IntN(len(other))
			b = append(b[:at], append(append([]byte(nil), other[from:min(len(other), from+64)]...), b[at:]...)...)
		}
	}
	return b
}

// TestMutations reads measured bodies that were damaged at random: no panic, every byte taken has one owner, all walks
// agree, and no body costs more than its size allows.
func TestMutations(t *testing.T) {
	var bodies [][]byte
	for _, file := range []string{"testdata/graphs.tsv", "testdata/written.tsv", valueRows} {
		for _, row := range formattest.Values(t, file) {
			bodies = append(bodies, row.Body)
		}
	}
	for _, row := range formattest.Frames(t, frameRows) {
		bodies = append(bodies, row.Body)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	tree, r := decode.Tree{WithValues: true}, New()
	read := 0
	for range *mutations {
		body := mutate(rng, bodies[rng.IntN(len(bodies))], bodies[rng.IntN(len(bodies))])
		used := testkit.CPU()
		formattest.Check(t, Format, body)
		require.Less(t, used(), 10*time.Second, "%x", body)
		tree.Reset()
		r.Reset(body, decode.Malformed, &tree)
		r.ResultKind()
		r.Value(decode.ByField, "result", 0, "")
		require.LessOrEqual(t, len(tree.Nodes), 2*len(body)+1, "%x", body)
		if r.Err() == nil {
			read++
		}
	}
	require.NotZero(t, read)
}
