package http2

import (
	"slices"

	"dubbo-wire/internal/rpc"
)

// A redacted copy of a connection is read as the original if the headers of all frames stay, with what else tells how to read on.
// Here are the places of what rows own, and the bytes without a row: see [rpc.Env].Framing.

// stays returns the number of payload bytes that a frame without a row keeps in a copy.
func (h *frameHeader) stays() int {
	switch h.kind {
	case typeSettings, typeWindowUpdate, typePriority, typeReset, typePing:
		return h.length
	case typeGoAway: // the debug data follow
		return 8
	}
	return 0
}

// place adds a piece to the places of a row.
func (r *row) place(p rpc.Piece) {
	r.keepHead()
	if k := len(r.places) - 1; k >= 0 {
		last := &r.places[k]
		if last.Body == p.Body && last.From+int64(last.Len) == p.From && last.Off+last.Len == p.Off {
			last.Len += p.Len
			return
		}
	}
	r.places = append(r.places, p)
}

// placeHead says that the last n bytes of the row's head come from a place of the stream.
func (s *side) placeHead(r *row, from int64, n int) {
	if s.conn.env.Framing {
		r.place(rpc.Piece{From: from, Off: r.headLen() - n, Len: n})
	}
}

// placePrefix says where the prefix comes from that ends the row's head. Headers of frames may lie between its bytes.
func (s *side) placePrefix(r *row) {
	if !s.conn.env.Framing {
		return
	}
	for i, at := range r.prefixAt {
		r.place(rpc.Piece{From: at, Off: r.headLen() - prefixLen + i, Len: 1})
	}
}

// placeBody says where the next n bytes of the row's body come from.
func (r *row) placeBody(from int64, n int) {
	if n > 0 && !r.lossy() {
		r.place(rpc.Piece{From: from, Off: r.captured, Len: n, Body: true})
	}
}

// pieces returns the places of the row's head and of the first n bytes of its body in the order of the stream.
func (r *row) pieces(n int) []rpc.Piece {
	r.keepHead()
	kept := r.places[:0]
	for _, p := range r.places {
		if p.Body {
			p.Len = min(p.Len, n-p.Off)
		}
		if p.Len > 0 {
			kept = append(kept, p)
		}
	}
	slices.SortStableFunc(kept, func(a, b rpc.Piece) int { return int(a.From - b.From) })
	r.places = kept
	return kept
}

// framing passes on the head of a row as bytes of no message.
func (c *conn) framing(side int, r *row) {
	if c.env.Framing && !c.http1.undecided() {
		c.passFraming(side, r)
	}
}

func (c *conn) passFraming(side int, r *row) {
	r.keepHead()
	m := &r.m
	m.Protocol, m.Native = HTTP, &r.native
	m.Head, m.Headers, m.Body, m.Pieces = r.head, r.fields, nil, r.pieces(0)
	c.owner.Framing(side, m)
}

// held returns how many bytes of a frame that has no end stay in a copy: its header, or all of the preface.
func (s *side) held() int {
	if s.state == atStart {
		return len(s.buf)
	}
	return min(len(s.buf), frameHeaderLen)
}

// keepFrame passes on bytes of no message, which start at s.from: the first n stay in a copy.
func (s *side) keepFrame(n int, parts ...[]byte) {
	c := s.conn
	if !c.env.Framing {
		return
	}
	r := &c.kept
	*r = row{keptHead: r.emptied()}
	r.keepHead()
	other := pieceOther
	if c.http1.stays() {
		other = pieceSkipped
	}
	for _, b := range parts {
		k := max(0, min(len(b), n-len(r.head)))
		r.header(pieceFrame, k, b[:k])
		r.header(other, len(b)-k, b[k:])
	}
	s.placeHead(r, s.from, len(r.head))
	c.framing(int(s.number), r)
}

// keepBadHeader passes on the bytes in the place of a frame header that is not valid. It is not valid in a copy either.
func (s *side) keepBadHeader(b []byte) {
	c := s.conn
	if !c.env.Framing {
		return
	}
	r := &c.kept
	*r = row{keptHead: r.emptied()}
	r.header(pieceBad, len(b), b)
	s.placeHead(r, s.from, len(b))
	c.framing(int(s.number), r)
}

// keepOrphan passes on a header block without a row.
func (s *side) keepOrphan() {
	if r := s.orphan; r != nil {
		s.orphan = nil
		s.conn.framing(int(s.number), r)
		s.conn.freeRow(r)
	}
}
