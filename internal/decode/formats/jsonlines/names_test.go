package jsonlines_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// The name of a member is a part of its object, of class names; the keys of what can only be a map are values.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		f                decode.Format
		typ, text, parts string
	}{
		{
			lines, "Lcom/acme/User;", `{"id":7,"in":{"a.b":[{"c":"d"}]}}`,
			"v.#punct:1 v.#field:4n v.#punct:1 v.id:1 v.#punct:1 v.#field:4n v.#punct:1 v.in.#punct:1 v.in.#field:5n v.in.#punct:1 " +
				`v.in["a.b"].#punct:1 v.in["a.b"][0].#punct:1 v.in["a.b"][0].#field:3n v.in["a.b"][0].#punct:1 v.in["a.b"][0].c:3 ` +
				`v.in["a.b"][0].#punct:1 v.in["a.b"].#punct:1 v.in.#punct:1 v.#punct:1 #line:1`,
		},
		{
			lines, "Ljava/util/Map;", `{"k":{"id":7}}`,
			"v.#punct:1 v.k:3 v.#punct:1 v.k.#punct:1 v.k.#field:4n v.k.#punct:1 v.k.id:1 v.k.#punct:1 v.#punct:1 #line:1",
		},
		{
			lines, "Ljava/lang/Object;", `{"@type":"a.B","m":{"@type":"java.util.TreeMap","k":1}}`,
			"v.#punct:1 v.#class:13n v.#punct:1 v.#field:3n v.#punct:1 v.m.#punct:1 v.m.#class:27n v.m.#punct:1 v.m.k:3 v.m.#punct:1 v.m.k:1 " +
				"v.m.#punct:1 v.#punct:1 #line:1",
		},
		{lines, "", `{1:"a","b":2}`, "v.#punct:1 v[0]:1 v.#punct:1 v[0]:3 v.#punct:1 v.#field:3n v.#punct:1 v.b:1 v.#punct:1 #line:1"},
		{
			own, "La/B;", `{"id":7,"in":{"class":"a.C"},"class":"a.B"}`,
			"v.#punct:1 v.#field:4n v.#punct:1 v.id:1 v.#punct:1 v.#field:4n v.#punct:1 v.in.#punct:1 v.in.#class:7n v.in.#punct:1 v.in.#class:5n " +
				"v.in.#punct:1 v.#punct:1 v.#class:7n v.#punct:1 v.#class:5n v.#punct:1 #line:1",
		},
		{own, "Ljava/util/HashMap;", `{"class":"a.C"}`, "v.#punct:1 v.class:7 v.#punct:1 v.class:5 v.#punct:1 #line:1"},
	} {
		t.Run(c.text, func(t *testing.T) {
			tree := decode.Tree{WithValues: true}
			r := c.f.New()
			body := []byte(c.text + "\n")
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "v", 0, c.typ)
			require.Nil(t, r.Err())
			formattest.Balance(t, &tree, len(body))
			var parts []string
			for _, p := range tree.Parts(nil, 0) {
				s := p.Path + ":" + strconv.Itoa(p.Bytes)
				if p.Class == decode.ClassNames {
					s += "n"
				}
				parts = append(parts, s)
			}
			require.Equal(t, c.parts, strings.Join(parts, " "))
		})
	}
}

// In attachments and below them every byte is the attachments'.
func TestNamesInAttachments(t *testing.T) {
	m := formattest.Response(lines, []byte("5\n{\"k\":{\"id\":7}}\n"), decode.Malformed)
	require.Nil(t, m.Err)
	parts := m.Tree.Parts(nil, 0)
	for _, p := range parts[1 : len(parts)-1] { // between the flag and the line end
		require.Equal(t, decode.ClassAttachments.String(), p.Class.String(), p.Path)
	}
}
