package screen

import (
	"slices"
	"strings"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// columnID is the index of a column of the table.
type columnID int

// Columns with special rules. The name is the first column of the table and always shown.
var (
	colShare  = columnTitled("share")
	colErrors = columnTitled("errors")
	colName   = columnID(len(columns))
)

// column is a column of the table.
type column struct {
	report.ScreenColumn
	id   columnID
	word func(r *row) string // instead of a number
}

const namePair = 38 // width of two addresses, one with its port

// columns are all columns but the name: the metrics, and the serializations. A terminal of 80 columns has room for the
// ranks 0 to 6, one of 160 for all.
var columns = func() (list []column) {
	for i, c := range report.ScreenColumns() {
		list = append(list, column{ScreenColumn: c, id: columnID(i)})
	}
	serialization := report.ScreenColumn{Name: "serialization", Title: "serialization", Width: 13, Rank: 13, NameWidth: 29}
	return append(list, column{serialization, columnID(len(list)), func(r *row) string { return r.Serializations }})
}()

var nameColumn = column{report.ScreenColumn{Key: "0", Title: "name"}, colName, func(r *row) string { return r.full }}

func columnOf(id columnID) *column {
	if int(id) < len(columns) {
		return &columns[id]
	}
	return &nameColumn
}

func columnTitled(title string) columnID {
	return columnID(slices.IndexFunc(columns, func(c column) bool { return c.Title == title }))
}

// cell returns a row's text in at most n columns of the terminal.
func (c *column) cell(r *row, n int) string {
	if c.word != nil {
		return left(clean(c.word(r)), n)
	}
	f := r.Number(c.Title)
	switch c.Unit {
	case report.ScreenPercent:
		return percent(f)
	case report.ScreenElapsed:
		return nanos(f)
	case report.ScreenSize:
		return shortNumber(size(f), f, n)
	}
	return shortNumber(perSecond(f), f, n)
}

// chooseColumns returns the columns that fit into a terminal, in their order, and the width that remains for the names.
// The column that rows are sorted by is always included.
func chooseColumns(width int, sortBy columnID, by live.Grouping) (chosen []*column, nameWidth int) {
	const always = 3 // this many ranks are shown however long names are
	least := 10
	if by == live.ByPair {
		least = namePair
	}
	has := make([]bool, len(columns))
	room := width - cursorWidth
	take := func(c *column, least int) {
		if !has[c.id] && room-c.Width-1 >= least {
			has[c.id] = true
			room -= c.Width + 1
		}
	}
	if sortBy != colName {
		take(columnOf(sortBy), 8)
	}
	for rank := range columns {
		for i := range columns {
			if columns[i].Rank == rank && rank < always {
				take(&columns[i], 10)
			} else if columns[i].Rank == rank {
				take(&columns[i], max(columns[i].NameWidth, least))
			}
		}
	}
	for i := range columns {
		if has[i] {
			chosen = append(chosen, &columns[i])
		}
	}
	return chosen, max(room, 0)
}

const cursorWidth = 2 // "> "

// columnHeadings returns the two lines above the rows: the groups of columns, and the columns' names with the keys that
// sort by them. An arrow replaces the key of the column that rows are sorted by.
func columnHeadings(chosen []*column, nameWidth int, title string, sortBy columnID, reversed bool) (groups, names line) {
	arrow := "↓"
	if reversed {
		arrow = "↑"
	}
	head := func(c *column, name string) line {
		if c.id == sortBy {
			return line{{arrow + name, sorted}}
		}
		return line{{c.Key, faint}, {name, strong}}
	}
	groups = text(spaces(cursorWidth + nameWidth))
	first := styled(title, strong)
	if sortBy == colName {
		first = head(&nameColumn, title)
	}
	first = first.cut(nameWidth)
	names = append(append(text(spaces(cursorWidth)), first...), span{text: spaces(nameWidth - first.width())})
	for i := 0; i < len(chosen); {
		group, width := chosen[i].Group, 0
		at := i
		for ; i < len(chosen) && chosen[i].Group == group && (group != "" || i == at); i++ {
			width += chosen[i].Width + 1
			h := head(chosen[i], chosen[i].Name)
			if chosen[i].word != nil {
				names = append(append(append(names, span{text: " "}), h...), span{text: spaces(chosen[i].Width - h.width())})
				continue
			}
			names = append(append(names, span{text: spaces(chosen[i].Width + 1 - h.width())}), h...)
		}
		groups = append(groups, span{groupHeading(group, width, i-at), faint})
	}
	return groups, names
}

// groupHeading centers a group's name above its columns, in a rule if there are several.
func groupHeading(group string, width, columns int) string {
	if group == "" || columns == 1 {
		if len(group) >= width {
			group = group[:4] + "."
		}
		return right(group, width)
	}
	room := width - 1 - term.Width(group) - 2
	if room < 2 {
		return right(group, width)
	}
	return " " + strings.Repeat("─", room/2) + " " + group + " " + strings.Repeat("─", room-room/2)
}
