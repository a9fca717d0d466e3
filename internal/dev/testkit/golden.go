package testkit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Update is the flag that rewrites golden files. Every package with tests imports this one, so that go test ./... -update
// is known to all of them.
var Update = flag.Bool("update", false, "rewrite golden files")

// Golden compares a text with a golden file, or writes the file with -update.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *Update {
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
