package dubbo

// What follows finds out whether bodies of a direction hold frames: traffic that was captured and sent as an argument. Where
// they do, a search must not believe what looks like a frame. It looks at some bodies only, and comes to the same end
// however a body is cut into deliveries.

// maxLooked is how much of a body is looked through.
const maxLooked = 4 << 10

// doubtful reports whether it is not known yet whether bodies of this direction hold frames.
func (f *Framer) doubtful() bool { return !f.clear }

// wary reports whether bodies of this direction hold frames, or may do so.
func (f *Framer) wary() bool { return f.nested || f.doubtful() }

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
	f.nested = f.cfg.Recognizer.holdsFrame(seam, id) || f.cfg.Recognizer.holdsFrame(b, id)
	if len(b) < lookLen-1 {
		b = seam
	}
	t.n = copy(t.b[:], b[max(0, len(b)-lookLen+1):])
}
