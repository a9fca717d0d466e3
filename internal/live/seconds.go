package live

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
)

// second is what one second of the capture's clock brought.
type second struct {
	began int64 // by the steady clock, in nanoseconds
	// methods has the calls by serialization, service and method, peers by serialization, client and server: every
	// grouping of the screen is a sum of one of the two.
	methods, peers *sizes.Aggregator
	traffic        Traffic
	calls, errors  int64
}

// maxGroups is how many groups a second keeps apart; further ones are one row. A screen shows tens.
const maxGroupsPerSecond = 2000

var (
	methodKeys = sizes.By{Keys: []sizes.Key{sizes.Serialization, sizes.Service, sizes.Method}}
	peerKeys   = sizes.By{Keys: []sizes.Key{sizes.Serialization, sizes.Client, sizes.Server}}
)

// The places of the keys above.
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

// shown is how many seconds the rows and rates are of, the current one among them.
const windowSeconds = int(window / 1e9)

// ring is the last seconds, the current one last.
type ring struct{ seconds []*second }

func (r *ring) current() *second { return r.seconds[len(r.seconds)-1] }

// turn begins another second and forgets those beyond the window.
func (r *ring) startSecond(at int64) {
	if len(r.seconds) == windowSeconds {
		copy(r.seconds, r.seconds[1:])
		r.seconds[len(r.seconds)-1] = newSecond(at)
		return
	}
	r.seconds = append(r.seconds, newSecond(at))
}
