// Package pipeline is the line from a capture to closed calls:
//
//	capture source → packet → TCP stream → protocol frame → serialization body → call → sink
//
// It is the one place besides the commands that knows both the capture side and the decoding side.
//
// One goroutine reads packets and spreads their segments over a fixed number of lanes by connection; what happens to a
// connection happens in its lane, in capture order. With one job the lanes run in that goroutine. With more, workers
// share the lanes, and what comes out of them is brought back into capture order before anybody sees it, so that the
// results are the same for any number of jobs. All limits are a lane's own for that reason.
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

// Options is what a run is for; zero values are the defaults.
type Options struct {
	// Protocols are the protocols that are known, in the order in which they are asked.
	Protocols []*rpc.Protocol
	// Formats are the serializations that are known.
	Formats []decode.Format
	// Detail says how much of each body is needed.
	Detail rpc.Detail
	// Filter selects calls; nil selects all.
	Filter *call.Filter
	// MaxBody is how many bytes of a body that crosses packets are kept for decoding (default: 16 KiB for Envelope,
	// 64 MiB else).
	MaxBody int
	// RenderValues asks for arguments, results and attachments as JSON in the messages of calls.
	RenderValues bool
	// Redact leaves of those values their types and lengths.
	Redact bool
	// WholeBodies asks for all of every body in the frames of rows, though Detail may need less.
	WholeBodies bool
	// Sample says which bodies are looked into, beyond Detail.
	Sample Sample
	// Sought, if set, is a packet to look for: what it is is filled in, and the row of a frame with a byte that it brought
	// says so.
	Search *PacketSearch
	// Rows says that the sink wants frames; else its Frame is not called.
	Rows bool
	// Prepare, if set, returns what each goroutine calls for every frame, with all that was decoded; what comes back is
	// in the Prepared of that frame's row.
	Prepare func() func(r *Row) any
	// Apart is the source of each input, by its index, where sources are read alone: a 4-tuple in two of them is two
	// connections. nil: all inputs are one capture.
	Apart []int
	// Limits bound memory.
	Limits Limits
	// Jobs is how many workers share the connections; up to 1: none, all is done in the caller's goroutine. More than one
	// need a source that keeps packets (capture.Files), more than [Lanes] are not used.
	Jobs int
	// Begin, if set, is called with the time of the first packet, before anything comes out.
	Begin func(at int64)
	// Seen, if set, is called for each packet, with its time and its bytes on the link; in the goroutine that reads, which
	// with several jobs is not the sink's.
	Seen func(at int64, bytes int)
	// Stop is asked now and then whether to end early, as if the input ended; nil never does.
	Stop func() bool
	// Live: packets come as they are seen on an interface. What is due by time is then done while none come, and Stop and
	// Watch are asked about ten times a second.
	Live bool
	// Watch, if set, is called as often as Stop, between two packets, in the goroutine of the line. Only with one job.
	Watch func(r *Running)
	// Tap, if set, is shown every packet. Only with one job. It may be a StreamTap.
	Tap Tap

	streams StreamTap // Tap, if it is one
}

// Tap sees the packets of a run, and which of them are of connections with messages.
type Tap interface {
	// Packet is called for each packet when the line has taken it; s is its segment where v is packet.TCP, else nil. Both
	// are borrowed.
	Packet(p *capture.Packet, v packet.Verdict, s *packet.Segment)
	// Carries is called when the connection between two ends turns out to carry messages, before Packet is called for the
	// packet that told; perhaps more than once.
	Carries(a, b packet.Endpoint)
}

// StreamTap is a Tap that also sees what streams are made of. All it is given is borrowed.
type StreamTap interface {
	Tap
	// Data is the next bytes of a stream, before the frames that they complete are given to the sink; m says which packet
	// brought them, and their place. The Key of the rows' connection is c.First.
	Data(c *assemble.Connection, side int, b []byte, m *assemble.Meta)
	// Decided says that no byte of a stream before a place becomes part of a frame any more, but of those that the sink has
	// got.
	Decided(c *assemble.Connection, side int, pos int64)
	// Ended is called when nothing follows from a connection.
	Ended(c *assemble.Connection)
}

// Row is one message with what was decoded of it. It is borrowed.
type Row struct {
	Number int64 // frame number, from 1; in Prepare not known yet
	Conn   *call.Conn
	Side   int // that sent it
	// HasPacket: the packet that was looked for brought one of its bytes.
	HasPacket bool
	// Msg is without its Tree where the row comes from a worker; Prepare sees all of it.
	Msg      *rpc.Message
	Prepared any
}

// Sink takes what comes out of the line, in capture order and in one goroutine, whatever the number of jobs.
type Sink interface {
	// Frame is called for every frame in wire order, whatever the filter.
	Frame(r *Row)
	// Call is called for every closed call; selected says whether the filter wants it.
	Call(c *call.Call, selected bool)
}

// Run reads src to its end (or until Stop) and returns the totals. The error is that of reading, or that the books do
// not balance; what was read before it is in the totals and was given to the sink.
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
	var lanes []*lane
	var err error
	if keeper, ok := src.(retainingSource); ok && opt.Jobs > 1 {
		lanes, err = r.runJobs(keeper, out)
	} else {
		lanes, err = r.run(out)
	}
	r.lanes = nil // what is returned is a part of r: it must not keep the memory of the line
	t := &r.totals
	t.ClockSteps, t.Steady = r.clock.steps, r.clock.last+r.clock.offset-r.clock.first
	t.fragments(&r.decoder)
	for _, l := range lanes {
		l.close()
		t.add(&l.totals)
	}
	t.nameProtocols(opt.Protocols)
	if wrong := t.Balance(); wrong != nil {
		err = wrong // whatever else was wrong with the input
	}
	return t, err
}

// reader is the front of the line: packets out of the source, segments out of packets.
type reader struct {
	src    capture.Source
	opt    *Options
	totals Totals
	// segments counts the packets with a TCP segment. What is due after so many packets of a capture goes by these: other
	// traffic on the link is no matter.
	segments int64
	decoder  packet.Decoder
	packet   capture.Packet
	segment  packet.Segment
	origin   assemble.Origin
	clock    clock
	lastPoll int64 // when Stop was asked last, by the steady clock
	stopping bool  // Stop said so
	lanes    []*lane
}

// tickEvery is how many packets of the capture pass between two ticks, which let each lane do what is due by time.
const tickEvery = 1 << 10

// next reads on to the next segment. It returns io.EOF at the end.
func (r *reader) next() error {
	p := &r.packet
	for {
		if r.stopping {
			return io.EOF
		}
		if err := r.src.Next(p); err != nil {
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
		if r.totals.Packets == 0 && r.opt.Begin != nil {
			r.opt.Begin(p.Time)
		}
		r.totals.packet(p)
		if r.opt.Seen != nil {
			r.opt.Seen(p.Time, p.WireLen)
		}
		searched := r.opt.Search.matches(p.Number, p.File)
		if searched {
			r.opt.Search.Found = true
		}
		now := r.clock.at(p.Time)
		if r.totals.Packets&(tickEvery-1) == 0 || r.opt.Live && now-r.lastPoll >= pollEvery {
			r.lastPoll = now
			if r.opt.Live {
				r.clock.checkedAt = time.Now()
				r.tick(now)
			}
			r.stopping = r.poll() // behind this packet, which is in the books already
		}
		s := &r.segment
		if v := r.decoder.Decode(p, s); v != packet.TCP {
			r.totals.notTCP(p, v, &r.decoder)
			if r.opt.Tap != nil {
				r.opt.Tap.Packet(p, v, nil)
			}
			continue
		}
		r.totals.segment(p, s)
		r.segments++
		if searched {
			o := r.opt.Search
			o.TCP, o.Src, o.Dst, o.Payload = true, s.Src.String(), s.Dst.String(), s.PayloadLen
		}
		r.origin = assemble.Origin{
			Ordinal: r.segments, Time: p.Time, Clock: now, Packet: p.Number, File: p.File, Interface: p.Interface,
			Overhead: p.WireLen + s.Extra - s.PayloadLen,
		}
		return nil
	}
}

// askEvery is how often Stop and Watch are asked while a capture runs, in nanoseconds of its clock.
const pollEvery = int64(100 * time.Millisecond)

func (r *reader) poll() bool {
	if r.opt.Watch != nil {
		r.opt.Watch(&Running{r})
	}
	return r.opt.Stop != nil && r.opt.Stop()
}

// idle lets time pass where no packet says what time it is: the interface is of this machine, and so is the clock.
func (r *reader) idle() {
	if r.opt.Live {
		now := time.Now()
		r.lastPoll, r.clock.checkedAt = r.clock.at(now.UnixNano()), now
		r.tick(r.lastPoll)
	}
}

// tick lets the lanes of this goroutine do what is due.
func (r *reader) tick(now int64) {
	for _, l := range r.lanes {
		l.tick(r.segments, now)
	}
}

// run does everything in this goroutine.
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
		if err := r.next(); err != nil {
			if !errors.Is(err, io.EOF) {
				failed = err
			}
			break
		}
		if n := r.origin.Ordinal / tickEvery; n != ticked {
			ticked = n
			r.tick(r.origin.Clock)
		}
		lanes[r.segment.Lane(Lanes)].take(&r.segment, &r.origin)
		if r.opt.Tap != nil {
			r.opt.Tap.Packet(&r.packet, packet.TCP, &r.segment)
		}
	}
	finish(lanes)
	return lanes, failed
}

// Sought is a packet that is looked for.
type PacketSearch struct {
	File   int   // its place among the inputs
	Number int64 // its number in that file, from 1

	Found bool // it is in the capture
	TCP   bool // a segment
	// Of a segment: its ends, and the bytes of payload.
	Src, Dst string
	Payload  int
}

func (s *PacketSearch) matches(number int64, file int) bool {
	return s != nil && s.Number == number && s.File == file
}

// Clone returns a copy of the row that may be kept: without the body's bytes and byte values, and without the tree where
// something was prepared.
func (r *Row) Clone() *Row {
	c := *r
	c.Msg = r.Msg.Clone(false, r.Prepared == nil)
	return &c
}
