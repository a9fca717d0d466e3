// Package pipeline turns a capture into closed calls:
//
//	capture source → packet → TCP stream → protocol frame → serialization body → call → sink
//
// Packets come in from a capture.Source; rows, calls and totals go out to a [Sink]. Besides the commands, it is the
// only package that knows both capturing and decoding.
//
// One goroutine reads packets and distributes their segments to a fixed number of lanes by connection. A lane handles
// each of its connections in capture order. With one job the lanes run in that goroutine; with more, workers share
// the lanes, and their results are brought back into capture order, so that they are the same for any number of jobs.
// For the same reason every limit applies per lane.
//
// Lanes own the messages and their buffers. Whatever the sink receives is borrowed. Wire formats are the business of
// the packages that it connects.
package pipeline

import (
	"errors"
	"io"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Options configures a run. Zero values are the defaults.
type Options struct {
	// Protocols are the known protocols, in the order in which they are asked.
	Protocols []*rpc.Protocol
	// Formats are the known serializations.
	Formats []decode.Format
	// Route names requests of HTTP, see [rpc.Env].
	Route func(method, path string) string
	// Products are the names of products, by the addresses of their servers.
	Products map[string]string
	// Machines are the capturing machines, by the index of the input; nil without any. A machine is nil if none of its addresses is known.
	Machines []*call.Machine
	// Detail is the minimum detail for every body.
	Detail rpc.Detail
	// Filter selects calls; nil selects all.
	Filter *call.Filter
	// Operations, if set, reports whether the values of calls of an operation are needed. Whole bodies of others are decoded to Parts if Detail is
	// more. It may be called by several goroutines.
	Operations func(o *rpc.Operation) bool
	// ForAttachments: values are needed only for the attachments that Filter asks for. Whole bodies that cannot have them are decoded to Parts.
	ForAttachments bool
	// MaxBody is the number of bytes kept for decoding of a body that crosses packets (default: 16 KiB for Envelope,
	// else 64 MiB).
	MaxBody int
	// RenderValues renders arguments, results and attachments as JSON in the messages of calls.
	RenderValues bool
	// Redact replaces the rendered values by their types and lengths.
	Redact bool
	// WholeBodies keeps all of every body in rows, even if Detail needs less.
	WholeBodies bool
	// Records decodes bodies as far as records of calls need beyond Detail: failed responses, which have the class of an exception, and requests
	// with the group of a service.
	Records bool
	// Print is what bodies print in place of having a tree, if nothing else needs one: the values that are rendered, or the parts in the result of Prepare.
	Print decode.Printing
	// Borrow lets trees have texts that are valid only while the message is decoded: for rendered values, and for Prepare.
	Borrow bool
	// Sample selects the bodies that are sampled, beyond Detail.
	Sample Sample
	// Search, if set, is a packet to find. The run fills in what it is and sets HasPacket in the rows of messages
	// with a byte from it.
	Search *PacketSearch
	// Rows is set if the sink needs rows; otherwise its Frame is not called.
	Rows bool
	// Prepare, if set, returns a function for each goroutine, which is called with a row while its message is fully decoded: when the row is copied,
	// or by [Row.Prepare]. Its result becomes the Prepared of the row.
	Prepare func() func(r *Row) any
	// Instead, if set, returns a function for each goroutine, which is called with whole messages before their values are decoded. If the
	// result is not nil they are not, and the result becomes the Prepared of the row. Detail must be [rpc.Values].
	Instead func() func(m *rpc.Message) any
	// Apart is the source of each input, by its index, if sources are separate captures: a 4-tuple in two of them is
	// two connections. nil: all inputs are one capture.
	Apart []int
	// Fingerprints, if set, receives those of the connections with messages when the run ends.
	Fingerprints *Fingerprints
	// Limits bound memory.
	Limits Limits
	// Jobs is the number of workers, at most [Lanes]; up to 1 the caller's goroutine does everything. More than one
	// need a source that retains packets, such as capture.Files.
	Jobs int
	// Begin, if set, is called with the time of the first packet, before the sink receives anything.
	Begin func(at int64)
	// Seen, if set, is called with the time and link bytes of each packet in the reading goroutine. With several jobs
	// the sink runs in another one.
	Seen func(at int64, bytes int)
	// Stop, if set, is polled and ends the run early, as if the input ended.
	Stop func() bool
	// Live is set if packets arrive from an interface. Timeouts then also happen without packets, and Stop and Watch
	// are called about ten times a second.
	Live bool
	// Watch, if set, is called as often as Stop, between two packets, in the goroutine of the lanes. It needs one
	// job.
	Watch func(r *Running)
	// Tap, if set, receives every packet. It needs one job. It may be a StreamTap.
	Tap Tap

	streams StreamTap // Tap, if it is one
}

// someOperations reports whether values are needed only of some operations.
func (o *Options) someOperations() bool {
	return o.Operations != nil && o.Detail == rpc.Values && o.Instead == nil
}

// Tap receives the packets of a run and learns which connections carry messages.
type Tap interface {
	// Packet is called for each packet after the lanes have processed it; s is its segment if v is packet.TCP, else
	// nil. Both are borrowed.
	Packet(p *capture.Packet, v packet.Verdict, s *packet.Segment)
	// Carries is called when the connection between two ends is found to carry messages, before Packet is called for
	// the packet that shows it. It may be called more than once.
	Carries(a, b packet.Endpoint)
}

// StreamTap is a Tap that also receives streams. All arguments are borrowed.
type StreamTap interface {
	Tap
	// Data receives the next bytes of a stream, before the sink receives the messages that they complete. m is their
	// origin. c.First is the Key of the connection in rows.
	Data(c *assemble.Connection, side int, b []byte, m *assemble.Meta)
	// Framing receives bytes of no message that the protocol needs, as [rpc.Sink] does.
	Framing(c *assemble.Connection, side int, m *rpc.Message)
	// Decided is called when no further message will own stream bytes before pos.
	Decided(c *assemble.Connection, side int, pos int64)
	// Ended is called when a connection has no more bytes.
	Ended(c *assemble.Connection)
}

// Row is one message with its decoded content. It is borrowed.
type Row struct {
	Number int64 // of the message, from 1; 0 in Prepare
	Conn   *call.Conn
	Side   int // that sent the message
	// HasPacket is set if the packet of Options.Search brought one of its bytes.
	HasPacket bool
	// Msg has no Tree if the row was copied, as one from a worker is; the function of Options.Prepare receives it complete.
	Msg      *rpc.Message
	Prepared any

	prepare func(*Row) any // nil: nothing, or it was called
}

// Prepare calls the function of Options.Prepare if that was not done.
func (r *Row) Prepare() {
	if r.prepare != nil {
		r.Prepared, r.prepare = r.prepare(r), nil
	}
}

// Sink receives the results of a run in capture order and in one goroutine, for any number of jobs.
type Sink interface {
	// Frame is called for every message in wire order, regardless of the filter.
	Frame(r *Row)
	// Call is called for every closed call; selected reports whether it matches the filter.
	Call(c *call.Call, selected bool)
}

// Run reads src to its end, or until Stop, and returns the totals. The error is from reading or from totals that do
// not balance; the sink and the totals still have everything before it.
func Run(src capture.Source, opt Options, sink Sink) (*Totals, error) {
	if opt.MaxBody == 0 {
		opt.MaxBody = 16 << 10
		if opt.Detail > rpc.Envelope || opt.WholeBodies {
			opt.MaxBody = 64 << 20
		}
	}
	opt.Limits = opt.Limits.withDefaults()
	opt.streams, _ = opt.Tap.(StreamTap)
	out := &delivery{sink: sink}
	r := reader{src: src, opt: &opt, clock: clock{live: opt.Live, checkedAt: time.Now()}}
	r.batches, _ = src.(BatchSource)
	r.preloads, _ = src.(PreloadSource)
	r.whole = opt.Detail > rpc.Envelope || opt.WholeBodies
	var lanes []*lane
	var err error
	if keeper, ok := src.(retainingSource); ok && opt.Jobs > 1 {
		lanes, err = r.runJobs(keeper, out)
	} else {
		lanes, err = r.run(out)
	}
	r.lanes = nil // the returned totals are part of r and must not retain the lanes
	t := &r.totals
	t.ClockSteps, t.Steady = r.clock.steps, r.clock.last+r.clock.offset-r.clock.first
	t.fragments(&r.decoder)
	var prints []*Fingerprints
	for _, l := range lanes {
		l.close()
		t.add(&l.totals)
		prints = append(prints, &l.fingerprints)
	}
	if opt.Fingerprints != nil {
		opt.Fingerprints.Add(prints...)
	}
	t.nameProtocols(opt.Protocols)
	if wrong := t.Balance(); wrong != nil {
		err = wrong // more severe than any error of the input
	}
	return t, err
}

// reader reads packets from the source and decodes their segments.
type reader struct {
	src    capture.Source
	opt    *Options
	totals Totals
	// segments counts the packets with a TCP segment. Limits in packets use it, so that other traffic does not
	// matter.
	segments int64
	decoder  packet.Decoder
	// batch are the packets that were counted together, of which those from at on come next; unread were read with them. parsed has the
	// segments of those that isUsual tells.
	batches  BatchSource   // src, if it is one
	preloads PreloadSource // likewise
	whole    bool          // bodies are read in full
	batch    []capture.Packet
	unread   []capture.Packet
	at       int
	space    [maxBatch]capture.Packet
	parsed   [maxBatch]packet.Segment
	isUsual  [maxBatch]bool
	origin   assemble.Origin // of the last packet
	clock    clock
	lastPoll int64 // steady time of the last poll
	stopping bool  // Stop returned true
	lanes    []*lane
}

// tickEvery is the number of segments between two ticks, in which each lane handles its timeouts.
const tickEvery = 1 << 10

// BatchSource is a source that can deliver several packets at once: at most as many as ps has room for, and none only with an error. All are
// valid until the next call.
type BatchSource interface {
	NextBatch(ps []capture.Packet) (int, error)
}

// PreloadSource is a source whose packets may not be in the caches of the processor. Preload is called once for each packet that is handled, and
// begins to load a later one: the complete packet if whole is set, or what most packets need.
type PreloadSource interface{ Preload(whole bool) }

// maxBatch is the number of packets that are read at once. Their fields stay in the first-level cache.
const maxBatch = 32

// read reads the next packets into the batch, at least one. It returns io.EOF at the end.
func (r *reader) read() error {
	for len(r.unread) == 0 {
		if r.stopping {
			return io.EOF
		}
		n, err := 1, error(nil)
		if r.batches != nil {
			// A batch ends where Stop is polled.
			n, err = r.batches.NextBatch(r.space[:min(maxBatch, tickEvery-r.totals.Packets&(tickEvery-1))])
		} else {
			err = r.src.Next(&r.space[0])
		}
		if err != nil {
			switch {
			case errors.Is(err, capture.ErrTimeout):
				r.idle()
				if r.poll() {
					return io.EOF
				}
				continue
			case errors.Is(err, capture.ErrClosed):
				return io.EOF
			}
			return err
		}
		r.unread = r.space[:n]
	}
	n := len(r.unread)
	if r.opt.Live { // the batch ends with the packet at which timeouts are due
		due := r.lastPoll + pollEvery - r.clock.offset
		for n = 1; n < len(r.unread) && r.unread[n-1].Time < due; n++ {
		}
	}
	r.batch, r.unread, r.at = r.unread[:n], r.unread[n:], 0
	r.parse()
	if r.lanes != nil && r.lanes[0].open >= manyConnections {
		preloadConnections(n, func(i int) (*lane, *packet.Segment, int) {
			s := &r.parsed[i]
			if !r.isUsual[i] {
				return nil, nil, 0
			}
			return r.lanes[s.Lane(Lanes)], s, r.batch[i].File
		})
	}
	return nil
}

// parse counts the packets of the batch and parses the headers of the usual ones. A loop that does only this stays in the first-level cache
// of instructions, and the headers of several packets are loaded from memory at the same time.
func (r *reader) parse() {
	if r.totals.Packets == 0 && r.opt.Begin != nil {
		r.opt.Begin(r.batch[0].Time)
	}
	r.totals.packets(r.batch)
	ps, ss := r.batch, r.parsed[:len(r.batch)]
	for i := range ps {
		p, s := &ps[i], &ss[i]
		usual := r.decoder.Usual(p, s)
		if r.isUsual[i] = usual; usual {
			r.totals.segment(p, s)
		}
	}
}

// next reads up to the next segment, and returns it with its packet. It returns io.EOF at the end.
func (r *reader) next() (*capture.Packet, *packet.Segment, error) {
	for {
		if r.at == len(r.batch) {
			if err := r.read(); err != nil {
				return nil, nil, err
			}
		}
		p, s := &r.batch[r.at], &r.parsed[r.at]
		usual := r.isUsual[r.at]
		r.at++
		if r.preloads != nil {
			r.preloads.Preload(r.whole)
		}
		if r.opt.Seen != nil {
			r.opt.Seen(p.Time, p.WireLen)
		}
		searched := r.opt.Search != nil && r.opt.Search.matches(p.Number, p.File)
		if searched {
			r.opt.Search.Found = true
		}
		now := r.clock.at(p.Time)
		if r.at == len(r.batch) && (r.totals.Packets&(tickEvery-1) == 0 || r.opt.Live && now-r.lastPoll >= pollEvery) {
			r.lastPoll = now
			if r.opt.Live {
				r.clock.checkedAt = time.Now()
				r.tick(now)
			}
			r.stopping = r.poll() // ends after this packet, which is already counted
		}
		if !usual {
			if v := r.decoder.Decode(p, s); v != packet.TCP {
				r.totals.notTCP(p, v, &r.decoder)
				if r.opt.Tap != nil {
					r.opt.Tap.Packet(p, v, nil)
				}
				continue
			}
			r.totals.segment(p, s)
		}
		r.segments++
		if searched {
			o := r.opt.Search
			o.TCP, o.Src, o.Dst, o.Payload = true, s.Src.String(), s.Dst.String(), s.PayloadLen
		}
		o := &r.origin
		o.Ordinal, o.Time, o.Clock = r.segments, p.Time, now
		o.Packet, o.File, o.Interface = p.Number, p.File, p.Interface
		o.Overhead = p.WireLen + s.Extra - s.PayloadLen
		return p, s, nil
	}
}

// pollEvery is the interval in which Stop and Watch are called, in nanoseconds of the capture's clock.
const pollEvery = int64(100 * time.Millisecond)

func (r *reader) poll() bool {
	if r.opt.Watch != nil {
		r.opt.Watch(&Running{r})
	}
	return r.opt.Stop != nil && r.opt.Stop()
}

// idle handles timeouts when no packet arrives. A live capture shares this machine's clock.
func (r *reader) idle() {
	if r.opt.Live {
		now := time.Now()
		r.lastPoll, r.clock.checkedAt = r.clock.at(now.UnixNano()), now
		r.tick(r.lastPoll)
	}
}

// tick handles the timeouts of all lanes.
func (r *reader) tick(now int64) {
	for _, l := range r.lanes {
		l.tick(r.segments, now)
	}
}

// run handles all lanes in this goroutine.
func (r *reader) run(out output) ([]*lane, error) {
	lanes := make([]*lane, Lanes)
	w := newWorker(r.opt, out)
	for i := range lanes {
		lanes[i] = newLane(i, w)
	}
	r.lanes = lanes
	var ticked int64
	var failed error
	for {
		p, s, err := r.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				failed = err
			}
			break
		}
		if n := r.origin.Ordinal / tickEvery; n != ticked {
			ticked = n
			r.tick(r.origin.Clock)
		}
		lanes[s.Lane(Lanes)].take(s, &r.origin)
		if r.opt.Tap != nil {
			r.opt.Tap.Packet(p, packet.TCP, s)
		}
	}
	finish(lanes)
	return lanes, failed
}

// PacketSearch is a packet to find, with the result.
type PacketSearch struct {
	File   int   // index of the input
	Number int64 // of the packet in that file, from 1

	Found bool // the capture has the packet
	TCP   bool // it is a TCP segment
	// Src and Dst are the ends of a segment, Payload its payload bytes.
	Src, Dst string
	Payload  int
}

func (s *PacketSearch) matches(number int64, file int) bool {
	return s != nil && s.Number == number && s.File == file
}

// Clone returns a copy that may be kept: without the body's bytes and byte values, and without the tree if Prepared
// is set.
func (r *Row) Clone() *Row {
	r.Prepare()
	c := *r
	c.Msg = r.Msg.Clone(false, r.Prepared == nil)
	return &c
}
