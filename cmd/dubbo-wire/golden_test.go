package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Golden files are transcripts: each command, behind "$ ", is followed by what it prints. They are made and compared in
// the folder of the captures; "go test ./cmd/... -update" rewrites them.
//
// Of the frames of a capture each kind of message is shown once, up to a size; what is left out is named by its number
// of lines and a hash, so that any change in it is a difference at its place.

// dubboWire runs the program in process. The current folder must be that of the captures.
func dubboWire(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &err)
	return out.String(), err.String(), code
}

// inCaptures makes the folder of captures the current one, without colours and widths from outside.
func inCaptures(t *testing.T) []provenance {
	dir := capturesDir(t)
	all, err := provenances(dir)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	t.Chdir(dir)
	t.Setenv("COLUMNS", "")
	return all
}

func TestGoldenAnalyze(t *testing.T) {
	for i, p := range inCaptures(t) {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			var b strings.Builder
			transcribe(t, &b, &p, "analyze", p.File)
			transcribe(t, &b, &p, "analyze", p.File, "--format", "csv")
			// A report by method of a capture with hundreds of methods is large; those are in the CSV.
			report, _, _ := dubboWire("analyze", p.File, "--format", "json")
			args := []string{"analyze", p.File, "--format", "json"}
			if len(report) > 40_000 {
				args = append(args, "--by", "protocol,serialization,service")
			}
			transcribe(t, &b, &p, args...)
			compareGolden(t, p.Name+".analyze.golden", b.String())
		})
	}
}

func TestGoldenFrames(t *testing.T) {
	for i, p := range inCaptures(t) {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			if p.foreign() {
				return
			}
			args := []string{"frames", p.File, "--format", "jsonl", "--depth", "2"}
			out, stderr, code := dubboWire(args...)
			require.Zero(t, code)
			require.Empty(t, stderr)
			compareGolden(t, p.Name+".frames.golden", command(args)+foldFrames(t, out))
		})
	}
}

func TestGoldenCalls(t *testing.T) {
	for i, p := range inCaptures(t) {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			if p.foreign() {
				return
			}
			args := []string{"calls", p.File, "--format", "jsonl"}
			out, stderr, code := dubboWire(args...)
			require.Zero(t, code)
			require.Empty(t, stderr)
			compareGolden(t, p.Name+".calls.golden", command(args)+foldCalls(t, out))
		})
	}
}

// foldCalls leaves out calls that are like earlier ones, and the ends of long ones.
func foldCalls(t *testing.T, jsonl string) string {
	f := folding{what: "calls", budget: 14_000, line: 2_000}
	for line := range strings.Lines(jsonl) {
		var c struct {
			Protocol, Serialization, Service, Method, State, ResultKind string
			RequestFrame, ResponseFrame, Status                         *int
			ParameterTypes                                              []string
			OneWay                                                      bool
			Error                                                       any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		status := -1
		if c.Status != nil {
			status = *c.Status
		}
		f.add(fmt.Sprint(c.Protocol, c.Serialization, status, c.State, c.ResultKind, c.OneWay, c.RequestFrame == nil, c.ResponseFrame == nil, c.Error != nil,
			c.Service, "/", c.Method, c.ParameterTypes), line)
	}
	return f.text()
}

func TestGoldenExplain(t *testing.T) {
	for i, p := range inCaptures(t) {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			if p.foreign() {
				return
			}
			frames, _, code := dubboWire("frames", p.File, "--format", "jsonl")
			require.Zero(t, code)
			var b strings.Builder
			for _, n := range framesOfEachKind(t, frames) {
				args := []string{"explain", p.File, "--frame", fmt.Sprint(n), "--format", "json"}
				out, stderr, code := dubboWire(args...)
				require.Zero(t, code)
				require.Empty(t, stderr)
				f := folding{what: "lines", budget: 4_000, line: 2_000}
				for line := range strings.Lines(out) {
					f.add(line, line)
				}
				b.WriteString(command(args) + f.text())
			}
			compareGolden(t, p.Name+".explain.golden", b.String())
		})
	}
}

// framesOfEachKind returns the numbers of at most six frames: for each kind of message, the largest frame with a body that a
// reader can still check by hand, or the first one.
func framesOfEachKind(t *testing.T, jsonl string) []int {
	const small = 400
	type choice struct{ frame, bytes int }
	chosen := make(map[string]choice)
	var kinds []string
	for line := range strings.Lines(jsonl) {
		var f struct {
			Frame, BodyBytes, Status  int
			Kind, ResultKind, Decoded string
			TwoWay, Complete          bool
		}
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		kind := fmt.Sprint(f.Kind, f.TwoWay, f.Status, f.ResultKind, f.Complete, f.Decoded)
		c, found := chosen[kind]
		if !found {
			if len(kinds) == 6 {
				continue
			}
			kinds = append(kinds, kind)
		}
		if !found || f.BodyBytes <= small && (c.bytes > small || f.BodyBytes > c.bytes) {
			chosen[kind] = choice{f.Frame, f.BodyBytes}
		}
	}
	var frames []int
	for _, kind := range kinds {
		frames = append(frames, chosen[kind].frame)
	}
	return frames
}

// folding collects lines. A line like an earlier one, a line beyond the budget and the end of a long line are left out, and
// what is left out is named by its size and its hash.
type folding struct {
	what         string // the plural that names what the lines hold
	budget, line int    // bytes shown of everything and of one line
	b            strings.Builder
	seen         map[string]bool
	folded       int
	sum          hash.Hash
}

// add appends a line; lines with the same kind are alike.
func (f *folding) add(kind, line string) {
	if f.seen == nil {
		f.seen, f.sum = make(map[string]bool), sha256.New()
	}
	if f.seen[kind] || f.b.Len() > f.budget {
		f.folded++
		_, _ = io.WriteString(f.sum, line)
		return
	}
	f.unfold()
	f.seen[kind] = true
	if len(line) > f.line {
		line = fmt.Sprintf("%s... %d more bytes, sha256 %x\n", strings.ToValidUTF8(line[:f.line], ""), len(line)-f.line, sha256.Sum256([]byte(line)))
	}
	f.b.WriteString(line)
}

func (f *folding) unfold() {
	if f.folded > 0 {
		fmt.Fprintf(&f.b, "... %d more %s, sha256 %x\n", f.folded, f.what, f.sum.Sum(nil)[:12])
		f.folded = 0
		f.sum.Reset()
	}
}

func (f *folding) text() string {
	f.unfold()
	return f.b.String()
}

func command(args []string) string { return "$ dubbo-wire " + strings.Join(args, " ") + "\n" }

// transcribe adds a command and what it prints. A capture of another protocol has nothing to report.
func transcribe(t *testing.T, b *strings.Builder, p *provenance, args ...string) {
	out, stderr, code := dubboWire(args...)
	b.WriteString(command(args) + out)
	if p.foreign() {
		require.Equal(t, 1, code)
		b.WriteString(stderr + "exit status 1\n")
		return
	}
	require.Zero(t, code)
	require.Empty(t, stderr)
}

// foldFrames leaves out frames that are like earlier ones, and the ends of long ones.
func foldFrames(t *testing.T, jsonl string) string {
	folded := folding{what: "frames", budget: 40_000, line: 3_000}
	methods := make(map[string]string)
	for line := range strings.Lines(jsonl) {
		var f struct {
			Connection            int
			Dst, Src, Kind, ID    string
			Service, Method       string
			Serialization         string
			Status                int
			ResultKind            string
			ParameterTypes        []string
			Complete              bool
			Decoded, ExceptionCls string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		method := fmt.Sprint(f.Service, "/", f.Method, f.ParameterTypes)
		call := fmt.Sprint(f.Connection, f.Src, f.ID)
		switch f.Kind {
		case "request":
			methods[call] = method
		case "response":
			method = methods[fmt.Sprint(f.Connection, f.Dst, f.ID)]
		}
		folded.add(fmt.Sprint(f.Kind, f.Serialization, f.Status, f.ResultKind, f.Complete, f.Decoded, method), line)
	}
	return folded.text()
}

func compareGolden(t *testing.T, name, got string) {
	compareFile(t, filepath.Join("..", "golden", name), got)
}

func compareFile(t *testing.T, file, got string) {
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "make it with: go test ./cmd/... -update")
	if got != string(want) {
		t.Errorf("%s differs at %s\nrewrite it with: go test ./cmd/... -update", filepath.Base(file), firstDifference(string(want), got))
	}
}

// firstDifference shows the first lines that differ: whole files would hide it.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			at := 0
			for at < min(len(a[i]), len(b[i])) && a[i][at] == b[i][at] {
				at++
			}
			from := max(at-80, 0)
			return fmt.Sprintf("line %d, column %d:\n  have %.200q\n  want %.200q", i+1, at+1, b[i][from:], a[i][from:])
		}
	}
	return fmt.Sprintf("line %d: one has %d lines, the other %d", min(len(a), len(b))+1, len(b), len(a))
}

// TestNoStrayGoldens: every golden file belongs to a capture.
func TestNoStrayGoldens(t *testing.T) {
	known := make(map[string]bool)
	for _, p := range inCaptures(t) {
		for _, what := range []string{"analyze", "frames", "calls", "explain", "page"} {
			known[p.Name+"."+what+".golden"] = true
		}
	}
	files, err := os.ReadDir(filepath.Join("..", "golden"))
	require.NoError(t, err)
	for _, f := range files {
		require.True(t, known[f.Name()] || f.IsDir(), "no capture for testdata/golden/%s", f.Name())
	}
}
