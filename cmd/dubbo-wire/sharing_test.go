package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/exit"
)

// sharedReport is what of a report is equal for a capture and what redact makes of it.
func sharedReport(b []byte) (map[string]any, error) {
	var r map[string]any
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	out := map[string]any{"groups": r["groups"], "seconds": r["seconds"], "by": r["by"]}
	for _, g := range r["groups"].([]any) {
		if largest, ok := g.(map[string]any)["largest"].(map[string]any); ok {
			delete(largest, "file")
		}
	}
	wire := r["wire"].(map[string]any)
	for _, k := range []string{"rpcBytes", "eventBytes", "incompleteBytes", "retransmittedBytes", "duplicateBytes", "otherTcp", "offloadedPackets"} {
		out[k] = wire[k]
	}
	coverage := r["coverage"].(map[string]any)
	for _, k := range []string{"packetsNotTcp", "packetsUnread"} { // they are left out
		delete(coverage, k)
	}
	out["coverage"] = coverage
	return out, nil
}

func cmdAllGroups(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: allgroups REPORT REPORT")
	}
	a, err := sharedReport([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	b, err := sharedReport([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	if len(a["groups"].([]any)) == 0 {
		ts.Fatalf("no groups")
	}
	for k := range a {
		if !reflect.DeepEqual(a[k], b[k]) {
			x, _ := json.Marshal(a[k])
			y, _ := json.Marshal(b[k])
			ts.Fatalf("%s:\n%s\n%s", k, x, y)
		}
	}
}

// Reports of a capture and of what redact makes of it are equal, for every committed capture.
func TestRedactedReports(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(capturesDir(t), "*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, file := range files {
		if testing.Short() && i%25 != 0 {
			continue
		}
		t.Run(strings.SplitN(filepath.Base(file), ".pcap", 2)[0], func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out.pcapng")
			var stdout, stderr strings.Builder
			code := run([]string{"redact", file, "-o", out}, strings.NewReader(""), &stdout, &stderr)
			require.Contains(t, []int{exit.Done, exit.Nothing, exit.Partly}, code, stderr.String())
			assert.Empty(t, stdout.String())
			report := func(file string, args ...string) map[string]any {
				var stdout, stderr strings.Builder
				again := run(append([]string{"analyze", file, "--format", "json"}, args...), strings.NewReader(""), &stdout, &stderr)
				if code != exit.Partly { // the output is whole
					require.Equal(t, code, again, stderr.String())
				}
				r, err := sharedReport([]byte(stdout.String()))
				require.NoError(t, err)
				return r
			}
			assert.Equal(t, report(file), report(out))
			assert.Equal(t, report(file, "--parts"), report(out, "--parts"))
		})
	}
}
