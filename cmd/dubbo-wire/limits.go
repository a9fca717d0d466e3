package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/pipeline"
)

// limitFlags bound what is remembered of a capture. They are for captures that are hostile or very large.
type limitFlags struct {
	maxConnections, maxOpenCalls, gapPackets int
	maxHeld, maxHeldPerConnection, maxBodies string
	gapTime                                  time.Duration
	// 0: never. What is set before the flags are added is their default.
	idleTime, callTime time.Duration

	parsed pipeline.Limits
}

func (l *limitFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), limitGroup, func(fs *pflag.FlagSet) {
		fs.IntVar(&l.maxConnections, "max-connections", 1<<18, "keep `N` connections open; beyond it the one idle longest is ended")
		fs.IntVar(&l.maxOpenCalls, "max-open-calls", 1<<18, "let `N` requests wait for an answer; beyond it the oldest is unanswered")
		fs.StringVar(&l.maxHeld, "max-held", "128MiB", "hold `SIZE` of data behind holes; beyond it the oldest hole becomes a gap")
		fs.StringVar(&l.maxHeldPerConnection, "max-held-per-connection", "8MiB", "hold `SIZE` of data behind the holes of one connection")
		fs.StringVar(&l.maxBodies, "max-bodies", "256MiB", "keep `SIZE` of bodies whose end has not come yet; beyond it they are measured, not decoded")
		fs.IntVar(&l.gapPackets, "gap-packets", 4096, "wait `N` packets for what was lost, once it is acknowledged")
		fs.DurationVar(&l.gapTime, "gap-time", time.Second, "wait `DURATION` of the capture for what was lost, once it is acknowledged")
		fs.DurationVar(&l.idleTime, "idle-timeout", l.idleTime, "end connections without a packet for `DURATION` of the capture; 0: never")
		fs.DurationVar(&l.callTime, "call-timeout", l.callTime, "give requests up without an answer for `DURATION` of the capture; 0: never")
	})
}

// check refuses what cannot be meant.
func (l *limitFlags) check() error {
	for _, n := range []struct {
		flag  string
		value int
	}{{"--max-connections", l.maxConnections}, {"--max-open-calls", l.maxOpenCalls}, {"--gap-packets", l.gapPackets}} {
		if n.value < 1 {
			return exit.Usagef("%s %d: write a number from 1 up", n.flag, n.value)
		}
	}
	if l.gapTime <= 0 {
		return exit.Usagef("--gap-time %v: write a duration above 0", l.gapTime)
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"--idle-timeout", l.idleTime}, {"--call-timeout", l.callTime}} {
		if d.value < 0 {
			return exit.Usagef("%s %v: write a duration from 0 up; 0 is never", d.flag, d.value)
		}
	}
	l.parsed = pipeline.Limits{
		MaxConnections: l.maxConnections, MaxOpenCalls: l.maxOpenCalls,
		GapPackets: int64(l.gapPackets), GapTime: l.gapTime,
		IdleTime: l.idleTime, CallTime: l.callTime,
	}
	for _, b := range []struct {
		flag, text string
		to         *int
	}{
		{"--max-held", l.maxHeld, &l.parsed.MaxHeld},
		{"--max-held-per-connection", l.maxHeldPerConnection, &l.parsed.MaxHeldPerConnection},
		{"--max-bodies", l.maxBodies, &l.parsed.MaxBodies},
	} {
		n, err := parseSize(b.text)
		switch {
		case err != nil:
			return exit.Usagef("%s %s: %v", b.flag, b.text, err)
		case n < 1<<16 || n > 1<<40:
			return exit.Usagef("%s %s: write a size from 64KiB to 1024GiB", b.flag, b.text)
		}
		*b.to = int(n)
	}
	return nil
}
