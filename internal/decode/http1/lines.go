package http1

// Lines keeps what lines of heads say that come again, which most do: a connection sends the same header fields with each message. The
// zero value is ready for use, nil keeps nothing. One goroutine uses it.
type Lines struct {
	fields map[string]field
	first  map[string]string // first lines, by themselves
}

// field is the name of a header field, in lower case, and its value.
type field struct{ name, value string }

// Longer lines are not kept, nor more of them; values that differ in every message then take the memory of these.
const (
	maxKeptLine  = 256
	maxKeptLines = 1 << 11
)

// text returns a first line as a text.
func (l *Lines) text(line []byte) string {
	if l == nil || len(line) > maxKeptLine {
		return string(line)
	}
	s, ok := l.first[string(line)]
	if !ok {
		s = string(line)
		l.first = keep(l.first, s, s)
	}
	return s
}

// field reads the line of a header field; ok is false if it is none.
func (l *Lines) field(line []byte) (f field, ok bool) {
	if l == nil || len(line) > maxKeptLine {
		return fieldOf(string(line))
	}
	if f, ok = l.fields[string(line)]; ok {
		return f, f.name != ""
	}
	s := string(line)
	f, ok = fieldOf(s)
	l.fields = keep(l.fields, s, f)
	return f, ok
}

// keep adds an entry to a map, which it empties if it is full.
func keep[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = make(map[string]V)
	}
	if len(m) >= maxKeptLines {
		clear(m)
	}
	m[key] = v
	return m
}
