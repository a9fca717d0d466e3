package assemble

import (
	"math"
	"slices"
	"sort"

	"dubbo-wire/internal/capture/queue"
)

// holding is the data of one connection that is held.
type holding struct {
	c     *Connection
	piles [2]pile
	all   queue.Link[*holding] // in Assembler.holders
	wait  queue.Link[*holding] // in Assembler.waiting
}

// pile is the held data of one side: data after a hole, data that waits for the other side, or cut data.
type pile struct {
	// pieces are sorted by seq and do not overlap. There is a hole before the first piece, or the first piece is next
	// and waits for the other side, or for a copy of what the snap length cut.
	pieces []*piece
	room   []*piece // the array of pieces, empty: for the next ones
	cost   int
	// The packet and the time when the wait started: when the hole was acknowledged, so the sender will not fill it; or
	// when data that is next came. Packet 0: not yet.
	sincePacket, sinceTime int64
}

// piece is n bytes on the wire, of which data, the first ones, were captured.
type piece struct {
	seq  uint32
	n    int
	data []byte
	meta Meta
	// retransmitted is the number of link bytes of later copies of these bytes.
	retransmitted int
	// ack is the acknowledgement of its packet, valid if acks is set; packet is the assembler's packet count when it
	// came.
	ack    uint32
	acks   bool
	packet int64
	// copied is set if another copy of its last byte was captured, final if no more copies are awaited.
	copied, final bool
}

func (p *piece) end() uint32 { return p.seq + uint32(p.n) }

// pieceCharge is the memory of a piece in bytes, without its data.
const pieceCharge = 160

// maxRoom is how many pieces a pile without any has room for.
const maxRoom = 256

func (p *piece) cost() int { return cap(p.data) + pieceCharge }

// Buffers keep the memory of released data for the data that is held next. The assemblers of one goroutine can share them: then those that
// hold much at a time use what others have released. The zero value is ready to use.
type Buffers struct {
	free     [3][]*piece // by the size of their memory
	holdings []*holding
}

// sizeClasses are sizes of that memory in bytes. The largest has room for the payload of an Ethernet packet of 1,500 bytes.
var sizeClasses = [3]int{128, 512, 1536}

// maxFree is how many pieces of each size are kept for reuse: at most 5 MB. About as many wait at once if 1 % of the packets is missing.
const maxFree = 2048

// piece returns a piece with a copy of b.
func (f *Buffers) piece(b []byte) *piece {
	for k, size := range sizeClasses {
		if len(b) > size {
			continue
		}
		free := &f.free[k]
		if n := len(*free) - 1; n >= 0 {
			p := (*free)[n]
			*free = (*free)[:n]
			p.data = append(p.data[:0], b...)
			return p
		}
		return &piece{data: append(make([]byte, 0, size), b...)}
	}
	return &piece{data: append(make([]byte, 0, len(b)), b...)}
}

func (f *Buffers) put(p *piece) {
	for k, size := range sizeClasses {
		if cap(p.data) == size && len(f.free[k]) < maxFree {
			*p = piece{data: p.data[:0]}
			f.free[k] = append(f.free[k], p)
		}
	}
}

// firstHeld returns the first held piece of a side, or nil.
func (c *Connection) firstHeld(i int) *piece {
	if c.flow.hold == nil || len(c.flow.hold.piles[i].pieces) == 0 {
		return nil
	}
	return c.flow.hold.piles[i].pieces[0]
}

// firstSide returns the side whose first held piece was captured first. At least one piece must be held.
func (c *Connection) firstSide() int {
	x, y := c.firstHeld(0), c.firstHeld(1)
	if x == nil || y != nil && y.packet < x.packet {
		return 1
	}
	return 0
}

// missesBefore reports whether bytes of this side before ack were not handed on and may still come.
func (c *Connection) missesBefore(i int, ack uint32) bool {
	d, w := &c.sides[i], &c.flow.ways[i]
	n := int32(ack - d.next)
	return n > 0 && n < maxAhead && d.started && d.seen &&
		!(d.fin && ack == d.finSeq+1 && n == 1) && !(w.hasUnawaited && !after(ack, w.unawaited))
}

// holdData holds a copy of n bytes at seq that side i sent: they are after a hole, or they came before what they
// acknowledge. Parts that are held already count as retransmitted.
func (a *Assembler) holdData(c *Connection, i int, seq uint32, n int, b []byte) {
	if c.flow.hold == nil {
		a.newHolding(c)
	}
	h := c.flow.hold
	pile := &h.piles[i]
	end := seq + uint32(n)
	// The first held piece that ends after seq. Usually seq is after all of them.
	k := len(pile.pieces)
	if k > 0 && after(pile.pieces[k-1].end(), seq) {
		k = sort.Search(k, func(i int) bool { return after(pile.pieces[i].end(), seq) })
	}
	for seq != end {
		if k < len(pile.pieces) && !after(pile.pieces[k].seq, seq) {
			r := int(min(pile.pieces[k].end()-seq, end-seq))
			k += 1 + a.copyOf(c, i, k, seq, r, b)
			seq += uint32(r)
			b = b[min(r, len(b)):]
			continue
		}
		r := int(end - seq)
		if k < len(pile.pieces) && after(end, pile.pieces[k].seq) {
			r = int(pile.pieces[k].seq - seq)
		}
		captured := b[:min(r, len(b))]
		p := a.buffers.piece(captured)
		p.seq, p.n, p.meta, p.ack, p.acks, p.packet = seq, r, a.meta, a.seg.Ack, a.acks, a.packets
		a.Ledger.Held += int64(r)
		a.Ledger.HeldLink += int64(a.meta.Overhead)
		a.meta.Overhead, a.isNew = 0, true
		pile.insert(k, p)
		a.heldAll += p.cost()
		seq += uint32(r)
		b = b[len(captured):]
		k++
	}
	if pile.sincePacket == 0 && c.waits(i) {
		a.startWait(pile, h, a.packets, a.now)
	}
	for c.flow.hold != nil && h.piles[0].cost+h.piles[1].cost > a.cfg.MaxHeldPerConnection {
		a.abandonHole(c, c.firstSide())
	}
	for a.heldAll > a.cfg.MaxHeld {
		o := a.holders.First().c
		a.abandonHole(o, o.firstSide())
	}
}

// insert adds a piece at place k.
func (l *pile) insert(k int, p *piece) {
	if cap(l.pieces) == 0 {
		l.pieces = make([]*piece, 0, 32)
		l.room = l.pieces
	}
	before := cap(l.pieces)
	if l.pieces = slices.Insert(l.pieces, k, p); cap(l.pieces) != before {
		l.room = l.pieces[:0]
	}
	l.cost += p.cost()
}

func (a *Assembler) newHolding(c *Connection) {
	idle := &a.buffers.holdings
	if k := len(*idle) - 1; k >= 0 {
		c.flow.hold, *idle = (*idle)[k], (*idle)[:k]
	} else {
		c.flow.hold = new(holding)
		c.flow.hold.all.Of, c.flow.hold.wait.Of = c.flow.hold, c.flow.hold
	}
	c.flow.hold.c = c
	a.holders.Push(&c.flow.hold.all)
}

// freeHolding releases the connection's holding if nothing is held.
func (a *Assembler) freeHolding(c *Connection) {
	h := c.flow.hold
	if h == nil || len(h.piles[0].pieces)+len(h.piles[1].pieces) > 0 {
		return
	}
	h.all.Remove()
	h.wait.Remove()
	c.flow.hold, h.c = nil, nil
	for i := range h.piles {
		l := &h.piles[i]
		a.endWait(l)
		if cap(l.room) > maxRoom {
			l.room = nil
		}
		l.pieces = l.room
	}
	if idle := &a.buffers.holdings; len(*idle) < 1024 {
		*idle = append(*idle, h)
	}
}

// copyOf takes r bytes at seq, captured as b, that are inside held piece k, and returns how many pieces were added after it.
func (a *Assembler) copyOf(c *Connection, i, k int, seq uint32, r int, b []byte) (added int) {
	pile := &c.flow.hold.piles[i]
	p := pile.pieces[k]
	at, captured := int(seq-p.seq), b[:min(r, len(b))]
	same := equal(p.data[min(at, len(p.data)):], captured)
	a.repeated(c, i, r, !same)
	if a.kind == retransmitted {
		a.overhead()
		p.retransmitted += r + a.meta.Overhead
		a.meta.Overhead = 0
	}
	if len(p.data) < p.n {
		p.copied = p.copied || at+r == p.n && a.kind == duplicate
		if at+len(captured) > len(p.data) && same && !a.differs {
			added = a.fillCut(pile, k, at, captured)
		}
	}
	return added
}

// waits reports whether the first held piece of a side waits for something that will probably not come: the hole before
// it was acknowledged, or it waits for the other side or for a copy, or acknowledgements are not captured.
func (c *Connection) waits(i int) bool {
	d, p := &c.sides[i], c.firstHeld(i)
	return p.seq == d.next || d.ackSeen && after(d.acked, d.next) || !c.sides[1-i].seen
}

// startWait starts the wait of a pile.
func (a *Assembler) startWait(p *pile, h *holding, packet, at int64) {
	p.sincePacket, p.sinceTime = packet, at
	a.waiting.Push(&h.wait)
	a.duePacket = 0
}

// endWait ends the wait of a pile, if it has one.
func (a *Assembler) endWait(p *pile) {
	p.sincePacket = 0
	a.duePacket = 0
}

// acknowledged delivers the cut pieces of a side that were awaited until their acknowledgement, and starts the wait for
// the side's hole if the hole was acknowledged.
func (a *Assembler) acknowledged(c *Connection, i int) {
	d, pile := &c.sides[i], &c.flow.hold.piles[i]
	if p := c.firstHeld(i); p != nil && p.seq == d.next {
		if a.drain(c); c.flow.hold == nil {
			return
		}
	}
	if len(pile.pieces) > 0 && pile.sincePacket == 0 && after(d.acked, d.next) {
		a.startWait(pile, c.flow.hold, a.packets, a.now)
	}
}

// drain delivers the held pieces that now follow without a hole, do not come before what they acknowledge and await no copy.
func (a *Assembler) drain(c *Connection) {
	h := c.flow.hold
	for more := true; more; {
		more = false
		for i := range c.sides {
			d, pile := &c.sides[i], &h.piles[i]
			for len(pile.pieces) > 0 {
				if p := pile.pieces[0]; p.seq != d.next || p.acks && c.missesBefore(1-i, p.ack) || a.awaitsCopy(d, p) {
					break
				}
				a.release(c, i)
				more = true
				a.endWait(pile)
			}
		}
	}
	for i := range h.piles {
		if pile := &h.piles[i]; len(pile.pieces) > 0 && pile.sincePacket == 0 && c.waits(i) {
			// The next piece waits since it came: its hole, or what it waits for, is before it.
			p := pile.pieces[0]
			a.startWait(pile, h, p.packet, p.meta.Time)
		}
	}
	a.freeHolding(c)
}

// release delivers the first held piece of a side, which must be next.
func (a *Assembler) release(c *Connection, i int) {
	pile := &c.flow.hold.piles[i]
	p := pile.pieces[0]
	pile.pieces[0] = nil
	pile.pieces = pile.pieces[1:] // moving the rest to the front would cost more than new memory
	pile.cost -= p.cost()
	a.heldAll -= p.cost()
	a.Ledger.Held -= int64(p.n)
	a.Ledger.HeldLink -= int64(p.meta.Overhead)
	saved := a.meta
	a.meta = p.meta
	pos := c.flow.ways[i].pos
	a.deliver(c, i, p.n, p.data)
	if p.retransmitted > 0 {
		a.meta = p.meta
		a.meta.Pos, a.meta.Overhead = pos, p.retransmitted
		c.flow.ways[i].stream.Repeat(0, &a.meta)
	}
	a.meta = saved
	a.buffers.put(p)
}

// abandonHole turns the hole before side i's first held piece into a gap and delivers what follows. If that piece waits
// for the other side, the hole or missing end of the other side is abandoned instead; if it awaits a copy, that is.
func (a *Assembler) abandonHole(c *Connection, i int) {
	d, p := &c.sides[i], c.firstHeld(i)
	if other := &c.sides[1-i]; p.seq == d.next && p.acks && c.missesBefore(1-i, p.ack) {
		q := c.firstHeld(1 - i)
		if q == nil || q.seq == other.next && !a.awaitsCopy(other, q) {
			a.abandonEnd(c, 1-i, p.ack, q == nil, p.meta)
			a.drain(c)
			return
		}
		i, d, p = 1-i, other, q
	}
	if p.final = true; p.seq != d.next {
		a.gap(c, i, int64(p.seq-d.next), p.meta)
		d.next = p.seq
	}
	a.endWait(&c.flow.hold.piles[i])
	a.drain(c)
}

// abandonEnd stops waiting for the bytes of a side before ack. They become a gap only if nothing of the side is held.
func (a *Assembler) abandonEnd(c *Connection, i int, ack uint32, nothing bool, m Meta) {
	d, w := &c.sides[i], &c.flow.ways[i]
	w.unawaited, w.hasUnawaited = ack, true
	if d.fin && after(ack, d.finSeq) {
		ack = d.finSeq
	}
	if n := int32(ack - d.next); n > 1 && n <= near && nothing { // one byte may be a FIN
		a.gap(c, i, int64(n), m)
		d.next = ack
	}
}

// abandonExpired abandons the holes that were held open long enough, by connection in the order in which their waits
// started.
func (a *Assembler) abandonExpired() {
	for !a.waiting.Empty() {
		h := a.waiting.First()
		c, gaveUp := h.c, false
		for c.flow.hold != nil {
			i := 0
			if first, second := a.due(&h.piles[0]), a.due(&h.piles[1]); first && second {
				i = c.firstSide()
			} else if second {
				i = 1
			} else if !first {
				break
			}
			a.abandonHole(c, i)
			gaveUp = true
		}
		if c.flow.hold == nil {
			continue
		}
		if waits := h.piles[0].sincePacket != 0 || h.piles[1].sincePacket != 0; waits && !gaveUp {
			a.duePacket, a.dueTime = math.MaxInt64, math.MaxInt64
			for i := range h.piles {
				if p := &h.piles[i]; p.sincePacket != 0 {
					a.duePacket = min(a.duePacket, p.sincePacket+a.cfg.GapPackets)
					a.dueTime = min(a.dueTime, p.sinceTime+int64(a.cfg.GapTime))
				}
			}
			return
		}
		// Its remaining data waits for something else, or for nothing yet.
		h.wait.Remove()
		if h.piles[0].sincePacket != 0 || h.piles[1].sincePacket != 0 {
			a.waiting.Push(&h.wait)
		}
	}
}

// due reports whether the first held piece of a side has waited long enough.
func (a *Assembler) due(p *pile) bool {
	return len(p.pieces) > 0 && p.sincePacket != 0 &&
		(a.packets-p.sincePacket >= a.cfg.GapPackets || a.now-p.sinceTime >= int64(a.cfg.GapTime))
}
