package estimate

import (
	"bufio"
	"io"
	"os"
)

// spool keeps the values of messages in a temporary file without a name.
type spool struct {
	dir  string
	file *os.File
	w    *bufio.Writer
	at   int64
	err  error
}

// spooled is the place of values in a spool.
type spooled struct {
	from int64
	n    int
}

// keep moves the values of a message to the file.
func (s *spool) keep(m *message) {
	if m.prepared == nil || m.values == nil || s.err != nil {
		return
	}
	if s.file == nil {
		if s.file, s.err = os.CreateTemp(s.dir, "dubbo-wire-estimate-*"); s.err != nil {
			return
		}
		_ = os.Remove(s.file.Name()) // on Windows, close does it
		s.w = bufio.NewWriterSize(s.file, 1<<20)
	}
	n, err := s.w.Write(m.values)
	if s.err = err; err != nil {
		return
	}
	m.at = spooled{s.at, n}
	s.at += int64(n)
	m.values = nil
}

// values returns the values of a message.
func (s *spool) values(m *message) ([]byte, error) {
	if s == nil || m.at.n == 0 {
		return m.values, nil
	}
	if s.err == nil && s.w.Buffered() > 0 {
		s.err = s.w.Flush()
	}
	if s.err != nil {
		return nil, s.err
	}
	b := make([]byte, m.at.n)
	_, err := io.ReadFull(io.NewSectionReader(s.file, m.at.from, int64(m.at.n)), b)
	return b, err
}

func (s *spool) close() {
	if s != nil && s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
