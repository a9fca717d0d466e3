package decode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"plain":         `"plain"`,
		"订单 😀":          `"订单 😀"`,
		"a\"b\\c\n\x00": `"a\"b\\c\n\u0000"`,
		"cut \xe4\xb8":  "\"cut \ufffd\ufffd\"",
		"\u2028\u2029":  `"\u2028\u2029"`,
		"\u0085\u00a0é": "\"\\u0085\u00a0é\"",
	} {
		got := AppendString(nil, in)
		assert.Equal(t, want, string(got))
		var back string
		require.NoError(t, json.Unmarshal(got, &back))
		assert.Equal(t, strings.ToValidUTF8(in, "\ufffd"), strings.ReplaceAll(back, "\ufffd\ufffd", "\ufffd"))
	}
}

func TestDescriptors(t *testing.T) {
	types, ok := SplitDescriptor("Ljava/lang/String;I[J[[Lcom/acme/Order;Z")
	require.True(t, ok)
	var names []string
	for _, d := range types {
		names = append(names, JavaName(d))
	}
	assert.Equal(t, []string{"java.lang.String", "int", "long[]", "com.acme.Order[][]", "boolean"}, names)
	for _, bad := range []string{"L;", "Lcom/acme", "[", "Q", "I[", strings.Repeat("[", 300) + "I"} {
		_, ok := SplitDescriptor(bad)
		assert.False(t, ok, bad)
	}
	assert.Equal(t, "whatever", JavaName("whatever"))
}

// Paths are bounded: a deep body must not print gigabytes of them.
func TestDeepPaths(t *testing.T) {
	var tree Tree
	for i := range MaxDepth {
		tree.Open(Object, ByField, "averagelylongname", 0, i)
		tree.Role("type", i, i+1)
	}
	tree.CloseTo(0)
	parts := tree.Parts(nil, 0)
	sum := 0
	for _, p := range parts {
		assert.LessOrEqual(t, len(p.Path), maxPath+200)
		sum += p.Bytes
	}
	assert.Equal(t, MaxDepth, sum)
	for _, p := range tree.Parts(nil, 2) {
		assert.LessOrEqual(t, strings.Count(p.Path, "."), 1)
	}
}
