package dubboserialization

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// Rows were measured with Dubbo 2.5.3, objects with a newer javassist (3.30), without which it does not run on JDK 17.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

// REQ sayHello(String), RES value and RES null, as measured.
func TestMessages(t *testing.T) {
	body := request("Ljava/lang/String;I", "8b9083826869 8b8c841e")
	m := formattest.Request(Format, body, decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["hi",5] | {"path":"d.Hi"}`, m.Summary())
	require.Equal(t, len(body), m.Taken)
	formattest.Balance(t, &m.Tree, m.Taken)

	m = formattest.Response(Format, formattest.Hex("1d 8b9083826869 8b9386818b908385647562626f8b908385322e302e32"), decode.Malformed)
	require.Equal(t, `4 | "hi" | {"dubbo":"2.0.2"}`, m.Summary())
	m = formattest.Response(Format, formattest.Hex("1b"), decode.Malformed)
	require.Equal(t, `2`, m.Summary())
	m = formattest.Response(Format, formattest.Hex("38"), decode.Malformed)
	require.Equal(t, `0 | !malformed at 0: a result kind, 0 to 5`, m.Summary())
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		hex, want string
		null      bool
	}{
		{"94", "", true},
		{"95", "", false},
		{"83 82 6162", "ab", false},
		{"83 81 e4b8ad", "中", false},
		{"83 81 c3a9", "é", false},
		{"83 81 00", "\x00", false},
		{"83 82 eda0bd edb880", "😀", false},
		{"83 82 eda0bd 61", "\ufffda", false},
		{"83 82 edb880 61", "\ufffda", false},
		{"83 83 eda0bd eda0bd edb880", "\ufffd😀", false},
		{"83 2c82 " + strings.Repeat("78", 300), strings.Repeat("x", 300), false},
	} {
		r := Format.New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		s, null := r.Text("errorMessage")
		require.Nil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, s, c.hex)
		assert.Equal(t, c.null, null, c.hex)
		assert.Equal(t, len(formattest.Hex(c.hex)), r.Offset(), c.hex)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want string
	}{
		{"0a", "-15"},
		{"18", "-1"},
		{"19", "0"},
		{"38", "31"},
		{"00 20", "32"},
		{"00 ff", "-1"},
		{"00 f0", "-16"},
		{"01 2c01", "300"},
		{"01 0080", "-32768"},
		{"02 a08601", "100000"},
		{"03 00000080", "-2147483648"},
		{"05 000000000001", "1099511627776"},
		{"07 ffffffffffffff7f", "9223372036854775807"},
		{"07 0000000000000080", "-9223372036854775808"},
	} {
		assert.Equal(t, c.want, formattest.Value(t, Format, formattest.Hex("8b8d 84", c.hex)), c.hex)
		assert.Equal(t, `{"@class":"A","#0":`+c.want+`}`, formattest.Value(t, Format, formattest.Hex("8a 83 83 4c413b 80 1a", c.hex)), c.hex)
	}
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "unknown tag", Body: formattest.Hex("ff"), Cause: decode.Malformed},
		{Name: "a number at the top", Body: formattest.Hex("1a"), Cause: decode.Malformed},
		{Name: "a class number never given", Body: formattest.Hex("8b 9c 94"), Cause: decode.Malformed},
		{Name: "no descriptor", Body: formattest.Hex("8a 83 83 414243 94"), Cause: decode.Malformed},
		{Name: "empty descriptor", Body: formattest.Hex("8a 95 94"), Cause: decode.Malformed},
		{Name: "null descriptor", Body: formattest.Hex("8a 94 94"), Cause: decode.Malformed},
		{Name: "string longer than the body", Body: formattest.Hex("8b90 83 7f7f7f7f87 61"), Cause: decode.Malformed},
		{Name: "length beyond 2^31", Body: formattest.Hex("8b90 83 7f7f7f7f8f 61"), Cause: decode.Malformed},
		{Name: "length without end", Body: formattest.Hex("8b90 83 00000000000000"), Cause: decode.Malformed},
		{Name: "no UTF-8", Body: formattest.Hex("8b90 83 82 ff61"), Cause: decode.Malformed},
		{Name: "character cut", Body: formattest.Hex("8b90 83 81 e4b8"), Cause: decode.Malformed},
		{Name: "number cut", Body: formattest.Hex("8b8c 84 03 00"), Cause: decode.Malformed},
		{Name: "Boolean 2", Body: formattest.Hex("8b88 1b"), Cause: decode.Malformed},
		{Name: "box without a value", Body: formattest.Hex("8b8c 83 81 61"), Cause: decode.Malformed},
		{Name: "list of 2^31 elements", Body: formattest.Hex("8b92 85 7f7f7f7f87"), Cause: decode.Malformed},
		{Name: "map of 2^31 entries", Body: formattest.Hex("8b93 86 7f7f7f7f87"), Cause: decode.Malformed},
		{Name: "map cut behind a key", Body: formattest.Hex("8b93 86 81 8b90 83 81 6b"), Cause: decode.Malformed},
		{Name: "2^31 fields", Body: formattest.Hex("8a 83 83 4c413b 80 03 ffffff7f"), Cause: decode.Malformed},
		{Name: "-1 fields", Body: formattest.Hex("8a 83 83 4c413b 80 18"), Cause: decode.Malformed},
		{Name: "-1 elements", Body: formattest.Hex("8b99 80 19 18"), Cause: decode.Malformed},
		{Name: "reference to nothing", Body: formattest.Hex("8a 83 83 4c413b 81 80"), Cause: decode.Malformed},
		{Name: "reference to what follows", Body: formattest.Hex("8a 83 83 4c413b 80 1a 81 81"), Cause: decode.Malformed},
		{Name: "byte array longer than the body", Body: formattest.Hex("8b81 83 85 61"), Cause: decode.Malformed},
		{Name: "stream longer than the body", Body: formattest.Hex("8a 83 83 4c413b 82 85 61"), Cause: decode.Malformed},
		{Name: "lists nested too deep", Body: formattest.Hex(strings.Repeat("8b928581", 1200)), Cause: decode.Limit},
		{Name: "arrays nested too deep", Body: formattest.Hex("8a 83 83 4c413b 80 1a", strings.Repeat("8581", 1200)), Cause: decode.Limit},
		{Name: "objects nested too deep", Body: formattest.Hex("8a 83 83 4c413b", strings.Repeat("801a", 1200)), Cause: decode.Limit},
		{Name: "streams between objects nested too deep", Body: formattest.Hex("8a 83 83 4c413b", strings.Repeat("801b 8280", 1200)), Cause: decode.Limit},
	})
}

const (
	attachments = "8b93 86 81 8b90 83 84 70617468 8b90 83 84 642e4869" // {path=d.Hi}
	undecided   = "8a 83 83 4c413b 80 1b 83 81 c3a9 1a ff"             // no way to read it leads to an end
)

// request is a request hi with the parameter types and arguments given.
func request(types, args string) []byte {
	b := formattest.Hex("83 85 322e302e32 83 84 642e4869 83 85 302e302e30 83 82 6869 83")
	b = append(b, byte(0x80|len(types)))
	b = append(b, types...)
	return append(b, formattest.Hex(args, attachments)...)
}

func TestFindAttachments(t *testing.T) {
	formattest.FindAttachments(t, Format, "LA;", attachments, []formattest.Find{
		{Name: "after what cannot be read", Before: undecided, Body: attachments},
		{Name: "at the start", Body: attachments},
		{Name: "a map before", Before: undecided + "8b93 86 81 8b90 83 81 6b 8b90 83 81 76", Body: attachments},
		{Name: "bytes like a map before", Before: undecided + "8b9386 8b9386 82", Body: attachments},
		{Name: "empty map", Before: undecided, Body: "8b93 86 80", Want: -1},
		{Name: "a map ends the attachments", Before: undecided, Body: "8b93 86 82 8b90 83 84 70617468 8b90 83 81 61 8b90 83 81 6d 8b93 86 80"},
		{Name: "two places", Before: undecided, Body: "8b93 86 81 8b90 83 84 70617468 " + attachments, Want: -1},
		{Name: "without a key of Dubbo", Before: undecided, Body: "8b93 86 81 8b90 83 81 6b 8b90 83 81 76", Want: -1},
		{Name: "a key that is not a string", Before: undecided, Body: "8b93 86 81 8b8c 84 1a 8b90 83 81 76", Want: -1},
		{Name: "a reference to what was not read", Before: undecided, Body: "8b93 86 82 8b90 83 84 70617468 8b90 83 81 61 8b90 83 81 6d 8a 83 83 4c413b 81 85"},
		{Name: "cut", Before: undecided, Body: "8b93 86 82 8b90 83 84 70617468 8b90 83 84 642e4869", Want: -1},
	})
}

// Searches are linear, whatever the body is full of.
func TestSearchIsBounded(t *testing.T) {
	const size = 1 << 20
	for name, unit := range map[string]string{
		"maps":              "8b9386",
		"maps of one entry": "8b9386 81 8b90 83 81 61",
		"nested maps":       "8b9386 7f81 8b90 83 81 61",
		"objects":           "8a 83 83 4c413b 80 1a 80 19 1a 8b90",
		"texts":             "8a 83 83 4c413b 80 1b 83 81 c3a9 1a",
		"collections":       "8a 83 83 4c413b 80 1a 80 19 19",
	} {
		body := bytes.Repeat(formattest.Hex(unit), size/len(formattest.Hex(unit)))
		used := testkit.CPU()
		r := Format.New()
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByIndex, "", 0, "LA;")
		r.(decode.AttachmentFinder).FindAttachments(0)
		assert.Less(t, used(), 20*time.Second, name)
	}
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, benchmark()) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, benchmark()) }

// benchmark is a request with a list of 50 objects that have an object, a list and a text.
func benchmark() []byte {
	const user = "8a 83 84 4c7455 3b 80 1e 80 1b 20 83 83 626f62 1c 8b92 85 82 8b90 83 83 6f6e65 8b90 83 83 74776f 83 82 e4b8ade69687 07 000000000000f83f"
	return request("Ljava/util/List;", "8b92 85 b2"+strings.Repeat(user, 50))
}
