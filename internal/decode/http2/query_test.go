package http2

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/rpc"
)

// TestQuery: the parts of a query have all bytes of its field, whatever the field's coding.
func TestQuery(t *testing.T) {
	const path = "/a/b?id=17&note=a+b%3D&&flag&a.b=c"
	huffman := append([]byte{4, 0x80 | byte(hpack.HuffmanEncodeLength(path))}, hpack.AppendHuffmanString(nil, path)...)
	for _, row := range []struct {
		own   string
		path  string
		names []string
		exact bool
	}{
		{path + " ", path, []string{
			"query.#punct", "query.#field", "query.#punct", "query.id", "query.#punct", "query.#field", "query.#punct", "query.note", "query.#punct", "query.#field",
			"query.#punct", "query.#field", "query.#punct", "query[\"a.b\"]", "headers.:path",
		}, true},
		{"\x04\x22" + path, path, nil, true},
		{string(huffman), path, nil, false},
		{"/a?b=%zz&c=d ", "/a?b=%zz&c=d", []string{"query.#punct", "query.#field", "query.#punct", "query.opaque", "headers.:path"}, true},
		{"/a? ", "/a?", []string{"query.#punct", "headers.:path"}, true},
		{"\xbe", path, []string{}, true}, // an entry of a table
		{"/a ", "/a", []string{}, true},
	} {
		parts, before := query(&rpc.Header{Name: ":path", Value: row.path}, []byte(row.own), 100)
		var names []string
		at := 100 + before
		values := map[string]int{}
		for _, p := range parts {
			assert.Equal(t, at, p.Off, "%q", row.own)
			assert.Positive(t, p.Len)
			at += p.Len
			names = append(names, p.Name)
			values[p.Name] += p.Len
		}
		assert.Equal(t, 100+len(row.own), at, "%q", row.own)
		if row.names != nil {
			assert.ElementsMatch(t, row.names, names, "%q", row.own)
		}
		if row.path == path && len(parts) > 0 {
			delta := 0
			if !row.exact {
				delta = 3 // 5 to 8 bits a character
			}
			assert.InDelta(t, len("a+b%3D"), values["query.note"], float64(delta))
		}
	}
	long := "/?" + strings.Repeat("a=1&", 1<<13)
	parts, _ := query(&rpc.Header{Name: ":path", Value: long}, []byte(long), 0)
	assert.Len(t, parts, 1+4*(1<<13))
}

// FuzzQuery: every byte of a field has one owner.
func FuzzQuery(f *testing.F) {
	f.Add("/a?b=c&d", true)
	f.Add("/?%=&&", false)
	f.Fuzz(func(t *testing.T, path string, huffman bool) {
		own := []byte(path + " ")
		if huffman {
			own = append([]byte{4}, hpack.AppendHuffmanString(nil, path)...)
		}
		parts, at := query(&rpc.Header{Name: ":path", Value: path}, own, 0)
		for _, p := range parts {
			if p.Off != at || p.Len <= 0 {
				t.Fatalf("%q at %d: %+v", path, at, p)
			}
			at += p.Len
		}
		if at != len(own) {
			t.Fatalf("%q: %d of %d bytes", path, at, len(own))
		}
	})
}
