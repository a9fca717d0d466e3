package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page about the screen shows what it looks like, and names every column and every key.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "screen.md"))
	require.NoError(t, err)
	page := string(b)
	for _, name := range []string{"steady-80x24", "method-80x24"} {
		golden, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		require.NoError(t, err)
		assert.Contains(t, page, "```\n"+string(golden)+"```\n", name)
	}
	for _, c := range columns {
		if c.Key != "" {
			assert.Contains(t, page, "| `"+c.Key+"` | "+c.Title+" |")
		} else {
			assert.Contains(t, page, "| | "+c.Title+" |")
		}
	}
	for _, k := range helpKeys {
		for key := range strings.FieldsSeq(k[0]) {
			if key != "to" {
				assert.Contains(t, page, "`"+key+"`")
			}
		}
	}
}
