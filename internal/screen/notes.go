package screen

import "fmt"

// note is a sentence that the user should read.
type note struct {
	text  string
	style style
}

// notes returns the notes, the most urgent first.
func (m *model) notes() []note {
	var all []note
	add := func(l style, format string, args ...any) { all = append(all, note{fmt.Sprintf(format, args...), l}) }
	s := m.snap
	if s != nil {
		for _, b := range broken(s) {
			add(warn, "! %s; the capture continues when it is back", b)
		}
		if s.RecordError != "" {
			add(warn, "! recording: %s", clean(s.RecordError))
		}
		switch {
		case s.RecentDrops > 0:
			add(warn, "! the kernel dropped %s, %s in the last %s: sums and rates are too low. A kernel filter or a larger --buffer helps (?)",
				plural(s.KernelDrops, "packet"), count(s.RecentDrops), seconds(s.Window))
		case s.KernelDrops > 0:
			add(warn, "! the kernel dropped %s since the start, none in the last %s", plural(s.KernelDrops, "packet"), seconds(s.Window))
		}
	}
	for i := len(m.notices) - 1; i >= 0 && m.now.Sub(m.notices[i].at) < noticeTime; i-- {
		add(warn, "%s", m.notices[i].text)
	}
	if s != nil && s.Recording != "" {
		add(plain, "recording to %s: %s, %s", clean(s.Recording), plural(s.RecordedPackets, "packet"), volume(s.RecordedBytes))
	}
	if s := m.shown(); s != nil && m.page == tablePage {
		for _, f := range s.Findings {
			add(plain, "! %s", clean(f))
		}
	}
	return all
}

// notesLines returns n lines of notes: the first one in full, the others as far as there is room.
func (m *model) notesLines(n int) []line {
	var lines []line
	all := m.notes()
	for i, t := range all {
		more := len(all) - i - 1
		if len(lines) == n && n > 0 {
			hint := styled(fmt.Sprintf("+%d more: ?", more+1), faint)
			lines[n-1] = spread(lines[n-1], hint, m.width)
			break
		}
		width := m.width
		if more > 0 {
			width -= 12 // for the hint
		}
		lines = append(lines, wrapped(t.text, t.style, width, 2, n-len(lines))...)
	}
	return visible(lines, 0, n)
}
