// Package pipeline is the line from a capture to closed calls:
//
//	capture source → packet → TCP stream → protocol frame → serialization body → call → sink
//
// It is the one place besides the commands that knows both the capture side and the decoding side.
package pipeline

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
)

// Options is what a run is for; zero values are the defaults.
type Options struct {
	// Formats are the serializations that are known.
	Formats []decode.Format
	// Detail says how much of each body is needed.
	Detail dubbo.Detail
	// Filter selects calls; nil selects all.
	Filter *call.Filter
	// MaxBody is how many bytes of a body that crosses packets are kept for decoding (default: 16 KiB for Envelope,
	// 64 MiB else).
	MaxBody int
	// RenderValues asks for arguments, results and attachments as JSON in the messages of calls.
	RenderValues bool
	Assemble     assemble.Config
	Pair         call.Config
	// Stop is asked now and then whether to end early, as if the input ended; nil never does.
	Stop func() bool
	// Tap, if set, is called with the running totals now and then.
	Tap func(*Totals)
}

// Row is one frame with what was decoded of it. It is borrowed.
type Row struct {
	Number int64 // frame number, from 1
	Conn   *call.Conn
	Side   int // that sent it
	Frame  *dubbo.Frame
	Msg    *dubbo.Message
}

// Sink takes what comes out of the line.
type Sink interface {
	// Frame is called for every frame in wire order, whatever the filter.
	Frame(r *Row)
	// Call is called for every closed call; selected says whether the filter wants it.
	Call(c *call.Call, selected bool)
}

// line is a run.
type line struct {
	opt         Options
	totals      Totals
	sink        Sink
	decoder     *dubbo.Decoder
	pairer      *call.Pairer
	buffers     dubbo.Buffers
	framing     dubbo.Config
	connections int
	frames      int64
	chunk       dubbo.Chunk
	row         Row
}

// Run reads src to its end (or until Stop) and returns the totals. The error is that of reading; what was read before
// it is in the totals and was given to the sink.
func Run(src capture.Source, opt Options, sink Sink) (*Totals, error) {
	if opt.MaxBody == 0 {
		opt.MaxBody = 16 << 10
		if opt.Detail > dubbo.Envelope {
			opt.MaxBody = 64 << 20
		}
	}
	l := &line{opt: opt, sink: sink, decoder: dubbo.NewDecoder(opt.Formats)}
	l.pairer = call.NewPairer(opt.Pair, l)
	l.framing = l.newFraming()
	asm := assemble.New(opt.Assemble, l)

	var p capture.Packet
	var s packet.Segment
	var d packet.Decoder
	var o assemble.Origin
	var failed error
	for n := 0; ; n++ {
		if n&0x3ff == 0 && l.stopped() {
			break
		}
		if err := src.Next(&p); err != nil {
			if errors.Is(err, capture.ErrTimeout) {
				n--
				if l.stopped() {
					break
				}
				continue
			}
			if !errors.Is(err, io.EOF) && !errors.Is(err, capture.ErrClosed) {
				failed = err
			}
			break
		}
		l.totals.packet(&p)
		if v := d.Decode(&p, &s); v != packet.TCP {
			l.totals.notTCP(&p, v, &d)
			continue
		}
		o = assemble.Origin{Ordinal: int64(n) + 1, Time: p.Time, Packet: p.Number, File: p.File, Interface: p.Interface, Overhead: p.WireLen - s.PayloadLen}
		asm.Segment(&s, &o)
	}
	asm.End()
	l.pairer.End()
	l.totals.TCP = asm.Ledger
	l.totals.Expired = l.pairer.Expired
	return &l.totals, failed
}

func (l *line) stopped() bool {
	if l.opt.Tap != nil {
		l.opt.Tap(&l.totals)
	}
	return l.opt.Stop != nil && l.opt.Stop()
}

// frame takes a frame found by a direction: decode it, number it, pair it.
func (l *line) frame(d *direction, f *dubbo.Frame) {
	l.frames++
	msg := l.decoder.Decode(f, l.opt.Detail, &d.conn.dialects)
	l.row = Row{Number: l.frames, Conn: &d.conn.call, Side: d.side, Frame: f, Msg: msg}
	l.totals.frame(f, msg)
	l.sink.Frame(&l.row)

	m := l.pairer.New()
	m.Number = l.frames
	m.FillFrom(f, msg)
	if l.opt.RenderValues {
		render(m, msg)
	}
	if l.opt.Filter != nil && l.opt.Filter.NeedsAttachments() {
		m.Attachments = msg.AttachmentTexts()
	}
	switch msg.Kind {
	case dubbo.Request:
		l.pairer.Request(&d.conn.call, d.side, m)
	case dubbo.Response:
		l.pairer.Response(&d.conn.call, d.side, m)
	}
	d.remember(m)
}

// render keeps the values of a message as JSON: its tree is gone with the next frame. What could not be read at all is
// opaque.
func render(m *call.Message, msg *dubbo.Message) {
	switch {
	case msg.Kind == dubbo.Request && msg.Names != nil && m.GenericMethod != "":
		m.Values = msg.AppendGenericArguments(m.Values)
	case msg.Kind == dubbo.Request && msg.Names != nil:
		m.Values = msg.AppendArguments(m.Values)
	case msg.Kind == dubbo.Response && msg.ResultKind >= 0 && !msg.Exception():
		m.Values = msg.AppendResult(m.Values)
	case msg.Kind == dubbo.Request:
		m.Values = fmt.Appendf(m.Values, `[{"@opaque":%d}]`, m.Header.BodyLen)
	case msg.Kind == dubbo.Response && msg.ResultKind < 0 && m.Header.Status == dubbo.StatusOK:
		m.Values = fmt.Appendf(m.Values, `{"@opaque":%d}`, m.Header.BodyLen)
	}
	if msg.Names != nil || msg.ResultKind >= 0 {
		m.AttachmentsJSON = msg.AppendAttachments(m.AttachmentsJSON)
	}
}

// Call takes a call from the pairer.
func (l *line) Call(c *call.Call) {
	l.totals.call(c)
	l.sink.Call(c, l.opt.Filter == nil || l.opt.Filter.Match(c))
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		if m != nil {
			m.Forget()
		}
	}
}

// Settled takes a message from the pairer.
func (l *line) Settled(m *call.Message) {
	l.totals.Settle(m)
	if m.Owner != nil {
		m.Owner.Settle(m)
	}
	l.pairer.Free(m)
}

// Clone returns a copy of the row that may be kept: without the body's bytes and byte values.
func (r *Row) Clone() *Row {
	c, frame, msg := *r, *r.Frame, *r.Msg
	frame.Body = nil
	if msg.Tree != nil {
		tree := &decode.Tree{Nodes: slices.Clone(msg.Tree.Nodes)}
		for i := range tree.Nodes {
			tree.Nodes[i].Raw = nil
		}
		msg.Tree = tree
	}
	c.Frame, c.Msg = &frame, &msg
	return &c
}
