package fastjson2

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// What a document holds that cannot be read is opaque, to the document's end; the document after it is read.
func TestOpaque(t *testing.T) {
	deep := strings.Repeat("95", 1200)
	for _, c := range []struct {
		name, body string
		cause      decode.Cause
		want       string // the value with what is opaque, "" for the whole
	}{
		{"nothing", "", decode.Malformed, ""},
		{"a byte without meaning", "80", decode.Unsupported, ""},
		{"the end of an object", "a5", decode.Malformed, ""},
		{"int cut", "48 0102", decode.Malformed, ""},
		{"short int cut", "40 01", decode.Malformed, ""},
		{"long cut", "be 01", decode.Malformed, ""},
		{"string longer than the document", "4c 61", decode.Malformed, ""},
		{"string of 2^31-1 bytes", "79 487fffffff 61", decode.Malformed, ""},
		{"string of negative length", "79 ff 61", decode.Malformed, ""},
		{"string of a length that is a long", "79 e1 61", decode.Malformed, ""},
		{"binary of 2^31-1 bytes", "91 487fffffff 61", decode.Malformed, ""},
		{"big integer of 2^31-1 bytes", "bb 487fffffff 61", decode.Malformed, ""},
		{"big integer of more bytes than are worth the time", "bb 444001" + strings.Repeat("11", 1<<14+1), decode.Limit, ""},
		{"decimal without digits", "b9 01 af", decode.Malformed, ""},
		{"decimal of a scale that is a string", "b9 4a61 01", decode.Malformed, ""},
		{"character that is a string", "90 4a61", decode.Malformed, ""},
		{"date cut", "a8 07e4 01", decode.Malformed, ""},
		{"zone that is a number", "aa 07e40102030405 00 05", decode.Malformed, ""},
		{"symbol that was not named", "7f 05", decode.Malformed, ""},
		{"symbol of the reader's table", "7f ff", decode.Malformed, ""},
		{"reference to a number", "93 05", decode.Malformed, ""},
		{"class that was not named", "92 05 01", decode.Malformed, `{"#opaque":{"@opaque":3}}`},
		{"class without value", "92 4c612e4200", decode.Malformed, `{"@class":"a.B","#opaque":{"@opaque":0}}`},
		{"class of a class", "92 4c612e4200 9200 01", decode.Malformed, `{"@class":"a.B","#opaque":{"@opaque":3}}`},
		{"array of 2^31-1 elements", "a4 487fffffff 01", decode.Malformed, `{"#opaque":{"@opaque":7}}`},
		{"array of more elements than bytes", "98 01 02", decode.Malformed, `[1,2,{"@opaque":0}]`},
		{"element without meaning", "98 01 4a61 80 03", decode.Unsupported, `[1,"a",{"@opaque":2}]`},
		{"object without end", "a6 4a61 01", decode.Malformed, `{"@map":[["a",1]],"#opaque":{"@opaque":0}}`},
		{"map cut behind a key", "a6 4a61 01 4a62", decode.Malformed, `{"a":1,"b":{"@opaque":0}}`},
		{"map with a key without meaning", "a6 4a61 01 80 01 a5", decode.Unsupported, `{"@map":[["a",1]],"#opaque":{"@opaque":3}}`},
		{"field that is a number", "92 4c612e4200 a6 7f4a6101 05 05 05 a5", decode.Malformed, `{"@class":"a.B","a":5,"#opaque":{"@opaque":3}}`},
		{"lists nested too deep", deep, decode.Limit, strings.Repeat("[", 480) + `{"@cut":true}` + strings.Repeat("]", 480)},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := doc(c.body)
			if c.want == "" {
				c.want = fmt.Sprintf(`{"@opaque":%d}`, len(body))
			}
			r, m := read(append(body, doc("4a7a")...), decode.Malformed)
			require.Nil(t, r.Err())
			require.NotNil(t, r.Fault())
			assert.Equal(t, c.cause.String(), r.Fault().Cause.String(), "%v", r.Fault())
			assert.NotEmpty(t, r.Fault().Expected)
			assert.GreaterOrEqual(t, r.Fault().At, 0)
			assert.LessOrEqual(t, r.Fault().At, len(body))
			assert.Equal(t, c.want, m.Value("result"))
			assert.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &m.Tree, len(body))
			s, _ := r.Text("next")
			assert.Equal(t, "z", s)
			formattest.Check(t, Format, body)
		})
	}
}

// Why a value is opaque is what a frame says of itself.
func TestFault(t *testing.T) {
	header := formattest.Hex("dabb1714")
	body := append(append(doc("bd04"), doc("98 01 80 02")...), doc("a64e647562626f4e322e302e32a5")...)
	got := formattest.Summary(t, dubbo.NewDecoder([]decode.Format{Format}), header, body)
	assert.Equal(t, `response | partly | result=[1,{"@opaque":2}] | attachments={"dubbo":"2.0.2"} | !unsupported: a value | `+
		`flag:6 result.#length:4 result.#type:1 result[0]:1 opaque:2 attachments.#length:4 attachments.#type:1 attachments.dubbo:12 attachments.#end:1`, got)
	body[12] = opObjectEnd
	got = formattest.Summary(t, dubbo.NewDecoder([]decode.Format{Format}), header, body)
	assert.Contains(t, got, "| !malformed: a value |")
}

// A body that ends before its document does.
func TestStops(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "half a length", Body: formattest.Hex("0000"), Cause: decode.Malformed},
		{Name: "a document longer than the body", Body: formattest.Hex("00000003 4a61"), Cause: decode.Malformed},
		{Name: "a document of 2 GB", Body: formattest.Hex("7fffffff 4a61"), Cause: decode.Malformed},
		{Name: "a document of negative length", Body: formattest.Hex("ffffffff 4a61"), Cause: decode.Malformed},
	})
}

// Where the capture lacks the end of a body, what is there is read.
func TestCut(t *testing.T) {
	body := doc("98 01 4a61 a6 4a6b 4a76 a5 4c626f62")
	for end := range body {
		for _, cause := range []decode.Cause{decode.Cut, decode.Lost} {
			r, m := read(body[:end], cause)
			require.NotNil(t, r.Err(), end)
			assert.Equal(t, cause, r.Err().Cause, "%d: %v", end, r.Err())
			formattest.Balance(t, &m.Tree, r.Offset())
			assert.LessOrEqual(t, r.Offset(), end)
		}
	}
	_, m := read(body[:len(body)-5], decode.Cut)
	assert.Equal(t, `[1,"a",{"k":"v"}]`, m.Value("result"))
}

// Bytes after the value of a document: year 70000 of a LocalDateTime makes fastjson2 write that of a LocalDate.
func TestTrailing(t *testing.T) {
	body := doc("a9 1170 0102 03040000")
	r, m := read(body, decode.Malformed)
	require.Nil(t, r.Err())
	formattest.Balance(t, &m.Tree, len(body))
	parts := m.Tree.Parts(nil, 0)
	assert.Equal(t, decode.Part{Path: "#trailing", Class: decode.ClassOverhead, Off: 9, Bytes: 4}, parts[len(parts)-1])
}

// Symbols and references start again in each document.
func TestDocumentsApart(t *testing.T) {
	r, m := read(append(doc("a6 7f4a6100 01 a5"), doc("a6 7f00 01 a5")...), decode.Malformed)
	assert.Equal(t, `{"a":1}`, m.Value("result"))
	r.Value(decode.ByField, "second", 0, "")
	assert.Equal(t, decode.Malformed, r.Fault().Cause)
	assert.Equal(t, `{"#opaque":{"@opaque":4}}`, m.Value("second"))
}

// Numbers of symbols that do not count up are followed all the same, and may be given again.
func TestSymbolNumbers(t *testing.T) {
	_, m := read(doc("a6 7f4a61 487fffffff 01 7f4a62 05 02 7f487fffffff 03 7f05 04 7f4a6305 05 7f05 06 7f4a6400 07 7f4a6500 08 7f00 09 a5"), decode.Malformed)
	assert.Equal(t, `{"a":1,"b":2,"a":3,"b":4,"c":5,"c":6,"d":7,"e":8,"e":9}`, m.Value("result"))
}

// What costs a byte or two must not be repeated without bound.
func TestRepeatedNames(t *testing.T) {
	name := "79 480000ffff" + strings.Repeat("78", 0xffff)
	b := formattest.Hex("a6 7f", name, "00 01")
	b = append(b, bytes.Repeat(formattest.Hex("7f00 01"), 5000)...)
	body := append(formattest.Hex(fmt.Sprintf("%08x", len(b)+1)), append(b, opObjectEnd)...)
	r, _ := read(body, decode.Malformed)
	require.NotNil(t, r.Fault())
	assert.Equal(t, decode.Limit, r.Fault().Cause)
}

// countOnly walks a body of one argument without a tree, as where bytes are only counted.
func countOnly(body []byte) {
	r := new(Reader)
	r.Reset(body, decode.Malformed, nil)
	r.Open(decode.List, decode.ByField, "args", 0)
	r.Value(decode.ByIndex, "", 0, "")
	r.Close()
}

// A damaged value deep inside lists is not read again at each level.
func TestDamageDeepInsideIsReadOnce(t *testing.T) {
	b := bytes.Repeat([]byte{opArray0 + 1}, 990)
	b = append(b, formattest.Hex("a4 480003ffff")...)
	b = append(append(b, bytes.Repeat([]byte{1}, 0x3fffe)...), 0x80)
	body := append(formattest.Hex(fmt.Sprintf("%08x", len(b))), b...)
	used := testkit.CPU()
	countOnly(body)
	assert.Less(t, used(), 10*time.Second)
	formattest.Check(t, Format, body)
}

// References at the bottom of deep nesting, to paths that many values have.
func TestDeepReferences(t *testing.T) {
	for name, c := range map[string]struct{ level, leaf string }{
		"lists":   {"96 01", "93 4b 242e61"},
		"objects": {"a6 7f 4a61 00", "93 4e 245b305d2e61"},
		"sets":    {"92 50 48617368536574 00 96 a6 4a61 01 a5", "93 4b 242e61"},
	} {
		const leaves = 30000
		level := formattest.Hex(c.level)
		b := bytes.Repeat(level, 900)
		b = append(b, formattest.Hex("a4 48", fmt.Sprintf("%08x", leaves))...)
		b = append(b, bytes.Repeat(formattest.Hex(c.leaf), leaves)...)
		body := append(formattest.Hex(fmt.Sprintf("%08x", len(b))), b...)
		used := testkit.CPU()
		_, m := read(body, decode.Malformed)
		formattest.Balance(t, &m.Tree, len(body))
		assert.Less(t, used(), 10*time.Second, name)
	}
}

// The time is linear, whatever the document is full of.
func TestLinear(t *testing.T) {
	const size = 1 << 18
	for name, unit := range map[string]string{
		"references":              "93 4f245b315d2e61",
		"references to the root":  "93 4a24",
		"references to the one":   "93 4c232d31",
		"references that nest":    "95 93 4b2e2e",
		"symbols":                 "7f 4a61 00",
		"maps":                    "a6 4a61 01 a5",
		"beans":                   "92 4a61 00 a6 7f 4a62 01 93 4a24 a5",
		"the one again":           "93 4f245b315d2e61 93 4c232d31 93 4c232d31",
		"sets":                    "92 50 48617368536574 01 96 a6 7f 4a62 00 01 a5 a6 7f 4a62 00 93 4b 242e62 a5",
		"lists of nothing":        "a6 7f 4a61 00 92 68 6a6176612e7574696c2e436f6c6c656374696f6e7324456d7074794c697374 01 94 7f 4a62 02 93 4b 242e62 a5",
		"maps by double":          "a6 b500000000000001 01 b5 00000000000002 01 93 4f 242e322e3045303030 a5",
		"marks in a path":         "93 54 245c2e5c2e5c2e5c2e5b5d",
		"big integers":            "bb 3fff" + strings.Repeat("77", 2047),
		"decimals of small scale": "b9 487fffffff 01",
		"strings":                 "7c 04 3dd83dd8",
	} {
		u := formattest.Hex(unit)
		n := size / len(u)
		b := append(formattest.Hex("a4 48", fmt.Sprintf("%08x", n)), bytes.Repeat(u, n)...)
		body := append(formattest.Hex(fmt.Sprintf("%08x", len(b))), b...)
		used := testkit.CPU()
		_, m := read(body, decode.Malformed)
		m.Value("result")
		assert.Less(t, used(), 20*time.Second, name)
		used = testkit.CPU()
		countOnly(body)
		assert.Less(t, used(), 20*time.Second, name+", counted")
	}
}
