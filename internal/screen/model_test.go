package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/live"
)

func (m *model) at() string { return m.list[m.cursor].Name }

func names(m model) []string {
	var all []string
	for _, r := range m.list {
		_, name, _ := strings.Cut(r.Name, "/")
		all = append(all, name)
	}
	return all
}

// 1 to 9 sort by the columns that bear these numbers, once more the other way round; < and > go to the column beside.
func TestSort(t *testing.T) {
	m := drive(start(80, 24), steady())
	for k, first := range map[string]string{
		"1": "getMetadataInfo", "2": "getUser", "3": "batchGet", "4": "batchGet", "5": "listByBuyer", "6": "listByBuyer",
		"7": "listByBuyer", "8": "reserve", "9": "reserve", "0": "batchGet",
	} {
		assert.Equal(t, first, names(drive(m, k))[0], k)
	}
	assert.Equal(t, "listByBuyer", names(drive(m, "1", "1"))[0], "the first time it is the other way round: it is sorted by that already")
	p99 := drive(m, "8")
	assert.Equal(t, []string{"reserve", "listByBuyer", "batchGet", "getUser", "status", "getMetadataInfo"}, names(p99))
	assert.Equal(t, []string{"status", "getUser", "batchGet", "listByBuyer", "reserve", "getMetadataInfo"}, names(drive(p99, "8")),
		"what is not known is last in any order")
	assert.Equal(t, names(drive(p99, "8")), names(drive(p99, "r")))

	assert.Equal(t, colShare, drive(m, "right").sortBy)
	assert.Equal(t, columnTitled("calls/s"), drive(m, ">", ">").sortBy)
	assert.Equal(t, colName, drive(m, "<").sortBy)
	assert.Equal(t, columnTitled("Mbit/s"), drive(m, "<", ">").sortBy)
	seen := map[columnID]bool{}
	for range int(colName) + 1 {
		m = drive(m, "right")
		seen[m.sortBy] = true
		view := m.view()
		assert.Contains(t, view, "↓", "the column that rows are sorted by is always shown")
		assert.Contains(t, view, "sorted by "+columnOf(m.sortBy).Title)
	}
	assert.Len(t, seen, int(colName)+1)
}

// The cursor stays on its row when others overtake it; on the first row it stays until it is moved.
func TestCursor(t *testing.T) {
	m := drive(start(80, 24), steady())
	require.Equal(t, "com.acme.order.OrderQuery/listByBuyer", m.at())
	assert.Equal(t, "com.acme.user.UserService/getUser", func() string { m := drive(m, "2"); return m.at() }(), "never moved: the first row")

	m = drive(m, "down")
	require.Equal(t, "com.acme.item.ItemService/batchGet", m.at())
	other := steady()
	setNumber(&other.Rows[1], "Mbit/s", 1e-6)
	m = drive(m, other)
	assert.Equal(t, "com.acme.item.ItemService/batchGet", m.at())
	assert.Equal(t, 5, m.cursor)
	m = drive(m, "3")
	assert.Equal(t, "com.acme.item.ItemService/batchGet", m.at())
	assert.Equal(t, 0, m.cursor)

	gone := steady()
	gone.Rows = gone.Rows[:1]
	m = drive(m, gone)
	assert.Equal(t, 0, m.cursor)
	m = drive(m, steady(), "3", "home", "1")
	assert.Equal(t, 0, m.cursor, "Home: the first row, whichever that is")

	m = drive(start(80, 24), many(5000), "pgdown", "pgdown", "down")
	row := m.at()
	assert.Equal(t, 2*m.layout().rows+1, m.cursor)
	m = drive(m, "2") // from the other end
	assert.Equal(t, row, m.at())
	assert.Contains(t, m.view(), "> Service002/method0025")
	m = drive(m, "end")
	assert.Equal(t, 4999, m.cursor)
	assert.Contains(t, m.view(), "of 5,000")
	m = drive(m, "pgup", "k", "j", "home")
	assert.Equal(t, 0, m.top)
}

// g and G go through the groupings; the rows of the former one stay until those of the new one come.
func TestGrouping(t *testing.T) {
	m := drive(start(80, 24), steady(), "down", "g")
	assert.Equal(t, live.ByService, m.settings.By)
	assert.Contains(t, m.view(), "by method", "until a snapshot by service comes")
	m = drive(m, grouped(live.ByService))
	assert.Contains(t, m.view(), "by service")
	assert.Contains(t, m.view(), "> c.a.o.OrderQuery")
	assert.Equal(t, live.ByPair, drive(m, "G", "G").settings.By)
	for range 6 {
		m = drive(m, "g")
	}
	assert.Equal(t, live.ByService, m.settings.By, "behind the last comes the first")

	m = drive(m, append(append([]any{"g", "g", "g", "g", "g", "/"}, typing("com.acme")...), "enter", "g")...)
	assert.Equal(t, live.Settings{By: live.ByService, Filter: "com.acme"}, m.settings, "services are named as methods are")
	m = drive(m, "g")
	assert.Equal(t, live.Settings{By: live.BySerialization}, m.settings, "serializations are not")
}

// Enter on a row shows its methods, and on one of them its page; Esc goes back by the same way, to the same rows.
func TestDrillDown(t *testing.T) {
	for by, want := range map[live.Grouping]live.Selection{
		live.ByService: {Service: "com.acme.item.ItemService"}, live.BySerialization: {Serialization: "kryo"}, live.ByClient: {Client: "10.0.3.18"},
		live.ByServer: {Server: "10.0.1.9:20880"}, live.ByPair: {Client: "10.0.3.18", Server: "10.0.1.8:20880"},
	} {
		m := start(80, 24)
		m.settings.By = by
		m = drive(m, grouped(by), "/", "*", "enter", "6", "down")
		left := m.settings
		m = drive(m, "home", "down", "enter")
		require.Equal(t, live.Settings{By: live.ByMethod, Of: want}, m.settings)
		methods := selected()
		methods.Of = want
		assert.Equal(t, m.settings, drive(m, "enter").settings, "the rows of the former table select nothing")
		m = drive(m, methods)
		assert.Contains(t, m.view(), "by method of "+want.String())
		assert.Contains(t, m.view(), "open for 3 s")
		for range 10 { // other groupings of the same calls
			m = drive(m, "g")
			assert.False(t, want.Decides(m.settings.By))
			assert.Equal(t, want, m.settings.Of)
		}
		m.settings.By = live.ByMethod
		m = drive(m, methods, "enter")
		assert.Equal(t, live.Settings{By: live.ByMethod, Of: want, Open: methods.Rows[0].Method}, m.settings)
		m = drive(m, detailed())
		assert.Contains(t, m.view(), "waiting for a call", "these are all calls of the method")
		of := detailed()
		of.Detail.Of = want
		m = drive(m, of)
		if by != live.ByService {
			assert.Contains(t, m.view(), "/listByBuyer of "+want.Names())
		}
		assert.Contains(t, m.view(), "open 12 s")
		assert.Equal(t, "kept", func() string { m := drive(m, "w", "esc"); return map[bool]string{true: "kept"}[m.settings.Record] }())
		m = drive(m, "esc", methods)
		assert.Equal(t, live.Settings{By: live.ByMethod, Of: want}, m.settings)
		m = drive(m, "q", grouped(by))
		assert.Equal(t, left, m.settings)
		assert.Equal(t, columnTitled("response p99"), m.sortBy)
		assert.Equal(t, m.list[1].Name, m.at())
		assert.False(t, m.quit)
		assert.True(t, drive(m, "q").quit)
	}
	nameless := grouped(live.ByService)
	nameless.Rows[0].Name = ""
	m := start(80, 24)
	m.settings.By = live.ByService
	m = drive(m, nameless, "enter")
	assert.Empty(t, m.trail)
	assert.Contains(t, m.view(), "rows without a name")
}

// The failed calls are listed by cause; Enter goes to the method, for the calls of that client and serialization.
func TestErrors(t *testing.T) {
	m := drive(start(80, 24), steady(), "e", "down")
	assert.Contains(t, m.view(), "> UserService/getUser")
	other := steady()
	other.Failures[0], other.Failures[1] = other.Failures[1], other.Failures[0]
	m = drive(m, other)
	assert.Equal(t, 0, m.cursor, "the cursor stays on its row")
	m = drive(m, steady(), "enter")
	assert.Equal(t, live.Settings{
		Open: live.Method{Service: "com.acme.user.UserService", Method: "getUser"}, Of: live.Selection{Serialization: "kryo (Kryo 5)", Client: "10.0.3.18"},
		Errors: true,
	}, m.settings)
	m = drive(m, "esc")
	assert.Equal(t, errorsPage, m.page)
	assert.Equal(t, 1, m.cursor)
	assert.Contains(t, func() string { m := drive(m, "end", "enter"); return m.view() }(), "many kinds")
	m = drive(m, "end", "up", "?", "esc", "esc")
	assert.Equal(t, tablePage, m.page)
	assert.Equal(t, live.Settings{}, m.settings)
	unanswered := waiting()
	unanswered.ErrorPercent = -1
	m = drive(start(80, 24), unanswered, "e", "enter")
	assert.Contains(t, m.view(), "No response with a known status was captured")
	assert.Contains(t, m.view(), "errors -")
}

func plainText(l line) string {
	var b strings.Builder
	l.write(&b, false)
	return b.String()
}

// The last line of a page has only keys that do something there, and the help has a sentence for each.
func TestBindings(t *testing.T) {
	for _, m := range []model{
		drive(start(200, 24), steady()), drive(start(200, 24), steady(), "e"), drive(start(200, 24), steady(), "enter", detailed()),
	} {
		last := m.lines()[23]
		help := drive(m, "?")
		var text strings.Builder
		for _, l := range help.help() {
			text.WriteString(plainText(l) + "\n")
		}
		for i := range bindings {
			b := &bindings[i]
			assert.Regexp(t, `^[A-Z].*\.$`, b.what)
			if b.on&m.kind() == 0 {
				continue
			}
			assert.Contains(t, text.String(), "  "+b.keys)
			if b.key != "" {
				assert.Contains(t, plainText(last), b.key+" "+b.name)
			}
		}
	}
}

// What is typed filters at once; Enter keeps it, Esc takes it away.
func TestFilter(t *testing.T) {
	m := drive(start(80, 24), steady(), "/")
	m = drive(m, typing("Stock")...)
	assert.Equal(t, "Stock", m.settings.Filter)
	assert.Equal(t, []string{"reserve"}, names(m))
	assert.Contains(t, m.view(), "filter: Stock_")
	m = drive(m, "backspace", "backspace", "ctrl+u", "q")
	assert.Equal(t, "q", m.settings.Filter, "letters are no keys meanwhile")
	assert.False(t, m.quit)
	m = drive(m, "enter", "j")
	assert.Equal(t, "q", m.settings.Filter)
	assert.Equal(t, []string{"listByBuyer"}, names(m), "OrderQuery")
	m = drive(m, "esc")
	assert.Empty(t, m.settings.Filter)
	assert.Len(t, m.list, 6)
	assert.Equal(t, []string{"getUser", "getMetadataInfo"}, names(drive(m, append([]any{"/"}, typing("*/GET*")...)...)), "a pattern is of the whole name")
	assert.Equal(t, []string{"batchGet"}, names(drive(m, append([]any{"/"}, typing("*/?atch?et")...)...)))
	assert.Empty(t, names(drive(m, append([]any{"/"}, typing("*(batch+")...)...)), "nothing else has a meaning")
	assert.Empty(t, drive(m, "/", "x", "esc").settings.Filter)
	assert.Empty(t, drive(m, "/", "x", "backspace").settings.Filter)
	assert.False(t, drive(m, "/", "backspace").editing)
	assert.Equal(t, "com.acme.", drive(m, append(append([]any{"/"}, typing("com.acme.order")...), "ctrl+w")...).settings.Filter)
	m = drive(m, append([]any{"/"}, typing(strings.Repeat("長", 500))...)...)
	assert.LessOrEqual(t, len(m.settings.Filter), longestText)
	fits(t, m.view(), 80, 24)
}

// t changes the time that rows cover, on every page.
func TestWindow(t *testing.T) {
	m := drive(start(80, 24), steady(), "t")
	assert.Equal(t, live.Settings{Window: 1}, m.settings)
	assert.Contains(t, m.view(), "last 10 s of 1 min, sorted by Mbit/s")
	full := steady()
	full.Window, full.RowsWindow = 57*time.Second, 57*time.Second
	assert.Contains(t, func() string { m := drive(m, full); return m.view() }(), "last 57 s, sorted by Mbit/s")
	m = drive(m, "e", "t", "t", "t", "t")
	assert.Contains(t, m.view(), "last 10 s of 5 min")
	m = drive(m, "esc")
	assert.Equal(t, live.Settings{Window: 2}, m.settings, "kept on all pages")
	assert.Equal(t, live.Settings{}, drive(m, "t").settings)
}

// A pause freezes what is shown, but neither drops nor the capture.
func TestPause(t *testing.T) {
	m := drive(start(80, 24), steady(), "space", after(75*time.Second), dropping())
	view := m.view()
	assert.Contains(t, view, "PAUSED 1 min 15 s")
	assert.Contains(t, view, "DROPS 1,234")
	assert.Contains(t, view, "612")
	other := steady()
	setNumber(&other.Rows[0], "Mbit/s", 7)
	m = drive(m, other)
	assert.Contains(t, m.view(), "612", "frozen")
	m = drive(m, "9")
	assert.Equal(t, "reserve", names(m)[0], "but what is there can be sorted")
	m = drive(m, "/", "p", "a", "y", "enter")
	assert.Equal(t, []string{"status"}, names(m), "and filtered")
	m = drive(m, "esc", "space")
	assert.NotContains(t, m.view(), "PAUSED")
	assert.NotContains(t, m.view(), "612")
	assert.Nil(t, drive(start(80, 24), "space").frozen, "nothing to freeze")
	assert.Nil(t, drive(m, "space", "g").frozen, "another grouping needs new rows")
	assert.Nil(t, drive(m, "space", "enter").frozen, "a method does")
}

// Enter opens the method of the cursor, q goes back; q on the table ends it all.
func TestOpen(t *testing.T) {
	m := drive(start(80, 24), steady(), "enter")
	assert.Equal(t, live.Method{Service: "com.acme.order.OrderQuery", Method: "listByBuyer"}, m.settings.Open)
	assert.Contains(t, m.view(), "waiting for the next call")
	other := detailed()
	other.Detail.Method.Method = "another"
	assert.Contains(t, func() string { m := drive(m, other); return m.view() }(), "waiting for the next call", "that is not the one")
	m = drive(m, detailed())
	assert.Contains(t, m.view(), "[anatomy]")
	order := []string{"paths", "histograms", "clients", "calls", "largest call", "anatomy"}
	for _, name := range order {
		m = drive(m, "tab")
		assert.Contains(t, m.view(), "["+name+"]")
	}
	for i := len(order) - 2; i >= 0; i-- {
		m = drive(m, "left")
		assert.Contains(t, m.view(), "["+order[i]+"]")
	}
	assert.Contains(t, func() string { m := drive(m, "e"); return m.view() }(), "LARGEST CALL")
	for _, key := range []string{"c", "enter"} {
		m := drive(m, key)
		assert.Contains(t, m.view(), "[calls]")
		assert.Contains(t, m.view(), "FAILED CALLS")
	}
	longer := detailed()
	longer.Detail.Clients = append(longer.Detail.Clients, longer.Detail.Clients...)
	calls := drive(m, "c", longer)
	assert.Contains(t, calls.view(), "[calls]", "where it was, although the page became longer above")
	assert.Equal(t, 0, drive(m, "home").scroll)
	assert.Equal(t, 1, drive(m, "home", "down").scroll)
	for _, back := range []string{"q", "esc", "backspace"} {
		b := drive(m, back)
		assert.Equal(t, tablePage, b.page)
		assert.Equal(t, live.Method{}, b.settings.Open)
		assert.False(t, b.quit)
		assert.True(t, drive(b, "q").quit)
	}
	assert.True(t, drive(m, "ctrl+c").quit)

	rest := odd()
	m = drive(start(80, 24), rest, "end", "enter")
	assert.Equal(t, tablePage, m.page)
	assert.Contains(t, m.view(), "many groups")
	m = drive(m, "up", "enter")
	assert.Contains(t, m.view(), "the method is unknown")
}

func TestHelp(t *testing.T) {
	m := drive(start(80, 24), steady(), noticeMsg("eth0 went down; waiting"))
	assert.Contains(t, m.view(), "eth0 went down; waiting")
	m = drive(m, after(9*time.Second))
	assert.NotContains(t, m.view(), "eth0 went down; waiting")
	m = drive(m, "enter", "?", "end")
	assert.Contains(t, m.view(), "eth0 went down; waiting", "kept")
	assert.Contains(t, m.view(), "9 s ago")
	m = drive(m, "q")
	assert.Equal(t, detailPage, m.page, "where it was asked for")
	for range 3 * noticesKept {
		m = drive(m, noticeMsg("again"))
	}
	assert.Len(t, m.notices, noticesKept)
}

func TestRecord(t *testing.T) {
	m := drive(start(80, 24), steady(), "w")
	assert.True(t, m.settings.Record)
	failed := steady()
	failed.RecordError = "no space left on device"
	m = drive(m, failed)
	assert.Contains(t, m.view(), "! recording: no space left on device")
	assert.False(t, drive(m, "w").settings.Record)
	assert.Contains(t, func() string { m := drive(m, "ctrl+z"); return m.view() }(), "Ctrl-Z does nothing")
}

// Nothing jumps: however numbers change, the rows of the table start and end in the same lines.
func TestSteadyLayout(t *testing.T) {
	for _, s := range []*live.Snapshot{waiting(), steady(), dropping(), recording(), down(), odd(), many(100)} {
		m := drive(start(80, 24), s)
		lines := strings.Split(m.view(), "\n")
		assert.Contains(t, lines[5], "service/method")
		assert.Contains(t, lines[23], "quit")
		assert.Regexp(t, `(drops|DROPS) [0-9,]+  ring [0-9]+ %!?  coverage [0-9-]`, lines[0])
	}
}

func TestTooSmall(t *testing.T) {
	m := drive(start(30, 6), dropping())
	assert.Contains(t, m.view(), "DROPS 1,234")
	assert.Contains(t, strings.Join(strings.Fields(m.view()), " "), "The terminal is 30 x 6; this screen needs 40 x 8.")
	m = drive(start(leastWidth, leastHeight), steady())
	assert.Contains(t, m.view(), "> ")
	assert.Contains(t, m.view(), "drops 0 ring 3 % cov 99.71 %")
}
