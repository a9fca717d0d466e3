package screen

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"dubbo-wire/internal/live"
)

// page is what the screen shows.
type page uint8

const (
	tablePage page = iota
	errorsPage
	detailPage
	helpPage
)

// Messages of the model, in addition to those of bubbletea.
type (
	snapshotMsg struct{ snap *live.Snapshot }
	clockMsg    time.Time
	noticeMsg   string
)

// notice is a line for the user.
type notice struct {
	at   time.Time
	text string
}

const (
	noticeTime  = 8 * time.Second // how long a notice is shown
	noticesKept = 100
	staleAfter  = 4 * time.Second // snapshots come at least once per second
	longestText = 200             // bytes of a filter
)

// model is the whole state of the screen. It is a value: update returns a new one, view draws it.
type model struct {
	options       Options
	width, height int
	now, heard    time.Time // the clock, and the time of the last snapshot

	settings live.Settings
	snap     *live.Snapshot // the newest one
	frozen   *live.Snapshot // shown while the screen is paused; nil: snap is shown
	paused   time.Time
	rows     rows  // of the shown snapshot
	list     []row // the rows that match the filter, sorted

	place
	trail      []place // the places from which the user came here, the first one first
	belowHelp  page    // the page under the help
	editing    bool    // the user types a filter
	helpScroll int
	notices    []notice
	quit       bool
}

// place is where the user is.
type place struct {
	page     page
	sortBy   columnID
	reversed bool

	// The cursor stays on the row with its name when rows are sorted again. Until it is moved, and after Home, it stays
	// on the first row.
	cursor, top int
	pinned      string
	isPinned    bool

	scroll int           // of the detail page
	left   live.Settings // the settings when the user went on from here
}

func newModel(o Options) model { return model{options: o, settings: o.Settings} }

// shown returns the snapshot that is drawn: the frozen one while the screen is paused.
func (m *model) shown() *live.Snapshot {
	if m.frozen != nil {
		return m.frozen
	}
	return m.snap
}

// update returns the model after a message.
func (m model) update(msg tea.Msg) model {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case clockMsg:
		m.now = time.Time(msg)
	case snapshotMsg:
		var before *detail
		if m.current() == detailPage {
			before = m.detail()
		}
		m.snap, m.heard = msg.snap, m.now
		if m.frozen == nil {
			m.rows = prepare(m.snap)
			m.arrange()
			m.keepSection(before)
		}
	case noticeMsg:
		m.notices = append(m.notices[:len(m.notices):len(m.notices)], notice{m.now, clean(string(msg))})
		if n := len(m.notices) - noticesKept; n > 0 {
			m.notices = m.notices[n:]
		}
	case tea.PasteMsg:
		if m.editing {
			m.appendToFilter(msg.Content)
		}
	case tea.KeyPressMsg:
		m.press(msg)
	}
	m.clamp()
	return m
}

// keepSection keeps the section of a method's page where it is on the screen, however long those before it become.
func (m *model) keepSection(before *detail) {
	if before == nil {
		return
	}
	at := before.sections[before.current(m.scroll)]
	after := m.detail()
	if i := slices.IndexFunc(after.sections, func(s section) bool { return s.name == at.name }); i >= 0 && at.at > 0 {
		m.scroll += after.sections[i].at - at.at
	}
}

// arrange filters and sorts the rows, and puts the cursor back on its row.
func (m *model) arrange() {
	m.list = m.rows.visible(m.settings.Filter, m.sortBy, m.reversed)
	if !m.isPinned {
		m.cursor = 0
		return
	}
	for i := range m.rowCount() {
		if m.rowName(i) == m.pinned {
			m.cursor = i
			return
		}
	}
}

// current returns the page, or the one under the help.
func (m *model) current() page {
	if m.page == helpPage {
		return m.belowHelp
	}
	return m.page
}

// rowCount returns the number of rows that the cursor can be on, rowName the name of one.
func (m *model) rowCount() int {
	if m.current() == errorsPage {
		return len(m.failures())
	}
	return len(m.list)
}

func (m *model) rowName(i int) string {
	if m.current() == errorsPage {
		f := m.failures()[i]
		return strings.Join([]string{f.Cause, f.Text, f.Serialization, f.Client, f.Method.Service, f.Method.Method}, "\x00")
	}
	return m.list[i].Name
}

// clamp moves the cursor and the scroll positions into their ranges after any change.
func (m *model) clamp() {
	switch m.page {
	case detailPage:
		m.scroll = max(min(m.scroll, m.detail().last(m.layout().body)), 0)
	case helpPage:
		m.helpScroll = max(min(m.helpScroll, len(m.help())-m.layout().body), 0)
	default:
		m.cursor = max(min(m.cursor, m.rowCount()-1), 0)
		visible := max(m.layout().rows, 1)
		m.top = max(min(m.top, m.rowCount()-visible), 0)
		m.top = max(min(m.top, m.cursor), m.cursor-visible+1)
	}
}

// move puts the cursor on another row and pins it there.
func (m *model) move(to int) {
	m.cursor = max(min(to, m.rowCount()-1), 0)
	m.isPinned = to > 0
	if m.isPinned && m.cursor < m.rowCount() {
		m.pinned = m.rowName(m.cursor)
	}
}

func (m *model) notify(text string) { *m = m.update(noticeMsg(text)) }

// resume ends a pause.
func (m *model) resume() {
	if m.frozen == nil {
		return
	}
	m.frozen = nil
	m.rows = prepare(m.snap)
	m.arrange()
}

// regroup changes the grouping by some steps, past those in which all selected calls are one row. The filter is kept only
// if both groupings have similar names.
func (m *model) regroup(steps int) {
	m.resume()
	old, by := m.settings.By, m.settings.By.Next(steps)
	for m.settings.Of.Decides(by) {
		by = by.Next(steps)
	}
	if old > live.ByService || by > live.ByService {
		m.settings.Filter = ""
	}
	m.settings.By = by
	m.top, m.isPinned = 0, false
	m.arrange()
}

// unknown is the name of the row of calls whose requests were not captured.
const unknown = "?"

// open opens the cursor's row: the page of a method, or the methods of another row.
func (m *model) open() {
	snap := m.shown()
	if snap == nil || m.cursor >= m.rowCount() {
		return
	}
	if m.page == errorsPage {
		if f := m.failures()[m.cursor]; f.Method == (live.Method{}) {
			m.notify("this row stands for many kinds of failed calls")
		} else {
			m.openMethod(f.Method, live.Selection{Serialization: f.Serialization, Client: f.Client})
		}
		return
	}
	if snap.By != m.settings.By || snap.Of != m.settings.Of {
		return // these are the rows of the former table
	}
	r := m.list[m.cursor]
	switch of, ok := snap.Of.And(snap.By, r.Name); {
	case r.rest:
		m.notify("this row stands for many groups; use a filter (/) to see them")
	case snap.By == live.ByMethod:
		m.openMethod(r.Method, snap.Of)
	case !ok:
		m.notify("rows without a name cannot be opened")
	default:
		m.goOn(tablePage)
		m.settings.By, m.settings.Of, m.settings.Filter = live.ByMethod, of, ""
		m.arrange()
	}
}

func (m *model) openMethod(method live.Method, of live.Selection) {
	if method == (live.Method{}) || method.Service == unknown {
		m.notify("the method is unknown, because the requests of these calls were not captured")
		return
	}
	m.goOn(detailPage)
	m.settings.Open, m.settings.Of = method, of
}

// goOn goes to a page from which back returns.
func (m *model) goOn(to page) {
	m.resume()
	m.left = m.settings
	m.trail = append(m.trail[:len(m.trail):len(m.trail)], m.place)
	m.place = place{page: to, sortBy: m.sortBy, reversed: m.reversed}
}

// back returns to the previous page.
func (m *model) back() {
	if m.page == helpPage {
		m.page = m.belowHelp
		return
	}
	last := len(m.trail) - 1
	if last < 0 {
		return
	}
	m.resume()
	m.place, m.trail = m.trail[last], m.trail[:last]
	recording, window := m.settings.Record, m.settings.Window
	m.settings = m.left
	m.settings.Record, m.settings.Window = recording, window
	m.arrange()
}

// filter changes which rows are shown.
func (m *model) filter(s string) {
	if s == m.settings.Filter {
		return
	}
	m.settings.Filter = s
	m.arrange()
	if !m.isPinned {
		m.top = 0
	}
}
