package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/compare"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

func newCompare(s *streams) *cobra.Command {
	var in inputFlags
	var filters filterFlags
	var out outputFlags
	var by, sort string
	var top int
	var alpha float64
	cmd := &cobra.Command{
		Use:     "compare BEFORE AFTER",
		GroupID: "measure",
		Short:   "Compare captures, method by method",
		Long: `compare shows the sizes and latencies of every method before and after, and whether a change is more than noise.

BEFORE and AFTER are each a capture, a folder of captures, or a report saved with --format json --buckets. A label may
precede the name, as in kryo=after.pcap. If there are more than two, each is compared with the first one.`,
		Example: `  dubbo-wire compare before.pcap after.pcap
  dubbo-wire compare hessian2=before.pcap kryo=after.pcap -o change.md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exit.Usagef("compare needs two captures or saved reports; try: dubbo-wire compare before.pcap after.pcap")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := compareBy(by)
			if err != nil {
				return err
			}
			if !(alpha > 0 && alpha < 1) {
				return exit.Usagef("--alpha %g: must be between 0 and 1, such as 0.05", alpha)
			}
			if !(&compare.Comparison{}).Sort(sort) {
				return exit.Usagef("--sort %s: choose from %s", sort, strings.Join(compare.SortNames(), ", "))
			}
			fl, err := filters.parse()
			if err != nil {
				return err
			}
			args, labels, err := measure.SideLabels(args)
			if err != nil {
				return err
			}
			targets, err := out.Open(s.places)
			if err != nil {
				return err
			}
			in.complete(s)
			in.Filter = fl
			c, verdict, err := in.Compare(args, labels, measure.Config{By: keys, ByGiven: true, Filter: fl}, alpha)
			if err != nil {
				output.Discard(targets)
				return err
			}
			c.Sort(sort)
			if err := out.Print(targets, func(t *output.Target, st report.Style) error {
				st.Top = top
				return c.Write(t.W, t.Format, st)
			}); err != nil {
				return err
			}
			return verdict
		},
	}
	in.add(cmd)
	filters.add(cmd)
	out.add(cmd, "table", "markdown", "csv", "json")
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&by, "by", "service,method", "compare groups by `KEYS`, separated by commas: service, method, protocol, serialization, version, client, server, status, dubboVersion, responseSerialization, encoding, product, side")
		fs.StringVar(&sort, "sort", "", "sort methods by `COLUMN`: "+strings.Join(compare.SortNames(), ", ")+" (default change: of bytes on the wire)")
		fs.IntVar(&top, "top", 0, "print the first `N` methods in tables (default 10); csv and json contain all methods")
		atLeast(fs, "top", &top, 0)
	})
	flagValues(cmd, "sort", compare.SortNames())
	cmd.Flags().Float64Var(&alpha, "alpha", 0.05, "treat a change as noise unless its p value is below `PROBABILITY`")
	return cmd
}

// compareBy parses --by. It refuses keys that differ from capture to capture.
func compareBy(text string) (sizes.By, error) {
	by, err := sizes.ParseBy(text)
	if err != nil {
		return by, exit.Usagef("%v", err)
	}
	if k, found := varyingKey(by); found {
		return by, exit.Usagef("--by %s: its values differ in every capture; use keys such as service, method or serialization", k)
	}
	return by, nil
}

// varyingKey returns the first key whose values differ from capture to capture.
func varyingKey(by sizes.By) (key sizes.Key, found bool) {
	for _, k := range by.Keys {
		if k == sizes.Connection || k == sizes.Input || k == sizes.Time {
			return k, true
		}
	}
	return key, false
}
