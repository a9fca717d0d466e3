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

// failures returns the kinds of failed calls that are shown.
func (m *model) failures() []live.Failure {
	if s := m.shown(); s != nil {
		return s.Failures
	}
	return nil
}

// errorColumns are the widths of the columns, 0 without one.
type errorColumns struct{ method, calls, share, ago, cause, serialization, client int }

func (m *model) errorColumns() errorColumns {
	c := errorColumns{calls: 7, ago: 6, cause: 22, serialization: 10, client: 14}
	if m.width < 70 {
		c.serialization, c.client = 0, 0
	}
	if m.width >= 110 {
		c = errorColumns{calls: 8, share: 7, ago: 6, cause: m.width / 4, serialization: 17, client: 19}
	}
	c.method = max(m.width-cursorWidth-c.calls-c.share-c.ago-c.cause-c.serialization-c.client, 8)
	return c
}

// errorLines draws the failed calls of the window by cause.
func (m *model) errorLines() []line {
	l := m.layout()
	s := m.shown()
	traffic := m.traffic(s)
	all := []line{m.status(), traffic[0], traffic[1]}
	if l.totals > 0 {
		all = append(all, m.totals(s))
	}
	all = append(all, make([]line, l.air)...)

	failures := m.failures()
	window := ""
	if s != nil {
		window = ", last " + m.covered(s.Window)
	}
	place := ""
	if n := len(failures); n > 0 {
		place = fmt.Sprintf("%s-%s of %s", count(int64(m.top+1)), count(int64(min(m.top+l.rows, n))), count(int64(n)))
	}
	all = append(all, spread(line{{"failed calls by cause", strong}, {text: window + ", most calls first"}}, text(place), m.width))

	c := m.errorColumns()
	row := func(cursor, method, calls, share, ago, cause, serialization, client string) string {
		end := func(s string, n int) string { return left(" "+term.CutLeft(s, n-1), n) }
		return cursor + left(term.CutLeft(method, c.method), c.method) + right(calls, c.calls) + right(share, c.share) + right(ago, c.ago) +
			end(cause, c.cause) + end(serialization, c.serialization) + end(client, c.client)
	}
	serialization := "serialization"
	if len(serialization) >= c.serialization {
		serialization = "format"
	}
	all = append(all, styled(row("  ", "service/method", "calls", "share%", "s ago", "cause", serialization, "client"), strong))

	var body []line
	if len(failures) == 0 {
		body = append(body, nil)
		what := "No call failed in the last " + seconds(m.window(s)) + "."
		if s != nil && s.ErrorPercent < 0 {
			what = "No response with a known status was captured in the last " + seconds(m.window(s)) + ", so no call is known to have failed."
		}
		body = append(body, m.indented(what, strong, max(l.rows-1, 0))...)
	}
	methods, causes := m.failureNames(failures, c)
	for i := m.top; i < len(failures) && len(body) < l.rows; i++ {
		f := &failures[i]
		serialization := clean(f.Serialization)
		if term.Width(serialization) >= c.serialization {
			serialization, _, _ = strings.Cut(serialization, " (") // without the dialect
		}
		cursor := "  "
		if i == m.cursor {
			cursor = "> "
		}
		ago := max(s.At-f.Last, 0) / int64(time.Second)
		body = append(body, m.atCursor(text(row(
			cursor, methods[i], shortNumber(count(f.Calls), float64(f.Calls), c.calls-1), percent(f.Percent),
			shortNumber(count(ago), float64(ago), c.ago-1), causes[i], serialization, clean(f.Client),
		)), i == m.cursor))
	}
	all = append(all, visible(body, 0, l.rows)...)
	all = append(all, make([]line, l.air)...)
	all = append(all, m.selectedFailure(failures, l.selected)...)
	all = append(all, m.notesLines(l.notes)...)
	return append(all, m.keysLine())
}

func (m *model) window(s *live.Snapshot) time.Duration {
	if s == nil {
		return 0
	}
	return s.Window
}

// failureNames returns the methods and the causes of failures, abbreviated if they are wider than their columns. The cause is
// the text of the error if it is known; wide columns have both.
func (m *model) failureNames(failures []live.Failure, c errorColumns) (methods, causes []string) {
	for i := range failures {
		f := &failures[i]
		method := clean(f.Method.String())
		if f.Method == (live.Method{}) {
			method = "(all others)"
		}
		methods, causes = append(methods, method), append(causes, clean(cmp.Or(f.Text, f.Cause)))
	}
	causes = fitNames(causes, c.cause-1)
	for i := range causes {
		f := &failures[i]
		if both := clean(f.Cause) + ": " + causes[i]; f.Text != "" && term.Width(both) < c.cause {
			causes[i] = both
		}
		if strings.Contains(causes[i], " ") {
			causes[i] = term.Cut(causes[i], c.cause-1) // a sentence, not a name
		}
	}
	return fitNames(methods, c.method), causes
}

// fitNames shortens packages as far as needed for the widest name to fit into n columns.
func fitNames(names []string, n int) []string {
	short := names
	for level := range 3 {
		if level > 0 {
			short = report.ShortNames(names, level)
		}
		widest := 0
		for _, s := range short {
			widest = max(widest, term.Width(s))
		}
		if widest <= n {
			break
		}
	}
	return short
}

// selectedFailure shows the cursor's row in full.
func (m *model) selectedFailure(failures []live.Failure, n int) []line {
	lines := make([]line, n)
	if m.cursor >= len(failures) || n == 0 {
		return lines
	}
	f := &failures[m.cursor]
	if f.Method == (live.Method{}) {
		return lines
	}
	cause := f.Cause
	if f.Text != "" {
		cause += ": " + f.Text
	}
	about := styled(term.Cut(clean(f.Serialization), m.width/3), faint)
	lines[0] = spread(styled("  "+term.CutLeft(clean(f.Method.String()), max(m.width-about.width()-4, 8)), strong), about, m.width)
	if n > 1 {
		lines[1] = fit([]part{
			{text("  " + term.Cut(clean(cause), max(m.width-20, 8))), 0},
			{text(percentOf(f.Percent) + " of failed calls"), 2},
			{text("client " + clean(f.Client)), 1},
		}, "  ", m.width)
	}
	return lines
}
