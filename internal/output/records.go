package output

import "sync/atomic"

// Records prints records of one kind to all targets, each in its format.
type Records[T any] struct {
	// Top is how many rows tables and Markdown have at most, 0 for no limit. Other formats have all.
	Top     int64
	targets []*Target
	tables  []Table[T]
	render  func(dst []byte, v T) []byte
	buf     []byte
	lines   bool // buf has the lines of the only target that were not written, else one record
	rows    int64
	err     error
	failed  atomic.Bool // err is set; other goroutines may read this
}

// Table prints rows as table, Markdown or CSV.
type Table[T any] interface {
	Row(T) error
	Close() error
}

// NewRecords begins to print. render appends a record as JSON; open begins the table of a target.
func NewRecords[T any](targets []*Target, render func([]byte, T) []byte, open func(t *Target) (Table[T], error)) (*Records[T], error) {
	w := &Records[T]{targets: targets, render: render, tables: make([]Table[T], len(targets))}
	for i, t := range targets {
		switch t.Format {
		case "json":
			if _, err := t.W.WriteString("["); err != nil {
				return nil, err
			}
		case "jsonl":
		default:
			tab, err := open(t)
			if err != nil {
				return nil, err
			}
			w.tables[i] = tab
		}
	}
	w.lines = len(targets) == 1 && targets[0].Format == "jsonl"
	return w, nil
}

// Write prints v. After the first error it does nothing.
func (w *Records[T]) Write(v T) {
	if w.err != nil {
		return
	}
	if w.lines {
		w.buf = append(w.render(w.buf, v), '\n')
		if len(w.buf) >= bufferSize {
			w.writeLines()
		}
		w.rows++
		return
	}
	w.buf = w.buf[:0]
	for i, t := range w.targets {
		if w.tables[i] != nil {
			if w.Top == 0 || w.rows < w.Top || t.Format != "table" && t.Format != "markdown" {
				w.err = w.tables[i].Row(v)
			}
		} else {
			if len(w.buf) == 0 {
				w.buf = w.render(w.buf, v)
			}
			w.err = t.record(w.buf, w.rows == 0)
		}
		if w.err != nil {
			w.err = t.cannotWrite(w.err)
			w.failed.Store(true)
			return
		}
	}
	w.rows++
}

// writeLines writes buf. The buffer of the target would only copy it.
func (w *Records[T]) writeLines() {
	t := w.targets[0]
	if _, w.err = t.W.Write(w.buf); w.err != nil {
		w.err = t.cannotWrite(w.err)
		w.failed.Store(true)
	}
	w.buf = w.buf[:0]
}

// record prints a rendered record as an element of an array, or as a line.
func (t *Target) record(json []byte, first bool) error {
	if t.Format == "json" {
		sep := ",\n"
		if first {
			sep = "\n"
		}
		_, _ = t.W.WriteString(sep) // the next write returns its error, too
		_, err := t.W.Write(json)
		return err
	}
	_, _ = t.W.Write(json)
	return t.W.WriteByte('\n')
}

// Broken reports whether printing has failed, for example because the reader of a pipe is gone. Any goroutine may call it.
func (w *Records[T]) Broken() bool { return w.failed.Load() }

// Rows returns the number of printed records.
func (w *Records[T]) Rows() int64 { return w.rows }

// Close closes the targets and returns the first error.
func (w *Records[T]) Close() error {
	if w.lines && w.err == nil {
		w.writeLines()
	}
	for i, t := range w.targets {
		earlier := w.err
		if w.err == nil && w.tables[i] != nil {
			w.err = w.tables[i].Close()
		}
		if w.err == nil && t.Format == "json" {
			_, w.err = t.W.WriteString("\n]\n")
		}
		if w.err == nil {
			w.err = t.Close()
		}
		if w.err != nil {
			if earlier == nil {
				w.err = t.cannotWrite(w.err)
			}
			Discard(w.targets[i:])
			return w.err
		}
	}
	return nil
}
