package json_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/json"
)

// Rows were measured with Dubbo 2.5.3, those of beans with a newer javassist (3.30), without which its bean wrappers do not
// run on JDK 17.

func TestValues(t *testing.T) { formattest.Wants(t, json.Format, "testdata/values.tsv") }

// REQ sayHello(String), RES value and RES null, as measured.
func TestMessages(t *testing.T) {
	m := formattest.Request(json.Format, request(), decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["bob",5] | {"path":"d.Hi"}`, m.Summary())
	require.Equal(t, len(request()), m.Taken)
	formattest.Balance(t, &m.Tree, m.Taken)

	m = formattest.Response(json.Format, []byte("4\n\"hi\"\n{\"dubbo\":\"2.0.2\"}\n"), decode.Malformed)
	require.Equal(t, `4 | "hi" | {"dubbo":"2.0.2"}`, m.Summary())
	m = formattest.Response(json.Format, []byte("2\n"), decode.Malformed)
	require.Equal(t, `2`, m.Summary())
	m = formattest.Response(json.Format, []byte("0\n{\"suppressed\":[],\"message\":\"x\",\"class\":\"java.lang.RuntimeException\"}\n"), decode.Malformed)
	require.Equal(t, `0 | java.lang.RuntimeException: x`, m.Summary())
}

// Written in another charset, a text may not be JSON to us; the ones after it are read.
func TestOtherCharset(t *testing.T) {
	m := formattest.Response(json.Format, []byte("4\n\"\xd6\xd0\x95\x5c\"\n{\"dubbo\":\"2.0.2\"}\n"), decode.Malformed) // GBK
	require.Nil(t, m.Err)
	require.Equal(t, `4 | {"@opaque":6} | {"dubbo":"2.0.2"}`, m.Summary())
}

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, json.Format, request()) }

func TestHostile(t *testing.T) {
	formattest.Stops(t, json.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no line end", Body: []byte(`{"a":1}`), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "objects without end", Body: []byte(strings.Repeat(`{"a":`, 5000) + "\n"), Cause: decode.Limit},
		{Name: "classes without end", Body: []byte(strings.Repeat(`{"class":`, 5000) + "\n"), Cause: decode.Limit},
	})
}

func FuzzReader(f *testing.F) { formattest.Fuzz(f, json.Format, "testdata/values.tsv") }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, json.Format, request()) }

func request() []byte {
	return []byte(`"2.0.2"` + "\n" + `"d.Hi"` + "\n" + `"0.0.0"` + "\n" + `"hi"` + "\n" + `"Ljava\/lang\/String;I"` + "\n" +
		`"bob"` + "\n5\n" + `{"path":"d.Hi"}` + "\n")
}
