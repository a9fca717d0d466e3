package screen

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// status returns the first line of every page: what is captured, its problems, and how much of the traffic is seen.
// Drops, ring and coverage are always shown, with current values even while the screen is paused.
func (m *model) status() line {
	s := m.snap
	if s == nil {
		s = &live.Snapshot{KernelDrops: -1, RingFill: -1, Coverage: -1}
	}
	coverage, coverageStyle := none, plain
	if isNumber(s.Coverage) && s.Coverage <= 100 && (s.Calls != 0 || s.Heartbeats != 0 || s.Gap != 0 || s.Skipped != 0 || s.OpenCalls != 0) {
		if coverage = report.Coverage(s.Coverage); s.Coverage < coverageLow {
			coverageStyle = warn
		}
	}
	ring := none
	if isNumber(s.RingFill) {
		ring = percent0(s.RingFill) + " %"
	}
	drops := styled("drops "+count(s.KernelDrops), plain)
	if s.KernelDrops > 0 {
		drops = styled("DROPS "+count(s.KernelDrops), alarm)
	}
	ringStyle := plain
	if s.RingFill >= ringHigh {
		ringStyle = warn
		ring += "!"
	}
	right := append(drops, span{text: "  "}, span{"ring " + ring, ringStyle}, span{text: "  "}, span{"coverage " + coverage, coverageStyle})
	if m.width < 52 {
		right = append(drops[:1:1], span{text: " "}, span{"ring " + ring, ringStyle}, span{text: " "}, span{"cov " + coverage, coverageStyle})
	}

	room := m.width - right.width() - 1
	parts := []part{
		{styled("dubbo-wire", faint), 4},
		{m.where(s), 0},
		{line{}, 5}, // the kernel's filter, if there is room
		{text(clock(s.Running)), 3},
	}
	if m.frozen != nil {
		parts = append(parts, part{styled("PAUSED "+seconds(m.now.Sub(m.paused)), warn), 0})
	}
	if s.Recording != "" {
		parts = append(parts, part{styled("REC "+volume(s.RecordedBytes), warn), 2})
	}
	if stale := m.stale(); stale != "" {
		parts = append(parts, part{styled(stale, alarm), 1})
	}
	l := fit(parts, "  ", room)
	if filter := cmp.Or(s.KernelFilter, m.options.Filter); filter != "" {
		const least = 8
		quoted := `"` + clean(filter) + `"`
		if room-l.width()-2 < min(term.Width(quoted), 16) {
			parts[0].line = nil // the program's name gives way
			l = fit(parts, "  ", room)
		}
		if free := room - l.width() - 2; free >= least {
			if term.Width(quoted) > free {
				quoted = term.CutEnd(quoted, free-2) + `…"`
			}
			parts[2].line = text(quoted)
			l = fit(parts, "  ", room)
		}
	}
	return spread(l, right, m.width)
}

const (
	ringHigh    = 75 // percent from which the ring is close to losing packets
	coverageLow = 95 // percent below which much is missing
)

// stale returns a warning if no snapshot came for a while.
func (m *model) stale() string {
	if m.snap == nil || m.heard.IsZero() || m.now.Sub(m.heard) < staleAfter {
		return ""
	}
	return "NO NEWS FOR " + seconds(m.now.Sub(m.heard))
}

func percent0(f float64) string {
	if f > 0 && f < 1 {
		return "<1"
	}
	return fmt.Sprintf("%.0f", min(f, 999))
}

// where returns the interfaces and their problems.
func (m *model) where(s *live.Snapshot) line {
	var broken line
	for _, i := range s.Interfaces {
		state := interfaceState(i)
		if state == "" {
			continue
		}
		if len(s.Interfaces) > 1 {
			state = clean(i.Name) + " " + state
		}
		if len(broken) > 0 {
			broken = append(broken, span{text: " "})
		}
		broken = append(broken, span{state, alarm})
	}
	l := line{{term.CutLeft(clean(m.options.Title), 24), strong}}
	if len(broken) > 0 {
		l = append(append(l, span{text: " "}), broken.cut(30)...)
	}
	return l
}

func interfaceState(i live.Interface) string {
	switch {
	case i.Gone:
		return "GONE"
	case !i.Up:
		return "DOWN"
	}
	return ""
}

// loopback reports whether only the loopback interface is captured, where every packet is incoming.
func loopback(s *live.Snapshot) bool {
	return len(s.Interfaces) == 1 && s.Interfaces[0].Name == "lo"
}

// traffic returns two lines: incoming and outgoing traffic, and Dubbo's part of it.
func (m *model) traffic(s *live.Snapshot) [2]line {
	if s == nil {
		s = &live.Snapshot{}
	}
	type cells struct{ label, rate, use, name, part, more string }
	other := "other"
	if s.OtherFromCounters {
		other = "other*"
	}
	two := [2]cells{
		{"in", rate(s.In) + " Mbit/s", linkUse(s.In, s.Speed), cmp.Or(s.Protocols, "rpc"), rate(s.Messages) + " Mbit/s", perSecond(s.CallsPerSecond) + " calls/s"},
		{"out", rate(s.Out) + " Mbit/s", linkUse(s.Out, s.Speed), other, rate(s.Other) + " Mbit/s", "errors " + percentOf(s.ErrorPercent)},
	}
	history := [2][]float64{s.InHistory, s.OutHistory}
	if loopback(s) {
		two[1].rate, two[1].use = none, "all incoming"
		history[1] = nil
	}
	widest := func(least int, of func(c *cells) string) int {
		return max(least, term.Width(of(&two[0])), term.Width(of(&two[1])))
	}
	number := 12
	if m.width < 64 {
		number = 11
	}
	wRate := widest(number, func(c *cells) string { return c.rate })
	wPart := widest(number, func(c *cells) string { return c.part })
	wName := widest(5, func(c *cells) string { return c.name })
	wMore := widest(14, func(c *cells) string { return c.more })
	wUse := widest(0, func(c *cells) string { return c.use })
	fixed := 3 + 1 + wRate + 3 + wName + 1 + wPart
	room := m.width - fixed
	if room < wMore+2 {
		wMore = 0
	} else {
		room -= wMore + 2
	}
	if wUse > 0 && room < wUse+2 { // without the link's speed
		for i := range two {
			two[i].use, _, _ = strings.Cut(two[i].use, " of ")
		}
		wUse = widest(0, func(c *cells) string { return c.use })
	}
	if room < wUse+2 {
		wUse = 0
	} else if wUse > 0 {
		room -= wUse + 2
	}
	wSpark := min(room-1, 60)
	if wSpark < 4 {
		wSpark = 0
	}
	top := 0.0
	for _, h := range history {
		for _, f := range h[max(0, len(h)-max(wSpark, 0)):] {
			if isNumber(f) {
				top = max(top, f)
			}
		}
	}
	var lines [2]line
	for i := range two {
		c := &two[i]
		l := line{{left(c.label, 3), strong}, {text: " " + right(c.rate, wRate)}}
		if wSpark > 0 {
			l = append(l, span{text: " " + sparkline(history[i], top, wSpark)})
		}
		if wUse > 0 {
			style := plain
			if bits := [2]float64{s.In, s.Out}[i]; s.Speed > 0 && bits >= fullLink*s.Speed {
				style = warn
			}
			l = append(l, span{text: "  "}, span{left(c.use, wUse), style})
		}
		l = append(l, span{" │ ", faint}, span{left(c.name, wName), strong}, span{text: " " + right(c.part, wPart)})
		if wMore > 0 {
			style := plain
			if i == 1 && s.ErrorPercent >= errorsHigh {
				style = warn
			}
			l = append(l, span{text: "  "}, span{right(c.more, wMore), style})
		}
		lines[i] = l.cut(m.width)
	}
	return lines
}

// errorsHigh is the percentage of errors from which they are highlighted.
const errorsHigh = 1

// fullLink is the share of a link's capacity from which it counts as full.
const fullLink = 0.9

// linkUse formats how much of a link is used.
func linkUse(bits, speedOf float64) string {
	if !isNumber(bits) || !isNumber(speedOf) || speedOf == 0 {
		return ""
	}
	share := bits / speedOf * 100
	return fmt.Sprintf("%3s %% of %s", percent0(share), speed(speedOf))
}

// totals returns the sums since the start, for terminals with room for them.
func (m *model) totals(s *live.Snapshot) line {
	if s == nil {
		return nil
	}
	return fit([]part{
		{text("since the start"), 0},
		{text(plural(s.Packets, "packet")), 1},
		{text(volume(s.LinkBytes)), 1},
		{text(plural(s.Calls, "call")), 0},
		{text(plural(s.Errors, "error")), 0},
		{text(plural(s.Heartbeats, "heartbeat")), 4},
		{text(plural(int64(s.Connections), "connection") + " now"), 2},
		{text(plural(int64(s.OpenCalls), "open call")), 2},
		{text("expired " + plural(s.ExpiredCalls, "call") + " and " + plural(s.ExpiredConns, "connection")), 5},
		{text("missing " + volume(s.Gap)), 3},
		{text("skipped " + volume(s.Skipped)), 3},
	}, "   ", m.width)
}

// caption describes the table: grouping, selection, window, order, filter and position.
func (m *model) caption(s *live.Snapshot) line {
	order := "sorted by " + columnOf(m.sortBy).Title
	if m.reversed {
		order += ", least first"
		if m.sortBy == colName || columnOf(m.sortBy).word != nil {
			order = strings.Replace(order, "least", "last", 1)
		}
	}
	by, of := m.settings.By, m.settings.Of
	window := ""
	if s != nil {
		by, of = s.By, s.Of
		window = "last " + m.covered(s.RowsWindow)
		if s.RowsWindow < s.Window {
			window = "open for " + seconds(s.RowsWindow)
		}
	}
	place := ""
	if n := len(m.list); n > 0 {
		place = fmt.Sprintf("%s-%s of %s", count(int64(m.top+1)), count(int64(min(m.top+m.layout().rows, n))), count(int64(n)))
		if s != nil && m.settings.Filter != "" && s.Groups > n {
			place += fmt.Sprintf(" (%s in all)", count(int64(s.Groups)))
		}
	}
	filter := part{styled("filter: none", faint), 0}
	if m.settings.Filter != "" || m.editing {
		filter.line = styled("filter: "+term.Cut(clean(m.settings.Filter), max(m.width/3, 8)), warn)
	} else if of != (live.Selection{}) {
		filter = part{} // what is selected matters more
	}
	right := fit([]part{filter, {text(place), 1}}, "   ", m.width)

	name := line{{"by " + by.String(), strong}}
	room := m.width - right.width() - 2
	if of != (live.Selection{}) {
		name = append(name, span{" of " + term.CutLeft(clean(of.String()), max(room-name.width()-len(" of , open for 10 s"), 8)), warn})
	}
	left := fit([]part{{name, 0}, {text(window), 1}, {text(order), 2}}, ", ", room)
	return spread(left, right, m.width)
}

// covered returns a time with the time that it will reach, if the user chose a longer one.
func (m *model) covered(d time.Duration) string {
	if w := m.settings.Window; w > 0 && d < w.Duration()*8/10 {
		return seconds(d) + " of " + w.String()
	}
	return seconds(d)
}

// broken returns the interfaces that cannot be captured now, with the reason.
func broken(s *live.Snapshot) []string {
	var names []string
	for _, i := range s.Interfaces {
		if state := interfaceState(i); state != "" {
			names = append(names, clean(i.Name)+" is "+strings.ToLower(state))
		}
	}
	return names
}
