package live

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
)

// second is what the capture brought in one second of its clock.
type second struct {
	began int64 // steady time, in nanoseconds
	// methods groups the calls by serialization, service and method, peers by serialization, client and server. Every
	// grouping of the screen is a sum over one of them.
	methods, peers *sizes.Aggregator
	traffic        Traffic
	calls, errors  int64
}

// maxGroupsPerSecond is the number of groups of a second; further groups share one row.
const maxGroupsPerSecond = 2000

var (
	methodKeys = sizes.By{Keys: []sizes.Key{sizes.Serialization, sizes.Service, sizes.Method}}
	peerKeys   = sizes.By{Keys: []sizes.Key{sizes.Serialization, sizes.Client, sizes.Server}}
)

// Indexes into the keys above.
const (
	keySerialization = 0
	keyService       = 1
	keyMethod        = 2
	keyClient        = 1
	keyServer        = 2
)

func newSecond(at int64) *second {
	return &second{
		began:   at,
		methods: sizes.NewUnsettled(methodKeys, maxGroupsPerSecond, nil),
		peers:   sizes.NewUnsettled(peerKeys, maxGroupsPerSecond, nil),
	}
}

func (s *second) call(c *call.Call) {
	s.calls++
	if c.Failed() {
		s.errors++
	}
	s.methods.Call(c)
	s.peers.Call(c)
}

// windowSeconds is the number of seconds in the window, including the current one.
const windowSeconds = int(window / 1e9)

// ring holds the last seconds, the current one last.
type ring struct{ seconds []*second }

func (r *ring) current() *second { return r.seconds[len(r.seconds)-1] }

// startSecond starts another second and drops the one that leaves the window.
func (r *ring) startSecond(at int64) {
	r.seconds = append(r.seconds[max(0, len(r.seconds)+1-windowSeconds):], newSecond(at))
}
