package http2

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

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
	m.Encoding, m.Interleaved = "", !c.http1.stays()
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

// protocolOf returns the protocol of a call.
func (c *conn) protocolOf(st *stream) *rpc.Protocol {
	switch {
	case st.hessian:
		return Hessian
	case c.http1.stays() || st.use == triple.Plain:
	case st.use == triple.Triple:
		return Triple
	default:
		return GRPC
	}
	if st.dubbo || c.client >= 0 && c.owner.Named(1-int(c.client)) {
		return REST
	}
	return HTTP
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
	if c.client < 0 || c.http1.undecided() {
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
		r.native.request, r.native.err = st.op, r.err
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
	m.Span, m.Extra = r.span, nil
	if m.Kind == rpc.Response && m.Ends {
		c.bodies.Outcome(m, r.heads(), !half.prefixed() && (half.unsure || st.use == triple.Plain))
	}
	if m.Kind == rpc.Response && m.Protocol.PlainHTTP {
		m.Extra = c.product(c.bodies.Product(r.heads()))
	}
	if len(r.spans) > 0 {
		m.Extra = &rpc.Extra{More: slices.Clone(r.spans), Product: m.Product()}
	}
	c.decode(r)
	c.readBody(r)
	if c.env.Framing {
		m.Pieces = r.pieces(len(m.Body))
	}
	if request := &st.halves[c.client]; m.Kind == rpc.Response && request.headed && request.count == 0 && !st.early {
		st.early = true
		c.early++
	}
	if st.use == triple.GRPC && !st.sure && !st.hessian && triple.Wrapped(m) {
		st.use, st.sure = triple.Triple, true
		c.use, c.used, c.grpc = triple.Triple, true, triple.Triple
		m.Protocol = Triple
	}
	c.owner.Message(int(r.side), m)
	if m.Kind == rpc.Request {
		c.noEarly(st)
	}
	r.lent = nil
	c.drop(r)
}

// product returns what a message has of its server's product; nil without one. Successive messages share it.
func (c *conn) product(name string) *rpc.Extra {
	if name == "" {
		return nil
	}
	l := c.lane
	if l.product == nil || l.product.Product != name {
		l.product = &rpc.Extra{Product: name}
	}
	return l.product
}

// readBody takes from a decoded message what its body tells of the call: the method of a request, and that it is one of Hessian.
func (c *conn) readBody(r *row) {
	m, st := &r.m, r.stream
	if !st.hessian && triple.IsHessian(m) {
		st.hessian = true
		m.Protocol = Hessian
	}
	if m.Kind == rpc.Request && m.Operation != nil && m.Protocol.PlainHTTP {
		if st.op = m.Operation; r.keptHead != nil {
			r.native.request = st.op
		}
	}
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
	if c.env.AskFirst && detail == rpc.Values && m.IsWhole() && r.err == nil && m.Encoding == "" && m.Protocol.ScrubBody != nil && (request == nil || !request.Generic) {
		c.bodies.DecodeBy(r.heads(), m, request, rpc.Envelope)
		if m.Format != nil && m.Format.ScrubBody != nil && c.owner.Want(int(r.side), m) == rpc.Envelope {
			return
		}
	}
	if c.env.Sampling && m.IsWhole() {
		detail = c.owner.Want(int(r.side), m)
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
