package sizes

import (
	"time"

	"dubbo-wire/internal/call"
)

// Timeline holds the link bytes of all packets, and the calls with the bytes of their frames, over time. Packets and calls
// may be added from two goroutines.
type Timeline struct {
	packets, calls series
}

// Slot holds the numbers of one interval.
type Slot struct {
	// LinkBytes is the sum of the original lengths of all packets, with any content.
	LinkBytes int64
	// RequestBytes and ResponseBytes are the frames (header and body) of calls whose last byte was captured in the interval.
	RequestBytes, ResponseBytes int64
	// Calls is the number of calls that began in the interval, Errors the number of these that failed.
	Calls, Errors int64
}

func (s *Slot) add(o *Slot) {
	s.LinkBytes += o.LinkBytes
	s.RequestBytes += o.RequestBytes
	s.ResponseBytes += o.ResponseBytes
	s.Calls += o.Calls
	s.Errors += o.Errors
}

// leastSlots is the number of slots after neighbours were joined; a series has at most twice as many.
const leastSlots = 256

// series is a list of slots of equal width. If there are too many, neighbours are joined.
type series struct {
	begun bool
	start int64 // nanoseconds since the Unix epoch
	step  int64 // nanoseconds
	slots []Slot
}

// at returns the slot of a time; times before the start are in the first one. The slot is valid until the next call of at.
func (s *series) at(at int64) *Slot {
	if !s.begun {
		s.begun, s.start, s.step = true, at, int64(time.Millisecond)
	}
	since := uint64(0)
	if at > s.start {
		since = uint64(at) - uint64(s.start)
	}
	for since/uint64(s.step) >= 2*leastSlots {
		s.join()
	}
	i := int(since / uint64(s.step))
	for len(s.slots) <= i {
		s.slots = append(s.slots, Slot{})
	}
	return &s.slots[i]
}

// join doubles the width of the slots.
func (s *series) join() {
	s.step *= 2
	for i := range s.slots {
		if i%2 == 0 {
			s.slots[i/2] = s.slots[i]
		} else {
			s.slots[i/2].add(&s.slots[i])
		}
	}
	s.slots = s.slots[:(len(s.slots)+1)/2]
}

// Begin sets the start: the time of the first packet, in nanoseconds since the Unix epoch.
func (t *Timeline) Begin(at int64) {
	t.packets.at(at)
	t.calls.at(at)
}

// Packet adds a packet with its time and its bytes on the link.
func (t *Timeline) Packet(at int64, bytes int) { t.packets.at(at).LinkBytes += int64(bytes) }

// Call adds a closed call.
func (t *Timeline) Call(c *call.Call) {
	for m := c.Request; m != nil; m = m.Next {
		if m.Complete {
			t.calls.at(m.LastByte).RequestBytes += int64(m.FrameLen())
		}
	}
	for m := c.Response; m != nil; m = m.Next {
		if m.Complete {
			t.calls.at(m.LastByte).ResponseBytes += int64(m.FrameLen())
		}
	}
	slot := t.calls.at(firstMessage(c).FirstTime)
	slot.Calls++
	if c.Failed() {
		slot.Errors++
	}
}

// Slots returns all slots in order, the start of the first one in nanoseconds since the Unix epoch, and their width in
// nanoseconds. Packets with times before the first packet (of files whose clocks differ) are in the first slot.
func (t *Timeline) Slots() (start, step int64, slots []Slot) {
	a, b := t.packets, t.calls
	a.slots, b.slots = append([]Slot(nil), a.slots...), append([]Slot(nil), b.slots...)
	for a.step < b.step {
		a.join()
	}
	for b.step < a.step {
		b.join()
	}
	for i := range b.slots {
		if i == len(a.slots) {
			a.slots = append(a.slots, Slot{})
		}
		a.slots[i].add(&b.slots[i])
	}
	return a.start, a.step, a.slots
}
