package hessian2

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// parts returns the parts of one value, as path:bytes.
func parts(t *testing.T, body []byte) string {
	t.Helper()
	tree := decode.Tree{WithValues: true}
	r := New()
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByField, "v", 0, "")
	require.Nil(t, r.Err())
	var s []string
	for _, p := range tree.Parts(nil, 0) {
		s = append(s, fmt.Sprintf("%s:%d", p.Path, p.Bytes))
	}
	return strings.Join(s, " ")
}

func TestEveryOpcodeOnce(t *testing.T) {
	next := 0
	for _, o := range opcodes {
		require.Equal(t, next, int(o.first), "opcodes are in order, without a hole")
		require.LessOrEqual(t, o.first, o.last)
		next = int(o.last) + 1
	}
	require.Equal(t, 256, next)
}

// TestGrammar has the lowest and highest value of each form.
func TestGrammar(t *testing.T) {
	for _, c := range []struct{ rule, hex, json string }{
		{"null", "4e", `null`},
		{"true", "54", `true`},
		{"false", "46", `false`},

		{"int, 1 byte", "80", `-16`},
		{"int, 1 byte", "bf", `47`},
		{"int, 2 bytes", "c000", `-2048`},
		{"int, 2 bytes", "c7ff", `-1`},
		{"int, 2 bytes", "cfff", `2047`},
		{"int, 3 bytes", "d00000", `-262144`},
		{"int, 3 bytes", "d7ffff", `262143`},
		{"int", "49 80000000", `-2147483648`},
		{"int", "49 7fffffff", `2147483647`},

		{"long, 1 byte", "d8", `-8`},
		{"long, 1 byte", "ef", `15`},
		{"long, 2 bytes", "f000", `-2048`},
		{"long, 2 bytes", "ffff", `2047`},
		{"long, 3 bytes", "380000", `-262144`},
		{"long, 3 bytes", "3fffff", `262143`},
		{"long of an int", "59 80000000", `-2147483648`},
		{"long", "4c 8000000000000000", `-9223372036854775808`},
		{"long", "4c 7fffffffffffffff", `9223372036854775807`},

		{"double 0", "5b", `0`},
		{"double 1", "5c", `1`},
		{"double of a byte", "5d 80", `-128`},
		{"double of a byte", "5d 7f", `127`},
		{"double of a short", "5e 8000", `-32768`},
		{"double of a short", "5e 7fff", `32767`},
		{"double of thousandths", "5f 000005dc", `1.5`},
		{"double of thousandths", "5f 00000064", `0.1`},
		{"double of thousandths", "5f ffffffff", `-0.001`},
		{"double", "44 3fb999999999999a", `0.1`},
		{"double", "44 3fb99999a0000000", `0.10000000149011612`}, // of a float 0.1
		{"double", "44 8000000000000000", `-0.0`},
		{"double", "44 7ff8000000000000", `{"@double":"NaN"}`},
		{"double", "44 7ff0000000000000", `{"@double":"Infinity"}`},
		{"double", "44 fff0000000000000", `{"@double":"-Infinity"}`},

		{"date", "4a 0000019aa45e8bf8", `{"@date":"2025-11-21T03:04:11Z"}`},
		{"date, fraction", "4a 0000000000000001", `{"@date":"1970-01-01T00:00:00.001Z"}`},
		{"date before 1970", "4a ffffffffffffffff", `{"@date":"1969-12-31T23:59:59.999Z"}`},
		{"date before 1970", "4a fffffffffffffc18", `{"@date":"1969-12-31T23:59:59Z"}`},
		{"date, year 0", "4a ffffc77590fba000", `{"@date":"0000-01-01T00:00:00Z"}`},
		{"date, year -1", "4a ffffc77590fb9fff", `{"@date":"-0001-12-31T23:59:59.999Z"}`},
		{"date, year 10000", "4a 0000e677d21fdc00", `{"@date":"+10000-01-01T00:00:00Z"}`},
		{"last date", "4a 7fffffffffffffff", `{"@date":"+292278994-08-17T07:12:55.807Z"}`},
		{"first date", "4a 8000000000000000", `{"@date":"-292275055-05-16T16:47:04.192Z"}`},
		{"date in minutes", "4b 00000001", `{"@date":"1970-01-01T00:01:00Z"}`},
		{"date in minutes", "4b ffffffff", `{"@date":"1969-12-31T23:59:00Z"}`},
		{"date in minutes", "4b 80000000", `{"@date":"-2114-12-08T21:52:00Z"}`},

		{"string, empty", "00", `""`},
		{"string, 0-31", "02 6162", `"ab"`},
		{"string, 0-1023", "3002 6162", `"ab"`},
		{"string, u16", "53 0002 6162", `"ab"`},
		{"string, chunks", "52 0001 61 52 0001 62 53 0001 63", `"abc"`},
		{"string, chunk and short end", "52 0001 61 01 62", `"ab"`},
		{"string, chunk and short end", "52 0001 61 3001 62", `"ab"`},
		{"string, chunk and empty end", "52 0001 61 00", `"a"`},
		{"string, empty chunks", "52 0000 52 0000 00", `""`},
		{"string, 2 bytes a unit", "01 c3a9", `"é"`},
		{"string, 3 bytes a unit", "02 e4b8ad e69687", `"中文"`},
		{"string, a pair", "02 eda0bd edb880", `"😀"`},
		{"string, a pair over two chunks", "52 0001 eda0bd 01 edb880", `"😀"`},
		{"string, 4 bytes", "02 f09f9880", `"😀"`},
		{"string, 4 bytes between", "04 61 f09f9880 62", `"a😀b"`},
		{"string, a lone high", "01 eda0bd", "\"\ufffd\""},
		{"string, a lone low", "01 edb880", "\"\ufffd\""},
		{"string, two high, one low", "03 eda0bd eda0bd edb880", "\"\ufffd😀\""},
		{"string, low before high", "02 edb880 eda0bd", "\"\ufffd\ufffd\""},
		{"string, high then letter", "02 eda0bd 61", "\"\ufffda\""},
		{"string, longer than needed", "02 c080 e081a1", `"\u0000a"`},
		{"string, controls", "03 0a 22 5c", `"\n\"\\"`},

		{"binary, empty", "20", `{"@bytes":""}`},
		{"binary, 0-15", "23 010203", `{"@bytes":"AQID"}`},
		{"binary, 0-1023", "3403 010203", `{"@bytes":"AQID"}`},
		{"binary, u16", "42 0003 010203", `{"@bytes":"AQID"}`},
		{"binary, chunks", "41 0001 01 41 0001 02 21 03", `{"@bytes":"AQID"}`},
		{"binary, chunks", "41 0001 01 41 0001 02 3401 03", `{"@bytes":"AQID"}`},

		{"list, typed, variable", "55 045b696e74 91 92 5a", `[1,2]`},
		{"list, typed, fixed", "56 045b696e74 92 91 92", `[1,2]`},
		{"list, variable", "57 91 0161 5a", `[1,"a"]`},
		{"list, fixed", "58 92 91 92", `[1,2]`},
		{"list, typed, short", "72 045b696e74 91 92", `[1,2]`},
		{"list, short", "7a 91 92", `[1,2]`},
		{"lists, empty", "7e 78 57 90 5a 70 0161 55 90 5a 58 90 56 90 90", `[[],[0],[],[],[],[]]`},
		{"type by index", "7b 71 0161 91 71 90 92 70 0162", `[[1],[2],[]]`},
		{"type of a map by index", "7a 71 0161 91 4d 90 0162 92 5a", `[[1],{"b":2}]`},

		{"map", "48 0161 91 0162 92 5a", `{"a":1,"b":2}`},
		{"map, empty", "48 5a", `{}`},
		{"map, typed", "4d 0161 0162 92 5a", `{"b":2}`},
		{"map, other keys", "48 91 0162 4e 92 5a", `{"@map":[[1,"b"],[null,2]]}`},
		{"map, keys that would be marks", "48 0240 61 91 5a", `{"@map":[["@a",1]]}`},
		{"map, keys with names", "48 7a9192 91 5a", `{"@map":[[[1,2],1]]}`},

		{"object", "43 0143 92 0161 0162 60 91 92", `{"@class":"C","a":1,"b":2}`},
		{"object without fields", "43 0143 90 60", `{"@class":"C"}`},
		{"object, long form", "43 0143 91 0161 4f 90 91", `{"@class":"C","a":1}`},
		{"object, two definitions first", "43 0143 91 0161 43 0144 90 61", `{"@class":"D"}`},
		{"objects of one class", "7a 43 0143 91 0161 60 91 60 92", `[{"@class":"C","a":1},{"@class":"C","a":2}]`},
		{"object, a field twice", "43 0143 92 0161 0161 60 91 92", `{"@class":"C","a":1,"a":2}`},
		{"object in an object", "43 0143 91 0161 60 43 0144 91 0162 61 60 91", `{"@class":"C","a":{"@class":"D","b":{"@class":"C","a":1}}}`},

		{"reference to a list", "7a 78 51 91", `[[],{"@ref":"result[0]"}]`},
		{"reference to itself", "79 51 90", `[{"@ref":"result"}]`},
		{"reference to a map", "7a 48 5a 51 91", `[{},{"@ref":"result[0]"}]`},
		{"reference in a map", "48 0161 51 90 5a", `{"a":{"@ref":"result"}}`},
		{"reference as a key", "48 51 90 91 5a", `{"@map":[[{"@ref":"result"},1]]}`},
		{"reference, scalars do not count", "7b 4e 78 51 91", `[null,[],{"@ref":"result[1]"}]`},
	} {
		t.Run(c.rule+" "+c.hex, func(t *testing.T) {
			body := formattest.Hex(c.hex)
			assert.Equal(t, c.json, formattest.Value(t, Format, body))
			formattest.Check(t, Format, body)
		})
	}
}

// TestParts has one case for each name of overhead.
func TestParts(t *testing.T) {
	for _, c := range []struct{ hex, parts string }{
		{"43 0143 92 0161 0162 60 91 4e", "v.#class:3 v.#length:1 v.#field:4 v.#type:1 v.a:1 v.b:1"},
		{"43 0143 91 0161 4f 90 91", "v.#class:3 v.#length:1 v.#field:2 v.#type:2 v.a:1"},
		{"43 0143 90 43 0144 90 61", "v.#class:3 v.#length:1 v.#class:3 v.#length:1 v.#type:1"},
		{"7a 43 0143 90 60 60", "v.#length:1 v[0].#class:3 v[0].#length:1 v[0].#type:1 v[1].#type:1"},
		{"55 0161 91 5a", "v.#type:3 v[0]:1 v.#end:1"},
		{"56 0161 91 91", "v.#type:3 v.#length:1 v[0]:1"},
		{"57 91 5a", "v.#type:1 v[0]:1 v.#end:1"},
		{"58 91 91", "v.#length:2 v[0]:1"},
		{"71 0161 91", "v.#type:3 v[0]:1"},
		{"48 0161 91 92 93 5a", "v.#type:1 v.a:3 v[1]:2 v.#end:1"},
		{"4d 0161 03612e62 91 5a", `v.#type:3 v["a.b"]:5 v.#end:1`},
		{"48 00 91 79 91 92 5a", "v.#type:1 v[0]:2 v[1].#length:1 v[1][0]:1 v[1]:1 v.#end:1"},
		{"79 51 90", "v.#length:1 v[0]:2"},
		{"79 52 0001 61 01 62", "v.#length:1 v[0]:6"},
	} {
		assert.Equal(t, c.parts, parts(t, formattest.Hex(c.hex)), c.hex)
	}
}

// TestFields covers what stands around values in a body.
func TestFields(t *testing.T) {
	r := New()
	read := func(body string, f func()) (string, *decode.Error) {
		tree := decode.Tree{WithValues: true}
		r.Reset(formattest.Hex(body), decode.Malformed, &tree)
		f()
		if r.Err() != nil || len(tree.Nodes) == 0 {
			return "", r.Err()
		}
		return tree.Nodes[0].Name + " " + string(tree.AppendJSON(nil, 0)), nil
	}
	ok := func(want, body string, f func()) {
		t.Helper()
		got, err := read(body, f)
		assert.Nil(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, len(formattest.Hex(body)), r.Offset())
	}
	bad := func(body string, f func()) {
		t.Helper()
		_, err := read(body, f)
		if assert.NotNil(t, err, body) {
			assert.Equal(t, decode.Malformed, err.Cause)
			assert.Zero(t, r.Offset())
		}
	}
	text := func() { r.Text("path") }
	ok(`path "ab"`, "026162", text)
	ok(`path null`, "4e", text)
	bad("91", text)
	bad("", text)
	ok("", "026162", r.SkipText)
	ok("", "4e", r.SkipText)
	bad("0261", r.SkipText)

	kind := func() { r.ResultKind() }
	for i, op := range []string{"90", "91", "92", "93", "94", "95"} {
		ok(fmt.Sprintf("flag %d", i), op, kind)
	}
	ok("flag 5", "49 00000005", kind)
	bad("96", kind)
	bad("8f", kind)
	bad("e0", kind)
	bad("05", kind)

	ok(`attachments {"a":"b"}`, "48 0161 0162 5a", r.Attachments)
	ok(`attachments {"a":1}`, "4d 0161 0161 91 5a", r.Attachments)
	ok(`attachments null`, "4e", r.Attachments)
	bad("0161", r.Attachments)
	bad("79 91", r.Attachments)
	bad("51 90", r.Attachments)

	ok(`exception {"@class":"E","detailMessage":"x"}`, "43 0145 91 0d64657461696c4d657373616765 60 0178", r.Throwable)
	ok(`exception null`, "4e", r.Throwable)

	float := func(typ string) func() { return func() { r.Value(decode.ByField, "v", 0, typ) } }
	ok("v 0.1", "44 3fb99999a0000000", float("F"))
	ok("v 0.1", "44 3fb99999a0000000", float("Ljava/lang/Float;"))
	ok("v 0.10000000149011612", "44 3fb99999a0000000", float("D"))
	ok("v [0.1]", "71 065b666c6f6174 44 3fb99999a0000000", float("[F"))
	ok("v [[0.1],[0.1]]", "72 075b5b666c6f6174 71 065b666c6f6174 44 3fb99999a0000000 71 91 44 3fb99999a0000000", float("[[F"))
}

// TestClasses checks the class of lists and maps, which JSON does not show.
func TestClasses(t *testing.T) {
	for wire, want := range map[string]string{
		"java.util.ArrayList": "java.util.ArrayList",
		"[int":                "int[]",
		"[[int":               "int[][]",
		"[string":             "java.lang.String[]",
		"[object":             "java.lang.Object[]",
		"[org.example.User":   "org.example.User[]",
		"[":                   "[]",
		"":                    "",
	} {
		body := new(writer).typed(wire, 0).b
		tree := decode.Tree{}
		r := New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByField, "v", 0, "")
		require.Nil(t, r.Err())
		assert.Equal(t, want, tree.Nodes[0].Class)
	}
}
