package session

import (
	"errors"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/pipeline"
)

// stopped is called about ten times a second. It always returns false: the source ends the run, after it has read the packets
// that the kernel still holds.
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
	case l.calls != nil && l.calls.full:
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

// ending is a source that ends after a number of packets or bytes, or after the last packet before a given time.
type ending struct {
	capture.Source
	preloads       pipeline.PreloadSource // the source, if it is one
	packets, bytes int64                  // what is left; 0 for no limit
	over           bool
	single         bool      // any packet may be the last one
	until          int64     // nanoseconds since the Unix epoch; 0: not draining
	since          time.Time // when draining began
}

const (
	// drainWait is how long the kernel may hold a packet. It exceeds the time after which the kernel retires a block of the
	// ring that is not full.
	drainWait = 280 * time.Millisecond
	// drainMost bounds draining, for a clock that was set back.
	drainMost = 3 * time.Second
)

// drain makes the source end after the packets captured before now.
func (e *ending) drain() { e.until, e.since = time.Now().UnixNano(), time.Now() }

func (e *ending) Next(p *capture.Packet) error {
	if e.over {
		return capture.ErrClosed
	}
	err := e.Source.Next(p)
	if e.until != 0 {
		waited := time.Since(e.since)
		// The first packet after the end is delivered too, because the source has counted it.
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

// NextBatch is Next for as many packets as the source has ready, one if that may be the last one.
func (e *ending) NextBatch(ps []capture.Packet) (int, error) {
	source, ok := e.Source.(pipeline.BatchSource)
	if ok && !e.over && !e.single && e.packets == 0 && e.bytes == 0 && e.until == 0 {
		return source.NextBatch(ps)
	}
	if err := e.Next(&ps[0]); err != nil {
		return 0, err
	}
	return 1, nil
}

// Preload implements [pipeline.PreloadSource].
func (e *ending) Preload(whole bool) {
	if e.preloads != nil {
		e.preloads.Preload(whole)
	}
}
