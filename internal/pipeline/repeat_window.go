package pipeline

import (
	"unsafe"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/prefetch"
)

// repeatWindow holds complete messages whose bytes may be retransmitted: the last of each direction, and a fixed
// number per lane, so that memory does not depend on the number of connections.
type repeatWindow struct {
	// slots are a ring. So the message in the next slot to use is the oldest one of its direction.
	slots []windowSlot
	next  uint16
}

// windowSlot is a message in the window with its direction; both are nil once it has left the window.
type windowSlot struct {
	d *direction
	m *call.Message
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
	m.WindowSlot = w.next
	w.next = (w.next + 1) % windowPerLane
	switch slot := int(m.WindowSlot); {
	case slot == len(w.slots):
		w.slots = append(w.slots, windowSlot{d, m})
	default:
		if of := w.slots[slot].d; of != nil {
			w.drop(of)
		}
		w.slots[slot] = windowSlot{d, m}
		if after := &w.slots[w.next]; after.d != nil { // with many connections it was written long ago
			after.m.PreloadSettled()
			prefetch.Write(unsafe.Pointer(after.d), unsafe.Sizeof(*after.d))
		}
	}
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
	w.slots[m.WindowSlot] = windowSlot{} // a connection that has ended is kept no longer
	d.inWindow--
	d.conn.pairer.Release(m)
}
