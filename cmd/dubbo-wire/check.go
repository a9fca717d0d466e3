package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/check"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// checkFlags are the flags of check.
type checkFlags struct {
	in        inputFlags
	filter    filterFlags
	output    outputFlags
	golden    string
	by        string
	tolerance string
	update    bool
	strict    bool
	buckets   bool
	top       int
}

func newCheck(s *streams) *cobra.Command {
	var c checkFlags
	cmd := &cobra.Command{
		Use:     "check FILE... --golden G",
		GroupID: "measure",
		Short:   "Fail when sizes drift from a golden file",
		Long: `check holds mean, p99 and largest request and response body of every method to those of a golden file, in both
directions, and ends with 3 when one is further away than the tolerance, or a method is gone. Totals and counts may
change. The golden file is a JSON report with a tolerance; --update writes it.

FILE is a capture, a folder of captures, or a saved report, as for analyze.`,
		Example: `  dubbo-wire check trace.pcap --golden golden.json --update --tolerance 5%
  dubbo-wire check trace.pcap --golden golden.json
  dubbo-wire check trace.pcap --golden golden.json -o junit.xml`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(s, args) },
	}
	c.in.add(cmd)
	c.filter.add(cmd)
	c.output.add(cmd, check.Formats()...)
	fs := cmd.Flags()
	fs.StringVar(&c.golden, "golden", "", "hold sizes to those of the report in `FILE`")
	fs.BoolVar(&c.update, "update", false, "write the golden file anew, with the tolerance that it has")
	fs.StringVar(&c.tolerance, "tolerance", "", "let sizes be `PERCENT` away from the golden ones, instead of what the golden file says (0 where it says nothing); with --update that is written")
	fs.BoolVar(&c.strict, "strict", false, "fail on methods that the golden file does not have")
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&c.by, "by", "", "group a golden file that is not there yet by `KEYS`; one that is there says it itself")
		fs.IntVar(&c.top, "top", 0, "print `N` methods in tables (default 20)")
		bound(fs, "top", &c.top, 0, math.MaxInt, "write a number of methods, 0 for the default")
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.BoolVar(&c.buckets, "buckets", false, "with --update: write histograms, too, so that compare and analyze read the golden file")
	})
	return cmd
}

func (c *checkFlags) run(s *streams, args []string) error {
	if c.golden == "" {
		return exit.Usagef("check needs --golden FILE; write one with: dubbo-wire check %s --golden golden.json --update", strings.Join(args, " "))
	}
	c.in.complete(s)
	golden, terms, err := c.readGolden()
	if err != nil {
		return err
	}
	fl, err := c.filter.parse()
	if err != nil {
		return err
	}
	leftOut := golden.Select(c.filter.byKey())
	if c.update && leftOut > 0 {
		return exit.Usagef("--update would drop %d methods of %s, which %s leaves out; write it without that filter, or another file",
			leftOut, c.golden, fl.Text)
	}
	targets, err := c.output.Open(s.places)
	if err != nil {
		return err
	}
	res, verdict, err := c.check(s, args, golden, terms, measure.Config{By: golden.By, ByGiven: true, Filter: fl})
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

// readGolden reads the golden file. With --update, a file that does not exist yet is empty.
func (c *checkFlags) readGolden() (golden *report.Summaries, terms check.Terms, err error) {
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
		if golden, err = measure.ReadGolden(f); err != nil {
			return nil, terms, exit.Usagef("--golden %s: %v", c.golden, err)
		}
		if k, found := varyingKey(golden.By); found {
			return nil, terms, exit.Usagef("--golden %s: it is grouped by %s, which is another one in every run", c.golden, k)
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
			verdict = exit.Errorf(exit.Nothing, "no calls were found, so that there is nothing to check")
		}
		return nil, nil, verdict
	}
	res, err := check.Run(golden, terms, r)
	if err != nil {
		return nil, nil, exit.Usagef("--golden %s: %v", c.golden, err)
	}
	res.Golden, res.Strict, res.MinCoverage = c.golden, c.strict, c.in.MinCoverage
	if len(files.Saved) == 0 {
		res.Explain = explainCommand(args)
	}
	if c.update {
		if verdict != nil {
			return nil, nil, exit.Errorf(exit.CodeOf(verdict), "%v\n%s is left as it is: not all of the run was seen", verdict, c.golden)
		}
		if filter := cfg.Filter.OfCalls; filter != "" && res.Vanished > 0 {
			return nil, nil, exit.Usagef("--update would drop %d methods of %s of which %s leaves no call; leave the filter out, write another file, or remove this one first",
				res.Vanished, c.golden, filter)
		}
		if err := c.write(s, r, golden, terms); err != nil {
			return nil, nil, err
		}
		res.Updated = true
		return res, nil, nil
	}
	if res.Drifted() {
		text := "sizes drifted from " + c.golden
		if filter := cfg.Filter.OfCalls; filter != "" && res.Vanished > 0 {
			text += "; " + filter + " chose among the calls of the run, not among those of the golden file"
		}
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
	if r.Golden.Tolerances == nil {
		r.Golden.Tolerances = map[string]json.RawMessage{}
	}
	t, err := s.places.Unfinished("--golden", "json", c.golden, c.golden)
	if err != nil {
		return err
	}
	return c.output.Print([]*output.Target{t}, func(t *output.Target, _ report.Style) error { return r.WriteJSON(t.W, c.buckets) })
}
