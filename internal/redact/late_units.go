package redact

import "slices"

// lateUnit is a unit that was written before all of its claims were known, without pointers: of many connections with long messages there
// are hundreds of thousands.
type lateUnit struct {
	at               int64 // of its packet in the file
	seq              uint32
	n                int32 // bytes of its packet
	from, to         int32 // its payload
	openFrom, openTo int32 // its first part that is filler; equal if all bytes are replaced
	layers           [len(unit{}.few)]layer
	next             int32 // of its direction, 0 after the last one
	whole            bool  // it is one of lateUnits.whole
}

// lateUnits are the late units of all directions. The zero value is ready.
type lateUnits struct {
	chunks [][]lateUnit
	free   int32 // the first one that is not used
	used   int
	// whole has those that do not fit into a lateUnit: with several open parts, or of fragments.
	whole map[int32]*unit
	// The unit that at returned last, and the bytes of its packet.
	unit unit
	data []byte
}

const (
	// maxLate bounds the packets that may be written again.
	maxLate   = 1 << 18
	lateChunk = 1 << 10
)

// at returns a unit by its number, which is not 0.
func (l *lateUnits) at(i int32) *lateUnit { return &l.chunks[i/lateChunk][i%lateChunk] }

// take returns the number of a unit that is not used.
func (l *lateUnits) take() int32 {
	if l.free == 0 {
		first := int32(len(l.chunks) * lateChunk)
		c := make([]lateUnit, lateChunk)
		for k := range c {
			c[k].next = first + int32(k) + 1
		}
		c[lateChunk-1].next = 0
		l.chunks = append(l.chunks, c)
		l.free = max(first, 1)
	}
	i := l.free
	l.free = l.at(i).next
	l.used++
	return i
}

// drop says that a unit is not needed any more. It returns the next one of its direction.
func (l *lateUnits) drop(i int32) (next int32) {
	x := l.at(i)
	next = x.next
	if x.whole {
		delete(l.whole, i)
	}
	*x = lateUnit{next: l.free}
	l.free = i
	l.used--
	return next
}

// get returns unit i of a direction, which is valid until get is called again. Without fragments its data is as long as its packet.
func (l *lateUnits) get(i int32, d *direction) *unit {
	x, u := l.at(i), &l.unit
	if x.whole {
		u = l.whole[i]
	} else {
		*u = unit{dir: d, seq: x.seq, from: int(x.from), to: int(x.to), few: x.layers, done: true}
		u.open, u.layers = u.one[:0], u.few[:]
		if x.openFrom < x.openTo {
			u.open = append(u.open, span{int(x.openFrom), int(x.openTo)})
		}
	}
	if u.pieces == nil {
		l.data = slices.Grow(l.data[:0], int(x.n))[:x.n]
		u.data = l.data
	}
	return u
}

// put keeps what a unit is now. Layers after the last one are zero.
func (l *lateUnits) put(i int32, u *unit) {
	x := l.at(i)
	x.openFrom, x.openTo = 0, 0
	if len(u.open) > 0 {
		x.openFrom, x.openTo = int32(u.open[0].from), int32(u.open[0].to)
	}
	switch {
	case x.whole:
	case u.pieces == nil && len(u.open) <= 1 && len(u.layers) <= len(x.layers):
		copy(x.layers[:], u.layers)
		return
	default:
		x.whole = true
		if u.pieces == nil { // the memory of u is needed for other packets
			own := *u
			u = &own
			u.open, u.layers, u.rec = slices.Clone(u.open), slices.Clone(u.layers), nil
		}
		if l.whole == nil {
			l.whole = make(map[int32]*unit)
		}
		l.whole[i] = u
	}
	if u.pieces == nil {
		u.data = nil
	}
}

// addLate adds a unit that was written to those of its direction.
func (r *Redactor) addLate(u *unit, rec *record) {
	d, i := u.dir, r.late.take()
	*r.late.at(i) = lateUnit{at: rec.at, seq: u.seq, n: int32(rec.n), from: int32(u.from), to: int32(u.to)}
	r.late.put(i, u)
	if d.firstLate == 0 {
		d.firstLate = i
	} else {
		r.late.at(d.lastLate).next = i
	}
	d.lastLate = i
	d.lateTo = max(d.lateTo, d.placeOf(u.seq)+int64(u.to-u.from))
}

// settle forgets the late units of d that no claim will change.
func (r *Redactor) settle(d *direction) {
	first := d.firstLate
	for d.firstLate != 0 {
		x := r.late.at(d.firstLate)
		if x.openFrom < x.openTo && d.placeOf(x.seq)+int64(x.to-x.from) > d.decided {
			break
		}
		d.firstLate = r.late.drop(d.firstLate)
	}
	if d.firstLate != first {
		r.forget(d)
	}
}

// rewrite applies a claim to packets that were already written.
func (r *Redactor) rewrite(d *direction, c *claim) {
	if c.from >= d.lateTo {
		return
	}
	for i := d.firstLate; i != 0; i = r.late.at(i).next {
		x := r.late.at(i)
		if start := d.placeOf(x.seq); start >= c.to || start+int64(x.to-x.from) <= c.from {
			continue
		}
		u := r.late.get(i, d)
		if u.pieces == nil {
			r.out.read(u.data, x.at)
		}
		for _, o := range u.open {
			r.filled -= int64(o.to - o.from)
		}
		r.spans = append(r.spans[:0], u.open...)
		u.open = r.apply(d, u, r.spans, u.open[:0])
		for _, o := range u.open {
			r.filled += int64(o.to - o.from)
		}
		r.sumUnit(u, true)
		if u.pieces == nil {
			r.out.rewrite(u.data, x.at)
		} else {
			r.writeParts(u)
		}
		r.late.put(i, u)
	}
}
