package screen

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"dubbo-wire/internal/live"
)

// page is what the screen shows.
type page uint8

const (
	tablePage page = iota
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

	page      page
	belowHelp page // the page under the help
	editing   bool // the user types a filter
	sortBy    columnID
	reversed  bool

	// The cursor stays on the row with its name when rows are sorted again. Until it is moved, and after Home, it stays
	// on the first row.
	cursor, top int
	pinned      string
	isPinned    bool

	scroll     int // of the detail page
	helpScroll int
	notices    []notice
	quit       bool
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
		m.snap, m.heard = msg.snap, m.now
		if m.frozen == nil {
			m.rows = prepare(m.snap)
			m.arrange()
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

// arrange filters and sorts the rows, and puts the cursor back on its row.
func (m *model) arrange() {
	m.list = m.rows.visible(m.settings.Filter, m.sortBy, m.reversed)
	if !m.isPinned {
		m.cursor = 0
		return
	}
	for i := range m.list {
		if m.list[i].Name == m.pinned {
			m.cursor = i
			return
		}
	}
}

// clamp moves the cursor and the scroll positions into their ranges after any change.
func (m *model) clamp() {
	m.cursor = max(min(m.cursor, len(m.list)-1), 0)
	visible := max(m.layout().rows, 1)
	m.top = max(min(m.top, len(m.list)-visible), 0)
	m.top = max(min(m.top, m.cursor), m.cursor-visible+1)
	if m.page == detailPage {
		m.scroll = max(min(m.scroll, m.detail().last(m.layout().body)), 0)
	}
	if m.page == helpPage {
		m.helpScroll = max(min(m.helpScroll, len(m.help())-m.layout().body), 0)
	}
}

// move puts the cursor on another row and pins it there.
func (m *model) move(to int) {
	m.cursor = max(min(to, len(m.list)-1), 0)
	m.isPinned = to > 0
	if m.isPinned && m.cursor < len(m.list) {
		m.pinned = m.list[m.cursor].Name
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

// regroup changes the grouping. The filter is kept only if both groupings have similar names.
func (m *model) regroup(by live.Grouping) {
	m.resume()
	switch m.settings.Filter = strings.TrimSuffix(m.settings.Filter, "/"); by {
	case live.ByMethod, live.ByService:
		if old := m.settings.By; old != live.ByMethod && old != live.ByService {
			m.settings.Filter = ""
		}
	default:
		m.settings.Filter = ""
	}
	m.settings.By = by
	m.top, m.isPinned = 0, false
	m.arrange()
}

// unknown is the name of the row of calls whose requests were not captured.
const unknown = "?"

// open opens the method of the cursor's row, or lists the methods of its service.
func (m *model) open() {
	if m.cursor >= len(m.list) {
		return
	}
	r := m.list[m.cursor]
	snap := m.shown()
	switch {
	case r.rest:
		m.notify("this row stands for many groups; a filter (/) singles them out")
	case snap.By == live.ByService:
		m.regroup(live.ByMethod)
		m.filter(r.Name + "/")
	case snap.By != live.ByMethod:
		m.notify("methods can be opened: g groups by method")
	case r.Method == live.Method{}, r.Name == unknown:
		m.notify("the requests of these calls were not seen, so their method is not known")
	default:
		m.resume()
		m.settings.Open = r.Method
		m.page, m.scroll = detailPage, 0
	}
}

// back returns to the previous page.
func (m *model) back() {
	if m.page == helpPage {
		m.page = m.belowHelp
		return
	}
	m.page, m.settings.Open = tablePage, live.Method{}
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
