package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// properties are what holds for what is printed of every committed capture: the goldens, and that all formats, filters,
// sections and halves of one capture agree. The number is the sample that is checked without the build tag alltests: every
// n-th capture and, below 50, the first of each serialization.
var properties = []struct {
	name    string
	every   int
	check   func(t *testing.T, p *printed)
	foreign bool // it also holds for captures of other protocols
}{
	{"golden json", 1, goldenJSON, true},
	{"golden frames", 1, goldenFrames, true},
	{"golden table", 1, goldenTable, true},
	{"formats agree", 10, formatsAgree, false},
	{"head agrees", 4, headAgrees, false},
	{"parts add up", 10, partsAddUp, false},
	{"frames add up", 50, framesAreNumberedAndAddUp, false},
	{"filters leave coverage", 50, filtersLeaveCoverageAndNumbers, false},
	{"halves are the whole", 10, twoHalvesAreTheWhole, false},
	{"saved report is read", 6, savedReportIsRead, false},
	{"saved report is filtered", 50, savedReportIsFiltered, false},
	{"sections add up", 10, sectionsAddUp, false},
	{"redacted reports", 50, redactedReports, true},
	{"parquet agrees", 10, parquetAgrees, true},
	{"records agree", 30, recordsAgree, false},
}

func TestCaptures(t *testing.T) {
	testkit.Each(t, 1, func(t *testing.T, c *testkit.Capture) {
		p := &printed{Capture: c, runs: make(map[string]result)}
		for _, property := range properties {
			if c.Left(property.every) && (!c.Foreign() || property.foreign) {
				t.Run(property.name, func(t *testing.T) { property.check(t, p) })
			}
		}
	})
}

// printed is what the program prints of one capture. Each command runs once.
type printed struct {
	*testkit.Capture
	runs map[string]result
}

type result struct {
	out, stderr string
	code        int
}

// run runs a command on the capture: its name, the capture, the other arguments.
func (p *printed) run(command string, args ...string) result {
	key := command + "\x00" + strings.Join(args, "\x00")
	r, ran := p.runs[key]
	if !ran {
		r.out, r.stderr, r.code = dubboWire(append([]string{command, p.Path()}, args...)...)
		p.runs[key] = r
	}
	return r
}

// must runs a command on the capture, which must succeed without a word on standard error.
func (p *printed) must(t *testing.T, command string, args ...string) string {
	t.Helper()
	r := p.run(command, args...)
	require.Zero(t, r.code, "%s %s: %s", command, args, r.stderr)
	require.Empty(t, r.stderr, "%s %s", command, args)
	return r.out
}

// dubboWire runs the program in process. Captures are named in its output without their folder.
func dubboWire(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &err)
	folder := testkit.Dir() + string(filepath.Separator)
	return strings.ReplaceAll(out.String(), folder, ""), strings.ReplaceAll(err.String(), folder, ""), code
}

// must runs the program, which must succeed without a word on standard error.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, stderr, code := dubboWire(args...)
	require.Zero(t, code, "%s: %s", args, stderr)
	require.Empty(t, stderr, args)
	return out
}

// capturePath returns where a file of the folder of captures is.
func capturePath(file string) string { return filepath.Join(testkit.Dir(), file) }

func parseReport(b []byte) (*jsonReport, error) {
	r := new(jsonReport)
	return r, json.Unmarshal(b, r)
}
