package report

import (
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Record is the members of a JSON object, or a row of CSV. Members are appended in order, without an allocation for each, because
// frames and calls are printed by the million. The braces of the object are the caller's.
type Record struct {
	// JSON is the object so far.
	JSON []byte
	sep  bool
	// row is a row of CSV, columns the indexes of its columns by name; nil: the record is JSON.
	row     []string
	columns map[string]int
}

func (f *Record) isCSV() bool { return f.columns != nil }

// cell sets a cell. Rows have no column for some members.
func (f *Record) cell(name, text string) {
	if i, ok := f.columns[name]; ok {
		f.row[i] = text
	}
}

// Name appends the name of a member, whose value the caller appends to JSON.
func (f *Record) Name(name string) {
	begin := `,"`
	if !f.sep {
		f.sep, begin = true, `"`
	}
	f.JSON = append(append(append(f.JSON, begin...), name...), `":`...)
}

// Text appends a string.
func (f *Record) Text(name, v string) {
	if f.isCSV() {
		f.cell(name, v)
		return
	}
	f.Name(name)
	f.JSON = decode.AppendString(f.JSON, v)
}

// OptionalText appends a string unless it is empty.
func (f *Record) OptionalText(name, v string) {
	if v != "" {
		f.Text(name, v)
	}
}

// nullable appends a string or null.
func (f *Record) nullable(name, v string, null bool) {
	if null {
		f.null(name)
		return
	}
	f.Text(name, v)
}

// Int appends an integer.
func (f *Record) Int(name string, v int64) {
	if f.isCSV() {
		f.cell(name, strconv.FormatInt(v, 10))
		return
	}
	f.Name(name)
	f.JSON = decode.AppendInt(f.JSON, v)
}

// number appends an integer as a string.
func (f *Record) number(name string, v int64) {
	if f.isCSV() {
		f.cell(name, strconv.FormatInt(v, 10))
		return
	}
	f.Name(name)
	f.JSON = append(decode.AppendInt(append(f.JSON, '"'), v), '"')
}

// OptionalInt appends an integer, or null if it is negative.
func (f *Record) OptionalInt(name string, n int64) {
	if n < 0 {
		f.null(name)
		return
	}
	f.Int(name, n)
}

func (f *Record) bool(name string, v bool) {
	if f.isCSV() {
		f.cell(name, strconv.FormatBool(v))
		return
	}
	f.Name(name)
	f.JSON = strconv.AppendBool(f.JSON, v)
}

// Raw appends JSON. Rows have no such cells.
func (f *Record) Raw(name string, v []byte) {
	if f.isCSV() {
		return
	}
	f.Name(name)
	f.JSON = append(f.JSON, v...)
}

func (f *Record) null(name string) { f.Raw(name, []byte("null")) }

func (f *Record) list(name string, v []string) {
	if f.isCSV() {
		f.cell(name, strings.Join(v, ","))
		return
	}
	f.Name(name)
	f.JSON = append(f.JSON, '[')
	for i, s := range v {
		if i > 0 {
			f.JSON = append(f.JSON, ',')
		}
		f.JSON = decode.AppendString(f.JSON, s)
	}
	f.JSON = append(f.JSON, ']')
}

func (f *Record) time(name string, ns int64) {
	if f.isCSV() {
		f.cell(name, rfc3339(ns))
		return
	}
	f.Name(name)
	f.JSON = append(f.JSON, '"')
	f.JSON = jdk.AppendNanos(f.JSON, ns)
	f.JSON = append(f.JSON, '"')
}

// Micros appends nanoseconds as microseconds, exactly.
func (f *Record) Micros(name string, ns int64) {
	if f.isCSV() {
		f.cell(name, string(decimalOf(ns, 1000)))
		return
	}
	f.Name(name)
	if ns%1000 == 0 {
		f.JSON = decode.AppendInt(f.JSON, ns/1000)
		return
	}
	f.JSON = strconv.AppendFloat(f.JSON, float64(ns)/1000, 'f', -1, 64)
}
