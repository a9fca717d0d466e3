package screen

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/live"
)

// dice makes snapshots out of what should not be.
type dice struct{ *rand.Rand }

func (d dice) float() float64 {
	return []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e-300, d.Float64() * 1e10, 100, 99.999}[d.IntN(11)]
}

func (d dice) int() int64 {
	return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, d.Int64N(1e6), d.Int64(), 7_914_022}[d.IntN(8)]
}

func (d dice) text() string {
	pieces := []string{
		"com.acme.", "Order", "/", "list", "注文", "👩‍👩‍👧", "🇯🇵", "\x1b[31m", "\n", "\t", "\x00", "\u202e", "e\u0301\u0301\u0301", "\xff\xfe", " ", "x",
		"a very long piece without any end", "…", "\u200d", "\ufe0f", "ﷺ", "\u0e33", "한", "\U000e0041", "a\u20e3",
	}
	s := ""
	for range d.IntN(12) {
		s += pieces[d.IntN(len(pieces))]
	}
	return s
}

func (d dice) floats() []float64 {
	f := make([]float64, d.IntN(80))
	for i := range f {
		f[i] = d.float()
	}
	return f
}

func (d dice) row() live.Row {
	return live.Row{
		Name: d.text(), Method: live.Method{Service: d.text(), Method: d.text()}, Calls: d.int(), Numbers: d.floats(),
		Serializations: d.text(),
	}
}

func several[T any](d dice, n int, one func() T) []T {
	all := make([]T, d.IntN(n))
	for i := range all {
		all[i] = one()
	}
	return all
}

func (d dice) failure() live.Failure {
	return live.Failure{
		Cause: d.text(), Text: d.text(), Serialization: d.text(), Client: d.text(), Method: live.Method{Service: d.text(), Method: d.text()}, Calls: d.int(),
		Percent: d.float(), Last: d.int(),
	}
}

func (d dice) call() live.Call {
	return live.Call{
		At: d.int(), Client: d.text(), Server: d.text(), ID: d.text(), Serialization: d.text(), RequestBytes: d.int(), ResponseBytes: d.int(),
		Latency: d.int(), Outcome: d.text(), Failed: d.IntN(2) == 0,
	}
}

func (d dice) selection() (of live.Selection) {
	if d.IntN(2) == 0 {
		of = live.Selection{Serialization: d.text(), Service: d.text(), Client: d.text(), Server: d.text()}
	}
	return of
}

// snapshot returns a snapshot for settings.
func (d dice) snapshot(of live.Settings) *live.Snapshot {
	part := func() live.Part { return live.Part{Name: d.text(), Bytes: d.int(), Percent: d.float()} }
	share := func() live.Share { return live.Share{Name: d.text(), Percent: d.float()} }
	bin := func() live.Bin { return live.Bin{Low: d.int(), High: d.int(), Count: d.int()} }
	s := &live.Snapshot{
		At: d.int(), Running: time.Duration(d.int()), Window: time.Duration(d.int()),
		Interfaces:   several(d, 5, func() live.Interface { return live.Interface{Name: d.text(), Up: d.IntN(2) == 0, Gone: d.IntN(4) == 0} }),
		KernelFilter: d.text(), Packets: d.int(), LinkBytes: d.int(), Calls: d.int(), Errors: d.int(), Heartbeats: d.int(), Connections: int(d.int()),
		OpenCalls: int(d.int()), OtherPorts: several(d, 9, func() int { return int(d.int()) }), ExpiredCalls: d.int(), ExpiredConns: d.int(),
		Coverage: d.float(), Gap: d.int(), Skipped: d.int(), KernelDrops: d.int(), RecentDrops: d.int(), RingFill: d.float(),
		In: d.float(), Out: d.float(), Link: d.float(), Messages: d.float(), Other: d.float(), OtherFromCounters: d.IntN(2) == 0, Speed: d.float(),
		InHistory: d.floats(), OutHistory: d.floats(), CallsPerSecond: d.float(), ErrorPercent: d.float(), By: live.Grouping(d.IntN(6)),
		Filter: d.text(), Rows: several(d, 40, d.row), Groups: int(d.int()), Serializations: several(d, 12, share),
		Of: d.selection(), RowsWindow: time.Duration(d.int()), Failures: several(d, 30, d.failure),
		Findings: several(d, 6, d.text), RecordedPackets: d.int(), RecordedBytes: d.int(),
	}
	if d.IntN(2) == 0 {
		s.By, s.Of = of.By, of.Of
	}
	if d.IntN(2) == 0 {
		rest := d.row()
		s.Rest = &rest
	}
	if d.IntN(2) == 0 {
		s.Recording, s.RecordError = d.text(), d.text()
	}
	if d.IntN(3) > 0 {
		s.Detail = &live.Detail{
			Method: of.Open, Of: of.Of, Row: d.row(), Since: time.Duration(d.int()), Calls: d.int(), Classes: several(d, 9, part), Request: several(d, 30, part),
			Response: several(d, 30, part), RequestSizes: several(d, 40, bin), ResponseSizes: several(d, 40, bin), Latencies: several(d, 40, bin),
			Clients: several(d, 6, share), Latest: several(d, 20, d.call), Failed: several(d, 10, d.call), Slowest: several(d, 10, d.call),
			LargestCalls: several(d, 10, d.call),
		}
		if d.IntN(2) == 0 {
			s.Detail.Largest = &live.Largest{
				At: d.int(), Client: d.text(), Server: d.text(), ID: d.int(), Frame: d.int(), RequestBytes: d.int(), ResponseBytes: d.int(), Latency: d.int(),
				Request: several(d, 50, d.text), Response: several(d, 50, d.text),
			}
		}
	}
	return s
}

var everyKey = []string{
	"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "tab", "shift+tab", "enter", "esc", "backspace", "space", "ctrl+u", "ctrl+w",
	"ctrl+z", "ctrl+l", "j", "k", "g", "G", "/", "w", "t", "?", "e", "x", "c", "q", "r", "<", ">", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "注", "*", "h", "l",
}

// step sends one message chosen by a number, and another number for its details.
func step(m model, what, detail byte) model {
	d := dice{rand.New(rand.NewPCG(uint64(what), uint64(detail)))}
	switch {
	case what < 200:
		m = drive(m, everyKey[int(what)%len(everyKey)])
	case what < 225:
		m = drive(m, d.snapshot(m.settings))
	case what < 235:
		m = drive(m, tea.WindowSizeMsg{Width: int(detail), Height: d.IntN(81)})
	case what < 240:
		m = drive(m, noticeMsg(d.text()))
	case what < 245:
		m = drive(m, tea.PasteMsg{Content: d.text()})
	case what < 250:
		m = drive(m, after(time.Duration(d.int())))
	default:
		m = drive(m, many(int(detail)*3))
	}
	m.quit = false
	return m
}

// Whatever is shown and pressed, at any size: no panic, no line too wide, none too many.
func TestAnything(t *testing.T) {
	rounds := 60
	if testkit.All {
		rounds = 400
	}
	for seed := range rounds {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 1))}
		w, h := 1+d.IntN(250), 1+d.IntN(80)
		m := start(w, h)
		m.options.Color = d.IntN(2) == 0
		for range 25 {
			m = step(m, byte(d.Uint32()), byte(d.Uint32()))
			if m.width > 0 && m.height > 0 {
				fits(t, m.view(), m.width, m.height)
			}
		}
	}
}

// All sizes of a terminal, with a snapshot as it should be.
func TestSizes(t *testing.T) {
	wide, high := func(w int) int { return w + 2 + w/12 }, func(h int) int { return h + 1 + h/6 }
	if testkit.All {
		wide, high = func(w int) int { return w + 1 + w/24 }, func(h int) int { return h + 1 + h/12 }
	}
	for _, s := range []*live.Snapshot{steady(), odd()} {
		for w := 1; w <= 210; w = wide(w) {
			for h := 1; h <= 60; h = high(h) {
				m := drive(start(w, h), s)
				fits(t, m.view(), w, h)
				m = drive(m, "enter", detailed())
				fits(t, m.view(), w, h)
				m = drive(m, "?")
				fits(t, m.view(), w, h)
			}
		}
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte{210, 1, 10, 0, 201, 3, 19, 0})
	f.Add([]byte{251, 200, 7, 0, 231, 33, 22, 0, 13, 0})
	f.Fuzz(func(t *testing.T, steps []byte) {
		m := start(80, 24)
		for i := 0; i+1 < len(steps) && i < 200; i += 2 {
			m = step(m, steps[i], steps[i+1])
			view := m.view()
			if m.width > 0 && m.height > 0 {
				fits(t, view, m.width, m.height)
			}
			require.True(t, m.page == detailPage || m.page == helpPage || m.rowCount() == 0 || m.cursor < m.rowCount())
		}
	})
}
