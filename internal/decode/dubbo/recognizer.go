package dubbo

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// Recognizer judges bytes where no frame end and no start of the stream says that a header stands there: after a gap,
// after stray bytes, in a connection joined midway. At a known place the magic and a length of 0 or more suffice. It may be
// used concurrently.
type Recognizer struct {
	byID [32][]*decode.Format
	// requests accept the start of a request, each of another serialization.
	requests []func(b []byte) bool
	// emptyEvents has a bit for each serialization id whose heartbeats may be empty; ids that are not known have it, too.
	emptyEvents uint32
}

// NewRecognizer returns a recognizer of frames with bodies of the given serializations. Headers with other ids are legal, too:
// a user's own serialization may have any id.
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

// legal reports whether a header can be one: no status on a request, a known status and no two-way bit on a response, a
// short event, a length up to maxBody.
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

// knows reports whether a format has the header's serialization id.
func (c *Recognizer) knows(h *Header) bool { return len(c.byID[h.SerializationID()]) > 0 }

// startLen is how many bytes of a body startsLike is given.
const startLen = decode.StartLen

// startsLike reports whether a body can start with b (its first startLen bytes, or all of it), given its header. A
// request starts with Dubbo's version ("2.0.2", "2.5.3") in the encoding of the serialization, a response of status OK with
// a result kind from 0 to 5.
func (c *Recognizer) startsLike(h *Header, b []byte) bool {
	switch {
	case h.Event():
		return true // judged by its length
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

// starts reports whether the first bytes of a body, given its header, are as s says.
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

// startsOther reports whether a request's body starts as that of any serialization: the header may name the wrong one, and how
// a user's own starts is not known.
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

// startsSurely is startsLike, but the version of a request must have at least five digits and dots.
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

// MayBegin reports whether b, bytes of a stream, may begin a frame, as far as its header and the first bytes of its body tell;
// n is how many bytes these are. A connection with such bytes is counted as Dubbo's even if no frame in it is accepted
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

// nestedLen is how many bytes of a frame inside a body are judged: its header, and how its body starts.
const nestedLen = HeaderLen + startLen

// holdsFrame reports whether b, bytes of a body, has the beginning of a frame inside that could be one of this direction's. id
// is that of the frame with this body.
func (c *Recognizer) holdsFrame(b []byte, id int64) bool {
	for {
		i := bytes.Index(b, magic)
		if i < 0 || len(b)-i < nestedLen {
			return false
		}
		b = b[i:]
		if b[12] == 0 && flagsFit(b) { // bodies that are not too long
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

// flagsFit is a first, quick look at four bytes that begin with the magic: without it no header there is legal.
func flagsFit(b []byte) bool {
	return (b[3] == 0) == (b[2]&flagRequest != 0)
}
