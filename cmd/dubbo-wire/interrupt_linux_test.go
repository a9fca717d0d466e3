package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
)

// running is the program in a process of its own.
type running struct {
	*exec.Cmd
	out, stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *running {
	r := &running{Cmd: exec.Command("dubbo-wire", args...)}
	r.Stdout, r.Stderr = &r.out, &r.stderr
	t.Cleanup(func() {
		if r.Process != nil && r.ProcessState == nil {
			_ = r.Process.Kill()
			_ = r.Wait()
		}
	})
	return r
}

// idle waits until the program has read what there is and waits itself: for input, or for its output to be read. Then no
// thread of it runs or is about to, however busy the machine is.
func (r *running) idle(t *testing.T) {
	t.Helper()
	for looks, start := 0, time.Now(); looks < 5; time.Sleep(20 * time.Millisecond) {
		require.Less(t, time.Since(start), 2*time.Minute, "the program goes on")
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", r.Process.Pid))
		require.NoError(t, err)
		looks++
		for _, file := range threads {
			stat, err := os.ReadFile(file)
			if err != nil {
				continue // a thread that has ended
			}
			state := stat[bytes.LastIndexByte(stat, ')')+2]
			if state != 'S' && state != 'Z' {
				looks = 0
			}
		}
	}
}

// signal sends a signal when the program is idle, and ends waits for the end.
func (r *running) signal(t *testing.T, s os.Signal) {
	t.Helper()
	r.idle(t)
	require.NoError(t, r.Process.Signal(s))
}

func (r *running) ends(t *testing.T) {
	ended := make(chan error, 1)
	go func() { ended <- r.Wait() }()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		_ = r.Process.Kill()
		<-ended
		t.Fatal("it goes on")
	}
}

// Ctrl-C, or SIGTERM, while nothing comes prints what was read, whatever it comes from, and gives exit code 4.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	plain := testkit.Get(t, "hessian2").Bytes(t)
	compressed, err := os.ReadFile(capturePath("hessian2.pcap.zst"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		data []byte
		with os.Signal
	}{
		"pcap":          {plain, os.Interrupt},
		"pcap, SIGTERM": {plain, syscall.SIGTERM},
		"cut":           {plain[:len(plain)/2], os.Interrupt},
		"zstd":          {compressed[:len(compressed)-100], os.Interrupt},
	} {
		for _, fifo := range []bool{false, true} {
			t.Run(fmt.Sprint(name, fifo), func(t *testing.T) {
				t.Parallel()
				var r *running
				var into io.Writer
				if fifo {
					path := filepath.Join(t.TempDir(), "fifo")
					require.NoError(t, syscall.Mkfifo(path, 0o600))
					r = start(t, "analyze", path)
					require.NoError(t, r.Start())
					f, err := os.OpenFile(path, os.O_WRONLY, 0)
					require.NoError(t, err)
					defer f.Close()
					into = f
				} else {
					r = start(t, "analyze", "-")
					stdin, err := r.StdinPipe()
					require.NoError(t, err)
					defer stdin.Close()
					require.NoError(t, r.Start())
					into = stdin
				}
				_, err := into.Write(c.data)
				require.NoError(t, err)
				r.signal(t, c.with)
				r.ends(t)
				require.Equal(t, exit.Partly, r.ProcessState.ExitCode(), r.stderr.String())
				require.Regexp(t, `dubbo-wire: stopped; the report covers the \d+ packets read so far: [\d.]+ [kM]B\n`, r.stderr.String())
				require.Contains(t, r.out.String(), "COVERAGE")
			})
		}
	}
}

// Before anything came there is nothing to print, also where nobody has opened the other end of a pipe.
func TestInterruptNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	for _, arg := range []string{path, "-"} {
		r := start(t, "analyze", arg)
		stdin, err := r.StdinPipe()
		require.NoError(t, err)
		defer stdin.Close()
		require.NoError(t, r.Start())
		r.signal(t, os.Interrupt)
		r.ends(t)
		require.Equal(t, exit.Nothing, r.ProcessState.ExitCode())
		require.Equal(t, 1, strings.Count(r.stderr.String(), "\n"), r.stderr.String())
		require.Empty(t, r.out.String())
	}
}

// Records end with a whole one, and JSON is closed.
func TestInterruptRecords(t *testing.T) {
	t.Parallel()
	data := testkit.Get(t, "hessian2").Bytes(t)
	for _, command := range []string{"frames", "calls"} {
		for _, format := range []string{"json", "jsonl", "csv", "table"} {
			t.Run(command+" "+format, func(t *testing.T) {
				t.Parallel()
				r := start(t, command, "-", "--format", format)
				stdin, err := r.StdinPipe()
				require.NoError(t, err)
				defer stdin.Close()
				require.NoError(t, r.Start())
				_, err = stdin.Write(data[:len(data)/2])
				require.NoError(t, err)
				r.signal(t, os.Interrupt)
				r.ends(t)
				require.Equal(t, exit.Partly, r.ProcessState.ExitCode(), r.stderr.String())
				out := r.out.String()
				require.True(t, strings.HasSuffix(out, "\n"))
				switch format {
				case "json":
					var rows []map[string]any
					require.NoError(t, json.Unmarshal([]byte(out), &rows))
					require.NotEmpty(t, rows)
				case "jsonl":
					for line := range strings.Lines(out) {
						require.True(t, json.Valid([]byte(line)), line)
					}
				case "csv":
					rows, err := csv.NewReader(strings.NewReader(out)).ReadAll() // all as long as the first
					require.NoError(t, err)
					require.Greater(t, len(rows), 10)
				}
			})
		}
	}
}

// The second signal ends the program at once, also where it cannot print.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	data := testkit.Get(t, "hessian2").Bytes(t)
	for _, ignored := range []bool{false, true} { // as a script does for what it starts in the background
		r := start(t, "frames", "-", "--format", "jsonl")
		if ignored {
			shell, err := exec.LookPath("sh")
			require.NoError(t, err)
			r.Path, r.Args = shell, append([]string{"sh", "-c", `trap "" INT; exec "$0" "$@"`}, r.Args...)
		}
		r.Stdin = bytes.NewReader(data)
		r.Stdout = nil
		stdout, err := r.StdoutPipe() // which nobody reads
		require.NoError(t, err)
		defer stdout.Close()
		require.NoError(t, r.Start())
		r.signal(t, os.Interrupt)
		r.signal(t, os.Interrupt)
		r.ends(t)
		if ignored {
			require.Equal(t, exit.Partly, r.ProcessState.ExitCode(), r.stderr.String())
			continue
		}
		status := r.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, status.Signaled(), "exit %d: %s", r.ProcessState.ExitCode(), r.stderr.String())
	}
}
