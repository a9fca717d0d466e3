package pipeline

import "time"

// clock derives a steady time from packet times, for timeouts: idle connections, requests without a response, gaps.
// Packet times jump when somebody sets the clock of the recording machine. A step back, or in a live capture a step
// forward, must neither delay timeouts for hours nor trigger all of them at once.
type clock struct {
	last     int64 // latest packet time since the last step
	offset   int64 // sum of the removed steps
	live     bool  // packets arrive as they are recorded, and at is called many times a second
	backward int   // packets in a row before last: not yet accepted as a step back
	started  bool
	// checkedAt is the monotonic time of the last call. It distinguishes a step of the clock from a pause of this
	// program.
	checkedAt time.Time
	first     int64 // first packet time
	steps     int64 // number of accepted steps
}

const (
	// backStep is the tolerated disorder of packets: interfaces, queues and processors reorder them a little.
	backStep = int64(time.Second)
	// forwardStep is the longest plausible silence of a live clock, which is read ten times a second.
	forwardStep = int64(10 * time.Second)
	// minBackward is the number of packets in a row before last that count as a step back in a file. A recording of
	// only the connections with messages has runs of older packets of one connection between those of others.
	minBackward = 10_000
)

// at returns the steady time of a packet time, both in nanoseconds. It never goes back.
func (c *clock) at(t int64) int64 {
	if c.started && c.backward == 0 && uint64(t-c.last) <= uint64(forwardStep) { // the usual packet
		c.last = t
		return t + c.offset
	}
	return c.unusual(t)
}

func (c *clock) unusual(t int64) int64 {
	switch d := t - c.last; {
	case !c.started:
		c.last, c.first, c.started = t, t, true
	case d < -backStep && !c.live && c.backward < minBackward:
		c.backward++
		return c.last + c.offset
	case d < -backStep, c.live && d > forwardStep && int64(time.Since(c.checkedAt)) < d/2:
		c.offset -= d
		c.last = t
		c.steps++
	case d > 0:
		c.last = t
	}
	c.backward = 0
	return c.last + c.offset
}
