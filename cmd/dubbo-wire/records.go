package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

func newCalls(s *streams) *cobra.Command {
	var in inputFlags
	var ff filterFlags
	var out outputFlags
	var noValues, redact bool
	cmd := &cobra.Command{
		Use:     "calls FILE...",
		GroupID: "look",
		Short:   "Print one record per call: request and response paired",
		Long: `calls pairs requests with their responses and prints one record per call, in the order in which they were closed.
The table shows no values; json and jsonl have arguments, attachments, results and exceptions.`,
		Example: `  dubbo-wire calls trace.pcap
  dubbo-wire calls trace.pcap --method createUser --format jsonl
  dubbo-wire calls trace.pcap --min-latency 500ms --no-values --format jsonl
  dubbo-wire calls trace.pcap --redact --format jsonl -o to-share.jsonl`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			fl, err := ff.parse()
			if err == nil && noValues && redact {
				err = exit.Usagef("--no-values leaves out what --redact would print; choose one")
			}
			if err != nil {
				return err
			}
			targets, src, err := open(s, &in, &out, args)
			if err != nil {
				return err
			}
			defer src.Close()
			inputs := src.Names()
			p := report.Calls{Inputs: inputs, NoValues: noValues, Redact: redact}
			w, err := output.NewRecords(targets, p.AppendJSON, func(t *output.Target) (output.Table[*call.Call], error) {
				return report.NewCallTable(t.W, t.Format, out.Style(t), inputs)
			})
			if err != nil {
				output.Discard(targets)
				return err
			}
			// Even the table names exceptions, which stand in values.
			opt := pipeline.Options{Detail: rpc.Values, RenderValues: output.Any(targets, "json", "jsonl") && !noValues, Redact: redact}
			fl.Apply(&opt)
			totals, readErr := src.Run(opt, callRows{w}, w.Broken)
			if err := w.Close(); err != nil {
				return err
			}
			return in.Verdict(totals, w.Rows(), !fl.Empty(), readErr)
		},
	}
	in.add(cmd)
	ff.add(cmd)
	out.add(cmd, "table", "markdown", "csv", "json", "jsonl")
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.BoolVar(&noValues, "no-values", false, "leave arguments, attachments, results and the messages of exceptions out")
		fs.BoolVar(&redact, "redact", false, "print types and lengths in place of values")
	})
	return cmd
}

// open opens outputs and inputs.
func open(s *streams, in *inputFlags, out *outputFlags, args []string) ([]*output.Target, *measure.Files, error) {
	targets, err := out.Open(s.places)
	if err != nil {
		return nil, nil, err
	}
	in.complete(s)
	src, err := in.Open(args)
	if err != nil {
		output.Discard(targets)
		return nil, nil, err
	}
	for _, t := range targets {
		if t.OnTerminal() {
			in.NoProgress = true // rows come to the terminal themselves
		}
	}
	return targets, src, nil
}

// callRows is the sink of a run that prints calls.
type callRows struct{ w *output.Records[*call.Call] }

func (callRows) Frame(*pipeline.Row) {}

func (c callRows) Call(k *call.Call, selected bool) {
	if selected {
		c.w.Write(k)
	}
}

func newFrames(s *streams) *cobra.Command {
	var in inputFlags
	var ff filterFlags
	var out outputFlags
	var depth int
	cmd := &cobra.Command{
		Use:     "frames FILE...",
		GroupID: "look",
		Short:   "Print one record per frame, in the order they completed on the wire",
		Long: `frames prints every frame: header, envelope, and in json and jsonl the parts its bytes belong to, which add up to
headerBytes + bodyBytes. Frame numbers run over all inputs and never depend on filters.`,
		Example: `  dubbo-wire frames trace.pcap
  dubbo-wire frames trace.pcap --format jsonl
  dubbo-wire frames trace.pcap --format jsonl --depth 2 --service 'com.acme.*'`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			fl, err := ff.parse()
			if err != nil {
				return err
			}
			if depth < 0 {
				return exit.Usagef("--depth is a number of path segments, 0 for all")
			}
			targets, src, err := open(s, &in, &out, args)
			if err != nil {
				return err
			}
			defer src.Close()
			inputs := src.Names()
			p := report.Frames{Inputs: inputs, Depth: depth}
			w, err := output.NewRecords(targets, p.AppendJSON, func(t *output.Target) (output.Table[*pipeline.Row], error) {
				return report.NewFrameTable(t.W, t.Format, out.Style(t), inputs)
			})
			if err != nil {
				output.Discard(targets)
				return err
			}
			sink := &frameRows{w: w, filter: fl, now: fl.OfRequests()}
			opt := pipeline.Options{Detail: rpc.Values, Rows: true}
			if output.Any(targets, "json", "jsonl") {
				opt.Prepare = func() func(*pipeline.Row) any { return (&report.Frames{Depth: depth}).Prepare }
			}
			fl.Apply(&opt)
			totals, readErr := src.Run(opt, sink, w.Broken)
			sink.flush()
			if err := w.Close(); err != nil {
				return err
			}
			return in.Verdict(totals, w.Rows(), !fl.Empty(), readErr)
		},
	}
	in.add(cmd)
	ff.add(cmd)
	out.add(cmd, "table", "markdown", "csv", "json", "jsonl")
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.IntVar(&depth, "depth", 0, "join parts below `N` segments of their path; 0 keeps all")
	})
	return cmd
}
