package http2

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/rpc"
)

// search finds the next frame of a direction whose place is not known: after joining a connection, after a gap that hid
// frames, and after bytes that are not a frame. A place is accepted when the frames that follow it have enough marks which bytes
// of a body do not have: fixed lengths, header blocks that parse, messages that fill their DATA frame, streams that are open.
type search struct {
	buf        []byte
	from       int64 // place of buf in the stream
	deliveries rpc.HeldChunks
	at         int // the first place in buf that was not examined
	candidates []candidate
	charged    int // bytes that count as held
}

// candidate is a place where frames may begin: start is its offset in the buffer, next that of the first frame that was not
// examined, marks what was found so far.
type candidate struct{ start, next, marks int }

// Bounds of a search: bytes held, candidates whose frames reach beyond the buffer, and frames of one candidate.
const (
	maxSearched   = 256 << 10
	maxCandidates = 32
	maxChain      = 64
)

// enoughMarks accepts a place. Marks are about the binary logarithm of how improbable a frame is in other bytes. lastMarks is
// enough at the end of a stream.
const (
	enoughMarks = 60
	lastMarks   = 40
)

// find searches the next bytes.
func (s *side) find(b []byte, chunk *rpc.Chunk) {
	if len(b) == 0 {
		return
	}
	if s.search == nil {
		s.search = new(search)
	}
	q := s.search
	if len(q.buf) == 0 {
		q.from = chunk.Pos
	}
	q.deliveries = append(q.deliveries, rpc.Held{Chunk: *chunk, At: len(q.buf)})
	if s.owned && len(q.buf) == 0 {
		q.buf = b[:len(b):len(b)]
	} else {
		q.buf = append(q.buf, b...)
		s.conn.held += cap(q.buf) - q.charged
		q.charged = cap(q.buf)
	}
	s.examine(enoughMarks)
	if s.search != q {
		return
	}
	if s.conn.held > s.conn.env.MaxBuffers {
		s.skip(len(q.buf) - frameHeaderLen)
	} else if len(q.buf) > maxSearched {
		s.skip(len(q.buf) - maxSearched/2)
	}
}

// examine looks for a place to continue. If it finds one, the bytes from there on are read.
func (s *side) examine(enough int) {
	q := s.search
	start := -1
	kept := q.candidates[:0]
	for _, c := range q.candidates {
		switch verdict := s.follow(&c, enough); {
		case verdict == rpc.More:
			kept = append(kept, c)
		case verdict == rpc.Mine && start < 0:
			start = c.start
		}
	}
	q.candidates = kept
	if at := s.prefaceAt(); at >= 0 && (start < 0 || at < start) {
		start = at
	}
	for start < 0 && len(q.buf)-q.at >= frameHeaderLen {
		if !mayBegin(q.buf[q.at:]) {
			q.at++
			continue
		}
		c := candidate{start: q.at, next: q.at}
		q.at++
		switch s.follow(&c, enough) {
		case rpc.More:
			if q.candidates = append(q.candidates, c); len(q.candidates) > maxCandidates {
				least := 0 // the first one with the fewest marks
				for i := range q.candidates {
					if q.candidates[i].marks < q.candidates[least].marks {
						least = i
					}
				}
				q.candidates = append(q.candidates[:least], q.candidates[least+1:]...)
			}
		case rpc.Mine:
			start = c.start
		}
	}
	if start >= 0 {
		s.resume(start)
	}
}

// mayBegin reports whether b may start with a frame's header, as far as a glance tells.
func mayBegin(b []byte) bool { return b[3] <= typeContinuation && b[5] < 0x80 }

// follow examines the frames of a candidate as far as they are there.
func (s *side) follow(c *candidate, enough int) rpc.Verdict {
	q := s.search
	for range maxChain {
		rest := q.buf[min(c.next, len(q.buf)):]
		if len(rest) < frameHeaderLen {
			if c.next == len(q.buf) && c.marks > 0 && q.deliveryAt(c.start) {
				if c.marks+alignedMarks >= enough {
					return rpc.Mine // the frames fill what a peer wrote at once
				}
			}
			return rpc.More
		}
		h := parseFrameHeader(rest)
		marks, whole := s.marks(&h, rest[frameHeaderLen:])
		if marks < 0 {
			return rpc.NotMine
		}
		if !whole && marks == 0 {
			return rpc.More
		}
		if c.marks += marks; c.marks >= enough {
			return rpc.Mine
		}
		c.next += frameHeaderLen + h.length
	}
	return rpc.NotMine
}

// deliveryAt reports whether a delivery starts at an offset of the buffer.
func (q *search) deliveryAt(at int) bool {
	i := q.deliveries.Find(at)
	return i < len(q.deliveries) && q.deliveries[i].At == at
}

// alignedMarks are those of frames that start and end where deliveries do.
const alignedMarks = 24

// marks returns the marks of a frame of which b is the payload as far as it is there, or -1 if it cannot be a frame. whole is not set if
// more of the payload would tell more.
func (s *side) marks(h *frameHeader, b []byte) (marks int, whole bool) {
	c := s.conn
	if !s.allows(h) || h.reserved || h.kind > typeContinuation { // what the reader refuses must not be found again and again
		return -1, true
	}
	whole = len(b) >= h.length
	if whole {
		b = b[:h.length]
	}
	switch h.kind {
	case typeData:
		if h.flags&^(flagEndStream|flagPadded) != 0 {
			return -1, true
		}
		stream := c.streamMarks(h.stream, true)
		if stream < 0 {
			return -1, true
		}
		return stream + dataMarks(h, b), whole || len(b) > prefixLen
	case typeHeaders:
		if h.flags&^(flagEndStream|flagEndHeaders|flagPadded|flagPriority) != 0 || h.length == 0 {
			return -1, true
		}
		stream := c.streamMarks(h.stream, false)
		if stream < 0 {
			return -1, true
		}
		if !whole {
			if h.length > maxBlock {
				return -1, true
			}
			return 0, false
		}
		fragment, ok := fragmentOf(h, b)
		switch {
		case !ok || len(fragment) == 0:
			return -1, true
		case !h.has(flagEndHeaders):
			return stream + 4, true
		case !parses(fragment):
			return -1, true
		}
		return stream + blockMarks(fragment), true
	case typeSettings:
		if h.flags&^flagAck != 0 || h.length > 64*6 {
			return -1, true
		}
		return 36, true
	case typePing:
		if h.flags&^flagAck != 0 {
			return -1, true
		}
		return 36, true
	case typeWindowUpdate:
		if h.flags != 0 || len(b) >= 4 && (b[0] >= 0x80 || binary.BigEndian.Uint32(b) == 0) {
			return -1, true
		}
		return 30, true
	case typeReset:
		if h.flags != 0 || whole && binary.BigEndian.Uint32(b) > maxErrorCode {
			return -1, true
		}
		return 36, whole
	case typeGoAway:
		if h.flags != 0 || h.length > 1<<14 || len(b) >= 8 && binary.BigEndian.Uint32(b[4:]) > maxErrorCode {
			return -1, true
		}
		return 20, len(b) >= 8
	case typePriority:
		if h.flags != 0 {
			return -1, true
		}
		return 24, true
	}
	return 2, true
}

// maxErrorCode is the largest code of RFC 9113, section 7.
const maxErrorCode = 13

// streamMarks returns the marks of the number of a stream, or -1 if no frame can have it now.
func (c *conn) streamMarks(id uint32, data bool) int {
	switch {
	case c == nil:
		return 2
	case c.find(id) != nil:
		return 12
	case c.wasClosed(id):
		return -1
	case id > c.highest[id&1]:
		if known := c.highest[id&1] > 0; known && id-c.highest[id&1] > maxNext {
			return -1
		} else if known && !data {
			return 8
		}
		return 2
	}
	return 2
}

// dataMarks returns the marks of the payload of DATA.
func dataMarks(h *frameHeader, b []byte) int {
	n := h.length
	if h.padded() {
		if len(b) == 0 {
			return 0
		}
		n -= 1 + int(b[0])
		b = b[1:]
		if n < 0 {
			return 0
		}
	}
	switch {
	case len(b) < prefixLen || !beginsPart(b, n):
		return 0
	case prefixLen+int(binary.BigEndian.Uint32(b[1:])) == n:
		return 34
	}
	return 10
}

// blockMarks returns the marks of a header block that parses.
func blockMarks(b []byte) int {
	if len(b) > 1 && b[0]&0xe0 == 0x20 { // a size of the table precedes it
		if _, n := integer(b, 5); n > 0 {
			b = b[n:]
		}
	}
	switch {
	case len(b) == 0:
		return 4
	case b[0]&0x80 != 0 && b[0]&0x7f >= 1 && b[0]&0x7f <= 14: // a pseudo header
		return 36
	case b[0]&0x80 == 0 && b[0]&0x0f >= 1 && b[0]&0x0f <= 8 && b[0]&0x30 == 0:
		return 34 // a pseudo header with a value of its own
	case len(b) == 1:
		return 14
	}
	return 24
}

// resume reads on from an offset of the buffer; the bytes before it are skipped.
func (s *side) resume(start int) {
	q := s.search
	skipped := int64(start)
	s.overhead = 0
	s.unown(skipped, "")
	buf, deliveries := q.buf[start:], q.deliveries.Drop(start, len(q.buf))
	s.conn.held -= q.charged
	s.search = nil
	s.state, s.resync = atFrame, true
	if bytes.HasPrefix(buf, []byte(http2.ClientPreface)) {
		s.state, s.table = atStart, newTable(false)
	}
	s.conn.accept()
	wasOwned := s.owned
	s.owned = true // buf is not used again
	for i := range deliveries {
		chunk := deliveries[i].Chunk
		b := buf[deliveries[i].At:deliveries.End(i, len(buf))]
		if s.state == searching {
			s.find(b, &chunk)
		} else {
			s.read(b, &chunk)
		}
	}
	s.owned = wasOwned
	s.conn.settle()
}

// skip gives up the first n bytes of the buffer.
func (s *side) skip(n int) {
	q := s.search
	if n <= 0 {
		return
	}
	n = min(n, len(q.buf))
	s.unown(int64(n), "")
	if n == len(q.buf) {
		s.conn.held -= q.charged
		s.search = nil
		return
	}
	q.buf = q.buf[:copy(q.buf, q.buf[n:])]
	q.from += int64(n)
	q.at = max(0, q.at-n)
	kept := q.candidates[:0]
	for _, c := range q.candidates {
		if c.start >= n {
			kept = append(kept, candidate{c.start - n, c.next - n, c.marks})
		}
	}
	q.candidates = kept
	q.deliveries = q.deliveries.Drop(n, n+len(q.buf))
}

// endSearch decides at the end of the stream, or at a gap.
func (s *side) endSearch() {
	if s.search == nil {
		return
	}
	s.search.at = 0
	s.search.candidates = s.search.candidates[:0]
	s.examine(lastMarks)
	if s.search != nil {
		s.skip(len(s.search.buf))
	}
}

// Found reports whether b, bytes from anywhere in a direction of a connection, certainly has frames of HTTP/2, or begins with a client's
// preface.
func Found(b []byte) bool {
	if sniff(b) == rpc.Mine {
		return true
	}
	var s *side
	for at := 0; len(b)-at >= frameHeaderLen && at < maxFound; at++ {
		room := len(b) - at - frameHeaderLen
		if room < 1<<16 { // the length of a frame that ends in b begins with 0
			n := bytes.IndexByte(b[at:len(b)-frameHeaderLen+1], 0)
			if n < 0 || at+n >= maxFound {
				return false
			}
			at, room = at+n, room-n
		}
		// No frame alone has enough marks, so another one must follow, or b must end with it.
		if h := parseFrameHeader(b[at:]); h.length > room || !mayBegin(b[at:]) || !h.valid() {
			continue
		}
		if s == nil {
			s = &side{maxFrame: maxFrame, search: &search{buf: b, deliveries: rpc.HeldChunks{{}}}}
		}
		if s.follow(&candidate{start: at, next: at}, enoughMarks) == rpc.Mine {
			return true
		}
	}
	return false
}

// maxFound bounds the bytes that Found examines.
const maxFound = 4 << 10
