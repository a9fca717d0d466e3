package parquet

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

const page = "../../../docs/parquet.md"

// TestDocs requires that the documentation has the columns of both tables. -update writes them.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	text := string(b)
	for name, table := range map[string]string{"calls": document(callColumns), "coverage": document(coverageColumns())} {
		begin := "<!-- " + name + " -->\n"
		before, rest, ok := strings.Cut(text, begin)
		require.True(t, ok, name)
		_, after, ok := strings.Cut(rest, "<!-- end -->")
		require.True(t, ok, name)
		text = before + begin + table + "<!-- end -->" + after
	}
	if *testkit.Update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
		return
	}
	assert.Equal(t, text, string(b), "go test ./internal/report/parquet -update")
}

func document[T any](columns []column[T]) string {
	var b strings.Builder
	b.WriteString("\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n")
	for _, c := range columns {
		b.WriteString("| `" + c.name + "` | " + typeNames[c.kind] + " | " + c.unit + " | " + c.doc + " |\n")
	}
	b.WriteString("\n")
	return b.String()
}

// Each column has a name of its own.
func TestNames(t *testing.T) {
	for _, names := range [][]string{namesOf(callColumns), namesOf(coverageColumns())} {
		seen := map[string]bool{}
		for _, name := range names {
			assert.False(t, seen[name], name)
			seen[name] = true
			assert.Regexp(t, "^[a-z][a-z_]*$", name)
		}
	}
}

func namesOf[T any](columns []column[T]) (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}
