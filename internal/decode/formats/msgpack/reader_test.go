package msgpack_test

import (
	"strings"
	"testing"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/msgpack"
)

// Rows were measured with Dubbo 3.3.4 and its extension, which has the code of Dubbo 2.7.12 to 2.7.23.

func TestValues(t *testing.T) { formattest.Wants(t, msgpack.Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.WantsFrames(t, msgpack.Format, "testdata/frames.tsv") }

func TestSkipTextAllocatesNothing(t *testing.T) {
	formattest.NoAllocs(t, msgpack.Format, request(t))
}

// Forms that Jackson does not write for Dubbo, from the specification.
func TestSpecification(t *testing.T) {
	for hex, want := range map[string]string{
		"7f":                  "127",
		"e0":                  "-32",
		"d0 80":               "-128",
		"d1 8000":             "-32768",
		"d2 80000000":         "-2147483648",
		"d3 8000000000000000": "-9223372036854775808",
		"cc ff":               "255",
		"cf 7fffffffffffffff": "9223372036854775807",
		"cf ffffffffffffffff": `{"@decimal":"18446744073709551615"}`,
		"ca 7fc00000":         `{"@double":"NaN"}`,
		"d9 01 61":            `"a"`,
		"da 0001 61":          `"a"`,
		"db 00000001 61":      `"a"`,
		"a2 c328":             `"` + "\ufffd(" + `"`,
		"c5 0001 ff":          `{"@bytes":"/w=="}`,
		"dc 0002 01 02":       "[1,2]",
		"dd 00000001 c0":      "[null]",
		"de 0001 01 02":       `{"@map":[[1,2]]}`,
		"df 00000001 a161 c3": `{"a":true}`,
		"81 92 01 02 c2":      `{"@map":[[[1,2],false]]}`,
		"81 a5 4074797066 a0": `{"@map":[["@typf",""]]}`,
		"d4 01 07":            `{"@bytes":"Bw=="}`,
		"c7 03 01 000000":     `{"@bytes":"AAAA"}`,
		"c8 0001 01 00":       `{"@bytes":"AA=="}`,
		"c9 00000001 01 00":   `{"@bytes":"AA=="}`,
		"d8 01" + zeros(16):   `{"@bytes":"AAAAAAAAAAAAAAAAAAAAAA=="}`,
		// the timestamp
		"d6 ff 5e0be100":                     `{"@date":"2020-01-01T00:00:00Z"}`,
		"d7 ff 77359400 5e0be100":            `{"@date":"2020-01-01T00:00:00.500Z"}`,
		"d7 ff 000000045e0be100":             `{"@date":"2020-01-01T00:00:00.000000001Z"}`,
		"c7 0c ff 000003e8 ffffffffffffffff": `{"@date":"1969-12-31T23:59:59.000001Z"}`,
		"c7 0c ff 00000000 7fffffffffffffff": `{"@bytes":"AAAAAH//////////"}`,
		"c7 0c ff 3b9aca00 0000000000000000": `{"@bytes":"O5rKAAAAAAAAAAAA"}`,
		"c7 01 ff 00":                        `{"@bytes":"AA=="}`,
		// classes with Jackson's JsonTypeInfo, by their class and by a name
		"82 a6 40636c617373 a3 612e42 a178 01": `{"@class":"a.B","x":1}`,
		"81 a5 4074797065 d9 03 646f67":        `{"@class":"dog"}`,
		"82 a178 01 a6 40636c617373 a3 612e42": `{"@map":[["x",1],["@class","a.B"]]}`,
		"81 a6 40636c617373 05":                `{"@map":[["@class",5]]}`,
		"c6 00000002 0102":                     `{"@bytes":"AQI="}`,
		"82 a161 01 a161 02":                   `{"a":1,"a":2}`,
		"cb 7ff0000000000000":                  `{"@double":"Infinity"}`,
		"93 c0 90 80":                          "[null,[],{}]",
		"91 81 a4 f09f9880 a26869":             `[{"` + "😀" + `":"hi"}]`,
	} {
		t.Run(hex, func(t *testing.T) {
			if got := formattest.Value(t, msgpack.Format, formattest.Hex(hex)); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		})
	}
}

func zeros(n int) string { return strings.Repeat("00", n) }

func TestHostile(t *testing.T) {
	formattest.Stops(t, msgpack.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "the byte that is never used", Body: formattest.Hex("c1"), Cause: decode.Malformed},
		{Name: "string longer than the body", Body: formattest.Hex("db ffffffff 61"), Cause: decode.Malformed},
		{Name: "byte array longer than the body", Body: formattest.Hex("c6 7fffffff"), Cause: decode.Malformed},
		{Name: "four billion elements", Body: formattest.Hex("dd ffffffff c0"), Cause: decode.Malformed},
		{Name: "four billion entries", Body: formattest.Hex("df ffffffff c0 c0"), Cause: decode.Malformed},
		{Name: "extension longer than the body", Body: formattest.Hex("c9 ffffffff 01"), Cause: decode.Malformed},
		{Name: "a map that ends behind a key", Body: formattest.Hex("82 a161 01 a162"), Cause: decode.Malformed},
		{Name: "a double cut short", Body: formattest.Hex("cb 00"), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("\x91", 5000)), Cause: decode.Limit},
		{Name: "keys without end", Body: []byte(strings.Repeat("\x81", 5000)), Cause: decode.Limit},
	})
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, msgpack.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, msgpack.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
