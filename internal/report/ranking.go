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
	for _, m := range r.merge(allOf(len(r.By.Keys))) {
		if m.Rest {
			beyond = m
			continue
		}
		rows = append(rows, m)
	}
	order := "by bytes on the wire"
	if r.Sorted == "" {
		slices.SortStableFunc(rows, byWire)
	} else {
		order = sortWords[r.Sorted]
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
		row = append(row, numberCell(g.Calls), numberCell(g.Errors),
			mean(&g.Request.Body), mean(&g.Response.Body), percentile(&g.Response.Body, 99), percentile(&g.Latency, 99))
		tab.rows = append(tab.rows, row)
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
	return section{title: r.rankingTitle(keys) + ", " + order + " (sizes: body bytes)", table: tab}
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
	perSecond := r.nanos() > 0
	if perSecond {
		columns = append(columns, column{name: "calls/s", unit: rate})
	}
	return append(columns,
		column{name: "calls", unit: count, wide: perSecond},
		column{name: "errors", unit: count, wide: true},
		column{group: "request", name: "mean", unit: size},
		column{group: "response", name: "mean", unit: size},
		column{group: "response", name: "p99", unit: size},
		column{group: "latency", name: "p99", unit: elapsed},
	)
}

// rankingTitle says what is ranked, and what the sizes are of.
func (r *Report) rankingTitle(keys []int) string {
	columns, _ := r.labels(keys)
	what := strings.ToUpper(joinNames(columns, ", "))
	if r.keyIndex(sizes.Method) >= 0 && !slices.ContainsFunc(r.By.Keys, func(k sizes.Key) bool {
		return k != sizes.Protocol && k != sizes.Serialization && k != sizes.Service && k != sizes.Method
	}) {
		what = "METHODS"
	}
	return what
}

var sortWords = map[string]string{
	"key":      "by name",
	"bytes":    "by bytes on the wire",
	"calls":    "by calls",
	"request":  "by mean request",
	"response": "by mean response",
	"errors":   "by errors",
	"latency":  "by latency p99",
}
