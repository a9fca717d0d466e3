package fastjson2

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// The rows were written by Dubbo 3.3.4 with fastjson2 2.0.56, and by releases 2.0.23 to 2.0.60 of fastjson2 with the
// features that Dubbo sets.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

// doc puts the length before a document.
func doc(hex ...string) []byte {
	b := formattest.Hex(hex...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// read reads one document as the result of a response.
func read(body []byte, short decode.Cause) (*Reader, *formattest.Message) {
	m := &formattest.Message{Tree: decode.Tree{WithValues: true}}
	r := new(Reader)
	r.Reset(body, short, &m.Tree)
	r.Value(decode.ByField, "result", 0, "")
	return r, m
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		body []byte
		want string
		null bool
	}{
		{doc("af"), "", true},
		{doc("49"), "", false},
		{doc("4ae9"), "é", false},
		{doc("7904", "6162e963"), "abéc", false},
		{doc("7a03e4b8ad"), "中", false},
		{doc("7a02e4b8"), "\ufffd", false},
		{doc("7c022d4e"), "中", false},
		{doc("7c03", "2d4e61"), "中\ufffd", false},
		{doc("7c04", "3dd800de"), "😀", false},
		{doc("7c04", "00de3dd8"), "\ufffd\ufffd", false},
		{doc("7c06", "3dd83dd800de"), "\ufffd😀", false},
		{doc("7d02", "4e2d"), "中", false},
		{doc("7b02", "4e2d"), "中", false},
		{doc("7b04", "fffe2d4e"), "中", false},
		{doc("7b04", "feff4e2d"), "中", false},
		{doc("7e05", "61d6d0ff80"), "a中\ufffd\ufffd", false},
	} {
		var tree decode.Tree
		r := Format.New()
		r.Reset(c.body, decode.Malformed, &tree)
		s, null := r.Text("path")
		require.Nil(t, r.Err(), "%x", c.body)
		assert.Equal(t, c.want, s, "%x", c.body)
		assert.Equal(t, c.null, null, "%x", c.body)
		assert.Equal(t, len(c.body), r.Offset(), "%x", c.body)
		formattest.Balance(t, &tree, len(c.body))

		r.Reset(c.body, decode.Malformed, nil)
		r.SkipText()
		require.Nil(t, r.Err(), "%x", c.body)
		assert.Equal(t, len(c.body), r.Offset(), "%x", c.body)
	}
}

// What is not a string cannot be stepped over where a name is needed.
func TestNoText(t *testing.T) {
	for _, body := range [][]byte{doc("05"), doc(""), doc("4c6162"), doc("79 4800ffffff 61"), doc("7a ff"), doc("80"), formattest.Hex("ffffffff49"), formattest.Hex("00000003 4a61"), formattest.Hex("0000")} {
		r := Format.New()
		for _, take := range []func(){r.SkipText, func() { r.Text("path") }} {
			r.Reset(body, decode.Malformed, nil)
			take()
			require.NotNil(t, r.Err(), "%x", body)
			assert.Equal(t, decode.Malformed, r.Err().Cause, "%x", body)
			assert.Equal(t, 0, r.Offset(), "%x", body)
		}
	}
}

// The width of a byte is what Dubbo writes.
func TestResultKind(t *testing.T) {
	for body, want := range map[string]byte{"bd04": 4, "04": 4, "bc0005": 5, "e1": 1} {
		r := Format.New()
		r.Reset(doc(body), decode.Malformed, nil)
		assert.Equal(t, want, r.ResultKind(), body)
		require.Nil(t, r.Err(), body)
	}
	for _, body := range []string{"bdff", "4a61", "af", "3900", "bd", ""} {
		r := Format.New()
		r.Reset(doc(body), decode.Malformed, nil)
		r.ResultKind()
		require.NotNil(t, r.Err(), body)
		assert.Equal(t, 0, r.Offset(), body)
	}
}

// A name belongs to its first user.
func TestParts(t *testing.T) {
	body := doc("96 925147656e245573657200 a67f4b696401 07 7f4d6e616d65024c626f62a5 9200a67f01 08 7f02 4c616e6e a5")
	_, m := read(body, decode.Malformed)
	formattest.Balance(t, &m.Tree, len(body))
	var parts []string
	sum := map[string]int{}
	for _, p := range m.Tree.Parts(nil, 0) {
		if sum[p.Path] == 0 {
			parts = append(parts, p.Path+" "+p.Class.String())
		}
		sum[p.Path] += p.Bytes
	}
	assert.Equal(t, []string{
		"result.#length overhead", "result.#type overhead",
		"result[0].#class names", "result[0].#type overhead", "result[0].#field names", "result[0].id values", "result[0].name values", "result[0].#end overhead",
		"result[1].#class names", "result[1].#type overhead", "result[1].#field names", "result[1].id values", "result[1].name values", "result[1].#end overhead",
	}, parts)
	assert.Equal(t, 11, sum["result[0].#class"])
	assert.Equal(t, 2, sum["result[1].#class"])
	assert.Equal(t, 5+7, sum["result[0].#field"])
	assert.Equal(t, 2+2, sum["result[1].#field"])
}

func TestNames(t *testing.T) {
	for _, p := range shortNames {
		for i, name := range p.names {
			assert.False(t, i > 0 && name <= p.names[i-1], "%s is not in order", name)
		}
	}
	r := new(Reader)
	for name, want := range map[string]string{
		"NullPointerException": "java.lang.NullPointerException", "TimeUnit": "java.util.concurrent.TimeUnit", "BigDecimal": "java.math.BigDecimal",
		"org.example.User": "org.example.User", "User": "User", "[B": "byte[]",
	} {
		assert.Equal(t, want, r.javaName(&symbol{text: name}))
	}
}

// An empty object is a bean where its class is not a map.
func TestEmptyObject(t *testing.T) {
	for body, want := range map[string]string{
		"a6a5":                       `{}`,
		"92 4c612e4200a6a5":          `{"@class":"a.B"}`,
		"92 4b4c4d00a6a5":            `{}`,
		"92 50 547265654d617000a6a5": `{}`,
		"92 6c6a6176612e7574696c2e496d6d757461626c65436f6c6c656374696f6e73244d61704e00a6a5": `{}`,
	} {
		_, m := read(doc(body), decode.Malformed)
		assert.Equal(t, want, m.Value("result"), body)
	}
}

// A reference that leads to nothing, or to one of several values, stays what it is.
func TestReferenceThatLeadsNowhere(t *testing.T) {
	for body, want := range map[string]string{
		"a6 4a61 01 4a62 93 4c242e63 a5":          `{"a":1,"b":{"$ref":"$.c"}}`,
		"a6 4a62 93 4c242e63 4a63 93 4c232d31 a5": `{"b":{"$ref":"$.c"},"c":{"$ref":"$.c"}}`,
		"95 93 49": `[{"$ref":""}]`,
		"92 50 48617368536574 00 97 a6 4a61 94 a5 a6 4a61 94 a5 a6 4a62 93 4c242e61 a5": `[{"a":[]},{"a":[]},{"b":{"$ref":"$.a"}}]`,
	} {
		r, m := read(doc(body), decode.Malformed)
		require.Nil(t, r.Fault(), body)
		assert.Equal(t, want, m.Value("result"), body)
		formattest.Check(t, Format, doc(body))
	}
}

// request is a request as Dubbo 3.3 writes it, with a bean, a list and a map.
func request() []byte {
	var b []byte
	for _, s := range []string{"2.0.2", "org.example.UserService", "1.0.0", "save", "Lorg/example/User;Ljava/util/List;"} {
		b = binary.BigEndian.AppendUint32(b, uint32(1+len(s)))
		b = append(append(b, byte(opASCII0+len(s))), s...)
	}
	b = append(b, doc("92 596f72672e6578616d706c652e5573657200 a6 7f4b696401 488000ffff 7f4d6e616d6502 4c626f62 7f4e656d61696c03 7c042d4e8765 a5")...)
	list := "a4 3832" + "925147656e2455736572 00 a67f4b6964 01 be00000001000000ff a5" + strings.Repeat("9200a67f01be00000001000000ffa5", 49)
	b = append(b, doc(list)...)
	return append(b, doc("a64d706174684d642e486950696e7465726661636549a5")...)
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request()) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request()) }

// TestPrints: values, and sizes of parts, print without a tree what their tree prints, and all but those with references or unusual keys do.
func TestPrints(t *testing.T) {
	rows := formattest.Values(t, "testdata/values.tsv")
	for _, printing := range []decode.Printing{decode.PrintValues, decode.PrintParts} {
		without := 0
		for _, row := range rows {
			tree, m := read(row.Body, decode.Malformed)
			to := decode.Printed{Printing: printing}
			r := new(Reader)
			r.Reset(row.Body, decode.Malformed, nil)
			r.Print(&to)
			r.Value(decode.ByField, "result", 0, "")
			if r.Err() != nil || r.Fault() != nil {
				continue
			}
			without++
			sum, ok := r.Sum()
			require.True(t, ok)
			require.Nil(t, tree.Err())
			require.Equal(t, m.Tree.Bytes(), sum, row.Want)
			if printing == decode.PrintValues {
				require.Equal(t, string(m.Tree.AppendJSON(nil, 0)), string(to.Values))
				continue
			}
			var parts []byte
			m.Tree.EachPart(0, func(path []byte, _ decode.Class, _, bytes int) {
				parts = decode.AppendPart(append(parts, ','), path, bytes)
			})
			require.Equal(t, string(parts), string(to.Parts))
		}
		t.Log(without, "of", len(rows))
		assert.Greater(t, without, len(rows)*2/3)
	}
	for _, c := range []struct {
		body []byte
		want string // "": it needs a tree
	}{
		{doc("a6 4a61 01 a5"), `{"a":1}`},
		{doc("a6 4a40 01 a5"), ""}, // a key that begins with @
		{doc("a6 01 01 a5"), ""},   // one that is a number
		{doc("95 93 4924"), ""},
		{doc(strings.Repeat("95", 100), "01"), strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100)},
		{doc(strings.Repeat("95", 101), "01"), ""},
	} {
		to := decode.Printed{Printing: decode.PrintValues}
		r := new(Reader)
		r.Reset(c.body, decode.Malformed, nil)
		r.Print(&to)
		r.Value(decode.ByField, "result", 0, "")
		if c.want == "" {
			assert.True(t, r.Err() != nil || r.Fault() != nil, "% x", c.body)
		} else {
			assert.Equal(t, c.want, string(to.Values))
		}
	}
}

// TestPrintedPartsAreBounded: values of a byte under a long path would print hundreds of megabytes of parts; printing stops instead.
func TestPrintedPartsAreBounded(t *testing.T) {
	const values = 1_000_000
	key := "79 386e" + strings.Repeat("6e", 110) // 110 letters
	body := doc(strings.Repeat("a6 "+key, 4) + "a4 48000f4240" + strings.Repeat("00", values) + strings.Repeat("a5", 4))
	to := decode.Printed{Printing: decode.PrintParts}
	r := new(Reader)
	r.Reset(body, decode.Malformed, nil)
	r.Print(&to)
	r.Value(decode.ByField, "result", 0, "")
	require.True(t, r.Err() != nil || r.Fault() != nil)
	assert.Less(t, len(to.Parts), decode.MaxPrintedParts+1000)
	assert.Greater(t, len(to.Parts), decode.MaxPrintedParts)
}
