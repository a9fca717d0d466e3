package report

import (
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// madeOf says what the bytes of bodies are for, in the rows of the comparison.
func (r *Report) madeOf(s *Style) section {
	const title = "WHAT BODIES ARE MADE OF"
	keys, _, rows, shown := r.compared(s)
	columns, label := r.labels(keys)
	names := len(columns)
	if names == 1 {
		columns[0].name = ""
	}
	columns = append(columns, column{name: "bytes", unit: volume})
	for c := range decode.ClassMissing {
		columns = append(columns, column{name: c.String() + " %", unit: percent})
	}
	tab := &table{columns: columns}
	eachCompared(rows, shown, names, label, func(cells []cell, g *sizes.Group) {
		all := int64(0)
		for _, n := range g.Parts {
			all += n
		}
		cells = append(cells, numberCell(all))
		for _, n := range g.Parts {
			cells = append(cells, ratioCell(n, all))
		}
		tab.rows = append(tab.rows, cells)
	})
	sec := section{title: title, table: tab}
	if r.Sampled {
		requests, responses := r.Selected.Looked[0], r.Selected.Looked[1]
		all := r.Selected.Request.Body.Count + r.Selected.Response.Body.Count
		if requests+responses < all {
			sec.notes = []string{fmt.Sprintf("Estimated from %s of %s, the first of each method, which stand for all of it: --parts counts all.",
				formatCount(requests+responses), plural(all, "body", "bodies"))}
		}
	}
	return sec
}

// Estimate says that only some bodies were taken apart: what these are made of stands for all bodies of their method,
// in proportion. Methods without such bodies have no part in it.
func (r *Report) Estimate() {
	r.Sampled, r.Selected.Parts = true, [decode.ClassMissing]int64{}
	for _, g := range r.Groups {
		if g.Strata == nil {
			standFor(&g.Parts, g.Request.Body.Total+g.Response.Body.Total)
			continue
		}
		g.Parts = [decode.ClassMissing]int64{}
		for _, s := range g.Strata {
			parts := s.Parts
			standFor(&parts, s.Body)
			for i, n := range parts {
				g.Parts[i] += n
			}
		}
	}
	for _, g := range r.Groups {
		for i, n := range g.Parts {
			r.Selected.Parts[i] += n
		}
	}
}

// standFor makes parts of some bodies those of all bytes.
func standFor(parts *[decode.ClassMissing]int64, all int64) {
	seen := int64(0)
	for _, n := range parts {
		seen += n
	}
	if seen == 0 || seen == all {
		return
	}
	for i, n := range parts {
		parts[i] = int64(math.Round(float64(n) * float64(all) / float64(seen)))
	}
}

// parts lists the bytes of a group's bodies by class.
func parts(g *sizes.Group) []object {
	list := make([]object, len(g.Parts))
	for i, n := range g.Parts {
		list[i] = object{{"path", decode.Class(i).String()}, {"bytes", n}}
	}
	return list
}
