package dubbo

import "dubbo-wire/internal/rpc"

// searchMemory is the approximate memory of a search without its window, in bytes.
const searchMemory = 1 << 10

// setWindow replaces the window of the search and accounts for its size.
func (r *resynchronizer) setWindow(window []byte) {
	s := r.search
	n := cap(window) + searchMemory
	r.framer.cfg.Buffers.windows += n - s.accounted
	s.window, s.accounted = window, n
}

// release returns a search without held bytes to the pool.
func (r *resynchronizer) release(s *search) {
	r.framer.cfg.Buffers.windows -= s.accounted
	s.accounted = 0
	r.framer.cfg.Buffers.putSearch(s)
}

// hold appends the bytes of a delivery to the window.
func (r *resynchronizer) hold(b []byte, d rpc.Held) {
	s := r.search
	s.deliveries = append(s.deliveries, d)
	if len(s.window) == 0 {
		s.window = s.store
	}
	window := s.window
	if n := len(window) + len(b); n > cap(window) {
		window = append(r.framer.cfg.Buffers.instead(s.store, n), window...)
		s.store = window[:0]
	}
	r.setWindow(append(window, b...))
}

// skipTo skips the bytes of the window before a position.
func (r *resynchronizer) skipTo(at int64) {
	s := r.search
	n := int(at - s.base)
	if n == 0 {
		return
	}
	r.addStray(s.window[:n])
	s.dropPrefix(n)
	r.setWindow(s.window)
}

// dropPrefix removes the first n bytes of the window.
func (s *search) dropPrefix(n int) {
	s.base += int64(n)
	s.scanned = max(s.scanned, s.base)
	if rest := s.window[n:]; len(rest) <= n {
		s.window = s.window[:copy(s.window, rest)]
	} else {
		s.window = rest // moving it would cost more than it frees
	}
	s.deliveries = s.deliveries.Drop(n, n+len(s.window))
}

// endPos returns the position in the stream after the window.
func (s *search) endPos() int64 {
	last := &s.deliveries[len(s.deliveries)-1]
	return last.Pos + int64(len(s.window)-last.At)
}

// packetStarts reports whether the payload of a packet starts at a position.
func (s *search) packetStarts(at int64) bool {
	for i := len(s.deliveries) - 1; i >= 0; i-- {
		if off := s.base + int64(s.deliveries[i].At); off <= at {
			return off == at && s.deliveries[i].Overhead > 0
		}
	}
	return false
}

// strayRun is a run of bytes where a frame was due, up to the next frame. It finds out whether they are text.
type strayRun struct {
	n    int64
	text text
}

// addStray adds b to the run of stray bytes. Bytes after a loss are not part of a run, because they may belong to a body.
func (r *resynchronizer) addStray(b []byte) {
	if len(b) == 0 {
		return
	}
	if r.afterLoss {
		r.framer.skip(int64(len(b)))
		return
	}
	if r.stray == nil {
		r.own().stray = new(strayRun)
	}
	r.stray.n += int64(len(b))
	r.stray.text.add(b)
}

// endStray counts the run of stray bytes, if there is one.
func (r *resynchronizer) endStray() {
	if s := r.stray; s != nil {
		r.framer.sink.Skipped(s.n, s.text.is())
		r.stray = nil
	}
}
