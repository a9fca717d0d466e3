package msgpack_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/msgpack"
)

// The name of a member is a part of its object, of class names; the keys of what can only be a map are values.
func TestNames(t *testing.T) {
	for _, c := range []struct{ typ, hex, parts string }{
		{
			"Lcom/acme/User;", "82 a16107 a16281a16301", // {"a":7,"b":{"c":1}}
			"v.#length:1 v.#field:2n v.a:1 v.#field:2n v.b.#length:1 v.b.#field:2n v.b.c:1",
		},
		{"Ljava/util/Map;", "81 a16281a16301", "v.#length:1 v.b:2 v.b.#length:1 v.b.#field:2n v.b.c:1"},
		{"Ljava/lang/Object;", "81 0705", "v.#length:1 v[0]:2"},
	} {
		tree := decode.Tree{WithValues: true}
		r := msgpack.Format.New()
		body := formattest.Hex(c.hex)
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
	}
}
