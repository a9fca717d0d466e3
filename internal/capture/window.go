package capture

import "io"

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
		// A read into the whole buffer, not to n: the next records come with it.
		var k int
		for tries := 0; k == 0 && w.err == nil; tries++ {
			k, w.err = w.r.Read(w.buf[w.end:])
			if tries == 100 && k == 0 && w.err == nil {
				w.err = io.ErrNoProgress
			}
		}
		w.end += k
	}
	return true
}

// skip consumes n bytes, which need not be in the buffer, and reports whether the
// stream had as many.
func (w *window) skip(n int64) bool {
	for {
		have := int64(w.end - w.pos)
		if n <= have {
			w.pos += int(n)
			return true
		}
		n -= have
		w.pos = w.end
		if !w.fill(1) {
			return false
		}
	}
}
