package pipeline

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/rpc"
)

// connection is what the line keeps of a TCP connection beside its streams. It is the [rpc.Sink] and the [rpc.Needs] of the
// connection's protocol.
type connection struct {
	*lane
	tcp  *assemble.Connection
	call *call.Conn
	dirs [2]direction
	// reader takes the bytes of both directions; nil while none came, and where they are only counted. former took them
	// before the connection turned out to be of another protocol.
	reader, previous rpc.Conn
	// foreign: the connection started as one of a protocol that cannot be read from the middle.
	foreign bool
	// claimed: the connection carries messages, or is known to be of a protocol that does.
	claimed bool
	// muted: what the former reader says is no longer of interest.
	muted bool
	// name is what the bytes of a connection without messages are counted under, "" where nobody said it.
	name string

	ends uint8 // directions that ended
	// early is responses whose requests may be among the bytes that the other direction holds, in the order in which they
	// came.
	earlyResponses []*call.Message

	messages int64
	protocol *rpc.Protocol // of the last message
	// skipped and unowned are bytes of no message; gap is missing bytes.
	skipped, gap int64
	unowned      []namedBytes
	// lost counts the gaps of segments that were never seen, and their bytes: the rest of gap the snap length cut off.
	lostGaps, lostBytes int64
}

// namedBytes is bytes that are recognised as part of no message.
type namedBytes struct {
	name  string
	bytes int64
}

// direction is one way through a connection: it takes its stream.
type direction struct {
	conn *connection
	// The messages that were complete last, from the oldest on: they take the link bytes of repeats.
	oldest, newest *call.Message
	head           []byte // the first bytes, as long as they do not tell the protocol
	received       int64  // bytes
	inWindow       uint8  // messages from oldest to newest
	side           uint8
	sniffed        bool // the first bytes were looked at
	// sought is the place in the stream of what the packet brought that is looked for.
	searched struct{ from, to int64 }
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
		d.deliver(b, m)
		return
	}
	t.Data(d.conn.tcp, int(d.side), b, m)
	d.deliver(b, m)
	next := m.Pos + int64(len(b))
	if r := d.conn.current(); r != nil {
		if p := r.Pending(int(d.side)); p.Held {
			next = p.From
		}
	}
	t.Decided(d.conn.tcp, int(d.side), next)
}

// take reads the next bytes of the stream.
func (d *direction) deliver(b []byte, m *assemble.Meta) {
	c := d.conn
	if !d.sniffed {
		d.sniff(b, m)
	}
	if c.opt.Search.matches(m.Packet, m.File) {
		if d.searched.to != m.Pos {
			d.searched.from = m.Pos
		}
		d.searched.to = m.Pos + int64(len(b))
	}
	d.received += int64(len(b))
	if c.reader == nil && !c.open() {
		c.skipped += int64(len(b))
		return
	}
	c.reader.Data(int(d.side), b, d.chunk(m))
	if c.earlyResponses != nil {
		c.pairEarly(false)
	}
}

// current is the reader that may hold bytes.
func (c *connection) current() rpc.Conn {
	if c.reader == nil {
		return c.previous
	}
	return c.reader
}

// open gives a connection that no protocol knows to the one that can find its messages from any place on. It returns false
// where the bytes are only counted.
func (c *connection) open() bool {
	if c.foreign {
		return false
	}
	for i, p := range c.opt.Protocols {
		if p.Midway {
			c.reader = c.opener(i)(c, c, c.tcp.Joined)
			return true
		}
	}
	return false
}

// sniff asks the protocols whose the first bytes of the direction are.
func (d *direction) sniff(b []byte, m *assemble.Meta) {
	c, had := d.conn, len(d.head)
	head := b[:min(len(b), rpc.HeadLen)]
	if had > 0 {
		d.head = append(d.head, b[:min(len(b), rpc.HeadLen-had)]...)
		head = d.head
	}
	d.sniffed = len(head) == rpc.HeadLen
	for i, p := range c.opt.Protocols {
		if p.Sniff == nil || p.Sniff(head) != rpc.Mine {
			continue
		}
		switch {
		case c.tcp.Joined && p.Midway:
			d.sniffed = true
			c.foundMessages() // perhaps
			return
		case !c.tcp.Joined:
			d.sniffed = true
			c.recognised(i, m)
			if p.Midway {
				return
			}
		}
		break
	}
	if had == 0 {
		d.head = append(d.head, head...)
	}
}

// recognised takes note that the first bytes of a direction are those of a protocol.
func (c *connection) recognised(i int, m *assemble.Meta) {
	p := c.opt.Protocols[i]
	if p.Midway {
		c.claimed = true
		c.foundMessages()
		return // it has the connection already, or gets it
	}
	if c.foreign {
		return
	}
	c.foreign = true
	if c.previous = c.reader; p.New == nil {
		c.reader, c.name = nil, p.Name
		return
	}
	if c.previous != nil && c.messages == 0 {
		// What it made of the first bytes is void: they are read again.
		c.muted = true
		c.previous.End(0)
		c.previous.End(1)
		c.muted = false
		c.previous, c.skipped, c.unowned, c.claimed = nil, 0, nil, false
	}
	c.claimed = true
	c.reader = c.opener(i)(c, c, false)
	for k := range c.dirs {
		d := &c.dirs[k]
		if d.received == 0 {
			continue
		}
		again := d.head[:min(int64(len(d.head)), d.received)]
		if c.previous != nil {
			again = nil // it has read them
		} else {
			c.skipped += d.received - int64(len(again))
		}
		if len(again) > 0 {
			chunk := d.chunk(m)
			chunk.Pos, chunk.Overhead = 0, 0
			c.reader.Data(k, again, chunk)
		}
	}
	if c.claimed {
		c.foundMessages()
	}
}

// carries tells the tap that messages were found.
func (c *connection) foundMessages() {
	if c.opt.Tap != nil {
		c.opt.Tap.Carries(c.tcp.Ends[0], c.tcp.Ends[1])
	}
}

// maxEarly is how many responses of a connection wait for requests that may be held.
const maxEarlyResponses = 256

// postpone keeps a response while the direction that asked holds bytes of which it is not known what they are, and
// reports whether it does.
func (d *direction) postpone(m *call.Message) bool {
	c := d.conn
	if !c.current().Pending(1-int(d.side)).Searching || len(c.earlyResponses) == maxEarlyResponses || c.pairer.Expects(c.call, int(d.side), m.Exchange) {
		return false
	}
	values := len(m.Values) + len(m.AttachmentsJSON)
	if c.earlyResponseCount == share(c.opt.Limits.MaxOpenCalls) || c.earlyValueBytes+values > share(c.opt.Limits.MaxValues) {
		return false
	}
	c.earlyResponseCount++
	c.earlyValueBytes += values
	m.Hold()
	m.Side = d.side
	c.earlyResponses = append(c.earlyResponses, m)
	return true
}

// answer pairs the responses that waited, once the direction that asked knows what it has; with all in any case.
func (c *connection) pairEarly(all bool) {
	kept := c.earlyResponses[:0]
	for _, m := range c.earlyResponses {
		if !all && c.current().Pending(1-int(m.Side)).Searching && !c.pairer.Expects(c.call, int(m.Side), m.Exchange) {
			kept = append(kept, m)
			continue
		}
		c.earlyResponseCount--
		c.earlyValueBytes -= len(m.Values) + len(m.AttachmentsJSON)
		c.pairer.Response(c.call, int(m.Side), m)
		c.pairer.Release(m)
	}
	if c.earlyResponses = kept; len(kept) == 0 {
		c.earlyResponses = nil
	}
}

// chunk turns the assembler's word for the origin of bytes into the protocol's.
func (d *direction) chunk(m *assemble.Meta) *rpc.Chunk {
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
	c := d.conn
	if c.reader == nil && !c.open() {
		return
	}
	c.reader.Gap(int(d.side), n, wire, d.chunk(m))
	if c.earlyResponses != nil {
		c.pairEarly(false)
	}
}

// Late counts what no message can have any more.
func (d *direction) Late(n, cut int64, _ *assemble.Meta) {
	d.conn.skipped += n
	d.conn.gap += cut
}

// Repeat gives the link bytes of repeated payload to the messages it repeats, as far as they are remembered, else to
// the message being read.
func (d *direction) Repeat(n int, m *assemble.Meta) {
	r := d.conn.current()
	if r == nil {
		return
	}
	pos, overhead := m.Pos, int64(m.Overhead)
	left := int64(n)
	for first := true; left > 0 || first && overhead > 0; first = false {
		owner, k := d.owner(pos, left)
		switch {
		case owner != nil:
			owner.Wire += k + overhead
		case !r.Repeat(int(d.side), rpc.Span{From: pos, To: pos + k}, k+overhead):
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
	for m := d.oldest; m != nil; m = m.NextInWindow {
		for span := range m.Spans {
			if pos >= span.From && pos < span.To {
				return m, min(left, span.To-pos)
			}
			if span.From > pos {
				upTo = min(upTo, span.From-pos)
			}
		}
	}
	return nil, upTo
}

func (d *direction) End() {
	c := d.conn
	for _, r := range [2]rpc.Conn{c.previous, c.reader} {
		if r != nil {
			r.End(int(d.side))
		}
	}
	if c.earlyResponses != nil {
		c.pairEarly(false)
	}
	for d.oldest != nil {
		c.repeats.drop(d)
	}
	c.ends++
	if c.ends == 2 {
		c.pairEarly(true)
		c.totals.connection(c)
	}
}

// Message implements [rpc.Sink].
func (c *connection) Message(side int, m *rpc.Message) {
	if c.muted {
		return
	}
	if c.messages++; c.messages == 1 {
		c.foundMessages()
	}
	if m.Protocol != c.protocol {
		c.protocol = m.Protocol
		count(&c.totals.Protocols, m.Protocol.Name, 1)
	}
	c.claimed = true
	c.lane.message(&c.dirs[side], m)
}

// Abort implements [rpc.Sink].
func (c *connection) Abort(side int, exchange uint64, why string) {
	c.pairer.Abort(c.call, side, exchange, why)
}

// Unowned implements [rpc.Sink].
func (c *connection) Unowned(_ int, n int64, name string) {
	switch {
	case c.muted:
		return
	case name == "":
		c.skipped += n
		return
	}
	for i := range c.unowned {
		if c.unowned[i].name == name {
			c.unowned[i].bytes += n
			return
		}
	}
	c.unowned = append(c.unowned, namedBytes{name, n})
}

// Claim implements [rpc.Sink].
func (c *connection) Claim(name string) {
	if !c.muted {
		c.name, c.claimed = name, name == "" || c.messages > 0
	}
}

// BadHeader implements [rpc.Sink].
func (c *connection) BadHeader(int) {
	if !c.muted {
		c.totals.NegativeLengths++
	}
}

// Awaited implements [rpc.Needs].
func (c *connection) Awaited(side int, exchange uint64) bool {
	return c.pairer.Expects(c.call, side, exchange)
}

// Keep implements [rpc.Needs].
func (c *connection) Keep(side int, m *rpc.Message) bool {
	return c.sampler != nil && c.sampler.keeps(c.lane, &c.dirs[side], m)
}

// Want implements [rpc.Needs].
func (c *connection) Want(side int, m *rpc.Message) rpc.Detail {
	want := c.opt.Detail
	if c.sampler != nil && c.sampler.wants(c.lane, &c.dirs[side], m) {
		want = rpc.Values
	}
	if c.wantValues != nil && c.wantValues(c.call, side, m) {
		want = rpc.Values
	}
	return want
}
