package jsonlines_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Without a tree a text is counted in one pass where it has nothing special, without allocating anything, and the sum is that
// of the tree.
func TestCounted(t *testing.T) {
	for _, c := range []struct {
		f       decode.Format
		typ     string
		text    string
		onePass bool
	}{
		{gson, "", `{}`, true},
		{gson, "", `[]`, true},
		{gson, "", ` {}`, true},
		{gson, "", `{ "a" : [ 1 , -2.5e+3 , "x\"y" , null , true , false , { } , [ ] ] } `, true},
		{gson, "", `{"a":{"b":{"c":[[[{"d":"e"}]]]}},"f":"` + strings.Repeat("0123456789", 50) + `"}`, true},
		{gson, "Ljava/util/Map;", `{"a":{"b":1}}`, true},
		{gson, "", `{"a":01}`, true},
		{gson, "", `{"a":-}`, false},
		{gson, "", `{"a":1.}`, false},
		{gson, "", `{"a":}`, false},
		{gson, "", `{"a"}`, false},
		{gson, "", `{"a":1]`, false},
		{gson, "", `[1}`, false},
		{gson, "", `[1,]`, false},
		{gson, "", `{"a":1,}`, false},
		{gson, "", `{"a":nul}`, false},
		{gson, "", `{"a":"b}`, false},
		{gson, "", `{} {}`, false},
		{jackson, "", `{"@class":"a.B","x":[1]}`, true},
		{jackson, "Ljava/util/Map;", `{"@class":"a.B","x":[1]}`, true},
		{jackson, "", `[{"@x":1}]`, true},
		{lines, "", `{"a":{"$ref":"$"},"b":[{"$ref":".."}]}`, true},
		{lines, "", `{"a":{"$ref":"$","b":1}}`, true},
		{lines, "", `{"@type":"a.B","m":{"@type":"java.util.TreeMap","k":{"id":1}},"e":{"@type":"java.util.HashMap"}}`, true},
		{lines, "Ljava/util/Map;", `{"@type":"a.B","m":1}`, true},
		{lines, "", `{1:"a","b":Set["x"],"c":1L}`, true},
		{own, "", `{"id":7,"in":{"x":1,"class":"a.C"},"class":"a.B"}`, true},
		{own, "", `{"class":"a.B","id":7}`, true},
		{own, "", `{"id":{"class":"a.B"},"class":"no class"}`, true},
		{own, "", `[{"class":"a.B"},{"class":["a.B"]},{"x":"a.B"}]`, true},
		{own, "Ljava/util/Map;", `{"x":{"class":"a.B"},"class":"a.B"}`, true},
	} {
		t.Run(c.text, func(t *testing.T) {
			body := []byte(c.text + "\n")
			tree := decode.Tree{}
			tree.Open(decode.List, decode.ByField, "args", 0, 0)
			r := c.f.New()
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByIndex, "", 0, c.typ)
			tree.Close()
			require.Nil(t, r.Err())

			counted := c.f.New()
			var sum decode.PartBytes
			var ok bool
			count := func() {
				counted.Reset(body, decode.Malformed, nil)
				s := counted.(decode.Summer)
				s.Open(decode.List, decode.ByField, "args", 0)
				counted.Value(decode.ByIndex, "", 0, c.typ)
				s.Close()
				sum, ok = s.Sum()
			}
			count()
			require.Equal(t, c.onePass, ok)
			if ok {
				require.Equal(t, tree.Bytes(), sum)
				require.Zero(t, testing.AllocsPerRun(10, count))
			}
			require.Equal(t, len(body), counted.Offset())
			formattest.Check(t, c.f, append([]byte("1\n"), body...))
		})
	}
}

// Strings are looked through eight bytes at a time: quotes and backslashes at every place.
func TestStringEnds(t *testing.T) {
	for n := range 40 {
		for _, c := range []struct{ in, behind string }{
			{"", ""}, {`\"`, ""}, {`\\`, ""}, {`\\\"`, ""}, {"", `"`}, {"", `\`}, {"\x00\xff\xa2\xdc", ""}, {"#[]!", ","},
		} {
			token := `"` + strings.Repeat("x", n) + c.in + strings.Repeat("y", n%11) + `"`
			require.Equal(t, `[`+strings.ToValidUTF8(token, "\ufffd")+`]`, strings.ReplaceAll(formattest.Value(t, gson, []byte("["+token+"]\n")), `\u0000`, "\x00"))
			body := []byte(token + c.behind + "\n")
			m := formattest.Response(gson, append([]byte("1\n"), body...), decode.Malformed)
			require.Equal(t, c.behind != "", strings.Contains(m.Value("result"), "@opaque"), "%q", body)
		}
	}
}

// A bean in attachments, and a name of a class with an escape, are told by a tree alone.
func TestClassInAttachments(t *testing.T) {
	for _, body := range []string{
		"4\nnull\n" + `{"a":{"x":1,"class":"a.B"}}` + "\n", "4\nnull\n" + `{"a":{"x":1,"cl\u0061ss":"a.B"}}` + "\n", "4\nnull\n" + `{"group":"g"}` + "\n",
		"1\n" + `{"x":1,"cl\u0061ss":"a.B"}` + "\n", "1\n" + `{"x":1,"class":"a.B"}` + "\n",
	} {
		for _, f := range []decode.Format{gson, own} {
			f.Counts = true
			formattest.Check(t, f, []byte(body))
		}
	}
}

// TestPrintedLines: the texts of a response in Dubbo's protocol print without a tree, values and parts.
func TestPrintedLines(t *testing.T) {
	for _, text := range []string{`{"a":[1,{"b":null}],"":2}`, `[]`, `"a\"b\\\u0041"`, `-0.5`, `12`, `null`, `true`} {
		for _, f := range []decode.Format{gson, jackson, own, lines} {
			f.Counts = true
			formattest.Prints(t, f, []byte("1\n"+text+"\n"))
			formattest.Prints(t, f, []byte("4\r\n"+text+"\r\n"+`{"dubbo":"2.0.2","a.b":{"x":1},"n":3}`+"\n"))
			formattest.Prints(t, f, []byte("5\nnull\n"))
		}
	}
}
