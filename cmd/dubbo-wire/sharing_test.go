package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/exit"
)

var addressAndPort = regexp.MustCompile(`^[0-9.]+:[0-9]+$`)

// sharedReport is what of a report is equal for a capture and what redact makes of it.
func sharedReport(b []byte) (map[string]any, error) {
	var r map[string]any
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	out := map[string]any{"groups": r["groups"], "seconds": r["seconds"], "by": r["by"]}
	for _, g := range r["groups"].([]any) {
		if service, ok := g.(map[string]any)["service"].(string); ok && addressAndPort.MatchString(service) {
			g.(map[string]any)["service"] = "address" // of a resource: redact writes another one
		}
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
	for _, other := range coverage["other"].([]any) {
		delete(other.(map[string]any), "handshakes") // names of hosts are left out
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

// Reports of a capture and of what redact makes of it are equal.
func redactedReports(t *testing.T, p *printed) {
	out := filepath.Join(t.TempDir(), "out.pcapng")
	stdout, stderr, code := dubboWire("redact", p.path, "-o", out)
	require.Contains(t, []int{exit.Done, exit.Nothing, exit.Partly}, code, stderr)
	assert.Empty(t, stdout)
	for _, args := range [][]string{{"--format", "json"}, {"--format", "json", "--parts"}} {
		var reports [2]map[string]any
		redacted, stderr, again := dubboWire(append([]string{"analyze", out}, args...)...)
		for i, r := range []result{p.run("analyze", args...), {redacted, stderr, again}} {
			if code != exit.Partly { // the output is whole
				require.Equal(t, code, r.code, r.stderr)
			}
			report, err := sharedReport([]byte(r.out))
			require.NoError(t, err)
			reports[i] = report
		}
		assert.Equal(t, reports[0], reports[1])
	}
}
