package capture

import (
	"io"
	"slices"
	"sync"
)

// Buffer sizes in bytes. Reads of 1 MiB are what plain read(2) needs to reach the
// page cache's speed; a quarter of that costs about a fifth more.
const (
	bufferSize    = 1 << 20
	minBufferSize = 64 << 10
)

// window is a moving view of a byte stream: buf[pos:end] is what has been read and
// not yet consumed. It grows only for a record that does not fit, and then only
// as the bytes of that record arrive.
type window struct {
	r    io.Reader
	buf  []byte
	pos  int
	end  int
	base int64 // offset in the stream of buf[0]
	err  error // what the reader ended with
	// kept, if set, gets each buffer when no more packets will lie in it, and gives new ones: bytes that were delivered
	// are neither moved nor overwritten.
	kept *buffers
	// ahead, if mayAhead, reads on while packets are parsed.
	ahead    *readAhead
	mayAhead bool
}

// offset is the stream offset of the next byte.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// rest is what is there without reading.
func (w *window) rest() []byte { return w.buf[w.pos:w.end] }

// fill makes at least n unconsumed bytes contiguous, which moves the earlier ones
// and invalidates slices of them. It reports whether they are there; if not, err
// says what the stream ended with.
func (w *window) fill(n int) bool {
	if w.end-w.pos >= n {
		return true
	}
	if w.kept != nil {
		return w.fillKept(n)
	}
	if w.pos > 0 {
		copy(w.buf, w.buf[w.pos:w.end])
		w.base += int64(w.pos)
		w.end -= w.pos
		w.pos = 0
	}
	for w.end < n {
		if w.err != nil {
			return false
		}
		if w.end == len(w.buf) {
			grown := make([]byte, min(2*len(w.buf), max(n, minBufferSize)))
			copy(grown, w.buf)
			w.buf = grown
		}
		w.read()
	}
	return true
}

// read adds what one read brings. It reads into the whole buffer, not to what is needed now: the next records come with
// it.
func (w *window) read() {
	var k int
	for tries := 0; k == 0 && w.err == nil; tries++ {
		k, w.err = w.r.Read(w.buf[w.end:])
		if tries == 100 && k == 0 && w.err == nil {
			w.err = io.ErrNoProgress
		}
	}
	w.end += k
}

// fillKept is fill where delivered bytes must stay: what is left over goes into another buffer.
func (w *window) fillKept(n int) bool {
	for w.end-w.pos < n {
		if w.err != nil {
			return false
		}
		if w.mayAhead {
			if w.ahead == nil {
				w.ahead = startReadAhead(w.r, w.kept)
			}
			w.takeChunk(false)
			continue
		}
		if room := len(w.buf) - w.end; room == 0 || w.pos > 0 && room < minBufferSize/4 {
			size := len(w.buf)
			if rest := w.end - w.pos; rest == size {
				size = min(2*size, max(n, minBufferSize))
			} else if size > bufferSize && max(n, rest) < bufferSize {
				size = bufferSize // behind a record that was larger
			}
			w.nextBuffer(size)
		}
		w.read()
	}
	return true
}

// turn goes on in another buffer of that size.
func (w *window) nextBuffer(size int) {
	fresh := w.kept.get(size)
	rest := copy(fresh, w.buf[w.pos:w.end])
	w.kept.retired = append(w.kept.retired, w.buf)
	w.base += int64(w.pos)
	w.buf, w.pos, w.end = fresh, 0, rest
}

// buffers is memory that several goroutines pass on: a reader takes it, whoever is done with the packets gives it back.
type buffers struct {
	mu    sync.Mutex
	free  [][]byte
	limit int // of free
	// retired are those that no later packet lies in; of the reading goroutine.
	retired [][]byte
}

// get returns a buffer of that size in bytes.
func (b *buffers) get(size int) []byte {
	if b == nil {
		return make([]byte, size)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, m := range b.free {
		if len(m) == size {
			b.free = slices.Delete(b.free, i, i+1)
			return m
		}
	}
	return make([]byte, size)
}

// put takes buffers back. As many are kept as can be on their way at once; larger ones than usual are not.
func (b *buffers) put(list [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range list {
		if len(m) > readAheadRoom+bufferSize {
			continue
		}
		if len(b.free) == b.limit {
			b.free = slices.Delete(b.free, 0, 1)
		}
		b.free = append(b.free, m)
	}
}

// Limits of the buffers that wait to be used again: with packets that are kept, and without, where two are enough for
// files in a row.
const (
	maxFreeBuffers  = 16
	maxSpareBuffers = 2
)

// skip consumes n bytes, which need not be in the buffer, and reports whether the
// stream had as many.
func (w *window) skip(n int64) bool {
	for first := true; ; first = false {
		have := int64(w.end - w.pos)
		if n <= have {
			w.pos += int(n)
			return true
		}
		n -= have
		w.pos = w.end
		switch {
		case w.ahead != nil:
			if w.err != nil {
				return false
			}
			w.takeChunk(!first) // what is passed over needs no buffer of its own
			continue
		case w.kept != nil:
			if first {
				w.nextBuffer(len(w.buf))
			}
			w.base += int64(w.end)
			w.pos, w.end = 0, 0
		}
		if !w.fill(1) {
			return false
		}
	}
}
