package dubbo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Origin and Chunk say where bytes came from.
type (
	Origin = rpc.Origin
	Chunk  = rpc.Chunk
)

// Frame is one message as it was found in the stream. It is reused for the next frame of that framer.
type Frame struct {
	Header
	// Body is the start of the body, without a gap, as far as it was captured and wanted: all of it when
	// len(Body) == BodyLen. Borrowed until the sink returns.
	Body []byte
	// Captured is the bytes of the body in the capture; BodyLen when complete.
	Captured int
	// MissingAt is the offset of the first body byte that the capture lacks (BodyLen when complete).
	MissingAt int
	// Short is why an incomplete body is so: decode.Cut or decode.Lost.
	Short decode.Cause
	// Resync: found by searching, not at a place known by the frame before.
	Resync bool
	// First brought the first byte, Last the byte that completed the frame.
	First, Last Origin
	// LastByte is when the frame's last byte was captured (first copy), in nanoseconds since the Unix epoch.
	LastByte int64
	// Start is the header's place in the stream.
	Start int64
	// Wire is the frame's bytes on the link: its own, and the headers of packets that start with one of its bytes.
	Wire int64
}

// Complete reports whether the capture has every byte of the frame.
func (f *Frame) Complete() bool { return f.Captured == f.BodyLen }

// End is the place in the stream after the frame.
func (f *Frame) End() int64 { return f.Start + int64(f.FrameLen()) }

// Sink takes what a framer finds.
type Sink interface {
	// Frame is called when a frame is complete, or is known to stay incomplete. f is borrowed.
	Frame(f *Frame)
	// Skipped counts n captured bytes that belong to no frame. text: they stood where a frame was due and are lines of
	// printable text (Dubbo's telnet).
	Skipped(n int64, text bool)
	// BadHeader is called for the magic at a known place with a negative length.
	BadHeader(h Header, o Origin)
}

// Asker answers what a framer cannot know from its own direction. A sink may be one; without it no response is due,
// requests of the other direction may have been missed, and all of a body is wanted.
type Asker interface {
	// Expected reports whether a response with that id is due in this direction.
	Expected(id int64) bool
	// Asked reports whether a request with that id may have been found in the other direction, where a search has not
	// decided yet ([Framer.Asks]).
	Asked(id int64) bool
	// Missed reports whether requests of the other direction may not have been found.
	Missed() bool
	// Enough reports whether b, the first bytes of a body that crosses deliveries, is already all that is wanted of it.
	Enough(h *Header, b []byte) bool
}

// Config is what the framers of one goroutine have in common; zero values are the defaults.
type Config struct {
	// WantBody is how many bytes of a body that crosses deliveries are kept for decoding (default 16 KiB). The rest is
	// counted. It may be changed between deliveries, also within a body, and so may what Enough says.
	WantBody int
	// Readable, if set, is asked whether body, the first bytes of one that is whole, can be that of a frame found by
	// searching.
	Readable func(h *Header, body []byte) bool
	// Recognizer judges headers and bodies found by searching; nil: one that knows no serialization.
	Recognizer *Recognizer
	// Buffers is where memory for such bodies comes from; nil: the framers of this Config have their own.
	Buffers *Buffers
	// MaxSearchBody is the longest body, in bytes, that is accepted of a header found by searching (default 8 MiB,
	// Dubbo's own limit).
	MaxSearchBody int
}

type state uint8

const (
	atHeader  state = iota // the next byte starts a header
	inBody                 // left bytes of the body are to come
	searching              // no known place
)

// Framer cuts one direction of a connection into frames. Between two frames it holds no memory but itself.
type Framer struct {
	cfg   *Config
	sink  Sink
	frame *Frame // that is being read; nil between frames
	buf   []byte // header or body bytes that crossed deliveries
	left  int32  // inBody: bytes to come
	state state
	head  uint8 // atHeader: bytes of the header in buf
	// enough: nothing more of the body is wanted.
	enough bool
	// resynced: the next frame's place was found by searching.
	resynced bool
	resync   resynchronizer
}

// NewFramer returns a framer for a stream that starts with its first byte when fromStart, else for one that was joined
// midway. It fills in cfg's defaults.
func NewFramer(cfg *Config, sink Sink, fromStart bool) *Framer {
	f := new(Framer)
	f.start(cfg, sink, fromStart)
	return f
}

func (f *Framer) start(cfg *Config, sink Sink, fromStart bool) {
	if cfg.WantBody == 0 {
		cfg.WantBody = 16 << 10
	}
	if cfg.Buffers == nil {
		cfg.Buffers = new(Buffers)
	}
	if cfg.Recognizer == nil {
		cfg.Recognizer = NewRecognizer(nil)
	}
	if cfg.MaxSearchBody == 0 {
		cfg.MaxSearchBody = 8 << 20
	}
	*f = Framer{cfg: cfg, sink: sink}
	f.resync.framer = f
	if !fromStart {
		f.state = searching
		f.resync.join()
	}
}

// Data takes the next bytes of the stream; b is borrowed.
func (f *Framer) Data(b []byte, c *Chunk) {
	n := 0
	if f.state != searching {
		if n = f.known(b, c); n == len(b) {
			return
		}
	}
	f.resync.take(b, n, c)
}

// known reads b, whose first byte stands at a known place: in a body or at a header. It returns how many bytes it took:
// all, unless no header stands where one was due.
func (f *Framer) known(b []byte, c *Chunk) int {
	at, overhead := 0, c.Overhead
	for at < len(b) {
		switch f.state {
		case inBody:
			n := min(int(f.left), len(b)-at)
			r := f.frame
			r.Wire += int64(n + overhead)
			f.keep(b[at : at+n])
			f.left -= int32(n)
			r.Captured += n
			r.touch(c)
			at, overhead = at+n, 0
			if f.left == 0 {
				r.Body = f.buf
				f.emit()
			}
		case atHeader:
			n := f.header(b[at:], c, c.Pos+int64(at), overhead)
			if n < 0 { // no header here
				return at
			}
			at, overhead = at+n, 0
		default:
			return at
		}
	}
	return at
}

// header takes a header, or the part of one, from the start of b, and the body after it when all of it is there. It
// returns the bytes taken, -1 when b does not go on as a header.
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
			f.buf = f.cfg.Buffers.get()
			f.begin(c, pos)
		}
		before := cap(f.buf)
		f.buf = append(f.buf[:f.head], b[:taken]...)
		f.cfg.Buffers.grown(f.buf, before)
		if !isMagic(f.buf) {
			// The one byte before b looked like the start of the magic.
			one := [1]byte{f.buf[0]}
			f.drop()
			f.startSearch()
			f.resync.addStray(one[:])
			return -1
		}
		f.head += uint8(taken)
		f.frame.Wire += int64(taken + overhead)
		f.frame.touch(c)
		if f.head < HeaderLen {
			return taken
		}
		hdr = f.buf
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
		f.resync.stray = &strayRun{n: HeaderLen, text: text{not: true}}
		return taken
	}
	r := f.frame
	r.Header = h
	r.MissingAt = h.BodyLen
	f.buf = f.buf[:0]
	f.enough = false
	f.resync.beginBody()
	if rest := b[taken:]; len(rest) >= h.BodyLen {
		// The whole body is here: no copy.
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

// begin starts a frame at pos.
func (f *Framer) begin(c *Chunk, pos int64) {
	f.frame = f.cfg.Buffers.getFrame()
	*f.frame = Frame{First: c.Origin, Last: c.Origin, LastByte: c.Time, Start: pos, Resync: f.resynced}
	f.resynced = false
}

// touch notes that a packet brought a byte of the frame. Packets that were held after a gap are older than the one
// that filled it.
func (f *Frame) touch(c *Chunk) {
	f.LastByte = c.Time
	if c.Time > f.Last.Time || c.Time == f.Last.Time && c.Packet > f.Last.Packet {
		f.Last = c.Origin
	}
}

// keep copies body bytes, as far as they are wanted and nothing is missing before them.
func (f *Framer) keep(b []byte) {
	if f.resync.inspecting {
		f.resync.inspect(b)
	}
	if f.enough || f.frame.MissingAt < f.frame.BodyLen {
		return
	}
	room := max(0, f.cfg.WantBody-len(f.buf)) // less may be wanted now than when the body began
	if f.buf == nil {
		f.buf = f.cfg.Buffers.get()
	}
	before := cap(f.buf)
	n := f.cfg.Buffers.room(f.buf, min(room, len(b)))
	f.buf = append(f.buf, b[:n]...)
	f.cfg.Buffers.grown(f.buf, before)
	f.enough = room <= len(b) || n < len(b) || f.isEnough()
}

// asker is the sink, if it can be asked; nil if not.
func (f *Framer) asker() Asker {
	a, _ := f.sink.(Asker)
	return a
}

// isEnough reports whether nothing more of the body is wanted.
func (f *Framer) isEnough() bool {
	a := f.asker()
	return a != nil && a.Enough(&f.frame.Header, f.buf)
}

// emit hands on the frame that was read.
func (f *Framer) emit() {
	r := f.frame
	f.state = atHeader
	f.resync.endBody(r)
	f.sink.Frame(r)
	f.drop()
}

// drop gives back the memory of the frame that was read.
func (f *Framer) drop() {
	f.cfg.Buffers.put(f.buf)
	f.cfg.Buffers.putFrame(f.frame)
	f.resync.dropTail()
	f.frame, f.buf, f.head = nil, nil, 0
}

// startSearch leaves known places.
func (f *Framer) startSearch() { f.state, f.resync.searched = searching, true }

// AddWire adds link bytes to the frame that is being read and reports whether there is one.
func (f *Framer) AddWire(wire int64) bool {
	if f.state == inBody || f.state == atHeader && f.head > 0 {
		f.frame.Wire += wire
		return true
	}
	return false
}

// Gap takes n bytes that the capture lacks; wire of them were on the link, beyond the snap length (then cut is true).
func (f *Framer) Gap(n, wire int64, c *Chunk) {
	f.resync.lossy, f.resync.gapped = true, true
	if f.state == searching {
		f.resync.gap(n, wire, c)
	}
	switch f.state {
	case inBody:
		k := min(int64(f.left), n)
		f.resync.cutTail()
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
		r.Body = f.buf
		f.emit()
		if n == 0 {
			return // the next header stands at a known place
		}
	case atHeader:
		if f.head > 0 {
			f.skip(int64(f.head))
			f.drop()
		}
	case searching:
		f.resync.abandon()
	}
	f.startSearch()
	f.resync.afterLoss, f.resync.next = true, afterGap
}

// Undecided says from which place of the stream on bytes were taken of which it is not known yet what they are: of a frame
// that is being read, or in a search.
func (f *Framer) Undecided() (pos int64, some bool) {
	if pos, some = f.resync.heldFrom(); !some && f.frame != nil {
		return f.frame.Start, true
	}
	return pos, some
}

// End says that the stream is over.
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
		f.frame.Body = f.buf
		f.emit()
	case f.head > 0:
		f.skip(int64(f.head))
		f.drop()
	}
	f.state = atHeader
}

// skip counts bytes that belong to no frame and to no run of stray bytes.
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

// Met reports whether bytes were met in a search that could begin a frame, accepted or not.
func (f *Framer) Met() bool { return f.resync.sawCandidate }

// Lossy reports whether frames of this direction may not have been found: it was joined midway, lacks bytes or was searched.
func (f *Framer) Lossy() bool { return f.resync.lossy || f.resync.searched }

// Searching reports whether frames may be held: bytes of which it is not decided whether they are frames.
func (f *Framer) Searching() bool { return f.resync.holdsChain() }

// Asks reports whether the bytes that are held may be a request with that id.
func (f *Framer) Asks(id int64) bool { return f.Searching() && f.resync.search.asks(id) }

// Answered says that the other direction has a response with that id, at a known place. If a request with it is among the
// bytes that are held, these are frames: a peer answers what it has all of, and all of it is here or missing, so a copy of
// the request inside a longer body would have come to the body's end by now. What is held up to the request's end is handed
// on before it returns, the rest with the next call, or by [Framer.Settle].
func (f *Framer) Answered(id int64) { f.resync.answered(id) }

// Settle hands on what is held after an answered request.
func (f *Framer) Settle() {
	if f.Searching() && f.resync.search.phase() == accepted {
		f.resync.decide(moreToCome)
	}
}
