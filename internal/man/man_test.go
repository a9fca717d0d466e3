package man

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

func page() *Page {
	first, second := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	first.BoolP("all-of_it", "a", false, "take *.json and all")
	first.String("by", "64MiB", "group by `KEY=GLOB`")
	first.Bool("unseen", false, "not on the page")
	_ = first.MarkHidden("unseen")
	second.Bool("last", false, "# the last")
	return &Page{
		Name: "acme-run", Title: "run *what* `is` given", Synopsis: []string{"acme run [-i] IFACE [-- COMMAND]"},
		Description: "A paragraph with <angles>, under_scores, $(command -v x) and a \\ in it.\n\n  kept   as\n  it is\n\n.not a request\n\n'nor this",
		Commands:    []Item{{"run", "It runs."}},
		Options:     []Group{{"First", first}, {"Second", second}},
		Examples:    []string{"acme run 'a*' | head -n 3", "acme run --by \"x\" > /dev/null"},
		ExitCodes:   []Item{{"0", "Done."}, {"4", "An input ended early."}},
		Environment: []Item{{"NO_COLOR", "No colours."}},
		SeeAlso:     []string{"acme(1)", "tcpdump(8)"},
		Date:        "2026-11-21", Source: "acme 1.2",
	}
}

// Every text comes out as it went in, whatever Markdown and roff would make of it.
func TestRoff(t *testing.T) {
	roff := string(Roff(page()))
	assert.Equal(t, roff, string(Roff(page())))
	assert.Contains(t, roff, `.TH "ACME-RUN" "1" "2026-11-21" "acme 1.2" "User Commands"`)
	assert.NotContains(t, roff, "unseen")
	place := 0
	for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"} {
		at := strings.Index(roff, "\n.SH "+section+"\n")
		require.Greater(t, at, place, section)
		place = at
	}
	for line := range strings.Lines(roff) {
		assert.False(t, strings.HasPrefix(line, ".not") || strings.HasPrefix(line, "'"), "a request by chance: %s", line)
	}
	for _, reader := range [][]string{{"mandoc", "-T", "utf8"}, {"groff", "-man", "-Tutf8", "-P-c"}} {
		t.Run(reader[0], func(t *testing.T) {
			testkit.Needs(t, reader[0])
			if _, err := exec.LookPath(reader[0]); err != nil {
				t.Skip("not installed")
			}
			file := filepath.Join(t.TempDir(), "page.1")
			require.NoError(t, os.WriteFile(file, []byte(roff), 0o666))
			out, err := exec.Command(reader[0], append(reader[1:], file)...).CombinedOutput()
			require.NoError(t, err, string(out))
			text := plain(string(out))
			for _, want := range []string{
				"acme-run - run *what* `is` given", "acme run [-i] IFACE [-- COMMAND]", "A paragraph with <angles>, under_scores, $(command -v x) and a \\ in it.",
				".not a request", "'nor this", "-a, --all-of_it", "Take *.json and all.", "--by KEY=GLOB", "Group by KEY=GLOB. Default: 64MiB.", "# the last.",
				"acme run 'a*' | head -n 3", "acme run --by \"x\" > /dev/null", "An input ended early.", "NO_COLOR", "acme(1), tcpdump(8)",
			} {
				assert.Contains(t, text, want)
			}
			assert.Contains(t, unstyled(string(out)), "kept   as\n", "what is indented stays as it is")
		})
	}
}

// unstyled is a page without the ways in which terminals are told of bold and underlined letters, and with plain hyphens.
func unstyled(s string) string {
	var b []rune
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		switch {
		case runes[i] == '\b':
			b = b[:len(b)-1]
		case runes[i] == 0x1b:
			for i < len(runes) && runes[i] != 'm' {
				i++
			}
		default:
			b = append(b, runes[i])
		}
	}
	return strings.NewReplacer("−", "-", "‐\n", "", "’", "'", "‘", "`", "“", "\"", "”", "\"").Replace(string(b))
}

// plain is the words of a page in one line.
func plain(s string) string { return strings.Join(strings.Fields(unstyled(s)), " ") }
