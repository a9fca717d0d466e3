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

// REQ sayHello(String) and RES value of the extension.
func TestExtension(t *testing.T) {
	request := lengths(`"2.0.2"`, `"d.Hi"`, `"0.0.0"`, `"hi"`, `"Ljava/lang/String;I"`, `"bob"`, `5`, `{"@type":"java.util.HashMap","path":"d.Hi"}`)
	m := formattest.Request(fastjson.Format, request, decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["bob",5] | {"path":"d.Hi"}`, m.Summary())
	formattest.Balance(t, &m.Tree, len(request))
	formattest.NoAllocs(t, fastjson.Format, request)

	m = formattest.Response(fastjson.Format, lengths(`4B`, `"hi"`, `{"@type":"java.util.HashMap","dubbo":"2.0.2"}`), decode.Malformed)
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
		{Name: "length beyond the body", Body: formattest.Hex("00ffffff 22 22"), Cause: decode.Malformed},
		{Name: "half a length", Body: formattest.Hex("0000"), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "sets without end", Body: []byte(strings.Repeat("Set[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "keys without end", Body: []byte(strings.Repeat("{", 5000) + "\n"), Cause: decode.Limit},
		{Name: "classes without end", Body: []byte(strings.Repeat(`{"@type":"A","a":`, 5000) + "\n"), Cause: decode.Limit},
	})
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, fastjson.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, fastjson.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
