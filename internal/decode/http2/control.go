package http2

import (
	"encoding/binary"
	"math"

	"golang.org/x/net/http2"
)

// frame reads a frame that is not DATA. Long payloads are cut; the rest follows through payload.
func (s *side) frame(b, head []byte) {
	h := &s.h
	s.row = nil
	if s.inBlock && (h.kind != typeContinuation || h.stream != s.blockStream) {
		s.abandonBlock() // RFC 9113 allows no other frame here
	}
	switch h.kind {
	case typeHeaders, typeContinuation, typePromise:
		s.headers(b, head)
		return
	case typeSettings:
		s.settings(b)
	case typeWindowUpdate:
		s.windowUpdate(b)
	case typeReset:
		if st := s.conn.find(h.stream); st != nil {
			code := binary.BigEndian.Uint32(b)
			s.conn.reset(st, http2.ErrCode(code).String(), code == 0)
		} else {
			s.conn.remember(h.stream) // its other frames are in a gap
		}
	case typeGoAway:
		s.goAway(b)
	}
	s.unown(int64(len(head)+len(b)), h.name())
	s.keepFrame(frameHeaderLen+min(h.stays(), len(b)), head, b)
}

// settings reads SETTINGS, which bind the other side.
func (s *side) settings(b []byte) {
	other := &s.conn.sides[1-s.number]
	for ; len(b) >= 6; b = b[6:] {
		v := binary.BigEndian.Uint32(b[2:])
		switch http2.SettingID(binary.BigEndian.Uint16(b)) {
		case http2.SettingHeaderTableSize:
			// A smaller table is in force only after the acknowledgement: the larger limit is right for both.
			other.tableLimit = max(other.tableLimit, v)
		case http2.SettingMaxFrameSize:
			other.maxFrame = max(other.maxFrame, int32(min(v, maxFrame)))
		case http2.SettingInitialWindowSize:
			other.initialWindow = int64(v)
		}
	}
}

// peerSeen reports whether the capture has bytes of the other side. What a side may do is in the other one's SETTINGS.
func (s *side) peerSeen() bool { return s.conn.sides[1-s.number].pos > 0 }

// largestTable returns the largest size that the other side may allow the table of header fields, in bytes.
func (s *side) largestTable() uint32 {
	if !s.peerSeen() {
		return math.MaxUint32
	}
	return s.tableLimit
}

// windowUpdate lets the other side send more.
func (s *side) windowUpdate(b []byte) {
	n := int64(binary.BigEndian.Uint32(b) &^ (1 << 31))
	other := &s.conn.sides[1-s.number]
	if s.h.stream == 0 {
		other.window += n
	} else if st := s.conn.find(s.h.stream); st != nil {
		st.halves[other.number].window += n
	}
}

// spend takes the bytes of a DATA frame from the windows.
func (s *side) spend(st *stream) {
	if !s.windowsKnown {
		return
	}
	n := int64(s.h.length)
	h := &st.halves[s.number]
	if h.blocked != 0 {
		if h.row != nil && s.chunk.Time > h.blocked {
			h.row.m.Stalled += s.chunk.Time - h.blocked
		}
		h.blocked = 0
	}
	s.window -= n
	h.window -= n
}

// noteBlocked notes that a window is used up within a message, at the end of a DATA frame.
func (s *side) noteBlocked(h *half) {
	if r := h.row; s.windowsKnown && s.peerSeen() && (s.window <= 0 || s.initialWindow+h.window <= 0) && r != nil && (r.state == rowBody || r.state == rowPlain) {
		h.blocked = s.chunk.Time
	}
}

// goAway closes the streams that the side refuses.
func (s *side) goAway(b []byte) {
	last := binary.BigEndian.Uint32(b) &^ (1 << 31)
	code := http2.ErrCode(binary.BigEndian.Uint32(b[4:]))
	if s.conn.client < 0 || s.conn.client == int8(s.number) {
		return
	}
	for st := s.conn.newest; st != nil; {
		older := st.older
		if st.id > last && st.id&1 == 1 {
			s.conn.reset(st, "GOAWAY: "+code.String(), false)
		}
		st = older
	}
}
