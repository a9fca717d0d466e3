package capture

import "io"

// ahead reads on in a goroutine of its own while the packets of what was read are parsed, which for a compressed file
// includes decompressing it. It is only used where packets are kept, since then each read has a buffer of its own.
type readAhead struct {
	chunks chan readChunk
	stop   chan struct{}
	done   chan struct{}
}

// chunk is what one read brought, n bytes behind the readAheadRoom of its buffer, and what the reader ended with.
type readChunk struct {
	buf []byte
	n   int
	err error
}

// readAheadRoom is the headroom: what stays free before the bytes of a chunk: there goes the beginning of the record that the chunk before
// ended in. Records are seldom longer.
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

// end stops reading; the reader is the caller's again.
func (a *readAhead) close() {
	close(a.stop)
	<-a.done
}

// take goes on with the next chunk. The buffer so far is retired, or with passed, which says that no packet lies in it,
// used again.
func (w *window) takeChunk(passed bool) {
	c := <-w.ahead.chunks
	w.err = c.err
	if c.n == 0 {
		w.kept.put([][]byte{c.buf})
		return
	}
	old, rest := w.buf, w.buf[w.pos:w.end]
	to, start := c.buf[:readAheadRoom+c.n], readAheadRoom-len(rest)
	if start < 0 { // a record larger than the readAheadRoom: its bytes as far as they are there
		to, start = make([]byte, len(rest)+c.n), 0
		copy(to[len(rest):], c.buf[readAheadRoom:readAheadRoom+c.n])
		w.kept.put([][]byte{c.buf})
	}
	copy(to[start:], rest)
	w.base += int64(w.pos - start)
	w.buf, w.pos, w.end = to, start, len(to)
	if passed {
		w.kept.put([][]byte{old[:cap(old)]})
	} else {
		w.kept.retired = append(w.kept.retired, old[:cap(old)])
	}
}
