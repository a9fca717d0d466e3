package jsonlines_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/jsonlines"
)

var (
	lines    = decode.Format{New: jsonlines.NewFastjson}
	prefixed = decode.Format{New: jsonlines.NewPrefixed, Dialect: "length-prefixed"}
	gson     = decode.Format{New: jsonlines.NewGson}
	jackson  = decode.Format{New: jsonlines.NewJackson}
)

func TestTexts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`  { "a" : [ 1 , 2 ] }  `, `{"a":[1,2]}`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`[[],{},""]`, `[[],{},""]`},
		{`{"":1}`, `{"":1}`},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{`-0`, `-0.0`},
		{`0.1`, `0.1`},
		{`1e3`, `1000`},
		{`1E-7`, `1e-07`},
		{`9223372036854775807`, `9223372036854775807`},
		{`9223372036854775808`, `{"@decimal":"9223372036854775808"}`},
		{`-9223372036854775808`, `-9223372036854775808`},
		{`1.7976931348623157E308`, `1.7976931348623157e+308`},
		{`1e999`, `{"@decimal":"1e999"}`},
		{`3.14159265358979323846`, `{"@decimal":"3.14159265358979323846"}`},
		{`"\u4e2d\ud83d\ude00\/\"\\\b\f\n\r\t"`, `"` + "中😀" + `/\"\\\u0008\u000c\n\r\t"`},
		{`"\ud83d"`, `"` + "\ufffd" + `"`},
		{`"\ude00\ud83d"`, `"` + "\ufffd\ufffd" + `"`},
		{`"\u12"`, `"\\u12"`},
		{"\"\xff\"", `"` + "\ufffd" + `"`},
		{`"\\"`, `"\\"`},
		{`"a\\\"b"`, `"a\\\"b"`},
		{`{"@type":"a.B","c":1}`, `{"@class":"a.B","c":1}`},
		{`{"@type":"java.util.TreeMap","c":1}`, `{"c":1}`},
		{`{"c":1,"@type":"a.B"}`, `{"@map":[["c",1],["@type","a.B"]]}`},
		{`{"@type":1}`, `{"@map":[["@type",1]]}`},
		// fastjson
		{`{1:"a",null:2,{"b":3}:4}`, `{"@map":[[1,"a"],[null,2],[{"b":3},4]]}`},
		{`[1B,2S,3L,1.5F,2D]`, `[1,2,3,1.5,2]`},
		{`new Date(-1)`, `{"@date":"1969-12-31T23:59:59.999Z"}`},
		{`TreeSet["a"]`, `["a"]`},
		{`x'CAFE'`, `{"@bytes":"yv4="}`},
		{`{"$ref":"$"}`, `{"$ref":"$"}`},
		// not known: the extent is
		{`{`, `{}`},
		{`{"a"}`, `{"a":{"@opaque":1}}`},
		{`[1,]`, `[1,{"@opaque":1}]`},
		{`[1 2]`, `[1,{"@opaque":2}]`},
		{`1.`, `{"@opaque":2}`},
		{`-`, `{"@opaque":1}`},
		{`NaN`, `{"@double":"NaN"}`},
		{`nulls`, `{"@opaque":5}`},
		{`"a`, `{"@opaque":2}`},
		{`x'F'`, `{"@opaque":4}`},
		{`x'GG'`, `{"@opaque":5}`},
		{`new Date()`, `{"@opaque":10}`},
		{`{"a":[1,{"b":}]}`, `{"a":[1,{"b":{"@opaque":3}}]}`},
	} {
		t.Run(c.text, func(t *testing.T) {
			require.Equal(t, c.want, formattest.Value(t, lines, []byte(c.text+"\n")))
			require.Equal(t, c.want, formattest.Value(t, lines, []byte(c.text+"\r\n")))
			if c.text != "1." { // see TestPrefixed
				require.Equal(t, c.want, formattest.Value(t, prefixed, behindLength(c.text)))
			}
		})
	}
}

func behindLength(text string) []byte { return append([]byte{0, 0, 0, byte(len(text))}, text...) }

// Texts that only fastjson's extension for Dubbo 3 writes.
func TestPrefixed(t *testing.T) {
	for text, want := range map[string]string{
		`1.`:       `{"@decimal":"1"}`,
		`-12.`:     `{"@decimal":"-12"}`,
		`[1.,2.5]`: `[{"@decimal":"1"},2.5]`,
		`{"@type":"java.util.ImmutableCollections$Map1","k":1.}`: `{"k":{"@decimal":"1"}}`,
		`.`:  `{"@opaque":1}`,
		`-.`: `{"@opaque":2}`,
	} {
		require.Equal(t, want, formattest.Value(t, prefixed, behindLength(text)), text)
	}
}

// An opaque text stops nothing: the ones after it are read.
func TestOpaqueGoesOn(t *testing.T) {
	m := formattest.Response(lines, []byte("4\n]\n{\"dubbo\":\"2.0.2\"}\n"), decode.Malformed)
	require.Nil(t, m.Err)
	require.Equal(t, `4 | {"@opaque":1} | {"dubbo":"2.0.2"}`, m.Summary())
}

// The texts of a request may be null where Java's were; json (5) escapes slashes.
func TestEnvelope(t *testing.T) {
	m := formattest.Request(lines, []byte(`"2.0.2"`+"\r\n"+`"d.Hi"`+"\r\nnull\r\n"+`"hi"`+"\r\n"+`"Ljava\/lang\/String;I"`+"\r\nnull\r\n5\r\n{}\r\n"), decode.Malformed)
	require.Nil(t, m.Err)
	require.Equal(t, `2.0.2 | d.Hi | null | hi | Ljava/lang/String;I | [null,5] | {}`, m.Summary())
	require.Equal(t, []bool{false, false, true, false, false}, m.Nulls)

	for body, cause := range map[string]decode.Cause{
		"5\n":           decode.Malformed,
		"\"a\n":         decode.Malformed,
		"\"a\"b\"\n":    decode.Malformed,
		"\"2.0.2\"":     decode.Malformed,
		"\"a\\\"\n":     decode.Malformed,
		"{\"a\":1}\n":   decode.Malformed,
		"\n\"2.0.2\"\n": decode.Malformed,
	} {
		m := formattest.Request(lines, []byte(body), decode.Malformed)
		require.NotNil(t, m.Err, body)
		require.Equal(t, cause, m.Err.Cause, body)
		require.Zero(t, m.Taken, body)
	}
}

// A body whose end is not in the capture stops with the capture's cause, at the text that does not end.
func TestCut(t *testing.T) {
	m := formattest.Request(lines, []byte("\"2.0.2\"\n\"d.Hi\"\n\"0.0"), decode.Cut)
	require.Equal(t, decode.Cut, m.Err.Cause)
	require.Equal(t, 15, m.Err.At)
	require.Equal(t, []string{"2.0.2", "d.Hi"}, m.Texts[:2])
}

func TestResultKind(t *testing.T) {
	for body, ok := range map[string]bool{"5\n": true, "5B\n": true, "\n": false, "x\n": false, "55\n": false, "5": false} {
		r := lines.New()
		r.Reset([]byte(body), decode.Malformed, nil)
		kind := r.ResultKind()
		require.Equal(t, ok, r.Err() == nil, "%q", body)
		if ok {
			require.Equal(t, byte(5), kind)
		}
	}
}

var own = decode.Format{New: jsonlines.NewDubbo}

// Dubbo's own JSON ends a bean with its class.
func TestClassLast(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"name":"bob","id":7,"class":"Gen$User"}`, `{"@class":"Gen$User","name":"bob","id":7}`},
		{` { "id" : 7 , "class" : "a.B" } `, `{"@class":"a.B","id":7}`},
		{`{"class":"a.B"}`, `{"@class":"a.B"}`},
		{`{"in":{"x":[1],"class":"a.C"},"m":{"k":{}},"class":"a.B"}`, `{"@class":"a.B","in":{"@class":"a.C","x":[1]},"m":{"k":{}}}`},
		{`[{"a":null,"class":"a.B"},{"a":{"class":"a.C"}}]`, `[{"@class":"a.B","a":null},{"a":{"@class":"a.C"}}]`},
		{`{"a.b":1,"class":"é.Ünicode"}`, `{"@class":"é.Ünicode","a.b":1}`},
		{`{"id":7,"class":"Outer$User"}`, `{"@class":"Outer$User","id":7}`},
		// a map with such a key
		{`{"id":7,"class":"683618197942845824"}`, `{"id":7,"class":"683618197942845824"}`},
		{`{"id":7,"class":"economy"}`, `{"id":7,"class":"economy"}`},
		{`{"id":7,"class":"a..B"}`, `{"id":7,"class":"a..B"}`},
		{`{"id":7,"class":"a."}`, `{"id":7,"class":"a."}`},
		{`{"class":"a.B","id":7}`, `{"class":"a.B","id":7}`},
		{`{"id":7,"class":null}`, `{"id":7,"class":null}`},
		{`{"id":7,"class":"first class"}`, `{"id":7,"class":"first class"}`},
		{`{"id":7,"class":""}`, `{"id":7,"class":""}`},
		{`{"id":7,"class":"a\/b"}`, `{"id":7,"class":"a/b"}`},
		{`{"id":7,"class":{"class":"a.B"}}`, `{"id":7,"class":{"@class":"a.B"}}`},
		{`{"@type":"a.B","c":1}`, `{"@map":[["@type","a.B"],["c",1]]}`},
		// numbers that JSON does not have
		{`[NaN,Infinity,-Infinity,-1]`, `[{"@double":"NaN"},{"@double":"Infinity"},{"@double":"-Infinity"},-1]`},
		{`NaNa`, `{"@opaque":4}`},
	} {
		t.Run(c.text, func(t *testing.T) { require.Equal(t, c.want, formattest.Value(t, own, []byte(c.text+"\n"))) })
	}
}

// Attachments are a map whatever is in them; an exception has its class from the last member.
func TestClassLastInMessages(t *testing.T) {
	m := formattest.Response(own, []byte("3\n{\"message\":\"x\",\"class\":\"a.E\"}\n{\"dubbo\":\"2.0.2\",\"class\":\"a.B\"}\n"), decode.Malformed)
	require.Nil(t, m.Err)
	require.Equal(t, `3 | {"dubbo":"2.0.2","class":"a.B"} | a.E: x`, m.Summary())
	formattest.Balance(t, &m.Tree, m.Taken)
}

// What a library writes is read as its own only where it can have written it.
func TestWriters(t *testing.T) {
	for _, c := range []struct {
		f          decode.Format
		text, want string
	}{
		// annotated classes (JsonTypeInfo), Jackson 2.15.3
		{jackson, `{"@class":"a.B","x":1}`, `{"@class":"a.B","x":1}`},
		{jackson, `{"@type":"dog","x":1}`, `{"@class":"dog","x":1}`},
		{jackson, `{"x":1,"@class":"a.B"}`, `{"@map":[["x",1],["@class","a.B"]]}`},
		{jackson, `Set["a"]`, `{"@opaque":8}`},
		{jackson, `[1L]`, `[1,{"@opaque":2}]`},
		// Gson writes no classes
		{gson, `{"@type":"a.B","x":1}`, `{"@map":[["@type","a.B"],["x",1]]}`},
		{gson, `{"@class":"a.B","x":1}`, `{"@map":[["@class","a.B"],["x",1]]}`},
		{gson, `NaN`, `{"@opaque":3}`},
		// fastjson 1.1.39 to 1.2.83: in arrays of floats what is not finite is not null
		{lines, `{"floats":[Infinity,-Infinity,NaN,1.5]}`, `{"floats":[{"@double":"Infinity"},{"@double":"-Infinity"},{"@double":"NaN"},1.5]}`},
		// an own map with keys that are numbers, 1.2.83
		{prefixed, `{"@type":"a.Cache",1:"cached"}`, `{"@map":[[1,"cached"]]}`},
		{prefixed, `{"@type":"a.Cache","k":"x",1:{"a":2},"l":3}`, `{"@map":[["k","x"],[1,{"a":2}],["l",3]]}`},
		// commas that are missing, 1.1.18: short[]{1,-1,32767}, Arrays.asList("x", null, "y")
		{lines, `{"s":[1-1,32767],"asList":["x",null"y"]}`, `{"s":[1,-1,32767],"asList":["x",null,"y"]}`},
		// and brackets: {"st": Arrays.asList("st", null)}
		{lines, `{"text2":["q",null"text3":{"st":["st",null},"n":[null,"m":1}`, `{"text2":["q",null],"text3":{"st":["st",null]},"n":[null],"m":1}`},
		{lines, `{"a":[null,"b",null"c"]}`, `{"a":[null,"b",null,"c"]}`},
		{gson, `{"a":[null}`, `{"a":[null,{"@opaque":1}]}`},
		{lines, `{"a":null"b":[{}{}]}`, `{"a":null,"b":[{},{}]}`},
		{prefixed, `[1"a"]`, `[1,{"@opaque":4}]`},
		// digits of doubles and decimals
		{own, `[0.28893256187438965,0.028893256187438965,-0.28893256187438965E-7]`, `[0.28893256187438965,0.028893256187438965,-0.28893256187438965E-7]`},
		{gson, `[141397622161559.46,-141397622161559.46,2.0E-3,1.50]`, `[141397622161559.46,-141397622161559.46,0.002,1.5]`},
		{gson, `[0.1234567890123456780,1.2345678901234567890,00.12345678901234599]`, `[{"@decimal":"0.1234567890123456780"},{"@decimal":"1.2345678901234567890"},0.123456789012346]`},
		{gson, `[0000000000000000000000007,0.00000000000000000000001]`, `[7,1e-23]`},
		{prefixed, `{"@type":"java.sql.Timestamp","val":1500}`, `{"@date":"1970-01-01T00:00:01.500Z"}`},
		{prefixed, `{"@type":"java.text.SimpleDateFormat","val":"yyyy"}`, `{"@class":"java.text.SimpleDateFormat","val":"yyyy"}`},
	} {
		body := []byte(c.text + "\n")
		if c.f.Dialect != "" {
			body = behindLength(c.text)
		}
		require.Equal(t, c.want, formattest.Value(t, c.f, body), c.text)
	}
}
