package pipeline

import (
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
)

// Lanes is the number of lanes that share the connections. It is fixed because limits apply per lane, and results
// must not depend on the number of workers.
const Lanes = 16

// Limits bounds the memory of a run, in bytes unless stated otherwise. Zero values are the defaults. Each lane has an
// equal share of the totals.
type Limits struct {
	// MaxConnections is the number of open connections with payload (default 262,144), MaxEmpty the number without
	// (default 262,144), so that a flood of SYNs ends no connection in use. Beyond it the connection that was idle
	// longest is ended.
	MaxConnections, MaxEmpty int
	// MaxHeld bounds the out-of-order bytes of all connections (default 128 MiB), MaxHeldPerConnection those of one
	// (default 8 MiB).
	MaxHeld, MaxHeldPerConnection int
	// MaxClosed is the number of closed connections that still accept late packets (default 65,536).
	MaxClosed int
	// GapPackets and GapTime are the packets and the capture time after which missing bytes that were acknowledged
	// become a gap (defaults 4096 and 1 s).
	GapPackets int64
	GapTime    time.Duration
	// IdleTime ends connections without a packet for this long, at the latest after twice that. CallTime expires
	// requests without a response for this long (default 0: never). Both are capture time.
	IdleTime, CallTime time.Duration
	// MaxOpenCalls is the number of requests that may wait for a response (default 262,144).
	MaxOpenCalls int
	// MaxValues bounds the rendered values of open requests (default 256 MiB).
	MaxValues int
	// MaxBodies bounds the kept starts of incomplete bodies (default 256 MiB).
	MaxBodies int
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&l.MaxConnections, 1<<18)
	set(&l.MaxEmpty, 1<<18)
	set(&l.MaxHeld, 128<<20)
	set(&l.MaxHeldPerConnection, 8<<20)
	set(&l.MaxClosed, 1<<16)
	set(&l.MaxOpenCalls, 1<<18)
	set(&l.MaxValues, 256<<20)
	set(&l.MaxBodies, 256<<20)
	return l
}

// share returns the share of one lane.
func share(total int) int { return max(1, total/Lanes) }

func (l *Limits) assembler(apart []int, b *assemble.Buffers) assemble.Config {
	return assemble.Config{
		Buffers:    b,
		GapPackets: l.GapPackets, GapTime: l.GapTime, IdleTime: l.IdleTime, Apart: apart,
		MaxConnections: share(l.MaxConnections), MaxEmpty: share(l.MaxEmpty), MaxClosed: share(l.MaxClosed), MaxHeld: share(l.MaxHeld), MaxHeldPerConnection: min(l.MaxHeldPerConnection, share(l.MaxHeld)),
	}
}

func (l *Limits) pairer(p *call.Pool) call.Config {
	return call.Config{MaxOpen: share(l.MaxOpenCalls), MaxValues: share(l.MaxValues), Pool: p}
}
