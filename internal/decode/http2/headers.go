package http2

import (
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// headersRow returns the row that owns headers of a stream which a side sends now, and opens the stream if it is not open: st is nil.
func (s *side) headersRow(st *stream, id uint32) *row {
	if c := s.conn; st == nil {
		st = s.openStream(id)
		if c.first == 0 || id < c.first {
			c.first = id
		}
	}
	if r := st.halves[s.number].row; r != nil {
		return r
	}
	return s.newRow(st)
}

// headers reads HEADERS, CONTINUATION and PUSH_PROMISE.
func (s *side) headers(b, head []byte) {
	c, h := s.conn, &s.h
	n := len(head) + len(b)
	whole := len(b) == h.length
	fragment, ok := fragmentOf(h, b)
	if h.kind == typeContinuation {
		if !s.inBlock {
			s.table.forget()
			s.unown(int64(n), h.name())
			s.keepFrame(frameHeaderLen, head, b)
			return
		}
	} else {
		s.block, s.inBlock, s.blockRow = s.block[:0], true, nil
		s.blockStream, s.blockFlags, s.promise, s.lossyBlock = h.stream, h.flags, h.kind == typePromise, false
		if h.kind == typeHeaders {
			st := c.find(h.stream)
			if st == nil && c.wasClosed(h.stream) || st != nil && st.halves[s.number].ended {
				s.unown(int64(n), h.name())
			} else {
				s.blockRow = s.headersRow(st, h.stream)
				if r := s.blockRow; st != nil && !c.certain(st, int(s.number)) && (r.begun || st.halves[s.number].headed) {
					r.broken = true // messages before these headers may be lost
				}
			}
		}
	}
	base := 0
	if r := s.blockRow; r != nil {
		s.row = r
		s.own(r, s.from, int64(n))
		if kept := s.headBytes(head); kept == nil {
			r.m.HeaderLen += int32(n)
		} else if c.env.Framing && s.lossyBlock && h.kind == typeContinuation {
			r.m.HeaderLen += int32(n) // a block without end
			s.keepFrame(frameHeaderLen, head, b)
		} else {
			base = s.headerFrame(r, kept, b, fragment)
		}
	} else {
		if h.kind != typeHeaders {
			s.unown(int64(n), h.name())
		}
		switch {
		case !c.env.Framing:
		case s.lossyBlock && h.kind == typeContinuation:
			s.keepFrame(frameHeaderLen, head, b)
		default:
			if s.orphan == nil {
				s.orphan = c.newRow()
			}
			base = s.headerFrame(s.orphan, head, b, fragment)
		}
	}
	size := len(s.block) + len(fragment)
	held := !h.has(flagEndHeaders) || len(s.block) > 0
	if !ok || !whole || size > maxBlock || held && size > max(alwaysHeld, cap(s.block)) && c.full() {
		s.lossyBlock = true
	}
	if held {
		if !s.lossyBlock {
			before := cap(s.block)
			s.block = append(s.block, fragment...)
			c.held += cap(s.block) - before
		}
		if !h.has(flagEndHeaders) {
			return
		}
		fragment, base = s.block, -1
	}
	s.inBlock = false
	s.endBlock(fragment, base)
	if cap(s.block) > maxKept {
		c.held -= cap(s.block)
		s.block = nil
	}
	s.block = s.block[:0]
}

// headerFrame adds a frame of a header block to the row's head. It returns where fragment, its part of the block, begins there.
func (s *side) headerFrame(r *row, head, b, fragment []byte) (base int) {
	h := &s.h
	kind := pieceBlock
	if h.kind == typeContinuation {
		kind = pieceFrame
	}
	r.header(kind, len(head), head)
	pad, k := 0, len(b)-len(fragment)
	if h.padded() && k > 0 {
		pad = min(int(b[0]), k-1)
	}
	r.header(pieceFront, k-pad, b[:k-pad])
	base = r.headLen()
	r.header(pieceFields, len(fragment), fragment)
	r.header(piecePadding, pad, b[len(b)-pad:])
	s.placeHead(r, s.from, len(head)+len(b))
	return base
}

// fragmentOf returns the part of a payload that belongs to the header block, and false if the padding is longer than it.
func fragmentOf(h *frameHeader, b []byte) ([]byte, bool) {
	pad := 0
	if h.padded() {
		if len(b) == 0 {
			return nil, false
		}
		pad = int(b[0])
		b = b[1:]
	}
	if h.kind == typeHeaders && h.has(flagPriority) {
		if len(b) < 5 {
			return nil, false
		}
		b = b[5:]
	}
	if h.kind == typePromise {
		if len(b) < 4 {
			return nil, false
		}
		b = b[4:]
	}
	if pad > len(b) {
		return nil, false
	}
	return b[:len(b)-pad], true
}

// abandonBlock gives up a header block whose frames do not come.
func (s *side) abandonBlock() {
	if !s.inBlock {
		return
	}
	s.inBlock = false
	s.table.forget()
	s.keepOrphan()
	if s.blockRow != nil {
		s.blockRow.broken = true
		s.blockRow = nil
	}
	s.conn.held -= cap(s.block)
	s.block = nil
}

// endBlock decodes a header block. base is the place of its bytes in the head of its row, -1 if they are in several pieces.
func (s *side) endBlock(b []byte, base int) {
	c, r := s.conn, s.blockRow
	s.blockRow = nil
	if s.lossyBlock || !s.decode(b) {
		s.table.forget()
		c.blocks.begin(false)
		if r != nil {
			r.undecoded = true
		}
	}
	if r == nil {
		if o := s.orphan; o != nil {
			c.addFields(o, c.blocks.fields)
			o.locate(o.fields, base, false)
			s.keepOrphan()
		}
		return
	}
	st := r.stream
	half := &st.halves[s.number]
	trailer := half.headed || r.state != rowHead
	r.m.FieldsLen += int32(len(b))
	r.m.FieldsPlainLen += int32(c.blocks.plain)
	if fields := c.blocks.fields; len(fields) > 0 {
		from := len(r.fields)
		c.addFields(r, fields[:min(len(fields), maxRowFields-from)])
		r.locate(r.fields[from:], base, trailer)
	}
	if head := c.blocks.head; trailer {
		c.setHead(&r.last, head)
	} else {
		c.setHead(&r.first, head)
		s.firstHeaders(st, half, &head.Head)
	}
	if s.blockFlags&flagEndStream != 0 {
		c.endHalf(st, int(s.number))
	}
}

// locate sets the places of the fields of a header block, whose bytes are at base in the head, or in several pieces if base is -1.
func (r *row) locate(fields []rpc.Header, base int, trailer bool) {
	for i := range fields {
		f := &fields[i]
		f.Trailer = trailer
		f.Off += int32(max(base, 0))
	}
	if base < 0 {
		r.locateInPieces(fields)
	}
}

// locateInPieces replaces offsets in the last header block by those in the head, where the block is in several pieces.
func (r *row) locateInPieces(fields []rpc.Header) {
	if r.keptHead == nil {
		return
	}
	before := int32(0) // bytes of the block before a piece
	r.native.pieces.from(r.block, r.blockOff, func(p piece) bool {
		if p.kind != pieceFields {
			return true
		}
		for len(fields) > 0 && fields[0].Off < before+p.len {
			fields[0].Off += p.off - before
			fields = fields[1:]
		}
		before += p.len
		return len(fields) > 0
	})
}

// firstHeaders takes from the first headers of a direction what the rest of the stream is read by.
func (s *side) firstHeaders(st *stream, half *half, h *triple.Head) {
	c := s.conn
	if h.Informational {
		return // the real ones follow
	}
	if r := half.row; !h.Request && !h.Response && r != nil && (c.joined || s.gaps > 0) {
		r.broken = true // trailers, of messages that are lost
	}
	if c.dubbo = c.dubbo || h.Dubbo; int8(s.number) == c.client || h.Request || !st.halves[1-s.number].headed {
		st.dubbo = c.dubbo
	}
	half.headed, half.unsure = true, h.Unresolved
	half.lost, half.gaps = false, s.gaps
	switch {
	case h.Request:
		c.setClient(s.number)
	case h.Response:
		c.setClient(1 - s.number)
		if other := 1 - s.number; !st.halves[other].headed && (c.joined || c.sides[other].gaps > 0) {
			st.halves[other].lost = true // the start of the request is not there
		}
	}
	switch {
	case h.Typed && prefixedType(h.ContentType):
		half.framing = framingGRPC
	case h.Typed || !h.Unresolved && h.Fields:
		half.framing = framingPlain
	default: // as the other direction, or as the calls before
		if half.framing = st.halves[1-s.number].framing; half.framing == framingUnknown && c.use == triple.Plain && c.used {
			half.framing = framingPlain
		}
	}
	if half.encoding = h.ContentEncoding; half.prefixed() {
		half.encoding = h.GRPCEncoding
	}
	st.hessian = st.hessian || h.IsHessian()
	if int8(s.number) != c.client {
		if !st.sure && !st.halves[1-s.number].headed && h.Typed && !half.prefixed() { // the request is not in the capture
			c.usePlain(st, int(s.number))
		}
		return
	}
	switch st.use, st.sure = triple.GRPC, h.Sure; {
	case h.Use == triple.Triple && !h.Typed && !h.Unresolved: // REST without a body: calls of gRPC have a content type
		st.use = triple.Plain
	case h.Sure:
		c.use, c.used = h.Use, true
		if st.use = h.Use; st.use != triple.Plain {
			c.grpc = st.use
		}
	case half.framing == framingGRPC && h.Typed:
		st.use = c.grpc
	case c.used:
		st.use = c.use
	}
	st.op = c.bodies.Operation(h)
}

// usePlain notes that a stream is not one of gRPC, since what a side has sent in it tells so. So are later streams of which nothing tells, if the
// capture has nothing of the other side.
func (c *conn) usePlain(st *stream, side int) {
	st.use = triple.Plain
	if !c.used && c.sides[1-side].pos == 0 {
		c.use, c.used = triple.Plain, true
	}
}
