package main

import (
	"bytes"
	"encoding/json"
	"os"
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
		p := newPrinted(c)
		for _, property := range properties {
			if c.Left(property.every) && (!c.Foreign() || property.foreign) {
				if property.every > 1 {
					p.decompress(t)
				}
				t.Run(property.name, func(t *testing.T) { property.check(t, p) })
			}
		}
	})
}

// printed is what the program prints of one capture. Each command runs once.
type printed struct {
	*testkit.Capture
	path string // of the capture
	runs map[string]result

	parsed       []frameRecord
	listedFrames []listedFrame
}

func newPrinted(c *testkit.Capture) *printed {
	return &printed{Capture: c, path: c.Path(), runs: make(map[string]result)}
}

// decompress puts a file of the same name that is not compressed in the place of the capture, for the many commands that read it.
func (p *printed) decompress(t *testing.T) {
	if p.path == p.Path() {
		p.path = filepath.Join(t.TempDir(), p.File)
		require.NoError(t, os.Rename(p.Plain(t), p.path))
	}
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
		r.out, r.stderr, r.code = dubboWire(append([]string{command, p.path}, args...)...)
		folder := filepath.Dir(p.path) + string(filepath.Separator)
		r.out, r.stderr = strings.ReplaceAll(r.out, folder, ""), strings.ReplaceAll(r.stderr, folder, "")
		p.runs[key] = r
	}
	return r
}

// together runs a command on the capture that writes a file of each extension, and returns what is in them.
func (p *printed) together(t *testing.T, extensions []string, command string, args ...string) (texts []string) {
	t.Helper()
	folder := t.TempDir()
	for _, extension := range extensions {
		args = append(args, "-o", filepath.Join(folder, "printed."+extension))
	}
	must(t, append([]string{command, p.path}, args...)...)
	for _, extension := range extensions {
		text, err := os.ReadFile(filepath.Join(folder, "printed."+extension))
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	return texts
}

// frames returns the frames of the capture with all parts.
func (p *printed) frames(t *testing.T) []frameRecord {
	t.Helper()
	if p.parsed == nil {
		for line := range strings.Lines(p.must(t, "frames", "--format", "jsonl")) {
			var f frameRecord
			require.NoError(t, json.Unmarshal([]byte(line), &f), line)
			p.parsed = append(p.parsed, f)
		}
	}
	return p.parsed
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
