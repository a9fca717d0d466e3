package http2

import (
	"bytes"
	"encoding/binary"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

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
	switch {
	case r.need && n < len(b), !r.need && l.bodies.Enough(r.heads(), &r.m, r.stream.op, r.body):
		r.enough = true
	case n < len(b): // what tells is further on
		r.need = true
		l.keep(r, b[n:])
	}
}

// maxEnvelope is the number of body bytes that are kept where only the envelope is needed.
const maxEnvelope = 512

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
	if !st.sure || st.use == triple.Triple && int8(r.side) == c.client { // the content type alone tells Triple from REST
		c.usePlain(st, int(r.side))
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

// lose takes n missing body bytes. What follows them is not kept, so the row gives back memory that was for it.
func (l *lane) lose(r *row, n int, cause decode.Cause) {
	if !r.lossy() {
		r.m.MissingAt, r.short = r.captured, cause
		if before := cap(r.body); before-len(r.body) > maxEnvelope {
			r.body = bytes.Clone(r.body)
			l.held += cap(r.body) - before
		}
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
