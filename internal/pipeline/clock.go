package pipeline

import "time"

// clock is the capture's time made steady, for what is due by time: idle connections, unanswered requests, holes. The
// times of packets jump when somebody sets the clock of the recording machine; neither a step back nor, while packets
// are waited for, a step forward may keep things for hours or end them all at once.
type clock struct {
	last     int64 // the latest time seen since the last step
	offset   int64 // what steps took away
	live     bool  // time passes here as it does there, and it is looked at many times a second
	backward int   // packets in a row that are from before a step back that is not believed yet
	started  bool
	// looked is when it was looked at last, by a clock that nobody sets: a program that was stopped for a while meets a
	// jump, too, but that time has passed.
	checkedAt time.Time
	first     int64 // where it began
	steps     int64 // how often it was set
}

const (
	// backStep is how far back a packet may lie without the clock having been set: packets of several interfaces, queues
	// and processors come a little out of order.
	backStep = int64(time.Second)
	// forwardStep is how long nothing may be heard of a clock that is looked at ten times a second.
	forwardStep = int64(10 * time.Second)
	// inRow is how many packets of a file must lie back before its clock is believed to have been set: a recording of only
	// the connections that carry messages has what was held of one, from long before, between packets of others.
	minBackward = 10_000
)

// at returns the steady time for a packet's time, both in nanoseconds. It never steps back.
func (c *clock) at(t int64) int64 {
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
