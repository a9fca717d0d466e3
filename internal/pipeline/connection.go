package pipeline

import (
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/sniff"
)

// connection is what the line keeps of a TCP connection beside its streams.
type connection struct {
	*lane
	tcp  *assemble.Connection
	call *call.Conn // by itself: open requests outlive their connection
	dirs [2]direction
	// dialects is what its bodies told of serializations that share an id.
	dialects dubbo.Dialects
	// foreign names the protocol of a connection that started as another than Dubbo's: no frame is looked for in it.
	foreign string

	ends int // directions that ended
	// held: a framer may hold frames that it knows.
	held bool
	// early is responses whose requests may be among the bytes that the other direction holds, in the order in which they
	// came.
	early []*call.Message

	frames int64
	// skipped and text are bytes of no frame; gap is missing bytes.
	skipped, text, gap int64
	// lost counts the gaps of segments that were never seen, and their bytes: the rest of gap the snap length cut off.
	lostGaps, lostBytes int64
	badHeader           bool
}

// direction is one way through a connection: it takes its stream, and the frames in it.
type direction struct {
	conn   *connection
	framer *dubbo.Framer
	// The messages that were complete last, from the oldest on: they take the link bytes of repeats.
	oldest, newest *call.Message
	head           []byte // the first bytes of what does not start as a frame, to tell foreign protocols
	kept           uint8  // messages from oldest to newest
	side           uint8
	seen           uint8 // how many of the first bytes were looked at
	magic          bool  // the first bytes are those of a frame
	tries          uint8 // to tell what HTTP/2 is used for
	// sought is the place in the stream of what the packet brought that is looked for.
	sought struct{ from, to int64 }
}

// Begin is called by the assembler for each new connection.
func (l *lane) Begin(c *assemble.Connection) { l.out.began(l, c.First) }

// Open is called by the assembler for each connection with payload.
func (l *lane) Open(c *assemble.Connection) [2]assemble.Stream {
	conn := &connection{lane: l, tcp: c}
	conn.call = &call.Conn{Key: uint64(c.First), Ends: [2]string{c.Ends[0].String(), c.Ends[1].String()}, Input: c.File}
	for i := range conn.dirs {
		conn.dirs[i] = direction{conn: conn, side: uint8(i)}
	}
	l.out.opened(l, conn.call, c.First)
	return [2]assemble.Stream{&conn.dirs[0], &conn.dirs[1]}
}

// Close is called by the assembler when a connection has ended.
func (l *lane) Close(c *assemble.Connection) {
	if l.opt.streams != nil {
		l.opt.streams.Ended(c)
	}
	if !c.Opened() {
		l.out.ended(l, c.First)
		count(&l.totals.OtherTCP, serverPort(c), c.Link)
	}
}

func (d *direction) Data(b []byte, m *assemble.Meta) {
	t := d.conn.opt.streams
	if t == nil {
		d.take(b, m)
		return
	}
	t.Data(d.conn.tcp, int(d.side), b, m)
	d.take(b, m)
	next := m.Pos + int64(len(b))
	if d.framer != nil {
		if pos, some := d.framer.Undecided(); some {
			next = pos
		}
	}
	t.Decided(d.conn.tcp, int(d.side), next)
}

// take reads the next bytes of the stream.
func (d *direction) take(b []byte, m *assemble.Meta) {
	if d.seen < sniff.HeadLen && !d.magic || d.tries > 0 {
		d.look(b)
	}
	if d.conn.opt.Sought.is(m.Packet, m.File) {
		if d.sought.to != m.Pos {
			d.sought.from = m.Pos
		}
		d.sought.to = m.Pos + int64(len(b))
	}
	if d.conn.foreign != "" {
		d.conn.skipped += int64(len(b))
		return
	}
	if d.framer == nil {
		d.start()
	}
	d.framer.Data(b, d.chunk(m))
	if d.conn.held || d.conn.early != nil {
		d.conn.settle()
	}
}

// carries tells the tap that messages were found.
func (c *connection) carries() {
	if c.opt.Tap != nil {
		c.opt.Tap.Carries(c.tcp.Ends[0], c.tcp.Ends[1])
	}
}

// settle lets framers hand on what they held while the other one was at work.
func (c *connection) settle() {
	for c.held {
		c.held = false
		for i := range c.dirs {
			if f := c.dirs[i].framer; f != nil {
				f.Settle()
			}
		}
	}
	if c.early != nil {
		c.answer(false)
	}
}

// maxEarly is how many responses of a connection wait for requests that may be held.
const maxEarly = 256

// postpone keeps a response while the direction that asked holds bytes of which it is not known what they are, and
// reports whether it does.
func (d *direction) postpone(m *call.Message) bool {
	c, o := d.conn, d.other()
	if o.framer == nil || !o.framer.Searching() || len(c.early) == maxEarly || c.pairer.Expects(c.call, int(d.side), m.Header.ID) {
		return false
	}
	values := len(m.Values) + len(m.AttachmentsJSON)
	if c.waiting == share(c.opt.Limits.MaxOpenCalls) || c.waitingValues+values > share(c.opt.Limits.MaxValues) {
		return false
	}
	c.waiting++
	c.waitingValues += values
	m.Hold()
	m.Side = d.side
	c.early = append(c.early, m)
	return true
}

// answer pairs the responses that waited, once the direction that asked knows what it has; with all in any case.
func (c *connection) answer(all bool) {
	kept := c.early[:0]
	for _, m := range c.early {
		if o := &c.dirs[1-m.Side]; !all && o.framer.Searching() && !c.pairer.Expects(c.call, int(m.Side), m.Header.ID) {
			kept = append(kept, m)
			continue
		}
		c.waiting--
		c.waitingValues -= len(m.Values) + len(m.AttachmentsJSON)
		c.pairer.Response(c.call, int(m.Side), m)
		c.pairer.Release(m)
	}
	if c.early = kept; len(kept) == 0 {
		c.early = nil
	}
}

// maxTries bounds how often the start of an HTTP/2 stream that arrives in small pieces is read.
const maxTries = 16

// look keeps the first bytes of the stream, as far as they may tell what it is.
func (d *direction) look(b []byte) {
	c, wanted := d.conn, sniff.HeadLen
	if d.tries > 0 {
		wanted = sniff.MaxHTTP2
	}
	if d.seen == 0 && len(b) >= 2 && b[0] == 0xda && b[1] == 0xbb {
		d.magic = true
		c.carries()
		return
	}
	taken := min(len(b), max(0, wanted-len(d.head)))
	d.head = append(d.head, b[:taken]...)
	d.seen = uint8(min(len(d.head), sniff.HeadLen))
	if c.foreign == "" && !c.tcp.Joined {
		if c.foreign = sniff.Start(d.head); c.foreign == sniff.HTTP2 {
			d.tries = 1
			d.head = append(d.head, b[taken:min(len(b), sniff.MaxHTTP2)]...)
		}
	}
	if d.tries == 0 {
		return
	}
	if name := sniff.Requests(d.head); name != "" || d.tries == maxTries {
		if name != "" {
			c.foreign = name
		}
		d.tries, d.head = 0, slices.Clone(d.head[:sniff.HeadLen])
		return
	}
	d.tries++
}

func (d *direction) start() {
	d.framer = dubbo.NewFramer(&d.conn.framing, d, !d.conn.tcp.Joined)
}

// newFraming is what the framers of a lane have in common.
func (l *lane) newFraming() dubbo.Config {
	cfg := dubbo.Config{
		WantBody: l.opt.MaxBody, Buffers: &l.buffers, Readable: l.decoder.Readable, Recognizer: l.recognizer,
		Expected: func(s dubbo.Sink, id int64) bool {
			d := s.(*direction)
			return l.pairer.Expects(d.conn.call, int(d.side), id)
		},
		Asked: func(s dubbo.Sink, id int64) bool {
			o := s.(*direction).other()
			return o.framer != nil && o.framer.Asks(id)
		},
		Missed: func(s dubbo.Sink) bool {
			d := s.(*direction)
			o := d.other()
			return d.conn.tcp.Joined || o.framer == nil || o.framer.Lossy()
		},
	}
	if l.opt.Detail == dubbo.Envelope && !l.opt.WholeBodies {
		cfg.Enough = func(s dubbo.Sink, h *dubbo.Header, b []byte) bool {
			return !l.wholeBodies && l.decoder.Enough(h, b, &s.(*direction).conn.dialects)
		}
	}
	if l.sampler != nil {
		l.sampler.framing(l, &cfg)
	}
	return cfg
}

// other is the other way through the connection.
func (d *direction) other() *direction { return &d.conn.dirs[1-d.side] }

// chunk turns the assembler's word for the origin of bytes into the framer's.
func (d *direction) chunk(m *assemble.Meta) *dubbo.Chunk {
	c := &d.conn.lane.chunk
	c.Time, c.Packet, c.File, c.Pos, c.Overhead = m.Time, m.Packet, m.File, m.Pos, m.Overhead
	return c
}

func (d *direction) Gap(n, wire int64, m *assemble.Meta) {
	d.conn.gap += n
	if wire == 0 {
		d.conn.lostGaps++
		d.conn.lostBytes += n
	}
	if d.conn.foreign != "" {
		d.tries = 0 // what follows cannot be read
		return
	}
	if d.framer == nil {
		d.start()
	}
	d.framer.Gap(n, wire, d.chunk(m))
	d.conn.settle()
}

// Late counts what no frame can have any more.
func (d *direction) Late(n, cut int64, _ *assemble.Meta) {
	d.conn.skipped += n
	d.conn.gap += cut
}

// Repeat gives the link bytes of repeated payload to the messages it repeats, as far as they are remembered, else to
// the message being read.
func (d *direction) Repeat(n int, m *assemble.Meta) {
	if d.framer == nil {
		return
	}
	pos, overhead := m.Pos, int64(m.Overhead)
	left := int64(n)
	for first := true; left > 0 || first && overhead > 0; first = false {
		owner, k := d.owner(pos, left)
		switch {
		case owner != nil:
			owner.Wire += k + overhead
		case !d.framer.AddWire(k + overhead):
			if last := d.newest; last != nil {
				last.Wire += k + overhead
			}
		}
		pos, left, overhead = pos+k, left-k, 0
	}
}

// owner finds the remembered message that has the byte at pos, and how many of the next left bytes are its own; with
// none, how many are no message's.
func (d *direction) owner(pos, left int64) (*call.Message, int64) {
	upTo := left
	for m := d.oldest; m != nil; m = m.Newer {
		if pos >= m.Start && pos < m.End() {
			return m, min(left, m.End()-pos)
		}
		if m.Start > pos {
			upTo = min(upTo, m.Start-pos)
		}
	}
	return nil, upTo
}

func (d *direction) End() {
	if d.framer != nil {
		d.framer.End()
		d.conn.settle()
	}
	for d.oldest != nil {
		d.conn.window.drop(d)
	}
	d.conn.ends++
	if d.conn.ends == 2 {
		d.conn.answer(true)
		d.conn.totals.connection(d.conn)
	}
}

// Frame is called by the framer.
func (d *direction) Frame(f *dubbo.Frame) {
	if o := d.other(); o.framer != nil && o.framer.Searching() && !f.Request() && !f.Event() &&
		!d.conn.pairer.Expects(d.conn.call, int(d.side), f.ID) {
		o.framer.Answered(f.ID) // what it answers may be among bytes that were held
		d.conn.held = true
	}
	if d.conn.frames++; d.conn.frames == 1 {
		d.conn.carries()
	}
	d.conn.lane.frame(d, f)
}

// Skipped is called by the framer.
func (d *direction) Skipped(n int64, text bool) {
	if text {
		d.conn.text += n
	} else {
		d.conn.skipped += n
	}
}

// BadHeader is called by the framer.
func (d *direction) BadHeader(dubbo.Header, dubbo.Origin) {
	d.conn.badHeader = true
	d.conn.totals.NegativeLengths++
}
