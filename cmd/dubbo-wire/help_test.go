package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestExamplesOfHelp runs every example that --help prints, on a committed capture under the names that stand there.
// What an example selects may not be in that capture: then nothing else may be said.
func TestExamplesOfHelp(t *testing.T) {
	data, err := readCapture(capturesDir(t), "mixed")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("trace.pcap", data, 0o666))
	require.NoError(t, os.Mkdir("rotated", 0o777))
	require.NoError(t, os.WriteFile(filepath.Join("rotated", "trace.pcap0"), data, 0o666))
	examples := 0
	walk(newRoot(&streams{}), func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			stdin := ""
			if _, reads, ok := strings.Cut(line, "| "); ok {
				line, stdin = reads, string(data)
			}
			args, ok := strings.CutPrefix(line, "dubbo-wire ")
			if !ok {
				require.True(t, strings.HasPrefix(line, "sudo dubbo-wire capture "), "an example of %s: %q", cmd.Name(), line)
				continue
			}
			examples++
			var out, stderr strings.Builder
			code := run(strings.Fields(strings.ReplaceAll(args, "'", "")), strings.NewReader(stdin), &out, &stderr)
			switch code {
			case exitDone:
				require.Empty(t, stderr.String(), line)
			case exitNothing:
				require.Regexp(t, "no call matches the filters|no such frame", stderr.String(), line)
			default:
				t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
			}
		}
	})
	require.Greater(t, examples, 8)
	require.FileExists(t, "sizes.json")
}

func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		if c.Name() != "completion" {
			walk(c, f)
		}
	}
}

// TestFlagsMeanTheSameEverywhere: flags may stand before the command, where it must be known whether they take a value.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	type meaning struct{ kind, shorthand string }
	known := make(map[string]meaning)
	letters := make(map[string]string)
	walk(newRoot(&streams{}), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			m := meaning{f.Value.Type(), f.Shorthand}
			if have, ok := known[f.Name]; ok {
				require.Equal(t, have, m, "--%s of %s", f.Name, cmd.Name())
			}
			known[f.Name] = m
			if f.Shorthand != "" {
				if have, ok := letters[f.Shorthand]; ok {
					require.Equal(t, have, f.Name, "-%s of %s", f.Shorthand, cmd.Name())
				}
				letters[f.Shorthand] = f.Name
			}
			require.NotEmpty(t, f.Usage, f.Name)
		})
	})
}

// Help names every flag of a command once, those of a group under its title, within the width.
func TestHelpGroupsFlags(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	for _, name := range []string{"analyze", "frames", "calls", "explain", "capture"} {
		var out, stderr strings.Builder
		require.Equal(t, exitDone, run([]string{name, "--help"}, strings.NewReader(""), &out, &stderr))
		_, flags, _ := strings.Cut(out.String(), "\nFlags:\n")
		own, rest, ok := strings.Cut(flags, filterGroup)
		require.True(t, ok, name)
		filters, limits, ok := strings.Cut(rest, limitGroup)
		require.True(t, ok, name)
		require.Equal(t, name != "explain", strings.Contains(own, "--min-coverage PERCENT"), name)
		require.Contains(t, filters, "--method GLOB")
		require.Contains(t, limits, "--max-held SIZE")
		for line := range strings.Lines(flags) {
			require.LessOrEqual(t, len(line), 81, line)
		}
	}
}
