package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

func newCapture(s *streams) *cobra.Command {
	var a analyzeFlags
	var in inputFlags
	var iface string
	var duration time.Duration
	var packets int64
	var snapLen int
	var minCoverage float64
	var readFile string
	cmd := &cobra.Command{
		Use:     "capture [-i] IFACE",
		GroupID: "measure",
		Short:   "The same report, live from a network interface, until Ctrl-C",
		Long: `capture reads packets from an interface (any: all of them) and prints the report of analyze at Ctrl-C, or when a limit
is reached. It needs the right to capture: run it as root, or give the program cap_net_raw.`,
		Example: `  sudo dubbo-wire capture eth0
  sudo dubbo-wire capture lo --port 20880 --duration 30s --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case readFile != "":
				return usage("capture reads no files: use dubbo-wire analyze %s", readFile)
			case iface == "" && len(args) == 0:
				return usage("no interface given; try: dubbo-wire capture eth0 (dubbo-wire interfaces lists them)")
			case iface == "" && len(args) > 1, iface != "" && len(args) > 0:
				return usage("filter expressions and commands behind the interface are not supported; --port, --host, --service … select calls")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if iface == "" {
				iface = args[0]
			}
			p, err := a.parse()
			in.minCoverage = minCoverage
			switch {
			case err != nil:
			case duration < 0:
				err = usage("--duration %v: write a duration from 0 up", duration)
			case packets < 0:
				err = usage("--count %d: write a number of packets, 0 for no limit", packets)
			case snapLen < 0:
				err = usage("--snapshot-length %d: write a number of bytes, 0 for whole packets", snapLen)
			default:
				err = in.check()
			}
			if err != nil {
				return err
			}
			targets, err := a.output.targets(s)
			if err != nil {
				return err
			}
			src, err := capture.OpenLive(strings.Split(iface, ","), capture.LiveOptions{SnapLen: snapLen})
			if err != nil {
				discard(targets)
				return err
			}
			defer src.Close()
			stop := catch()
			defer stop.release()
			started := time.Now()
			agg := sizes.New(p.by, a.maxGroups, []string{iface})
			opt := pipeline.Options{Formats: formats.All(), Detail: a.detail(), Limits: in.limits.parsed}
			source := capture.Source(&limited{Source: src, left: packets})
			p.filter.apply(&opt)
			opt.Stop = func() bool { return stop.stopped.Load() || duration > 0 && time.Since(started) >= duration }
			cmd.PrintErrln("capturing on " + iface + "; Ctrl-C ends it and prints the report")
			totals, runErr := pipeline.Run(source, opt, groups{agg})
			withoutBodies(totals)
			r := report.Build(src.Inputs(), totals, p.by, agg.Groups())
			r.Filtered, r.Parts = !p.filter.empty, a.parts
			if err := a.print(targets, r, "capture "+strings.Join(args, " ")); err != nil {
				return err
			}
			if runErr != nil {
				return fail(exitPartly, "%s: %v", iface, runErr)
			}
			err = in.verdict(totals, r.Selected.Calls, r.Filtered, nil)
			if nothing, ok := errors.AsType[*exitError](err); ok && nothing.code == exitNothing {
				// A capture that was ended has done its work, whatever there was on the wire.
				cmd.PrintErrln("dubbo-wire: " + nothing.text)
				return nil
			}
			return err
		},
	}
	a.add(cmd)
	in.limits.add(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&iface, "interface", "i", "", "capture on `IFACE`, as tcpdump has it")
	fs.DurationVar(&duration, "duration", 0, "stop after `DURATION`")
	fs.Int64VarP(&packets, "count", "c", 0, "stop after `N` packets")
	fs.IntVarP(&snapLen, "snapshot-length", "s", 0, "keep `N` bytes of each packet (default 262144)")
	fs.Float64Var(&minCoverage, "min-coverage", 0, "exit with 3 when less than `PERCENT` of Dubbo's bytes were in whole frames")
	fs.StringVarP(&readFile, "read-file", "r", "", "tcpdump's flag; here analyze reads files")
	_ = fs.MarkHidden("read-file")
	fs.BoolP("numeric", "n", true, "accepted as tcpdump's habit; names are never resolved")
	return cmd
}

// limited ends a source after a number of packets; 0 is no limit.
type limited struct {
	capture.Source
	left int64
}

func (l *limited) Next(p *capture.Packet) error {
	if l.left < 0 {
		return capture.ErrClosed
	}
	err := l.Source.Next(p)
	if err == nil && l.left > 0 {
		if l.left--; l.left == 0 {
			l.left = -1
		}
	}
	return err
}

func newInterfaces(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "interfaces",
		GroupID: "about",
		Short:   "List the network interfaces that can be captured",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := capture.Interfaces()
			if err != nil {
				return err
			}
			for _, i := range list {
				state := "down"
				if i.Up {
					state = "up"
				}
				cmd.Println(strings.TrimRight(strings.Join([]string{pad(i.Name, 15), pad(state, 4), strings.Join(i.Addrs, " ")}, "  "), " "))
			}
			return nil
		},
	}
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(n-len(s), 0))
}
