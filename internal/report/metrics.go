package report

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// metric is a column of tables with a group per row. To add a column, add an entry to metrics: tables, the page, the full screen and,
// if it has a field, JSON and CSV take it from there.
type metric struct {
	Column
	// field is its name in JSON and CSV; "" if the JSON types have the number, or JSON should not have it.
	field string
	// in are the tables that show it, wide those that omit it on a narrow terminal.
	in, wide tables
	// unless returns whether tables of the terminal omit it for a report; nil: never.
	unless func(*Report) bool
	value  func(*groupRow) cell
	// screen is its place on the full screen; nil: the screen does not show it.
	screen *ScreenColumn
}

// ScreenColumn is a metric as a column of the full screen.
type ScreenColumn struct {
	Key         string // the key that sorts by it, "" if only < and > do
	Group, Name string // those of the metric if empty; a Group of "-" is none
	Title       string // its name in a sentence; Group and Name if empty
	Width       int
	// Rank is the order in which columns are added while there is room, least first. NameWidth is the width that names must have
	// before this column is added.
	Rank, NameWidth int
	Unit            ScreenUnit
}

// ScreenUnit is the number format of the full screen.
type ScreenUnit uint8

// The units of the full screen: a rate, bytes of a message, a part of a whole, nanoseconds.
const (
	ScreenRate ScreenUnit = iota
	ScreenSize
	ScreenPercent
	ScreenElapsed
)

const (
	nameLeast = 22 // width of a short method name
	nameWide  = 29
)

// tables is a set of tables.
type tables uint16

const (
	inRanking tables = 1 << iota // without a preset
	inBigRequests
	inBigResponses
	inSlow
	inErrors
	inComparison
	inPage
	inRankings = inRanking | inBigRequests | inBigResponses | inSlow | inErrors
)

// groupRow is a group in a table row.
type groupRow struct {
	report *Report
	*sizes.Group
	sum   int64 // bytes on the wire of this row and all rows above
	nanos int64 // the time that rates are based on
}

// metrics are all columns, in table order.
var metrics = []metric{
	{Column: headed("", "Mbit/s", mbit), value: func(g *groupRow) cell { return ratioCell(g.WireBytes(), g.nanos) }, screen: &ScreenColumn{Key: "1", Width: 7}},
	{Column: headed("", "calls", count).dropped(3), in: inComparison, value: callsOf},
	{Column: headed("on the wire", "bytes", volume), in: inRankings | inPage, wide: inRankings, value: wireOf},
	{Column: headed("on the wire", "%", percent).dropped(1), in: inRankings | inPage, value: shareOf, screen: &ScreenColumn{Group: "-", Name: "share%", Title: "share", Width: 6, Rank: 9, NameWidth: nameWide}},
	{Column: headed("on the wire", "cum %", percent).dropped(9), in: inRankings | inPage, value: func(g *groupRow) cell { return ratioCell(g.sum, g.report.Selected.WireBytes()) }},
	{Column: headed("calls", "/s", rate).dropped(5), field: "callsPerSecond", in: inRankings | inPage, unless: timeless, value: func(g *groupRow) cell { return ratioCell(g.Calls, g.nanos) }, screen: &ScreenColumn{Key: "2", Group: "-", Name: "call/s", Title: "calls/s", Width: 7, Rank: 2}},
	{Column: headed("calls", "count", count), in: inRankings | inPage, wide: inRankings, unless: timeless, value: callsOf},
	{Column: headed("", "calls", count), in: inRankings, unless: timed, value: callsOf},
	{Column: headed("errors", "%", percent).dropped(4), in: inRanking | inComparison | inPage, wide: inRanking, unless: flawless, value: errorShareOf},

	{Column: headed("request", "mean", size), in: inRanking | inBigRequests | inComparison | inPage, wide: inBigRequests, value: meanOf(requestBody), screen: &ScreenColumn{Key: "3", Width: 7, Rank: 5, NameWidth: 16}},
	{Column: headed("request", "p50", size).dropped(6), in: inBigRequests | inComparison | inPage, wide: inComparison, value: percentileOf(requestBody, 50), screen: &ScreenColumn{Width: 7, Rank: 10, NameWidth: nameWide}},
	{Column: headed("request", "p90", size), in: inBigRequests, wide: inBigRequests, value: percentileOf(requestBody, 90)},
	{Column: headed("request", "p99", size).dropped(5), in: inBigRequests | inComparison | inPage, value: percentileOf(requestBody, 99), screen: &ScreenColumn{Key: "4", Width: 7, Rank: 11, NameWidth: nameLeast}},
	{Column: headed("request", "max", size), in: inBigRequests | inPage, value: maxOf(requestBody), screen: &ScreenColumn{Width: 9, Rank: 14, NameWidth: nameWide}},
	{Column: headed("response", "mean", size), in: inRanking | inBigResponses | inComparison | inPage, wide: inBigResponses, value: meanOf(responseBody), screen: &ScreenColumn{Key: "5", Width: 7, Rank: 3, NameWidth: 16}},
	{Column: headed("response", "p50", size).dropped(6), in: inBigResponses | inComparison | inPage, wide: inComparison, value: percentileOf(responseBody, 50), screen: &ScreenColumn{Width: 7, Rank: 6, NameWidth: nameLeast}},
	{Column: headed("response", "p90", size), in: inBigResponses, wide: inBigResponses, value: percentileOf(responseBody, 90)},
	{Column: headed("response", "p99", size).dropped(8), in: inRanking | inBigResponses | inComparison | inPage, value: percentileOf(responseBody, 99), screen: &ScreenColumn{Key: "6", Width: 9, Rank: 8, NameWidth: nameLeast}},
	{Column: headed("response", "max", size), in: inBigResponses | inPage, value: maxOf(responseBody), screen: &ScreenColumn{Width: 9, Rank: 12, NameWidth: nameWide}},
	{Column: headed("frame bytes", "request", size), in: inComparison, unless: oneProtocol, value: meanOf(func(g *groupRow) *sizes.Stat { return &g.Request.Frame })},
	{Column: headed("frame bytes", "response", size), in: inComparison, unless: oneProtocol, value: meanOf(func(g *groupRow) *sizes.Stat { return &g.ResponseOK.Frame })},
	{Column: headed("control", "per call", size).dropped(1), in: inComparison, unless: oneProtocol, value: controlOf},
	{Column: headed("latency", "p50", elapsed).dropped(6), in: inRanking | inSlow | inPage, value: percentileOf(latencyOf, 50), screen: &ScreenColumn{Key: "7", Width: 7, Rank: 1}},
	{Column: headed("latency", "mean", elapsed), in: inSlow, wide: inSlow, value: meanOf(latencyOf)},
	{Column: headed("latency", "p90", elapsed), in: inSlow, wide: inSlow, value: percentileOf(latencyOf, 90)},
	{Column: headed("latency", "p99", elapsed), in: inRanking | inSlow | inPage, wide: inRanking, value: percentileOf(latencyOf, 99), screen: &ScreenColumn{Key: "8", Width: 7, Rank: 7, NameWidth: nameLeast}},
	{Column: headed("latency", "max", elapsed), in: inSlow, value: maxOf(latencyOf)},
	{Column: headed("provider time", "p50", elapsed).dropped(6), in: inSlow, value: percentileOf(waitOf, 50)},
	{Column: headed("provider time", "p99", elapsed).dropped(4), in: inSlow, value: percentileOf(waitOf, 99)},

	{Column: headed("", "errors", count), in: inErrors, value: errorsOf},
	{Column: headed("", "errors %", percent).dropped(2), in: inErrors, value: errorShareOf, screen: &ScreenColumn{Key: "9", Name: "err%", Title: "errors", Width: 5, Rank: 4, NameWidth: 16}},
	{Column: headed("errors by", "exceptions", count).dropped(6), in: inErrors, value: func(g *groupRow) cell { return numberCell(g.Exceptions) }},
	{Column: headed("errors by", "statuses", count).dropped(6), in: inErrors, value: func(g *groupRow) cell { return numberCell(g.Errors - g.Exceptions) }},
	{Column: headed("failed responses", "mean", size).dropped(5), in: inErrors, value: meanOf(failedBody)},
	{Column: headed("failed responses", "bytes", volume).dropped(4), in: inErrors | inPage, value: func(g *groupRow) cell { return numberCell(failedBody(g).Total) }},
	{Column: headed("", "unanswered", count).dropped(3), in: inErrors, value: func(g *groupRow) cell { return numberCell(g.Unanswered) }},
	{Column: headed("on the wire", "bytes", volume).dropped(7), in: inComparison, value: wireOf},
	{Column: headed("on the wire", "share %", percent).dropped(2), in: inComparison, value: shareOf},
}

func headed(group, name string, u unit) Column { return Column{Group: group, Name: name, unit: u} }

func (c Column) dropped(rank uint8) Column {
	c.drop = rank
	return c
}

func callsOf(g *groupRow) cell  { return numberCell(g.Calls) }
func errorsOf(g *groupRow) cell { return numberCell(g.Errors) }
func errorShareOf(g *groupRow) cell {
	if g.NoErrorShare() {
		return cell{}
	}
	return ratioCell(g.Errors, g.Calls)
}
func wireOf(g *groupRow) cell  { return numberCell(g.WireBytes()) }
func shareOf(g *groupRow) cell { return ratioCell(g.WireBytes(), g.report.Selected.WireBytes()) }

// controlOf returns the control bytes per call of the protocol of a row.
func controlOf(g *groupRow) cell {
	name, ok := g.report.protocolOf(g.Group)
	k := g.report.Totals.Control[name]
	if !ok || k == nil {
		return cell{}
	}
	return ratioCell(k.Bytes, k.Calls)
}

func requestBody(g *groupRow) *sizes.Stat { return &g.Request.Body }

// responseBody returns the sizes of successful responses in the serialization of the request, or in any if the row is of one
// serialization of responses.
func responseBody(g *groupRow) *sizes.Stat {
	if g.NotOK != nil && len(g.Values) == len(g.report.By.Keys) && g.report.keyIndex(sizes.ResponseSerialization) >= 0 {
		return &g.ResponseOKOrOther().Body
	}
	return &g.ResponseOK.Body
}

// failedBody returns the sizes of the responses of failed calls.
func failedBody(g *groupRow) *sizes.Stat {
	if g.NotOK == nil {
		return new(sizes.Stat)
	}
	return &g.NotOK.Error.Body
}

func latencyOf(g *groupRow) *sizes.Stat { return &g.Latency }
func waitOf(g *groupRow) *sizes.Stat    { return &g.Wait }

func meanOf(of func(*groupRow) *sizes.Stat) func(*groupRow) cell {
	return func(g *groupRow) cell { return ratioCell(of(g).Total, of(g).Count) }
}

func numberOf(of func(*groupRow) *sizes.Stat, number func(*sizes.Stat) int64) func(*groupRow) cell {
	return func(g *groupRow) cell {
		if of(g).Count == 0 {
			return cell{}
		}
		return numberCell(number(of(g)))
	}
}

func percentileOf(of func(*groupRow) *sizes.Stat, p float64) func(*groupRow) cell {
	return numberOf(of, func(s *sizes.Stat) int64 { return s.Percentile(p) })
}

func maxOf(of func(*groupRow) *sizes.Stat) func(*groupRow) cell {
	return numberOf(of, func(s *sizes.Stat) int64 { return s.Max })
}

func timed(r *Report) bool       { return r.nanos() > 0 }
func timeless(r *Report) bool    { return !timed(r) }
func oneProtocol(r *Report) bool { return len(r.Protocols()) < 2 }
func flawless(r *Report) bool    { return r.Selected.Errors == 0 }

// metricsIn returns the metrics of a table and their columns.
func (r *Report) metricsIn(in tables) (list []*metric, columns []Column) {
	for i := range metrics {
		m := &metrics[i]
		if m.in&in == 0 || in != inPage && m.unless != nil && m.unless(r) {
			continue
		}
		c := m.Column
		c.Wide = m.wide&in != 0
		if c.Group == "request" || c.Group == "response" {
			c.Group += map[tables]string{inComparison: " body", inPage: " body bytes"}[in]
		}
		list, columns = append(list, m), append(columns, c)
	}
	return list, columns
}

// cellsOf returns the cells of a group; nanos is the time that rates are based on.
func (r *Report) cellsOf(list []*metric, g *sizes.Group, sum, nanos int64) []cell {
	row := groupRow{r, g, sum, nanos}
	return listOf(list, func(m *metric) cell { return m.value(&row) })
}

// jsonRates yields the metrics that have a field, rounded to three decimals, null where that is not a number. They are based on the time
// of the whole input, also if calls are grouped by time.
func (r *Report) jsonRates(g *sizes.Group) iter.Seq2[string, Number] {
	return func(yield func(string, Number) bool) {
		row := groupRow{report: r, Group: g, nanos: r.nanos()}
		for i := range metrics {
			if m := &metrics[i]; m.field != "" && !yield(m.field, rounded(m.value(&row), m.unit)) {
				return
			}
		}
	}
}

// rounded returns a cell's number with three decimals.
func rounded(c cell, u unit) Number {
	if c.kind != number {
		return ""
	}
	return Number(decimal(sizes.Round3(c.number(u))))
}

// number returns a cell's number in the unit of JSON and the screen: Mbit/s, per second, percent.
func (c cell) number(u unit) float64 {
	switch f := float64(c.n) / float64(c.d); u {
	case mbit:
		return f * 8000
	case rate:
		return float64(c.n) / (float64(c.d) / 1e9)
	case percent:
		return 100 * f
	default:
		return f
	}
}

// ScreenColumns returns the columns of the full screen in order.
func ScreenColumns() (columns []ScreenColumn) {
	for i := range metrics {
		m := &metrics[i]
		if m.screen == nil {
			continue
		}
		c := *m.screen
		switch c.Group {
		case "":
			c.Group = m.Group
		case "-":
			c.Group = ""
		}
		c.Name = cmp.Or(c.Name, m.Name)
		c.Title = cmp.Or(c.Title, strings.TrimSpace(c.Group+" "+c.Name))
		c.Unit = map[unit]ScreenUnit{size: ScreenSize, percent: ScreenPercent, elapsed: ScreenElapsed}[m.unit]
		columns = append(columns, c)
	}
	return columns
}

// ScreenNumbers returns the numbers of a group for ScreenColumns, -1 if unknown. The group covers a span of time, in which all groups
// together have all bytes on the wire.
func ScreenNumbers(g *sizes.Group, all int64, span time.Duration) (numbers []float64) {
	window := &Report{Totals: &pipeline.Totals{LastTime: int64(span)}}
	window.Selected.Request.Wire.Total = all
	row := groupRow{report: window, Group: g, nanos: window.nanos()}
	for i := range metrics {
		m := &metrics[i]
		if m.screen == nil {
			continue
		}
		if c := m.value(&row); c.kind == number {
			numbers = append(numbers, c.number(m.unit))
		} else {
			numbers = append(numbers, -1)
		}
	}
	return numbers
}

// presetTable returns the table of the first preset, inRanking without one.
func (r *Report) presetTable() tables {
	if len(r.Worst) == 0 {
		return inRanking
	}
	return map[sizes.Preset]tables{
		sizes.BigRequests: inBigRequests, sizes.BigResponses: inBigResponses, sizes.Slow: inSlow, sizes.Errors: inErrors,
	}[r.Worst[0].Preset]
}
