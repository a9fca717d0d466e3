package screen

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/live"
)

// written counts what a terminal gets.
type written struct {
	mu     sync.Mutex
	writes int
	text   bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	return w.text.Write(b)
}

func (w *written) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// run starts a screen on a terminal that is none.
func run(t *testing.T, o Options) (s *Screen, out *written, keys io.Writer, done chan error) {
	in, keys := io.Pipe()
	out = &written{}
	o.Input, o.Output, o.Environ = in, out, []string{"TERM=xterm", "TERM_PROGRAM=test", "SSH_TTY=none"}
	s = New(o)
	s.testOptions = []tea.ProgramOption{tea.WithWindowSize(80, 24)}
	done = make(chan error, 1)
	go func() { done <- s.Run() }()
	t.Cleanup(s.Quit)
	return s, out, keys, done
}

func ended(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the screen does not end")
	}
}

// However fast snapshots come, the terminal gets at most about ten pictures a second; where nothing changes, it gets nothing.
func TestRate(t *testing.T) {
	s, out, _, done := run(t, Options{Title: "eth0"})
	shown := 0.0
	for n := range 5 {
		require.Eventually(t, func() bool {
			shown++
			snap := steady()
			setNumber(&snap.Rows[0], "Mbit/s", shown)
			s.Show(snap)
			return out.count() > n
		}, time.Minute, 10*time.Millisecond, "pictures come while snapshots do")
	}
	pictures, begin := out.count(), time.Now()
	for i := range 20_000 {
		snap := steady()
		snap.Packets = int64(i)
		setNumber(&snap.Rows[0], "Mbit/s", float64(i))
		s.Show(snap)
	}
	assert.Less(t, time.Since(begin), time.Minute, "the line never waits: 20,000 pictures take more than half an hour")
	last := steady()
	last.Rows[0].Name = "the.last/one"
	s.Show(last)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "last/one") }, time.Minute, 10*time.Millisecond)
	assert.LessOrEqual(t, float64(out.count()-pictures), 5+15*time.Since(begin).Seconds())
	still, looks := -1, 0
	require.Eventually(t, func() bool {
		if now := out.count(); now != still {
			still, looks = now, 0
		} else {
			looks++
		}
		return looks == 4 // two seconds
	}, time.Minute, 500*time.Millisecond, "pictures go on")
	s.Quit()
	ended(t, done)
	s.Show(steady())
	s.Notice("nobody reads this any more")
}

// Keys change the settings, and the line is told so.
func TestSettings(t *testing.T) {
	s, out, keys, done := run(t, Options{Settings: live.Settings{By: live.ByService}})
	s.Show(steady())
	require.Eventually(t, func() bool { return out.count() > 0 }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, live.Settings{By: live.ByService}, s.Settings())
	_, err := keys.Write([]byte("g"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.Settings().By == live.BySerialization }, time.Minute, 10*time.Millisecond)
	_, err = keys.Write([]byte("q"))
	require.NoError(t, err)
	ended(t, done)
	assert.Contains(t, out.String(), "\x1b[?1049l", "the alternate screen is left")
	assert.NotContains(t, out.String(), "\x1b[1m", "no colour, no attributes")
}

// Ctrl-C is a key; Quit ends a screen from outside, also one that has not begun.
func TestQuit(t *testing.T) {
	_, out, keys, done := run(t, Options{Color: true})
	require.Eventually(t, func() bool { return out.count() > 0 }, time.Minute, 10*time.Millisecond)
	_, err := keys.Write([]byte{3})
	require.NoError(t, err)
	ended(t, done)
	s := New(Options{})
	s.Quit()
	s.Quit()
	require.NoError(t, s.Run())
	s, _, _, done = run(t, Options{})
	s.Quit()
	ended(t, done)
}
