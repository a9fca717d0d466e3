package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestTerminal: on a terminal tables are as wide as it is, and headings are bold unless NO_COLOR says otherwise.
func TestTerminal(t *testing.T) {
	file := capturePath("bid-plain.pcap")
	t.Setenv("COLUMNS", "")
	t.Setenv("NO_COLOR", "")
	out := onTerminal(t, 72, "analyze", file)
	require.Contains(t, out, "\x1b[1mON THE WIRE\x1b[0m")
	plain := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "")
	for line := range strings.Lines(plain.Replace(out)) {
		require.LessOrEqual(t, len([]rune(strings.TrimSpace(line))), 72, line)
	}
	t.Setenv("NO_COLOR", "1")
	require.Equal(t, plain.Replace(out), onTerminal(t, 72, "analyze", file))
	require.NotContains(t, onTerminal(t, 72, "frames", file, "--format", "jsonl"), "\x1b")
}

// terminal opens a terminal of so many columns. The channel gives all that was written when it is closed; shown returns what was
// written so far.
func terminal(t *testing.T, columns uint16) (tty *os.File, written <-chan string, shown func() string) {
	ptm, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	fd := int(ptm.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	text := make(chan string, 1)
	var all lockedText
	go func() {
		_, _ = io.Copy(&all, ptm) // ends with an error when the other side is closed
		_ = ptm.Close()
		text <- all.String()
	}()
	return tty, text, all.String
}

// lockedText is a text that is read while it is written.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// onTerminal runs the program with a terminal of so many columns as its standard output.
func onTerminal(t *testing.T, columns uint16, args ...string) string {
	tty, text, _ := terminal(t, columns)
	var stderr strings.Builder
	code := run(args, strings.NewReader(""), tty, &stderr)
	require.NoError(t, tty.Close())
	out := <-text
	require.Zero(t, code, stderr.String())
	require.Empty(t, stderr.String())
	return out
}
