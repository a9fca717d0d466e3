package fastjson_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/fastjson"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Rows were measured with Dubbo 2.5.3 (fastjson 1.1.39), 2.6.12 (1.2.46), 2.7.8 (1.2.70), and with 3.3.4 and its
// extension (1.2.83), which has lengths instead of line ends.

func TestValues(t *testing.T) { formattest.Wants(t, fastjson.Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.WantsFrames(t, fastjson.Format, "testdata/frames.tsv") }

// Values of the extension 3.2.0 on Dubbo 3.2.16; those of the source for 3.3.4 are the same.
func TestPrefixedValues(t *testing.T) {
	formattest.Wants(t, fastjson.Prefixed, "testdata/values-prefixed.tsv")
}

func TestTell(t *testing.T) {
	for _, c := range []struct {
		body            string
		lines, prefixed decode.Verdict
	}{
		{`"2.0.2"`, decode.Own, decode.Foreign},
		{"4\n", decode.Own, decode.Foreign},
		{"null\n", decode.Own, decode.Foreign},
		{"\x00\x00\x00\x024B", decode.Foreign, decode.Own},
		{"\x00\x00\x00\x07\"2.0.2\"", decode.Foreign, decode.Own},
		{"", decode.Unsure, decode.Unsure},
	} {
		require.Equal(t, c.lines, fastjson.Format.Tell([]byte(c.body), decode.BodyRequest), "%q", c.body)
		require.Equal(t, c.prefixed, fastjson.Prefixed.Tell([]byte(c.body), decode.BodyRequest), "%q", c.body)
	}
}

// REQ sayHello(String) and RES value of the extension.
func TestExtension(t *testing.T) {
	request := lengths(`"2.0.2"`, `"d.Hi"`, `"0.0.0"`, `"hi"`, `"Ljava/lang/String;I"`, `"bob"`, `5`, `{"@type":"java.util.HashMap","path":"d.Hi"}`)
	m := formattest.Request(fastjson.Prefixed, request, decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["bob",5] | {"path":"d.Hi"}`, m.Summary())
	formattest.Balance(t, &m.Tree, len(request))
	formattest.NoAllocs(t, fastjson.Prefixed, request)

	m = formattest.Response(fastjson.Prefixed, lengths(`4B`, `"hi"`, `{"@type":"java.util.HashMap","dubbo":"2.0.2"}`), decode.Malformed)
	require.Equal(t, `4 | "hi" | {"dubbo":"2.0.2"}`, m.Summary())
}

func lengths(texts ...string) (body []byte) {
	for _, s := range texts {
		body = append(body, 0, 0, 0, byte(len(s)))
		body = append(body, s...)
	}
	return body
}

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, fastjson.Format, request(t)) }

func TestHostile(t *testing.T) {
	formattest.Stops(t, fastjson.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no line end", Body: []byte(`{"a":1}`), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "sets without end", Body: []byte(strings.Repeat("Set[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "keys without end", Body: []byte(strings.Repeat("{", 5000) + "\n"), Cause: decode.Limit},
		{Name: "classes without end", Body: []byte(strings.Repeat(`{"@type":"A","a":`, 5000) + "\n"), Cause: decode.Limit},
	})
}

func TestHostilePrefixed(t *testing.T) {
	length := func(text string) []byte {
		return append([]byte{0, byte(len(text) >> 16), byte(len(text) >> 8), byte(len(text))}, text...)
	}
	formattest.Stops(t, fastjson.Prefixed, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "length beyond the body", Body: formattest.Hex("00ffffff 22 22"), Cause: decode.Malformed},
		{Name: "length of 2^32-1", Body: formattest.Hex("ffffffff 22 22"), Cause: decode.Malformed},
		{Name: "half a length", Body: formattest.Hex("0000"), Cause: decode.Malformed},
		{Name: "sets without end", Body: length(strings.Repeat("Set[", 5000)), Cause: decode.Limit},
		{Name: "classes without end", Body: length(strings.Repeat(`{"@type":"A","a":`, 5000)), Cause: decode.Limit},
	})
}

func FuzzPrefixed(f *testing.F) {
	f.Add(lengths(`4B`, `"hi"`, `{"@type":"java.util.HashMap","dubbo":"2.0.2"}`))
	formattest.Fuzz(f, fastjson.Prefixed, "testdata/values-prefixed.tsv")
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, fastjson.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, fastjson.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
