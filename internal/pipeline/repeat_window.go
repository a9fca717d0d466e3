package pipeline

import "dubbo-wire/internal/call"

// window keeps messages after they were complete, because bytes of them may be sent again: the last of each direction,
// and of all directions of a lane no more than a fixed number, so that many connections need no more memory than few.
type repeatWindow struct {
	slots []slot // a ring, by turn
	turn  uint64
}

// place is what came in at a turn. It may have left since.
type slot struct {
	d    *direction
	turn uint64
}

const (
	windowPerDirection = 8
	windowPerLane      = 1 << 9
)

// add takes a message of which the caller has one hold.
func (w *repeatWindow) add(d *direction, m *call.Message) {
	if d.inWindow == windowPerDirection {
		w.drop(d)
	}
	w.turn++
	i := int(w.turn-1) % windowPerLane
	if i == len(w.slots) {
		w.slots = append(w.slots, slot{})
	}
	p := &w.slots[i]
	if o := p.d; o != nil && o.oldest != nil && o.oldest.WindowTurn == p.turn {
		w.drop(o)
	}
	*p = slot{d, w.turn}
	m.WindowTurn = w.turn
	if d.newest == nil {
		d.oldest = m
	} else {
		d.newest.NextInWindow = m
	}
	d.newest = m
	d.inWindow++
}

// drop releases the oldest message of a direction.
func (w *repeatWindow) drop(d *direction) {
	m := d.oldest
	if d.oldest = m.NextInWindow; d.oldest == nil {
		d.newest = nil
	}
	m.NextInWindow = nil
	d.inWindow--
	d.conn.pairer.Release(m)
}
