package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// The output is the same, byte for byte, for any number of workers: of some captures, and of all together.
func TestJobs(t *testing.T) {
	inputs := []*testkit.Capture{nil} // all
	for _, c := range testkit.Captures() {
		if c.Left(50) || strings.HasPrefix(c.Name, "mixed") {
			inputs = append(inputs, c)
		}
	}
	commands := [][]string{
		{"analyze", "--format", "json"},
		{"analyze", "--by", "connection,method", "--max-groups", "7", "--format", "json"},
		{"frames", "--format", "csv"},
		{"frames", "--format", "jsonl", "--depth", "2"},
		{"frames", "--format", "jsonl", "--method", "*e*"},
		{"calls", "--format", "jsonl"},
		{"calls"},
		{"calls", "--format", "parquet"},
	}
	for _, in := range inputs {
		name := "captures"
		if in != nil {
			name = in.Name
		} else if testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := testkit.Dir()
			if in != nil {
				path = in.Plain(t) // which is read often
			}
			for k, c := range commands {
				if in == nil && (k > 2 || k > 0 && !testkit.All) {
					continue
				}
				want := runOutput(t, append(append([]string{"--jobs", "1"}, c...), path)...)
				for _, jobs := range []int{2, 5} {
					got := runOutput(t, append(append([]string{"--jobs", fmt.Sprint(jobs)}, c...), path)...)
					if got != want {
						at := 0
						for at < min(len(got), len(want)) && got[at] == want[at] {
							at++
						}
						require.Failf(t, "differs", "%v with %d jobs at byte %d: %q, with one %q", c, jobs, at,
							got[at:min(at+80, len(got))], want[at:min(at+80, len(want))])
					}
				}
			}
		})
	}
}

// runOutput is standard output and standard error of a run, and its exit status.
func runOutput(t *testing.T, args ...string) string {
	var out, errs strings.Builder
	code := run(args, strings.NewReader(""), &out, &errs)
	return fmt.Sprintf("%s%s%d", out.String(), errs.String(), code)
}
