package pipeline

import "dubbo-wire/internal/call"

// window keeps messages after they were complete, because bytes of them may be sent again: the last of each direction,
// and of all directions of a lane no more than a fixed number, so that many connections need no more memory than few.
type window struct {
	places []place // a ring, by turn
	turn   uint64
}

// place is what came in at a turn. It may have left since.
type place struct {
	d    *direction
	turn uint64
}

const (
	keptOfDirection = 8
	keptOfLane      = 1 << 9
)

// add takes a message of which the caller has one hold.
func (w *window) add(d *direction, m *call.Message) {
	if d.kept == keptOfDirection {
		w.drop(d)
	}
	w.turn++
	i := int(w.turn-1) % keptOfLane
	if i == len(w.places) {
		w.places = append(w.places, place{})
	}
	p := &w.places[i]
	if o := p.d; o != nil && o.oldest != nil && o.oldest.Turn == p.turn {
		w.drop(o)
	}
	*p = place{d, w.turn}
	m.Turn = w.turn
	if d.newest == nil {
		d.oldest = m
	} else {
		d.newest.Newer = m
	}
	d.newest = m
	d.kept++
}

// drop releases the oldest message of a direction.
func (w *window) drop(d *direction) {
	m := d.oldest
	if d.oldest = m.Newer; d.oldest == nil {
		d.newest = nil
	}
	m.Newer = nil
	d.kept--
	d.conn.pairer.Release(m)
}
