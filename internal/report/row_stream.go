package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/term"
)

// stream prints a long table row by row, without keeping rows. Columns start with widths that suit most captures and grow when a
// wider cell comes.
type stream struct {
	format  string
	style   Style
	note    string // follows the time of the first row in the head of a narrow table
	out     *bufio.Writer
	csv     *csv.Writer
	columns []streamColumn
	cells   []string
	line    strings.Builder
	record  Record // for CSV
	begun   bool
	// headless is set until the first row is known, which says how wide the columns are; intro is what stands between the
	// heading and that row.
	headless bool
	intro    string
	// announced has a bit for each connection that was introduced.
	announced []uint64
	first     int64 // the time that rows are relative to, in nanoseconds since the Unix epoch
}

// streamColumn is a column of a stream. The last one takes the rest of the line and is cut there.
type streamColumn struct {
	name  string
	right bool
	width int // current width
	most  int // maximum width, 0 for none: numbers are cut on their left, texts on their right
	// narrow replaces the column on a narrow terminal, nil for the same one; without a name, the column is left out.
	narrow *streamColumn
}

// wideStream is the minimum terminal width for addresses and full times in every row. Narrower terminals show the number of the
// connection, introduced in a line before its first row, and seconds since the first row.
const wideStream = 140

// newStream returns a stream of a command's rows. fields are the columns of CSV, columns those of other formats.
func newStream(command string, w io.Writer, format string, s Style, fields []string, columns []streamColumn) (*stream, error) {
	st := &stream{format: format, style: s}
	switch format {
	case "csv":
		st.csv = csv.NewWriter(w)
		st.columns = listOf(fields, func(name string) streamColumn { return streamColumn{name: name} })
	case "table", "markdown":
		st.out = bufio.NewWriter(w)
		st.columns = slices.Clone(columns) // widths grow
	default:
		return nil, fmt.Errorf("%s has no format %q: choose table, markdown, csv or jsonl", command, format)
	}
	for i, c := range st.columns {
		if st.narrow() && c.narrow != nil {
			st.columns[i] = *c.narrow
		}
	}
	st.columns = slices.DeleteFunc(st.columns, func(c streamColumn) bool { return c.name == "" })
	return st, nil
}

func (s *stream) narrow() bool {
	return s.format == "table" && s.style.Width > 0 && s.style.Width < wideStream
}

// csvRecord returns an empty row of CSV, whose cells write prints.
func (s *stream) csvRecord() *Record {
	if s.record.columns == nil {
		s.record.columns = make(map[string]int, len(s.columns))
		for i := range s.columns {
			s.record.columns[s.columns[i].name] = i
		}
		s.cells = make([]string, len(s.columns))
		s.record.row = s.cells
	}
	clear(s.cells)
	return &s.record
}

// begin prints the header before the first row. Times of narrow tables are relative to at.
func (s *stream) begin(at int64) {
	s.begun, s.first = true, at
	names := listOf(s.columns, func(c streamColumn) string { return c.name })
	switch {
	case s.format == "csv":
		_ = s.csv.Write(names) // errors stick, and are returned by the next row or close
	case s.format == "markdown":
		writeMarkdownHeader(&s.line, s.columns)
		_ = s.flushLine()
	default:
		if s.narrow() {
			for _, line := range term.Wrap("time: seconds from "+formatTime(at, ".000000", s.style.Local)+s.note, s.style.Width) {
				s.line.WriteString(line + "\n")
			}
			_ = s.flushLine()
		}
		s.headless = true
	}
}

// connection prints the addresses of a connection before its first row.
func (s *stream) connection(c *call.Conn) {
	if !s.narrow() {
		return
	}
	word, bit := c.Number>>6, uint64(1)<<(c.Number&63)
	for len(s.announced) <= word {
		s.announced = append(s.announced, 0)
	}
	if s.announced[word]&bit != 0 {
		return
	}
	s.announced[word] |= bit
	line := "connection " + strconv.Itoa(c.Number) + ": " + c.Ends[0] + " > " + c.Ends[1] + "\n"
	if s.headless {
		s.intro += line
		return
	}
	s.line.WriteString(line)
	_ = s.flushLine()
}

// time formats a time in full, or in seconds since that of begin.
func (s *stream) time(ns int64) string {
	if !s.narrow() {
		return formatTime(ns, ".000000", s.style.Local)
	}
	micros := (ns - s.first) / 1000
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	return fmt.Sprintf("%s%d.%06d", sign, micros/1e6, micros%1e6)
}

// direction formats the addresses of sender and receiver, or the number of the connection and the direction.
func (s *stream) direction(c *call.Conn, side int) string {
	if !s.narrow() {
		return c.Ends[side] + " > " + c.Ends[1-side]
	}
	if side == 0 {
		return strconv.Itoa(c.Number) + " >"
	}
	return strconv.Itoa(c.Number) + " <"
}

// write prints the cells as one row.
func (s *stream) write() error {
	switch s.format {
	case "csv":
		return s.csv.Write(s.cells)
	case "markdown":
		writeMarkdownRow(&s.line, s.cells)
		return s.flushLine()
	default:
		if s.headless {
			s.headless = false
			s.grow(s.cells)
			_ = s.text(listOf(s.columns, func(c streamColumn) string { return c.name }), true)
			s.line.WriteString(s.intro)
			_ = s.flushLine()
		}
		err := s.text(s.cells, false)
		if err == nil && s.style.Width > 0 {
			err = s.out.Flush() // for a user at a terminal
		}
		return err
	}
}

// separation returns the number of spaces between columns.
func (s *stream) separation() int {
	if s.narrow() {
		return 1
	}
	return 2
}

// cell returns a cell as its column prints it.
func (c *streamColumn) cell(text string) string {
	switch {
	case c.most == 0 || term.Width(text) <= c.most:
		return text
	case c.right:
		return "…" + term.CutStart(text, c.most-1)
	}
	return term.Cut(text, c.most)
}

// grow widens the columns for wider cells while the last column has room left.
func (s *stream) grow(cells []string) {
	for i, cell := range cells[:len(cells)-1] {
		c := &s.columns[i]
		if w := term.Width(c.cell(cell)); w > c.width && s.mayGrow(w-c.width) {
			c.width = w
		}
	}
}

// text prints the cells as a line. A cell that is wider than its column uses the space in front of the following cells, and the
// column grows if the last one has room left.
func (s *stream) text(cells []string, header bool) error {
	s.grow(cells)
	sep, last := s.separation(), len(cells)-1
	at, begin := 0, 0 // end of the line so far, start of the column
	for i, cell := range cells[:last] {
		c := &s.columns[i]
		cell = c.cell(cell)
		w := term.Width(cell)
		start := begin
		if c.right {
			start += c.width - w
		}
		if i > 0 {
			start = max(start, at+sep)
		}
		for ; at < start; at++ {
			s.line.WriteByte(' ')
		}
		s.line.WriteString(cell)
		at += w
		begin += c.width + sep
	}
	if cell := cells[last]; cell != "" {
		for start := max(begin, at+sep); at < start; at++ {
			s.line.WriteByte(' ')
		}
		switch room := s.style.Width - at; {
		case s.style.Width <= 0:
		case header:
			cell = term.Cut(cell, room)
		default:
			cell = s.shorten(cell, room)
		}
		s.line.WriteString(cell)
	}
	text := strings.TrimRight(s.line.String(), " ")
	s.line.Reset()
	if header {
		text = heading(text, &s.style)
	}
	_, _ = s.out.WriteString(text) // errors stick
	return s.out.WriteByte('\n')
}

// minLast is the minimum width of the last column when others grow.
const minLast = 12

// mayGrow reports whether a column may grow by n.
func (s *stream) mayGrow(n int) bool {
	if s.style.Width <= 0 {
		return true
	}
	for i := range s.columns[:len(s.columns)-1] {
		n += s.columns[i].width + s.separation()
	}
	return n+minLast <= s.style.Width
}

// shorten cuts the last cell to n columns. It drops the package of "package.Type/method" first, then the type.
func (s *stream) shorten(text string, n int) string {
	if term.Width(text) <= n {
		return text
	}
	name, more, _ := strings.Cut(text, " ")
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return term.Cut(text, n)
	}
	if more != "" {
		more = " " + more
	}
	_, bare := splitName(name)
	for _, short := range []string{abbreviate(name, nil) + more, bare + more, "…" + name[slash:] + more, "…" + name[slash:]} {
		if term.Width(short) <= n {
			return short
		}
	}
	return term.Cut(name[slash+1:], n)
}

func (s *stream) flushLine() error {
	_, err := s.out.WriteString(s.line.String())
	s.line.Reset()
	return err
}

// Close prints buffered rows.
func (s *stream) Close() error {
	if s.csv != nil {
		if !s.begun {
			s.begin(0)
		}
		s.csv.Flush()
		return s.csv.Error()
	}
	return s.out.Flush()
}
