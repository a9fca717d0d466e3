package main

import (
	"math"
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
		const count, never, most = "write a number from 1 up", "write a duration from 0 up; 0 is never", 1 << 40
		fs.IntVar(&l.MaxConnections, "max-connections", 1<<18, "keep `N` connections open; beyond it the one idle longest is ended")
		fs.IntVar(&l.MaxOpenCalls, "max-open-calls", 1<<18, "let `N` requests wait for an answer; beyond it the oldest is unanswered")
		fs.IntVar(&l.gapPackets, "gap-packets", 4096, "wait `N` packets for what was lost, once it is acknowledged")
		fs.DurationVar(&l.GapTime, "gap-time", time.Second, "wait `DURATION` of the capture for what was lost, once it is acknowledged")
		fs.DurationVar(&l.IdleTime, "idle-timeout", l.IdleTime, "end connections without a packet for `DURATION` of the capture; 0: never")
		fs.DurationVar(&l.CallTime, "call-timeout", l.CallTime, "give requests up without an answer for `DURATION` of the capture; 0: never")
		bound(fs, "max-connections", &l.MaxConnections, 1, math.MaxInt, count)
		bound(fs, "max-open-calls", &l.MaxOpenCalls, 1, math.MaxInt, count)
		bound(fs, "gap-packets", &l.gapPackets, 1, math.MaxInt, count)
		bound(fs, "gap-time", &l.GapTime, 1, math.MaxInt64, "write a duration above 0")
		bound(fs, "idle-timeout", &l.IdleTime, 0, math.MaxInt64, never)
		bound(fs, "call-timeout", &l.CallTime, 0, math.MaxInt64, never)
		l.held, l.heldEach, l.bodies = 128<<20, 8<<20, 256<<20
		fs.Var(&size{&l.held, "128MiB", 1 << 16, most}, "max-held", "hold `SIZE` of data behind holes; beyond it the oldest hole becomes a gap")
		fs.Var(&size{&l.heldEach, "8MiB", 1 << 16, most}, "max-held-per-connection", "hold `SIZE` of data behind the holes of one connection")
		fs.Var(&size{&l.bodies, "256MiB", 1 << 16, most}, "max-bodies", "keep `SIZE` of bodies whose end has not come yet; beyond it they are measured, not decoded")
	})
}

// limits returns the limits that the flags set.
func (l *limitFlags) limits() pipeline.Limits {
	l.GapPackets, l.MaxHeld, l.MaxHeldPerConnection, l.MaxBodies = int64(l.gapPackets), int(l.held), int(l.heldEach), int(l.bodies)
	return l.Limits
}
