package screen

import (
	"fmt"
	"slices"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/term"
)

// detail is the part of a method's page that scrolls.
type detail struct {
	lines    []line
	sections []section
}

type section struct {
	name string
	at   int // first line
}

// last returns the largest scroll position: the end, or the start of the last section.
func (d *detail) last(visible int) int {
	end := len(d.lines) - visible
	if n := len(d.sections); n > 0 && end > 0 {
		end = max(end, d.sections[n-1].at)
	}
	return max(end, 0)
}

// current returns the index of the section of a line.
func (d *detail) current(at int) int {
	current := 0
	for i, s := range d.sections {
		if s.at <= at {
			current = i
		}
	}
	return current
}

// section returns the start of the next section, or of the previous one if step is -1. The first section follows the
// last one.
func (d *detail) section(at, step int) int {
	var starts []int
	for _, s := range d.sections {
		starts = append(starts, s.at)
	}
	starts = slices.Compact(starts)
	next, _ := slices.BinarySearch(starts, at+1)
	now := max(next-1, 0)
	if step < 0 && at > starts[now] {
		return starts[now]
	}
	return starts[(now+step+len(starts))%len(starts)]
}

// start returns the first line of a section.
func (d *detail) start(name string) int {
	return d.sections[slices.IndexFunc(d.sections, func(s section) bool { return s.name == name })].at
}

func (d *detail) begin(name string, heading ...line) {
	if len(d.lines) > 0 {
		d.lines = append(d.lines, nil)
	}
	d.sections = append(d.sections, section{name, len(d.lines)})
	d.lines = append(d.lines, heading...)
}

// openedMethod returns the details of the open method, or nil if the shown snapshot does not have them.
func (m *model) openedMethod() *live.Detail {
	if s := m.shown(); s != nil && s.Detail != nil && s.Detail.Method == m.settings.Open && s.Detail.Of == m.settings.Of {
		return s.Detail
	}
	return nil
}

// sideBySide is the width from which request and response are shown side by side.
const sideBySide = 120

func (m *model) detail() *detail {
	d := &detail{}
	v := m.openedMethod()
	if v == nil {
		v = &live.Detail{}
	}
	wide := m.width >= sideBySide
	half := m.width
	if wide {
		half = (m.width - 2) / 2
	}
	m.anatomy(d, v, wide, half)
	m.histograms(d, v, wide)

	d.begin("clients", line{{"CLIENTS", strong}, {"  by bytes on the wire", faint}})
	for _, c := range v.Clients {
		d.lines = append(d.lines, share(clean(c.Name), "", c.Percent, m.width, 40))
	}
	if len(v.Clients) == 0 {
		d.lines = append(d.lines, styled("  no call yet", faint))
	}
	m.calls(d, v)
	m.largestCall(d, v, half)
	return d
}

// anatomy shows what the bytes are used for.
func (m *model) anatomy(d *detail, v *live.Detail, wide bool, half int) {
	d.begin("anatomy", line{{"BODY COMPOSITION", strong}, {"  request and response, bytes per call", faint}})
	if len(v.Classes) == 0 {
		d.lines = append(d.lines, styled("  waiting for the next call; bodies are decoded from when the method was opened", faint))
	}
	for _, p := range v.Classes {
		d.lines = append(d.lines, share(clean(p.Name), count(p.Bytes), p.Percent, m.width, 16))
	}
	if len(v.Request)+len(v.Response) == 0 {
		return
	}
	paths := func(title string, parts []live.Part) []line {
		lines := []line{{{title, strong}, {"  bytes per call, share of the body", faint}}}
		for _, p := range parts {
			lines = append(lines, share(clean(p.Name), count(p.Bytes), p.Percent, half, 34))
		}
		if len(parts) == 0 {
			lines = append(lines, styled("  none", faint))
		}
		return lines
	}
	request, response := paths("REQUEST", v.Request), paths("RESPONSE", v.Response)
	if wide {
		d.begin("paths", joinColumns(request, response, half)...)
		return
	}
	d.begin("paths", request...)
	d.lines = append(append(d.lines, nil), response...)
}

// share returns a line of a name, a number, a percentage and a bar.
func share(name, number string, part float64, width, nameWidth int) line {
	nameWidth = min(nameWidth, max(width-32, 10))
	l := line{{text: "  " + left(term.CutLeft(name, nameWidth), nameWidth)}}
	if number != "" {
		l = append(l, span{text: " " + right(number, 11)})
	}
	l = append(l, span{text: " " + right(percent(part), 5) + " % "})
	room := width - l.width()
	return append(l, span{text: bar(part/100, min(room, 40))}).cut(width)
}

// histograms shows the distributions of sizes and latencies.
func (m *model) histograms(d *detail, v *live.Detail, wide bool) {
	width := m.width
	if wide {
		width = (m.width - 4) / 3
	}
	draw := func(title, unit string, bins []live.Bin, label func(int64) string) []line {
		lines := []line{{{title, strong}, {"  " + unit, faint}}}
		all, most := int64(0), int64(0)
		for _, b := range bins {
			if b.Count > 0 && all+b.Count > all {
				all += b.Count
				most = max(most, b.Count)
			}
		}
		for _, b := range bins {
			n := max(b.Count, 0)
			part := 0.0
			if all > 0 {
				part = float64(n) / float64(all)
			}
			l := text(fmt.Sprintf("  from %s %s %s %% ", right(label(b.Low), 9), right(shortNumber(count(n), float64(n), 9), 9), right(percent(100*part), 5)))
			if most > 0 {
				l = append(l, span{text: bar(float64(n)/float64(most), min(width-l.width(), 40))})
			}
			lines = append(lines, l.cut(width))
		}
		if len(bins) == 0 {
			lines = append(lines, styled("  no call yet", faint))
		}
		return lines
	}
	bytes := func(n int64) string { return shortNumber(count(n), float64(n), 9) }
	three := [][]line{
		draw("REQUEST BODY", "bytes, calls", v.RequestSizes, bytes),
		draw("RESPONSE BODY", "bytes, calls", v.ResponseSizes, bytes),
		draw("LATENCY", "calls", v.Latencies, elapsed),
	}
	if wide {
		d.begin("histograms", joinColumns(joinColumns(three[0], three[1], width), three[2], 2*width+2)...)
		return
	}
	d.begin("histograms")
	for i, lines := range three {
		if i > 0 {
			d.lines = append(d.lines, nil)
		}
		d.lines = append(d.lines, lines...)
	}
}

// largestCall shows the largest call with its frames explained.
func (m *model) largestCall(d *detail, v *live.Detail, half int) {
	c := v.Largest
	if c == nil {
		d.begin("largest call", line{{"LARGEST CALL", strong}}, styled("  no call yet", faint))
		return
	}
	d.begin("largest call", line{
		{"LARGEST CALL", strong},
		{fmt.Sprintf("  request %s, response %s, latency %s", sizes(c.RequestBytes), sizes(c.ResponseBytes), elapsed(c.Latency)), plain},
	})
	d.lines = append(d.lines,
		text("  "+clean(c.Client)+" > "+clean(c.Server)),
		text(fmt.Sprintf("  %s  frame %s  id %d", m.stamp(c.At), count(c.Frame), c.ID)))
	explained := func(title string, texts []string, width int) []line {
		lines := []line{nil, {{title, strong}}}
		for _, t := range texts {
			lines = append(lines, text(clean(t)).cut(width))
		}
		if len(texts) == 0 {
			lines = append(lines, styled("  not captured", faint))
		}
		return lines
	}
	if half < m.width && half >= 78 {
		d.lines = append(d.lines, joinColumns(explained("REQUEST", c.Request, half), explained("RESPONSE", c.Response, half), half)...)
		return
	}
	d.lines = append(d.lines, explained("REQUEST", c.Request, m.width)...)
	d.lines = append(d.lines, explained("RESPONSE", c.Response, m.width)...)
}

// detailLines draws the page of a method.
func (m *model) detailLines() []line {
	l := m.layout()
	v := m.openedMethod()
	all := []line{m.status()}

	name := clean(m.settings.Open.String())
	since := "waiting for a call"
	if v != nil {
		since = fmt.Sprintf("open %s, %s", seconds(v.Since), plural(v.Calls, "call"))
	}
	room := m.width - term.Width(since) - 1
	selection, of := m.settings.Of, ""
	selection.Service = "" // it is in the method's name
	if selection != (live.Selection{}) {
		of = " of " + term.CutLeft(clean(selection.Names()), max(room-24, 8))
	}
	all = append(all, spread(line{{term.CutLeft(name, max(room-term.Width(of), 8)), strong}, {of, warn}}, text(since), m.width))
	if l.facts > 1 {
		all = append(all, m.facts(v)...)
	}
	all = visible(all, 0, 1+l.facts)

	d := m.detail()
	all = append(all, make([]line, l.air)...)
	all = append(all, m.sectionsLine(d, l.body))
	all = append(all, visible(d.lines, m.scroll, l.body)...)
	all = append(all, m.notesLines(l.notes)...)
	return append(all, m.keysLine())
}

// facts returns the method's numbers of the window.
func (m *model) facts(v *live.Detail) []line {
	if v == nil {
		return nil
	}
	r := &v.Row
	first := fit([]part{
		{line{{perSecond(r.Number("Mbit/s")), strong}, {text: " Mbit/s"}}, 0},
		{text(percentOf(r.Number("share")) + " of all"), 3},
		{line{{perSecond(r.Number("calls/s")), strong}, {text: " calls/s"}}, 0},
		{text("errors " + percentOf(r.Number("errors"))), 1},
		{line{{"latency", faint}, {text: " p50 " + nanos(r.Number("latency p50")) + ", p99 " + nanos(r.Number("latency p99"))}}, 2},
		{text(clean(r.Serializations)), 4},
	}, "   ", m.width)
	lines := []line{first, styled(left("body bytes", 10)+right("mean", 12)+right("p50", 12)+right("p99", 12)+right("max", 12), faint)}
	for _, name := range []string{"request", "response"} {
		l := line{{left(name, 10), strong}}
		for _, of := range []string{" mean", " p50", " p99", " max"} {
			f := r.Number(name + of)
			l = append(l, span{text: right(shortNumber(size(f), f, 11), 12)})
		}
		lines = append(lines, l)
	}
	return lines
}

// sectionsLine lists the sections, the current one in brackets, and how many lines follow below.
func (m *model) sectionsLine(d *detail, visible int) line {
	var l line
	current := d.current(m.scroll)
	for i, s := range d.sections {
		name := span{" " + s.name + " ", plain}
		if i == current {
			name = span{"[" + s.name + "]", sorted}
		}
		l = append(l, name, span{text: " "})
	}
	below := len(d.lines) - m.scroll - visible
	more := ""
	if below > 0 {
		more = "↓ " + plural(int64(below), "line")
	}
	return spread(l, styled(more, faint), m.width)
}
