package http2

import (
	"math"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/http1"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// lane is shared by the connections of a lane.
type lane struct {
	env    *rpc.Env
	bodies *triple.Decoder
	blocks *blockDecoder
	rows   []*row    // free ones
	free   []*stream // free ones
	spare  int       // bytes of the free rows' large bodies
	// held is the number of bytes that connections hold: bodies, header blocks, searches, and an estimate for streams.
	held int
	// kept is for bytes that belong to no message.
	kept row
	// http1Fields are those of the last head of HTTP/1.
	http1Fields []rpc.Header
	http1Lines  *http1.Lines
	product     *rpc.Extra // of the last message whose server names its product
	// lent are the rows whose bodies lie in the current delivery.
	lent []*row
}

// sharedKey is the key of the state that all lanes of one goroutine share.
type (
	sharedKey struct{}
	shared    struct {
		bodies *triple.Decoder
		blocks *blockDecoder
		lines  *http1.Lines
	}
)

// laneKey is the key of the lane of an Env.
type laneKey struct{ env *rpc.Env }

// laneOf returns the lane that all connections of env share.
func laneOf(env *rpc.Env) *lane {
	if l, ok := env.Shared[laneKey{env}].(*lane); ok {
		return l
	}
	common, ok := env.Shared[sharedKey{}].(shared)
	if !ok {
		common = shared{triple.NewDecoder(env.Formats), new(blockDecoder), new(http1.Lines)}
		common.bodies.Route, common.bodies.Borrow, common.bodies.Printed, common.bodies.AllFields = env.Route, env.Borrow, env.Printed, env.AskFirst
		env.Shared[sharedKey{}] = common
	}
	l := &lane{env: env, bodies: common.bodies, blocks: common.blocks, http1Lines: common.lines}
	env.Shared[laneKey{env}] = l
	return l
}

func open(self *rpc.Protocol, env *rpc.Env) rpc.Opener {
	l := laneOf(env)
	return func(owner rpc.Owner, joined bool) rpc.Conn {
		owner.Claim(self.Name)
		return l.newConn(owner, joined)
	}
}

func (l *lane) newConn(owner rpc.Owner, joined bool) *conn {
	c := &conn{lane: l, owner: owner, joined: joined, client: -1, grpc: triple.GRPC}
	for i := range c.sides {
		c.sides[i].start(c, uint8(i))
	}
	return c
}

// conn is one connection. Very many may wait for bytes at a time, so what only few of them need is allocated apart.
type conn struct {
	*lane
	owner          rpc.Owner
	sides          [2]side
	streams        streamTable // open ones
	oldest, newest *stream
	last           *stream // most recently used
	waiting        []*row  // until it is known which side is the client, and that the connection uses HTTP/2
	closed         *[closedStreams]uint32
	nclosed        uint32
	early          int32 // streams with early set
	// highest are the highest numbers of streams that were opened, of even and odd ones, and far one that is far above them. first is
	// the first one that the capture saw opened.
	highest, far [2]uint32
	first        uint32
	use          triple.Use // of earlier calls, if used is set
	used         bool
	grpc         triple.Use // of earlier calls of gRPC: GRPC, or Triple
	dubbo        bool       // a call had a header that only Dubbo's peers send
	client       int8       // side of the client, -1 if it is not known
	joined       bool
	http1        *overHTTP1 // nil if the connection does not begin with HTTP/1
}

type sideState uint8

const (
	atStart      sideState = iota // in the client's preface, if there is one
	atFrame                       // in a frame's header
	inData                        // left bytes of a DATA frame follow
	inPayload                     // left bytes of another frame follow, which is too long to be read
	searching                     // the position of the next frame is not known
	atHTTP1                       // in the head of a request or response of HTTP/1
	atChunk                       // in a line of the chunked coding of HTTP/1
	afterMessage                  // http1Side.after tells
	findingHTTP1                  // the position of the next message of HTTP/1 is not known
	inTunnel                      // what follows is of a protocol that is not read
)

// side is one direction of a connection.
type side struct {
	conn   *conn
	number uint8
	state  sideState
	next   sideState // after the current DATA frame
	http1Side
	// deferring is set if rows are passed on only after the padding of the current frame.
	deferring bool
	inBlock   bool // the frames of block have not all come
	resync    bool // the next frame was found by searching
	ended     bool
	chunk     *rpc.Chunk // of the current delivery
	pos       int64      // of the next byte
	// overhead is that of deliveries whose first byte has no owner yet.
	overhead int64
	// buf holds a frame that crosses deliveries, from its header on. from is its place, first the packet of its first byte.
	buf   []byte
	from  int64
	first rpc.Origin

	// The current frame. left is the number of payload bytes that follow, pad of them padding.
	h         frameHeader
	left, pad int
	row       *row // the row that owns its header and its padding, nil if it belongs to no message
	stream    *stream
	deferred  []*row

	table table
	known *known // nil if there is nothing yet
	// block is a header block whose frames have not all come; blockRow owns it.
	block       []byte
	blockRow    *row
	orphan      *row // the header block without a row, if it is to be kept
	blockStream uint32
	gaps        uint32 // gaps that hid frames

	// oldest and newest are the open rows.
	oldest, newest *row

	// What the side announced in its SETTINGS.
	tableLimit    uint32 // the largest table of the other side's encoder
	maxFrame      int32
	initialWindow int64 // of the streams that this side sends on, announced by the other side
	window        int64 // of the connection, for this side's DATA
	windowsKnown  bool

	blockFlags uint8
	promise    bool // the block belongs to a PUSH_PROMISE
	lossyBlock bool
	owned      bool // the bytes that are read stay

	search *search
}

func (s *side) start(c *conn, number uint8) {
	*s = side{
		conn: c, number: number, next: atFrame, table: newTable(c.joined), tableLimit: defaultTableSize, maxFrame: defaultMaxFrame,
		initialWindow: defaultWindow, window: defaultWindow, windowsKnown: !c.joined,
	}
	if c.joined {
		s.tableLimit, s.maxFrame = math.MaxUint32, maxFrame
		s.state = searching
	}
}

const (
	defaultWindow   = 65535
	defaultMaxFrame = 16 << 10
	maxFrame        = 1<<24 - 1
)

// maxBlock is the maximum length of a header block that is decoded, in bytes; maxControl is the number of payload bytes that
// are read of other frames.
const (
	maxBlock   = 1 << 20
	maxControl = 4 << 10
)

// Data implements [rpc.Conn].
func (c *conn) Data(side int, b []byte, chunk *rpc.Chunk) {
	s := &c.sides[side]
	switch {
	case s.state == searching:
		s.find(b, chunk)
	case s.state == inData && s.within(b, chunk):
		return
	default:
		s.read(b, chunk)
	}
	c.settle()
}

// read reads bytes at a known place. If a frame is not where it should be, the rest goes to the search.
func (s *side) read(b []byte, chunk *rpc.Chunk) {
	s.chunk, s.pos = chunk, chunk.Pos
	s.overhead += int64(chunk.Overhead)
	for len(b) > 0 {
		n := 0
		switch s.state {
		case atFrame:
			n = s.header(b)
		case inData:
			n = s.data(b)
		default:
			n = s.step(b)
		}
		if s.state == searching {
			rest := *chunk
			rest.Pos, rest.Overhead = s.pos, 0
			s.overhead = 0
			s.find(b[n:], &rest)
			return
		}
		s.pos += int64(n)
		b = b[n:]
	}
}

// step reads the start of b, which is neither of a frame's header nor of DATA, and returns the number of bytes it read.
func (s *side) step(b []byte) int {
	switch s.state {
	case atStart:
		return s.preface(b)
	case inPayload:
		return s.payload(b)
	case atHTTP1:
		return s.readHTTP1(b)
	case atChunk:
		return s.chunkLine(b)
	case findingHTTP1:
		return s.findHTTP1(b)
	case inTunnel:
		s.unown(int64(len(b)), s.conn.http1.tunnel)
	}
	return len(b)
}

// preface reads the client's preface (RFC 9113, section 3.4).
func (s *side) preface(b []byte) int {
	const preface = http2.ClientPreface
	had := len(s.buf)
	n := min(len(b), len(preface)-had)
	if string(b[:n]) != preface[had:had+n] {
		if s.conn.http1.undecided() {
			s.conn.refuse()
			return 0
		}
		s.state = atFrame
		if had == 0 {
			return 0
		}
		// The bytes are only a part of the preface, and not a frame.
		s.unown(int64(had), "")
		s.keepFrame(had, s.buf)
		s.buf = s.buf[:0]
		s.lost()
		return 0
	}
	if had == 0 {
		s.begin()
	}
	if s.hold(b[:n]); len(s.buf) < len(preface) {
		return n
	}
	s.unown(int64(len(preface)), unownedPreface)
	s.keepFrame(len(preface), s.buf)
	s.conn.setClient(s.number)
	s.conn.accept()
	s.buf, s.state, s.next = s.buf[:0], atFrame, atFrame
	return n
}

// begin notes where a frame begins.
func (s *side) begin() { s.from, s.first = s.pos, s.chunk.Origin }

// setClient notes which side is the client and passes on what waited for it.
func (c *conn) setClient(side uint8) {
	if c.client >= 0 {
		return
	}
	c.client = int8(side)
	c.passWaiting()
}

// passWaiting passes on what waited, requests first.
func (c *conn) passWaiting() {
	waiting := c.waiting
	c.waiting = nil
	for _, request := range [2]bool{true, false} {
		for i, r := range waiting {
			if r != nil && (int8(r.side) == c.client) == request {
				waiting[i] = nil // pass frees it
				c.pass(r)
			}
		}
	}
}

// headBytes returns b if the heads of messages are kept, else nil.
func (s *side) headBytes(b []byte) []byte {
	if e := s.conn.env; e.Detail == rpc.Values || e.WholeBodies || e.Framing {
		return b
	}
	return nil
}

// own gives n bytes of the stream to a row.
func (s *side) own(r *row, from, n int64) {
	if !r.begun {
		m := &r.m
		r.begun = true
		m.First = s.chunk.Origin
		if from == s.from && len(s.buf) > 0 {
			m.First = s.first
		}
		m.FirstTime, r.end = m.First.Time, m.First
		m.Resync = s.resync
		s.resync = false
	}
	r.wire += n + s.overhead
	s.overhead = 0
	r.addSpan(from, n)
	s.touch(r)
}

// touch records that the current packet has a byte of the row.
func (s *side) touch(r *row) {
	k := s.chunk
	r.lastByte = k.Time
	if k.Time > r.end.Time || k.Time == r.end.Time && k.Packet > r.end.Packet {
		r.end = k.Origin
	}
}

// unown counts n bytes that belong to no message.
func (s *side) unown(n int64, name string) {
	s.overhead = 0
	if n > 0 {
		s.conn.owner.Unowned(int(s.number), n, name)
	}
}

// newRow starts the next row of a direction.
func (s *side) newRow(st *stream) *row {
	r := s.conn.newRow()
	r.stream, r.side = st, s.number
	st.halves[s.number].row = r
	if r.older = s.newest; r.older == nil {
		s.oldest = r
	} else {
		r.older.newer = r
	}
	s.newest = r
	return r
}

// unlink removes a row from the open ones.
func (s *side) unlink(r *row) {
	if r.older == nil {
		s.oldest = r.newer
	} else {
		r.older.newer = r.newer
	}
	if r.newer == nil {
		s.newest = r.older
	} else {
		r.newer.older = r.older
	}
	r.older, r.newer = nil, nil
}

// Repeat implements [rpc.Conn]: retransmitted bytes of a message that is still held.
func (c *conn) Repeat(side int, span rpc.Span, wire int64) bool {
	tries := maxRepeats
	for r := c.sides[side].newest; r != nil && tries > 0; r = r.older {
		if r.has(span.From, &tries) {
			r.wire += wire
			return true
		}
	}
	tries = maxRepeats
	for _, r := range c.waiting {
		if int(r.side) == side && r.has(span.From, &tries) {
			r.wire += wire
			return true
		}
	}
	return false
}

// maxRepeats bounds the search for the owner of retransmitted bytes.
const maxRepeats = 1024

// End implements [rpc.Conn].
func (c *conn) End(side int, closed bool) {
	s := &c.sides[side]
	if c.http1.stays() {
		s.endHTTP1(closed)
	}
	if s.search != nil {
		s.endSearch()
	}
	if n := len(s.buf); n > 0 {
		if s.state == atFrame {
			s.gaps++ // the rest of a frame, which may be trailers
		}
		s.unown(int64(n), "")
		s.keepFrame(s.held(), s.buf)
		s.drop()
	}
	s.abandonBlock()
	s.deferring = false
	s.flush()
	s.state, s.ended = atFrame, true
	if !c.sides[1-side].ended {
		return
	}
	if c.http1.undecided() {
		c.refuse()
	}
	for c.oldest != nil {
		c.end(c.oldest)
	}
	c.dropWaiting()
	for i := range c.sides {
		c.sides[i].freeBuffers()
	}
}

// freeBuffers gives the memory of frames and header blocks back to the budget.
func (s *side) freeBuffers() {
	s.conn.held -= cap(s.buf) + cap(s.block)
	s.buf, s.block = nil, nil
}

// Pending implements [rpc.Conn].
func (c *conn) Pending(side int) rpc.Pending {
	s := &c.sides[side]
	p := rpc.Pending{Searching: s.state == searching || s.state == findingHTTP1 || s.state == atHTTP1 && len(s.buf) > 0 || s.exchange != nil || c.early > 0 && side == int(c.client)}
	switch {
	case s.oldest != nil:
		p.From, p.Held = s.oldest.span.From, true
	case s.search != nil && len(s.search.buf) > 0:
		p.From, p.Held = s.search.from, true
	case len(s.buf) > 0:
		p.From, p.Held = s.from, true
	}
	hold := func(from int64) {
		if !p.Held || from < p.From {
			p.From, p.Held = from, true
		}
	}
	if s.orphan != nil && s.orphan.keptHead != nil && len(s.orphan.places) > 0 {
		hold(s.orphan.places[0].From)
	}
	for _, rows := range [2][]*row{s.deferred, c.waiting} {
		for _, r := range rows {
			if int(r.side) == side {
				hold(r.span.From)
			}
		}
	}
	return p
}

// lost begins a search: the position of the next frame is not known.
func (s *side) lost() {
	s.gaps++
	if s.conn.http1.stays() {
		s.lostHTTP1()
		return
	}
	s.state, s.next = searching, atFrame
	for i := range s.conn.sides { // updates of the windows, and bytes that took from them, may be lost
		s.conn.sides[i].windowsKnown = false
	}
	s.abandonBlock()
	s.table.doubt()
}

// Gap implements [rpc.Conn].
func (c *conn) Gap(side int, n, wire int64, chunk *rpc.Chunk) {
	s := &c.sides[side]
	cause := decode.Lost
	if wire > 0 {
		cause = decode.Cut
	}
	if s.state == searching {
		s.endSearch()
	}
	s.chunk, s.pos = chunk, chunk.Pos
	if s.doubtful && s.answersHEAD() {
		s.exchange.halves[s.number].row.broken = true // a body may be missing, if it answers another request
		s.endBodiless()
	}
	s.doubtful = false
	switch s.state {
	case inData:
		k := int(min(n, int64(s.left)))
		if wire > 0 {
			s.overhead += min(wire, int64(k)) + int64(chunk.Overhead)
		}
		s.loseData(k, cause)
		n -= int64(k)
	case inPayload:
		k := int(min(n, int64(s.left)))
		if s.row != nil {
			s.row.broken = true
		}
		if s.left -= k; s.left == 0 {
			s.state = atFrame
		}
		n -= int64(k)
	case atHTTP1:
		if len(s.buf) > 0 {
			s.cutHTTP1(cause)
		}
	case atChunk:
		s.unown(int64(len(s.buf)), "")
		s.keepFrame(0, s.buf)
		s.drop()
	case atFrame, atStart:
		if k := len(s.buf); k >= frameHeaderLen && s.state == atFrame && n <= int64(s.rest()) {
			s.loseFrame(int(n), cause)
			n = 0
		} else if k > 0 {
			s.unown(int64(k), "")
			s.keepFrame(s.held(), s.buf)
			s.drop()
		}
	}
	if n > 0 && s.state != searching && s.state != inTunnel {
		s.lost()
	}
	c.settle()
}
