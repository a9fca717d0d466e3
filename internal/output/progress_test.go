package output

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/report"
)

// at is a source that has come so far.
type at struct{ read, total int64 }

func (a at) Progress() (read, total int64) { return a.read, a.total }

func TestProgressText(t *testing.T) {
	start := time.Now()
	for _, c := range []struct {
		now  at
		past []moment
		want string
	}{
		{at{512e6, 1e9}, []moment{{start, 200e6}, {start.Add(time.Second), 512e6}}, "reading: 512 MB of 1.00 GB (51 %), 312 MB/s, 2 s left"},
		{at{512e6, -1}, []moment{{start, 200e6}, {start.Add(time.Second), 512e6}}, "reading: 512 MB, 312 MB/s"},
		{at{10e6, 2e9}, []moment{{start, 0}, {start.Add(5 * time.Second), 10e6}}, "reading: 10.0 MB of 2.00 GB (0 %), 2.00 MB/s, 16:35 min left"},
		{at{10e6, 50e9}, []moment{{start, 0}, {start.Add(5 * time.Second), 10e6}}, "reading: 10.0 MB of 50.0 GB (0 %), 2.00 MB/s, 6:56 h left"},
		{at{10e6, 50e9}, []moment{{start, 10e6}, {start.Add(time.Second), 10e6}}, "reading: 10.0 MB of 50.0 GB (0 %), 0 B/s"},
		{at{7, 7}, []moment{{start, 7}}, "reading: 7 B of 7 B (100 %), 0 B/s"},
		{at{9, 7}, []moment{{start, 9}}, "reading: 9 B of 7 B (100 %), 0 B/s"}, // a file that grows
	} {
		p := &Progress{src: c.now, past: c.past}
		require.Equal(t, c.want, p.text())
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.00 kB", 9_994: "9.99 kB", 9_995: "10.0 kB", 99_949: "99.9 kB", 99_950: "100 kB", 999_499: "999 kB", 999_500: "1.00 MB", 1 << 62: "4,611,686 TB"} {
		require.Equal(t, want, report.Volume(n))
	}
}

// A line replaces the one before, never fills the terminal, and leaves nothing behind.
func TestProgressLine(t *testing.T) {
	var out strings.Builder
	p := &Progress{out: &out, width: func() int { return 20 }}
	p.Show("")
	require.Empty(t, out.String())
	for _, text := range []string{"a long text", "short", "much longer than the terminal is", "x", ""} {
		p.Show(text)
		require.Equal(t, text[:min(len(text), 19)], display(out.String()))
	}
	require.NotContains(t, out.String(), "\n")
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
