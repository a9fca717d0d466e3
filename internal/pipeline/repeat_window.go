package pipeline

import "dubbo-wire/internal/call"

// repeatWindow holds complete messages whose bytes may be retransmitted: the last of each direction, and a fixed
// number per lane, so that memory does not depend on the number of connections.
type repeatWindow struct {
	slots []slot // ring, indexed by turn
	turn  uint64
}

// slot is the message added at a turn, of a direction; d is nil if it has left the window.
type slot struct {
	d    *direction
	turn uint64
}

const (
	windowPerDirection = 8
	windowPerLane      = 1 << 9
)

// add adds a message; the caller passes on its hold.
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
	if p.d != nil {
		w.drop(p.d)
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
	if p := &w.slots[(m.WindowTurn-1)%windowPerLane]; p.turn == m.WindowTurn {
		p.d = nil // a connection that has ended is kept no longer
	}
	d.inWindow--
	d.conn.pairer.Release(m)
}
