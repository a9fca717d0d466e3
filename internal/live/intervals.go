package live

import (
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// Intervals reports the progress of a run as text: it is a sink in front of another one and returns what changed in
// each interval. It belongs to the pipeline's goroutine.
type Intervals struct {
	pipeline.Sink
	every     time.Duration
	by        sizes.By
	maxGroups int
	inputs    []string
	filtered  bool
	stats     func() (t Traffic, fill float64)

	groups *sizes.Aggregator
	began  time.Time // start of the current interval, on the monotonic clock
	from   int64     // the same in nanoseconds since the Unix epoch
	last   struct{ packets, link, rpc, drops int64 }
}

// NewIntervals returns intervals in front of next. stats is Probe.Stats.
func NewIntervals(every time.Duration, by sizes.By, maxGroups int, inputs []string, filtered bool, stats func() (Traffic, float64), next pipeline.Sink) *Intervals {
	i := &Intervals{
		Sink: next, every: every, by: by, maxGroups: maxGroups, inputs: inputs, filtered: filtered, stats: stats,
		began: time.Now(), from: time.Now().UnixNano(),
	}
	i.groups = sizes.NewUnsettled(by, maxGroups, inputs)
	return i
}

// Call receives a closed call.
func (i *Intervals) Call(c *call.Call, selected bool) {
	i.Sink.Call(c, selected)
	if selected {
		i.groups.Call(c)
	}
}

// Watch returns the interval if it is over, else nil.
func (i *Intervals) Watch(r *pipeline.Running) *report.Interval {
	now := time.Now()
	if now.Sub(i.began) < i.every {
		return nil
	}
	return i.next(&r.Progress().Totals, now)
}

// End returns the last interval, including the calls that the end of the run closes, so that the intervals add up to
// the report.
func (i *Intervals) End(totals *pipeline.Totals) *report.Interval { return i.next(totals, time.Now()) }

func (i *Intervals) next(progress *pipeline.Totals, now time.Time) *report.Interval {
	t, fill := i.stats()
	v := &report.Interval{
		From: i.from, To: i.from + int64(now.Sub(i.began)),
		Packets: progress.Packets - i.last.packets, LinkBytes: progress.LinkBytes - i.last.link, RPCBytes: progress.SeenBytes - i.last.rpc, Protocols: progress.ProtocolNames(),
		Dropped: t.Drops - i.last.drops, DroppedInAll: t.Drops, RingPercent: 100 * fill, Coverage: floor4(progress.Percent()),
		By: i.by, Groups: i.groups.Groups(), Filtered: i.filtered,
	}
	i.last.packets, i.last.link, i.last.rpc, i.last.drops = progress.Packets, progress.LinkBytes, progress.SeenBytes, t.Drops
	i.groups = sizes.NewUnsettled(i.by, i.maxGroups, i.inputs)
	i.began, i.from = now, now.UnixNano()
	return v
}
