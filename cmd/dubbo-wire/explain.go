package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// explainFlags choose the frame, and what is shown of it.
type explainFlags struct {
	frame, packet            int64
	response, full           bool
	noValues, redact         bool
	raw                      string
	frameGiven, packetChosen bool
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
				x.frameGiven, x.packetChosen = cmd.Flags().Changed("frame"), cmd.Flags().Changed("packet")
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
	for _, name := range []string{"exact", "jobs", "min-coverage"} { // taken as everywhere, and without a meaning here
		_ = cmd.Flags().MarkHidden(name)
	}
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.Int64Var(&x.frame, "frame", 0, "the frame with that `NUMBER`, as frames and calls print it")
		fs.Int64Var(&x.packet, "packet", 0, "the frame that packet `NUMBER` brought bytes of (Wireshark's frame.number)")
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
	case x.frameGiven && x.frame < 1:
		return exit.Usagef("--frame %d: frames are numbered from 1", x.frame)
	case x.packetChosen && x.packet < 1:
		return exit.Usagef("--packet %d: packets are numbered from 1", x.packet)
	case x.frameGiven && x.packetChosen:
		return exit.Usagef("--frame and --packet choose a frame each; give one of them")
	case (x.frameGiven || x.packetChosen) && !fl.Empty():
		return exit.Usagef("--frame and --packet choose the frame by themselves; leave the filters out")
	case (x.frameGiven || x.packetChosen) && x.response:
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
	targets, err := out.Open(s.places)
	if err != nil {
		return err
	}
	in.complete(s)
	src, err := in.Open(args)
	if err != nil {
		output.Discard(targets)
		return err
	}
	defer src.Close()
	inputs := src.Names()
	if x.packetChosen && len(inputs) > 1 {
		output.Discard(targets)
		return exit.Usagef("--packet %d: packets are numbered in each file; give one file, not %d", x.packet, len(inputs))
	}
	in.Jobs = 1 // frames are looked at one by one, as they come
	choice := &frameChoice{x: x, filter: fl, room: maxKeptBodies, kept: map[int64]*keptFrame{}, decoder: rpc.Decoders{Formats: formats.All()}}
	opt := pipeline.Options{Rows: true, WholeBodies: true}
	if x.packetChosen {
		choice.sought = &pipeline.Sought{Number: x.packet}
		opt.Sought = choice.sought
	}
	fl.Apply(&opt)
	totals, readErr := src.Run(opt, choice, choice.done)
	choice.end()
	if choice.found == nil {
		output.Discard(targets)
		return choice.nothing(s, in, totals, readErr)
	}
	if err := choice.print(s, x, out, targets, inputs); err != nil {
		return err
	}
	if choice.done() {
		return nil // nothing behind it was wanted
	}
	return readErr
}

// print writes the frame to its targets.
func (c *frameChoice) print(s *streams, x *explainFlags, out *outputFlags, targets []*output.Target, inputs []string) error {
	k := c.found
	if k.dropped {
		output.Discard(targets)
		return exit.Errorf(exit.Nothing, "frame %d matches, but its body was too much to keep until that was known; explain it by its number: --frame %d",
			k.row.Number, k.row.Number)
	}
	row := *k.row
	row.Msg = c.decoder.Decode(k.row.Msg, rpc.Values)
	if x.raw != "" {
		if err := saveBody(s, x.raw, row.Msg); err != nil {
			output.Discard(targets)
			return err
		}
		if x.raw == "-" {
			output.Discard(targets)
			return nil
		}
	}
	stream := -1
	if len(inputs) == 1 {
		stream = row.Conn.Number - 1
	}
	e := explain.New(&explain.Subject{Row: &row, File: inputs[row.Msg.Last.File], Stream: stream, Call: c.call, Secret: x.secret()})
	return out.Print(targets, func(t *output.Target, st report.Style) error {
		style := &explain.Style{Width: st.Width, Color: st.Color, Local: st.Local, Full: x.full}
		switch t.Format {
		case "json":
			return e.WriteJSON(t.W)
		case "html":
			return e.WritePage(t.W, style)
		}
		return e.WriteText(t.W, style)
	})
}

// saveBody writes the bytes of a body as they were captured.
func saveBody(s *streams, name string, m *rpc.Message) error {
	if len(m.Body) < m.BodyLen && !s.quiet {
		fmt.Fprintf(s.err, "dubbo-wire: --raw has the first %d of %d bytes of the body: the capture lacks what follows\n",
			len(m.Body), m.BodyLen)
	}
	if name == "-" {
		_, err := s.out.Write(m.Body)
		return err
	}
	// As the other outputs: whole or not at all.
	t, err := s.places.File("raw", name)
	if err == nil {
		_, _ = t.W.Write(m.Body) // an error comes again with the end
		err = t.Close()
	}
	if err != nil {
		return exit.Usagef("--raw %s", strings.TrimPrefix(err.Error(), "-o "))
	}
	return nil
}

// frameChoice is the sink that finds the frame to explain.
type frameChoice struct {
	x      *explainFlags
	filter *measure.Filter
	sought *pipeline.Sought
	// kept is frames that may be the one, by number; bytes is those of their bodies, room how many there may be.
	kept        map[int64]*keptFrame
	bytes, room int
	// best is the number of the first of them that the filter selects; 0 while there is none.
	best    int64
	calls   map[int64]*explain.Call // of selected frames
	found   *keptFrame
	call    *explain.Call
	settled bool
	decoder rpc.Decoders
	// unanswered is the first requests that had no answer, for the case that nothing is found.
	unanswered []string
	silent     int64
}

// keptFrame is a copy of a frame and its body.
type keptFrame struct {
	row *pipeline.Row
	// dropped: the body was too much to keep.
	dropped bool
}

// maxKeptBodies is how many bytes of bodies are kept of frames of which it is not known yet whether the filter selects them.
const maxKeptBodies = 256 << 20

func (c *frameChoice) byNumber() bool { return c.x.frameGiven || c.x.packetChosen }

// done reports whether the frame and its call are known.
func (c *frameChoice) done() bool { return c.found != nil && c.settled }

func (c *frameChoice) Frame(r *pipeline.Row) {
	switch {
	case c.found != nil:
	case c.x.frameGiven:
		if r.Number == c.x.frame {
			c.take(c.keep(r))
		}
	case c.x.packetChosen:
		if r.HasPacket {
			c.take(c.keep(r))
		}
	case r.Msg.Kind.Control(): // heartbeats and events belong to no call
	case r.Msg.Kind == rpc.Request && c.filter.OfRequests() && !c.x.response:
		m := &call.Message{Number: r.Number}
		m.FillFrom(r.Msg)
		if c.filter.Empty() || c.filter.Match(&call.Call{Conn: r.Conn, Side: r.Side, Request: m}) {
			c.kept[r.Number] = c.keep(r)
			c.choose(r.Number, nil)
		}
	case c.best == 0 || r.Number < c.best:
		c.kept[r.Number] = c.keep(r)
	}
}

// keep copies a frame.
func (c *frameChoice) keep(r *pipeline.Row) *keptFrame {
	k := &keptFrame{row: r.Clone()}
	if c.bytes+len(r.Msg.Body) > c.room {
		k.dropped = true
		return k
	}
	k.row.Msg = r.Msg.Clone(true, false)
	c.bytes += len(r.Msg.Body)
	return k
}

func (c *frameChoice) drop(number int64) {
	if k := c.kept[number]; k != nil {
		c.bytes -= len(k.row.Msg.Body)
		delete(c.kept, number)
	}
}

func (c *frameChoice) take(k *keptFrame) {
	c.found = k
	if k.row.Msg.Kind.Control() {
		c.settled = true // there is no call to wait for
	}
	clear(c.kept)
}

// choose is told of a frame that the filter selects; it is taken when no earlier one can come.
func (c *frameChoice) choose(number int64, k *explain.Call) {
	if c.kept[number] == nil || c.best > 0 && c.best < number {
		return
	}
	c.best = number
	if k != nil {
		c.calls = map[int64]*explain.Call{number: k}
	}
	for n := range c.kept {
		if n > number {
			c.drop(n)
		}
	}
	c.decide()
}

func (c *frameChoice) decide() {
	if c.found != nil || c.best == 0 || len(c.kept) > 1 {
		return
	}
	k := c.kept[c.best]
	c.take(k)
	if known := c.calls[k.row.Number]; known != nil {
		c.call, c.settled = known, true
	}
}

func (c *frameChoice) Call(k *call.Call, selected bool) {
	if k.Response == nil && k.Request != nil && k.Request.TwoWay {
		if c.silent++; len(c.unanswered) < 5 {
			c.unanswered = append(c.unanswered, fmt.Sprintf("  frame %d  id %s  %s > %s  %s/%s", k.Request.Number, k.Request.ID(),
				k.Client(), k.Server(), k.Request.Service(), k.Request.Method()))
		}
	}
	if c.found != nil {
		n := c.found.row.Number
		if k.Request != nil && k.Request.Number == n || k.Response != nil && k.Response.Number == n {
			c.call, c.settled = explain.CallOf(k), true
		}
		return
	}
	if c.byNumber() {
		return
	}
	wanted := k.Request
	if c.x.response {
		wanted = k.Response
	} else if wanted == nil {
		wanted = k.Response
	}
	for _, m := range [2]*call.Message{k.Request, k.Response} {
		if m != nil && (m != wanted || !selected) {
			c.drop(m.Number)
		}
	}
	if wanted != nil && selected {
		c.choose(wanted.Number, explain.CallOf(k))
	}
	c.decide()
}

// end takes what was selected though an earlier frame was open to the end.
func (c *frameChoice) end() {
	if c.found == nil && c.best > 0 {
		for n := range c.kept {
			if n != c.best {
				c.drop(n)
			}
		}
		c.decide()
	}
}

// nothing says why there is no such frame.
func (c *frameChoice) nothing(s *streams, in *inputFlags, t *pipeline.Totals, readErr error) error {
	if t.Frames == 0 {
		return in.Verdict(t, 0, false, readErr)
	}
	frames := fmt.Sprintf("frames 1 to %d", t.Frames)
	if readErr != nil {
		frames += ", before reading failed (" + readErr.Error() + ")"
	}
	var text string
	switch {
	case c.x.frameGiven:
		text = fmt.Sprintf("no frame %d; the capture has %s", c.x.frame, frames)
	case c.x.packetChosen:
		text = c.noPacket(t)
	default:
		text = fmt.Sprintf("no such frame among %s in %s; the sender may have refused it before sending, or it went another way",
			term.Counted(t.Calls, "call"), term.Counted(t.Frames, "frame"))
		if c.silent > 0 {
			text += fmt.Sprintf("\n%s without an answer, the first:", term.Counted(c.silent, "call"))
			text += "\n" + strings.Join(c.unanswered, "\n")
		}
	}
	return exit.Errorf(exit.Nothing, "%s", text)
}

// noPacket says what the packet is instead.
func (c *frameChoice) noPacket(t *pipeline.Totals) string {
	p := c.sought
	switch {
	case !p.Found:
		return fmt.Sprintf("no packet %d; the capture has packets 1 to %d", p.Number, t.Packets)
	case !p.TCP:
		return fmt.Sprintf("packet %d is no TCP segment", p.Number)
	case p.Payload == 0:
		return fmt.Sprintf("packet %d (%s > %s) has no payload: it opens, acknowledges or ends", p.Number, p.Src, p.Dst)
	}
	return fmt.Sprintf("packet %d (%s > %s) brings no new byte of a frame: its %s are repeats, of another protocol, or of no frame",
		p.Number, p.Src, p.Dst, term.Counted(int64(p.Payload), "byte"))
}
