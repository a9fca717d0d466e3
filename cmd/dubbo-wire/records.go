package main

import (
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// rowWriter prints one record after the other to all targets, each in its format.
type rowWriter[T any] struct {
	targets []*target
	tables  []table[T]
	render  func(dst []byte, v T) []byte
	buf     []byte
	rows    int64
	err     error
	failed  atomic.Bool // err is set; for other goroutines
}

// table is a printer of rows as table, Markdown or CSV.
type table[T any] interface {
	Row(T) error
	Close() error
}

func newRowWriter[T any](targets []*target, render func([]byte, T) []byte, open func(t *target) (table[T], error)) (*rowWriter[T], error) {
	w := &rowWriter[T]{targets: targets, render: render, tables: make([]table[T], len(targets))}
	for i, t := range targets {
		switch t.format {
		case "json":
			if _, err := t.w.WriteString("["); err != nil {
				return nil, err
			}
		case "jsonl":
		default:
			tab, err := open(t)
			if err != nil {
				return nil, err
			}
			w.tables[i] = tab
		}
	}
	return w, nil
}

// row prints v; the first error ends all printing.
func (w *rowWriter[T]) row(v T) {
	if w.err != nil {
		return
	}
	w.buf = w.buf[:0]
	for i, t := range w.targets {
		if w.tables[i] != nil {
			w.err = w.tables[i].Row(v)
		} else {
			if len(w.buf) == 0 {
				w.buf = w.render(w.buf, v)
			}
			w.err = t.record(w.buf, w.rows == 0)
		}
		if w.err != nil {
			w.err = t.cannotWrite(w.err)
			w.failed.Store(true)
			return
		}
	}
	w.rows++
}

// record prints a record that was rendered earlier.
func (t *target) record(json []byte, first bool) error {
	if t.format == "json" {
		sep := ",\n"
		if first {
			sep = "\n"
		}
		if _, err := t.w.WriteString(sep); err != nil {
			return err
		}
		_, err := t.w.Write(json)
		return err
	}
	if _, err := t.w.Write(json); err != nil {
		return err
	}
	return t.w.WriteByte('\n')
}

// broken reports whether printing has ended, because whoever read it is gone or its place is full. Any goroutine may ask.
func (w *rowWriter[T]) broken() bool { return w.failed.Load() }

func (w *rowWriter[T]) close() error {
	for i, t := range w.targets {
		earlier := w.err
		if w.err == nil && w.tables[i] != nil {
			w.err = w.tables[i].Close()
		}
		if w.err == nil && t.format == "json" {
			_, w.err = t.w.WriteString("\n]\n")
		}
		if w.err == nil {
			w.err = t.close()
		}
		if w.err != nil {
			if earlier == nil {
				w.err = t.cannotWrite(w.err)
			}
			discard(w.targets[i:])
			return w.err
		}
	}
	return nil
}

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
			if err == nil {
				err = in.check()
			}
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
			defer in.close(src)
			inputs := names(src.Inputs())
			p := report.Calls{Inputs: inputs, NoValues: noValues, Redact: redact}
			w, err := newRowWriter(targets, p.AppendJSON, func(t *target) (table[*call.Call], error) {
				return report.NewCallTable(t.w, t.format, out.style(t), inputs)
			})
			if err != nil {
				discard(targets)
				return err
			}
			// Even the table names exceptions, which stand in values.
			opt := pipeline.Options{Detail: dubbo.Values, RenderValues: wantsJSON(targets) && !noValues, Redact: redact}
			fl.apply(&opt)
			totals, readErr := in.read(s, src, opt, callRows{w}, w.broken)
			if err := w.close(); err != nil {
				return err
			}
			return in.verdict(totals, w.rows, !fl.empty, readErr)
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

func wantsJSON(targets []*target) bool {
	for _, t := range targets {
		if t.format == "json" || t.format == "jsonl" {
			return true
		}
	}
	return false
}

// open opens outputs and inputs.
func open(s *streams, in *inputFlags, out *outputFlags, args []string) ([]*target, *capture.Files, error) {
	targets, err := out.targets(s)
	if err != nil {
		return nil, nil, err
	}
	src, err := in.open(s, args)
	if err != nil {
		discard(targets)
		return nil, nil, err
	}
	for _, t := range targets {
		if f, ok := t.under.(*os.File); ok && t.file == "" && term.IsTerminal(int(f.Fd())) {
			in.quiet = true // rows come to the terminal themselves
		}
	}
	return targets, src, nil
}

// callRows is the sink of a run that prints calls.
type callRows struct{ w *rowWriter[*call.Call] }

func (callRows) Frame(*pipeline.Row) {}

func (c callRows) Call(k *call.Call, selected bool) {
	if selected {
		c.w.row(k)
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
			if err == nil {
				err = in.check()
			}
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
			defer in.close(src)
			inputs := names(src.Inputs())
			p := report.Frames{Inputs: inputs, Depth: depth}
			w, err := newRowWriter(targets, p.AppendJSON, func(t *target) (table[*pipeline.Row], error) {
				return report.NewFrameTable(t.w, t.format, out.style(t), inputs)
			})
			if err != nil {
				discard(targets)
				return err
			}
			sink := &frameRows{w: w, filter: fl, now: fl.OfRequests()}
			opt := pipeline.Options{Detail: dubbo.Values, Rows: true}
			if wantsJSON(targets) {
				opt.Prepare = func() func(*pipeline.Row) any { return (&report.Frames{Depth: depth}).Prepare }
			}
			fl.apply(&opt)
			totals, readErr := in.read(s, src, opt, sink, w.broken)
			sink.flush()
			if err := w.close(); err != nil {
				return err
			}
			return in.verdict(totals, w.rows, !fl.empty, readErr)
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
