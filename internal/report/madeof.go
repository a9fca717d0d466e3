package report

import (
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
	return section{title: title, table: tab}
}

// parts lists the bytes of a group's bodies by class.
func parts(g *sizes.Group) []object {
	list := make([]object, len(g.Parts))
	for i, n := range g.Parts {
		list[i] = object{{"path", decode.Class(i).String()}, {"bytes", n}}
	}
	return list
}
