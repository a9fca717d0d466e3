package measure

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// FrameChoice is the sink that finds the frame to explain.
type FrameChoice struct {
	frame, packet int64 // numbers; 0 where the filter chooses
	response      bool  // of the call that the filter selects
	filter        *Filter
	sought        *pipeline.Sought
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

// ChooseFrame returns the sink that finds the frame with a number, the one that a packet brought bytes of, or where both are 0
// the first that the filter selects: the request, or with response the answer.
func ChooseFrame(frame, packet int64, response bool, f *Filter) *FrameChoice {
	c := &FrameChoice{frame: frame, packet: packet, response: response, filter: f, room: maxKeptBodies, kept: map[int64]*keptFrame{}}
	c.decoder.Formats = formats.All()
	if packet > 0 {
		c.sought = &pipeline.Sought{Number: packet}
	}
	return c
}

// Options returns what the run needs.
func (c *FrameChoice) Options() pipeline.Options {
	opt := pipeline.Options{Rows: true, WholeBodies: true, Sought: c.sought}
	c.filter.Apply(&opt)
	return opt
}

// Chosen returns the frame, decoded, and its call if it is known; an error where there is no such frame.
func (c *FrameChoice) Chosen(in *Input, t *pipeline.Totals, readErr error) (*pipeline.Row, *explain.Call, error) {
	c.end()
	if c.found == nil {
		return nil, nil, c.nothing(in, t, readErr)
	}
	row := c.found.row
	if c.found.dropped {
		return nil, nil, exit.Errorf(exit.Nothing, "frame %d matches, but its body was too much to keep until that was known; explain it by its number: --frame %d",
			row.Number, row.Number)
	}
	row.Msg = c.decoder.Decode(row.Msg, rpc.Values)
	return row, c.call, nil
}

// Unread returns the error of reading, but none where all that was wanted was read before.
func (c *FrameChoice) Unread(readErr error) error {
	if c.Done() {
		return nil
	}
	return readErr
}

// keptFrame is a copy of a frame and its body.
type keptFrame struct {
	row *pipeline.Row
	// dropped: the body was too much to keep.
	dropped bool
}

// maxKeptBodies is how many bytes of bodies are kept of frames of which it is not known yet whether the filter selects them.
const maxKeptBodies = 256 << 20

func (c *FrameChoice) byNumber() bool { return c.frame > 0 || c.packet > 0 }

// Done reports whether the frame and its call are known.
func (c *FrameChoice) Done() bool { return c.found != nil && c.settled }

func (c *FrameChoice) Frame(r *pipeline.Row) {
	switch {
	case c.found != nil:
	case c.frame > 0:
		if r.Number == c.frame {
			c.take(c.keep(r))
		}
	case c.packet > 0:
		if r.HasPacket {
			c.take(c.keep(r))
		}
	case r.Msg.Kind.Control(): // heartbeats and events belong to no call
	case r.Msg.Kind == rpc.Request && c.filter.OfRequests() && !c.response:
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
func (c *FrameChoice) keep(r *pipeline.Row) *keptFrame {
	k := &keptFrame{row: r.Clone()}
	if c.bytes+len(r.Msg.Body) > c.room {
		k.dropped = true
		return k
	}
	k.row.Msg = r.Msg.Clone(true, false)
	c.bytes += len(r.Msg.Body)
	return k
}

func (c *FrameChoice) drop(number int64) {
	if k := c.kept[number]; k != nil {
		c.bytes -= len(k.row.Msg.Body)
		delete(c.kept, number)
	}
}

func (c *FrameChoice) take(k *keptFrame) {
	c.found = k
	if k.row.Msg.Kind.Control() {
		c.settled = true // there is no call to wait for
	}
	clear(c.kept)
}

// choose is told of a frame that the filter selects; it is taken when no earlier one can come.
func (c *FrameChoice) choose(number int64, k *explain.Call) {
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

func (c *FrameChoice) decide() {
	if c.found != nil || c.best == 0 || len(c.kept) > 1 {
		return
	}
	k := c.kept[c.best]
	c.take(k)
	if known := c.calls[k.row.Number]; known != nil {
		c.call, c.settled = known, true
	}
}

func (c *FrameChoice) Call(k *call.Call, selected bool) {
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
	if c.response {
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
func (c *FrameChoice) end() {
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
func (c *FrameChoice) nothing(in *Input, t *pipeline.Totals, readErr error) error {
	if t.Frames == 0 {
		return in.Verdict(t, 0, false, readErr)
	}
	frames := fmt.Sprintf("frames 1 to %d", t.Frames)
	if readErr != nil {
		frames += ", before reading failed (" + readErr.Error() + ")"
	}
	var text string
	switch {
	case c.frame > 0:
		text = fmt.Sprintf("no frame %d; the capture has %s", c.frame, frames)
	case c.packet > 0:
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
func (c *FrameChoice) noPacket(t *pipeline.Totals) string {
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
