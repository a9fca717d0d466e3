package session

import (
	"errors"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/pipeline"
)

// stopped is asked about ten times a second. What the kernel holds of the time before the end is still read: it is the
// source that ends the run.
func (l *Session) stopped() bool {
	if l.stopping {
		return false
	}
	switch {
	case l.stop.Stopped(), l.quit.Load():
	case l.Duration > 0 && time.Since(l.started) >= l.Duration:
	case l.child != nil && l.child.ended():
		l.byCommand = true
	case l.recorder != nil && l.recorder.Done():
	default:
		return false
	}
	l.stopping = true
	l.ending.drain()
	return false
}

// callLimit ends a capture after a number of selected calls.
type callLimit struct {
	pipeline.Sink
	left   int64
	ending *ending
}

func (c *callLimit) Call(k *call.Call, selected bool) {
	c.Sink.Call(k, selected)
	if selected {
		if c.left--; c.left == 0 {
			c.ending.over = true
		}
	}
}

// ending ends a source: after a number of packets or bytes, or when what was captured before a moment was read.
type ending struct {
	capture.Source
	packets, bytes int64 // what is left; 0 at the start: no limit
	over           bool
	until          int64     // nanoseconds since the Unix epoch; 0: not draining
	since          time.Time // when draining began
}

const (
	// drainWait is how long the kernel may keep a packet before it hands it over; it is more than the time after which it
	// gives up a part of the ring that is not full.
	drainWait = 280 * time.Millisecond
	// drainMost is how long is read on: a clock that was set back shows no end.
	drainMost = 3 * time.Second
)

// drain lets the source end with the last packet of before now.
func (e *ending) drain() { e.until, e.since = time.Now().UnixNano(), time.Now() }

func (e *ending) Next(p *capture.Packet) error {
	if e.over {
		return capture.ErrClosed
	}
	err := e.Source.Next(p)
	if e.until != 0 {
		waited := time.Since(e.since)
		// The first packet from behind the end is the last one: the source has counted it.
		e.over = e.over || err == nil && (p.Time > e.until || waited > drainMost)
		if errors.Is(err, capture.ErrTimeout) && waited > drainWait {
			e.over = true
			return capture.ErrClosed
		}
	}
	if err != nil {
		return err
	}
	if e.packets > 0 {
		e.packets--
		e.over = e.packets == 0
	}
	if e.bytes > 0 {
		e.bytes -= int64(p.WireLen)
		e.over = e.over || e.bytes <= 0
	}
	return nil
}
