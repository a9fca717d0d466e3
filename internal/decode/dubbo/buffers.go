package dubbo

import "math/bits"

// Buffers provides memory for frames that cross deliveries and for searches. The framers of a lane share it, and a framer holds some only
// within a frame or a search. What it gives does not depend on what was in use before, so results do not either.
type Buffers struct {
	// Max is the maximum number of held bytes (default 256 MiB). Half of them are for long bodies; beyond that only the
	// first 64 KiB of a body are kept. A quarter is for shorter bodies; beyond that nothing more is kept. A quarter is for the
	// windows of searches; beyond that every search decides with the bytes that it has.
	Max         int
	long, short int       // bytes of the buffers larger than maxKept, and of the others
	windows     int       // bytes of the windows of searches
	searches    []*search // without windows
	*pool
}

// pool is memory that the lanes of a goroutine do not need now.
type pool struct {
	free      [bufferSizes][][]byte // by size
	freeBytes int
	frames    []*Frame
	tails     []*bodyTail
	start     [usuallyEnough]byte // scratch for the start of a body
}

// maxKept, maxPooled and maxFreeBytes bound the memory of the buffers that are kept for the next frames and windows, maxFree the number of other
// things: there may be thousands of connections, each with a frame that crosses packets.
const maxKept, maxPooled, maxFreeBytes, maxFree = 64 << 10, 2 * maxKept, 24 * maxKept, 1 << 11

// maxSearches is the maximum number of searches that are kept for a lane.
const maxSearches = 12

const defaultMax = 256 << 20

func (b *Buffers) quarter() int {
	if b.Max == 0 {
		return defaultMax / 4
	}
	return b.Max / 4
}

// crowded reports whether searches hold too many bytes.
func (b *Buffers) crowded() bool { return b.windows > b.quarter() }

// room returns how many of n more bytes a buffer may hold.
func (b *Buffers) room(buf []byte, n int) int {
	if n <= cap(buf)-len(buf) {
		return n
	}
	few := max(0, maxKept-len(buf))
	if few > 0 && b.short > b.quarter() {
		return 0
	}
	return min(n, max(few, 2*b.quarter()-b.long))
}

// capacity returns for how many bytes a buffer that needs n gets memory, if it will not need more than most. A buffer that is not long does
// not become long by that, and a long one takes no more than others have left.
func (b *Buffers) capacity(n, most int) int {
	limit := maxKept
	if n > maxKept {
		limit = n + max(0, 2*b.quarter()-b.long)
	}
	return max(n, min(2*n, most, limit))
}

func (b *Buffers) note(n, sign int) {
	if n > maxKept {
		b.long += sign * n
	} else {
		b.short += sign * n
	}
}

// Buffers up to maxPooled have one of bufferSizes sizes, from enough on, so that a body that grows leaves memory that another one needs.
const bufferSizes = 19

// bufferSize returns the smallest size for n bytes: 2 or 3 times a power of two.
func bufferSize(n int) (index, size int) {
	if n > enough {
		k := bits.Len(uint(n - 1))
		if index = 2 * (k - bits.Len(enough-1)); n <= 3<<(k-2) {
			index--
		}
	}
	return index, (2 + index&1) * (enough / 2) << (index / 2)
}

// get returns a buffer for at least n bytes.
func (b *Buffers) get(n int) []byte {
	if n > maxKept {
		b.note(n, 1)
		return make([]byte, 0, n)
	}
	buf := b.take(n)
	b.note(cap(buf), 1)
	return buf
}

func (b *Buffers) put(buf []byte) {
	b.note(cap(buf), -1)
	b.giveBack(buf)
}

// take returns a buffer for at least n bytes, which are at most maxPooled.
func (p *pool) take(n int) []byte {
	i, size := bufferSize(n)
	if k := len(p.free[i]) - 1; k >= 0 {
		buf := p.free[i][k]
		p.free[i] = p.free[i][:k]
		p.freeBytes -= size
		return buf
	}
	return make([]byte, 0, size)
}

// instead returns a buffer for at least n bytes in place of buf, which it takes back; the bytes of buf stay until the next call.
func (p *pool) instead(buf []byte, n int) []byte {
	var to []byte
	if n <= maxPooled {
		to = p.take(n)
	} else {
		to = make([]byte, 0, n+n/4)
	}
	p.giveBack(buf)
	return to
}

// giveBack takes back what take returned, and drops other buffers.
func (p *pool) giveBack(buf []byte) {
	n := cap(buf)
	if n == 0 || n > maxPooled || p.freeBytes+n > maxFreeBytes {
		return
	}
	if i, size := bufferSize(n); size == n {
		p.free[i] = append(p.free[i], buf[:0])
		p.freeBytes += n
	}
}

func (b *Buffers) getFrame() *Frame {
	if k := len(b.frames) - 1; k >= 0 {
		f := b.frames[k]
		b.frames = b.frames[:k]
		return f
	}
	return new(Frame)
}

func (b *Buffers) putFrame(f *Frame) {
	if len(b.frames) < maxFree {
		b.frames = append(b.frames, f)
	}
}

func (b *Buffers) getSearch() *search {
	if k := len(b.searches) - 1; k >= 0 {
		s := b.searches[k]
		b.searches = b.searches[:k]
		return s
	}
	return &search{chain: chain{start: -1, acceptFrom: -1}}
}

// putSearch takes back a search with an empty window.
func (b *Buffers) putSearch(s *search) {
	b.giveBack(s.store)
	s.store = nil
	if len(b.searches) < maxSearches && cap(s.deliveries) <= 1<<10 && cap(s.held) <= 1<<10 {
		s.forgetRefuted()
		*s = search{deliveries: s.deliveries[:0], refuted: s.refuted, chain: s.empty()}
		b.searches = append(b.searches, s)
	}
}

func (b *Buffers) getTail() *bodyTail {
	if k := len(b.tails) - 1; k >= 0 {
		t := b.tails[k]
		b.tails = b.tails[:k]
		return t
	}
	return new(bodyTail)
}

func (b *Buffers) putTail(t *bodyTail) {
	t.n = 0
	if len(b.tails) < maxFree {
		b.tails = append(b.tails, t)
	}
}
