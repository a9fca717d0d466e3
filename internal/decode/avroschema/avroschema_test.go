package avroschema

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit"
)

func TestParse(t *testing.T) {
	s, named, err := Parse([]byte(`{"type": "record", "name": "Node", "namespace": "p.q", "fields": [
		{"name": "next", "type": ["null", "Node"]},
		{"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
		{"name": "again", "type": "p.q.Kind"},
		{"name": "other", "type": {"type": "fixed", "name": "r.Hash", "size": 16}},
		{"name": "map", "type": {"type": "map", "values": {"type": "array", "items": {"type": "long", "logicalType": "date"}}}},
		{"name": "within", "type": {"type": "error", "name": "In", "namespace": "p.Out$", "fields": []}}]}`))
	require.NoError(t, err)
	require.Len(t, named, 4)
	assert.Equal(t, []string{"p.q.Node", "p.q.Kind", "r.Hash", "p.Out$.In"}, []string{named[0].Name, named[1].Name, named[2].Name, named[3].Name})
	assert.Equal(t, "p.Out$In", named[3].ClassName())
	assert.Same(t, s, s.Fields[0].Schema.Branches[1])
	assert.Same(t, named[1], s.Fields[2].Schema)
	assert.Equal(t, []string{"A", "B"}, named[1].Symbols)
	assert.Equal(t, 16, named[2].Size)
	assert.Equal(t, Long, s.Fields[4].Schema.Elem.Elem.Kind)
	assert.Equal(t, Record, named[3].Kind)
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "it is not JSON",
		`7`:                                "neither a name, an object nor an array",
		`"Node"`:                           `"Node" is not a type that is declared before it is used`,
		`[]`:                               "a union has no types",
		`["null", ["int"]]`:                "a union is directly in a union",
		`{"name": "A"}`:                    "a schema has no type",
		`{"type": "record", "fields": []}`: "a record has no name",
		`{"type": "record", "name": "A"}`:  `the record "A" has no fields`,
		`{"type": "record", "name": "A", "fields": [7]}`:                                         `a field of the record "A" has no name`,
		`{"type": "enum", "name": "A", "symbols": [7]}`:                                          `a symbol of the enum "A" is not a text`,
		`{"type": "fixed", "name": "A", "size": 1.5}`:                                            `the fixed "A" has no size`,
		`[{"type": "fixed", "name": "A", "size": 1}, {"type": "fixed", "name": "A", "size": 1}]`: `"A" is declared twice`,
		strings.Repeat(`{"type": "array", "items": `, 300) + `"int"` + strings.Repeat("}", 300):  "schemas are nested more than 256 deep",
	} {
		_, _, err := Parse([]byte(text))
		require.ErrorContains(t, err, want, "%.60s", text)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"reflected-2.avsc", "reflected-3.avsc"} {
		text, err := os.ReadFile("../../../testdata/models/" + name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, named, err := Parse(text)
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		assert.NotNil(t, s)
		for _, n := range named {
			assert.NotEmpty(t, n.ClassName())
		}
	})
}
