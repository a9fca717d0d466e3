package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

func newFrames(s *streams) *cobra.Command {
	var f recordFlags
	var depth int
	cmd := &cobra.Command{
		Use:     "frames FILE...",
		GroupID: "look",
		Short:   "Print one record per frame, in the order in which they were complete",
		Long: `frames prints one record per frame, with its header and envelope. In json and jsonl a record also lists the parts of
the frame; their sizes add up to headerBytes + bodyBytes. Frames are numbered over all inputs; filters do not change
the numbers.

-w writes the packets of the selected frames to a pcapng file for Wireshark, as calls -w does. Without filters the
file also contains heartbeats and events.`,
		Example: `  dubbo-wire frames trace.pcap
  dubbo-wire frames trace.pcap --format jsonl
  dubbo-wire frames trace.pcap --format jsonl --depth 2 --service 'com.acme.*'
  dubbo-wire frames trace.pcap --id 490361 -w call.pcapng`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return printRecords(s, &f, args, &recordKind[*pipeline.Row]{
				render: func(inputs []string) func([]byte, *pipeline.Row) []byte {
					return (&report.Frames{Inputs: inputs, Depth: depth}).AppendJSON
				},
				table: func(t *output.Target, st report.Style, inputs []string) (output.Table[*pipeline.Row], error) {
					return report.NewFrameTable(t.W, t.Format, st, inputs)
				},
				options: func(targets []*output.Target) pipeline.Options {
					opt := pipeline.Options{Detail: rpc.Values, Rows: true}
					switch {
					case output.Any(targets, "json", "jsonl"):
						opt.Borrow = true
						if depth == 0 {
							opt.Print = decode.PrintParts
						}
						opt.Prepare = func() func(*pipeline.Row) any { return (&report.Frames{Depth: depth}).Prepare }
					case !output.Any(targets, "csv"): // which says how far bodies are decoded
						opt.Detail, opt.Records = rpc.Parts, true
					}
					return opt
				},
				sink: func(f *measure.Filter, _ []*output.Target, write func(*pipeline.Row)) pipeline.Sink {
					return measure.FrameSink(f, write)
				},
				control: true,
			})
		},
	}
	f.add(cmd)
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.IntVar(&depth, "depth", 0, "add up the parts below the first `N` segments of a path; 0 lists every part")
		atLeast(fs, "depth", &depth, 0)
	})
	return cmd
}
