package live

import (
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
)

// second is what the capture brought in one second of its clock, or in several if the window is long.
type second struct {
	began int64 // steady time, in nanoseconds
	all   aggregates
	// selected has the calls of the selection, nil if there is none or it was opened later.
	selected *aggregates
	failures failures
	traffic  Traffic
	largest  body
	// answered counts the calls with an outcome.
	calls, errors, answered int64
}

// aggregates groups calls: methods by serialization, service and method, peers by serialization, client and server. Every
// grouping of the screen is a sum over one of them.
type aggregates struct{ methods, peers *sizes.Aggregator }

// maxGroupsPerSecond is the number of groups of a second; further groups share one row.
const maxGroupsPerSecond = 2000

var (
	methodKeys = sizes.By{Keys: []sizes.Key{sizes.Qualified, sizes.Service, sizes.Method}}
	peerKeys   = sizes.By{Keys: []sizes.Key{sizes.Qualified, sizes.Client, sizes.Server}}
)

// Indexes into the keys above.
const (
	keySerialization = 0
	keyService       = 1
	keyMethod        = 2
	keyClient        = 1
	keyServer        = 2
)

func newAggregates() aggregates {
	return aggregates{sizes.NewUnsettled(methodKeys, maxGroupsPerSecond, nil), sizes.NewUnsettled(peerKeys, maxGroupsPerSecond, nil)}
}

func (a *aggregates) call(c *call.Call) {
	a.methods.Call(c)
	a.peers.Call(c)
}

func (a *aggregates) groupedBy(g Grouping) *sizes.Aggregator {
	if g <= BySerialization {
		return a.methods
	}
	return a.peers
}

func (s *second) call(c *call.Call) {
	s.calls++
	if c.Failed() {
		s.errors++
		s.failures.call(c)
	}
	if c.Failed() || c.Response != nil && c.State() != call.NoResponse && !c.OutcomeUnknown() {
		s.answered++
	}
	s.largest.call(c)
	s.all.call(c)
}

// perWindow is the number of parts of a window, including the current one. After the window became longer there are shorter parts
// of the time before, maxSeconds in all.
const perWindow, maxSeconds = 10, 2 * perWindow

// ring holds the parts of the window, the current one last.
type ring struct {
	seconds []*second
	window  Window
	// selection is the calls that are aggregated a second time, since selectedAt (steady time).
	selection  Selection
	selectedAt int64
}

func (r *ring) current() *second { return r.seconds[len(r.seconds)-1] }

// startSecond starts another second, unless the current part of the window goes on, and drops those that leave the window.
func (r *ring) startSecond(at int64) {
	length := int64(r.window.Duration())
	if n := len(r.seconds); n > 0 && at-r.current().began < length/perWindow {
		return
	}
	s := &second{began: at, all: newAggregates()}
	if r.selection != (Selection{}) {
		selected := newAggregates()
		s.selected = &selected
	}
	left := slices.IndexFunc(r.seconds, func(s *second) bool { return at-s.began < length })
	if left < 0 {
		left = len(r.seconds)
	}
	left = max(left, len(r.seconds)+1-maxSeconds)
	r.seconds = append(slices.Clone(r.seconds[left:]), s)
}

// selects aggregates the calls of another selection from now on.
func (r *ring) selects(of Selection, now int64) {
	r.selection, r.selectedAt = of, now
	for _, s := range r.seconds {
		s.selected = nil
	}
	if of != (Selection{}) && len(r.seconds) > 0 {
		selected := newAggregates()
		r.current().selected = &selected
	}
}

func (r *ring) call(c *call.Call) {
	s := r.current()
	s.call(c)
	if s.selected != nil && r.selection.hasCall(c) {
		s.selected.call(c)
	}
}
