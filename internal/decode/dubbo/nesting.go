package dubbo

// nesting says whether bodies of a direction contain frames, as captured traffic that is sent as an argument does. If they
// do, a search cannot trust bytes that look like a frame. Only some bodies are inspected, and only their first maxInspected
// bytes. The result does not depend on how a body is split into deliveries.
type nesting uint8

const (
	nestingUnknown nesting = iota // no body was inspected yet
	notNesting                    // a body was inspected and contains no frame
	nests                         // a body contains frames; this state is final
)

// maxInspected is the number of bytes of a body that are inspected.
const maxInspected = 4 << 10

// firstInspected is the number of bodies that are inspected at the start of a direction: connections may be short.
const firstInspected = 16

// bodyTail is the end of the inspected bytes of a body, where a frame may begin.
type bodyTail struct {
	n int
	b [2 * nestedLen]byte
}

// mayNest reports whether bodies of this direction contain frames or may contain them.
func (r *resynchronizer) mayNest() bool { return r.nesting != notNesting }

// beginBody decides whether the body of the next frame is inspected.
func (r *resynchronizer) beginBody() {
	if r.frames++; r.frames == 0 {
		r.frames = 0xf0 // the first bodies come once
	}
	r.inspecting = r.nesting != nests &&
		(r.nesting == nestingUnknown || r.frames <= firstInspected || r.frames&0xf == 0 || r.lossy && r.frames&3 == 0)
}

// inspectWhole inspects a contiguous body. id is the id of its frame.
func (r *resynchronizer) inspectWhole(body []byte, id int64) {
	if r.framer.cfg.Recognizer.holdsFrame(body[:min(len(body), maxInspected)], id) {
		r.nesting = nests
	}
}

// inspect inspects the next bytes of the body that is being read.
func (r *resynchronizer) inspect(b []byte) {
	if r.nesting == nests {
		return
	}
	// Stop at maxInspected, wherever deliveries end.
	if b = b[:max(0, min(len(b), maxInspected-(r.framer.frame.BodyLen-int(r.framer.left))))]; len(b) == 0 {
		return
	}
	id, c := r.framer.frame.ID, r.framer.cfg.Recognizer
	t := r.framer.frame.tail
	if t == nil {
		t = r.framer.cfg.Buffers.getTail()
		r.framer.frame.tail = t
	}
	// A frame may begin in the bytes before and continue in these.
	seam := append(t.b[:t.n], b[:min(len(b), nestedLen-1)]...)
	if c.holdsFrame(seam, id) || c.holdsFrame(b, id) {
		r.nesting = nests
	}
	if len(b) < nestedLen-1 {
		b = seam
	}
	t.n = copy(t.b[:], b[max(0, len(b)-nestedLen+1):])
}

// cutTail drops the end of the inspected bytes, because a gap follows.
func (f *Frame) cutTail() {
	if f.tail != nil {
		f.tail.n = 0
	}
}

// endBody records a frame at the end of its body.
func (r *resynchronizer) endBody(f *Frame) {
	r.ids[requestBit(&f.Header)].add(f.ID)
	if r.inspecting && r.nesting == nestingUnknown && !f.Event() && f.MissingAt >= min(f.BodyLen, maxInspected) {
		r.nesting = notNesting
	}
	r.longest = max(r.longest, int32(f.BodyLen))
}

// dropTail releases the memory of the inspection.
func (f *Frame) dropTail(to *Buffers) {
	if f.tail != nil {
		to.putTail(f.tail)
		f.tail = nil
	}
}
