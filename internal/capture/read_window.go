package capture

import (
	"io"
	"slices"
	"sync"

	"dubbo-wire/internal/capture/mapped"
)

// Buffer sizes in bytes. What was read is in the processor's second-level cache when it is looked at, if the buffer is a
// part of that: with reads of 1 MiB on a Xeon with 1 MiB of it, sizes took up to a sixth longer.
const (
	bufferSize    = 256 << 10
	minBufferSize = 64 << 10
)

// window is a moving view of a byte stream: buf[pos:end] was read and not yet consumed. It grows only for a record that
// does not fit, and only as the bytes of that record arrive.
type window struct {
	r    io.Reader
	buf  []byte
	pos  int
	end  int
	base int64 // offset in the stream of buf[0]
	err  error // the error that ended the stream
	// kept, if set, is the pool of buffers. A buffer is given to it when no later packet lies in the buffer. Delivered
	// bytes are then neither moved nor overwritten.
	kept *buffers
	// ahead, if mayAhead is set, reads while packets are parsed.
	ahead    *readAhead
	mayAhead bool
	// place, if set, can be where the bytes of the file are looked at without being copied.
	place   *inPlace
	lengths lengths // of the records
	lookahead
}

// offset returns the position of the next byte in the stream.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// rest returns the bytes that need no reading.
func (w *window) rest() []byte { return w.buf[w.pos:w.end] }

// preloadNext is Preload of [Files].
func (w *window) preloadNext(whole bool) {
	switch {
	case w.place.on():
		w.preload(w.buf[:w.place.loaded], w.pos, whole, &w.lengths)
	case w.ahead != nil: // another processor may have read the bytes
		w.preload(w.buf[:w.end], w.pos, whole, &w.lengths)
	}
}

// fill makes at least n unconsumed bytes contiguous. It may move bytes, so earlier slices of the buffer become invalid.
// It returns false if the stream ended before; err is then set.
func (w *window) fill(n int) bool {
	for w.end-w.pos < n {
		if w.err != nil {
			return false
		}
		w.more(n)
	}
	return true
}

// more adds the next bytes, on the way to n.
func (w *window) more(n int) {
	switch {
	case w.place != nil && w.place.more(w):
		return
	case w.kept == nil:
		w.makeRoom(n)
	case w.mayAhead:
		if w.ahead == nil {
			w.ahead = startReadAhead(w.r, w.kept)
		}
		w.takeChunk(false)
		return
	default:
		w.makeRoomKept(n)
	}
	w.read()
}

// makeRoom moves the unconsumed bytes to the start of the buffer. If that is full, it grows.
func (w *window) makeRoom(n int) {
	if w.pos > 0 {
		copy(w.buf, w.buf[w.pos:w.end])
		w.base += int64(w.pos)
		w.end -= w.pos
		w.pos = 0
	}
	if w.end == len(w.buf) {
		grown := make([]byte, min(2*len(w.buf), max(n, minBufferSize)))
		copy(grown, w.buf)
		w.buf = grown
	}
}

// read reads once, into the whole free buffer, so that the next records come with it.
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

// makeRoomKept is makeRoom for buffers whose delivered bytes must stay: unconsumed bytes are copied to another buffer.
func (w *window) makeRoomKept(n int) {
	if room := len(w.buf) - w.end; room == 0 || w.pos > 0 && room < minBufferSize/4 {
		size := len(w.buf)
		if rest := w.end - w.pos; rest == size {
			size = min(2*size, max(n, minBufferSize))
		} else if size > bufferSize && max(n, rest) < bufferSize {
			size = bufferSize // after a record that was larger
		}
		w.nextBuffer(size)
	}
}

// nextBuffer copies the unconsumed bytes to a buffer of that size and continues there.
func (w *window) nextBuffer(size int) {
	fresh := w.kept.get(size)
	rest := copy(fresh, w.buf[w.pos:w.end])
	w.kept.retire(w.buf)
	w.base += int64(w.pos)
	w.buf, w.pos, w.end = fresh, 0, rest
}

// buffers is a pool of read buffers. Readers take them; the users of packets, possibly other goroutines, give them
// back.
type buffers struct {
	mu    sync.Mutex
	free  [][]byte
	limit int // of free
	// retired is the space that holds no later packet. It belongs to the reading goroutine.
	retired []Space
}

// Space is memory that packets were in: a buffer, or what a mapped file has before a position.
type Space struct {
	buf    []byte
	file   *mapped.File
	before int
	last   bool // of the file
}

func (b *buffers) retire(buf []byte) { b.retired = append(b.retired, Space{buf: buf[:cap(buf)]}) }

// get returns a buffer of that size in bytes. A nil pool allocates it.
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

// put takes a buffer back, if there are fewer than limit. Buffers larger than usual are not kept.
func (b *buffers) put(m []byte) {
	if len(m) > readAheadRoom+bufferSize {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) == b.limit {
		b.free = slices.Delete(b.free, 0, 1)
	}
	b.free = append(b.free, m)
}

// recycle takes space back, that of a file in its order.
func (b *buffers) recycle(list []Space) {
	for i := range list {
		switch s := &list[i]; {
		case s.file == nil:
			b.put(s.buf)
		case s.last:
			s.file.Close()
		default:
			s.file.Drop(s.before)
		}
	}
}

// Limits of the free buffers: if packets are kept, and if not. Files that follow each other need two.
const (
	maxFreeBuffers  = 16
	maxSpareBuffers = 2
)

// skip consumes n bytes, which need not fit into the buffer. It returns false if the stream ended before.
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
		case w.place.on():
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
