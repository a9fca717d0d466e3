package jsonlines_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// References as fastjson writes them (1.2.83 with Dubbo 2.7.23 where nothing else is said).
func TestReferences(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[{"$ref":"@"},{},{"$ref":"@"}]`, `[{"@ref":"result"},{},{"@ref":"result"}]`},
		{`{"id":0,"kids":[{"$ref":".."}]}`, `{"id":0,"kids":[{"@ref":"result"}]}`},
		{`{"in":{"parent":{"$ref":"$"}}}`, `{"in":{"parent":{"@ref":"result"}}}`},
		{`[{"id":7},{"$ref":"$[0]"}]`, `[{"id":7},{"@ref":"result[0]"}]`},
		{`{"a":[[{}],{"$ref":"$.a[0][0]"}]}`, `{"a":[[{}],{"@ref":"result.a[0][0]"}]}`},
		{
			`{"1":[1.5],"$x":{"k\"q":["a?"],"":5},"中":[{"$ref":"$.\\$x.k\\\"q"}]}`,
			`{"1":[1.5],"$x":{"k\"q":["a?"],"":5},"中":[{"@ref":"result.$x[\"k\\\"q\"]"}]}`,
		},
		{`{5:["x"],"b":{"$ref":"$[5]"}}`, `{"@map":[[5,["x"]],["b",{"@ref":"result[0]"}]]}`},
		{`{"a":{},"k":{"$ref":"$.a"},"l":{"$ref":"$.a"}}`, `{"a":{},"k":{"@ref":"result.a"},"l":{"@ref":"result.a"}}`},
		// 1.1.39 to 1.2.46 write names as they are
		{`{"a.b":{"c":[0]},"x":{"$ref":"$.a.b.c"}}`, `{"a.b":{"c":[0]},"x":{"@ref":"result[\"a.b\"].c"}}`},
		{`{"k\"q":[0],"x":[{"$ref":"$.k"q"}]}`, `{"k\"q":[0],"x":[{"@ref":"result[\"k\\\"q\"]"}]}`},
		// 1.1.18 loses the number of an element: it stays as it is written
		{`[{},{"$ref":"$.null"}]`, `[{},{"$ref":"$.null"}]`},
		// what leads nowhere
		{`{"$ref":"@"}`, `{"$ref":"@"}`},
		{`[{"$ref":".."}]`, `[{"$ref":".."}]`},
		{`[{"$ref":"$[1]"},{}]`, `[{"$ref":"$[1]"},{}]`},
		{`[{},{"$ref":"$[-1]"},{"$ref":"$["},{"$ref":"$."},{"$ref":"x"},{"$ref":""}]`, `[{},{"$ref":"$[-1]"},{"$ref":"$["},{"$ref":"$."},{"$ref":"x"},{"$ref":""}]`},
		// no references: there is more in them
		{`[{"$ref":"$","a":1},{"$ref":1}]`, `[{"$ref":"$","a":1},{"$ref":1}]`},
	} {
		t.Run(c.text, func(t *testing.T) {
			require.Equal(t, c.want, formattest.Value(t, lines, []byte(c.text+"\n")))
		})
	}
	require.Equal(t, `[{},{"$ref":"$[0]"}]`, formattest.Value(t, gson, []byte(`[{},{"$ref":"$[0]"}]`+"\n")))
}

// However many references lead past however many nodes: every node is looked at once.
func TestReferencesAreLinear(t *testing.T) {
	const n = 50_000
	var b strings.Builder
	b.WriteString(`[[`)
	for range n {
		b.WriteString(`{},`)
	}
	b.WriteString(`0]`)
	for i := range n {
		fmt.Fprintf(&b, `,{"$ref":"$[0][%d]"}`, n-1-i)
	}
	b.WriteString("]\n")
	used := testkit.CPU()
	tree := decode.Tree{WithValues: true}
	r := lines.New()
	r.Reset([]byte(b.String()), decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
	require.Less(t, used(), 10*time.Second)
	refs := 0
	for i := range tree.Nodes {
		if tree.Nodes[i].Kind == decode.Ref {
			refs++
		}
	}
	require.Equal(t, n, refs)
}
