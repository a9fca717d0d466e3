package pipeline

import (
	"math"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/rpc"
)

// connection is the state of a TCP connection, besides its streams. It is the [rpc.Sink] and the [rpc.Needs] of its
// protocol.
type connection struct {
	*lane
	dirs [2]direction
	// reader reads the bytes of both directions. It is nil before the first byte, and if bytes are only counted.
	reader rpc.Conn
	// foreign is set if the first bytes belong to a protocol that can be read only from the start.
	foreign bool
	ends    uint8 // directions that ended
	// shut is set if a direction ended with a FIN, after all bytes before it.
	shut bool
	// claimed is set if the connection carries messages, or is known to use a protocol with messages.
	claimed bool
	// muted is set while the results of the previous reader are discarded.
	muted bool
	// earlySides has a bit for each side of which lane.early has responses.
	earlySides uint8
	// paired is set if the pairer took a message of the connection after pairEarly looked at all of them.
	paired bool
	// lateClaimed is set if bytes without a place in the streams began a message.
	lateClaimed bool
	using       uint8 // index of inUse in used
	flow        assemble.Flow
	tcp         *assemble.Connection
	call        *call.Conn
	inUse       usedProtocol // of the last message
	messages    int64
	skipped     int64 // bytes of no message without a name
	*seldom           // change it only through own
}

// seldom is what few connections have. All others share one value.
type seldom struct {
	// previous read the bytes before the connection was found to use another protocol.
	previous rpc.Conn
	// name is the name for the bytes of a connection without messages, "" if unknown.
	name      string
	handshake *rpc.Handshake // nil if the reader has not passed any
	// used are the protocols of the messages if there are several, in the order of their first messages.
	used    []usedProtocol
	unowned []namedBytes // bytes of no message
	gap     int64        // missing bytes
	missing [2]uint32    // those of each direction, at most 4 GiB
	heads   [2][rpc.HeadLen]byte
	losses
}

var nothingSeldom seldom

// own returns the connection's own value.
func (c *connection) own() *seldom {
	if c.seldom == &nothingSeldom {
		c.seldom = new(seldom)
	}
	return c.seldom
}

// losses are bytes that the capture lacks or that have no place.
type losses struct {
	// gaps counts the gaps from segments that the capture lacks, bytes their bytes; the snap length cut off the rest of
	// connection.gap.
	gaps, bytes int64
	late        int64 // bytes without a place in the streams
}

// usedProtocol is a protocol with its calls on a connection: their first requests.
type usedProtocol struct {
	*rpc.Protocol
	calls int64
}

// namedBytes is recognised bytes of no message.
type namedBytes struct {
	name  string
	bytes int64
}

// direction is one direction of a connection. It receives the stream.
type direction struct {
	conn *connection
	// oldest to newest are the last complete messages. Their retransmitted bytes are added to their link bytes.
	oldest, newest *call.Message
	received       int64 // bytes
	inWindow       uint8 // number of messages from oldest to newest
	side           uint8
	headLen        uint8 // number of kept first bytes, until they identify the protocol
	sniffed        bool  // the first bytes identified the protocol or never will
	// settled is set once bytes only go to the reader: the protocol is known, and nothing else looks at them.
	settled bool
}

// Begin is called by the assembler for each new connection.
func (l *lane) Begin(c *assemble.Connection) {
	l.begun++
	l.open++
	c.Mark = l.begun
	l.out.began(l, c.Mark)
}

// Open is called by the assembler for each connection with payload.
func (l *lane) Open(c *assemble.Connection) *assemble.Flow {
	conn := &connection{lane: l, tcp: c, seldom: &nothingSeldom}
	conn.call = &call.Conn{Key: uint64(c.First), Ends: [2]string{c.Ends[0].String(), c.Ends[1].String()}, Input: int(c.File)}
	if names := l.opt.Products; len(names) > 0 {
		conn.call.Products = &[2]string{names[conn.call.Ends[0]], names[conn.call.Ends[1]]}
	}
	if int(c.File) < len(l.opt.Machines) {
		m := l.opt.Machines[c.File]
		conn.call.MachineKnown = m.Known()
		for i := range c.Ends {
			conn.call.Machine[i] = m.Has(c.Ends[i].Addr())
		}
	}
	for i := range conn.dirs {
		conn.dirs[i] = direction{conn: conn, side: uint8(i)}
	}
	l.out.opened(l, conn.call, c.Mark)
	return conn.flow.Open([2]assemble.Stream{&conn.dirs[0], &conn.dirs[1]})
}

// Close is called by the assembler when a connection has ended.
func (l *lane) Close(c *assemble.Connection) {
	l.open--
	if l.opt.streams != nil {
		l.opt.streams.Ended(c)
	}
	if !c.Opened() {
		l.out.ended(l, c.Mark)
		count(&l.totals.OtherTCP, serverPort(c), c.Link)
	}
}

func (d *direction) Data(b []byte, m *assemble.Meta) {
	if c := d.conn; d.settled && c.reader != nil {
		d.received += int64(len(b))
		if c.reader.Data(int(d.side), b, d.chunk(m)); c.earlySides != 0 {
			c.pairEarly(false)
		}
		return
	}
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

// deliver passes the next bytes of the stream to the reader.
func (d *direction) deliver(b []byte, m *assemble.Meta) {
	c := d.conn
	if !d.sniffed {
		d.sniff(b, m)
	}
	if c.opt.Search.matches(m.Packet, m.File) {
		if s := &c.searched; s.dir != d || s.to != m.Pos {
			s.dir, s.from = d, m.Pos
		}
		c.searched.to = m.Pos + int64(len(b))
	}
	if (c.tcp.Joined || c.gap > 0) && !c.foreign && c.messages == 0 {
		d.findForeign(b, m)
	}
	d.received += int64(len(b))
	if c.reader == nil && !c.open() {
		c.skipped += int64(len(b))
		return
	}
	c.reader.Data(int(d.side), b, d.chunk(m))
	if c.earlySides != 0 {
		c.pairEarly(false)
	}
	d.settled = d.sniffed && c.messages > 0 && c.opt.streams == nil && c.opt.Search == nil
}

// current returns the reader that may hold bytes.
func (c *connection) current() rpc.Conn {
	if c.reader == nil {
		return c.previous
	}
	return c.reader
}

// open chooses the reader of a connection that no protocol recognised: the first protocol that can be read from any
// byte. It returns false if the bytes are only counted.
func (c *connection) open() bool {
	if c.foreign {
		return false
	}
	for i, p := range c.opt.Protocols {
		if p.Resyncs {
			c.reader = c.opener(i)(c, c.tcp.Joined)
			return true
		}
	}
	return false
}

// sniff asks the protocols whether the first bytes of the direction are theirs.
func (d *direction) sniff(b []byte, m *assemble.Meta) {
	c, had := d.conn, int(d.headLen)
	c.call.Starts[d.side] = m.Seq - uint32(m.Pos)
	head := b[:min(len(b), rpc.HeadLen)]
	if had > 0 {
		d.keepHead(b[:min(len(b), rpc.HeadLen-had)])
		head = d.head()
	}
	d.sniffed = len(head) == rpc.HeadLen
	for i, p := range c.opt.Protocols {
		if p.Sniff == nil || p.Sniff(head) != rpc.Mine {
			continue
		}
		switch {
		case c.tcp.Joined && p.Resyncs:
			d.sniffed = true
			c.foundMessages() // probably
			return
		case !c.tcp.Joined || p.Found != nil && (p.Found(head) || p.Found(b)): // its first bytes are those of a connection
			d.sniffed = true
			c.recognised(i, m, false)
			if p.Resyncs {
				return
			}
		}
		break
	}
	if had == 0 {
		d.keepHead(head)
	}
}

// findForeign looks in the bytes of a connection whose first ones may be missing for a protocol that cannot be read from any byte on by the protocol
// that open chooses.
func (d *direction) findForeign(b []byte, m *assemble.Meta) {
	if d.received > maxForeign {
		return
	}
	for i, p := range d.conn.opt.Protocols {
		if p.Found != nil && p.Found(b) {
			d.sniffed = true
			d.conn.recognised(i, m, true)
			return
		}
	}
}

// maxForeign is the number of first bytes of a direction in which findForeign looks.
const maxForeign = 1 << 20

// head returns the kept first bytes.
func (d *direction) head() []byte {
	return d.conn.heads[d.side][:d.headLen]
}

// keepHead keeps more first bytes.
func (d *direction) keepHead(b []byte) {
	d.headLen += uint8(copy(d.conn.own().heads[d.side][d.headLen:], b))
}

// recognised assigns the connection to a protocol by the first bytes of a direction, or by later ones if it was joined.
func (c *connection) recognised(i int, m *assemble.Meta, joined bool) {
	p := c.opt.Protocols[i]
	if p.Resyncs {
		c.claimed = true
		c.foundMessages()
		return // open chooses it
	}
	if c.foreign {
		return
	}
	c.foreign = true
	if c.reader != nil {
		c.own().previous = c.reader
	}
	if p.New == nil {
		c.reader, c.own().name = nil, p.Name
		return
	}
	if c.previous != nil && c.messages == 0 {
		// Its results from the first bytes are discarded: the new reader reads them again.
		c.muted = true
		c.previous.End(0, false)
		c.previous.End(1, false)
		c.muted = false
		c.previous, c.skipped, c.unowned, c.claimed = nil, 0, nil, false
	}
	c.claimed = true
	c.reader = c.opener(i)(c, joined)
	for k := range c.dirs {
		d := &c.dirs[k]
		if joined || c.previous != nil { // the reader finds its place in what follows, or the previous reader has read them
			if c.previous == nil {
				c.skipped += d.received
			}
			continue
		}
		chunk := d.chunk(m)
		chunk.Pos, chunk.Overhead = 0, 0
		missing := int64(c.missing[k])
		switch again := d.head()[:min(int64(d.headLen), d.received)]; {
		case d.received+missing == 0:
		case int64(len(again)) == d.received && missing == 0:
			c.reader.Data(k, again, chunk)
		default:
			c.skipped += d.received
			c.reader.Gap(k, d.received+missing, 0, chunk)
		}
	}
}

// foundMessages tells the tap that the connection carries messages.
func (c *connection) foundMessages() {
	if c.opt.Tap != nil {
		c.opt.Tap.Carries(c.tcp.Ends[0], c.tcp.Ends[1])
	}
}

// maxEarlyResponses is the number of responses per connection that may be delayed.
const maxEarlyResponses = 256

// postpone delays a response while the requesting direction holds undecided bytes, and reports whether it does.
func (d *direction) postpone(m *call.Message) bool {
	c := d.conn
	if !c.current().Pending(1-int(d.side)).Searching || len(c.early[c]) == maxEarlyResponses || c.pairer.Expects(c.call, int(d.side), m.Exchange) {
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
	c.earlySides |= 1 << d.side
	c.early[c] = append(c.early[c], m)
	return true
}

// pairEarly pairs the delayed responses that no longer need to wait; all pairs every one.
func (c *connection) pairEarly(all bool) {
	var searching [2]bool // in the requests that a side answers
	if !all {
		r, wait := c.current(), !c.paired
		for side := range searching {
			searching[side] = r.Pending(1 - side).Searching
			wait = wait && (searching[side] || c.earlySides>>side&1 == 0)
		}
		if wait {
			return
		}
	}
	c.paired = false
	c.pairEarlyIf(func(m *call.Message) bool {
		return !searching[m.Side] || c.pairer.Expects(c.call, int(m.Side), m.Exchange)
	})
}

// pairEarlier pairs the delayed responses of the exchange of m, which follows them, if their request has come.
func (d *direction) pairEarlier(m *call.Message) {
	c := d.conn
	if c.earlySides != 0 && c.pairer.Expects(c.call, int(d.side), m.Exchange) {
		c.pairEarlyIf(func(e *call.Message) bool { return e.Side == d.side && e.Exchange == m.Exchange })
	}
}

// pairEarlyIf pairs the delayed responses for which ready returns true.
func (c *connection) pairEarlyIf(ready func(m *call.Message) bool) {
	early := c.early[c]
	kept, sides := early[:0], uint8(0)
	for _, m := range early {
		if !ready(m) {
			kept = append(kept, m)
			sides |= 1 << m.Side
			continue
		}
		c.paired = true
		c.earlyResponseCount--
		c.earlyValueBytes -= len(m.Values) + len(m.AttachmentsJSON)
		c.pairer.Response(c.call, int(m.Side), m)
		c.pairer.Release(m)
	}
	if c.earlySides = sides; sides == 0 {
		delete(c.early, c)
		return
	}
	c.early[c] = kept
}

// chunk converts the origin of bytes from the assembler's type to the protocol's.
func (d *direction) chunk(m *assemble.Meta) *rpc.Chunk {
	c := &d.conn.lane.chunk
	c.Time, c.Packet, c.File, c.Pos, c.Overhead = m.Time, m.Packet, m.File, m.Pos, m.Overhead
	return c
}

func (d *direction) Gap(n, wire int64, m *assemble.Meta) {
	c := d.conn
	o := c.own()
	o.gap += n
	o.missing[d.side] = uint32(min(int64(o.missing[d.side])+n, math.MaxUint32))
	if wire == 0 {
		o.gaps++
		o.bytes += n
	}
	if c.reader == nil && !c.open() {
		return
	}
	c.reader.Gap(int(d.side), n, wire, d.chunk(m))
	if c.earlySides != 0 {
		c.pairEarly(false)
	}
}

// Late counts bytes that have no place in the stream.
func (d *direction) Late(b []byte, cut int64, _ *assemble.Meta) {
	c := d.conn
	for _, p := range c.opt.Protocols {
		if p.Resyncs && p.Sniff != nil && p.Sniff(b[:min(len(b), rpc.HeadLen)]) == rpc.Mine {
			c.lateClaimed = true
		}
	}
	o := c.own()
	o.late += int64(len(b))
	o.gap += cut
}

// Repeat adds the link bytes of retransmitted payload to the messages that own it, if they are still in the window,
// else to the message that is being read, else to the newest.
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
			owner.Repeated += k + overhead
		case !r.Repeat(int(d.side), rpc.Span{From: pos, To: pos + k}, k+overhead):
			if last := d.newest; last != nil {
				last.Repeated += k + overhead
			}
		}
		pos, left, overhead = pos+k, left-k, 0
	}
}

// owner returns the message in the window that owns the byte at pos, and how many of the next left bytes it owns; or
// nil, and the number of bytes without an owner.
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

func (d *direction) End(closed bool) {
	c := d.conn
	for _, r := range [2]rpc.Conn{c.previous, c.reader} {
		if r != nil {
			r.End(int(d.side), closed)
		}
	}
	if c.earlySides != 0 {
		c.pairEarly(false)
	}
	c.ends++
	c.shut = c.shut || closed
	for i := range c.dirs { // a reader may pass on messages of one direction at the end of the other
		for o := &c.dirs[i]; o.oldest != nil && (o == d || c.ends == 2); {
			c.repeats.drop(o)
		}
	}
	if c.ends == 2 {
		c.call.Closed = c.segmentOrdinal()
		if c.earlySides != 0 {
			c.pairEarly(true)
		}
		plain := false
		for u := range c.protocols {
			plain = plain || u.PlainHTTP
		}
		if plain {
			c.call.End = &call.ConnEnd{
				Began: !c.tcp.Joined, Shut: c.shut, FirstFIN: c.tcp.FirstFIN,
				Messages: c.messages, HandshakeBytes: int64(c.tcp.Handshake), LastTime: c.tcp.LastTime(),
			}
		}
		c.totals.connection(c)
		if c.opt.Fingerprints != nil && c.messages > 0 {
			c.fingerprints.add(c)
		}
	}
}

// Message implements [rpc.Sink].
func (c *connection) Message(side int, m *rpc.Message) {
	if c.muted {
		c.prepared = nil
		return
	}
	if c.messages++; c.messages == 1 {
		c.foundMessages()
	}
	if m.Protocol != c.inUse.Protocol {
		c.use(m.Protocol)
	}
	if m.Kind == rpc.Request && m.Ordinal == 0 {
		c.inUse.calls++
	}
	c.claimed = true
	c.lane.message(&c.dirs[side], m)
}

// use notes that the next messages are of a protocol.
func (c *connection) use(p *rpc.Protocol) {
	switch o := c.seldom; {
	case c.inUse.Protocol == nil: // the first message
		count(&c.totals.Protocols, p.Name, 1)
		c.inUse.Protocol = p
		return
	case len(o.used) == 0:
		o = c.own()
		o.used = append(o.used, c.inUse)
	default:
		o.used[c.using] = c.inUse
	}
	i := slices.IndexFunc(c.used, func(u usedProtocol) bool { return u.Protocol == p })
	if i < 0 {
		i = len(c.used)
		c.seldom.used = append(c.used, usedProtocol{Protocol: p})
		count(&c.totals.Protocols, p.Name, 1)
	}
	c.inUse, c.using = c.used[i], uint8(i)
}

// protocols yields the protocols of the messages, in the order of their first messages.
func (c *connection) protocols(yield func(u usedProtocol) bool) {
	if len(c.used) == 0 {
		if c.inUse.Protocol != nil {
			yield(c.inUse)
		}
		return
	}
	for i, u := range c.used {
		if i == int(c.using) {
			u = c.inUse
		}
		if !yield(u) {
			return
		}
	}
}

// Abort implements [rpc.Sink].
func (c *connection) Abort(side int, exchange uint64, why string) {
	c.pairer.Abort(c.call, side, exchange, why, c.lane.chunk.Time)
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
	o := c.own()
	for i := range o.unowned {
		if o.unowned[i].name == name {
			o.unowned[i].bytes += n
			return
		}
	}
	o.unowned = append(o.unowned, namedBytes{name, n})
}

// Joined implements [rpc.Owner].
func (c *connection) Joined() bool { return c.tcp.Joined }

// Claim implements [rpc.Sink].
func (c *connection) Claim(name string) {
	if !c.muted {
		if c.name != name {
			c.own().name = name
		}
		c.claimed = name == "" || c.messages > 0
	}
}

// Handshake implements [rpc.Sink].
func (c *connection) Handshake(h rpc.Handshake) {
	if !c.muted {
		c.own().handshake = &h
	}
}

// Framing implements [rpc.Sink].
func (c *connection) Framing(side int, m *rpc.Message) {
	if !c.muted && c.opt.streams != nil {
		c.opt.streams.Framing(c.tcp, side, m)
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

// Answered implements [rpc.Needs].
func (c *connection) Answered(side int, exchange uint64) *rpc.Operation {
	if m := c.pairer.OpenRequest(c.call, side, exchange); m != nil {
		return m.Operation
	}
	return nil
}

// Named implements [rpc.Needs].
func (c *connection) Named(side int) bool {
	return c.call.Products != nil && c.call.Products[side] != ""
}

// Keep implements [rpc.Needs].
func (c *connection) Keep(side int, m *rpc.Message) bool {
	return c.sampler != nil && c.sampler.keeps(c.lane, &c.dirs[side], m)
}

// Want implements [rpc.Needs].
func (c *connection) Want(side int, m *rpc.Message) rpc.Detail {
	if c.instead != nil && m.Tree == nil {
		if c.prepared = c.instead(m); c.prepared != nil {
			return rpc.Envelope
		}
	}
	want := c.opt.Detail
	if c.opt.someOperations() {
		o := m.Operation
		switch {
		case m.Kind == rpc.Response:
			o = c.Answered(side, m.Exchange)
		case m.Protocol != nil && m.Protocol.PlainHTTP: // the body may name the operation
			o = nil
		}
		if o != nil && !c.opt.Operations(o) {
			want = rpc.Parts
		}
	}
	if c.opt.ForAttachments && !c.opt.Filter.MayHaveAttachments(m) {
		want = rpc.Parts
	}
	if c.sampler != nil && (c.sampler.wants(c.lane, &c.dirs[side], m) || c.sampler.takesAll(c.lane)) {
		want = rpc.Values
	}
	if c.wantValues != nil && c.wantValues(c.call, side, m) {
		want = rpc.Values
	}
	return want
}
