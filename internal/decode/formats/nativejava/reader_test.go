package nativejava_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/nativejava"
)

// Rows were measured with Dubbo 2.5.3, 2.6.12 and 2.7.8, whose bytes are the same. Values are tested with package java.

func TestValues(t *testing.T) { formattest.Wants(t, nativejava.Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.WantsFrames(t, nativejava.Format, "testdata/frames.tsv") }

func TestSkipTextAllocatesNothing(t *testing.T) {
	formattest.NoAllocs(t, nativejava.Format, request(t))
}

// Strings of the envelope may straddle blocks.
func TestBlocks(t *testing.T) {
	payload := formattest.Hex("0005 322e302e32", "0004 642e4869", "0005 302e302e30", "0002 6869", "0000")
	for size := 1; size < len(payload); size++ {
		body := formattest.Hex("aced0005")
		for p := payload; len(p) > 0; p = p[min(size, len(p)):] {
			n := min(size, len(p))
			body = append(append(body, 0x77, byte(n)), p[:n]...)
		}
		body = append(body, 0x70)
		m := formattest.Request(nativejava.Format, body, decode.Malformed)
		require.Equal(t, "2.0.2 | d.Hi | 0.0.0 | hi |  | [] | null", m.Summary(), "blocks of %d", size)
		formattest.Balance(t, &m.Tree, len(body))
	}
}

// A stream that restarts between two values counts its handles from the first again.
func TestRestart(t *testing.T) {
	tree := decode.Tree{WithValues: true}
	r := nativejava.Format.New()
	body := formattest.Hex("aced0005 74 0001 61 7979 74 0001 62 71 007e0000 77 02 0000 79 77 02 0000 71 007e0000")
	r.Reset(body, decode.Malformed, &tree)
	for i := range 3 {
		r.Value(decode.ByField, "v"+string(rune('0'+i)), 0, "")
	}
	r.Text("a")
	r.Text("b")
	require.Nil(t, r.Err())
	r.Value(decode.ByField, "gone", 0, "")
	require.NotNil(t, r.Err())
	require.Equal(t, decode.Malformed, r.Err().Cause)
	m := formattest.Message{Tree: tree}
	require.Equal(t, []string{`"a"`, `"b"`, `"b"`}, []string{m.Value("v0"), m.Value("v1"), m.Value("v2")})
	formattest.Balance(t, &tree, r.Offset())
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, nativejava.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no stream", Body: formattest.Hex("aced0004 70"), Cause: decode.Malformed},
		{Name: "a block for an object", Body: formattest.Hex("aced0005 770101 70"), Cause: decode.Malformed},
		{Name: "the end of a block for an object", Body: formattest.Hex("aced0005 78"), Cause: decode.Malformed},
		{Name: "a handle that is not assigned", Body: formattest.Hex("aced0005 71 007e0000"), Cause: decode.Malformed},
		{Name: "a stream that restarts and ends", Body: formattest.Hex("aced0005 79"), Cause: decode.Malformed},
	})
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, nativejava.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, nativejava.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
