package sizes

import (
	"time"

	"dubbo-wire/internal/call"
)

// Timeline is what passed over time: link bytes of all packets, and calls with the bytes of their frames. Packets and calls
// may come from two goroutines.
type Timeline struct {
	packets, calls series
}

// Slot is what passed in one width of time.
type Slot struct {
	// LinkBytes is the packets' original lengths; of all packets, whatever they carry.
	LinkBytes int64
	// FrameBytes is the frames (header and body) of calls, by direction, where their last byte was captured.
	RequestBytes, ResponseBytes int64
	// Calls that were asked in it, and those of them that failed.
	Calls, Errors int64
}

func (s *Slot) add(o *Slot) {
	s.LinkBytes += o.LinkBytes
	s.RequestBytes += o.RequestBytes
	s.ResponseBytes += o.ResponseBytes
	s.Calls += o.Calls
	s.Errors += o.Errors
}

// leastSlots is from how many slots on two become one: a series has at most twice as many.
const leastSlots = 256

// series is slots of one width from a start on; when there are too many, neighbours are joined.
type series struct {
	begun bool
	start int64 // nanoseconds since the Unix epoch
	step  int64 // nanoseconds
	slots []Slot
}

// at returns the slot of a time; what was before the start is in the first one. It is valid until the next call.
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

// join makes slots twice as wide.
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

// Begin fixes the start: the time of the first packet, in nanoseconds since the Unix epoch.
func (t *Timeline) Begin(at int64) {
	t.packets.at(at)
	t.calls.at(at)
}

// Packet adds a packet: its time and its bytes on the link.
func (t *Timeline) Packet(at int64, bytes int) { t.packets.at(at).LinkBytes += int64(bytes) }

// Call adds a closed call.
func (t *Timeline) Call(c *call.Call) {
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		switch {
		case m == nil || !m.Complete:
		case m == c.Request:
			t.calls.at(m.LastByte).RequestBytes += int64(m.FrameLen())
		default:
			t.calls.at(m.LastByte).ResponseBytes += int64(m.FrameLen())
		}
	}
	slot := t.calls.at(asked(c).FirstTime)
	slot.Calls++
	if c.Failed() {
		slot.Errors++
	}
}

// Slots returns all slots, in order: the time of the first one in nanoseconds since the Unix epoch, and the width of each in
// nanoseconds. What lies before the first packet of the capture, in files whose clocks disagree, is in the first slot.
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
