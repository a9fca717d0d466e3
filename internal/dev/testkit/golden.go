package testkit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Update is the flag that rewrites golden files. Every package with tests imports this one, so that go test ./... -update
// is known to all of them.
var Update = flag.Bool("update", false, "rewrite golden files")

// Golden compares a text with a golden file, or writes the file with -update. It refuses to write below the committed
// captures, and what was made from other captures.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *Update {
		if within(file, filepath.Join(Root(), "testdata", "captures")) {
			t.Fatalf("%s is not a golden file: captures and what was recorded with them stay", file)
		}
		if os.Getenv("CAPTURES") != "" {
			t.Fatal("golden files are made from the committed captures: unset CAPTURES")
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\nmake it with: go test . -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs at %s\nrewrite it with: go test . -update", filepath.Base(file), firstDifference(string(want), got))
	}
}

// IsGolden reports whether a text is the one of a golden file; with -update always.
func IsGolden(t testing.TB, file, got string) bool {
	t.Helper()
	if *Update {
		return true
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\nmake it with: go test . -update", err)
	}
	return got == string(want)
}

// within reports whether a file is in a folder or below it.
func within(file, folder string) bool {
	file, err := filepath.Abs(file)
	if err != nil {
		return true
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(folder, file)
	return err != nil || !slices.Contains(strings.Split(rel, string(filepath.Separator)), "..")
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// WithoutColor returns a text without the escape sequences of colours and other attributes. All other escapes stay.
func WithoutColor(s string) string { return sgr.ReplaceAllString(s, "") }

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
	return fmt.Sprintf("line %d: want %d lines, have %d", min(len(a), len(b))+1, len(a), len(b))
}
