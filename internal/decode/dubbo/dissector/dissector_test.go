package dissector

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/formats"
	_ "dubbo-wire/internal/dev/testkit" // defines -update
)

// The script reads the envelope in every serialization that is known, and in no other.
func TestForms(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Write(&b, formats.All()))
	assert.NotContains(t, b.String(), "@")
	assert.Contains(t, b.String(), "serializations[10] = { \"native-hessian\", \"protostuff\" }\n")
	assert.Contains(t, b.String(), "heartbeats[2] = { [\"N\"] = \"hessian2\" }\n")
	assert.Contains(t, b.String(), "  [20] = \"OK\",\n")

	_, list, ok := strings.Cut(script, "local forms = {\n")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, "\n}\n")
	var read []string
	for _, m := range regexp.MustCompile(`(?m)^  \["(.*?)"\]`).FindAllStringSubmatch(list, -1) {
		read = append(read, m[1])
	}
	known := map[string]bool{}
	for _, f := range formats.All() {
		known[f.Name] = true
	}
	delete(known, "custom") // written by code of users
	assert.Len(t, read, len(known))
	for _, name := range read {
		assert.True(t, known[name], name)
	}
}

func TestQuote(t *testing.T) {
	assert.Equal(t, `"a.0\000\034\2559"`, quote([]byte("a.0\x00\"\xff9")))
}
