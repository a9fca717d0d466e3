package screen

import (
	"strings"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/term"
)

// calls lists calls of the method: those that failed, the slowest, the largest and the latest.
func (m *model) calls(d *detail, v *live.Detail) {
	d.begin("calls")
	for i, list := range []struct {
		title, order string
		calls        []live.Call
	}{
		{"FAILED CALLS", "newest first", v.Failed},
		{"SLOWEST CALLS", "since the method was opened", v.Slowest},
		{"LARGEST CALLS", "by body, since the method was opened", v.LargestCalls},
		{"LATEST CALLS", "newest first", v.Latest},
	} {
		if len(d.lines) > d.start("calls") {
			d.lines = append(d.lines, nil)
		}
		d.lines = append(d.lines, line{{list.title, strong}, {"  " + list.order, faint}})
		if len(list.calls) == 0 {
			d.lines = append(d.lines, styled("  none since the method was opened", faint))
			continue
		}
		d.lines = append(d.lines, m.callLine("time", "client", "server", "request", "response", "latency", "outcome", "serialization", "id").faint())
		for k := range list.calls {
			c := &list.calls[k]
			at, _, _ := strings.Cut(m.stamp(c.At), "Z")
			l := m.callLine(
				at[:len("15:04:05.000")], clean(c.Client), clean(c.Server), cellSize(c.RequestBytes), cellSize(c.ResponseBytes), elapsed(c.Latency),
				"", clean(c.Serialization), clean(c.ID),
			)
			outcome := span{text: clean(c.Outcome)}
			if c.Failed {
				outcome.style = warn
			}
			if i > 0 || l.width()+term.Width(outcome.text) <= m.width {
				d.lines = append(d.lines, append(l, outcome).cut(m.width))
				continue
			}
			d.lines = append(d.lines, append(l, span{"failed", warn}).cut(m.width), line{{text: "    "}, outcome}.cut(m.width))
		}
	}
}

// callLine returns the columns of a call that fit.
func (m *model) callLine(at, client, server, request, response, latency, outcome, serialization, id string) line {
	end := func(s string, n int) string { return " " + left(term.CutLeft(s, n), n) }
	addresses := end(client, 21)
	if m.width >= sideBySide {
		addresses += end(server, 21)
	}
	l := text("  " + left(at, 12) + addresses + " " + right(request, 9) + " " + right(response, 9) + " " + right(latency, 8))
	if m.width >= sideBySide {
		l = append(l, span{text: end(serialization, 16)})
		if m.width >= sideBySide+20 {
			l = append(l, span{text: end(id, 19)})
		}
	}
	return append(l, span{text: " " + outcome}).cut(m.width)
}

func (l line) faint() line {
	for i := range l {
		l[i].style = faint
	}
	return l
}

func cellSize(n int64) string { return shortNumber(count(n), float64(n), 9) }
