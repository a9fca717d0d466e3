package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/interrupt"
)

// entries are the names in a folder.
func entries(t *testing.T, dir string) []string {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// writers are command lines that write more than a few kilobytes, behind which the file's name belongs.
var writers = [][]string{
	{"frames", "--format", "jsonl", "-o"},
	{"frames", "--format", "json", "-o"},
	{"frames", "--format", "csv", "-o"},
	{"calls", "--format", "jsonl", "-o"},
	{"calls", "--format", "table", "-o"},
	{"analyze", "--by", "connection,method,client", "--format", "json", "-o"},
}

// notWritten checks what a run leaves behind that could not write its file: nothing, where there was nothing; what was
// there, where there was something; and one line.
func notWritten(t *testing.T, dir, name string, before []string, stderr string, code int) {
	assert.Equal(t, exit.Usage, code, stderr)
	assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	assert.Regexp(t, `^dubbo-wire: -o \S*`+name+`: cannot be written: `, stderr)
	assert.Equal(t, before, entries(t, dir))
}

// A file that the limit of the shell cuts is not written at all.
func TestFileLimit(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	data := testkit.Get(t, "mixed").Bytes(t)
	trace := filepath.Join(t.TempDir(), "trace.pcap")
	require.NoError(t, os.WriteFile(trace, data, 0o666))
	for _, w := range writers {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "old.json"), []byte("old"), 0o666))
		for _, name := range []string{"new.json", "old.json"} {
			args := append(append([]string{"-c", `ulimit -f 4; exec dubbo-wire "$@"`, "bash"}, w...), name, trace)
			c := exec.Command("bash", args...)
			c.Dir = dir
			var stderr strings.Builder
			c.Stderr = &stderr
			_ = c.Run()
			notWritten(t, dir, name, []string{"old.json"}, stderr.String(), c.ProcessState.ExitCode())
			old, err := os.ReadFile(filepath.Join(dir, "old.json"))
			require.NoError(t, err)
			assert.Equal(t, "old", string(old))
		}
	}
}

// Nor is one on a disk that is full.
func TestFullDisk(t *testing.T) {
	testkit.Needs(t, "root, to mount a small disk")
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skip("a small disk needs root: ", err)
	}
	defer func() { require.NoError(t, syscall.Unmount(dir, 0)) }()
	trace := filepath.Join(t.TempDir(), "trace.pcap")
	data := testkit.Get(t, "mixed").Bytes(t)
	require.NoError(t, os.WriteFile(trace, data, 0o666))
	for _, w := range writers {
		var out, stderr strings.Builder
		code := run(append(append([]string{}, w...), filepath.Join(dir, "out.json"), trace), strings.NewReader(""), &out, &stderr)
		notWritten(t, dir, "out.json", []string{}, stderr.String(), code)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	var stderr strings.Builder
	assert.Equal(t, exit.Usage, run([]string{"calls", trace}, strings.NewReader(""), full, &stderr))
	assert.Regexp(t, "^dubbo-wire: .*no space left on device\n$", stderr.String())
}

// While a program writes it leaves nothing under the name; what a signal makes of it is the whole file of what was read,
// or nothing.
func TestSignalsWhileWriting(t *testing.T) {
	t.Parallel()
	data := testkit.Get(t, "hessian2").Bytes(t)
	begin := func(t *testing.T) (*running, string) {
		dir := t.TempDir()
		r := start(t, "frames", "-", "--format", "json", "-o", filepath.Join(dir, "out.json"), "-o", filepath.Join(dir, "more.csv"))
		stdin, err := r.StdinPipe()
		require.NoError(t, err)
		t.Cleanup(func() { _ = stdin.Close() })
		require.NoError(t, r.Start())
		_, err = stdin.Write(data)
		require.NoError(t, err)
		r.idle(t)
		for _, name := range entries(t, dir) {
			assert.Regexp(t, `^\.(out\.json|more\.csv)\.`, name)
		}
		assert.Len(t, entries(t, dir), 2)
		return r, dir
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if s == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
				t.Skip("these tests run under nohup, and so does the program")
			}
			r, dir := begin(t)
			r.signal(t, s)
			r.ends(t)
			assert.Equal(t, exit.Partly, r.ProcessState.ExitCode())
			assert.Equal(t, []string{"more.csv", "out.json"}, entries(t, dir))
			var rows []map[string]any
			whole, err := os.ReadFile(filepath.Join(dir, "out.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(whole, &rows))
			assert.Greater(t, len(rows), 10)
		})
	}
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		r, dir := begin(t)
		r.signal(t, os.Kill)
		r.ends(t)
		assert.NotContains(t, entries(t, dir), "out.json")
		assert.NotContains(t, entries(t, dir), "more.csv")
	})
}

// The second Ctrl-C ends the program at once, where it cannot print, and leaves no file of any name.
func TestSecondSignalLeavesNothing(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.pcap")
	require.NoError(t, os.WriteFile(trace, testkit.Get(t, "hessian2").Bytes(t), 0o666))
	for name, second := range map[string]os.Signal{"interrupt": os.Interrupt, "term": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := start(t, "frames", "-", "--format", "jsonl", "-o", "-", "-o", filepath.Join(dir, "out.jsonl"), "-o", filepath.Join(dir, "out.csv"))
			// A file, which the program reads itself: a goroutine that feeds a pipe may come late, and the program be idle before.
			input, err := os.Open(trace)
			require.NoError(t, err)
			defer input.Close()
			r.Stdin = input
			r.Stdout = nil
			stdout, err := r.StdoutPipe() // which nobody reads
			require.NoError(t, err)
			defer stdout.Close()
			require.NoError(t, r.Start())
			r.signal(t, os.Interrupt)
			require.Len(t, entries(t, dir), 2)
			if second != os.Interrupt {
				r.idle(t)                   // the first one has arrived
				r.idle(t)                   // it has the first one
				time.Sleep(interrupt.Burst) // signals that come together are one
			}
			r.signal(t, second)
			r.ends(t)
			assert.Empty(t, entries(t, dir))
			if second == os.Interrupt {
				assert.True(t, r.ProcessState.Sys().(syscall.WaitStatus).Signaled(), "ended as Ctrl-C ends programs")
			} else {
				assert.Equal(t, exit.Partly, r.ProcessState.ExitCode())
			}
		})
	}
}
