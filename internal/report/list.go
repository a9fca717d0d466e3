package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"

	"dubbo-wire/internal/term"
)

// List is a small table that a command prints in any format. Its rows are the same in all of them.
type List struct {
	// Tables print Summary above the heading Title, and Notes below the rows.
	Summary, Title string

	Columns []ListColumn
	// Rows have a value per column, a string or an int.
	Rows  [][]any
	Notes []string
}

// ListColumn is a column of a List.
type ListColumn struct {
	// Key names the column in CSV and JSON.
	Key string
	// Column is how tables show it: numbers are at the Right. Without a Name its heading is Key.
	Column
	// Empty is what tables print for "".
	Empty string
}

// Write prints the list as "table", "markdown", "csv" or "json".
func (l *List) Write(w io.Writer, format string, s Style) error {
	switch format {
	case "csv":
		rows := [][]string{listOf(l.Columns, func(c ListColumn) string { return c.Key })}
		for _, row := range l.Rows {
			rows = append(rows, listOf(row, func(v any) string { return fmt.Sprint(v) }))
		}
		return csv.NewWriter(w).WriteAll(rows)
	case "json":
		return WriteJSON(w, l.objects())
	}
	return (&Document{Summary: l.Summary, Sections: []Section{l.section(&s)}}).Write(w, format, s)
}

// objects returns the rows as objects of JSON.
func (l *List) objects() []members {
	return listOf(l.Rows, func(row []any) (object members) {
		for i, v := range row {
			object = append(object, member{l.Columns[i].Key, v})
		}
		return object
	})
}

// section returns the list as a section of a document.
func (l *List) section(s *Style) Section {
	sec := Section{Title: l.Title, Notes: l.Notes}
	for _, c := range l.Columns {
		c.Name = cmp.Or(c.Name, c.Key)
		sec.Columns = append(sec.Columns, c.Column)
	}
	for _, row := range l.Rows {
		var cells []cell
		for i, v := range row {
			if n, ok := v.(int); ok {
				cells = append(cells, numberCell(int64(n)))
			} else {
				cells = append(cells, textCell(cmp.Or(term.Clean(v.(string)), l.Columns[i].Empty)))
			}
		}
		sec.add(s, cells...)
	}
	return sec
}
