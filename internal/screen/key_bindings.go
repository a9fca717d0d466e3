package screen

// pageKind is a kind of page with keys of its own.
type pageKind uint8

const (
	topTable   pageKind = 1 << iota // the table that the screen starts with
	innerTable                      // the methods of a row
	errorList                       // failed calls by cause
	methodPage                      // the page of a method
	tables     = topTable | innerTable
	lists      = tables | errorList
	everyPage  = tables | errorList | methodPage
)

// kind returns the kind of the page, or of the one under the help.
func (m *model) kind() pageKind {
	switch page := m.current(); {
	case page == errorsPage:
		return errorList
	case page == detailPage:
		return methodPage
	case len(m.trail) > 0:
		return innerTable
	}
	return topTable
}

// binding is a key, or several for one purpose, on some pages.
type binding struct {
	keys string // separated by spaces, as the help lists them
	on   pageKind
	// key and name are in the last line of the page, "" if the binding is not. Bindings with the highest drop leave a narrow
	// line first; those with 0 stay.
	key, name string
	drop      int
	what      string // one sentence
}

// bindings are all keys in the order of the help and of the last line.
var bindings = []binding{
	{keys: "enter", on: topTable | innerTable, key: "enter", name: "open", drop: 1, what: "Open the row: a method shows its page, every other row shows its methods."},
	{keys: "enter", on: errorList, key: "enter", name: "open", drop: 1, what: "Open the method of the row, limited to calls of the row's client and serialization."},
	{keys: "q Esc Backspace", on: methodPage | errorList, key: "q", name: "back", what: "Go back to the page before."},
	{keys: "Tab →", on: methodPage, key: "Tab", name: "section", drop: 1, what: "Go to the next section."},
	{keys: "←", on: methodPage, what: "Go to the section before."},
	{keys: "↑ ↓ j k", on: errorList, key: "↑↓", name: "move", drop: 2, what: "Move the cursor by one row; it stays on its row when rows change their order."},
	{keys: "↑ ↓ j k", on: tables, what: "Move the cursor by one row; it stays on its row when rows change their order."},
	{keys: "↑ ↓ j k", on: methodPage, key: "↑↓", name: "scroll", drop: 2, what: "Scroll by one line."},
	{keys: "PgUp PgDn", on: everyPage, what: "Move by one screen."},
	{keys: "Home End", on: lists, what: "Go to the first or the last row; after Home the cursor stays on the first row when rows change their order."},
	{keys: "Home End", on: methodPage, what: "Go to the beginning or the end."},
	{keys: "c enter", on: methodPage, key: "c", name: "calls", drop: 3, what: "Go to the calls: failed, slowest, largest and latest."},
	{keys: "e", on: methodPage, key: "e", name: "largest call", drop: 4, what: "Go to the largest call of the last minute, explained byte by byte without its values."},
	{keys: "g G", on: tables, key: "g", name: "group", drop: 2, what: "Group by the next or the previous of method, service, serialization, client, server and pair."},
	{keys: "1 to 9 0", on: tables, key: "1-9", name: "sort", drop: 3, what: "Sort by the column with this number, 0 sorts by name; the same key again reverses the order."},
	{keys: "< > ← →", on: tables, what: "Sort by the column to the left or to the right."},
	{keys: "r", on: tables, what: "Reverse the order."},
	{keys: "/", on: tables, key: "/", name: "filter", drop: 4, what: "Filter: show only rows whose name contains the text that you type; * stands for any text, ? for any character, Enter keeps the filter, Esc clears it."},
	{keys: "e", on: tables, key: "e", name: "errors", drop: 5, what: "Show the failed calls of the last seconds by cause."},
	{keys: "Esc Backspace", on: innerTable, what: "Clear the filter; without a filter, go back to the page before."},
	{keys: "Esc", on: topTable, what: "Clear the filter."},
	{keys: "space", on: everyPage, key: "space", name: "pause", drop: 6, what: "Freeze what is shown, or go on; the capture continues, and drops, ring and coverage in the first line stay current."},
	{keys: "t", on: everyPage, key: "t", name: "window", drop: 8, what: "Change the time that rows and rates cover: 10 s, 1 min or 5 min; a longer time fills up from now on."},
	{keys: "w", on: everyPage, key: "w", name: "record", drop: 7, what: "Record packets to a file, or stop recording."},
	{keys: "?", on: everyPage, key: "?", name: "help", what: "Show this help."},
	{keys: "Ctrl-L", on: everyPage, what: "Draw the screen again."},
	{keys: "q", on: innerTable, key: "q", name: "back", what: "Go back to the page before."},
	{keys: "q", on: topTable, key: "q", name: "quit", what: "End the capture and print the report of everything captured."},
	{keys: "Ctrl-C", on: everyPage, what: "End the capture from any page."},
}

// keyParts returns the parts of the last line of a page.
func (m *model) keyParts() (parts []part) {
	if m.page == helpPage {
		return []part{{keyText("↑↓ PgUp PgDn", "scroll"), 1}, {keyText("q", "back"), 0}}
	}
	for _, b := range bindings {
		if b.key == "" || b.on&m.kind() == 0 {
			continue
		}
		name := b.name
		switch {
		case b.key == "space" && m.frozen != nil:
			name = "go on"
		case b.key == "w" && m.settings.Record:
			name = "stop"
		}
		parts = append(parts, part{keyText(b.key, name), b.drop})
	}
	return parts
}

func keyText(key, name string) line { return line{{key, strong}, {" " + name, plain}} }
