package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/pipeline"
)

// limitFlags bound the memory that a hostile or very large capture can use.
type limitFlags struct {
	pipeline.Limits        // timeouts that are set before add are the defaults
	gapPackets             int
	held, heldEach, bodies int64
}

func (l *limitFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), limitGroup, func(fs *pflag.FlagSet) {
		const most = 1 << 40
		fs.IntVar(&l.MaxConnections, "max-connections", 1<<18, "follow up to `N` connections; beyond that, stop following the one that was idle longest")
		fs.IntVar(&l.MaxOpenCalls, "max-open-calls", 1<<18, "keep up to `N` requests without a response; beyond that, count the oldest as unanswered")
		fs.IntVar(&l.gapPackets, "gap-packets", 4096, "wait `N` packets for missing data after it was acknowledged")
		fs.DurationVar(&l.GapTime, "gap-time", time.Second, "wait `DURATION` of capture time for missing data after it was acknowledged")
		fs.DurationVar(&l.IdleTime, "idle-timeout", l.IdleTime, "stop following a connection after `DURATION` of capture time without a packet (0: never)")
		fs.DurationVar(&l.CallTime, "call-timeout", l.CallTime, "count a request as unanswered after `DURATION` of capture time (0: never)")
		atLeast(fs, "max-connections", &l.MaxConnections, 1)
		atLeast(fs, "max-open-calls", &l.MaxOpenCalls, 1)
		atLeast(fs, "gap-packets", &l.gapPackets, 1)
		atLeast(fs, "gap-time", &l.GapTime, 1)
		atLeast(fs, "idle-timeout", &l.IdleTime, 0)
		atLeast(fs, "call-timeout", &l.CallTime, 0)
		l.held, l.heldEach, l.bodies = 128<<20, 8<<20, 256<<20
		fs.Var(&size{&l.held, "128MiB", 1 << 16, most}, "max-held", "buffer up to `SIZE` of out-of-order data; beyond that, the oldest hole becomes a gap")
		fs.Var(&size{&l.heldEach, "8MiB", 1 << 16, most}, "max-held-per-connection", "buffer up to `SIZE` of out-of-order data per connection")
		fs.Var(&size{&l.bodies, "256MiB", 1 << 16, most}, "max-bodies", "buffer up to `SIZE` of incomplete bodies; beyond that, bodies are measured but not decoded")
	})
}

// limits returns the limits that the flags set.
func (l *limitFlags) limits() pipeline.Limits {
	l.GapPackets, l.MaxHeld, l.MaxHeldPerConnection, l.MaxBodies = int64(l.gapPackets), int(l.held), int(l.heldEach), int(l.bodies)
	return l.Limits
}
