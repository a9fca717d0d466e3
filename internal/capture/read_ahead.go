package capture

import "io"

// readAhead reads and decompresses in a goroutine of its own while the packets of earlier bytes are parsed. It is used
// only if packets are kept, because then each read has a buffer of its own.
type readAhead struct {
	chunks chan readChunk
	stop   chan struct{}
	done   chan struct{}
}

// readChunk is the result of one read: n bytes after the first readAheadRoom bytes of its buffer, and the error of the
// reader.
type readChunk struct {
	buf []byte
	n   int
	err error
}

// readAheadRoom is the free space in bytes before the bytes of a chunk. It receives the start of a record that the
// previous chunk ended in. Few records are longer.
const readAheadRoom = 64 << 10

func startReadAhead(r io.Reader, kept *buffers) *readAhead {
	a := &readAhead{chunks: make(chan readChunk, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		for empty := 0; ; {
			c := readChunk{buf: kept.get(readAheadRoom + bufferSize)}
			c.n, c.err = r.Read(c.buf[readAheadRoom:])
			if empty++; c.n > 0 {
				empty = 0
			} else if c.err == nil && empty == 100 {
				c.err = io.ErrNoProgress
			}
			select {
			case a.chunks <- c:
			case <-a.stop:
				return
			}
			if c.err != nil {
				return
			}
		}
	}()
	return a
}

// close stops reading. After it returns, the reader belongs to the caller again.
func (a *readAhead) close() {
	close(a.stop)
	<-a.done
}

// takeChunk continues with the next chunk. The old buffer is retired, or used again if passed says that it holds no
// packet.
func (w *window) takeChunk(passed bool) {
	c := <-w.ahead.chunks
	w.err = c.err
	if c.n == 0 {
		w.kept.put(c.buf)
		return
	}
	old, rest := w.buf, w.buf[w.pos:w.end]
	to, start := c.buf[:readAheadRoom+c.n], readAheadRoom-len(rest)
	if start < 0 { // a record larger than readAheadRoom, as far as it was read
		to, start = make([]byte, len(rest)+c.n), 0
		copy(to[len(rest):], c.buf[readAheadRoom:readAheadRoom+c.n])
		w.kept.put(c.buf)
	}
	copy(to[start:], rest)
	w.base += int64(w.pos - start)
	w.buf, w.pos, w.end = to, start, len(to)
	w.lookahead = lookahead{}
	if passed {
		w.kept.put(old[:cap(old)])
	} else {
		w.kept.retire(old)
	}
}
