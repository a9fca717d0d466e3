package dubbo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/prefetch"
	"dubbo-wire/internal/rpc"
)

// Origin and Chunk say where bytes came from.
type (
	Origin = rpc.Origin
	Chunk  = rpc.Chunk
)

// Frame is one message as found in the stream. The framer reuses it for its next frame.
type Frame struct {
	Header
	// Body is the contiguous start of the body, as far as it was captured and needed. It is complete if
	// len(Body) == BodyLen. It is borrowed until the sink returns.
	Body []byte
	// Captured is the number of captured body bytes, BodyLen if the frame is complete.
	Captured int
	// MissingAt is the offset of the first missing body byte, BodyLen if the frame is complete.
	MissingAt int
	// Short is the cause of an incomplete body: decode.Cut or decode.Lost.
	Short decode.Cause
	// Resync reports whether resynchronizing found the frame, not the end of the frame before it.
	Resync bool
	kept   bool // Body is in memory of Buffers, until the frame is dropped
	// First is the packet with the first byte, Last the packet that completed the frame.
	First, Last Origin
	// LastByte is the capture time of the last byte (its first copy), in nanoseconds since the Unix epoch.
	LastByte int64
	// Start is the position of the header in the stream.
	Start int64
	// Wire is the link bytes of the frame: its own, and the headers of packets that start with one of its bytes.
	Wire int64

	tail *bodyTail // of the inspected body, if it crosses deliveries
}

// Complete reports whether the capture has every byte of the frame.
func (f *Frame) Complete() bool { return f.Captured == f.BodyLen }

// End returns the position in the stream after the frame.
func (f *Frame) End() int64 { return f.Start + int64(f.FrameLen()) }

// Sink receives what a framer finds.
type Sink interface {
	// Frame receives a frame that is complete or will stay incomplete. f is borrowed.
	Frame(f *Frame)
	// Skipped counts n captured bytes that do not belong to a frame. text reports whether they are lines of printable text
	// at a position where a frame was due (Dubbo's telnet).
	Skipped(n int64, text bool)
	// CutHeader receives the first bytes of a header at a known position in the stream, whose others are missing. They count as skipped.
	CutHeader(pos int64, b []byte)
	// BadHeader is called for a header at a known position with a negative length.
	BadHeader(h Header, o Origin)
}

// Asker answers questions that a framer cannot answer from its own direction. A sink may implement it. Without it no response
// is due, requests of the other direction may have been missed, and bodies are needed in full.
type Asker interface {
	// Expected reports whether a response with that id is due in this direction.
	Expected(id int64) bool
	// Asked reports whether the undecided bytes of the other direction may be a request with that id ([Framer.Asks]).
	Asked(id int64) bool
	// Missed reports whether requests of the other direction may have been missed.
	Missed() bool
	// Enough returns how many of b, the first bytes of a body that crosses deliveries, are all that is needed of the body, or 0 if more are.
	Enough(h *Header, b []byte) int
}

// Config is shared by the framers of one goroutine. Zero values are the defaults.
type Config struct {
	// WantBody is the number of bytes that are kept of a body that crosses deliveries (default 16 KiB). The rest is only
	// counted. It may change between deliveries, even within a body, and so may the result of Enough.
	WantBody int
	// Readable, if set, reports whether a frame found by searching can have that body, the first bytes of a complete one.
	Readable func(h *Header, body []byte) bool
	// Recognizer judges headers and bodies found by searching; nil is a recognizer without serializations.
	Recognizer *Recognizer
	// Buffers provides the memory for such bodies; nil: the framers of this Config have their own.
	Buffers *Buffers
	// MaxSearchBody is the maximum body length, in bytes, of a header found by searching (default 8 MiB, Dubbo's own limit).
	MaxSearchBody int
}

type state uint8

const (
	atHeader  state = iota // the next byte starts a header
	inBody                 // left bytes of the body follow
	searching              // the position of the next header is unknown
)

// Framer splits one direction of a connection into frames. Between two frames it holds no other memory. Each open connection has two, so what
// only some of them need is elsewhere: bytes that crossed deliveries are the body of the current frame.
type Framer struct {
	cfg   *Config
	sink  Sink
	frame *Frame // the current frame; nil between frames
	left  int32  // inBody: bytes that follow
	state state
	head  uint8 // atHeader: bytes of the header in the body of the frame
	// enough is set if no more of the body is needed.
	enough bool
	// resynced is set if the position of the next frame was found by searching.
	resynced bool
	resync   resynchronizer
}

// NewFramer returns a framer for a stream from its first byte or, unless fromStart is set, for one that was joined midway. It
// sets the defaults of cfg.
func NewFramer(cfg *Config, sink Sink, fromStart bool) *Framer {
	f := new(Framer)
	f.start(cfg, sink, fromStart)
	return f
}

func (f *Framer) started() bool { return f.cfg != nil }

func (f *Framer) start(cfg *Config, sink Sink, fromStart bool) {
	if cfg.WantBody == 0 {
		cfg.WantBody = 16 << 10
	}
	if cfg.Buffers == nil {
		cfg.Buffers = new(Buffers)
	}
	if cfg.Buffers.pool == nil {
		cfg.Buffers.pool = new(pool)
	}
	if cfg.Recognizer == nil {
		cfg.Recognizer = NewRecognizer(nil)
	}
	if cfg.MaxSearchBody == 0 {
		cfg.MaxSearchBody = 8 << 20
	}
	*f = Framer{cfg: cfg, sink: sink}
	f.resync.framer, f.resync.undecided = f, &nothingUndecided
	if !fromStart {
		f.state = searching
		f.resync.join()
	}
}

// Data reads the next bytes of the stream. b is borrowed.
func (f *Framer) Data(b []byte, c *Chunk) {
	n := 0
	if f.state != searching {
		if n = f.known(b, c); n == len(b) {
			return
		}
	}
	f.resync.take(b, n, c)
}

// within counts b if it lies within a body, does not end it, and nothing more of that body is needed. Otherwise it does nothing and returns
// false.
func (f *Framer) within(b []byte, c *Chunk) bool {
	if f.state != inBody || !f.enough || len(b) >= int(f.left) || f.resync.inspecting {
		return false
	}
	f.count(len(b), c.Overhead, c)
	return true
}

// count counts the next n bytes of the body, with the headers of the packet that starts with them.
func (f *Framer) count(n, overhead int, c *Chunk) {
	r := f.frame
	r.Wire += int64(n + overhead)
	f.left -= int32(n)
	r.Captured += n
	r.touch(c)
}

// known reads b, whose first byte is at a known position: in a body or at a header. It returns the number of bytes it read:
// all, unless a header is not where it should be.
func (f *Framer) known(b []byte, c *Chunk) int {
	at, overhead := 0, c.Overhead
	for at < len(b) {
		switch f.state {
		case inBody:
			n := min(int(f.left), len(b)-at)
			if at+n < len(b) {
				prefetch.Bytes(b[at+n : min(len(b), at+n+128)])
			}
			f.keep(b[at : at+n])
			f.count(n, overhead, c)
			at, overhead = at+n, 0
			if f.left == 0 {
				f.emit()
			}
		case atHeader:
			n := f.header(b[at:], c, c.Pos+int64(at), overhead)
			if n < 0 { // not a header
				return at
			}
			at, overhead = at+n, 0
		default:
			return at
		}
	}
	return at
}

// header reads a header, or a part of one, at the start of b, and the body after it if b has all of it. It returns the number
// of bytes it read, or -1 if b does not continue a header.
func (f *Framer) header(b []byte, c *Chunk, pos int64, overhead int) int {
	taken := 0
	hdr := b
	if f.head > 0 || len(b) < HeaderLen {
		// The header crosses deliveries.
		taken = min(HeaderLen-int(f.head), len(b))
		if f.head == 0 {
			if !isMagic(b) {
				f.startSearch()
				return -1
			}
			f.begin(c, pos)
		}
		r := f.frame
		r.append(f.cfg.Buffers, b[:taken])
		if !isMagic(r.Body) {
			// The byte before b looked like the start of the magic.
			one := [1]byte{r.Body[0]}
			f.drop()
			f.startSearch()
			f.resync.addStray(one[:])
			return -1
		}
		f.head += uint8(taken)
		r.Wire += int64(taken + overhead)
		r.touch(c)
		if f.head < HeaderLen {
			return taken
		}
		hdr = r.Body
		f.head = 0
	} else {
		if !isMagic(b) {
			f.startSearch()
			return -1
		}
		f.begin(c, pos)
		taken = HeaderLen
		f.frame.Wire += int64(taken + overhead)
	}
	h := parseHeader(hdr)
	if h.BodyLen < 0 {
		f.sink.BadHeader(h, c.Origin)
		f.drop()
		f.startSearch()
		f.resync.own().stray = &strayRun{n: HeaderLen, text: text{not: true}}
		return taken
	}
	r := f.frame
	r.Header = h
	r.MissingAt = h.BodyLen
	r.Body = r.Body[:0]
	f.enough = false
	f.resync.beginBody()
	if rest := b[taken:]; len(rest) >= h.BodyLen {
		if len(rest) > h.BodyLen {
			prefetch.Bytes(rest[h.BodyLen:min(len(rest), h.BodyLen+128)])
		}
		// The whole body is here: no copy.
		r.free(f.cfg.Buffers)
		r.Body = rest[:h.BodyLen:h.BodyLen]
		r.Captured = h.BodyLen
		r.Wire += int64(h.BodyLen)
		if f.resync.inspecting {
			f.resync.inspectWhole(r.Body, r.ID)
		}
		f.emit()
		return taken + h.BodyLen
	}
	f.state, f.left = inBody, int32(h.BodyLen)
	return taken
}

// begin starts a frame at a position.
func (f *Framer) begin(c *Chunk, pos int64) {
	f.frame = f.cfg.Buffers.getFrame()
	*f.frame = Frame{First: c.Origin, Last: c.Origin, LastByte: c.Time, Start: pos, Resync: f.resynced}
	f.resynced = false
}

// touch records that a packet has a byte of the frame. Packets that were held after a gap are older than the one that filled
// it.
func (f *Frame) touch(c *Chunk) {
	f.LastByte = c.Time
	if c.Time > f.Last.Time || c.Time == f.Last.Time && c.Packet > f.Last.Packet {
		f.Last = c.Origin
	}
}

// keep copies body bytes, as far as they are needed and nothing is missing before them.
func (f *Framer) keep(b []byte) {
	if f.resync.inspecting {
		f.resync.inspect(b)
	}
	if f.enough || f.frame.MissingAt < f.frame.BodyLen {
		return
	}
	r := f.frame
	if room := max(0, f.cfg.WantBody-len(r.Body)); room <= len(b) { // less may be needed now than when the body began
		b, f.enough = b[:room], true
	}
	// Most of a packet is seldom needed, and what is not copied takes no place in the cache.
	first := len(r.Body) == 0
	start, ask := b, first
	if n := usuallyEnough - len(r.Body); !first && !f.enough && n > 0 && n < len(b) {
		start, ask = append(append(f.cfg.Buffers.start[:0], r.Body...), b[:n]...), true
	}
	if ask {
		if n := f.needed(start); n > 0 {
			b, f.enough = b[:max(0, n-len(r.Body))], true
		}
	}
	f.add(b, !first)
}

// add copies the next bytes of the body, and then asks whether they are enough if ask is set.
func (f *Framer) add(b []byte, ask bool) {
	n := f.cfg.Buffers.room(f.frame.Body, len(b))
	f.frame.append(f.cfg.Buffers, b[:n])
	f.enough = f.enough || n < len(b) || ask && f.needed(f.frame.Body) > 0
}

// append appends to the body of the frame, in memory of Buffers.
func (f *Frame) append(from *Buffers, b []byte) {
	if n := len(f.Body) + len(b); !f.kept || n > cap(f.Body) {
		if f.kept { // more may be needed
			n = from.capacity(n, f.BodyLen)
		}
		body := append(from.get(n), f.Body...)
		if f.kept {
			from.put(f.Body)
		}
		f.Body, f.kept = body, true
	}
	f.Body = append(f.Body, b...)
}

// free returns the memory of the body.
func (f *Frame) free(to *Buffers) {
	if f.kept {
		to.put(f.Body)
	}
	f.Body, f.kept = nil, false
}

// asker returns the sink if it is an Asker, else nil.
func (f *Framer) asker() Asker {
	a, _ := f.sink.(Asker)
	return a
}

// needed returns how many of b, the first bytes of the body, are all that is needed, or 0 if more are.
func (f *Framer) needed(b []byte) int {
	if a := f.asker(); a != nil {
		return a.Enough(&f.frame.Header, b)
	}
	return 0
}

// emit passes the current frame to the sink.
func (f *Framer) emit() {
	r := f.frame
	f.state = atHeader
	f.resync.endBody(r)
	f.sink.Frame(r)
	f.drop()
}

// drop releases the memory of the current frame.
func (f *Framer) drop() {
	f.frame.free(f.cfg.Buffers)
	f.frame.dropTail(f.cfg.Buffers)
	f.cfg.Buffers.putFrame(f.frame)
	f.frame, f.head = nil, 0
}

// startSearch begins a search: the position of the next header is unknown.
func (f *Framer) startSearch() { f.state, f.resync.searched = searching, true }

// AddWire adds link bytes to the current frame and reports whether there is one.
func (f *Framer) AddWire(wire int64) bool {
	if f.state == inBody || f.state == atHeader && f.head > 0 {
		f.frame.Wire += wire
		return true
	}
	return false
}

// Gap handles n missing bytes. wire of them were on the link beyond the snap length; then cut is true.
func (f *Framer) Gap(n, wire int64, c *Chunk) {
	f.resync.lossy, f.resync.gapped = true, true
	if f.state == searching {
		f.resync.gap(n, wire, c)
	}
	switch f.state {
	case inBody:
		k := min(int64(f.left), n)
		f.frame.cutTail()
		r := f.frame
		if r.MissingAt == r.BodyLen {
			r.MissingAt = r.BodyLen - int(f.left)
			r.Short = decode.Lost
			if wire > 0 {
				r.Short = decode.Cut
			}
		}
		if wire > 0 {
			r.Wire += min(wire, k) + int64(c.Overhead)
			r.touch(c)
		}
		f.left -= int32(k)
		n -= k
		if f.left > 0 {
			return
		}
		f.emit()
		if n == 0 {
			return // the next header is at a known position
		}
	case atHeader:
		f.dropHeader()
	case searching:
		f.resync.abandon()
	}
	f.startSearch()
	f.resync.afterLoss, f.resync.next = true, afterGap
}

// Undecided returns the position of the first byte whose owner is not decided: the start of the current frame or of the bytes
// held by a search.
func (f *Framer) Undecided() (pos int64, some bool) {
	if pos, some = f.resync.heldFrom(); !some && f.frame != nil {
		return f.frame.Start, true
	}
	return pos, some
}

// End handles the end of the stream.
func (f *Framer) End() {
	if f.state == searching {
		f.resync.decide(streamEnds)
	}
	f.resync.dropPostponed()
	switch {
	case f.state == searching:
		f.resync.abandon()
	case f.state == inBody:
		if f.frame.MissingAt == f.frame.BodyLen {
			f.frame.MissingAt = f.frame.BodyLen - int(f.left)
			f.frame.Short = decode.Lost
		}
		f.emit()
	default:
		f.dropHeader()
	}
	f.state = atHeader
}

// dropHeader skips the bytes of a header that has no others.
func (f *Framer) dropHeader() {
	if f.head == 0 {
		return
	}
	f.sink.CutHeader(f.frame.Start, f.frame.Body)
	f.skip(int64(f.head))
	f.drop()
}

// skip counts bytes that belong neither to a frame nor to a run of stray bytes.
func (f *Framer) skip(n int64) {
	if n > 0 {
		f.sink.Skipped(n, false)
	}
}

func requestBit(h *Header) int {
	if h.Request() {
		return 1
	}
	return 0
}

// Met reports whether a search found bytes that could begin a frame, accepted or not.
func (f *Framer) Met() bool { return f.resync.sawCandidate }

// Lossy reports whether frames of this direction may have been missed: it was joined midway, lacks bytes or was searched.
func (f *Framer) Lossy() bool { return f.resync.lossy || f.resync.searched }

// Searching reports whether the framer holds bytes that may be frames.
func (f *Framer) Searching() bool { return f.resync.holdsChain() }

// Asks reports whether the held bytes may be a request with that id.
func (f *Framer) Asks(id int64) bool { return f.Searching() && f.resync.search.asks(id) }

// Answered reports a response with that id at a known position of the other direction. If the held bytes contain a request
// with that id, they are frames: a peer answers only complete requests, so a copy of the request inside a longer body would
// have reached the end of that body by now. The held frames up to that request are emitted before Answered returns, the others
// by the next call or by [Framer.Settle].
func (f *Framer) Answered(id int64) { f.resync.answered(id) }

// Settle emits the frames held after an answered request.
func (f *Framer) Settle() {
	if f.Searching() && f.resync.search.phase() == accepted {
		f.resync.decide(moreToCome)
	}
}
