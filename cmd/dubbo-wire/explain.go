package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
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
		Short:   "Show every byte of one frame, with its field and value",
		Long: `explain prints one frame as a tree of its parts: the offset, bytes, name, size and value of each. If bytes are damaged
or missing, it shows where decoding stopped, what was expected there and what was found.

--frame selects a frame by its number, --packet by a packet that has bytes of it. Otherwise explain shows the request of
the first call that the filters select, or with --response its response. Without filters that is the first call.`,
		Example: `  dubbo-wire explain trace.pcap --frame 12
  dubbo-wire explain trace.pcap --id 490361 --response
  dubbo-wire explain trace.pcap --status 50 -o broken.html
  dubbo-wire explain trace.pcap --packet 21 --format json
  dubbo-wire explain trace.pcap --method createUser --raw body.bin
  dubbo-wire explain trace.pcap --classpath provider=app.jar:consumer='lib/*'`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			fl, err := ff.parse()
			if err == nil {
				err = x.check(fl)
			}
			if err != nil {
				return err
			}
			in.Filter = fl
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
		fs.Int64Var(&x.frame, "frame", 0, "explain the frame with this `NUMBER`, as printed by frames and calls")
		atLeast(fs, "frame", &x.frame, 1)
		fs.Int64Var(&x.packet, "packet", 0, "explain the frame that has bytes in packet `NUMBER` (Wireshark's frame.number)")
		atLeast(fs, "packet", &x.packet, 1)
		fs.BoolVar(&x.response, "response", false, "explain the response of the selected call instead of its request")
		fs.BoolVar(&x.full, "full", false, "print every byte, every element and whole values")
		fs.BoolVar(&x.noValues, "no-values", false, "omit values, and mask their bytes")
		fs.BoolVar(&x.redact, "redact", false, "print types and lengths instead of values, and mask their bytes")
	})
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&x.raw, "raw", "", "save the body's bytes to `FILE` (- writes them to standard output, and nothing else)")
	})
	return cmd
}

func (x *explainFlags) check(fl *measure.Filter) error {
	switch {
	case x.frame > 0 && x.packet > 0:
		return exit.Usagef("--frame and --packet exclude each other; give one of them")
	case x.frame+x.packet > 0 && !fl.Empty():
		return exit.Usagef("--frame and --packet select the frame; omit the filters")
	case x.frame+x.packet > 0 && x.response:
		return exit.Usagef("--response works only with filters; explain prints the frame number of the response after \"answer:\"")
	case x.noValues && x.redact:
		return exit.Usagef("--no-values and --redact exclude each other; give one of them")
	case x.raw != "" && (x.noValues || x.redact):
		return exit.Usagef("--raw saves the complete body with its values; omit --no-values and --redact")
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
		return exit.Usagef("--packet %d: packet numbers start at 1 in each file; give one file, not %d", x.packet, len(inputs))
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
		fmt.Fprintf(s.err, "dubbo-wire: --raw contains the first %s of %s of the body; the capture does not contain the rest\n",
			term.Count(int64(len(m.Body))), term.Counted(int64(m.BodyLen), "byte"))
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
