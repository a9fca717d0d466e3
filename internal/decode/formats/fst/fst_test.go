package fst

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

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func TestText(t *testing.T) {
	for _, c := range []struct{ hex, want string }{
		{"00", ""},
		{"02 6162", "ab"},
		{"01 ff2d4e", "中"},
		{"01 e9", "é"},
		{"02 ff3dd8 ff00de", "😀"},
		{"02 61 ff3dd8", "a\ufffd"},
		{"02 ff00de 61", "\ufffda"},
		{"03 ff3dd8 ff3dd8 ff00de", "\ufffd😀"},
		{"80 8200" + strings.Repeat("78", 130), strings.Repeat("x", 130)},
	} {
		r := Format.New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		s, null := r.Text("errorMessage")
		require.Nil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, s, c.hex)
		assert.False(t, null, c.hex)
		assert.Equal(t, len(formattest.Hex(c.hex)), r.Offset(), c.hex)
	}
}

// Bytes that end within a character are decoded as far as they go: redaction tries bytes that may be no text.
func TestTextCut(t *testing.T) {
	assert.Equal(t, "a\ufffd", text{raw: []byte{'a', 0xff, 0x2d}, wide: true, order: fst2.order()}.decode())
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "unknown tag", Body: formattest.Hex("55"), Cause: decode.Malformed},
		{Name: "typed value at the top", Body: formattest.Hex("fd"), Cause: decode.Malformed},
		{Name: "string longer than the body", Body: formattest.Hex("fc 81ffffff7f 61"), Cause: decode.Malformed},
		{Name: "string of negative length", Body: formattest.Hex("fc ff 61"), Cause: decode.Malformed},
		{Name: "character cut", Body: formattest.Hex("fc 01 ff2d"), Cause: decode.Malformed},
		{Name: "number cut", Body: formattest.Hex("f7 81 00"), Cause: decode.Malformed},
		{Name: "list of 2^31 elements", Body: formattest.Hex("0010 81ffffff7f"), Cause: decode.Malformed},
		{Name: "list of -1 elements", Body: formattest.Hex("0010 ff"), Cause: decode.Malformed},
		{Name: "long[] longer than the body", Body: formattest.Hex("fb30 02 0000000000000000"), Cause: decode.Malformed},
		{Name: "map cut behind a key", Body: formattest.Hex("000f 01 fc016b"), Cause: decode.Malformed},
		{Name: "handle to itself", Body: formattest.Hex("0010 01 f903"), Cause: decode.Malformed},
		{Name: "handle before the body", Body: formattest.Hex("0010 01 f9ff"), Cause: decode.Malformed},
		{Name: "class id never given", Body: formattest.Hex("00 ffe803 00"), Cause: decode.Malformed},
		{Name: "class id 2", Body: formattest.Hex("00 02"), Cause: decode.Malformed},
		{Name: "empty class name", Body: formattest.Hex("00 01 00"), Cause: decode.Malformed},
		{Name: "registered class of the application", Body: formattest.Hex("00 32 07"), Cause: decode.Unsupported},
		{Name: "array of a registered class", Body: formattest.Hex("fb 33 00"), Cause: decode.Unsupported},
		{Name: "class of the application", Body: formattest.Hex("00 01 08 47656e2455736572 07"), Cause: decode.Unsupported},
		{Name: "lists nested too deep", Body: formattest.Hex(strings.Repeat("001001", 1200)), Cause: decode.Limit},
		{Name: "arrays nested too deep", Body: formattest.Hex("fb2201" + strings.Repeat("2201", 1200)), Cause: decode.Limit},
	})
}

// A class is named by its number where the application registered it.
func TestRegisteredClass(t *testing.T) {
	r := Format.New()
	r.Reset(formattest.Hex("00 67 07"), decode.Malformed, nil)
	r.Value(decode.ByField, "result", 0, "")
	assert.Equal(t, "the fields of registered class #103", r.Err().Expected)
}

// A handle means the value at an offset of the body, also one in bytes that were not read.
func TestHandles(t *testing.T) {
	for _, c := range []struct{ name, hex, want string }{
		{"a string read", "0010 02 fc0161 f903", `["a","a"]`},
		{"a list read", "0010 02 001000 f903", `[[],{"@ref":"result[0]"}]`},
		{"the list itself", "0010 01 f900", `[{"@ref":"result"}]`},
		{"a BigDecimal read", "0010 02 000a4200376301000b010f00 f903", `[{"@decimal":"1.5"},{"@ref":"result[0]"}]`},
		{"its number", "0010 02 000a4200376301000b010f00 000a4200376301f90a00", `[{"@decimal":"1.5"},{"@decimal":"1.5"}]`},
		{"nothing known", "0010 02 f705 f904", `[5,{"@opaque":2}]`},
	} {
		assert.Equal(t, c.want, formattest.Value(t, Format, formattest.Hex(c.hex)), c.name)
	}

	body := formattest.Hex("00 01 08 47656e2455736572 07 fc03626f62 00", "000f 02 fc0470617468 f90c fc0179 f90b")
	tree := decode.Tree{WithValues: true}
	r := Format.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByIndex, "", 0, "LGen$User;")
	at, ok := r.(decode.AttachmentFinder).FindAttachments(r.Offset())
	require.True(t, ok)
	assert.Equal(t, 18, at)
	from := len(tree.Nodes)
	r.Attachments()
	require.Nil(t, r.Err())
	assert.Equal(t, `{"path":"bob","y":{"@opaque":2}}`, string(tree.AppendJSON(nil, from)))
}

// Without a tree a handle to no value is counted as with one.
func TestCountedHandles(t *testing.T) {
	for _, hex := range []string{"0010 02 f705 f904", "0010 02 fc0161 f903", "0010 02 001000 f903", "0010 02 fc0161 f904", "0010 01 f900"} {
		body := formattest.Hex(hex)
		var tree decode.Tree
		with, without := Format.New(), Format.New()
		with.Reset(body, decode.Malformed, &tree)
		with.Value(decode.ByField, "result", 0, "")
		without.Reset(body, decode.Malformed, nil)
		without.Value(decode.ByField, "result", 0, "")
		sum, ok := without.(decode.Summer).Sum()
		if want := tree.Bytes(); ok {
			assert.Equal(t, want, sum, hex)
		} else {
			assert.Positive(t, want[decode.ClassOpaque], hex)
		}
	}
}

// An exception is walked: a class of the JDK to its end, another one to the end of what Throwable wrote.
func TestThrowable(t *testing.T) {
	throwable := "3763 00011f6a6176612e7574696c2e436f6c6c656374696f6e7324456d7074794c6973744200 " +
		"fb001e5b4c6a6176612e6c616e672e537461636b5472616365456c656d656e743b 01" +
		"00 011b6a6176612e6c616e672e537461636b5472616365456c656d656e74 %s 00" +
		"fc0178 f900 00"
	frame := "00 05 ff fc0141 fc06412e6a617661 fc0162 ff ff"
	frame8 := "800001 fc0141 fc06412e6a617661 fc0162"
	for _, c := range []struct{ name, class, frame, behind, frames, err string }{
		{
			"of the JDK", "java.lang.RuntimeException", frame, "4200 4200",
			`{"@class":"java.lang.StackTraceElement","format":0,"lineNumber":5,"classLoaderName":null,"declaringClass":"A","fileName":"A.java","methodName":"b","moduleName":null,"moduleVersion":null}`, "",
		},
		{
			"JDK 8", "java.lang.Exception", frame8, "4200",
			`{"@class":"java.lang.StackTraceElement","lineNumber":256,"declaringClass":"A","fileName":"A.java","methodName":"b"}`, "",
		},
		{"of the application", "a.OrderException", frame, "42 07 00", "", "the fields of class a.OrderException"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := append(formattest.Hex("00 01"), byte(len(c.class)))
			body = append(body, c.class...)
			body = append(body, formattest.Hex(strings.Replace(throwable, "%s", c.frame, 1), c.behind)...)
			tree := decode.Tree{WithValues: true}
			r := Format.New()
			r.Reset(body, decode.Malformed, &tree)
			r.Throwable()
			formattest.Balance(t, &tree, r.Offset())
			if c.err != "" {
				require.NotNil(t, r.Err())
				assert.Equal(t, c.err, r.Err().Expected)
				assert.Contains(t, string(tree.AppendJSON(nil, 0)), `"detailMessage":"x"`)
				return
			}
			require.Nil(t, r.Err())
			assert.Equal(t, len(body), r.Offset())
			assert.Equal(t, `{"@class":"`+c.class+`","suppressedExceptions":[],"stackTrace":[`+c.frames+`],"detailMessage":"x","cause":{"@ref":"exception"}}`,
				string(tree.AppendJSON(nil, 0)))
		})
	}
}

const (
	pojo        = "00 01 08 47656e2455736572 07 fc03626f62 00" // Gen$User(7, "bob")
	attachments = "000f 01 fc0470617468 fc04642e4869"          // {path=d.Hi}
)

func TestFindAttachments(t *testing.T) {
	formattest.FindAttachments(t, Format, "LGen$User;", attachments, []formattest.Find{
		{Name: "after an object", Before: pojo, Body: attachments},
		{Name: "at the start", Body: attachments},
		{Name: "a map of the object before", Before: pojo + "000f 01 fc016b fc0176", Body: attachments},
		{Name: "bytes like a map before", Before: pojo + "000f 000f 02", Body: attachments},
		{Name: "empty map", Before: pojo, Body: "000f00", Want: -1},
		{Name: "a map ends the attachments", Before: pojo, Body: "000f 02 fc0470617468 fc0161 fc016d 000f 01 fc0161 fc0162"},
		{Name: "an empty map ends the attachments", Before: pojo, Body: "000f 02 fc0470617468 fc0161 fc016d 000f00"},
		{Name: "without a key of Dubbo", Before: pojo, Body: "000f 01 fc016b fc0176", Want: -1},
		{Name: "a map ends attachments with an object", Before: pojo, Body: "000f 02 fc0470617468 " + pojo + "fc016d 000f 01 fc016e f701", Want: -1},
		{Name: "an empty map without a key of Dubbo", Before: pojo, Body: "000f 01 fc016d 000f00", Want: -1},
		{Name: "a value of the application", Before: pojo, Body: "000f 01 fc0470617468 " + pojo, Want: -1},
		{Name: "a key that is not a string", Before: pojo, Body: "000f 01 f701 f702", Want: -1},
		{Name: "cut", Before: pojo, Body: "000f 02 fc0470617468 fc04642e4869", Want: -1},
	})
}

// The search is linear, whatever the body is full of.
func TestFindIsBounded(t *testing.T) {
	const size = 1 << 20
	for name, unit := range map[string]string{
		"maps":              "000f",
		"maps of one entry": "000f 01 fc0161",
		"nested maps":       "000f 7f fc0161",
		"strings":           "000f 7f fc0161 fc0161",
		"long strings":      "000f 01 fc 81ffff0f00",
		"names":             "000f 01 fc0161 00 01 0161",
	} {
		body := bytes.Repeat(formattest.Hex(unit), size/len(formattest.Hex(unit)))
		r := Format.New()
		used := testkit.CPU()
		r.Reset(body, decode.Malformed, nil)
		r.(decode.AttachmentFinder).FindAttachments(0)
		assert.Less(t, used(), 20*time.Second, name)
	}
}

func request() []byte {
	b := formattest.Hex("05322e302e32 04642e4869 05302e302e30 026869")
	desc := "Ljava/lang/String;Ljava/util/Map;"
	b = append(append(b, byte(len(desc))), desc...)
	b = append(b, formattest.Hex("fc 80d001", strings.Repeat("61", 464), "000f 32")...)
	for i := range 50 {
		b = append(b, formattest.Hex("fc03 6b65", "6"+string("0123456789abcdef"[i&15]), "f781a0860100")...)
	}
	return append(b, formattest.Hex(attachments)...)
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request()) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request()) }

// The BigInteger within a BigDecimal has no node of its own; small ones are shared, so that a later value may be a handle to it.
func TestHandleIntoBigDecimal(t *testing.T) {
	tree := decode.Tree{WithValues: true}
	r := Format.New()
	r.Reset(formattest.Hex("0010 02", "000a 4200 3763 01", "000b 01 0f", "00", "f90a"), decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
	assert.Equal(t, `[{"@decimal":"1.5"},{"@decimal":"15"}]`, (&formattest.Message{Tree: tree}).Value("result"))
	formattest.Balance(t, &tree, r.Offset())
}
