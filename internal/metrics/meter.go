// Package metrics serves the numbers of a running capture to Prometheus. Closed calls go in, from the pipeline; counters, histograms and
// the state of the capture come out over HTTP, in the formats that Prometheus reads. docs/metrics.md has their names.
//
// A [Meter] counts calls in the goroutine of the pipeline, without a lock. A scrape asks for a snapshot, which that goroutine makes at its
// next [Meter.Watch], at most one a second; the scrape writes it in a goroutine of its own, so that no client delays the capture. The
// number of series, of connections and of requests at the same time is bounded. Counters never decrease.
package metrics

import (
	"errors"
	"sync/atomic"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
)

// Probe returns the packets that the kernel dropped, -1 if that is not known, and the share of its buffer that is in use, from 0 to 1.
type Probe func() (dropped int64, fill float64)

// Meter counts the calls of a run. It is a sink in front of another one and belongs to the pipeline's goroutine.
type Meter struct {
	pipeline.Sink
	probe  Probe
	groups *groups
	began  time.Time
	kept   [numCounters]int64 // the greatest values so far
	asked  atomic.Bool        // a scrape waits for a snapshot
	latest atomic.Pointer[snapshot]
}

// snapshot is the numbers at one time. It does not change.
type snapshot struct {
	at         time.Time
	final      bool // the capture has ended
	series     []*series
	counters   [numCounters]int64
	dropsKnown bool
	// Shares from 0 to 1.
	coverage, fill             float64
	openConnections, openCalls int
	shown, waiting, folded     int
	next                       chan struct{} // closed when there is a newer one
}

// counter is a number of the whole capture.
type counter int

const (
	packets counter = iota
	linkBytes
	droppedPackets
	coveredBytes
	uncoveredBytes
	// Limits that were reached.
	expiredCalls
	waitedCalls
	expiredConnections
	idleConnections
	numCounters
)

func newMeter(limit int, probe Probe, next pipeline.Sink) *Meter {
	m := &Meter{Sink: next, probe: probe, groups: newGroups(limit), began: time.Now()}
	m.latest.Store(&snapshot{next: make(chan struct{})})
	return m
}

// Call receives a closed call.
func (m *Meter) Call(c *call.Call, selected bool) {
	m.Sink.Call(c, selected)
	if selected {
		m.groups.of(c).call(c)
	}
}

// Watch makes a snapshot if a scrape waits for one. The pipeline calls it about ten times a second.
func (m *Meter) Watch(r *pipeline.Running) {
	if !m.groups.chosen && time.Since(m.began) >= choosing {
		m.groups.choose()
	}
	if m.asked.Load() {
		p := r.Progress()
		m.publish(&p.Totals, p.OpenConnections, p.OpenCalls, false)
	}
}

// End makes the last snapshot: the numbers of the report.
func (m *Meter) End(t *pipeline.Totals) { m.publish(t, 0, 0, true) }

func (m *Meter) publish(t *pipeline.Totals, openConnections, openCalls int, final bool) {
	dropped, fill := m.probe()
	s := &snapshot{
		at: time.Now(), final: final, dropsKnown: dropped >= 0, coverage: t.Percent() / 100, fill: fill,
		openConnections: openConnections, openCalls: openCalls,
		shown: m.groups.shown, waiting: len(m.groups.order) - m.groups.shown, folded: len(m.groups.folded),
		next: make(chan struct{}),
	}
	s.counters = [numCounters]int64{
		packets: t.Packets, linkBytes: t.LinkBytes, droppedPackets: dropped,
		coveredBytes: t.CompleteBytes, uncoveredBytes: t.FrameBytes - t.CompleteBytes + t.Skipped + t.Gap,
		expiredCalls: t.Expired, waitedCalls: t.ExpiredByTime, expiredConnections: t.TCP.Expired - t.TCP.Idle, idleConnections: t.TCP.Idle,
	}
	for i, n := range m.kept {
		s.counters[i] = max(s.counters[i], n)
	}
	m.kept = s.counters
	for _, one := range m.groups.order {
		if one.shown {
			s.series = append(s.series, one.clone())
		}
	}
	if m.groups.chosen && m.groups.other.calls > 0 {
		s.series = append(s.series, m.groups.other.clone())
	}
	m.asked.Store(false)
	close(m.latest.Swap(s).next)
}

const (
	// fresh is the age up to which scrapes share a snapshot.
	fresh = time.Second
	// patience is how long a scrape waits for a snapshot.
	patience = 5 * time.Second
)

var errBusy = errors.New("the capture has not answered within " + patience.String())

// snapshot returns a snapshot that is not old, for a scrape.
func (m *Meter) snapshot() (*snapshot, error) {
	s := m.latest.Load()
	if s.final || time.Since(s.at) < fresh {
		return s, nil
	}
	m.asked.Store(true)
	select {
	case <-s.next:
		return m.latest.Load(), nil
	case <-time.After(patience):
		return nil, errBusy
	}
}
