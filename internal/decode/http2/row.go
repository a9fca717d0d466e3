package http2

import (
	"encoding/binary"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// rowState is what the next byte of a row's direction is.
type rowState uint8

const (
	rowHead   rowState = iota // the row has headers only; a message may follow
	rowPrefix                 // a byte of the prefix of a gRPC message
	rowBody                   // left bytes of the body follow
	rowPlain                  // the body takes all DATA bytes until the direction ends
	rowWhole                  // the body is complete; another message may follow
)

// row is one message while it is being read: a gRPC message or a plain body with the bytes around it. The first row of a
// direction owns its headers, the last one its trailers. The newest row of a direction is held until the next one starts or
// the direction ends.
type row struct {
	// What each packet reads or changes stands together.
	stream    *stream
	side      uint8
	state     rowState
	short     decode.Cause // as in the message
	begun     bool
	need      bool // more of the body is needed than the envelope
	enough    bool // no more of the body is kept
	broken    bool // bytes of the row are missing, besides those of the body
	undecoded bool // a header block could not be decoded
	flagged   bool // the prefix says that the message is compressed
	prefix    [prefixLen]byte
	nprefix   uint8
	left      int
	captured  int        // bytes of the body
	wire      int64      // link bytes
	span      rpc.Span   // the first run of its bytes, of no bytes before them
	spans     []rpc.Span // the later ones
	end       rpc.Origin // the packet that completes the row so far, lastByte the time of the last one
	lastByte  int64

	m         rpc.Message
	err       *decode.Error
	body      []byte // copied bytes of the body
	lent      []byte // the whole body in the current delivery
	fields    []rpc.Header
	first     *head // of the header block before the body, last of the one after it; nil if there is none
	last      *head
	*keptHead // nil if the head is not kept

	older, newer *row // open rows of the side
}

// keptHead is what a row has if its bytes besides those of the body are kept.
type keptHead struct {
	head   []byte
	native native
	// block is the index in native.pieces of the frame that starts the last header block, blockOff its offset in the head.
	block    int
	blockOff int32
	places   []rpc.Piece      // of head and body, if they are needed
	prefixAt [prefixLen]int64 // places of the bytes of the prefix, if they are needed
}

// keepHead makes room for the head.
func (r *row) keepHead() {
	if r.keptHead == nil {
		r.keptHead = new(keptHead)
	}
}

// emptied returns the same memory without its content, nil if it is too much to be kept.
func (k *keptHead) emptied() *keptHead {
	if k == nil || cap(k.head) > maxKept {
		return nil
	}
	*k = keptHead{head: k.head[:0], places: k.places[:0], native: native{pieces: k.native.pieces[:0]}}
	return k
}

// headLen returns the number of bytes of the head that are kept.
func (r *row) headLen() int {
	if r.keptHead == nil {
		return 0
	}
	return len(r.head)
}

// native is the Native of a row's message: the parts of its head, and the operation of its call.
type native struct {
	pieces  headPieces
	request *rpc.Operation
}

// Clone implements [rpc.Native].
func (n *native) Clone() rpc.Native {
	return &native{pieces: append(headPieces(nil), n.pieces...), request: n.request}
}

func (l *lane) newRow() *row {
	k := len(l.rows) - 1
	if k < 0 {
		return new(row)
	}
	r := l.rows[k]
	l.rows = l.rows[:k]
	if k := cap(r.body); k > maxKept {
		l.spare -= k
	}
	l.held += cap(r.body) + r.fieldsCost()
	return r
}

// maxRowFields is the number of header fields of a row that are kept: a direction may have any number of header blocks.
const maxRowFields = 4 * maxFields

// fieldsCost is the memory of a row's header fields beyond what streamCost has for them, in bytes.
func (r *row) fieldsCost() int { return max(0, cap(r.fields)-usualFields) * fieldSize }

// addFields adds header fields to a row.
func (l *lane) addFields(r *row, fields []rpc.Header) {
	l.held -= r.fieldsCost()
	r.fields = append(slices.Grow(r.fields, len(fields)), fields...)
	l.held += r.fieldsCost()
}

// usualFields is the number of header fields of which streamCost has the memory, fieldSize the memory of one in bytes.
const (
	usualFields = 32
	fieldSize   = 72
)

// maxFreeRows and maxKept bound what a lane keeps for later rows: rows, and bytes of a body.
const (
	maxFreeRows = 256
	maxKept     = 4 << 10
	// maxSpare is the number of bytes of larger bodies, maxGrown the largest one that gets its memory at once.
	maxSpare = 1 << 20
	maxGrown = 128 << 10
)

func (l *lane) freeRow(r *row) {
	l.release(r)
	if len(l.rows) >= maxFreeRows {
		return
	}
	l.blocks.release(r.first)
	l.blocks.release(r.last)
	body, fields, spans, kept := r.body[:0], r.fields[:0], r.spans[:0], r.emptied()
	*r = row{}
	r.body, r.fields, r.spans, r.keptHead = body, fields, spans, kept
	if k := cap(r.body); k > maxKept {
		if l.spare+k > maxSpare {
			r.body = nil
		} else {
			l.spare += k
		}
	}
	if cap(r.fields) > maxFields {
		r.fields = nil
	}
	l.rows = append(l.rows, r)
}

// setHead gives a head to a row.
func (l *lane) setHead(to **head, h *head) {
	l.blocks.release(*to)
	*to = h.keep()
}

// heads returns what the row's header blocks tell.
func (r *row) heads() (h triple.Heads) {
	if r.first != nil {
		h.First = &r.first.Head
	}
	if r.last != nil {
		h.Last = &r.last.Head
	}
	return h
}

// release gives the memory of the row back to the budget.
func (l *lane) release(r *row) { l.held -= cap(r.body) + r.fieldsCost() }

// keep appends body bytes to what the row holds, as far as the lane has memory for them.
func (l *lane) keep(r *row, b []byte) {
	limit := l.env.MaxBody
	if !r.need {
		limit = min(l.env.MaxEnvelope, maxEnvelope)
	}
	n := max(0, min(len(b), limit-len(r.body)))
	if n > cap(r.body)-len(r.body) && l.held+n > l.env.MaxBuffers/2 && len(r.body)+n > maxEnvelope {
		n = 0
	}
	before := cap(r.body)
	if all := len(b) + r.left; n > before-len(r.body) && r.need && all <= min(maxGrown, limit-len(r.body)) {
		r.body = slices.Grow(r.body, all)
	}
	r.body = append(r.body, b[:n]...)
	l.held += cap(r.body) - before
	if n < len(b) || !r.need && l.bodies.Enough(r.heads(), &r.m, r.body) {
		r.enough = true
	}
}

// maxEnvelope is the number of body bytes that are kept where only the envelope is needed.
const maxEnvelope = 512

// addSpan adds n bytes of the stream to the row.
func (r *row) addSpan(from, n int64) {
	last := &r.span
	if k := len(r.spans); k > 0 {
		last = &r.spans[k-1]
	}
	switch {
	case last.To == from && last.Len() > 0:
		last.To += n
	case r.span.Len() == 0:
		r.span = rpc.Span{From: from, To: from + n}
	default:
		r.spans = append(r.spans, rpc.Span{From: from, To: from + n})
	}
}

// has reports whether a byte of the stream is one of the row's, after looking at up to *tries of its runs.
func (r *row) has(pos int64, tries *int) bool {
	for i := len(r.spans) - 1; i >= 0 && *tries > 0; i-- {
		if *tries--; pos >= r.spans[i].From && pos < r.spans[i].To {
			return true
		}
	}
	*tries--
	return pos >= r.span.From && pos < r.span.To
}

// header adds bytes that are not part of the body. b is empty if they are not kept.
func (r *row) header(kind pieceKind, n int, b []byte) {
	r.m.HeaderLen += int32(n)
	if len(b) > 0 {
		r.keepHead()
		r.piece(kind, b)
	}
}

// piece adds a piece to the head.
func (k *keptHead) piece(kind pieceKind, b []byte) {
	if kind == pieceBlock {
		k.block, k.blockOff = len(k.native.pieces), int32(len(k.head))
	}
	k.native.pieces.add(kind, len(b))
	k.head = append(k.head, b...)
}

// startBody is called when the row's body starts; n is its length if it is known.
func (c *conn) startBody(r *row, n int) {
	m := &r.m
	m.BodyLen, m.MissingAt = n, n
	c.describe(r)
	// Only the whole of a compressed body tells its size without compression.
	r.need = m.Encoding != "" || c.env.Detail > rpc.Envelope || c.env.WholeBodies || c.env.Sampling && c.owner.Keep(int(r.side), m)
}

// isPrefix reports whether the row's prefix is that of a gRPC message.
func (r *row) isPrefix() bool {
	return r.prefix[0] <= 1 && binary.BigEndian.Uint32(r.prefix[1:]) <= maxMessage
}

// noPrefix starts a plain body with what was taken for a prefix, since the headers that tell what follows are not known.
func (c *conn) noPrefix(r *row) {
	st := r.stream
	st.halves[r.side].framing = framingPlain
	if !st.sure {
		st.use = triple.Plain
	}
	r.state = rowPlain
	c.startBody(r, 0)
	for i := range r.prefix {
		at := int64(0)
		if c.env.Framing {
			at = r.prefixAt[i]
		}
		c.take(r, r.prefix[i:i+1], at)
	}
}

// readPrefix reads the prefix of a gRPC message.
func (c *conn) readPrefix(r *row) {
	n := binary.BigEndian.Uint32(r.prefix[1:])
	if !r.isPrefix() {
		// No message follows. The rest of the direction is one body, which nobody can read.
		r.err = &decode.Error{Cause: decode.Malformed, Expected: "the prefix of a gRPC message"}
		r.state = rowPlain
		c.startBody(r, 0)
		return
	}
	r.flagged = r.prefix[0] == 1
	r.left = int(n)
	r.state = rowBody
	c.startBody(r, int(n))
	if n == 0 {
		r.state = rowWhole
	}
}

// maxMessage is the maximum length of a gRPC message, in bytes: implementations use signed numbers.
const maxMessage = 1<<31 - 1

// take takes body bytes, which are at a place of the stream, and returns their number.
func (c *conn) take(r *row, b []byte, at int64) int {
	n := len(b)
	if r.state == rowPlain {
		r.m.BodyLen += n
	} else {
		n = min(n, r.left)
		r.left -= n
		if r.left == 0 {
			r.state = rowWhole
		}
	}
	if c.env.Framing {
		r.placeBody(at, n)
	}
	whole := r.captured == 0 && r.state == rowWhole && n == r.m.BodyLen
	r.captured += n
	switch {
	case r.enough || r.lossy():
	case whole:
		r.lent = b[:n:n]
		c.lent = append(c.lent, r)
	default:
		c.unlend(r)
		c.keep(r, b[:n])
	}
	return n
}

// lossy reports whether body bytes are missing before the next one.
func (r *row) lossy() bool { return r.short != decode.None }

// lose takes n missing body bytes.
func (r *row) lose(n int, cause decode.Cause) {
	if !r.lossy() {
		r.m.MissingAt, r.short = r.captured, cause
	}
	if r.state == rowPlain {
		r.m.BodyLen += n
		return
	}
	if r.left -= n; r.left == 0 {
		r.state = rowWhole
	}
}

// unlend copies a body that lies in the current delivery.
func (c *conn) unlend(r *row) {
	if b := r.lent; b != nil {
		r.lent = nil
		c.keep(r, b)
	}
}

// settle copies the bodies that lie in the delivery that ends, of rows that are still held.
func (c *conn) settle() {
	for i, r := range c.lent {
		c.unlend(r)
		c.lent[i] = nil
	}
	c.lent = c.lent[:0]
}

// describe sets what is known about the row's message before its body.
func (c *conn) describe(r *row) {
	m, st := &r.m, r.stream
	m.Protocol = c.protocolOf(st)
	m.Exchange, m.SerializationID = uint64(st.id), rpc.NoSerialization
	m.Status, m.ResultKind = rpc.NoStatus, -1
	m.Kind, m.Request, m.TwoWay = rpc.Response, false, false
	if int8(r.side) == c.client {
		m.Kind, m.Request, m.TwoWay, m.Operation = rpc.Request, true, true, st.op
	}
	m.Encoding = ""
	switch half := &st.halves[r.side]; {
	case !r.flagged && half.prefixed():
	case half.encoding != "" && half.encoding != "identity":
		m.Encoding = half.encoding
	case r.flagged && half.headed && !half.unsure:
		m.Encoding = triple.NoEncoding
	case r.flagged:
		m.Encoding = triple.UnknownEncoding
	}
}

func (c *conn) protocolOf(st *stream) *rpc.Protocol {
	switch st.use {
	case triple.Triple:
		return Triple
	case triple.GRPC:
		return GRPC
	}
	return Protocol
}

// emit passes a row on as a message. ends is set if it is the last one of its direction.
func (c *conn) emit(r *row, ends bool) {
	s := &c.sides[r.side]
	s.unlink(r)
	if s.row == r && s.state != inData {
		s.row = nil // the rest of its frame belongs to no message
	}
	st := r.stream
	half := &st.halves[r.side]
	if half.row == r {
		half.row = nil
	}
	st.rows++
	r.m.Ends = ends
	if s.deferring {
		s.deferred = append(s.deferred, r)
		return
	}
	c.pass(r)
}

// pass passes a row on as a message.
func (c *conn) pass(r *row) {
	if c.client < 0 || c.upgrade.undecided() {
		if c.waiting = append(c.waiting, r); len(c.waiting) > maxWaiting {
			c.dropWaiting()
		}
		c.unlend(r)
		return
	}
	m, st := &r.m, r.stream
	half := &st.halves[r.side]
	c.describe(r)
	m.Ordinal = half.count
	half.count++
	switch {
	case r.state == rowPrefix:
		// The length of the message is not known: what there is of its prefix belongs to its header.
		r.broken = true
		if kept := c.sides[r.side].headBytes(r.prefix[:r.nprefix]); len(kept) > 0 && !c.env.Framing {
			r.m.HeaderLen -= int32(len(kept))
			r.header(piecePrefix, len(kept), kept)
		}
	case r.state == rowPlain && !m.Ends, r.left > 0:
		if !r.lossy() {
			m.MissingAt, r.short = r.captured, decode.Lost
		}
	}
	if r.broken && !r.lossy() {
		r.short = decode.Lost
	}
	m.Short, m.Complete = r.short, r.short == decode.None
	m.Captured, m.Wire, m.Last, m.LastByte, m.File = r.captured, r.wire, r.end, r.lastByte, int32(r.end.File)
	if m.Complete {
		m.MissingAt = m.BodyLen
	}
	m.Head, m.Headers, m.Pieces, m.Native = nil, r.fields, nil, nil
	m.Unresolved = r.heads().Unresolved()
	if r.keptHead != nil {
		r.native.request = st.op
		m.Head, m.Native = r.head, &r.native
	}
	switch m.Body = r.body; {
	case r.lent != nil:
		m.Body = r.lent
	case r.state == rowHead, r.state == rowPrefix:
		m.Body = nil
	case m.Body == nil:
		m.Body = []byte{}
	}
	m.Span, m.More = r.span, nil
	if len(r.spans) > 0 {
		more := append([]rpc.Span(nil), r.spans...)
		m.More = &more
	}
	if m.Kind == rpc.Response && m.Ends {
		c.bodies.Outcome(m, r.heads(), !half.prefixed() && (half.unsure || st.use == triple.Plain))
	}
	c.decode(r)
	if c.env.Framing {
		m.Pieces = r.pieces(len(m.Body))
	}
	if request := &st.halves[c.client]; m.Kind == rpc.Response && request.headed && request.count == 0 && !st.early {
		st.early = true
		c.early++
	}
	if st.use == triple.GRPC && !st.sure && triple.Wrapped(m) {
		st.use, st.sure = triple.Triple, true
		c.use, c.used = triple.Triple, true
		m.Protocol = Triple
	}
	c.owner.Message(int(r.side), m)
	if m.Kind == rpc.Request {
		c.noEarly(st)
	}
	r.lent = nil
	c.drop(r)
}

// drop frees a row that was passed on or skipped, and its stream with its last one.
func (c *conn) drop(r *row) {
	st := r.stream
	c.freeRow(r)
	if st.rows--; st.rows == 0 && st.closed {
		c.noEarly(st)
		c.freeStream(st)
	}
}

// maxWaiting is the number of messages that wait until it is known which side is the client.
const maxWaiting = 64

// dropWaiting skips the bytes of the messages that wait.
func (c *conn) dropWaiting() {
	for _, r := range c.waiting {
		c.owner.Unowned(int(r.side), int64(r.m.HeaderLen)+int64(r.captured), "")
		c.framing(int(r.side), r)
		c.drop(r)
	}
	c.waiting = nil
}

// decode decodes the body of a row as far as needed.
func (c *conn) decode(r *row) {
	m, request := &r.m, r.stream.op
	detail := c.env.Detail
	if c.env.Sampling && m.IsWhole() {
		if want := c.owner.Want(int(r.side), m); want > detail {
			detail = want
		}
	}
	if r.err != nil {
		m.Err = r.err
	}
	c.bodies.DecodeBy(r.heads(), m, request, detail)
	if r.err != nil {
		m.Err = r.err
	}
}

// prefixedType reports whether bodies of a content type have prefixes.
func prefixedType(contentType string) bool { return strings.HasPrefix(contentType, "application/grpc") }
