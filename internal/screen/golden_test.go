package screen

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/live"
	"dubbo-wire/internal/term"
)

// drive sends messages and keys to a model. A string of one character, or a name that bubbletea has for a key, is a key.
func drive(m model, msgs ...any) model {
	for _, msg := range msgs {
		if k, ok := msg.(string); ok {
			msg = key(k)
		}
		if s, ok := msg.(*live.Snapshot); ok {
			msg = snapshotMsg{s}
		}
		m = m.update(msg)
	}
	return m
}

var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
}

func key(s string) tea.KeyPressMsg {
	if s == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if code, ok := named[s]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if rest, ok := strings.CutPrefix(s, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if s == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

func start(width, height int) model {
	m := newModel(Options{Title: "eth0"})
	return drive(m, clockMsg(began), tea.WindowSizeMsg{Width: width, Height: height})
}

func after(d time.Duration) clockMsg { return clockMsg(began.Add(d)) }

func typing(s string) []any {
	var keys []any
	for _, c := range s {
		keys = append(keys, string(c))
	}
	return keys
}

// scenes are what a screen can look like.
var scenes = []struct {
	name  string
	sizes []string // nil: all
	msgs  []any
}{
	{name: "starting", sizes: small, msgs: nil},
	{name: "no-packets", sizes: small, msgs: []any{&live.Snapshot{Interfaces: []live.Interface{{Name: "eth0", Up: true}}, Running: 3 * time.Second, Window: 3 * time.Second}}},
	{name: "no-dubbo", msgs: []any{waiting()}},
	{name: "steady", msgs: []any{steady()}},
	{name: "drops", msgs: []any{dropping()}},
	{name: "paused", msgs: []any{steady(), "space", after(12 * time.Second), dropping()}},
	{name: "filter", msgs: append([]any{steady(), "/"}, typing("SERV")...)},
	{name: "filter-nothing", sizes: small, msgs: append([]any{steady(), "/"}, append(typing("nosuch"), "enter")...)},
	{name: "help", msgs: []any{steady(), noticeMsg("eth0 went down; waiting"), after(5 * time.Second), steady(), "?"}},
	{name: "help-end", sizes: small, msgs: []any{steady(), noticeMsg("eth0 went down; waiting"), after(90 * time.Second), steady(), "?", "end"}},
	{name: "method-wait", sizes: small, msgs: []any{steady(), "enter"}},
	{name: "method", msgs: []any{steady(), "enter", detailed()}},
	{name: "method-histograms", msgs: []any{steady(), "enter", detailed(), "tab", "tab"}},
	{name: "method-largest", msgs: []any{steady(), "enter", detailed(), "e"}},
	{name: "down", msgs: []any{down(), noticeMsg("eth0 went down; waiting")}},
	{name: "stale", sizes: small, msgs: []any{steady(), after(9 * time.Second)}},
	{name: "recording", msgs: []any{"w", recording()}},
	{name: "kernel-filter", msgs: []any{filtered()}},
	{name: "odd-names", msgs: []any{odd()}},
	{name: "many", msgs: []any{many(5000), "pgdown", "pgdown", "down"}},
	{name: "by-pair", msgs: []any{steady(), "G", grouped(live.ByPair)}},
	{name: "client", msgs: []any{steady(), "G", "G", "G", grouped(live.ByClient), "enter", selected()}},
	{name: "client-help", sizes: small, msgs: []any{steady(), "G", "G", "G", grouped(live.ByClient), "enter", selected(), "?"}},
	{name: "errors", msgs: []any{steady(), "e", "down"}},
	{name: "errors-none", sizes: small, msgs: []any{waiting(), "e"}},
	{name: "errors-help", sizes: small, msgs: []any{steady(), "e", "?"}},
	{name: "method-calls", msgs: []any{steady(), "enter", detailed(), "c"}},
	{name: "method-help", sizes: small, msgs: []any{steady(), "enter", detailed(), "?"}},
	{name: "sorted-p50", msgs: []any{steady(), "7", "7"}},
}

var (
	small = []string{"80x24"}
	all   = []string{"80x24", "160x50", "60x15", "200x60"}
)

func parseSize(s string) (w, h int) {
	_, _ = fmt.Sscanf(s, "%dx%d", &w, &h)
	return w, h
}

// What a screen looks like is in testdata; with colour it says the same.
func TestGolden(t *testing.T) {
	for _, scene := range scenes {
		sizes := scene.sizes
		if sizes == nil {
			sizes = all
		}
		for _, size := range sizes {
			t.Run(scene.name+"-"+size, func(t *testing.T) {
				w, h := parseSize(size)
				m := drive(start(w, h), scene.msgs...)
				got := m.view()
				fits(t, got, w, h)
				trimmed := trim(got)
				testkit.Golden(t, filepath.Join("testdata", scene.name+"-"+size+".txt"), trimmed)

				m.options.Color = true
				colored := m.view()
				assert.Equal(t, trimmed, trim(testkit.WithoutColor(colored)), "colour says the same")
				assert.NotEqual(t, got, colored)
				assert.Empty(t, testkit.WithoutColor(colored)[len(got):], "only attributes are added")
			})
		}
	}
}

// The attributes themselves: what alarms is bold white on red.
func TestColors(t *testing.T) {
	m := drive(start(80, 24), dropping())
	m.options.Color = true
	lines := strings.Split(m.view(), "\n")
	assert.Contains(t, lines[0], "\x1b[1;37;41mDROPS 1,234\x1b[m")
	assert.Contains(t, lines[0], "\x1b[1;33mring 97 %!\x1b[m")
	assert.True(t, strings.HasPrefix(lines[6], "\x1b[7m> OrderQuery/listByBuyer"), "%q", lines[6])
}

// trim takes away the spaces at the ends of lines, as tmux does.
func trim(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// fits checks that a view has as many lines as the terminal, none of them too wide, however widths are counted.
func fits(t require.TestingT, view string, w, h int) {
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		require.Failf(t, "lines", "%d of %dx%d", len(lines), w, h)
	}
	for i, l := range lines {
		l = testkit.WithoutColor(l)
		if term.Width(l) > w || ansi.StringWidthWc(l) > w || ansi.StringWidth(l) > w || strings.ContainsFunc(l, moves) {
			require.Failf(t, "line", "line %d of %dx%d: %q", i, w, h, l)
		}
	}
}

// moves reports characters that do something to a terminal.
func moves(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e }
