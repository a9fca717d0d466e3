package gson_test

import (
	"strings"
	"testing"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/gson"
)

// Rows were measured with Dubbo 2.7.8 and with 3.3.4 and its extension.

func TestValues(t *testing.T) { formattest.Wants(t, gson.Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.WantsFrames(t, gson.Format, "testdata/frames.tsv") }

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, gson.Format, request(t)) }

func TestHostile(t *testing.T) {
	formattest.Stops(t, gson.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no line end", Body: []byte(`{"a":1}`), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "objects without end", Body: []byte(strings.Repeat(`{"a":`, 5000) + "\n"), Cause: decode.Limit},
	})
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, gson.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, gson.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
