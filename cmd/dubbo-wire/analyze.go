package main

import (
	"cmp"
	"fmt"
	"math"
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
	{"big-requests", "rank by the largest requests, and list these", sizes.BigRequests, "request-max"},
	{"big-responses", "rank by the largest responses, and list these", sizes.BigResponses, "response-max"},
	{"slow", "rank by latency, and list the slowest calls", sizes.Slow, "latency"},
	{"errors", "rank by errors, and list what went wrong", sizes.Errors, "errors"},
}

func (a *analyzeFlags) add(cmd *cobra.Command, formats ...string) {
	a.filter.add(cmd)
	a.output.add(cmd, formats...)
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&a.by, "by", "", "group by `KEYS`: protocol, serialization, service, method, version, client, server, connection, status, input, dubboVersion, responseSerialization, time:10s; several joined by commas")
		fs.StringVar(&a.print.Sort, "sort", "", "sort groups by `COLUMN`: "+strings.Join(report.SortNames(), ", "))
		fs.IntVar(&a.measure.Top, "top", 0, "print `N` rows of the ranking in tables (default 10); csv and json always have all")
		bound(fs, "top", &a.measure.Top, 0, math.MaxInt, "write a number of rows, 0 for the default")
		fs.BoolVar(&a.measure.Details, "details", false, "add a block for each of the top methods: histograms of sizes, what bodies are made of by path, the largest body (5, or as --top says)")
		fs.BoolVar(&a.print.SameMethods, "same-methods", false, "only methods seen in more than one serialization, and what the same calls weigh in each")
		fs.BoolVar(&a.measure.Findings, "findings", false, "print only the findings")
		for i, p := range presets {
			fs.BoolVar(&a.presets[i], p.flag, false, p.usage)
		}
		fs.StringVar(&a.sample, "sample", "", "look into `N` calls of each method on each of 16 shares of the connections, or all, for findings, --details, html, pprof and folded (default: some for findings, all for the others)")
		fs.BoolVar(&a.measure.Parts, "parts", false, "take bodies apart and say what their bytes are for: values, names, attachments, envelope, overhead, opaque")
	})
	addFlags(cmd.Flags(), limitGroup, func(fs *pflag.FlagSet) {
		fs.IntVar(&a.measure.MaxGroups, "max-groups", sizes.DefaultMaxGroups, "keep `N` groups apart; later ones go to one row")
		bound(fs, "max-groups", &a.measure.MaxGroups, 1, math.MaxInt, "write a number of groups, 1 or more")
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.BoolVar(&a.print.Buckets, "buckets", false, "save histograms in json: such a report can be read back, added to others and compared")
	})
	flagValues(cmd, "sort", report.SortNames())
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
	for i, preset := range presets {
		if a.presets[i] {
			cfg.Presets = append(cfg.Presets, preset.preset)
			p.Sort = cmp.Or(p.Sort, preset.sort)
		}
	}
	if p.SameMethods {
		for _, k := range []sizes.Key{sizes.Serialization, sizes.Service, sizes.Method} {
			if !slices.Contains(cfg.By.Keys, k) {
				return cfg, p, exit.Usagef("--same-methods compares serializations method by method: --by needs serialization, service and method")
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
		Short:   "Print the size comparison of one or more captures",
		Long: `analyze reads captures and prints what their Dubbo calls weigh: by serialization, by method, and what was not seen.

FILE is a pcap or pcapng file, plain or compressed with gzip or zstd, a folder of them, or - for standard input.
Several files are one capture, merged by time. A report saved with --format json --buckets is a FILE, too: several
add up, also to captures.`,
		Example: `  dubbo-wire analyze trace.pcap
  dubbo-wire analyze rotated/ --by client,method --top 30
  dubbo-wire analyze trace.pcap --serialization 'kryo*' -o sizes.json`,
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
			if err := p.Print(targets, r, "analyze "+strings.Join(args, " "), explain); err != nil {
				return err
			}
			if len(cfg.Presets) > 0 && len(files.Saved) > 0 && !s.quiet {
				fmt.Fprintf(s.err, "dubbo-wire: %s is a saved report, which has no single calls: groups are ranked, and no calls are listed\n", files.Saved[0].Origin)
			}
			if list := r.AddedUp; list != nil && !s.quiet {
				fmt.Fprintf(s.err, "dubbo-wire: %s are added up, and rates are over the %s from the first packet to the last; --by input,%s tells them apart, compare shows the change\n",
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
		return 0, exit.Usagef("--sample %s: write a number of calls, or all", text)
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
