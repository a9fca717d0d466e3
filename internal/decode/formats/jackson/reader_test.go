package jackson

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Values were measured with Dubbo 3.3.4 and the extension; frames are of a capture of Dubbo 3.2.16, and what it lacks was
// written by the extension's streams.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

// An exception has no class on the wire; its message is its own, not that of its cause, which stands before it.
func TestThrowable(t *testing.T) {
	for name, want := range map[string]string{"boom S2C": `no "way"`, "nomessage S2C": ""} {
		body := formattest.Named(t, "testdata/frames.tsv", name)
		f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
		f.Flags, f.Status, f.BodyLen = Format.ID, dubbo.StatusOK, len(body)
		m := dubbo.NewDecoder([]decode.Format{Format}).Decode(f, dubbo.Values, nil)
		require.True(t, m.Exception, name)
		require.Empty(t, m.ExceptionClass, name)
		require.Equal(t, want, m.ExceptionMessage, name)
		require.Equal(t, "full", m.Decoded, name)
	}
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no line end", Body: []byte(`{"a":1}`), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "objects without end", Body: []byte(strings.Repeat(`{"a":`, 5000) + "\n"), Cause: decode.Limit},
	})
}

func request(tb testing.TB) []byte {
	return formattest.Named(tb, "testdata/frames.tsv", "createUser C2S")
}

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, Format, request(t)) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request(b)) }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}
