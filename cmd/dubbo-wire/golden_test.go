package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
)

// Golden files are transcripts: each command, after "$ ", is followed by what it prints. Those in json and frames are of
// every capture; those in table, which every other wording changes, of some, and a hash of each for the others. "make golden" rewrites them.
//
// Of the frames and calls of a capture each kind is shown once, up to a size; what is left out is named by its number of
// lines and a hash, so that any change in it is a difference at its place.

func golden(t *testing.T, kind, name, got string) {
	t.Helper()
	testkit.Golden(t, filepath.Join(testkit.Root(), "testdata", "golden", kind, name+".golden"), got)
}

// tables are the captures whose tables have a golden file.
var tables = []string{
	"any-doubles-cooked1", "avro", "bid-pcapng", "bid-plain", "both-ends", "edge-fst-optimizer", "edge-hessian2-2.5.3", "edge-kryo", "edge-triple-3.3.6",
	"exhausted-3.3.6", "fleet", "loss", "midway", "mislabelled-3.3.6", "mixed", "offload", "protobuf-2.7.23", "requests-only", "rest-3.3.6", "snap200",
	"tunnel-vxlan", "two-ports", "zoo-java",
}

func goldenTable(t *testing.T, p *printed) {
	if slices.Contains(tables, p.Name) {
		golden(t, "table", p.Name, transcript(t, p, "analyze"))
	}
}

// TestTables compares the tables of all captures by their hashes, which are in one file.
func TestTables(t *testing.T) {
	testkit.Needs(t, "time for every capture")
	if testing.Short() {
		t.Skip("few captures are read with -short")
	}
	hashes := make([]string, len(testkit.Captures()))
	t.Run("captures", func(t *testing.T) {
		for i, c := range testkit.Captures() {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				p := newPrinted(c)
				hashes[i] = fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(transcript(t, p, "analyze"))), c.Name)
			})
		}
	})
	testkit.Golden(t, filepath.Join(testkit.Root(), "testdata", "golden", "table", allTables), strings.Join(hashes, ""))
}

// allTables is the file with the hash of the table of each capture.
const allTables = "all.sha256"

func goldenJSON(t *testing.T, p *printed) {
	// A report by method of a capture with hundreds of methods is large; those are in the CSV.
	args := []string{"--format", "json"}
	if len(p.run("analyze", args...).out) > 40_000 {
		args = append(args, "--by", "protocol,serialization,service")
	}
	golden(t, "json", p.Name+".analyze", transcript(t, p, "analyze", "--format", "csv")+transcript(t, p, "analyze", args...))
	if p.Foreign() {
		return
	}
	args = []string{"--format", "jsonl"}
	golden(t, "json", p.Name+".calls", p.command("calls", args...)+foldCalls(t, p.must(t, "calls", args...)))
	var b strings.Builder
	for _, n := range framesOfEachKind(p.list(t)) {
		args := []string{"--frame", strconv.Itoa(n), "--format", "json"}
		f := folding{what: "lines", budget: 4_000, line: 2_000}
		for line := range strings.Lines(p.must(t, "explain", args...)) {
			f.add(line, line)
		}
		b.WriteString(p.command("explain", args...) + f.text())
	}
	golden(t, "json", p.Name+".explain", b.String())
}

func goldenFrames(t *testing.T, p *printed) {
	if p.Foreign() {
		return
	}
	golden(t, "frames", p.Name, p.command("frames", frameArgs...)+foldFrames(p.list(t)))
}

// frameArgs are the arguments with which frames are listed.
var frameArgs = []string{"--format", "jsonl", "--depth", "2"}

// listedFrame is what golden files need of a frame, and the line that is printed of it.
type listedFrame struct {
	Frame, BodyBytes, Connection, Status int
	Dst, Src, Kind, ID                   string
	Service, Method, Serialization       string
	ParameterTypes                       []string
	ResultKind, Decoded                  string
	TwoWay, Complete                     bool

	line string
}

// list returns the frames of the capture.
func (p *printed) list(t *testing.T) []listedFrame {
	t.Helper()
	if p.listedFrames == nil {
		for line := range strings.Lines(p.must(t, "frames", frameArgs...)) {
			f := listedFrame{line: line}
			require.NoError(t, json.Unmarshal([]byte(line), &f))
			p.listedFrames = append(p.listedFrames, f)
		}
	}
	return p.listedFrames
}

// command is the line of a transcript that names a command.
func (p *printed) command(command string, args ...string) string {
	return "$ dubbo-wire " + strings.Join(append([]string{command, p.File}, args...), " ") + "\n"
}

// transcript is a command and what it prints. A capture of another protocol has nothing to report.
func transcript(t *testing.T, p *printed, command string, args ...string) string {
	t.Helper()
	r := p.run(command, args...)
	text := p.command(command, args...) + r.out
	if p.Foreign() {
		require.Equal(t, exit.Nothing, r.code)
		return text + r.stderr + "exit status 1\n"
	}
	require.Zero(t, r.code)
	require.Empty(t, r.stderr)
	return text
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

// framesOfEachKind returns the numbers of at most six frames: for each kind of message, the largest frame with a body that a
// reader can still check by hand, or the first one.
func framesOfEachKind(list []listedFrame) []int {
	const small = 400
	type choice struct{ frame, bytes int }
	chosen := make(map[string]choice)
	var kinds []string
	for i := range list {
		f := &list[i]
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

// foldFrames leaves out frames that are like earlier ones, and the ends of long ones.
func foldFrames(list []listedFrame) string {
	folded := folding{what: "frames", budget: 40_000, line: 3_000}
	methods := make(map[string]string)
	for i := range list {
		f := &list[i]
		method := fmt.Sprint(f.Service, "/", f.Method, f.ParameterTypes)
		call := fmt.Sprint(f.Connection, f.Src, f.ID)
		switch f.Kind {
		case "request":
			methods[call] = method
		case "response":
			method = methods[fmt.Sprint(f.Connection, f.Dst, f.ID)]
		}
		folded.add(fmt.Sprint(f.Kind, f.Serialization, f.Status, f.ResultKind, f.Complete, f.Decoded, method), f.line)
	}
	return folded.text()
}

// TestNoStrayGoldens: every golden file belongs to a capture.
func TestNoStrayGoldens(t *testing.T) {
	known := map[string]bool{filepath.Join("table", "bid-plain.page.golden"): true, filepath.Join("table", allTables): true}
	for _, c := range testkit.Captures() {
		known[filepath.Join("frames", c.Name+".golden")] = true
		known[filepath.Join("check", c.Name+".json")] = true
		for _, what := range []string{"analyze", "calls", "explain"} {
			known[filepath.Join("json", c.Name+"."+what+".golden")] = true
		}
		if slices.Contains(tables, c.Name) {
			known[filepath.Join("table", c.Name+".golden")] = true
		}
	}
	kinds, err := os.ReadDir(filepath.Join(testkit.Root(), "testdata", "golden"))
	require.NoError(t, err)
	for _, dir := range kinds {
		kind := dir.Name()
		if kind == "estimated" { // what the captures of a release give together
			continue
		}
		require.Contains(t, []string{"check", "frames", "json", "table"}, kind)
		files, err := os.ReadDir(filepath.Join(testkit.Root(), "testdata", "golden", kind))
		require.NoError(t, err)
		for _, f := range files {
			require.True(t, known[filepath.Join(kind, f.Name())], "no capture for testdata/golden/%s/%s", kind, f.Name())
		}
	}
}
