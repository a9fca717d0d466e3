package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// slowly gives what it has and then waits before the end.
type slowly struct {
	io.Reader
	wait func()
}

func (s *slowly) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil {
		s.wait()
	}
	return n, err
}

// TestProgressOnTerminal: while reading takes long, the terminal says how far it is, and the line is gone when the report
// is printed. Rows on the terminal are not written over.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	data := testkit.Get(t, "bid-plain").Bytes(t)
	for _, c := range []struct {
		args     []string
		outOn    bool // standard output is the terminal too
		progress bool
	}{
		{[]string{"analyze", "-"}, true, true},
		{[]string{"analyze", "-", "-q"}, true, false},
		{[]string{"frames", "-"}, true, false},
		{[]string{"calls", "-", "--format", "jsonl"}, false, true},
	} {
		tty, text, shown := terminal(t, 80)
		wait := func() {
			if !c.progress {
				time.Sleep(1500 * time.Millisecond) // longer than the first line takes
			}
			for start := time.Now(); c.progress && !strings.Contains(shown(), "reading: ") && time.Since(start) < time.Minute; {
				time.Sleep(20 * time.Millisecond)
			}
		}
		var out strings.Builder
		to := io.Writer(&out)
		if c.outOn {
			to = tty
		}
		code := run(c.args, &slowly{strings.NewReader(string(data)), wait}, to, tty)
		require.NoError(t, tty.Close())
		got := <-text
		require.Zero(t, code, got)
		require.Equal(t, c.progress, strings.Contains(got, "reading: "), "%v: %s", c.args, got)
		if c.progress {
			line, report, _ := strings.Cut(got, "\n")
			if c.outOn {
				require.Contains(t, report, "COVERAGE")
			}
			require.NotContains(t, display(strings.TrimSuffix(line, "\r")), "reading", "what is left of the line")
			require.NotContains(t, report, "reading: ")
		}
	}
}

// display is what a line of a terminal shows.
func display(written string) string {
	var line []byte
	at := 0
	for _, c := range []byte(written) {
		if c == '\r' {
			at = 0
			continue
		}
		if at == len(line) {
			line = append(line, 0)
		}
		line[at] = c
		at++
	}
	return strings.TrimRight(string(line), " ")
}
