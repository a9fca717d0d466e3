package assemble

// Bytes that the snap length cut were captured if a copy of them was cut elsewhere, or not at all: the sender repeats them
// in other segments, or another capture of the same packets has a larger snap length. So a cut packet is held like data
// after a hole, and copies fill it.
//
// The sender repeats nothing that was acknowledged, so the wait ends with the acknowledgement: the rest becomes a gap at
// once. If files or interfaces were captured side by side the other copy may come later, because clocks differ; then the
// wait also needs that copy to have come. Neither takes longer than [Config].GapTime or GapPackets, and the memory for held
// data is limited. Captures without cut packets are not affected.

// awaitsCopy reports whether a copy may still bring bytes of a piece that the snap length cut.
func (a *Assembler) awaitsCopy(d *side, p *piece) bool {
	if len(p.data) == p.n || p.final {
		return false
	}
	return !d.ackSeen || after(p.end(), d.acked) || a.files.apart() && !p.copied
}

// fillCut adds the captured bytes b, which are at offset at of piece k and end after its captured ones, to a pile. It
// returns how many pieces were added after piece k: the captured bytes of a piece are its first ones, so bytes that do not
// follow them begin another piece.
func (a *Assembler) fillCut(l *pile, k, at int, b []byte) (added int) {
	p := l.pieces[k]
	before := p.cost()
	if at <= len(p.data) {
		p.data = append(p.data, b[len(p.data)-at:]...)
	} else {
		q := a.buffers.piece(b)
		q.seq, q.n, q.meta, q.ack, q.acks, q.packet, q.copied = p.seq+uint32(at), p.n-at, p.meta, p.ack, p.acks, p.packet, p.copied
		q.meta.Overhead = 0
		p.n, p.copied = at, true
		l.insert(k+1, q)
		a.heldAll += q.cost()
		added = 1
	}
	l.cost += p.cost() - before
	a.heldAll += p.cost() - before
	return added
}
