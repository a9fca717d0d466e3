package dubbo

import "bytes"

// What follows finds out whether bodies of a direction hold frames: traffic that was captured and sent as an argument. Where
// they do, a search must not believe what looks like a frame. It looks at some bodies only, and comes to the same end
// however a body is cut into deliveries.

// maxLooked is how much of a body is looked through.
const maxLooked = 4 << 10

// doubtful reports whether it is not known yet whether bodies of this direction hold frames.
func (f *Framer) doubtful() bool { return !f.clear }

// wary reports whether bodies of this direction hold frames, or may do so.
func (f *Framer) wary() bool { return f.nested || f.doubtful() }

// lookLen is how many bytes of a frame inside a body are looked at: its header, and how its body starts.
const lookLen = HeaderLen + startLen

// tail is the end of the bytes of a body that were looked at, where a frame may begin.
type tail struct {
	n int
	b [2 * lookLen]byte
}

// look looks through the next bytes of the body that is being read.
func (f *Framer) look(b []byte) {
	if f.nested {
		return
	}
	// Only as far as maxLooked, wherever deliveries end.
	if b = b[:max(0, min(len(b), maxLooked-(f.frame.BodyLen-f.left)))]; len(b) == 0 {
		return
	}
	id := f.frame.ID
	t := f.tail
	if t == nil {
		t = f.cfg.Buffers.getTail()
		f.tail = t
	}
	// Where the bytes before meet these.
	seam := append(t.b[:t.n], b[:min(len(b), lookLen-1)]...)
	f.nested = holdsFrame(seam, id) || holdsFrame(b, id)
	if len(b) < lookLen-1 {
		b = seam
	}
	t.n = copy(t.b[:], b[max(0, len(b)-lookLen+1):])
}

// holdsFrame reports whether b, bytes of a body, has the beginning of a frame inside that could be one of this direction's. id
// is that of the frame with this body.
func holdsFrame(b []byte, id int64) bool {
	for {
		i := bytes.Index(b, magic)
		if i < 0 || len(b)-i < lookLen {
			return false
		}
		b = b[i:]
		if b[12] == 0 && flagsFit(b) { // bodies that are not too long
			h := parseHeader(b)
			if h.legal(8<<20) && !h.Event() && h.BodyLen >= startLen && nearly(h.ID, id) && h.startsSurely(b[HeaderLen:lookLen]) {
				return true
			}
		}
		b = b[2:]
		for len(b) >= lookLen && b[0] == magic[0] && b[1] == magic[1] && (b[12] != 0 || !flagsFit(b)) {
			b = b[2:] // the magic again and again
		}
	}
}

// startsSurely is startsLike, and asks for a version of at least five digits and dots of a request.
func (h *Header) startsSurely(b []byte) bool {
	if !h.startsLike(b) {
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
