//go:build unix

package screen

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/live"
)

// asDemo is the argument that makes the test's program a screen with made snapshots instead.
const asDemo = "demo"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asDemo {
		demo(os.Args[2], len(os.Args) > 3)
		return
	}
	os.Exit(m.Run())
}

// demo is what a command does with a screen: it hands over snapshots, follows the settings, ends it when a signal comes.
func demo(kind string, color bool) {
	s := New(Options{Title: "eth0", Color: color, Input: os.Stdin, Output: os.Stdout})
	if kind == "panic" {
		s.testOptions = []tea.ProgramOption{tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if _, pressed := msg.(tea.KeyPressMsg); pressed {
				panic("on purpose")
			}
			return msg
		})}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for {
			var snap *live.Snapshot
			switch settings := s.Settings(); {
			case kind == "odd":
				snap = odd()
			case settings.Open != live.Method{}:
				snap = detailed()
			default:
				snap = grouped(settings.By)
			}
			if s.Settings().Record {
				snap.Recording, snap.RecordedPackets, snap.RecordedBytes = "eth0.pcapng", 1200, 98_000
			}
			s.Show(snap)
			select {
			case <-signals:
				s.Quit()
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	if err := s.Run(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("the report")
}

// terminal is a shell in a tmux of its own.
type terminal struct {
	t      *testing.T
	server string
	dir    string
}

func newTerminal(t *testing.T, w, h int) *terminal {
	testkit.Needs(t, "tmux")
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	term := &terminal{t, fmt.Sprintf("dubbo-wire-screen-%d-%s", os.Getpid(), filepath.Base(t.TempDir())+t.Name()[4:]), t.TempDir()}
	term.run("new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "env", "-i", "PATH="+os.Getenv("PATH"), "TERM=screen", "PS1=$ ", "sh")
	t.Cleanup(func() { _ = term.command("kill-server").Run() })
	term.run("set", "-g", "status", "off")
	term.run("resize-window", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h))
	return term
}

func (term *terminal) command(args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-u", "-L", term.server, "-f", "/dev/null"}, args...)...)
	c.Env = append(os.Environ(), "TMUX=", "TMUX_TMPDIR="+term.dir, "LC_ALL=C.UTF-8", "TERM=xterm")
	return c
}

func (term *terminal) run(args ...string) string {
	term.t.Helper()
	out, err := term.command(args...).CombinedOutput()
	require.NoError(term.t, err, "%v: %s", args, out)
	return string(out)
}

func (term *terminal) keys(keys ...string) { term.run(append([]string{"send-keys"}, keys...)...) }

// sees waits until the screen is as wanted.
func (term *terminal) sees(what string, is func(screen string) bool) string {
	term.t.Helper()
	var screen string
	for range 1200 {
		screen = trim(strings.TrimSuffix(term.run("capture-pane", "-p"), "\n"))
		if is(screen) {
			return screen
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.Fail(term.t, "the screen does not come", "%s; it is\n%s", what, screen)
	return ""
}

// shows waits for a golden picture.
func (term *terminal) shows(name string) {
	term.t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(term.t, err)
	for range 1200 {
		if trim(strings.TrimSuffix(term.run("capture-pane", "-p"), "\n")) == string(want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	assert.Equal(term.t, string(want), trim(strings.TrimSuffix(term.run("capture-pane", "-p"), "\n")), name)
	term.t.FailNow()
}

func (term *terminal) has(text string) {
	term.t.Helper()
	term.sees(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// demo starts the screen in the terminal, between two notes of how the terminal is set.
func (term *terminal) demo(args string) {
	program, err := os.Executable()
	require.NoError(term.t, err)
	script := filepath.Join(term.dir, "run.sh")
	require.NoError(term.t, os.WriteFile(script, []byte(fmt.Sprintf(
		"cd %s\nstty -a > before\necho before the screen\nsh -c 'echo $$ > pid; exec %s demo %s'\nstty -a > after\necho over\n", term.dir, program, args,
	)), 0o755))
	term.keys(". "+script, "Enter")
}

// restored checks that the terminal is as it was before.
func (term *terminal) restored(panicked bool) {
	term.t.Helper()
	screen := term.sees("over", func(s string) bool { return strings.Contains(s, "over\n") })
	if !panicked {
		assert.Contains(term.t, screen, "before the screen\nthe report\nover", "what stood there stands there again")
	}
	before, err := os.ReadFile(filepath.Join(term.dir, "before"))
	require.NoError(term.t, err)
	after, err := os.ReadFile(filepath.Join(term.dir, "after"))
	require.NoError(term.t, err)
	assert.Equal(term.t, string(before), string(after), "echo and all else as before")
	assert.Equal(term.t, "0 1\n", term.run("display-message", "-p", "#{alternate_on} #{cursor_flag}"))
	term.keys("echo typed", "Enter")
	term.has("\ntyped\n")
}

// A screen in a terminal looks as its view does, follows its keys and its size, and leaves the terminal as it was.
func TestTmux(t *testing.T) {
	term := newTerminal(t, 80, 24)
	term.demo("steady")
	term.shows("steady-80x24")
	assert.Equal(t, "1 0\n", term.run("display-message", "-p", "#{alternate_on} #{cursor_flag}"))
	raw := term.run("capture-pane", "-p", "-e")
	assert.Equal(t, ansi.Strip(raw), raw, "no colour")

	term.keys("7", "7")
	term.shows("sorted-p50-80x24")
	term.keys("1", "Home", "G")
	term.shows("by-pair-80x24")
	term.keys("g")
	term.shows("steady-80x24")
	term.keys("/", "SERV")
	term.shows("filter-80x24")
	term.keys("Escape")
	term.shows("steady-80x24")

	term.keys("Enter")
	term.shows("method-80x24")
	term.keys("Tab", "Right")
	term.shows("method-histograms-80x24")
	term.keys("e")
	term.shows("method-largest-80x24")
	term.run("resize-window", "-x", "160", "-y", "50")
	term.has("REQUEST                                                                          RESPONSE")
	term.keys("e")
	term.shows("method-largest-160x50")
	term.keys("BSpace")
	term.shows("steady-160x50")

	term.keys("Space")
	term.sees("PAUSED for seconds", regexp.MustCompile(`PAUSED [1-9]`).MatchString)
	term.keys("Space", "w")
	term.has("recording to eth0.pcapng: 1,200 packets, 98.0 kB")
	term.keys("w", "?")
	term.has("MESSAGES")
	term.keys("q")
	term.shows("steady-160x50")
	for _, size := range []string{"60x15", "200x60", "80x24"} {
		w, h := parseSize(size)
		term.run("resize-window", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h))
		term.shows("steady-" + size)
	}
	term.run("resize-window", "-x", "30", "-y", "6")
	term.has("The terminal is 30 x 6")
	term.run("resize-window", "-x", "80", "-y", "24")
	term.shows("steady-80x24")
	term.keys("q")
	term.restored(false)
}

// With colour the screen says the same; a signal ends it as well as a key.
func TestTmuxColor(t *testing.T) {
	term := newTerminal(t, 160, 50)
	term.demo("steady color")
	term.shows("steady-160x50")
	raw := term.run("capture-pane", "-p", "-e")
	assert.Regexp(t, `\x1b\[[0-9;]*7m(\x1b\[[0-9;]*m)*> OrderQuery/listByBuyer`, raw)
	want, err := os.ReadFile(filepath.Join("testdata", "steady-160x50.txt"))
	require.NoError(t, err)
	assert.Equal(t, string(want), trim(strings.TrimSuffix(ansi.Strip(raw), "\n")))
	pid, err := os.ReadFile(filepath.Join(term.dir, "pid"))
	require.NoError(t, err)
	require.NoError(t, exec.Command("kill", "-TERM", strings.TrimSpace(string(pid))).Run())
	term.restored(false)
}

// Names that are wide, long or hostile take the columns that were counted for them.
func TestTmuxNames(t *testing.T) {
	term := newTerminal(t, 80, 24)
	term.demo("odd")
	term.shows("odd-names-80x24")
	term.keys("C-c")
	term.restored(false)
}

// A panic, which should not be, leaves the terminal as it was, too.
func TestTmuxPanic(t *testing.T) {
	term := newTerminal(t, 160, 50)
	term.demo("panic")
	term.shows("steady-160x50")
	term.keys("j")
	term.has("program was killed")
	term.restored(true)
}
