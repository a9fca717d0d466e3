package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
)

// inputFlags are the flags that say how to read captures.
type inputFlags struct {
	measure.Input
	limitFlags
}

func (i *inputFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), runGroup, func(fs *pflag.FlagSet) {
		i.addCoverage(fs)
		fs.IntVar(&i.Jobs, "jobs", 0, "share connections between `N` workers; the output is the same for every N (default: the number of processors where bodies are taken apart, else 1)")
		bound(fs, "jobs", &i.Jobs, 0, 1024, "write a number of workers, 1 or more")
	})
	i.limitFlags.add(cmd)
}

func (i *inputFlags) addCoverage(fs *pflag.FlagSet) {
	fs.Float64Var(&i.MinCoverage, "min-coverage", 0, "exit with 3 when less than `PERCENT` of Dubbo's bytes were in whole frames")
	bound(fs, "min-coverage", &i.MinCoverage, 0, 100, "write a percentage from 0 to 100")
}

// needFiles requires at least one FILE.
func needFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Usagef("no capture given; try: %s trace.pcap (- reads standard input)", cmd.CommandPath())
	}
	return nil
}

// complete sets the input's streams and the flags of the whole program.
func (i *inputFlags) complete(s *streams) {
	i.Stdin, i.Stderr, i.Input.Limits = s.in, s.err, i.limits()
	i.NoProgress, i.Verbose, i.Abandon = s.quiet, s.verbose, s.places.Abandon
}
