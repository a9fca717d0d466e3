package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// explainFlags choose the frame and what to show of it.
type explainFlags struct {
	frame, packet    int64 // 0 if not given
	response, full   bool
	noValues, redact bool
	raw              string
}

func newExplain(s *streams) *cobra.Command {
	var in inputFlags
	var ff filterFlags
	var out outputFlags
	var x explainFlags
	cmd := &cobra.Command{
		Use:     "explain FILE...",
		GroupID: "look",
		Short:   "Take one frame apart: every byte has an owner, hex beside the tree",
		Long: `explain prints one frame as a tree of its parts, each beside its bytes, with its size and value. Where the bytes are
damaged or lost it says where reading stopped, what was expected there and what was found.

The frame is the one with that number (--frame), the one that a packet brought bytes of (--packet), or the first of the
first call that the filters select: its request, or with --response its answer. Without any of them it is the first call.`,
		Example: `  dubbo-wire explain trace.pcap --frame 12
  dubbo-wire explain trace.pcap --id 490361 --response
  dubbo-wire explain trace.pcap --status 50 -o broken.html
  dubbo-wire explain trace.pcap --packet 21 --format json
  dubbo-wire explain trace.pcap --method createUser --raw body.bin`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			fl, err := ff.parse()
			if err == nil {
				err = x.check(fl)
			}
			if err != nil {
				return err
			}
			return explainFrame(s, &in, &out, &x, fl, args)
		},
	}
	in.add(cmd)
	ff.add(cmd)
	out.add(cmd, "table", "json", "html")
	for _, name := range []string{"exact", "jobs", "min-coverage"} { // accepted as in other commands, but without effect
		_ = cmd.Flags().MarkHidden(name)
	}
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.Int64Var(&x.frame, "frame", 0, "the frame with that `NUMBER`, as frames and calls print it")
		bound(fs, "frame", &x.frame, 1, math.MaxInt64, "frames are numbered from 1")
		fs.Int64Var(&x.packet, "packet", 0, "the frame that packet `NUMBER` brought bytes of (Wireshark's frame.number)")
		bound(fs, "packet", &x.packet, 1, math.MaxInt64, "packets are numbered from 1")
		fs.BoolVar(&x.response, "response", false, "of the selected call, the answer")
		fs.BoolVar(&x.full, "full", false, "print every byte, every element and whole values")
		fs.BoolVar(&x.noValues, "no-values", false, "leave values out, and mask their bytes")
		fs.BoolVar(&x.redact, "redact", false, "print types and lengths in place of values, and mask their bytes")
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&x.raw, "raw", "", "save the body's bytes to `FILE` (- writes them to standard output, and nothing else)")
	})
	return cmd
}

func (x *explainFlags) check(fl *measure.Filter) error {
	switch {
	case x.frame > 0 && x.packet > 0:
		return exit.Usagef("--frame and --packet choose a frame each; give one of them")
	case x.frame+x.packet > 0 && !fl.Empty():
		return exit.Usagef("--frame and --packet choose the frame by themselves; leave the filters out")
	case x.frame+x.packet > 0 && x.response:
		return exit.Usagef("--response belongs to filters; the number of an answer is what explain prints beside its request")
	case x.noValues && x.redact:
		return exit.Usagef("--no-values leaves out what --redact would print; choose one")
	case x.raw != "" && (x.noValues || x.redact):
		return exit.Usagef("--raw saves all bytes of the body, values too; leave --no-values and --redact out")
	}
	return nil
}

func (x *explainFlags) secret() explain.Secret {
	switch {
	case x.redact:
		return explain.Redacted
	case x.noValues:
		return explain.Hidden
	}
	return explain.Open
}

func explainFrame(s *streams, in *inputFlags, out *outputFlags, x *explainFlags, fl *measure.Filter, args []string) error {
	targets, src, err := open(s, in, out, args)
	if err != nil {
		return err
	}
	defer src.Close()
	inputs := src.Names()
	if x.packet > 0 && len(inputs) > 1 {
		output.Discard(targets)
		return exit.Usagef("--packet %d: packets are numbered in each file; give one file, not %d", x.packet, len(inputs))
	}
	in.Jobs = 1 // the choice needs the frames in their order
	choice := measure.ChooseFrame(x.frame, x.packet, x.response, fl)
	totals, readErr := src.Run(choice.Options(), choice, choice.Done)
	row, of, err := choice.Chosen(&in.Input, totals, readErr)
	if err != nil {
		output.Discard(targets)
		return err
	}
	if x.raw != "" {
		if err := saveBody(s, x.raw, row.Msg); err != nil {
			output.Discard(targets)
			return err
		}
		if x.raw == "-" {
			output.Discard(targets)
			return choice.Unread(readErr)
		}
	}
	stream := -1
	if len(inputs) == 1 {
		stream = row.Conn.Number - 1
	}
	e := explain.New(&explain.Subject{Row: row, File: inputs[row.Msg.Last.File], Stream: stream, Call: of, Secret: x.secret()})
	err = out.Print(targets, func(t *output.Target, st report.Style) error {
		style := &explain.Style{Width: st.Width, Color: st.Color, Local: st.Local, Full: x.full}
		switch t.Format {
		case "json":
			return e.WriteJSON(t.W)
		case "html":
			return e.WritePage(t.W, style)
		}
		return e.WriteText(t.W, style)
	})
	if err != nil {
		return err
	}
	return choice.Unread(readErr)
}

// saveBody writes the captured bytes of a body.
func saveBody(s *streams, name string, m *rpc.Message) error {
	if len(m.Body) < m.BodyLen && !s.quiet {
		fmt.Fprintf(s.err, "dubbo-wire: --raw has the first %d of %d bytes of the body: the capture lacks what follows\n",
			len(m.Body), m.BodyLen)
	}
	if name == "-" {
		_, err := s.out.Write(m.Body)
		return err
	}
	// As for other outputs, the file appears when it is complete.
	t, err := s.places.File("-o", "raw", name)
	if err == nil {
		_, _ = t.W.Write(m.Body) // Close returns the error
		err = t.Close()
	}
	if err != nil {
		return exit.Usagef("--raw %s", strings.TrimPrefix(err.Error(), "-o "))
	}
	return nil
}
