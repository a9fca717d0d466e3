package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// analyzeFlags are the flags that analyze and capture share.
type analyzeFlags struct {
	filter     filterFlags
	output     outputFlags
	measure    measure.Config
	print      measure.Print
	by, sample string
	presets    [len(presets)]bool
}

// presets are the flags that rank groups and list calls.
var presets = [...]struct {
	flag, usage string
	preset      sizes.Preset
	sort        string
}{
	{"big-requests", "sort by the largest request, and list the largest requests", sizes.BigRequests, "request-max"},
	{"big-responses", "sort by the largest response, and list the largest responses", sizes.BigResponses, "response-max"},
	{"slow", "sort by latency, and list the slowest calls", sizes.Slow, "latency"},
	{"errors", "sort by errors, and list the failed calls", sizes.Errors, "errors"},
}

func (a *analyzeFlags) add(cmd *cobra.Command, formats ...string) {
	a.filter.add(cmd)
	a.output.add(cmd, formats...)
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&a.by, "by", "", "group by `KEYS`, separated by commas: protocol, serialization, service, method, version, client, server, connection, status, input, dubboVersion, responseSerialization, encoding, product, side, time:10s (intervals)")
		fs.StringVar(&a.print.Sort, "sort", "", "sort groups by `COLUMN`: "+strings.Join(report.SortNames(), ", "))
		fs.IntVar(&a.measure.Top, "top", 0, "print the first `N` groups in tables (default 10); csv and json contain all groups")
		atLeast(fs, "top", &a.measure.Top, 0)
		fs.BoolVar(&a.measure.Details, "details", false, "add details of the first 5 methods, or of --top N: histograms of sizes, body composition by path, the largest body")
		fs.BoolVar(&a.print.SameMethods, "same-methods", false, "show only methods seen in more than one serialization, and compare their sizes")
		fs.StringSliceVar(&a.print.Sections, "sections", nil, "print only these `SECTIONS` of tables and markdown, in this order, separated by commas: "+strings.Join(report.SectionNames(), ", "))
		fs.BoolVar(&a.measure.Findings, "findings", false, "print only the findings")
		for i, p := range presets {
			fs.BoolVar(&a.presets[i], p.flag, false, p.usage)
		}
		fs.StringVar(&a.sample, "sample", "", "decode the bodies of `N` calls per method (in each of 16 groups of connections), or of all calls (all); the default is a sample of each method: all calls of a small capture, the first ones of a large one")
		fs.BoolVar(&a.measure.Parts, "parts", false, "decode all bodies, not only a sample, to measure what their bytes are for: values, names, attachments, envelope, overhead, opaque")
	})
	addFlags(cmd.Flags(), limitGroup, func(fs *pflag.FlagSet) {
		fs.IntVar(&a.measure.MaxGroups, "max-groups", sizes.DefaultMaxGroups, "limit the report to `N` groups; merge the rest into one row")
		atLeast(fs, "max-groups", &a.measure.MaxGroups, 1)
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.BoolVar(&a.print.Buckets, "buckets", false, "include histograms in json; analyze, compare and check can read such a report")
	})
	flagValues(cmd, "sort", report.SortNames())
	flagValues(cmd, "sections", report.SectionNames())
}

// chooseSections checks --sections. A section that a flag asks for is asked for by its name, too, but does not drop groups as
// --same-methods does.
func (a *analyzeFlags) chooseSections(cfg *measure.Config) error {
	names := report.SectionNames()
	if a.print.Sections != nil && len(a.print.Sections) == 0 {
		return exit.Usagef("--sections: choose from %s", strings.Join(names, ", "))
	}
	for i, name := range a.print.Sections {
		switch {
		case !slices.Contains(names, name):
			hint := ""
			if near := nearest(name, names); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return exit.Usagef("--sections: %q is not a section%s Choose from %s", name, cmp.Or(hint, "."), strings.Join(names, ", "))
		case slices.Contains(a.print.Sections[:i], name):
			return exit.Usagef("--sections names %s twice", name)
		case name == "details":
			cfg.Details = true
		}
		for i, p := range presets {
			a.presets[i] = a.presets[i] || p.flag == name
		}
	}
	if cfg.Findings && a.print.Sections != nil {
		return exit.Usagef("--findings prints the findings alone; leave out --sections")
	}
	return nil
}

// complete returns what the flags ask to measure, and how to print the report.
func (a *analyzeFlags) complete() (cfg measure.Config, p *measure.Print, err error) {
	cfg, p = a.measure, &a.print
	p.Output, p.Top, p.Findings = &a.output.Options, cfg.Top, cfg.Findings
	cfg.By, cfg.ByGiven = sizes.DefaultBy(), a.by != ""
	if cfg.ByGiven {
		if cfg.By, err = sizes.ParseBy(a.by); err != nil {
			return cfg, p, exit.Usagef("%v", err)
		}
	}
	if !(&report.Report{}).SortBy(p.Sort) {
		return cfg, p, exit.Usagef("--sort %s: choose from %s", p.Sort, strings.Join(report.SortNames(), ", "))
	}
	if cfg.Sample, err = parseSample(a.sample); err != nil {
		return cfg, p, err
	}
	if err = a.chooseSections(&cfg); err != nil {
		return cfg, p, err
	}
	for i, preset := range presets {
		if a.presets[i] {
			cfg.Presets = append(cfg.Presets, preset.preset)
			p.Sort = cmp.Or(p.Sort, preset.sort)
		}
	}
	if p.SameMethods || slices.Contains(p.Sections, report.SameMethodsName) {
		for _, k := range []sizes.Key{sizes.Serialization, sizes.Service, sizes.Method} {
			if !slices.Contains(cfg.By.Keys, k) {
				return cfg, p, exit.Usagef("--same-methods compares the serializations of each method; add serialization, service and method to --by")
			}
		}
	}
	cfg.Filter, err = a.filter.parse()
	return cfg, p, err
}

func newAnalyze(s *streams) *cobra.Command {
	var in inputFlags
	var a analyzeFlags
	cmd := &cobra.Command{
		Use:     "analyze FILE...",
		GroupID: "measure",
		Short:   "Report sizes by serialization and method",
		Long: `analyze reads captures and reports the sizes of their Dubbo calls, by serialization and by method, and how complete
the captures are.

FILE is a pcap or pcapng file (plain, gzip or zstd), a folder of them, or - for standard input. Several files are
merged by time and reported as one capture. FILE may also be a report that was saved with --format json --buckets,
or a folder of such reports and nothing else; analyze adds up reports and captures.`,
		Example: `  dubbo-wire analyze trace.pcap
  dubbo-wire analyze trace.pcap --same-methods
  dubbo-wire analyze trace.pcap --errors
  dubbo-wire analyze rotated/ --by client,method --top 30
  dubbo-wire analyze trace.pcap --serialization 'kryo*' -o sizes.json
  dubbo-wire analyze trace.pcap --side server --self 10.0.0.7
  dubbo-wire analyze trace.pcap --classpath app.jar
  dubbo-wire analyze --classpath app.jar --find-optimizers`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, p, err := a.complete()
			if err != nil {
				return err
			}
			targets, err := p.Open(s.places, &cfg)
			if err != nil {
				return err
			}
			in.complete(s)
			in.Filter = cfg.Filter
			files, err := in.OpenAny(args)
			if err != nil {
				output.Discard(targets)
				return err
			}
			defer files.Close()
			r, readErr, err := files.Report(cfg)
			if err != nil {
				output.Discard(targets)
				return err
			}
			explain := ""
			if !r.Saved {
				explain = explainCommand(args)
			}
			if err := p.Print(targets, r, explain); err != nil {
				return err
			}
			if note := r.ProfileNote(); note != "" && !s.quiet && output.Any(targets, "folded", "pprof") {
				fmt.Fprintf(s.err, "dubbo-wire: %s\n", note)
			}
			if len(cfg.Presets) > 0 && len(files.Saved) > 0 && !s.quiet {
				fmt.Fprintf(s.err, "dubbo-wire: %s is a saved report and contains no single calls; groups are sorted, but no calls are listed\n", files.Saved[0].Origin)
			}
			if list := r.AddedUp; list != nil && !s.quiet {
				fmt.Fprintf(s.err, "dubbo-wire: %s are added up, and rates are averages over the %s from the first packet to the last; --by input,%s separates them, and compare shows the change\n",
					term.Clean(strings.Join(list, " and ")), report.Elapsed(r.Totals.Span()), r.ByText())
			}
			return in.Verdict(r.Totals, r.Selected.Calls, r.Filtered, readErr)
		},
	}
	in.add(cmd)
	a.add(cmd, "table", "markdown", "csv", "json", "html", "pprof", "folded")
	return cmd
}

// parseSample reads --sample.
func parseSample(text string) (int, error) {
	switch text {
	case "":
		return measure.AsNeeded, nil
	case "all":
		return pipeline.AllCalls, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, exit.Usagef("--sample %s: must be a number of calls, or all", text)
	}
	return n, nil
}

// explainCommand returns the command that shows a frame of the same files. Frames are numbered over all files.
func explainCommand(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = report.ShellWord(arg)
	}
	files := strings.Join(quoted, " ")
	if len(files) > 200 {
		files = quoted[0] + " ... " + quoted[len(quoted)-1] // the reader knows the others
	}
	return "dubbo-wire explain " + files
}
