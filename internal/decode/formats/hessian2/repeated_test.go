package hessian2

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// What a Reader remembers of earlier bodies changes nothing that it says of the next one, which begins as they do, or is damaged.
func TestRepeatedBytesCountTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	var bodies [][]byte
	for _, row := range formattest.Frames(t, frameRows) {
		bodies = append(bodies, row.Body)
	}
	for _, row := range formattest.Values(t, "testdata/graphs.tsv") {
		bodies = append(bodies, row.Body)
	}
	count := func(r *Reader, body []byte, attachments int, tree *decode.Tree) (sum decode.PartBytes, at int, cause decode.Cause) {
		r.Reset(body, decode.Malformed, tree)
		if attachments >= 0 {
			r.Reset(body[attachments:], decode.Malformed, tree)
			r.Attachments()
		} else {
			r.Value(decode.ByField, "result", 0, "")
			r.Attachments()
		}
		if tree != nil {
			return tree.Bytes(), r.Offset(), formattest.Cause(r.Err())
		}
		sum, _ = r.Sum()
		return sum, r.Offset(), formattest.Cause(r.Err())
	}
	kept, hits := New(), 0
	for range 30_000 {
		body := bodies[rng.IntN(len(bodies))]
		if rng.IntN(2) == 0 {
			body = mutate(rng, body, bodies[rng.IntN(len(bodies))])
		}
		from := bytes.IndexAny(body, "HC")
		if from < 0 {
			continue
		}
		attachments := -1
		if rng.IntN(2) == 0 {
			attachments = bytes.LastIndexByte(body, 'H')
		} else {
			body = body[from:]
		}
		var tree decode.Tree
		sum, at, cause := count(kept, body, attachments, nil)
		wantSum, wantAt, wantCause := count(New(), body, attachments, &tree)
		require.Equal(t, wantCause, cause, "%x", body)
		require.Equal(t, wantAt, at, "%x", body)
		if cause == decode.None {
			require.Equal(t, wantSum, sum, "%x", body)
			hits++
		}
	}
	require.NotZero(t, hits)
	remembered := func(s *repeats) (n int) {
		for i := range s {
			require.LessOrEqual(t, cap(s[i].raw), 2*maxRepeated)
			n += min(len(s[i].raw), 1)
		}
		return n
	}
	require.NotZero(t, remembered(&kept.definitions))
	require.NotZero(t, remembered(&kept.attachments))
}
