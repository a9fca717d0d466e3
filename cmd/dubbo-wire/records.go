package main

import (
	"github.com/spf13/cobra"

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
}

func (f *recordFlags) add(cmd *cobra.Command) {
	f.in.add(cmd)
	f.filter.add(cmd)
	f.out.add(cmd, "table", "markdown", "csv", "json", "jsonl")
}

// recordKind says how to make and print one kind of record.
type recordKind[T any] struct {
	render  func(inputs []string) func([]byte, T) []byte
	table   func(t *output.Target, st report.Style, inputs []string) (output.Table[T], error)
	options func(json bool) pipeline.Options
	sink    func(f *measure.Filter, write func(T)) pipeline.Sink
}

// printRecords reads captures and prints their records.
func printRecords[T any](s *streams, f *recordFlags, args []string, kind *recordKind[T]) error {
	fl, err := f.filter.parse()
	if err != nil {
		return err
	}
	targets, src, err := open(s, &f.in, &f.out, args)
	if err != nil {
		return err
	}
	defer src.Close()
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
	opt := kind.options(output.Any(targets, "json", "jsonl"))
	fl.Apply(&opt)
	totals, readErr := src.Run(opt, kind.sink(fl, w.Write), w.Broken)
	if err := w.Close(); err != nil {
		return err
	}
	return f.in.Verdict(totals, w.Rows(), !fl.Empty(), readErr)
}

// open opens the outputs and then the inputs.
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
	return targets, src, nil
}
