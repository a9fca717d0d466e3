package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// The page about the screen shows what it looks like, and names every key.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "screen.md"))
	require.NoError(t, err)
	page := string(b)
	for _, name := range []string{"steady-80x24", "errors-80x24", "method-80x24"} {
		golden, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		require.NoError(t, err)
		assert.Contains(t, page, "```\n"+string(golden)+"```\n", name)
	}
	for _, b := range bindings {
		for key := range strings.FieldsSeq(b.keys) {
			if key != "to" {
				assert.Contains(t, page, "`"+key+"`")
			}
		}
	}
}

// The page has a row for each column, in their order. With -update it gets the missing ones; what they say is written by hand.
func TestColumnsInDocs(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "screen.md")
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(b), "| key | column | what it is |\n| --- | --- | --- |\n")
	require.True(t, ok)
	rows, _, _ := strings.Cut(rest, "\n\n")
	texts := make(map[string]string) // by column
	for row := range strings.SplitSeq(rows, "\n") {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		require.Len(t, cells, 3, row)
		texts[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[2])
	}
	var want []string
	for _, c := range columns {
		key := ""
		if c.Key != "" {
			key = "`" + c.Key + "`"
		}
		row := strings.Join([]string{"", key, c.Title, texts[c.Title], ""}, " | ")
		want = append(want, strings.TrimSpace(strings.ReplaceAll(row, "  ", " ")))
	}
	table := strings.Join(want, "\n")
	if *testkit.Update {
		page := before + strings.Replace(string(b[len(before):]), rows, table, 1)
		require.NoError(t, os.WriteFile(name, []byte(page), 0o644))
		return
	}
	assert.Equal(t, table, rows, "docs/screen.md: run go test ./internal/screen -update, then say there what a new column is")
}
