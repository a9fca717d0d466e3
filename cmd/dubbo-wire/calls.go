package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/report/parquet"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

func newCalls(s *streams) *cobra.Command {
	var f recordFlags
	var noValues, redact bool
	var sortBy, node string
	var books []*output.Target // of coverage
	cmd := &cobra.Command{
		Use:     "calls FILE...",
		GroupID: "look",
		Short:   "Print one record per call, with request and response paired",
		Long: `calls pairs requests with their responses and prints one record per call, in the order in which the calls ended.
The table does not contain values; json and jsonl contain arguments, attachments, results and exceptions, and what the
bytes are for.

parquet is a table for engines such as DuckDB, ClickHouse and Spark: one row per call, without values. Rows of csv, json,
jsonl and parquet have link bytes; they come when these are final, since retransmissions may follow the end of a call.
-o NAME.parquet also writes _coverage/NAME.parquet beside it: what was captured and what was not. docs/parquet.md has
the columns.

-w writes the packets of the selected calls to a pcapng file for Wireshark. Packets are unchanged and include
retransmissions and duplicates; the first packet of each frame has a comment (frame.comment). With -w the inputs are
read twice.`,
		Example: `  dubbo-wire calls trace.pcap
  dubbo-wire calls trace.pcap --state error
  dubbo-wire calls trace.pcap --method createUser --format jsonl
  dubbo-wire calls trace.pcap --min-latency 500ms --no-values --format jsonl
  dubbo-wire calls trace.pcap --sort latency --top 10
  dubbo-wire calls trace.pcap --redact --format jsonl -o to-share.jsonl
  dubbo-wire calls trace.pcap -o calls.parquet --node web-1
  dubbo-wire calls trace.pcap --min-latency 500ms -w slow.pcapng
  dubbo-wire calls trace.pcap --classpath app.jar --format jsonl`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if noValues && redact {
				return exit.Usagef("--no-values and --redact exclude each other; give one of them")
			}
			if sortBy != "" && !slices.Contains(measure.CallSorts, sortBy) {
				return exit.Usagef("--sort %s: choose from %s", sortBy, strings.Join(measure.CallSorts, ", "))
			}
			var tables []*report.CallTable
			kind := &recordKind[*call.Call]{
				render: func(inputs []string) func([]byte, *call.Call) []byte {
					return (&report.Calls{Inputs: inputs, NoValues: noValues, Redact: redact}).AppendJSON
				},
				table: func(t *output.Target, st report.Style, inputs []string) (output.Table[*call.Call], error) {
					if t.Format == "parquet" {
						coverage, err := measure.CoverageFile(s.places, t)
						if err != nil {
							return nil, err
						}
						if coverage != nil {
							books = append(books, coverage)
						}
						return parquet.NewCalls(t.W, inputs, node), nil
					}
					table, err := report.NewCallTable(t.W, t.Format, st, report.Calls{Inputs: inputs, NoValues: noValues, Redact: redact})
					tables = append(tables, table)
					return table, err
				},
				options: func(targets []*output.Target) pipeline.Options {
					if noValues || !output.Any(targets, "json", "jsonl") {
						return pipeline.Options{Detail: rpc.Parts, Records: true}
					}
					opt := pipeline.Options{Detail: rpc.Values, RenderValues: true, Borrow: true, Redact: redact}
					if !redact {
						opt.Print = decode.PrintValues
					}
					return opt
				},
				sink: func(_ *measure.Filter, targets []*output.Target, write func(*call.Call)) pipeline.Sink {
					if output.Any(targets, "csv", "json", "jsonl", "parquet") {
						return measure.SettledCallSink(measure.CallSink(func(*call.Call) {}), write)
					}
					return measure.CallSink(write)
				},
				after: func(src *measure.Files, totals *pipeline.Totals, verdict error) error {
					for _, t := range books {
						run := &parquet.Run{Node: node, Report: report.Build(src.Inputs(), totals, sizes.DefaultBy(), nil)}
						if err := measure.CloseCoverage(t, run, verdict); err != nil {
							_ = os.Remove(measure.CallsName(t.File)) // both appear, or neither
							return err
						}
					}
					return nil
				},
			}
			if sortBy != "" {
				kind.order = func(write func(*call.Call)) (func(*call.Call), func() error) {
					o := measure.NewCallOrder(sortBy)
					return o.Add, func() error {
						for _, t := range tables {
							t.From = o.Earliest()
						}
						return o.Print(write)
					}
				}
			}
			defer func() { output.Discard(books) }()
			return printRecords(s, &f, args, kind)
		},
	}
	f.add(cmd, "parquet")
	defer flagValues(cmd, "sort", measure.CallSorts)
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&sortBy, "sort", "", "sort calls by `KEY`: "+strings.Join(measure.CallSorts, ", ")+" (largest first)")
		fs.IntVar(&f.top, "top", 0, "print the first `N` calls in tables; csv, json and parquet contain all calls")
		atLeast(fs, "top", &f.top, 0)
		fs.BoolVar(&noValues, "no-values", false, "omit arguments, attachments, results and exception messages")
		fs.BoolVar(&redact, "redact", false, "print types and lengths instead of values")
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&node, "node", "", "the `NAME` of the machine that captured, for the column host of parquet")
	})
	return cmd
}
