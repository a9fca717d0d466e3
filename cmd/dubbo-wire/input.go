package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
)

// inputFlags are how captures are read.
type inputFlags struct {
	measure.Input
	limits limitFlags
}

func (i *inputFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), runGroup, func(fs *pflag.FlagSet) {
		i.addCoverage(fs)
		fs.IntVar(&i.Jobs, "jobs", 0, "share connections between `N` workers; the output is the same for every N (default: the number of processors where bodies are taken apart, else 1)")
	})
	i.limits.add(cmd)
}

func (i *inputFlags) addCoverage(fs *pflag.FlagSet) {
	fs.Float64Var(&i.MinCoverage, "min-coverage", 0, "exit with 3 when less than `PERCENT` of Dubbo's bytes were in whole frames")
}

// needFiles at least one FILE.
func needFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Usagef("no capture given; try: %s trace.pcap (- reads standard input)", cmd.CommandPath())
	}
	return nil
}

// check refuses what cannot be meant, and takes over what the whole program was told.
func (i *inputFlags) check(s *streams) error {
	if i.Jobs < 0 || i.Jobs > 1024 {
		return exit.Usagef("--jobs %d: write a number of workers, 1 or more", i.Jobs)
	}
	if err := i.limits.check(); err != nil {
		return err
	}
	if !(i.MinCoverage >= 0 && i.MinCoverage <= 100) {
		return exit.Usagef("--min-coverage %g: write a percentage from 0 to 100", i.MinCoverage)
	}
	i.Stdin, i.Stderr, i.Limits = s.in, s.err, i.limits.parsed
	i.NoProgress, i.Verbose, i.Abandon = s.quiet, s.verbose, s.places.Abandon
	return nil
}
