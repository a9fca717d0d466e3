package report

import (
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
)

// ranking lists the groups with most bytes on the wire (or as they were sorted), and all others in one row.
func (r *Report) ranking(s *Style) section {
	keys := r.rankedKeys()
	var rows []*merged
	var beyond *merged
	for _, m := range r.ranked() {
		if m.Rest {
			beyond = m
			continue
		}
		rows = append(rows, m)
	}
	order := "by bytes on the wire"
	switch {
	case r.Sorted != "":
		order = sortWords[r.Sorted]
	case r.byTime():
		order = "in order"
	}
	shown := rows
	if top := r.top(s); len(rows) > top {
		shown = rows[:top]
	}

	columns, label := r.labels(keys)
	tab := &table{columns: r.rankingColumns(columns)}
	all := r.Selected.WireBytes()
	sum := int64(0)
	add := func(rank cell, names []cell, g *sizes.Group) {
		sum += g.WireBytes()
		row := append([]cell{rank}, names...)
		row = append(row, numberCell(g.WireBytes()), ratioCell(g.WireBytes(), all), ratioCell(sum, all))
		if r.nanos() > 0 {
			row = append(row, ratioCell(g.Calls, r.nanos()))
		}
		row = append(row, numberCell(g.Calls))
		tab.rows = append(tab.rows, append(row, r.rankedCells(g)...))
	}
	for i, m := range shown {
		values := make([]string, len(keys))
		for j, k := range keys {
			values[j] = m.Values[k]
		}
		add(numberCell(int64(i+1)), label(values), &m.Group)
	}
	hidden := rows[len(shown):]
	if len(hidden) > 0 || beyond != nil {
		var text []string
		if len(hidden) > 0 {
			text = append(text, moreText(len(hidden), len(rows)))
		}
		if beyond != nil {
			text = append(text, beyondText(beyond.Groups))
			hidden = append(slices.Clone(hidden), beyond)
		}
		add(textCell(""), spanning(strings.Join(text, ", "), len(columns)), sumOf(hidden))
	}
	sec := section{title: r.rankingTitle(keys) + ", " + order + " (sizes: body bytes)", table: tab}
	if service, method := r.keyIndex(sizes.Service), r.keyIndex(sizes.Method); service >= 0 && method >= 0 &&
		slices.ContainsFunc(shown, func(m *merged) bool { return isUnknown(m.Values[service], m.Values[method]) }) {
		sec.notes = append(sec.notes, "?: calls whose request was not captured, or does not tell service and method.")
	}
	return sec
}

// rankedKeys leaves out protocol and serialization where all groups have the same.
func (r *Report) rankedKeys() []int {
	var keys []int
	for i, k := range r.By.Keys {
		if k != sizes.Protocol && k != sizes.Serialization || len(r.By.Keys) == 1 || r.varies(i) {
			keys = append(keys, i)
		}
	}
	if len(keys) == 0 {
		return allOf(len(r.By.Keys))
	}
	return keys
}

func (r *Report) varies(key int) bool {
	first := ""
	for i, g := range r.Groups {
		if g.Rest {
			continue
		}
		if i == 0 {
			first = g.Values[key]
		}
		if g.Values[key] != first {
			return true
		}
	}
	return false
}

func allOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// moreText says how to see the rows that one row stands for.
func moreText(n, all int) string {
	return fmt.Sprintf("%s more (--top %d)", formatCount(int64(n)), all)
}

func (r *Report) rankingColumns(names []column) []column {
	columns := append([]column{{name: "#", unit: count}}, names...)
	columns = append(columns,
		column{group: "on the wire", name: "bytes", unit: volume, wide: true},
		column{group: "on the wire", name: "%", unit: percent},
		column{group: "on the wire", name: "cum %", unit: percent},
	)
	if r.nanos() > 0 {
		columns = append(columns,
			column{group: "calls", name: "/s", unit: rate}, column{group: "calls", name: "count", unit: count, wide: true})
	} else {
		columns = append(columns, column{name: "calls", unit: count})
	}
	return append(columns, r.rankedColumns()...)
}

// preset is the first of the presets that were asked for, "" without one.
func (r *Report) preset() sizes.Preset {
	if len(r.Worst) == 0 {
		return ""
	}
	return r.Worst[0].Preset
}

// rankedColumns are the numbers of a group that answer the question behind the ranking.
func (r *Report) rankedColumns() []column {
	spread := func(group string, unit unit) []column {
		return []column{
			{group: group, name: "mean", unit: unit, wide: true},
			{group: group, name: "p50", unit: unit},
			{group: group, name: "p90", unit: unit, wide: true},
			{group: group, name: "p99", unit: unit},
			{group: group, name: "max", unit: unit},
		}
	}
	switch r.preset() {
	case sizes.BigRequests:
		return spread("request", size)
	case sizes.BigResponses:
		return spread("response", size)
	case sizes.Slow:
		return append(spread("latency", elapsed), column{group: "provider took", name: "p50", unit: elapsed}, column{group: "provider took", name: "p99", unit: elapsed})
	case sizes.Errors:
		return []column{
			{name: "errors", unit: count},
			{name: "errors %", unit: percent},
			{group: "of them", name: "exceptions", unit: count},
			{group: "of them", name: "statuses", unit: count},
			{name: "no answer", unit: count},
		}
	}
	var columns []column
	if r.Selected.Errors > 0 {
		columns = append(columns, column{name: "errors", unit: count, wide: true})
	}
	return append(
		columns,
		column{group: "request", name: "mean", unit: size},
		column{group: "response", name: "mean", unit: size},
		column{group: "response", name: "p99", unit: size},
		column{group: "latency", name: "p99", unit: elapsed},
	)
}

// rankedCells are those of a group.
func (r *Report) rankedCells(g *sizes.Group) []cell {
	spread := func(s *sizes.Stat) []cell {
		if s.Count == 0 {
			return make([]cell, 5)
		}
		return []cell{mean(s), percentile(s, 50), percentile(s, 90), percentile(s, 99), numberCell(s.Max)}
	}
	switch r.preset() {
	case sizes.BigRequests:
		return spread(&g.Request.Body)
	case sizes.BigResponses:
		return spread(&g.Response.Body)
	case sizes.Slow:
		return append(spread(&g.Latency), percentile(&g.Wait, 50), percentile(&g.Wait, 99))
	case sizes.Errors:
		return []cell{
			numberCell(g.Errors), ratioCell(g.Errors, g.Calls), numberCell(g.Exceptions), numberCell(g.Errors - g.Exceptions), numberCell(g.Unanswered),
		}
	}
	var cells []cell
	if r.Selected.Errors > 0 {
		cells = append(cells, numberCell(g.Errors))
	}
	return append(cells, mean(&g.Request.Body), mean(&g.Response.Body), percentile(&g.Response.Body, 99), percentile(&g.Latency, 99))
}

// rankingTitle says what is ranked, and what the sizes are of.
func (r *Report) rankingTitle(keys []int) string {
	columns, _ := r.labels(keys)
	what := r.keyTitle(columns)
	if r.keyIndex(sizes.Method) >= 0 && !slices.ContainsFunc(r.By.Keys, func(k sizes.Key) bool {
		return k != sizes.Protocol && k != sizes.Serialization && k != sizes.Service && k != sizes.Method
	}) {
		what = "METHODS"
	}
	return what
}

var sortWords = map[string]string{
	"key":          "by name",
	"bytes":        "by bytes on the wire",
	"calls":        "by calls",
	"request":      "by mean request",
	"response":     "by mean response",
	"request-max":  "by largest request",
	"response-max": "by largest response",
	"errors":       "by errors",
	"latency":      "by latency p99",
}
