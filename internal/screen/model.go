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

// Messages of the model, beside those of bubbletea.
type (
	snapshotMsg struct{ snap *live.Snapshot }
	clockMsg    time.Time
	noticeMsg   string
)

// notice is a line that somebody wants to be read.
type notice struct {
	at   time.Time
	text string
}

const (
	noticeTime  = 8 * time.Second // how long one is shown
	noticesKept = 100
	staleAfter  = 4 * time.Second // snapshots come each second, at least
	longestText = 200             // of a filter, in bytes
)

// model is all that decides what the screen looks like. It is a value: update makes a new one, view draws it.
type model struct {
	options       Options
	width, height int
	now, heard    time.Time // the clock, and when the last snapshot came

	settings live.Settings
	snap     *live.Snapshot // the newest
	frozen   *live.Snapshot // what is shown while the screen is paused; nil: snap
	paused   time.Time
	rows     rows  // of what is shown
	list     []row // of them those that are wanted, in order

	page      page
	belowHelp page // what the help lies on
	editing   bool // a filter is being typed
	sortBy    columnID
	reversed  bool

	// The cursor stays on the row of its name when rows are sorted anew. Until it is moved, and again from Home on, it
	// stays on the first row, whichever that is.
	cursor, top int
	pinned      string
	isPinned    bool

	scroll     int // of the detail
	helpScroll int
	notices    []notice
	quit       bool
}

func newModel(o Options) model { return model{options: o, settings: o.Settings} }

// shown is the snapshot that is drawn: the frozen one while the screen is paused.
func (m *model) shown() *live.Snapshot {
	if m.frozen != nil {
		return m.frozen
	}
	return m.snap
}

// update returns the model behind a message.
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

// arrange filters and sorts the rows, and brings the cursor back to where it was.
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

// clamp keeps cursor and scrolls where there is something, after whatever has changed.
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

// move puts the cursor on another row, and pins it there.
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

// regroup shows the rows of another grouping. A filter goes along only where names are alike.
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

// unknown is the name of the row of calls whose requests were not seen.
const unknown = "?"

// open looks into the method of the cursor's row, or into the methods of its service.
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

// back goes from a page to the one before.
func (m *model) back() {
	if m.page == helpPage {
		m.page = m.belowHelp
		return
	}
	m.page, m.settings.Open = tablePage, live.Method{}
}

// filter changes what rows are wanted.
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
