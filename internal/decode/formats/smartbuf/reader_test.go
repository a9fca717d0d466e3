package smartbuf_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/smartbuf"
)

// Rows were measured with smartbuf-dubbo 1.0.1 on the API of Dubbo 2.6.7, and with smartbuf 0.1.3 alone in both modes.

func TestValues(t *testing.T) { formattest.Wants(t, smartbuf.Format, "testdata/values.tsv") }

// REQ sayHello(String) and RES value of the same measurement.
var (
	request = formattest.Hex("1c1805322e302e3213 1c1804642e486913 1c1805302e302e3013 1c1802686913",
		"1c18134c6a6176612f6c616e672f537472696e673b4913 1c1803626f6213 1c160a10 1e1304706174681801001804642e48691513")
	response = formattest.Hex("1c160810 1c1802686913 1e1305647562626f1801001805322e302e321513")
)

func TestBodies(t *testing.T) {
	m := formattest.Request(smartbuf.Format, request, decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["bob",5] | {"path":"d.Hi"}`, m.Summary())
	formattest.Balance(t, &m.Tree, len(request))
	formattest.Check(t, smartbuf.Format, request)

	m = formattest.Response(smartbuf.Format, response, decode.Malformed)
	require.Equal(t, `4 | "hi" | {"dubbo":"2.0.2"}`, m.Summary())
	formattest.Balance(t, &m.Tree, len(response))

	m = formattest.Response(smartbuf.Format, formattest.Hex("1c160410"), decode.Malformed)
	require.Equal(t, "2", m.Summary())
}

// The bytes of an attachment in a pool are the attachment's, wherever they lie.
func TestParts(t *testing.T) {
	m := formattest.Request(smartbuf.Format, request, decode.Malformed)
	sizes := map[string]int{}
	for _, p := range m.Tree.Parts(nil, 0) {
		sizes[p.Path] += p.Bytes
	}
	require.Equal(t, map[string]int{
		"dubboVersion": 9, "path": 8, "serviceVersion": 9, "method": 6, "parameterTypes": 23,
		"args.#packet": 4, "args.#ref": 2, "args[0]": 4, "args[1]": 1,
		"#packet": 4, "#class": 2, "attachments.#type": 1, "attachments.#ref": 1, "attachments.path": 10,
	}, sizes)
}

// A struct lives on in the packets after the one that added it: two writeObject of a bean.
func TestContext(t *testing.T) {
	body := formattest.Hex("1f0125026964046e616d651b0200011e000217021801611d1013 1e1e000217041801621d1013")
	tree := decode.Tree{WithValues: true}
	r := smartbuf.Format.New()
	r.Reset(body, decode.Malformed, &tree)
	tree.Open(decode.List, decode.ByField, "args", 0, 0)
	r.Value(decode.ByIndex, "", 0, "")
	r.Value(decode.ByIndex, "", 1, "")
	tree.Close()
	require.Nil(t, r.Err())
	formattest.Balance(t, &tree, len(body))
	require.Equal(t, `[{"id":1,"name":"a"},{"id":2,"name":"b"}]`, string(tree.AppendJSON(nil, 0)))
}

// The class of an exception is its field "type".
func TestThrowable(t *testing.T) {
	m := formattest.Response(smartbuf.Format, formattest.Hex("1c160610",
		"1e43036d736706737461636b7305636175736504747970651804000102032801781a6a6176612e6c616e672e52756e74696d65457863657074696f6e151303001b",
		"1e1305647562626f1801001805322e302e321513"), decode.Malformed)
	require.Equal(t, `3 | {"dubbo":"2.0.2"} | java.lang.RuntimeException: x`, m.Summary())
}

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, smartbuf.Format, request) }

func TestHostile(t *testing.T) {
	bodies := []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "another version", Body: formattest.Hex("20 00"), Cause: decode.Malformed},
		{Name: "no value", Body: formattest.Hex("18"), Cause: decode.Malformed},
		{Name: "a number of eleven bytes", Body: formattest.Hex("18 8080808080808080808001"), Cause: decode.Malformed},
		{Name: "string longer than the body", Body: formattest.Hex("1c 18 ffffffff07 61 13"), Cause: decode.Malformed},
		{Name: "a billion strings", Body: formattest.Hex("1c f8ffffff7f 00 00 13"), Cause: decode.Malformed},
		{Name: "a string that is not there", Body: formattest.Hex("1c 1801 61 1b"), Cause: decode.Malformed},
		{Name: "symbol 0", Body: formattest.Hex("18 04"), Cause: decode.Malformed},
		{Name: "a struct that is not there", Body: formattest.Hex("18 1d"), Cause: decode.Malformed},
		{Name: "struct 1", Body: formattest.Hex("18 0d"), Cause: decode.Malformed},
		{Name: "a struct of a name that is not there", Body: formattest.Hex("1a 18 01 00 15"), Cause: decode.Malformed},
		{Name: "a struct of a billion names", Body: formattest.Hex("1a 18 ffffffff03 00"), Cause: decode.Malformed},
		{Name: "meta area 0", Body: formattest.Hex("1a 10 00"), Cause: decode.Malformed},
		{Name: "data area 7", Body: formattest.Hex("1c 1e 00"), Cause: decode.Malformed},
		{Name: "an array of type 0", Body: formattest.Hex("18 46 00"), Cause: decode.Malformed},
		{Name: "an array of a billion", Body: formattest.Hex("18 ffffffff7e"), Cause: decode.Malformed},
		{Name: "a slice of type 15", Body: formattest.Hex("18 f703 00"), Cause: decode.Malformed},
		{Name: "a boolean 3", Body: formattest.Hex("18 9702 03"), Cause: decode.Malformed},
		{Name: "names expired", Body: formattest.Hex("1a 16 00 00"), Cause: decode.Unsupported},
		{Name: "symbols expired", Body: formattest.Hex("1c 1c 00 00"), Cause: decode.Unsupported},
		{Name: "arrays without end", Body: append([]byte{0x18}, strings.Repeat("\xb7\x03", 5000)...), Cause: decode.Limit},
		{Name: "nulls that cost nothing", Body: append([]byte{0x18, 0x8f, 0x02}, strings.Repeat("\xff\xe1", 5000)...), Cause: decode.Limit},
	}
	formattest.Stops(t, smartbuf.Format, bodies)
}

func FuzzReader(f *testing.F) {
	f.Add(request)
	f.Add(response)
	formattest.Fuzz(f, smartbuf.Format, "testdata/values.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, smartbuf.Format, request) }
