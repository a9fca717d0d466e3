package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/compare"
	"dubbo-wire/internal/exit"
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
		Short:   "Put captures side by side, with the change of every method",
		Long: `compare says of every method what it weighs before and after, and whether that is more than noise.

BEFORE and AFTER are each a capture, a folder of captures, or a report saved with --format json --buckets. A label may
stand in front, as in kryo=after.pcap. More than two are compared with the first one.`,
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
				return exit.Usagef("--alpha %g: write a probability between 0 and 1, such as 0.05", alpha)
			}
			if top < 0 {
				return exit.Usagef("--top %d: write a number of methods, 0 for the default", top)
			}
			if !(&compare.Comparison{}).Sort(sort) {
				return exit.Usagef("--sort %s: choose from %s", sort, strings.Join(compare.SortNames(), ", "))
			}
			fl, err := filters.parse()
			if err == nil {
				err = in.check()
			}
			if err != nil {
				return err
			}
			labels, err := sideLabels(args)
			if err != nil {
				return err
			}
			targets, err := out.Open(s.places)
			if err != nil {
				return err
			}
			c, verdict, err := compareSides(s, &in, labels, measuring{
				by: keys, byGiven: true, filter: fl, flags: &filters, maxGroups: sizes.DefaultMaxGroups,
			}, alpha)
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
		fs.StringVar(&by, "by", "service,method", "compare what shares `KEYS`: service, method, protocol, serialization, version, client, server, status, dubboVersion, responseSerialization; several joined by commas")
		fs.StringVar(&sort, "sort", "", "sort methods by `COLUMN`: "+strings.Join(compare.SortNames(), ", ")+" (default change: of bytes on the wire)")
		fs.IntVar(&top, "top", 0, "print `N` methods in tables (default 10); csv and json always have all")
	})
	flagValues(cmd, "sort", compare.SortNames())
	cmd.Flags().Float64Var(&alpha, "alpha", 0.05, "a change is noise unless chance alone makes one as large with less than this `PROBABILITY`")
	return cmd
}

// compareBy reads --by: keys that mean the same in every capture.
func compareBy(text string) (sizes.By, error) {
	by, err := sizes.ParseBy(text)
	if err != nil {
		return by, exit.Usagef("%v", err)
	}
	for _, k := range by.Keys {
		switch k {
		case sizes.Connection, sizes.Input, sizes.Time:
			return by, exit.Usagef("--by %s: it is another one in every capture; compare by service, method, serialization and such", k)
		}
	}
	return by, nil
}

// side is an argument of compare.
type side struct{ label, arg string }

// sideLabels names the arguments: as their user does, else by their files, made distinct.
func sideLabels(args []string) ([]side, error) {
	l, err := parseLabels(args)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(l.paths, "-"); i >= 0 && slices.Contains(l.paths[i+1:], "-") {
		return nil, exit.Usagef("standard input (-) is given twice; it can be read once")
	}
	sides := make([]side, len(args))
	for i, path := range l.paths {
		sides[i] = side{l.names[i], path}
		if l.names[i] == "" {
			sides[i].label = filepath.Base(path)
			if path == "-" {
				sides[i].label = "standard input"
			}
		}
	}
	same := func(i int) bool {
		return slices.IndexFunc(sides, func(o side) bool { return o.label == sides[i].label }) != i
	}
	for i := range sides {
		if same(i) && l.names[i] == "" {
			sides[i].label = l.paths[i] // with its folder
			for k := 0; k < i; k++ {
				if l.names[k] == "" && filepath.Base(l.paths[k]) == filepath.Base(l.paths[i]) {
					sides[k].label = l.paths[k]
				}
			}
		}
	}
	for i := range sides {
		for n := 2; same(i); n++ {
			sides[i].label = strings.TrimSuffix(sides[i].label, " ("+strconv.Itoa(n-1)+")") + " (" + strconv.Itoa(n) + ")"
		}
	}
	return sides, nil
}

// compareSides measures every side. verdict is the exit code of a comparison that was printed.
func compareSides(s *streams, in *inputFlags, args []side, m measuring, alpha float64) (c *compare.Comparison, verdict, err error) {
	var sides []compare.Side
	var broken, low []string
	for _, a := range args {
		one := *in // with its own signals
		files, err := one.sort(s, []string{a.arg})
		if err != nil {
			return nil, nil, err
		}
		r, readErr, err := one.measure(s, files, m)
		if err != nil {
			return nil, nil, err
		}
		if readErr != nil {
			broken = append(broken, readErr.Error())
		}
		if one.stop != nil && one.stop.Stopped() && len(sides) < len(args)-1 {
			return nil, nil, exit.Errorf(exit.Partly, "stopped before all sides were read; nothing is compared")
		}
		if v := one.verdict(r.Totals, r.Selected.Calls, r.Filtered, readErr); v != nil {
			switch code := exit.CodeOf(v); {
			case r.Selected.Calls == 0:
				return nil, nil, exit.Errorf(code, "%s: %v", a.label, v)
			case code == exit.Coverage:
				low = append(low, a.label+": "+v.Error())
			}
		}
		sides = append(sides, compare.Side{Label: a.label, Report: r})
	}
	c, err = compare.New(sides, alpha)
	if errors.Is(err, compare.ErrNothing) {
		return nil, nil, exit.Errorf(exit.Nothing, "nothing to compare: a side has no calls")
	}
	switch {
	case len(low) > 0:
		verdict = exit.Errorf(exit.Coverage, "%s", strings.Join(low, "\n"))
	case len(broken) > 0:
		verdict = exit.Errorf(exit.Partly, "%s", strings.Join(broken, "\n"))
	}
	return c, verdict, err
}
