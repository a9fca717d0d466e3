package dubbo

import "sort"

// What follows takes from packets what they tell of frames. A sender writes whole frames, and what it writes begins a
// packet when all before was sent: behind a packet that is not full, which is the end of a write, a frame starts. The
// bytes of a long body fill their packets, and where one of them is not full it is no matter of the frames inside.

// begun says what a byte is.
type begun uint8

const (
	elsewhere begun = iota
	segment         // the first behind a gap
	stream          // the first of a direction that was joined midway
)

// measure takes note of n bytes that are searched, and reports whether a packet starts with them behind one that was not
// full.
func (f *Framer) measure(n int, c *Chunk) (write bool) {
	if c.Overhead > 0 {
		write = f.packet > 0 && f.packet < f.biggest
		f.packet = 0
	}
	if f.begun != elsewhere {
		write, f.packet = false, 0
	}
	f.packet += uint16(min(n, 1<<16-1-int(f.packet)))
	f.biggest = max(f.biggest, f.packet)
	return write
}

// starts reports whether b, the first bytes of a direction joined midway, start a frame: the packet that was captured
// first begins with a legal header and a body that starts as bodies do. No place is a better one, so its end and all of
// its body need not be there, and what it holds is no matter.
func (f *Framer) starts(b []byte) bool {
	if len(b) < HeaderLen {
		return false
	}
	h := parseHeader(b)
	n := min(startLen, h.BodyLen)
	c := f.cfg.Recognizer
	return c.legal(&h, f.cfg.MaxSearchBody) && len(b)-HeaderLen >= n && c.startsLike(&h, b[HeaderLen:HeaderLen+n])
}

// writes takes note of the writes that begin with the chain's frame at a place, or inside it.
func (f *Framer) writes(at int64) {
	s := f.search
	if at == 0 && s.begun != elsewhere {
		s.hit(at)
	}
	off := int(at - s.base)
	end := int(s.tip - s.base)
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].off >= off })
	for ; i < len(s.marks) && s.marks[i].off < end; i++ {
		switch m := &s.marks[i]; {
		case !m.write:
		case m.off == off:
			s.hit(at)
		default:
			s.misses++
			s.row = 0
		}
	}
}

// hit takes note of a write at a place where a frame starts.
func (c *chain) hit(at int64) {
	c.hits++
	if c.row++; c.row == 2 {
		c.second = at
	}
}

// aligned reports whether writes, and more of them, speak for all of a chain where it is not known whether bodies hold
// frames: two suffice for one that is in order.
func (f *Framer) aligned(more int) bool {
	s := f.search
	// What was asked before the capture began is not known to be due.
	if f.nested || !f.doubtful() || s.misses > s.hits || !s.orderly() && (f.gapped || s.kinds != 1) {
		return false
	}
	return s.hits+more >= 2 || f.later != nil && s.hits+more+f.laterHits() >= 3
}

// orderly reports whether the chain's messages are of one kind, and its requests in the order of their ids, nearly, or most
// of its responses due.
func (c *chain) orderly() bool {
	switch c.kinds {
	case 1:
		return c.undue <= c.owed
	case 2:
		return c.falls*4 <= len(c.asked)
	}
	return c.kinds == 0
}

// holds reports whether a chain is believed that did not break before bytes are missing or the stream ends; rest is the
// bytes behind its last frame, lack is -1 at the stream's end.
func (f *Framer) holds(rest int, lack int64) bool {
	if !f.wary() {
		return true
	}
	more := 0
	if rest == 0 {
		if lack < 0 && !f.gapped && !f.nested && f.search.kinds < 3 {
			return true // the last frame ends where the stream does, and nothing is missing but its beginning
		}
		more = 1 // its end is one of a packet
	}
	return f.aligned(more)
}

// minAnswers is how many requests of a chain have to be answered where it is not known whether bodies hold frames.
const minAnswers = 4
