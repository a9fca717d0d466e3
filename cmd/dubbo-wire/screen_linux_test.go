package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// tmux is the program on a terminal of its own, with streams of real peers on the wire.
type tmux struct {
	t    *testing.T
	name string
	dir  string
	port string
}

func newTmux(t *testing.T, width, height int) *tmux {
	testkit.Needs(t, "tmux and the right to capture")
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if missing := noLive(); missing != "" {
		t.Skip("no live capture here: " + missing)
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	m := &tmux{t, fmt.Sprintf("dubbo-wire-%d-%d", os.Getpid(), width), t.TempDir(), fmt.Sprint(freePort(t))}
	for _, name := range []string{"dubbo-wire", "replay"} { // the test's program is both, by its name
		require.NoError(t, os.Symlink(self, filepath.Join(m.dir, name)))
	}
	m.run("new-session", "-d", "-c", m.dir, "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "env", "-i",
		"PATH="+m.dir+":"+os.Getenv("PATH"), "TERM=screen-256color", "PS1=$ ", "PORT="+m.port, "sh")
	t.Cleanup(func() { _ = m.command("kill-server").Run() })
	m.run("set", "-g", "status", "off")
	m.run("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
	return m
}

func (m *tmux) command(args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-u", "-L", m.name, "-f", "/dev/null"}, args...)...)
	c.Env = append(os.Environ(), "TMUX=", "TMUX_TMPDIR="+m.dir, "LC_ALL=C.UTF-8", "TERM=xterm")
	return c
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := m.command(args...).CombinedOutput()
	require.NoError(m.t, err, "%v: %s", args, out)
	return string(out)
}

func (m *tmux) keys(keys ...string) { m.t.Helper(); m.run(append([]string{"send-keys"}, keys...)...) }

// sees waits until the screen has all of the texts.
func (m *tmux) sees(texts ...string) string {
	m.t.Helper()
	screen := ""
	for range 1200 {
		screen = m.run("capture-pane", "-p")
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(screen, text)
		}
		if !missing {
			return screen
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.Fail(m.t, "the screen does not come", "%q; it is\n%s\n%s", texts, screen, m.stacks())
	return ""
}

// stacks ends the programs on the terminal with SIGQUIT and returns what they print: where each goroutine was.
func (m *tmux) stacks() string {
	shell := strings.TrimSpace(m.run("display-message", "-p", "#{pane_pid}"))
	children, err := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	if err != nil || len(children) == 0 {
		return "no program runs"
	}
	printed := filepath.Join(m.dir, "stacks")
	m.run("pipe-pane", "cat > "+printed)
	for child := range strings.FieldsSeq(string(children)) {
		_ = exec.Command("kill", "-QUIT", child).Run()
	}
	text, size := "", -1
	for range 100 {
		data, _ := os.ReadFile(printed)
		text = strings.ReplaceAll(string(data), "\r", "")
		if len(text) > 0 && len(text) == size {
			break
		}
		size = len(text)
		time.Sleep(200 * time.Millisecond)
	}
	return text
}

// replay sends the streams of a committed capture while the screen is there.
func (m *tmux) replay(name string) {
	m.t.Helper()
	c := exec.Command(filepath.Join(m.dir, "replay"), capturePath(name))
	c.Env = append(os.Environ(), "PORT="+m.port)
	out, err := c.CombinedOutput()
	require.NoError(m.t, err, "%s", out)
}

// keepReplaying sends the streams again and again until the function that it returns is called: rows leave the screen ten
// seconds after their last call, which is soon on a busy machine.
func (m *tmux) keepReplaying(name string) (stop func()) {
	m.t.Helper()
	ended, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-ended:
				done <- nil
				return
			default:
			}
			c := exec.Command(filepath.Join(m.dir, "replay"), capturePath(name))
			c.Env = append(os.Environ(), "PORT="+m.port)
			if out, err := c.CombinedOutput(); err != nil {
				done <- fmt.Errorf("%w: %s", err, out)
				return
			}
			time.Sleep(time.Second)
		}
	}()
	return sync.OnceFunc(func() {
		m.t.Helper()
		close(ended)
		require.NoError(m.t, <-done)
	})
}

// start begins a capture on the screen and sends the traffic.
func (m *tmux) start(args string) {
	m.t.Helper()
	m.keys("dubbo-wire capture lo "+args+" tcp port "+m.port, "Enter")
	m.sees("dubbo-wire  lo", "q quit")
	m.replay("fleet.pcap.zst")
	m.sees("UserService/queryPost")
}

// timed are the numbers that depend on when something came: rates, latencies, clocks.
var timed = regexp.MustCompile(`\d+(\.\d+)? (ms|µs|s)\b`)

// sizesOfRows returns the names of the rows with the sizes of their bodies: neither rates nor latencies.
func sizesOfRows(t *testing.T, screen string, width int) string {
	var rows strings.Builder
	for line := range strings.SplitSeq(screen, "\n") {
		words := strings.Fields(timed.ReplaceAllString(strings.TrimPrefix(line, ">"), "TIME"))
		if len(words) < 7 || !strings.Contains(words[0], "/") || strings.HasSuffix(words[0], "/method") {
			continue
		}
		// Behind the name come Mbit/s and calls a second; at the end latencies.
		rest := words[3:]
		if width > 80 { // and the share between the two
			rest = words[4:]
		}
		fmt.Fprintln(&rows, words[0], strings.Join(rest, " "))
		assert.LessOrEqual(t, len([]rune(line)), width)
	}
	return rows.String()
}

// TestScreen: the program on a terminal, with real streams: rows and their sizes, keys, an opened method, the report.
func TestScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			m := newTmux(t, size[0], size[1])
			m.start("")
			// The sizes of bodies do not depend on time: by name, the same rows with the same sizes in every run whose
			// calls are all on the screen at one moment.
			m.keys("0")
			golden := filepath.Join("testdata", fmt.Sprintf("screen-%dx%d.golden", size[0], size[1]))
			rows := ""
			for range 20 {
				screen := m.sees("sorted by name", "coverage 100 %", "drops 0")
				if rows = sizesOfRows(t, screen, size[0]); testkit.IsGolden(t, golden, rows) {
					break
				}
				m.replay("fleet.pcap.zst")
			}
			testkit.Golden(t, golden, rows)

			stop := m.keepReplaying("fleet.pcap.zst")
			defer stop()
			m.keys("g")
			m.sees("by service", "UserService")
			m.keys("g")
			m.sees("by serialization", "msgpack")
			m.keys("g")
			m.sees("by client", "127.0.0.1")
			m.keys("Enter")
			m.sees("by method of client 127.0.0.1", "UserService/queryPost")
			m.keys("Enter")
			m.sees("EchoService/bid of 127.0.0.1", "open ", "BODY COMPOSITION", "values")
			m.keys("Enter")
			screen := m.sees("[calls]", "FAILED CALLS", "127.0.0.1:")
			assert.NotContains(t, screen, "@", "no values")
			m.keys("Escape")
			m.sees("by method of client")
			m.keys("Escape")
			m.sees("by client")
			m.keys("e")
			m.sees("failed calls by cause", "EdgeService/fail", "IllegalState", "Encountered")
			m.keys("Enter")
			m.sees("EdgeService/fail of 127.0.0.1, ", "open ")
			m.keys("Escape")
			m.sees("failed calls by cause")
			m.keys("Escape")
			m.sees("by client")
			m.keys("G", "G", "G")
			m.sees("by method")
			m.keys("/", "q", "u", "e", "r", "y")
			screen = m.sees("filter: query", "UserService/queryPost")
			assert.NotContains(t, screen, "EdgeService/add")
			m.keys("Enter")
			m.keys("Enter")
			m.sees("UserService/queryPost", "open ")
			m.sees("BODY COMPOSITION", "values")
			m.keys("e")
			screen = m.sees("LARGEST CALL", "header", "magic")
			assert.NotContains(t, screen, "@", "no values")
			m.keys("q")
			m.keys("Escape")
			m.sees("filter: none")
			m.keys("?")
			m.sees("KEYS")
			m.keys("?")
			m.sees("by method")
			m.keys("Space")
			m.sees("PAUSED")
			m.keys("Space")
			m.keys("w")
			m.sees("REC ")
			m.keys("w")
			m.sees("wrote ", " packets to ")
			require.Eventually(t, func() bool { return !strings.Contains(m.run("capture-pane", "-p"), "REC ") }, time.Minute, 50*time.Millisecond)
			m.run("resize-window", "-x", "100", "-y", "30")
			m.sees("by method", "q quit")
			stop()
			m.keys("q")
			m.sees("COVERAGE", "100 % of Dubbo's bytes are in complete frames")
			m.keys("echo exit $?; stty -a | grep -o ' -\\?echo '", "Enter")
			m.sees("exit 0", "\n echo")
		})
	}
}

// TestScreenEnds: a limit and a signal leave the screen as a key does: the report on a restored terminal.
func TestScreenEnds(t *testing.T) {
	m := newTmux(t, 90, 30)
	m.start("--duration 20s -w kept.pcapng")
	m.sees("REC")
	m.sees("COVERAGE", "Kernel drops: 0 packets.")
	m.keys("clear; dubbo-wire analyze kept.pcapng | tail -8; rm kept.pcapng", "Enter")
	m.sees("Every request has its response.")
	m.keys("clear", "Enter")
	m.start("")
	m.run("send-keys", "C-c")
	m.sees("COVERAGE")
	m.keys("clear; dubbo-wire capture lo tcp port "+m.port+" & sleep 1; kill %1; wait; echo ended", "Enter")
	m.sees("ended")
}

// TestTerminalCloses: whoever closes the terminal has the report and the packets in their files, whole, and nothing else
// beside them.
func TestTerminalCloses(t *testing.T) {
	for _, args := range []string{"", "--plain "} {
		m := newTmux(t, 80, 24)
		dir := t.TempDir()
		m.keys("cd "+dir+"; clear; dubbo-wire capture lo "+args+"-w kept.pcapng -o report.json tcp port "+m.port, "Enter")
		m.sees("lo")
		require.Eventually(t, func() bool {
			info, err := os.Stat(filepath.Join(dir, "kept.pcapng"))
			return err == nil && info.Size() > 0
		}, time.Minute, 20*time.Millisecond)
		m.replay("fleet.pcap.zst")
		kept, size, looks := filepath.Join(dir, "kept.pcapng"), int64(-1), 0
		require.Eventually(t, func() bool { // it has all packets
			info, err := os.Stat(kept)
			switch {
			case err != nil:
				return false
			case info.Size() != size:
				size, looks = info.Size(), 0
			default:
				looks++
			}
			return looks == 10 && size > 1<<20
		}, time.Minute, 100*time.Millisecond)
		m.run("kill-server")
		var names []string
		require.Eventually(t, func() bool {
			names = nil
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, f := range files {
				names = append(names, f.Name())
			}
			return strings.Join(names, " ") == "kept.pcapng report.json"
		}, time.Minute, 50*time.Millisecond, "%v", &names)
		data, err := os.ReadFile(filepath.Join(dir, "report.json"))
		require.NoError(t, err)
		report, err := parseReport(data)
		require.NoError(t, err)
		require.NoError(t, report.balance())
		assert.Equal(t, int64(0), report.Coverage.FramesIncomplete)
		assert.Greater(t, report.Coverage.Frames, int64(5000))
	}
}
