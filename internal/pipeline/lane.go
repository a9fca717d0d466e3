package pipeline

import (
	"fmt"
	"hash/maphash"
	"math"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// worker is shared by the lanes of one goroutine: memory that does not affect results.
type worker struct {
	opt     *Options
	out     output
	shared  map[any]any // caches of protocols
	pool    call.Pool
	held    assemble.Buffers
	prepare func(*Row) any
	// instead is the function of Options.Instead, prepared its last result until the message arrives.
	instead  func(*rpc.Message) any
	prepared any
	printed  *decode.Printed // nil: nothing is printed
	// wantValues, if set, reports whether the values of a message are needed now.
	wantValues func(conn *call.Conn, side int, m *rpc.Message) bool
	chunk      rpc.Chunk
	row        Row
	open       int // connections that are open
	// rendered and attachments are scratch for the values of a message.
	rendered, attachments []byte
}

// seed is random in each process, so that a capture cannot force collisions.
var seed = maphash.MakeSeed()

func newWorker(opt *Options, out output) *worker {
	w := &worker{opt: opt, out: out, shared: make(map[any]any)}
	if opt.Prepare != nil {
		w.prepare = opt.Prepare()
	}
	if opt.Instead != nil {
		w.instead = opt.Instead()
	}
	if opt.Print != decode.PrintNothing && (opt.Filter == nil || !opt.Filter.NeedsAttachments()) {
		w.printed = &decode.Printed{Printing: opt.Print}
	}
	return w
}

// lane is the pipeline for a part of the connections.
type lane struct {
	*worker
	index   int
	asm     *assemble.Assembler
	pairer  *call.Pairer
	env     rpc.Env
	openers []rpc.Opener // by protocol; nil until one is needed
	totals  Totals
	// fingerprints are not sorted.
	fingerprints Fingerprints
	repeats      repeatWindow
	begun        uint32 // connections
	// early are responses whose requests may be among the bytes that the other direction of their connection holds, in
	// the order of arrival.
	early map[*connection][]*call.Message
	// earlyResponseCount is the number of delayed responses of all connections, earlyValueBytes the bytes of their
	// values.
	earlyResponseCount, earlyValueBytes int
	// searched is the range of stream bytes from the packet of Options.Search, of one direction.
	searched struct {
		dir      *direction
		from, to int64
	}
	// now is the position of current results in capture order. Results with one position come from one lane, in
	// order.
	now uint64
	// lastSegment is the ordinal of the lane's last segment.
	lastSegment int64
	// clock is the steady time of the capture.
	clock int64
	// sampler samples bodies; nil if none are sampled.
	sampler *sampler
}

func newLane(index int, w *worker) *lane {
	l := &lane{worker: w, index: index, early: make(map[*connection][]*call.Message)}
	l.pairer = call.NewPairer(w.opt.Limits.pairer(&w.pool), l)
	if w.opt.Sample.on() {
		l.sampler = newSampler(w)
	}
	l.openers = make([]rpc.Opener, len(w.opt.Protocols))
	l.env = rpc.Env{Formats: w.opt.Formats, Route: w.opt.Route, Detail: w.opt.Detail, MaxBuffers: share(w.opt.Limits.MaxBodies), Shared: w.shared, Framing: w.opt.streams != nil, Records: w.opt.Records, Borrow: w.opt.Borrow, Printed: w.printed}
	l.keepBodies(false)
	l.asm = assemble.New(w.opt.Limits.assembler(w.opt.Apart, &w.held), l)
	return l
}

// Positions in capture order: first the results of ticks before the segment of that packet, by lane; then the results
// of the segment. At the end follow those of open connections, by first packet, and then open calls, in order of
// arrival.
const (
	orderSegment  = 1<<orderLaneBits - 1
	orderEnd      = 1 << 62
	orderOpen     = 1 << 63
	orderLaneBits = 8
)

// segmentOrdinal returns the ordinal of the segment at the current position, or the largest number at the end.
func (l *lane) segmentOrdinal() int64 {
	if l.now >= orderEnd {
		return math.MaxInt64
	}
	return int64(l.now >> orderLaneBits)
}

// tick handles the timeouts that are due at a packet of the capture.
func (l *lane) tick(ordinal, at int64) {
	l.now = uint64(ordinal)<<orderLaneBits | uint64(l.index)
	l.asm.Tick(ordinal, at)
	l.clock = max(l.clock, at)
	if wait := int64(l.opt.Limits.CallTime); wait > 0 {
		l.pairer.ExpireBefore(l.clock - wait)
	}
}

// close completes the lane's totals at the end of the run.
func (l *lane) close() {
	l.totals.TCP = l.asm.Ledger
	l.totals.Expired, l.totals.ExpiredByTime = l.pairer.Expired, l.pairer.ExpiredByTime
}

// take processes a segment.
func (l *lane) take(s *packet.Segment, o *assemble.Origin) {
	l.now = uint64(o.Ordinal)<<orderLaneBits | orderSegment
	l.clock, l.lastSegment = o.Clock, o.Ordinal
	l.asm.Segment(s, o)
}

// finish ends the open connections and calls of the lanes of one goroutine.
func finish(lanes []*lane) {
	open := make([][]*assemble.Connection, len(lanes))
	for i, l := range lanes {
		open[i] = l.asm.Open()
	}
	for {
		next := -1
		for i, list := range open {
			if len(list) > 0 && (next < 0 || list[0].First < open[next][0].First) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		c := open[next][0]
		open[next] = open[next][1:]
		l := lanes[next]
		l.now = orderEnd | uint64(c.First)
		l.asm.Finish(c)
	}
	for {
		var first *call.Message
		var of *lane
		for _, l := range lanes {
			if m := l.pairer.Oldest(); m != nil && (first == nil || m.Order < first.Order) {
				first, of = m, l
			}
		}
		if first == nil {
			return
		}
		of.now = orderOpen | first.Order
		of.pairer.ExpireOldest()
	}
}

// keepBodies sets how much of bodies is kept; whole keeps all of every body for now.
func (l *lane) keepBodies(whole bool) {
	e, o := &l.env, l.opt
	e.WholeBodies = o.WholeBodies || whole
	e.MaxBody, e.MaxEnvelope = o.MaxBody, o.MaxBody
	switch {
	case whole:
		e.MaxBody = 64 << 20
	case l.sampler != nil && o.Detail == rpc.Envelope && !o.WholeBodies && o.Sample.Calls != AllCalls:
		e.MaxBody = max(o.MaxBody, maxSampledBody)
	}
	e.AskFirst = l.instead != nil
	e.Sampling = l.sampler != nil || l.wantValues != nil || l.opt.someOperations() || l.opt.ForAttachments
}

// opener returns the function that opens connections of a protocol in this lane.
func (l *lane) opener(i int) rpc.Opener {
	if l.openers[i] == nil {
		p := l.opt.Protocols[i]
		l.openers[i] = p.New(p, &l.env)
	}
	return l.openers[i]
}

// message numbers and pairs a message of a direction.
func (l *lane) message(d *direction, msg *rpc.Message) {
	open := l.pairer.Preload(d.conn.call, int(d.side), msg.Kind, msg.Exchange)
	l.totals.message(msg, l.opt.Detail)

	m := l.pairer.New()
	m.Order = l.now
	m.FillFrom(msg)
	open.Rest()
	if m.Encoding != "" && m.Parts != (decode.PartBytes{}) {
		m.Parts = msg.BodyParts()
	}
	m.Arrived = l.clock
	l.totals.SeenBytes += msg.Wire
	if l.sampler != nil && msg.IsWhole() {
		l.sampler.message(m, msg)
	}
	if l.opt.RenderValues {
		if msg.Tree != nil {
			msg.Tree.Redact = l.opt.Redact
		}
		l.renderValues(m, msg)
	}
	if l.opt.Filter != nil && l.opt.Filter.NeedsAttachments() {
		m.Detail().Attachments = msg.AttachmentTexts()
	}
	var row *Row
	if l.opt.Rows {
		row = &l.row
		*row = Row{
			Conn: d.conn.call, Side: int(d.side), Msg: msg, HasPacket: d.hasSearchedPacket(msg), prepare: l.prepare,
		}
		if l.prepared != nil {
			row.Prepared, row.prepare, l.prepared = l.prepared, nil, nil
		}
	}
	l.out.frame(l, m, row)
	switch msg.Kind {
	case rpc.Request:
		d.conn.paired = true
		l.pairer.Request(d.conn.call, int(d.side), m)
	case rpc.Response:
		d.pairEarlier(m)
		if !d.postpone(m) {
			d.conn.paired = true
			l.pairer.Response(d.conn.call, int(d.side), m)
		}
	}
	l.repeats.add(d, m)
}

// hasSearchedPacket reports whether the packet of Options.Search brought a byte of the message.
func (d *direction) hasSearchedPacket(m *rpc.Message) bool {
	searched := &d.conn.searched
	if searched.dir != d {
		return false
	}
	for s := range m.Spans {
		if searched.to > s.From && searched.from < s.To {
			return true
		}
	}
	return false
}

// renderValues renders the values of a message as JSON, because its tree is valid only until the next message. Values
// that could not be read are opaque. Options.Redact replaces them by their types and lengths.
func (l *lane) renderValues(m *call.Message, msg *rpc.Message) {
	if p := msg.Printed; p != nil {
		attachments := p.Attachments
		if len(msg.Headers) > 0 {
			attachments = msg.AppendAttachments(l.attachments[:0], l.opt.Redact)
			l.attachments = attachments
		}
		if m.KeepValues(p.Values, attachments); cap(l.attachments) > maxRendered {
			l.attachments = nil
		}
		return
	}
	b := l.rendered[:0]
	switch {
	case msg.Kind == rpc.Request && msg.Operation != nil && m.GenericMethod != "":
		b = msg.AppendGenericArguments(b)
	case msg.Kind == rpc.Request && (msg.Operation != nil || msg.HasArguments()):
		b = msg.AppendArguments(b)
	case msg.Kind == rpc.Response && msg.ResultKind >= 0 && !msg.Exception:
		b = msg.AppendResult(b)
	case msg.Kind == rpc.Request:
		b = fmt.Appendf(b, `[{"@opaque":%d}]`, m.BodyLen)
	case msg.Kind == rpc.Response && msg.ResultKind < 0 && !m.Failed && msg.Decoded != "full":
		b = fmt.Appendf(b, `{"@opaque":%d}`, m.BodyLen)
	}
	a := l.attachments[:0]
	if msg.Operation != nil || msg.ResultKind >= 0 || len(msg.Headers) > 0 {
		a = msg.AppendAttachments(a, l.opt.Redact)
	}
	m.KeepValues(b, a)
	if l.rendered, l.attachments = b, a; cap(b)+cap(a) > maxRendered {
		l.rendered, l.attachments = nil, nil
	}
}

// maxRendered is how large the scratch for rendered values may stay, in bytes.
const maxRendered = 1 << 20

// Call receives a call from the pairer.
func (l *lane) Call(c *call.Call) {
	l.totals.call(c)
	if l.sampler != nil {
		l.sampler.release(c)
	}
	l.out.call(l, c, l.opt.Filter == nil || l.opt.Filter.Match(c))
}

// Settled receives a message from the pairer.
func (l *lane) Settled(m *call.Message) {
	l.totals.Settle(m)
	l.out.settled(l, m)
}
