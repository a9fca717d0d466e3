package measure

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/call"
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
	sought        *pipeline.PacketSearch
	// kept has the candidates by number. bytes is the size of their bodies, room its limit.
	kept        map[int64]*keptFrame
	bytes, room int
	// best is the number of the first candidate that the filter selects, or 0.
	best     int64
	bestCall *explain.Call // of best; nil if it is not known
	found    *keptFrame
	call     *explain.Call
	settled  bool
	// unanswered describes the first requests without a response, for the error when nothing is found.
	unanswered []string
	silent     int64
}

// ChooseFrame returns the sink that finds the frame with a number, or the frame that has bytes of a packet. If both are 0, it
// finds the request of the first call that the filter selects, or with response the response.
func ChooseFrame(frame, packet int64, response bool, f *Filter) *FrameChoice {
	c := &FrameChoice{frame: frame, packet: packet, response: response, filter: f, room: maxKeptBodies, kept: map[int64]*keptFrame{}}
	if packet > 0 {
		c.sought = &pipeline.PacketSearch{Number: packet}
	}
	return c
}

// Options returns the options of the run that feeds the sink.
func (c *FrameChoice) Options() pipeline.Options {
	// Records have the messages of exceptions. The chosen frame is decoded to all values in the end.
	opt := pipeline.Options{Rows: true, Detail: rpc.Parts, Records: true, WholeBodies: true, Search: c.sought}
	c.filter.Apply(&opt)
	return opt
}

// Chosen returns the decoded frame, and its call if it is known. It fails if there is no such frame.
func (c *FrameChoice) Chosen(in *Input, t *pipeline.Totals, readErr error) (*pipeline.Row, *explain.Call, error) {
	c.end()
	if c.found == nil {
		return nil, nil, c.nothing(in, t, readErr)
	}
	row := c.found.row
	if c.found.dropped {
		return nil, nil, exit.Errorf(exit.Nothing, "frame %d matches, but its body was too large to keep in memory; explain it by its number: --frame %d",
			row.Number, row.Number)
	}
	decoder := rpc.Decoders{Formats: in.Formats()}
	row.Msg = decoder.Decode(row.Msg, rpc.Values)
	return row, c.call, nil
}

// Unread returns readErr, or nil if the frame and its call were read before the error.
func (c *FrameChoice) Unread(readErr error) error {
	if c.Done() {
		return nil
	}
	return readErr
}

// keptFrame is a copy of a frame and its body.
type keptFrame struct {
	row *pipeline.Row
	// dropped: the body did not fit in room.
	dropped bool
}

// maxKeptBodies bounds the bodies of the candidates in bytes.
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
		if c.filter.Empty() || c.filter.matchRequest(r) {
			c.kept[r.Number] = c.keep(r)
			c.choose(r.Number, nil)
		}
	case c.best == 0 || r.Number < c.best:
		c.kept[r.Number] = c.keep(r)
	}
}

// keep returns a copy of a frame, with its body if there is room.
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

// choose notes a frame that the filter selects. It is taken when no earlier one can follow.
func (c *FrameChoice) choose(number int64, k *explain.Call) {
	if c.kept[number] == nil || c.best > 0 && c.best < number {
		return
	}
	c.best, c.bestCall = number, k
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
	c.take(c.kept[c.best])
	if c.bestCall != nil {
		c.call, c.settled = c.bestCall, true
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

// end takes the best candidate although the call of an earlier one was never closed.
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

// nothing returns the error that explains why there is no such frame.
func (c *FrameChoice) nothing(in *Input, t *pipeline.Totals, readErr error) error {
	if t.Frames == 0 {
		return in.Verdict(t, 0, false, readErr)
	}
	frames := "frames 1 to " + term.Count(t.Frames)
	if readErr != nil {
		frames += "; then reading failed: " + readErr.Error()
	}
	var text string
	switch {
	case c.frame > 0:
		text = fmt.Sprintf("no frame %d; the capture has %s", c.frame, frames)
	case c.packet > 0:
		text = c.noPacket(t)
	default:
		text = fmt.Sprintf("no such frame among %s in %s; the sender may have rejected it before sending, or it took another route%s",
			term.Counted(t.Calls, "call"), term.Counted(t.Frames, "frame"), in.near.text())
		if c.silent > 0 {
			text += fmt.Sprintf("\n%s without a response, starting with:", term.Counted(c.silent, "call"))
			text += "\n" + strings.Join(c.unanswered, "\n")
		}
	}
	return exit.Errorf(exit.Nothing, "%s", text)
}

// noPacket describes a packet that has no bytes of a frame.
func (c *FrameChoice) noPacket(t *pipeline.Totals) string {
	p := c.sought
	switch {
	case !p.Found:
		return fmt.Sprintf("no packet %d; the capture has packets 1 to %s", p.Number, term.Count(t.Packets))
	case !p.TCP:
		return fmt.Sprintf("packet %d is not a TCP segment", p.Number)
	case p.Payload == 0:
		return fmt.Sprintf("packet %d (%s > %s) has no payload: it opens, acknowledges or closes a connection", p.Number, p.Src, p.Dst)
	}
	return fmt.Sprintf("packet %d (%s > %s) has no new bytes of a frame: its %s are repeated, belong to another protocol, or are stray",
		p.Number, p.Src, p.Dst, term.Counted(int64(p.Payload), "byte"))
}
