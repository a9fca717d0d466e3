package http1

import "bytes"

// Lines keeps what lines of heads say that come again, which most do, and in the same order: a connection sends the same header fields with
// each message. The zero value is ready for use, nil keeps nothing. One goroutine uses it.
type Lines struct {
	fields map[string]*line
	first  map[string]*line // first lines of requests, by themselves
	status line             // stands for the first lines of responses; its value is the last status
}

// line is a line of a head with its end. A line of a header field has the field's name, in lower case, and its value; the name is "" if it
// is none.
type line struct {
	text, name, value string
	// matters is set if the name is that of a field that [Head.line] looks at.
	matters bool
	next    *line // the kept line that followed last
}

// Longer lines are not kept, nor more of them; values that differ in every message then take the memory of these.
const (
	maxKeptLine  = 256
	maxKeptLines = 1 << 11
)

// request returns the first line of a request.
func (l *Lines) request(text []byte) *line {
	if l == nil || len(text) > maxKeptLine {
		return &line{text: string(text)}
	}
	f := l.first[string(text)]
	if f == nil {
		f = &line{text: string(text)}
		if len(l.first) >= maxKeptLines {
			clear(l.first)
		}
		l.first = keep(l.first, f)
	}
	return f
}

// afterStatus returns what stands for the first line of a response.
func (l *Lines) afterStatus() *line {
	if l == nil {
		return nil
	}
	return &l.status
}

// code returns a status as a string.
func (l *Lines) code(b []byte) string {
	if l == nil {
		return string(b)
	}
	if l.status.value != string(b) {
		l.status.value = string(b)
	}
	return l.status.value
}

// next returns the line at the start of b, or nil if b has none in full. It comes after another one; nil: that one is not kept.
func (l *Lines) next(after *line, b []byte) *line {
	if after != nil {
		if f := after.next; f != nil && len(b) >= len(f.text) && string(b[:len(f.text)]) == f.text {
			return f
		}
	}
	n := bytes.IndexByte(b, '\n') + 1
	switch {
	case n == 0:
		return nil
	case l == nil || n > maxKeptLine:
		return lineOf(string(b[:n]))
	}
	f := l.fields[string(b[:n])]
	if f == nil {
		f = lineOf(string(b[:n]))
		if len(l.fields) >= maxKeptLines {
			l.forget()
		}
		l.fields = keep(l.fields, f)
	}
	if after != nil {
		after.next = f
	}
	return f
}

// forget drops the lines of header fields. What is kept must not lead to them: a chain of lines that follow each other has no end.
func (l *Lines) forget() {
	for _, f := range l.fields {
		f.next = nil
	}
	for _, f := range l.first {
		f.next = nil
	}
	l.status.next = nil
	clear(l.fields)
}

// keep adds a line to a map.
func keep(m map[string]*line, f *line) map[string]*line {
	if m == nil {
		m = make(map[string]*line)
	}
	m[f.text] = f
	return m
}
