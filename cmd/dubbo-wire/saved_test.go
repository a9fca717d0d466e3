package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
)

// A saved report that is read and saved is the same.
func savedReportIsRead(t *testing.T, p *printed) {
	saved := filepath.Join(t.TempDir(), p.Name+".json")
	want := p.must(t, "analyze", "--format", "json", "--buckets")
	require.NoError(t, os.WriteFile(saved, []byte(want), 0o666))
	require.Equal(t, want, must(t, "analyze", saved, "--format", "json", "--buckets"))
	got := must(t, "analyze", saved, "--sections", "wire,coverage")
	// Lines break where the name of the capture is, and of a report it is shorter.
	require.Equal(t, strings.Fields(p.must(t, "analyze", "--sections", "wire,coverage")), strings.Fields(withoutPackets.ReplaceAllString(got, "")))
}

// withoutPackets matches the remark that a report was saved.
var withoutPackets = regexp.MustCompile(`(?m)^  Read from saved reports, .*\n`)

// What is printed of a saved report with other groups and filters is what is printed of its capture.
func savedReportIsFiltered(t *testing.T, p *printed) {
	saved := filepath.Join(t.TempDir(), p.Name+".json")
	require.NoError(t, os.WriteFile(saved, []byte(p.must(t, "analyze", "--format", "json", "--buckets")), 0o666))
	for _, args := range [][]string{
		{"--format", "csv"},
		{"--format", "json", "--by", "serialization"},
		{"--format", "json", "--by", "method,service", "--method", "*e*"},
		{"--format", "json", "--serialization", "h*", "--service", "*User*", "--sort", "calls"},
	} {
		want := p.run("analyze", args...)
		got, _, code := dubboWire(append([]string{"analyze", saved}, args...)...)
		require.Equal(t, want.code, code, args)
		require.Equal(t, want.out, got, args)
	}
}

// savedReport is a saved report of one capture.
type savedReport struct{ capture, path, first, last string }

// savedReports saves a report of every n-th capture.
func savedReports(t *testing.T, n int, args ...string) (all []*savedReport) {
	t.Helper()
	dir := t.TempDir()
	for _, c := range testkit.Captures() {
		if c.Foreign() || !c.Sampled(n) {
			continue
		}
		file := filepath.Join(dir, c.Name+".json")
		out, stderr, code := dubboWire(append([]string{"analyze", c.Path(), "--format", "json", "--buckets"}, args...)...)
		if code == exit.Nothing {
			continue // nothing matches the filter
		}
		require.Zero(t, code, stderr)
		require.NoError(t, os.WriteFile(file, []byte(out), 0o666))
		var r struct {
			Inputs []struct{ FirstTime, LastTime string }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		all = append(all, &savedReport{c.Path(), file, r.Inputs[0].FirstTime, r.Inputs[0].LastTime})
	}
	return all
}

// overlaps reports whether two captures were taken at the same time; they may be of the same connections then.
func (s *savedReport) overlaps(o *savedReport) bool { return s.first <= o.last && o.first <= s.last }

var frameNumber = regexp.MustCompile(`"frame": \d+`)

// withoutFrames leaves the numbers of frames out: those of a sum are those of its reports.
func withoutFrames(s string) string { return frameNumber.ReplaceAllString(s, `"frame": 0`) }

// The sum of two reports is the report of both captures, byte for byte, where they share no connection.
func TestSavedReportsAddUp(t *testing.T) {
	for _, flags := range [][]string{nil, {"--parts"}, {"--by", "time:1s,client,server,status"}, {"--method", "*User*"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			sample := 25
			if flags != nil {
				sample = 50
			}
			all := savedReports(t, sample, flags...)
			pairs := 0
			for i := 1; i < len(all); i++ {
				a, b := all[i-1], all[i]
				if a.overlaps(b) || testkit.All && flags == nil && i%3 > 0 {
					continue
				}
				pairs++
				args := append([]string{a.capture, b.capture, "--format", "json", "--buckets"}, flags...)
				want, stderr, wantCode := dubboWire(append([]string{"analyze"}, args...)...)
				got, gotErr, code := dubboWire("analyze", a.path, b.path, "--format", "json", "--buckets")
				require.Equal(t, wantCode, code, gotErr)
				require.Equal(t, stderr, gotErr)
				require.Equal(t, withoutFrames(want), withoutFrames(got), "%s and %s", a.capture, b.capture)
				// Captures and reports mix, in any order.
				args[1] = b.path
				got, gotErr, code = dubboWire(append([]string{"analyze"}, args...)...)
				require.Equal(t, wantCode, code, gotErr)
				require.Equal(t, withoutFrames(want), withoutFrames(got), "%s and %s", a.capture, b.path)
			}
			assert.Positive(t, pairs)
		})
	}
}

// All reports of captures that share no time add up in one go, in any order.
func TestManySavedReports(t *testing.T) {
	var apart []*savedReport
	var captures, reports []string
	for _, r := range savedReports(t, 25) {
		if !slices.ContainsFunc(apart, r.overlaps) {
			apart, captures, reports = append(apart, r), append(captures, r.capture), append(reports, r.path)
		}
	}
	require.Greater(t, len(captures), 3)
	want, stderr, code := dubboWire(append([]string{"analyze", "--format", "csv", "--by", "service,method"}, captures...)...)
	require.Zero(t, code, stderr)
	got, stderr, code := dubboWire(append([]string{"analyze", "--format", "csv", "--by", "service,method"}, reports...)...)
	require.Zero(t, code, stderr)
	frames := regexp.MustCompile(`,\d+(,\d+,)$`)
	strip := func(s string) string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = frames.ReplaceAllString(lines[i], ",0$1")
		}
		return strings.Join(lines, "\n")
	}
	require.Equal(t, strip(want), strip(got))
}

// Saved reports have the handshakes of TLS, which add up as the connections do.
func TestSavedHandshakes(t *testing.T) {
	tls, other := testkit.Get(t, "tls-go-1.26.8").Path(), testkit.Get(t, "bid-plain").Path()
	want := must(t, "analyze", tls, other, "--format", "json", "--buckets")
	require.Contains(t, want, `"sni": "orders.shop.example"`)
	var saved []string
	for _, path := range []string{tls, other} {
		out, _, _ := dubboWire("analyze", path, "--format", "json", "--buckets") // of TLS alone it says that there is nothing else
		saved = append(saved, filepath.Join(t.TempDir(), "saved.json"))
		require.NoError(t, os.WriteFile(saved[len(saved)-1], []byte(out), 0o666))
	}
	assert.Equal(t, withoutFrames(want), withoutFrames(must(t, append([]string{"analyze"}, append(saved, "--format", "json", "--buckets")...)...)))
	twice := must(t, "analyze", saved[1], saved[0], "--format", "table")
	assert.Contains(t, twice, "orders.shop.example (offers h2, http/1.1) on 3 connections")
	head, tail, _ := strings.Cut(want, `"sni": "orders.shop.example",`)
	head += `"sni": "a\u001b[31mb",`
	text := head + strings.Replace(tail, `"connections": 3`, `"connections": -3`, 1)
	require.NoError(t, os.WriteFile(saved[0], []byte(text), 0o666))
	_, stderr, code := dubboWire("analyze", saved[0])
	assert.NotZero(t, code)
	assert.NotContains(t, stderr, "\x1b")
	require.NoError(t, os.WriteFile(saved[0], []byte(head+tail), 0o666))
	out, _, _ := dubboWire("analyze", saved[0])
	assert.NotContains(t, out, "\x1b")
}
