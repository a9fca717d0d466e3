package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
)

// There is a page for every command that help lists. It has all of its flags, its examples and the exit codes, the same
// bytes each time, and the programs that show pages have nothing to say against it.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	write := func(dir string) {
		var out, stderr strings.Builder
		require.Equal(t, exit.Done, run([]string{"man", "--date", "2026-11-21", dir}, strings.NewReader(""), &out, &stderr), stderr.String())
		require.Empty(t, out.String()+stderr.String())
	}
	write(dir)
	again := t.TempDir()
	write(again)
	root := newRoot(&streams{})
	pages := manPages(root, "2026-11-21")
	names := map[string]bool{}
	for _, p := range pages {
		names[p.Name+".1"] = true
		first, err := os.ReadFile(filepath.Join(dir, p.Name+".1"))
		require.NoError(t, err)
		second, err := os.ReadFile(filepath.Join(again, p.Name+".1"))
		require.NoError(t, err)
		assert.Equal(t, string(first), string(second))
		command := root
		if sub := strings.TrimPrefix(p.Name, "dubbo-wire-"); sub != p.Name {
			command, _, err = root.Find([]string{sub})
			require.NoError(t, err)
		}
		roff := strings.ReplaceAll(string(first), `\-`, "-")
		for _, f := range flagNames(command) {
			assert.Contains(t, roff, "--"+f, p.Name)
		}
		assert.Contains(t, roff, `"2026-11-21"`)
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"} {
			assert.Contains(t, roff, "\n.SH "+section+"\n", p.Name)
		}
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, len(names))
	assert.Subset(t, keys(names), []string{"dubbo-wire.1", "dubbo-wire-analyze.1", "dubbo-wire-capture.1", "dubbo-wire-help.1"})

	for _, reader := range [][]string{{"mandoc", "-T", "utf8", "-W", "warning"}, {"groff", "-man", "-Tutf8", "-ww"}, {"man", "-l"}} {
		t.Run(reader[0], func(t *testing.T) {
			testkit.Needs(t, reader[0])
			if _, err := exec.LookPath(reader[0]); err != nil {
				t.Skip("not installed")
			}
			for name := range names {
				c := exec.Command(reader[0], append(reader[1:], filepath.Join(dir, name))...)
				c.Env = append(os.Environ(), "MANWIDTH=80", "MANPAGER=cat", "LC_ALL=C.UTF-8")
				var stderr strings.Builder
				c.Stderr = &stderr
				out, err := c.Output()
				require.NoError(t, err, stderr.String())
				assert.Empty(t, stderr.String(), name)
				text := strings.Join(strings.Fields(string(out)), " ")
				assert.Contains(t, text, "everything readable was reported", name)
			}
		})
	}
}

func keys(m map[string]bool) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}
