package dubbo

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// Recognizer judges bytes at a place where the stream does not say that a header begins: after a gap, after stray bytes, in a
// connection joined midway. At the start of a stream or after a frame, the magic and a length of 0 or more are enough. It may
// be used concurrently.
type Recognizer struct {
	byID [32][]*decode.Format
	// requests has one function per serialization that accepts the start of a request.
	requests []func(b []byte) bool
	// emptyEvents has a bit for each serialization id whose heartbeats may be empty. It is also set for unknown ids.
	emptyEvents uint32
}

// NewRecognizer returns a recognizer for frames with bodies in the given serializations. Headers with other ids are legal,
// too, because a user's own serialization may have any id.
func NewRecognizer(formats []decode.Format) *Recognizer {
	c := &Recognizer{}
	for i := range formats {
		f := &formats[i]
		c.byID[f.ID&maskID] = append(c.byID[f.ID&maskID], f)
		if f.EmptyHeartbeats {
			c.emptyEvents |= 1 << (f.ID & maskID)
		}
		if f.Starts.Request != nil {
			c.requests = append(c.requests, f.Starts.Request)
		}
	}
	for id, known := range c.byID {
		if len(known) == 0 {
			c.emptyEvents |= 1 << id
		}
	}
	return c
}

// legal reports whether h can be the header of a frame. A request has no status. A response has a known status and no two-way
// bit. An event is short, and no body is longer than maxBody.
func (c *Recognizer) legal(h *Header, maxBody int) bool {
	if h.BodyLen < 0 || h.BodyLen > maxBody {
		return false
	}
	if h.Event() && (h.BodyLen > 256 || h.BodyLen == 0 && c.emptyEvents&(1<<h.SerializationID()) == 0) {
		return false
	}
	if h.Request() {
		return h.Status == 0
	}
	if h.Flags&flagTwoWay != 0 || StatusText(h.Status) == "" {
		return false
	}
	return !h.Event() || h.Status == StatusOK
}

// knows reports whether a format has the serialization id of the header.
func (c *Recognizer) knows(h *Header) bool { return len(c.byID[h.SerializationID()]) > 0 }

// startLen is the number of bytes of a body that startsLike examines.
const startLen = decode.StartLen

// startsLike reports whether a body with header h can start with b, its first startLen bytes or all of a shorter body. A
// request starts with Dubbo's version ("2.0.2", "2.5.3") in the encoding of the serialization. A response of status OK starts
// with a result kind from 0 to 5.
func (c *Recognizer) startsLike(h *Header, b []byte) bool {
	switch {
	case h.Event():
		return true // only its length is checked
	case len(b) == 0:
		return false // only events may be empty
	}
	formats := c.byID[h.SerializationID()]
	for _, f := range formats {
		if starts(&f.Starts, h, b) {
			return true
		}
	}
	return len(formats) == 0 && starts(new(decode.Starts), h, b)
}

// starts reports whether the first bytes of a body with header h match s.
func starts(s *decode.Starts, h *Header, b []byte) bool {
	switch {
	case h.Request():
		return s.Request == nil || s.Request(b)
	case h.Status == StatusOK:
		return s.Result == nil || s.Result(b)
	case s.Text == nil:
		return decode.MostlyPrintable(b)
	}
	return s.Text(b)
}

// startsOther reports whether a request's body starts like that of any serialization. The header may name the wrong one, and
// the start of a user's own serialization is unknown.
func (c *Recognizer) startsOther(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for _, starts := range c.requests {
		if starts(b) {
			return true
		}
	}
	return false
}

// startsSurely is a stricter startsLike: the version of a request must have at least five digits and dots.
func (c *Recognizer) startsSurely(h *Header, b []byte) bool {
	if !c.startsLike(h, b) {
		return false
	}
	row := 0
	for _, c := range b {
		if c &= 0x7f; c == '.' || c >= '0' && c <= '9' {
			row++
		} else {
			row = 0
		}
		if row == 5 {
			return true
		}
	}
	return !h.Request()
}

// MayBegin reports whether a frame may begin at b, judged by its header and the first bytes of its body; n is the number of
// bytes that were judged. A connection with such bytes counts as a Dubbo connection even if no frame in it is accepted
// ([Framer.Met]).
func (c *Recognizer) MayBegin(b []byte) (n int, may bool) {
	if len(b) < HeaderLen || !isMagic(b) {
		return 0, false
	}
	h := parseHeader(b)
	if !c.legal(&h, 8<<20) {
		return 0, false
	}
	n = HeaderLen + min(startLen, h.BodyLen)
	if len(b) < n {
		return 0, false
	}
	start := b[HeaderLen:n]
	switch {
	case h.Event():
		return n, true
	case len(start) == 0:
		return 0, false
	case c.knows(&h) && c.startsLike(&h, start), h.Request() && c.startsOther(start):
		return n, true
	}
	return 0, false
}

// nestedLen is the number of bytes that are judged of a frame inside a body: its header and the start of its body.
const nestedLen = HeaderLen + startLen

// holdsFrame reports whether b, a part of a body, contains the beginning of a frame that could belong to this direction. id
// is the id of the frame with that body.
func (c *Recognizer) holdsFrame(b []byte, id int64) bool {
	for {
		i := bytes.Index(b, magic)
		if i < 0 || len(b)-i < nestedLen {
			return false
		}
		b = b[i:]
		if b[12] == 0 && flagsFit(b) { // the body is not too long
			h := parseHeader(b)
			if c.legal(&h, 8<<20) && !h.Event() && h.BodyLen >= startLen && nearIDs(h.ID, id) && c.startsSurely(&h, b[HeaderLen:nestedLen]) {
				return true
			}
		}
		b = b[2:]
		for len(b) >= nestedLen && b[0] == magic[0] && b[1] == magic[1] && (b[12] != 0 || !flagsFit(b)) {
			b = b[2:] // the magic again and again
		}
	}
}

// flagsFit is a quick first check of four bytes that begin with the magic. If it fails, legal fails, too.
func flagsFit(b []byte) bool {
	return (b[3] == 0) == (b[2]&flagRequest != 0)
}
