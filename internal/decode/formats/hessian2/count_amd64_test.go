package hessian2

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// outcome is what a Reader without a tree says of a body.
type outcome struct {
	sum     decode.PartBytes
	ok      bool
	at      int
	stopped string
}

func outcomeOf(r *Reader, body []byte) outcome {
	r.Reset(body, decode.Malformed, nil)
	r.Open(decode.List, decode.ByField, "args", 0)
	for i := 0; r.OK() && r.Offset() < len(body); i++ {
		r.Value(decode.ByIndex, "", i, "")
	}
	r.Close()
	sum, ok := r.Sum()
	t := outcome{sum: sum, ok: ok, at: r.Offset()}
	if r.Err() != nil {
		t.stopped = r.Err().Error()
	}
	return t
}

// assembled calls f with the assembly, if this processor runs it, and without.
func assembled(f func()) {
	known := fast
	defer func() { fast = known }()
	for _, fast = range []bool{known, false} {
		f()
	}
}

// bodiesOfRows are whole bodies, which writers wrote, and values of all kinds one after another.
func bodiesOfRows(tb testing.TB) (all [][]byte) {
	for _, file := range []string{"testdata/graphs.tsv", "testdata/written.tsv", valueRows} {
		for _, row := range formattest.Values(tb, file) {
			all = append(all, row.Body)
		}
	}
	for _, row := range formattest.Frames(tb, frameRows) {
		all = append(all, row.Body)
	}
	for _, b := range benchBodies() {
		all = append(all, b[:min(len(b), 4096)])
	}
	return all
}

// The assembly counts what the code in Go counts, and neither looks at what follows the body.
func TestAssemblyCountsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bodies := bodiesOfRows(t)
	r := New()
	for range 20_000 {
		body := bodies[rng.IntN(len(bodies))]
		if rng.IntN(4) > 0 {
			body = mutate(rng, body, bodies[rng.IntN(len(bodies))])
		}
		after := make([]byte, 2*window)
		for i := range after {
			after[i] = byte(rng.Uint32())
		}
		var all []outcome
		assembled(func() {
			all = append(all, outcomeOf(r, bytes.Clone(body)))
			all = append(all, outcomeOf(r, append(bytes.Clone(body), after...)[:len(body)]))
		})
		require.Equal(t, []outcome{all[0], all[0], all[0], all[0]}, all, "%x", body)
	}
}

// Long text is skipped as byte by byte, whatever is in it, and without the assembly too.
func TestSkipUnitsOfLongText(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"a", "plain ascii text ", "é", "编", "编码解码", "\xed\xa0\xbd\xed\xb8\x80", "😀", "\x80", "\xc3", "\xe7\xbc", "\xff", "\xe7\xbca"}
	for range 100_000 {
		var b []byte
		kinds := 1 + rng.IntN(len(pieces))
		for range rng.IntN(60) {
			b = append(b, pieces[rng.IntN(kinds)]...)
		}
		n := rng.IntN(len(b) + 2)
		wantStop, wantLeft := slowUnits(b, 0, n)
		assembled(func() {
			stop, left := skipUnits(b, 0, n)
			require.Equal(t, [2]int{wantStop, wantLeft}, [2]int{stop, left}, "%q, %d units", b, n)
		})
	}
}

func FuzzAssembly(f *testing.F) {
	for i, b := range bodiesOfRows(f) {
		if i%20 == 0 {
			f.Add(b)
		}
	}
	r := New()
	f.Fuzz(func(t *testing.T, body []byte) {
		var all []outcome
		assembled(func() { all = append(all, outcomeOf(r, body)) })
		require.Equal(t, all[0], all[1])
	})
}
