package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// press handles a key.
func (m *model) press(msg tea.KeyPressMsg) {
	key := msg.String()
	if key == "ctrl+c" {
		m.quit = true
		return
	}
	if key == "ctrl+z" {
		m.notify("Ctrl-Z does nothing, because a suspended capture loses packets; Ctrl-C ends the capture")
		return
	}
	switch {
	case m.editing:
		m.edit(key, msg.Text)
	case m.page == helpPage:
		m.pressHelp(key)
	default:
		m.pressAnywhere(key)
	}
}

// pressAnywhere handles keys that do the same on all pages but the help.
func (m *model) pressAnywhere(key string) {
	switch key {
	case "space":
		if m.frozen != nil {
			m.resume()
		} else if m.snap != nil {
			m.frozen, m.paused = m.snap, m.now
		}
	case "t":
		m.resume()
		m.settings.Window = m.settings.Window.Next()
	case "w":
		m.settings.Record = !m.settings.Record
	case "?", "h", "f1":
		m.belowHelp, m.page, m.helpScroll = m.page, helpPage, 0
	default:
		switch m.page {
		case detailPage:
			m.pressDetail(key)
		case errorsPage:
			m.pressRows(key)
		default:
			m.pressTable(key)
		}
	}
}

// scrolled returns the position that a scrolling key moves to from position at. size is the number of lines or rows of
// a page, last the position of End. It returns false if the key does not scroll.
func scrolled(key string, at, size, last int) (int, bool) {
	switch key {
	case "up", "k":
		return at - 1, true
	case "down", "j":
		return at + 1, true
	case "pgup", "ctrl+b", "ctrl+u":
		return at - size, true
	case "pgdown", "ctrl+f", "ctrl+d":
		return at + size, true
	case "home":
		return 0, true
	case "end":
		return last, true
	}
	return at, false
}

// pressRows handles the keys of all pages with a cursor.
func (m *model) pressRows(key string) {
	if to, ok := scrolled(key, m.cursor, max(m.layout().rows, 1), m.rowCount()-1); ok {
		m.move(to)
		return
	}
	switch key {
	case "enter":
		m.open()
	case "q", "esc", "backspace":
		m.back()
	}
}

func (m *model) pressTable(key string) {
	switch key {
	case "q":
		if m.quit = len(m.trail) == 0; !m.quit {
			m.back()
		}
	case "esc":
		if m.settings.Filter != "" {
			m.filter("")
		} else {
			m.back()
		}
	case "g":
		m.regroup(1)
	case "G":
		m.regroup(-1)
	case "e":
		m.goOn(errorsPage)
		m.settings.Errors = true
	case "/":
		m.editing = true
	case ">", "right", ".":
		m.sort(sortNeighbour(m.sortBy, 1))
	case "<", "left", ",":
		m.sort(sortNeighbour(m.sortBy, -1))
	case "r":
		m.sort(m.sortBy)
	default:
		m.pressRows(key)
		if key == nameColumn.Key {
			m.sort(colName)
		}
		for i := range columns {
			if columns[i].Key != "" && columns[i].Key == key {
				m.sort(columns[i].id)
			}
		}
	}
}

// sort sorts by a column, or reverses the order if the table is sorted by it already.
func (m *model) sort(by columnID) {
	m.reversed = by == m.sortBy && !m.reversed
	m.sortBy = by
	m.arrange()
	if !m.isPinned {
		m.top = 0
	}
}

// sortNeighbour returns the next or the previous column; the name comes before the first.
func sortNeighbour(by columnID, step int) columnID {
	all := int(colName) + 1
	return columnID((int(by) + step + all) % all)
}

func (m *model) pressDetail(key string) {
	body := m.layout().body
	switch d := m.detail(); key {
	case "q", "esc", "backspace":
		m.back()
	case "enter", "c":
		m.scroll = d.start("calls")
	case "tab", "right", "l":
		m.scroll = d.section(m.scroll, 1)
	case "shift+tab", "left":
		m.scroll = d.section(m.scroll, -1)
	case "e", "x":
		m.scroll = d.start("largest call")
	default:
		m.scroll, _ = scrolled(key, m.scroll, max(body-1, 1), d.last(body))
	}
}

func (m *model) pressHelp(key string) {
	switch key {
	case "q", "esc", "backspace", "?", "h", "f1", "enter", "space":
		m.back()
	default:
		m.helpScroll, _ = scrolled(key, m.helpScroll, max(m.layout().body-1, 1), len(m.help()))
	}
}

// edit changes the filter, which applies at once.
func (m *model) edit(key, text string) {
	f := m.settings.Filter
	switch key {
	case "enter":
		m.editing = false
	case "esc":
		m.editing = false
		m.filter("")
	case "backspace", "ctrl+h":
		if f == "" {
			m.editing = false
			return
		}
		_, n := utf8.DecodeLastRuneInString(f)
		m.filter(f[:len(f)-n])
	case "ctrl+u":
		m.filter("")
	case "ctrl+w":
		m.filter(f[:strings.LastIndexAny(strings.TrimRight(f, "./ "), "./ ")+1])
	case "up", "down":
		m.pressTable(key)
	default:
		m.appendToFilter(text)
	}
}

// appendToFilter appends the characters that can be part of a name.
func (m *model) appendToFilter(text string) {
	add := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	if len(m.settings.Filter)+len(add) <= longestText {
		m.filter(m.settings.Filter + add)
	}
}
