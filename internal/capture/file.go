package capture

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"dubbo-wire/internal/capture/mapped"
)

// file is one input: probed, pending, open or done.
type file struct {
	in    *Input
	index int
	rank  int // place by the time of the first packet, then by index
	path  string
	size  int64 // bytes on disk, or -1 if unknown

	hasPacket bool
	first     int64        // time of its first packet
	queue     []Packet     // that were read, but not delivered
	space     []Packet     // memory of the queue
	stream    *stream      // nil while the file is closed
	mapped    *mapped.File // that was looked at in place, also when it is closed
}

// stream is the state of an open file.
type stream struct {
	reader packetReader
	window *window // of the reader
	raw    *countingReader
	close  func() // closes the file and its decompressor
	buf    []byte // given back to the pool when the file is done
	keep   bool   // standard input or a pipe, which cannot be opened twice
}

// countingReader counts the bytes that are read, and adds them to total if that is set.
type countingReader struct {
	r     io.Reader
	n     int64
	total *atomic.Int64
	file  *os.File // what r reads, if that is a regular file
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.add(int64(n))
	return n, err
}

func (c *countingReader) add(n int64) {
	c.n += n
	if c.total != nil {
		c.total.Add(n)
	}
}

// probe reads the file up to its first packet, to learn whether it is a capture and when it starts. A file that can be
// opened again is then closed.
func (f *Files) probe(fl *file) error {
	if err := f.start(fl, minBufferSize); err != nil {
		return err
	}
	if fl.stream == nil {
		return nil // it has no packets, or damage before the first one
	}
	fl.hasPacket, fl.first = true, fl.queue[0].Time
	if !fl.stream.keep {
		f.release(fl)
	}
	return nil
}

// start opens the file and reads its first packet. A file without packets is closed again; that is not an error.
func (f *Files) start(fl *file, size int) error {
	*fl.in = Input{File: fl.in.File, Source: fl.in.Source, Dropped: -1}
	s, err := f.openRaw(fl)
	if err != nil {
		return err
	}
	if s.keep {
		size = bufferSize
		s.count(&f.read)
	}
	s.buf = f.buffers.get(size)
	closeRaw, release := s.close, func() {}
	if s.reader, release, err = detect(s.raw, s.buf, fl.in, f.kept); err != nil {
		closeRaw()
		f.buffers.put(s.buf)
		return err
	}
	s.close = func() { release(); closeRaw() }
	// Only one file at a time is read ahead: with many files, which are merged packet by packet, each would need
	// buffers.
	w := s.reader.window()
	s.window = w
	w.mayAhead = f.kept != nil && !s.keep && size == bufferSize
	if s.raw.file != nil && size == bufferSize && fl.in.Compression == "" && fl.size >= minInPlace {
		if w.place = newInPlace(s.raw, &f.pace); w.place != nil {
			s.close = func() {} // the file is closed when its bytes are not used
			fl.mapped = w.place.file
		}
	}
	fl.stream = s
	fl.queue = make([]Packet, 1)
	fl.space = fl.queue
	if err := s.reader.next(&fl.queue[0]); err != nil {
		f.release(fl)
	}
	return nil
}

// noteCut notes that the file was cut while it was looked at in place, once.
func (fl *file) noteCut() {
	if fl.mapped == nil {
		return
	}
	if at := fl.mapped.Cut(); at >= 0 {
		fl.in.note(fl.in.Packets+1, at, "the file ended early: another process cut it while it was read, and packets before this one may have zeros instead of their bytes; analyze the complete file again")
		fl.mapped = nil
	}
}

// count adds the bytes that were read and will be read to total, once.
func (s *stream) count(total *atomic.Int64) {
	if s.raw.total == nil {
		total.Add(s.raw.n)
		s.raw.total = total
	}
}

// openRaw opens the file without decompressing it.
func (f *Files) openRaw(fl *file) (*stream, error) {
	s := &stream{close: func() {}}
	if fl.path == "-" {
		s.raw, s.keep = &countingReader{r: f.stdin}, true
		fl.size = -1
		if st, ok := f.stdin.(interface{ Stat() (fs.FileInfo, error) }); ok {
			if info, err := st.Stat(); err == nil && info.Mode().IsRegular() {
				fl.size = info.Size()
			}
		}
		return s, nil
	}
	if info, err := os.Stat(fl.path); err == nil && info.Mode().Type() == fs.ModeNamedPipe {
		p := &NamedPipe{Path: fl.path}
		fl.size, s.keep, s.close = -1, true, p.close
		s.raw = &countingReader{r: p}
		if f.pipe != nil {
			s.raw.r = f.pipe(p)
		}
		return s, nil
	}
	file, err := os.Open(fl.path)
	if err != nil {
		return nil, openError(fl.in.File, err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, openError(fl.in.File, err)
	}
	if info.Mode().IsRegular() {
		fl.size, s.raw = info.Size(), &countingReader{r: newCachedReader(file), file: file}
	} else {
		fl.size, s.keep, s.raw = -1, true, &countingReader{r: file}
	}
	s.close = func() { _ = file.Close() }
	return s, nil
}

// NamedPipe reads the named pipe at Path, which the first Read opens, because opening it waits for the writer.
type NamedPipe struct {
	Path   string
	mu     sync.Mutex
	file   *os.File
	closed bool
}

func (p *NamedPipe) Read(b []byte) (int, error) {
	if p.file == nil {
		file, err := os.Open(p.Path)
		if err != nil {
			return 0, err
		}
		p.mu.Lock()
		p.file = file
		if p.closed {
			_ = file.Close()
		}
		p.mu.Unlock()
	}
	return p.file.Read(b)
}

// close may be called while another goroutine waits in Read.
func (p *NamedPipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.file != nil {
		_ = p.file.Close()
	}
}

// release closes the file and takes its buffer back.
func (f *Files) release(fl *file) {
	if fl.stream == nil {
		return
	}
	w := fl.stream.window
	if w.ahead != nil {
		w.ahead.close()
	}
	fl.stream.close()
	switch {
	case w.kept == nil:
		f.buffers.put(fl.stream.buf)
	case !w.place.on():
		w.kept.retire(w.buf)
	}
	if w.place != nil {
		w.place.close(w)
	}
	if fl.stream.raw.total != nil && fl.size > fl.stream.raw.n {
		f.read.Add(fl.size - fl.stream.raw.n) // bytes that are not read because of damage
	}
	fl.stream, fl.queue, fl.space = nil, nil, nil
}

// Keep makes packets stay valid after the next call of Next: until the space that Retired returns from then on is
// given to Recycle.
func (f *Files) Keep() {
	if f.kept != nil {
		return
	}
	f.kept = &f.buffers
	f.buffers.limit = maxFreeBuffers
	for _, fl := range append(slices.Clone(f.open), f.pending...) {
		if fl.stream != nil {
			fl.stream.window.kept = f.kept
		}
	}
}

// Retired returns the space, each once, that holds no packet which Next has yet to deliver. The packet that Next
// delivered last may be in it.
func (f *Files) Retired() []Space {
	if f.kept == nil || len(f.kept.retired) == 0 {
		return nil
	}
	list := f.kept.retired
	f.kept.retired = nil
	return list
}

// Recycle takes back space whose packets are no longer used, in the order in which Retired returned it. Any goroutine may call it.
func (f *Files) Recycle(list []Space) { f.kept.recycle(list) }
