package decode

import (
	"slices"
	"sort"
)

// Pieces are bytes of a body that belong together and do not follow each other: the content of chunks.
type Pieces struct {
	// Bytes are all of them. They are not the body's: what is kept of them must be copied.
	Bytes []byte
	// Complete says that the body has them all.
	Complete bool
	// End is the offset in the buffer that they come from after the last of them.
	End   int
	parts []piece
	begin int // the first part that was added since Begin
}

// piece is where a part of Pieces comes from: its offset in Bytes, and in the buffer that of its first byte and of what stands before it.
// free: what stands before it is not within a value.
type piece struct {
	at, off, head int
	free          bool
}

// Reset empties p and keeps its memory.
func (p *Pieces) Reset() {
	if cap(p.Bytes) > 1<<16 {
		p.Bytes = nil // one giant body must not keep its memory
	}
	p.Bytes, p.parts = p.Bytes[:0], p.parts[:0]
	p.Begin()
}

// Begin makes the parts that are added next those that are read next. Offsets in Bytes do not change.
func (p *Pieces) Begin() { p.begin, p.Complete, p.End = len(p.parts), false, 0 }

// Add adds b, which stands at offset off of the buffer. What stands before it, from offset head on, separates it from the part before.
func (p *Pieces) Add(b []byte, off, head int) {
	p.parts = append(p.parts, piece{at: len(p.Bytes), off: off, head: head})
	p.Bytes = append(p.Bytes, b...)
}

// offset returns where an offset in Bytes is in the buffer. Where two parts meet it is the end of the first.
func (p *Pieces) offset(at int) int {
	parts := p.parts[p.begin:]
	k := sort.Search(len(parts), func(i int) bool { return parts[i].at >= at })
	part := &parts[max(k-1, 0)]
	return part.off + at - part.at
}

// Within is the state that a Recorder returns to after it has read something else.
type Within struct {
	buf   []byte
	short Cause
	nodes int
}

// ReadWithin makes r read the next n bytes as if they were all; nothing that was read may be left without a node. EndWithin ends that.
func (r *Recorder) ReadWithin(n int) Within {
	w := Within{buf: r.Buf, short: r.Short}
	r.Buf, r.Short = r.Buf[:r.Off+n], Malformed
	return w
}

// ReadPieces makes r read the parts of p that were added since Begin as if they were the body; nothing that was read may be left without a node. EndPieces ends that.
func (r *Recorder) ReadPieces(p *Pieces) Within {
	w := Within{buf: r.Buf, short: r.Short, nodes: max(r.NextNode(), 0)}
	r.Buf, r.Off = p.Bytes, p.parts[p.begin].at
	r.owned = r.Off
	if p.Complete {
		r.Short = Malformed
	}
	return w
}

// EndWithin ends what ReadWithin began.
func (r *Recorder) EndWithin(w Within) { r.Buf, r.Short = w.buf, w.short }

// EndPieces ends what ReadPieces began: nodes and an error get their offsets in the body. What separates the parts becomes overhead
// named role; if it stands in the middle of a value it belongs to that.
func (r *Recorder) EndPieces(w Within, p *Pieces, role string) {
	r.Buf, r.Short = w.buf, w.short
	if !r.OK() {
		r.err.At = p.offset(r.err.At)
	}
	r.Off, r.owned = p.offset(r.Off), p.offset(r.owned)
	if r.Tree == nil {
		r.NeedTree()
		return
	}
	between := p.parts[p.begin+1:]
	for i := w.nodes; i < len(r.Tree.Nodes); i++ {
		n := &r.Tree.Nodes[i]
		at, end := int(n.Off), int(n.Off+n.Len)
		n.Off = int32(p.offset(at))
		if n.Len == 0 {
			continue
		}
		n.Len = int32(p.offset(end)) - n.Off
		if k, found := slices.BinarySearchFunc(between, at, func(x piece, at int) int { return x.at - at }); found && r.OK() {
			between[k].free = true
			skipped := int32(between[k].off - between[k].head)
			n.Off, n.Len = n.Off+skipped, n.Len-skipped
		}
	}
	for _, x := range between {
		if x.free {
			r.LeafAt(Overhead, ByRole, role, 0, x.head, x.off)
		}
	}
}
