package pipeline

import (
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
)

// Lanes is the number of lanes that share the connections. It is fixed, because limits are charged by lane: the results
// must not depend on how many workers there are.
const Lanes = 16

// Limits bound the memory of a run, in bytes unless said otherwise; zero values are the defaults. Each lane has its
// share of the totals.
type Limits struct {
	// MaxConnections is how many connections with payload may be open at once (default 262 144), MaxEmpty how many
	// without (default 262 144): so a flood of SYNs ends no connection in use. Beyond it the one that was idle longest is
	// ended.
	MaxConnections, MaxEmpty int
	// MaxHeld bounds the bytes behind holes of all connections together (default 128 MiB), MaxHeldPerConnection those of
	// one (default 8 MiB).
	MaxHeld, MaxHeldPerConnection int
	// MaxClosed is how many closed connections still take late packets (default 65 536).
	MaxClosed int
	// A hole becomes a gap this many packets of the capture, or this much capture time, after it was acknowledged
	// (defaults 4096 and 1 s).
	GapPackets int64
	GapTime    time.Duration
	// IdleTime ends connections that had no packet for so long, at the latest after twice that; CallTime gives requests
	// up that had no answer for so long (default 0: never). Both are the capture's time.
	IdleTime, CallTime time.Duration
	// MaxOpenCalls is how many requests may wait for an answer (default 262 144).
	MaxOpenCalls int
	// MaxValues bounds the rendered values of requests that wait (default 256 MiB).
	MaxValues int
	// MaxBodies bounds the beginnings of bodies that are kept until the rest comes (default 256 MiB).
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

// share is a lane's part of a total.
func share(total int) int { return max(1, total/Lanes) }

func (l *Limits) assembler(apart []int) assemble.Config {
	return assemble.Config{
		GapPackets: l.GapPackets, GapTime: l.GapTime, IdleTime: l.IdleTime, Apart: apart,
		MaxConnections: share(l.MaxConnections), MaxEmpty: share(l.MaxEmpty), MaxClosed: share(l.MaxClosed), MaxHeld: share(l.MaxHeld), MaxHeldPerConnection: min(l.MaxHeldPerConnection, share(l.MaxHeld)),
	}
}

func (l *Limits) pairer(p *call.Pool) call.Config {
	return call.Config{MaxOpen: share(l.MaxOpenCalls), MaxValues: share(l.MaxValues), Pool: p}
}
