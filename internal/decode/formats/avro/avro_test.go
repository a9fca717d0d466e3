package avro

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func FuzzReader(f *testing.F) { formattest.Fuzz(f, Format, "testdata/frames.tsv") }

// Arguments are read by their declared types. Bytes measured with Dubbo 2.7.8.
func TestValues(t *testing.T) {
	for _, c := range []struct{ typ, hex, want string }{
		{"Ljava/lang/String;", "046162", `"ab"`},
		{"Ljava/lang/String;", "00", `""`},
		{"Ljava/lang/String;", "06e4b8ad", `"中"`},
		{"Ljava/lang/String;", "08f09f9880", `"😀"`},
		{"Ljava/lang/String;", "", `null`},
		{"I", "0a", "5"},
		{"Ljava/lang/Integer;", "01", "-1"},
		{"I", "ffffffff0f", "-2147483648"},
		{"J", "808080808040", "1099511627776"},
		{"J", "ffffffffffffffffff01", "-9223372036854775808"},
		{"S", "06", "3"},
		{"B", "01", "-1"},
		{"C", "c601", `"c"`},
		{"Z", "01", "true"},
		{"F", "0000c03f", "1.5"},
		{"D", "000000000000f83f", "1.5"},
		{"[B", "06010203", `{"@bytes":"AQID"}`},
		{"[I", "04020400", "[1,2]"},
		{"[I", "00", "[]"},
		{"[I", "03040204 00", "[1,2]"}, // a block with its size
		{"[Z", "0601000100", "[true,false,true]"},
		{"[[J", "0202020000", "[[1]]"},
		{"[Ljava/lang/String;", "040261026200", `["a","b"]`},
		{"Ljava/math/BigDecimal;", "06312e35", `{"@decimal":"1.5"}`},
		{"Ljava/util/Date;", "", `{"@opaque":0}`},
		{"Ljava/lang/StringBuilder;", "046162", `"ab"`},
	} {
		body := formattest.Hex(c.hex)
		tree := decode.Tree{WithValues: true}
		r := Format.New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByIndex, "", 0, c.typ)
		require.Nil(t, r.Err(), c.typ)
		assert.Equal(t, c.want, string(tree.AppendJSON(nil, 0)), c.typ)
		assert.Equal(t, len(body), r.Offset(), c.typ)
		formattest.Balance(t, &tree, len(body))
	}
}

// What takes no bytes is told from what is not understood.
func TestLost(t *testing.T) {
	body := formattest.Hex("0a 322e302e32 08 642e4869 0a 302e302e30 04 6869 2e 4c6a6176612f7574696c2f446174653b", "49", "0a")
	body[20] = byte(2 * len("Ljava/util/Date;I"))
	m := formattest.Request(Format, body, decode.Malformed)
	require.Nil(t, m.Err)
	assert.Equal(t, `[{"@opaque":0},5]`, m.Value("args"))
	assert.Empty(t, m.Value("attachments"))
}

func TestStops(t *testing.T) {
	for _, c := range []struct {
		name, typ, hex string
		cause          decode.Cause
	}{
		{"an object of the application", "LGen$User;", "0e06626f62", decode.Unsupported},
		{"a map: its class may be the application's", "Ljava/util/Map;", "00", decode.Unsupported},
		{"an array of objects", "[LGen$User;", "02 0e06626f62 00", decode.Unsupported},
		{"an array of nothing", "[Ljava/lang/Object;", "04 00", decode.Unsupported},
		{"string longer than the body", "Ljava/lang/String;", "fcffffff0f61", decode.Malformed},
		{"string of negative length", "Ljava/lang/String;", "01 61", decode.Malformed},
		{"number of eleven bytes", "J", "ffffffffffffffffffffff01", decode.Malformed},
		{"number cut", "I", "ff", decode.Malformed},
		{"block of 2^31 elements", "[I", "feffffff1f 02", decode.Malformed},
		{"block of -2^63 elements", "[I", "ffffffffffffffffff01 02 02", decode.Malformed},
		{"array without end", "[I", "02 02", decode.Malformed},
		{"arrays nested too deep", strings.Repeat("[", 1200) + "I", strings.Repeat("02", 1200), decode.Limit},
		{"double cut", "D", "0000", decode.Malformed},
	} {
		for _, tree := range []*decode.Tree{nil, {WithValues: true}} {
			r := Format.New()
			r.Reset(formattest.Hex(c.hex), decode.Malformed, tree)
			r.Value(decode.ByIndex, "", 0, c.typ)
			require.NotNil(t, r.Err(), c.name)
			assert.Equal(t, c.cause.String(), r.Err().Cause.String(), c.name)
			assert.Equal(t, r.Offset(), r.Err().At, c.name)
			if tree != nil {
				formattest.Balance(t, tree, r.Offset())
			}
		}
	}
}

// An exception is its message, or measured; a result always is the rest of the body.
func TestResponse(t *testing.T) {
	for _, c := range []struct{ name, hex, exception, result string }{
		{"message", "03 0202 78", `{"detailMessage":"x"}`, ""},
		{"no message", "03 00", `{"detailMessage":null}`, ""},
		{"own fields", "03 0e 0202 78", `{"@opaque":4}`, ""},
		{"value", "04 046869", "", `{"@opaque":3}`},
		{"value of no bytes", "04", "", `{"@opaque":0}`},
		{"null", "05", "", ""},
	} {
		body := formattest.Hex(c.hex)
		m := formattest.Response(Format, body, decode.Malformed)
		require.Nil(t, m.Err, c.name)
		assert.Equal(t, c.exception, m.Value("exception"), c.name)
		assert.Equal(t, c.result, m.Value("result"), c.name)
		formattest.Balance(t, &m.Tree, len(body))
	}
	m := formattest.Response(Format, formattest.Hex("04 046869"), decode.Cut)
	require.NotNil(t, m.Err)
	assert.Equal(t, decode.Cut, m.Err.Cause)
}

func request() []byte {
	b := formattest.Hex("0a 322e302e32 08 642e4869 0a 302e302e30 04 6869")
	desc := "Ljava/lang/String;[J"
	b = append(append(b, byte(2*len(desc))), desc...)
	b = append(b, formattest.Hex("a007", strings.Repeat("61", 464), "c801", strings.Repeat("d804", 100), "00")...)
	return b
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request()) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request()) }
