package dubbo

import (
	"dubbo-wire/internal/decode"
)

// Chunk says where delivered bytes came from.
type Chunk struct {
	Origin
	// Pos is the place of the bytes in the stream, from 0.
	Pos int64
	// Overhead is link-layer bytes that belong to the owner of the first byte.
	Overhead int
}

// Origin is the packet that brought a byte.
type Origin struct {
	Time   int64 // nanoseconds since the Unix epoch
	Packet int64 // from 1, within its file
	File   int
}

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

// End is the place in the stream behind the frame.
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

// Config bounds a framer; zero values are the defaults.
type Config struct {
	// WantBody is how many bytes of a body that crosses deliveries are kept for decoding (default 16 KiB). The rest is
	// counted.
	WantBody int
	// Enough, if set, is asked whether b, the first bytes of a body that crosses deliveries, is already all that is wanted
	// of it.
	Enough func(h *Header, b []byte) bool
	// Expected, if set, is asked whether a response with that id is due in this direction.
	Expected func(id int64) bool
	// Readable, if set, is asked whether body, which is whole, can be that of a frame found by searching.
	Readable func(h *Header, body []byte) bool
	// Buffers is where memory for such bodies comes from; nil: the framer has its own.
	Buffers *Buffers
	// MaxSearchBody is the longest body, in bytes, that is believed of a header found by searching (default 8 MiB,
	// Dubbo's own limit).
	MaxSearchBody int
}

type state uint8

const (
	atHeader  state = iota // the next byte starts a header
	inBody                 // left bytes of the body are to come
	searching              // no known place
)

// Framer cuts one direction of a connection into frames.
type Framer struct {
	cfg   Config
	sink  Sink
	state state
	frame Frame
	left  int    // inBody: bytes to come
	buf   []byte // header or body bytes that crossed deliveries
	// enough: nothing more of the body is wanted.
	enough bool
	head   int // atHeader: bytes of the header in buf
	// A run of bytes that stood where a frame was due, until the next frame: is it text?
	run    int64
	text   text
	search search
	// resynced: the next frame's place was found by searching.
	resynced bool
	ids      [2]idWindow // by request bit
}

// Buffers is memory for frames that cross deliveries, shared by the framers of one goroutine: only a frame that is being
// read holds some. The zero value is ready.
type Buffers struct {
	// Max bounds the bytes of the long bodies that are being read, of all framers together (default 256 MiB): beyond it
	// a body is kept no further than it was, but at least its first 64 KiB.
	Max  int
	long int // bytes of the buffers larger than maxKept
	wins int // bytes of the windows of searches
	free [][]byte
}

// maxFree and maxKept bound the memory that Buffers keeps: 64 of 64 KiB.
const maxFree, maxKept = 64, 64 << 10

// defaultMaxLong is Buffers.Max where it is not set.
const defaultMaxLong = 256 << 20

// room returns how many of n more bytes a buffer may take.
func (b *Buffers) room(buf []byte, n int) int {
	most := b.Max
	if most == 0 {
		most = defaultMaxLong
	}
	return max(0, min(n, max(maxKept-len(buf), most-b.long)))
}

// maxWindows bounds the windows of all searches, in bytes: beyond it none waits for the end of a body longer than
// maxKept.
const maxWindows = 128 << 20

// grown takes note of a buffer that was grown from a capacity.
func (b *Buffers) grown(buf []byte, from int) {
	if cap(buf) > maxKept && cap(buf) != from {
		b.long += cap(buf)
		if from > maxKept {
			b.long -= from
		}
	}
}

func (b *Buffers) get() []byte {
	if k := len(b.free) - 1; k >= 0 {
		buf := b.free[k]
		b.free = b.free[:k]
		return buf
	}
	return nil
}

func (b *Buffers) put(buf []byte) {
	if cap(buf) > maxKept {
		b.long -= cap(buf)
	}
	if cap(buf) > 0 && cap(buf) <= maxKept && len(b.free) < maxFree {
		b.free = append(b.free, buf[:0])
	}
}

// NewFramer returns a framer for a stream that starts with its first byte when fromStart, else for one that was joined
// midway.
func NewFramer(cfg Config, sink Sink, fromStart bool) *Framer {
	if cfg.WantBody == 0 {
		cfg.WantBody = 16 << 10
	}
	if cfg.Buffers == nil {
		cfg.Buffers = new(Buffers)
	}
	if cfg.MaxSearchBody == 0 {
		cfg.MaxSearchBody = 8 << 20
	}
	f := &Framer{cfg: cfg, sink: sink}
	if !fromStart {
		f.state = searching
		f.search.joined = true
	}
	return f
}

// Data takes the next bytes of the stream; b is borrowed.
func (f *Framer) Data(b []byte, c *Chunk) {
	if f.state == searching {
		f.searchData(b, c)
		return
	}
	f.known(b, c)
}

// known reads b, whose first byte stands at a known place: in a body or at a header.
func (f *Framer) known(b []byte, c *Chunk) {
	pos, overhead := c.Pos, c.Overhead
	for len(b) > 0 {
		switch f.state {
		case inBody:
			n := min(f.left, len(b))
			f.frame.Wire += int64(n + overhead)
			f.keep(b[:n])
			f.left -= n
			f.frame.Captured += n
			f.touch(c)
			b, pos, overhead = b[n:], pos+int64(n), 0
			if f.left == 0 {
				f.frame.Body = f.buf
				f.emit()
			}
		case atHeader:
			n := f.header(b, c, pos, overhead)
			if n < 0 { // no header here
				rest := *c
				rest.Pos, rest.Overhead = pos, overhead
				f.searchData(b, &rest)
				return
			}
			b, pos, overhead = b[n:], pos+int64(n), 0
		default:
			rest := *c
			rest.Pos, rest.Overhead = pos, overhead
			f.searchData(b, &rest)
			return
		}
	}
}

// header takes a header, or the part of one, from the start of b, and the body behind it when all of it is there. It
// returns the bytes taken, -1 when b does not go on as a header.
func (f *Framer) header(b []byte, c *Chunk, pos int64, overhead int) int {
	taken := 0
	hdr := b
	if f.head > 0 || len(b) < HeaderLen {
		// The header crosses deliveries.
		taken = min(HeaderLen-f.head, len(b))
		if f.buf == nil {
			f.buf = f.cfg.Buffers.get()
		}
		f.buf = append(f.buf[:f.head], b[:taken]...)
		if f.head == 0 {
			f.begin(c, pos)
		}
		if !isMagic(f.buf) {
			return f.notHere(c)
		}
		f.head += taken
		f.frame.Wire += int64(taken + overhead)
		f.touch(c)
		if f.head < HeaderLen {
			return taken
		}
		hdr = f.buf
		f.head = 0
	} else {
		if !isMagic(b) {
			return f.notHere(c)
		}
		f.begin(c, pos)
		taken = HeaderLen
		f.frame.Wire += int64(taken + overhead)
		f.touch(c)
	}
	h := parseHeader(hdr)
	if h.BodyLen < 0 {
		f.sink.BadHeader(h, c.Origin)
		f.startSearch()
		f.run, f.text.not = f.run+HeaderLen, true
		return taken
	}
	f.endRun()
	f.frame.Header = h
	f.frame.MissingAt = h.BodyLen
	f.buf = f.buf[:0]
	f.enough = false
	if rest := b[taken:]; len(rest) >= h.BodyLen {
		// The whole body is here: no copy.
		f.frame.Body = rest[:h.BodyLen:h.BodyLen]
		f.frame.Captured = h.BodyLen
		f.frame.Wire += int64(h.BodyLen)
		f.emit()
		return taken + h.BodyLen
	}
	f.state, f.left = inBody, h.BodyLen
	return taken
}

// begin starts a frame at pos.
func (f *Framer) begin(c *Chunk, pos int64) {
	f.frame = Frame{First: c.Origin, Last: c.Origin, LastByte: c.Time, Start: pos, Resync: f.resynced}
	f.resynced = false
}

// touch notes that a packet brought a byte of the frame. Packets that were held behind a hole are older than the one
// that filled it.
func (f *Framer) touch(c *Chunk) {
	f.frame.LastByte = c.Time
	if c.Time > f.frame.Last.Time || c.Time == f.frame.Last.Time && c.Packet > f.frame.Last.Packet {
		f.frame.Last = c.Origin
	}
}

// keep copies body bytes, as far as they are wanted and nothing is missing before them.
func (f *Framer) keep(b []byte) {
	if f.enough || f.frame.MissingAt < f.frame.BodyLen {
		return
	}
	room := f.cfg.WantBody - len(f.buf)
	if f.buf == nil {
		f.buf = f.cfg.Buffers.get()
	}
	before := cap(f.buf)
	n := f.cfg.Buffers.room(f.buf, min(room, len(b)))
	f.buf = append(f.buf, b[:n]...)
	f.cfg.Buffers.grown(f.buf, before)
	f.enough = room <= len(b) || n < len(b) || f.cfg.Enough != nil && f.cfg.Enough(&f.frame.Header, f.buf)
}

func (f *Framer) emit() {
	f.state = atHeader
	f.ids[requestBit(&f.frame.Header)].see(f.frame.ID)
	f.sink.Frame(&f.frame)
	f.cfg.Buffers.put(f.buf)
	f.buf = nil
}

// notHere leaves the place where a header was due, with f.head bytes of it in buf, and returns -1 so that the caller
// searches.
func (f *Framer) notHere(c *Chunk) int {
	kept := f.buf[:f.head]
	first := f.frame.First
	start := f.frame.Start
	f.startSearch()
	if len(kept) > 0 {
		f.searchData(kept, &Chunk{Origin: first, Pos: start})
	}
	return -1
}

func (f *Framer) startSearch() {
	f.state = searching
	f.search.reset()
	f.setWindow(f.search.win)
	f.head = 0
	f.buf = f.buf[:0]
}

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
	cut := wire > 0
	switch f.state {
	case inBody:
		k := min(int64(f.left), n)
		if f.frame.MissingAt == f.frame.BodyLen {
			f.frame.MissingAt = f.frame.BodyLen - f.left
			f.frame.Body = f.buf
			f.frame.Short = decode.Lost
			if cut {
				f.frame.Short = decode.Cut
			}
		}
		if wire > 0 {
			f.frame.Wire += min(wire, k) + int64(c.Overhead)
			f.touch(c)
		}
		f.left -= int(k)
		n -= k
		if f.left > 0 {
			return
		}
		f.frame.Body = f.buf
		f.emit()
		if n == 0 {
			return // the next header stands at a known place
		}
	case atHeader:
		if f.head > 0 {
			f.skip(int64(f.head))
		}
	case searching:
		if f.believed(n) {
			f.found()
			f.Gap(n, wire, c)
			return
		}
		f.dropSearch(len(f.search.win))
	}
	f.endRun()
	f.startSearch()
	f.search.afterGap = true
}

// End says that the stream is over.
func (f *Framer) End() {
	for f.state == searching && len(f.search.win) > 0 {
		f.decide(true) // finds a frame or drops everything
	}
	switch {
	case f.state == inBody:
		if f.frame.MissingAt == f.frame.BodyLen {
			f.frame.MissingAt = f.frame.BodyLen - f.left
			f.frame.Short = decode.Lost
		}
		f.frame.Body = f.buf
		f.emit()
	case f.state == atHeader && f.head > 0:
		f.skip(int64(f.head))
		f.head = 0
	}
	f.endRun()
	f.cfg.Buffers.put(f.buf)
	f.buf = nil
	f.setWindow(nil)
	f.search = search{}
}

// skip counts bytes that belong to no frame and are no part of a run.
func (f *Framer) skip(n int64) {
	if n > 0 {
		f.sink.Skipped(n, false)
	}
}

// rubbish adds b to the run of bytes that stand where a frame was due.
func (f *Framer) rubbish(b []byte) {
	if len(b) == 0 {
		return
	}
	if f.search.afterGap || f.search.joined {
		f.skip(int64(len(b)))
		return
	}
	f.run += int64(len(b))
	f.text.add(b)
}

// endRun counts the run of rubbish, if there is one.
func (f *Framer) endRun() {
	if f.run > 0 {
		f.sink.Skipped(f.run, f.text.is())
	}
	f.run, f.text = 0, text{}
}

func requestBit(h *Header) int {
	if h.Request() {
		return 1
	}
	return 0
}
