package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/extract"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// recordFlags are the flags that calls and frames share.
type recordFlags struct {
	in     inputFlags
	filter filterFlags
	out    outputFlags
	write  string // a pcapng file for the packets
	top    int    // rows of tables; 0: all
}

func (f *recordFlags) add(cmd *cobra.Command, more ...string) {
	f.in.add(cmd)
	f.filter.add(cmd)
	f.out.add(cmd, append([]string{"table", "markdown", "csv", "json", "jsonl"}, more...)...)
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVarP(&f.write, "write", "w", "", "write the packets of the selected calls to a pcapng `FILE`; records are then printed only with --format or -o")
	})
}

// recordKind says how to make and print one kind of record.
type recordKind[T any] struct {
	render  func(inputs []string) func([]byte, T) []byte
	table   func(t *output.Target, st report.Style, inputs []string) (output.Table[T], error)
	options func(targets []*output.Target) pipeline.Options
	sink    func(f *measure.Filter, targets []*output.Target, write func(T)) pipeline.Sink
	order   func(write func(T)) (add func(T), done func() error) // nil: records are printed as they come
	control bool                                                 // records are also of heartbeats and events
	// after prints what follows from the whole run and its verdict; nil: nothing.
	after func(src *measure.Files, totals *pipeline.Totals, verdict error) error
}

// printRecords reads captures and prints their records.
func printRecords[T any](s *streams, f *recordFlags, args []string, kind *recordKind[T]) error {
	defer untouched(untouchedByRecords)()
	fl, err := f.filter.parse()
	if err != nil {
		return err
	}
	f.in.Filter = fl
	var packets *packetFile
	if f.write != "" {
		if packets, err = openPackets(s, f.write, args); err != nil {
			return err
		}
		defer packets.Discard()
	}
	targets, src, err := open(s, &f.in, &f.out, args)
	if err != nil {
		return err
	}
	defer func() { src.Close() }()
	if packets != nil {
		if err := notAnInput("-w", f.write, src); err != nil {
			output.Discard(targets)
			return err
		}
		if f.out.Format == "" && len(f.out.Files) == 0 {
			targets = nil
		}
	}
	inputs := src.Names()
	w, err := output.NewRecords(targets, kind.render(inputs), func(t *output.Target) (output.Table[T], error) {
		return kind.table(t, f.out.Style(t), inputs)
	})
	if err != nil {
		output.Discard(targets)
		return err
	}
	for _, t := range targets {
		f.in.NoProgress = f.in.NoProgress || t.OnTerminal() // rows on the terminal would collide with progress
	}
	opt := kind.options(targets)
	fl.Apply(&opt)
	opt.Operations = fl.Operations()
	w.Top = int64(f.top)
	add, done := w.Write, func() error { return nil }
	if kind.order != nil {
		add, done = kind.order(w.Write)
	}
	sink := kind.sink(fl, targets, add)
	var selection *extract.Selection
	if packets != nil {
		selection = extract.NewSelection(kind.control && fl.Empty())
		sink = bothSinks{sink, selection}
	}
	totals, readErr := src.Run(opt, sink, w.Broken)
	if err := done(); err != nil {
		output.Discard(targets)
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	verdict := f.in.Verdict(totals, w.Rows(), !fl.Empty(), readErr)
	if kind.after != nil {
		if err := kind.after(src, totals, verdict); err != nil {
			return err
		}
	}
	if packets != nil && selection.Messages > 0 && totals.Balance() == nil {
		src.Close()
		if src, err = f.in.Open(args); err != nil {
			return err
		}
		if err := packets.write(s, src, selection); err != nil {
			return err
		}
	}
	return verdict
}

// open opens the outputs and then the inputs.
func open(s *streams, in *inputFlags, out *outputFlags, args []string) ([]*output.Target, *measure.Files, error) {
	targets, err := out.Open(s.places)
	if err != nil {
		return nil, nil, err
	}
	in.complete(s)
	src, err := in.Open(args)
	for _, t := range targets {
		if err == nil && t.File != "" {
			if err = notAnInput("-o", t.File, src); err != nil {
				src.Close()
			}
		}
	}
	if err != nil {
		output.Discard(targets)
		return nil, nil, err
	}
	return targets, src, nil
}
