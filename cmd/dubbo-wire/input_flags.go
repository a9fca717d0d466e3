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
	classes classFlags
}

func (i *inputFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), runGroup, func(fs *pflag.FlagSet) {
		i.addCoverage(fs)
		fs.IntVar(&i.Jobs, "jobs", 0, "decode with `N` workers; the output does not depend on N (default: the number of processors if bodies are decoded, else 1)")
		within(fs, "jobs", &i.Jobs, 1, 1024)
	})
	i.limitFlags.add(cmd)
	i.addRoutes(cmd)
	i.addClasses(cmd)
}

func (i *inputFlags) addCoverage(fs *pflag.FlagSet) {
	fs.Float64Var(&i.MinCoverage, "min-coverage", 0, "exit with 3 if less than `PERCENT` of Dubbo's bytes are in complete frames")
	within(fs, "min-coverage", &i.MinCoverage, 0, 100)
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
	i.Quiet = s.quiet
	i.NoProgress, i.Verbose, i.Abandon = s.quiet, s.verbose, s.places.Abandon
}
