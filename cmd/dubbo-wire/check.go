package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/check"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// checkFlags are the flags of check.
type checkFlags struct {
	in        inputFlags
	filter    filterFlags
	output    outputFlags
	golden    string
	by        string
	tolerance string
	budget    []string
	budgets   string
	growth    bool
	update    bool
	strict    bool
	buckets   bool
	top       int

	limits []check.Budget // of budget and budgets
}

func newCheck(s *streams) *cobra.Command {
	var c checkFlags
	cmd := &cobra.Command{
		Use:     "check FILE... [--golden G] [--budget RULE]",
		GroupID: "measure",
		Short:   "Fail if sizes differ from a golden file or exceed a budget",
		Long: `check compares the mean, p99 and maximum body bytes of every method with a golden file, for requests and for
successful responses. It exits with 3 if a size differs by more than the tolerance, if a method is missing, or if a
method changed its serialization. Totals and numbers of calls may differ. --update writes the golden file.

A budget limits one size of all methods that match a pattern. It needs no golden file.

FILE is a capture, a folder of captures, or a saved report, as for analyze. To record a test run:
dubbo-wire capture lo -w trace.pcap -- mvn verify`,
		Example: `  dubbo-wire check trace.pcap --golden golden.json --update --tolerance 5%
  dubbo-wire check trace.pcap --golden golden.json
  dubbo-wire check trace.pcap --golden golden.json -o junit.xml
  dubbo-wire check trace.pcap --budget '*/* response max<=1MB'`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(s, args) },
	}
	c.in.add(cmd)
	c.filter.add(cmd)
	c.output.add(cmd, check.Formats()...)
	fs := cmd.Flags()
	fs.StringVar(&c.golden, "golden", "", "compare with the sizes in `FILE`")
	fs.BoolVar(&c.update, "update", false, "write the sizes into the golden file and keep its tolerance")
	fs.StringVar(&c.tolerance, "tolerance", "", "allow sizes to differ by `PERCENT` from the golden file (default: the tolerance in that file, else 0); --update saves it there")
	fs.StringArrayVar(&c.budget, "budget", nil, "fail if a method exceeds `RULE`: 'SERVICE/METHOD request|response mean|p99|max<=SIZE', SERVICE and METHOD may be globs")
	fs.StringVar(&c.budgets, "budgets", "", "read budgets from `FILE`, one per line")
	fs.BoolVar(&c.growth, "growth-only", false, "fail only on sizes that grow")
	fs.BoolVar(&c.strict, "strict", false, "also fail on methods that are not in the golden file, and on budgets that match no method")
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&c.by, "by", "", "group a new golden file by `KEYS`; an existing one keeps its grouping")
		fs.IntVar(&c.top, "top", 0, "print `N` methods in tables (default 20)")
		atLeast(fs, "top", &c.top, 0)
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.BoolVar(&c.buckets, "buckets", false, "with --update, write a full report with histograms, which analyze and compare can also read")
	})
	return cmd
}

func (c *checkFlags) run(s *streams, args []string) error {
	if err := c.readBudgets(); err != nil {
		return err
	}
	if c.golden == "" {
		if len(c.limits) == 0 {
			return exit.Usagef("check needs --golden FILE or --budget RULE; write a golden file with: dubbo-wire check %s --golden golden.json --update", strings.Join(args, " "))
		}
		for _, f := range []struct {
			given bool
			name  string
		}{{c.update, "--update"}, {c.tolerance != "", "--tolerance"}, {c.growth, "--growth-only"}} {
			if f.given {
				return exit.Usagef("%s needs --golden FILE", f.name)
			}
		}
	}
	c.in.complete(s)
	golden, terms, err := c.readGolden()
	if err != nil {
		return err
	}
	by := sizes.DefaultBy()
	if golden != nil {
		by = golden.By
	} else if c.by != "" {
		if by, err = compareBy(c.by); err != nil {
			return err
		}
	}
	if len(c.limits) > 0 && !(slices.Contains(by.Keys, sizes.Service) && slices.Contains(by.Keys, sizes.Method)) {
		return exit.Usagef("budgets limit methods, but the sizes are not grouped by service and method")
	}
	fl, err := c.filter.parse()
	if err != nil {
		return err
	}
	if golden != nil {
		if leftOut := golden.Select(c.filter.byKey()); c.update && leftOut > 0 {
			return exit.Usagef("--update would remove %s from %s, because of %s; omit that filter, or write another file",
				term.Counted(int64(leftOut), "method"), c.golden, fl.Text)
		}
	}
	c.in.Filter = fl
	targets, err := c.output.Open(s.places)
	if err != nil {
		return err
	}
	res, verdict, err := c.check(s, args, golden, terms, measure.Config{By: by, ByGiven: true, Filter: fl})
	if err != nil {
		output.Discard(targets)
		return err
	}
	if err := c.output.Print(targets, func(t *output.Target, st report.Style) error {
		st.Top = c.top
		return res.Write(t.W, t.Format, st)
	}); err != nil {
		return err
	}
	return verdict
}

// readBudgets parses the budgets of both flags.
func (c *checkFlags) readBudgets() error {
	for _, text := range c.budget {
		b, err := check.ParseBudget(text)
		if err != nil {
			return exit.Usagef("--budget: %v", err)
		}
		c.limits = append(c.limits, b)
	}
	if c.budgets == "" {
		return nil
	}
	f, err := os.Open(c.budgets)
	if err != nil {
		return exit.Usagef("--budgets %s: cannot be read: %v", c.budgets, err)
	}
	defer f.Close()
	list, err := check.ReadBudgets(f)
	if err != nil {
		return exit.Usagef("--budgets %s: %v", c.budgets, err)
	}
	c.limits = append(c.limits, list...)
	return nil
}

// readGolden reads the golden file; golden is nil without one. With --update, a file that does not exist yet is empty.
func (c *checkFlags) readGolden() (golden *report.Summaries, terms check.Terms, err error) {
	if c.golden == "" {
		return nil, terms, nil
	}
	golden = &report.Summaries{By: sizes.DefaultBy()}
	f, err := os.Open(c.golden)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.update:
		if c.by != "" {
			if golden.By, err = compareBy(c.by); err != nil {
				return nil, terms, err
			}
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil, terms, exit.Usagef("--golden %s: no such file; write it with --update", c.golden)
	case err != nil:
		return nil, terms, exit.Usagef("--golden %s: cannot be read: %v", c.golden, err)
	default:
		defer f.Close()
		body, err := measure.OpenJSON(f)
		if err == nil {
			golden, err = check.ReadGolden(body)
		}
		if err != nil {
			return nil, terms, exit.Usagef("--golden %s: %v", c.golden, err)
		}
		if k, found := varyingKey(golden.By); found {
			return nil, terms, exit.Usagef("--golden %s: it is grouped by %s, which differs between runs", c.golden, k)
		}
	}
	if terms, err = check.TermsOf(golden); err != nil {
		return nil, terms, exit.Usagef("--golden %s: %v", c.golden, err)
	}
	if c.tolerance != "" {
		if terms.All, err = check.ParseTolerance(c.tolerance); err != nil {
			return nil, terms, exit.Usagef("--%v", err)
		}
	}
	return golden, terms, nil
}

// check measures, compares, and with --update writes the golden file.
func (c *checkFlags) check(s *streams, args []string, golden *report.Summaries, terms check.Terms, cfg measure.Config) (*check.Result, error, error) {
	files, err := c.in.OpenAny(args)
	if err != nil {
		return nil, nil, err
	}
	defer files.Close()
	r, readErr, err := files.Report(cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := r.Readable(); err != nil {
		return nil, nil, exit.Usagef("%v", err)
	}
	verdict := c.in.Verdict(r.Totals, r.Selected.Calls, r.Filtered, readErr)
	if r.Selected.Calls == 0 {
		if verdict == nil {
			verdict = exit.Errorf(exit.Nothing, "the capture contains no calls to check")
		}
		return nil, nil, verdict
	}
	res, err := check.Run(golden, terms, r)
	if err != nil {
		return nil, nil, exit.Usagef("--golden %s: %v", c.golden, err)
	}
	res.Golden, res.Strict, res.GrowthOnly, res.MinCoverage = c.golden, c.strict, c.growth, c.in.MinCoverage
	res.CheckBudgets(c.limits, r)
	if len(files.Saved) == 0 {
		res.Explain = explainCommand(args)
	}
	if c.update {
		if verdict != nil {
			return nil, nil, exit.Errorf(exit.CodeOf(verdict), "%v\n%s was not updated, because the capture is not complete", verdict, c.golden)
		}
		if filter := cfg.Filter.OfCalls; filter != "" && res.Vanished > 0 {
			return nil, nil, exit.Usagef("--update would remove %s from %s, because %s selects none of their calls; omit the filter, write another file, or remove this one first",
				term.Counted(int64(res.Vanished), "method"), c.golden, filter)
		}
		if err := c.write(s, r, golden, terms); err != nil {
			return nil, nil, err
		}
		res.Updated = true
	}
	if reasons := res.Reasons(); len(reasons) > 0 {
		if filter := cfg.Filter.OfCalls; filter != "" && res.Drifted() && res.Vanished > 0 {
			reasons[0] += "; " + filter + " selects calls of this run, but not methods of the golden file"
		}
		text := strings.Join(reasons, "; ")
		if verdict != nil {
			text = verdict.Error() + "\n" + text
		}
		verdict = exit.Errorf(exit.Coverage, "%s", text)
	}
	return res, verdict, nil
}

// write replaces the golden file when the new one is complete.
func (c *checkFlags) write(s *streams, r *report.Report, golden *report.Summaries, terms check.Terms) error {
	r.Golden = &report.Golden{Tolerance: terms.All.JSON(), Tolerances: golden.Tolerances}
	if golden.Tolerance != nil && c.tolerance == "" {
		r.Golden.Tolerance = golden.Tolerance // keep its notation
	}
	t, err := s.places.Unfinished("--golden", "json", c.golden, c.golden)
	if err != nil {
		return err
	}
	return c.output.Print([]*output.Target{t}, func(t *output.Target, _ report.Style) error {
		if c.buckets {
			r.Fingerprints = nil // they differ in every run
			return r.WriteJSON(t.W, true)
		}
		return check.WriteGolden(t.W, r)
	})
}
