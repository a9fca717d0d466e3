package dubbo

// delivery says that a window from off on, up to the next delivery, came with a chunk.
type delivery struct {
	off   int
	chunk Chunk
	write bool // the sender began to write here: the packet before was not full
}

// searchMemory is about what a search takes beside its window, in bytes.
const searchMemory = 1 << 10

// setWindow replaces the search's window, and accounts for its size.
func (r *resynchronizer) setWindow(window []byte) {
	s := r.search
	n := cap(window) + searchMemory
	r.framer.cfg.Buffers.windows += n - s.accounted
	s.window, s.accounted = window, n
}

// release gives back a search that holds nothing any more.
func (r *resynchronizer) release(s *search) {
	r.framer.cfg.Buffers.windows -= s.accounted
	s.accounted = 0
	r.framer.cfg.Buffers.putSearch(s)
}

// hold appends the bytes of a delivery to the window.
func (r *resynchronizer) hold(b []byte, d delivery) {
	s := r.search
	s.deliveries = append(s.deliveries, d)
	if len(s.window) == 0 {
		s.window = s.store
	}
	window := append(s.window, b...)
	if cap(window) > cap(s.store) {
		s.store = window[:0]
	}
	r.setWindow(window)
}

// skipTo skips the window's bytes before a place.
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

// dropPrefix takes the first n bytes out of the window.
func (s *search) dropPrefix(n int) {
	s.base += int64(n)
	s.scanned = max(s.scanned, s.base)
	if rest := s.window[n:]; len(rest) <= n {
		s.window = s.window[:copy(s.window, rest)]
	} else {
		s.window = rest // moving it would cost more than was dropped
	}
	kept := s.deliveries[:0]
	for i, d := range s.deliveries {
		end := n + len(s.window)
		if i+1 < len(s.deliveries) {
			end = s.deliveries[i+1].off
		}
		if end <= n {
			continue
		}
		if d.off < n {
			d.chunk.Pos += int64(n - d.off)
			d.chunk.Overhead = 0
			d.off = n
		}
		d.off -= n
		kept = append(kept, d)
	}
	s.deliveries = kept
}

// deliveryEnd is where the bytes of delivery i end in the window.
func (s *search) deliveryEnd(i int) int {
	if i+1 < len(s.deliveries) {
		return s.deliveries[i+1].off
	}
	return len(s.window)
}

// endPos is the place in the stream after the window.
func (s *search) endPos() int64 {
	last := &s.deliveries[len(s.deliveries)-1]
	return last.chunk.Pos + int64(len(s.window)-last.off)
}

// packetStarts reports whether a packet's payload starts at a place.
func (s *search) packetStarts(at int64) bool {
	for i := len(s.deliveries) - 1; i >= 0; i-- {
		if off := s.base + int64(s.deliveries[i].off); off <= at {
			return off == at && s.deliveries[i].chunk.Overhead > 0
		}
	}
	return false
}

// strayRun is bytes that stand where a frame was due, until the next frame: are they text?
type strayRun struct {
	n    int64
	text text
}

// addStray adds b to the run of bytes that stand where a frame was due. After a loss they may be those of a body, and are no
// run.
func (r *resynchronizer) addStray(b []byte) {
	if len(b) == 0 {
		return
	}
	if r.afterLoss {
		r.framer.skip(int64(len(b)))
		return
	}
	if r.stray == nil {
		r.stray = new(strayRun)
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
