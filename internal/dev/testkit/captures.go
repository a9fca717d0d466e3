// Package testkit is what the tests of all packages share: the committed captures with their provenance, decompressed at
// most once per process, the golden files with their -update flag, and the build tag alltests. Without the tag, tests that
// run over captures take a representative sample where one capture takes long, and nothing but Go is needed. Bytes of
// captures are shared between tests and must not be changed.
package testkit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Capture is a committed capture and what the rig wrote down about it.
type Capture struct {
	Name, File, Truth     string
	Dubbo, LinkType, Note string
	Serializations        []string
	Protocols             []string // nil where there is only Dubbo's own
	Complete              bool
	Packets               int64
	FramesSent            map[string]int64

	index int
	first bool // the first one with its serializations and protocols

	// Decompress returns the capture's bytes. They are shared and stay in memory: it is for the few captures that a test
	// changes or cuts.
	Decompress func() ([]byte, error)
}

// Root returns the folder of the module as a path from the folder of the test, so that no golden file has the machine's.
var Root = sync.OnceValue(func() string {
	dir := "."
	for range 20 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Join(dir, "..")
	}
	panic("no go.mod above the folder of the test")
})

// Dir returns the folder of the captures; CAPTURES names another one that the rig has made.
func Dir() string {
	if dir := os.Getenv("CAPTURES"); dir != "" {
		return dir
	}
	return filepath.Join(Root(), "testdata", "captures")
}

// Captures returns all committed captures that have a provenance, in the order of their names. Captures are many and small: from now on the garbage
// collector comes when the heap is five times as large as what is in use, and allocations are not sampled, which nobody looks at without -memprofile.
var Captures = sync.OnceValue(func() []*Capture {
	debug.SetGCPercent(400)
	if f := flag.Lookup("test.memprofile"); f != nil && f.Value.String() == "" {
		runtime.MemProfileRate = 0
	}
	data, err := os.ReadFile(filepath.Join(Dir(), "provenance.json"))
	if err != nil {
		panic(err)
	}
	var all []*Capture
	if err := json.Unmarshal(data, &all); err != nil {
		panic(err)
	}
	slices.SortFunc(all, func(a, b *Capture) int { return strings.Compare(a.Name, b.Name) })
	seen := make(map[string]bool)
	for i, c := range all {
		key := fmt.Sprint(c.Serializations, c.Protocols)
		c.index, c.first, seen[key] = i, !seen[key], true
		c.Decompress = sync.OnceValues(func() ([]byte, error) { return decompress(c.Path()) })
	}
	return all
})

// Get returns the capture with a name.
func Get(t testing.TB, name string) *Capture {
	t.Helper()
	for _, c := range Captures() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no capture %q", name)
	return nil
}

// Path returns where the capture is.
func (c *Capture) Path() string { return filepath.Join(Dir(), c.File) }

// Foreign reports whether the capture has no messages.
func (c *Capture) Foreign() bool {
	return len(c.Protocols) > 0 && !slices.ContainsFunc(c.Protocols, func(name string) bool {
		return name != "rmi" && name != "tls"
	})
}

// Plain writes the capture to a file of the test, decompressed, and returns where it is: for tests that read a capture very often.
func (c *Capture) Plain(t testing.TB) string {
	t.Helper()
	data, err := decompress(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(c.File, ".zst"), ".gz")
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bytes is Decompress in a test.
func (c *Capture) Bytes(t testing.TB) []byte {
	t.Helper()
	data, err := c.Decompress()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clip(data)
}

// TruthLog returns what Java logged of the capture, a JSON object a line.
func (c *Capture) TruthLog(t testing.TB) string {
	t.Helper()
	data, err := decompress(filepath.Join(Dir(), c.Truth))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Sampled reports whether the capture is in the sample of every n-th capture. The first one of each set of serializations
// is in every sample of n below 50. With the build tag alltests all captures are; with -short, which is for the race detector, few are:
// those of all protocols, and none with bodies of a million numbers, which show no race that others do not.
func (c *Capture) Sampled(n int) bool {
	const first = 8
	switch {
	case testing.Short():
		return c.index%max(n, 20) == first
	case All:
		return true
	}
	return c.usual(n)
}

// usual is Sampled without the build tag.
func (c *Capture) usual(n int) bool { return c.index%n == 0 || n < 50 && c.first }

// afterTest says that "go test ./..." has passed on the same tree just before, as in .ci/run, which sets AFTER_TEST: tests that are built
// with the tag alltests leave out what they have done there with the same input.
var afterTest = All && os.Getenv("AFTER_TEST") != ""

// Passed reports whether "go test ./..." has passed before, so that what is the same without the build tag alltests need not be tested.
func Passed() bool { return afterTest && !testing.Short() }

// Left reports whether a check of the sample of every n-th capture has this one still before it: Sampled, but without the captures
// that "go test ./..." has checked if it has run before. What is checked must not depend on All.
func (c *Capture) Left(n int) bool {
	return c.Sampled(n) && (!Passed() || !c.usual(n))
}

// Once skips a test that is the same with and without the build tag alltests if "go test ./..." has run it before.
func Once(t testing.TB) {
	t.Helper()
	if Passed() {
		t.Skip("passed in go test ./...")
	}
}

// known returns an error for a name that no capture has. Another folder of captures need not have them all.
func known(names []string) error {
	if os.Getenv("CAPTURES") != "" {
		return nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(Captures(), func(c *Capture) bool { return c.Name == name }) {
			return fmt.Errorf("no capture %q", name)
		}
	}
	return nil
}

// Each runs a parallel subtest for each capture in the sample of every n-th one, and for those with the names.
func Each(t *testing.T, n int, f func(t *testing.T, c *Capture), names ...string) {
	t.Helper()
	if err := known(names); err != nil {
		t.Fatal(err)
	}
	for _, c := range Captures() {
		if c.Sampled(n) || !testing.Short() && slices.Contains(names, c.Name) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				f(t, c)
			})
		}
	}
}

// EachLeft is Each without the captures that "go test ./..." has checked if it has run before. What is checked must not depend on All.
func EachLeft(t *testing.T, n int, f func(t *testing.T, c *Capture), names ...string) {
	t.Helper()
	Each(t, n, func(t *testing.T, c *Capture) {
		if c.usual(n) || slices.Contains(names, c.Name) {
			Once(t)
		}
		f(t, c)
	}, names...)
}

// Paths returns where the captures in the sample of every n-th one are, and those with the names. It
// panics if there is no such capture.
func Paths(n int, names ...string) []string {
	if err := known(names); err != nil {
		panic(err)
	}
	var paths []string
	for _, c := range Captures() {
		if c.Sampled(n) || slices.Contains(names, c.Name) {
			paths = append(paths, c.Path())
		}
	}
	return paths
}

// Needs skips a test that needs more than Go, or takes long, unless tests are built with the tag alltests.
func Needs(t testing.TB, what string) {
	t.Helper()
	if !All {
		t.Skip("needs " + what + ": make test-all")
	}
}

// Some returns the first n elements of a list; with -short a third of them, with the build tag alltests all elements.
func Some[T any](list []T, n int) []T {
	switch {
	case testing.Short():
		n = (n + 2) / 3
	case All:
		return list
	}
	return list[:min(n, len(list))]
}

func decompress(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(path) {
	case ".zst":
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return io.ReadAll(z)
	case ".gz":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	}
	return data, nil
}
