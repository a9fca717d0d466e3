package screen

import (
	"strings"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/term"
)

// columnID names a column of the table.
type columnID uint8

// The columns, in the order in which they stand.
const (
	colMbit columnID = iota
	colShare
	colCalls
	colRequestMean
	colRequestP50
	colRequestP99
	colRequestMax
	colResponseMean
	colResponseP50
	colResponseP99
	colResponseMax
	colLatencyP50
	colLatencyP99
	colErrors
	colSerialization
	colName // stands first, and is always there
)

// column is one column of the table.
type column struct {
	id          columnID
	key         string // what sorts by it, "" if only < and > do
	group, name string
	title       string // how a sentence calls it
	width       int
	// rank tells which columns a narrow terminal shows: the least numbers first. name is how many columns of the terminal
	// the names must have for it.
	rank, nameWidth int
	number          func(r *live.Row) float64
	cell            func(r *live.Row, n int) string
	word            func(r *row) string // instead of number
}

func sizeColumn(id columnID, key, group, name string, width, rank, nameWidth int, of func(r *live.Row) float64) column {
	return column{
		id: id, key: key, group: group, name: name, title: group + " " + name, width: width, rank: rank, nameWidth: nameWidth, number: of,
		cell: func(r *live.Row, n int) string { return shortNumber(size(of(r)), of(r), n) },
	}
}

func percentColumn(id columnID, key, name, title string, width, rank, nameWidth int, of func(r *live.Row) float64) column {
	return column{
		id: id, key: key, name: name, title: title, width: width, rank: rank, nameWidth: nameWidth, number: of,
		cell: func(r *live.Row, _ int) string { return percent(of(r)) },
	}
}

func latencyColumn(id columnID, key, name string, rank, nameWidth int, of func(r *live.Row) int64) column {
	return column{
		id: id, key: key, group: "latency", name: name, title: "latency " + name, width: 7, rank: rank, nameWidth: nameWidth,
		number: func(r *live.Row) float64 { return float64(of(r)) },
		cell:   func(r *live.Row, _ int) string { return elapsed(of(r)) },
	}
}

// sizeOf is a number of sizes, -1 where there are none.
func sizeOf(s *live.Sizes, f func(s *live.Sizes) float64) float64 {
	if s.Count <= 0 {
		return -1
	}
	return f(s)
}

func requestOf(f func(s *live.Sizes) float64) func(r *live.Row) float64 {
	return func(r *live.Row) float64 { return sizeOf(&r.Request, f) }
}

func responseOf(f func(s *live.Sizes) float64) func(r *live.Row) float64 {
	return func(r *live.Row) float64 { return sizeOf(&r.Response, f) }
}

func mean(s *live.Sizes) float64    { return s.Mean }
func p50(s *live.Sizes) float64     { return float64(s.P50) }
func p99(s *live.Sizes) float64     { return float64(s.P99) }
func largest(s *live.Sizes) float64 { return float64(s.Max) }

const (
	nameLeast = 22 // what a short name of a method takes
	nameWide  = 29
	namePair  = 38 // two addresses, one with its port
)

// columns is the table of all columns but the name's, by columnID. At 80 columns of the terminal there is room for those of
// the ranks 0 to 6, at 160 for all.
var columns = [...]column{
	{
		id: colMbit, key: "1", name: "Mbit/s", title: "Mbit/s", width: 7,
		number: func(r *live.Row) float64 { return r.BitsPerSecond },
		cell:   func(r *live.Row, n int) string { return shortNumber(rate(r.BitsPerSecond), r.BitsPerSecond/1e6, n) },
	},
	percentColumn(colShare, "", "share%", "share", 6, 9, nameWide, func(r *live.Row) float64 { return r.Share }),
	{
		id: colCalls, key: "2", name: "call/s", title: "calls/s", width: 7, rank: 2,
		number: func(r *live.Row) float64 { return r.CallsPerSecond },
		cell:   func(r *live.Row, n int) string { return shortNumber(perSecond(r.CallsPerSecond), r.CallsPerSecond, n) },
	},
	sizeColumn(colRequestMean, "3", "request", "mean", 7, 4, 16, requestOf(mean)),
	sizeColumn(colRequestP50, "", "request", "p50", 7, 11, nameWide, requestOf(p50)),
	sizeColumn(colRequestP99, "4", "request", "p99", 7, 7, nameLeast, requestOf(p99)),
	sizeColumn(colRequestMax, "", "request", "max", 9, 14, nameWide, requestOf(largest)),
	sizeColumn(colResponseMean, "5", "response", "mean", 7, 3, 16, responseOf(mean)),
	sizeColumn(colResponseP50, "", "response", "p50", 7, 12, nameWide, responseOf(p50)),
	sizeColumn(colResponseP99, "6", "response", "p99", 9, 5, nameLeast, responseOf(p99)),
	sizeColumn(colResponseMax, "", "response", "max", 9, 10, nameWide, responseOf(largest)),
	latencyColumn(colLatencyP50, "7", "p50", 8, nameLeast, func(r *live.Row) int64 { return r.LatencyP50 }),
	latencyColumn(colLatencyP99, "8", "p99", 1, 0, func(r *live.Row) int64 { return r.LatencyP99 }),
	percentColumn(colErrors, "9", "err%", "errors", 5, 6, 16, func(r *live.Row) float64 { return r.ErrorPercent }),
	{
		id: colSerialization, name: "serialization", title: "serialization", width: 13, rank: 13, nameWidth: nameWide,
		word: func(r *row) string { return r.Serializations },
		cell: func(r *live.Row, n int) string { return left(clean(r.Serializations), n) },
	},
}

var nameColumn = column{id: colName, key: "0", title: "name", word: func(r *row) string { return r.full }}

func columnOf(id columnID) *column {
	if int(id) < len(columns) {
		return &columns[id]
	}
	return &nameColumn
}

// fitting chooses the columns that a terminal has room for, in their order, and how wide that leaves the names. The column
// that rows are sorted by is always among them.
func chooseColumns(width int, sortBy columnID, by live.Grouping) (chosen []*column, nameWidth int) {
	const always = 3 // as many ranks are shown however long names are
	least := 10
	if by == live.ByPair {
		least = namePair
	}
	var has [len(columns)]bool
	room := width - cursorWidth
	take := func(c *column, least int) {
		if !has[c.id] && room-c.width-1 >= least {
			has[c.id] = true
			room -= c.width + 1
		}
	}
	if sortBy != colName {
		take(columnOf(sortBy), 8)
	}
	for rank := range columns {
		for i := range columns {
			if columns[i].rank == rank && rank < always {
				take(&columns[i], 10)
			} else if columns[i].rank == rank {
				take(&columns[i], max(columns[i].nameWidth, least))
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

// headings are the two lines above the rows: what several columns have in common, and the columns' names with the keys that
// sort by them. An arrow stands for the key of the column that rows are sorted by.
func columnHeadings(chosen []*column, nameWidth int, title string, sortBy columnID, reversed bool) (groups, names line) {
	arrow := "↓"
	if reversed {
		arrow = "↑"
	}
	head := func(c *column, name string) line {
		if c.id == sortBy {
			return line{{arrow + name, sorted}}
		}
		return line{{c.key, faint}, {name, strong}}
	}
	groups = text(spaces(cursorWidth + nameWidth))
	first := styled(title, strong)
	if sortBy == colName {
		first = head(&nameColumn, title)
	}
	first = first.cut(nameWidth)
	names = append(append(text(spaces(cursorWidth)), first...), span{text: spaces(nameWidth - first.width())})
	for i := 0; i < len(chosen); {
		group, width := chosen[i].group, 0
		at := i
		for ; i < len(chosen) && chosen[i].group == group && (group != "" || i == at); i++ {
			width += chosen[i].width + 1
			h := head(chosen[i], chosen[i].name)
			if chosen[i].number == nil {
				names = append(append(append(names, span{text: " "}), h...), span{text: spaces(chosen[i].width - h.width())})
				continue
			}
			names = append(append(names, span{text: spaces(chosen[i].width + 1 - h.width())}), h...)
		}
		groups = append(groups, span{groupHeading(group, width, i-at), faint})
	}
	return groups, names
}

// heading puts a group's name above its columns: in the middle of a rule where there are several.
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
