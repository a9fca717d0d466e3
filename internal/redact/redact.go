package redact

import (
	"cmp"
	"fmt"
	"sync"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/rewrite"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/redact/scrub"
	"dubbo-wire/internal/rpc"
)

// Options are the output and its limits.
type Options struct {
	File File
	// Protocols and Formats are those of the run.
	Protocols []*rpc.Protocol
	Formats   []decode.Format
	// Key decides all replacements: equal keys give equal ones.
	Key [32]byte
	// Origin returns what is known of the interface of the packet that was read last; nil if nothing is.
	Origin func(p *capture.Packet) capture.Origin
	// Ended reports whether no more packets come from the input with that index; nil if that is not known.
	Ended func(file int) bool
	// Jobs is the number of goroutines that copy messages, the one of the run among them.
	Jobs int
	// Window is how many bytes of packets are kept before they are written (default 32 MiB), Memory how many bytes of
	// messages and their replacements are kept for repeated bytes (default 64 MiB, and at least those of packets that are
	// not written).
	Window, Memory int
}

// Summary counts what was written and replaced.
type Summary struct {
	Packets int64            // written
	LeftOut map[string]int64 // packets by what they are
	Frames  int64
	// Filler is the bytes that became filler by cause: those of [scrub.Filled], "behind a gap" of incomplete messages, "beyond
	// the limit of bodies" ([pipeline.Limits]), and "of no frame".
	Filler map[string]int64
	// Addresses is how many IP addresses were replaced.
	Addresses int
	// Refused is what was met and cannot be redacted, "" if there is nothing; the file must not be given away.
	Refused string
}

// Redactor is the sink and the tap of a run for rows, [rpc.Values] and whole bodies. It is not safe for concurrent use.
type Redactor struct {
	opt        Options
	out        *output
	addresses  *addresses
	scrubber   *scrub.Scrubber
	queue      chan task // to the workers; nil without any
	spare      chan *work
	hurry      int // messages that are not given to them
	least      int // bytes of bodies that are given to them
	workers    sync.WaitGroup
	batch      *batch   // messages that are collected for them
	batches    []*batch // of which something may have to be reported
	completing []completing
	slab       *slab
	slabs      []*slab // that are free
	allocated  int     // how often allocate was called
	mapped     []byte  // until Close
	block      []byte  // the rest of mapped, which is not in use yet
	starts     []starts
	markers    []string
	filler     *filler
	sum        Summary
	decoder    packet.Decoder
	segment    packet.Segment

	dirs  map[flow]*direction
	conns map[uint64]*connection

	// The window: packets that are not written, the oldest first.
	front, tail *record
	held        int // bytes
	chunk       *chunk
	chunks      []*chunk
	free        []*record
	fragments   map[int64]*record // by ordinal
	late        lateUnits

	oldest, newest *claim
	claimed        int64  // bytes
	pieced         []byte // memory of [Redactor.original]

	ordinal      int64   // of the packet that was taken last
	now          int64   // its time
	firstTaken   int64   // the first packet with TCP, 0 if there is none yet
	before, end  *record // for packets that were left out before the first and after the last one
	filled       int64   // bytes of payload
	framesFilled int64   // of these, of incomplete messages
	notes        []note
	ifaces       *rewrite.Interfaces
	spans        []span
	// The runs of the message that is claimed, and its pieces if they are head and body.
	runs   []run
	two    [2]rpc.Piece
	layers []packet.Layer // scratch
}

// note is a comment for a packet.
type note struct {
	file   int
	number int64
	frame  int64
	text   string
}

// New returns a Redactor and starts the output.
func New(o Options) *Redactor {
	o.Window, o.Memory = cmp.Or(o.Window, 32<<20), cmp.Or(o.Memory, 64<<20)
	r := &Redactor{
		opt: o, least: minForWorkers, addresses: newAddresses(o.Key), scrubber: scrub.New(o.Formats, o.Key),
		dirs: make(map[flow]*direction), conns: make(map[uint64]*connection),
		fragments: make(map[int64]*record),
	}
	r.ifaces = &rewrite.Interfaces{Origin: o.Origin, Ended: o.Ended}
	r.sum.LeftOut, r.sum.Filler = make(map[string]int64), make(map[string]int64)
	r.decoder.Layers = new(packet.Layers)
	for _, p := range o.Protocols {
		if p.NewMayBegin != nil {
			r.starts = append(r.starts, starts{p, p.NewMayBegin(o.Formats)})
		}
		if p.Marker != "" {
			r.markers = append(r.markers, p.Marker)
		}
	}
	r.filler = newFiller(r.addresses, o.Key, r.markers)
	r.out = newOutput(o.File, r.ifaces, &finisher{r.addresses, r.filler})
	r.out.give, r.out.size = r.give, min(writeSize, o.Window)
	return r
}

// Broken reports whether writing failed; Close returns the error.
func (r *Redactor) Broken() bool { return r.out.err != nil }

// Close writes the packets that are left. It returns what was done and the first error. The Redactor must not be used after it.
func (r *Redactor) Close() (Summary, error) {
	for _, rec := range r.fragments {
		if rec.data != nil {
			r.omitFragment(rec, packet.Fragment.String())
		}
	}
	if r.end != nil {
		r.push(r.end)
	}
	r.comment(r.tail)
	r.complete(r.tail)
	r.flush(-1)
	for _, b := range r.batches {
		r.await(b)
	}
	r.out.sync()
	if r.queue != nil {
		close(r.queue)
		r.workers.Wait()
	}
	if r.mapped != nil {
		unmapMemory(r.mapped)
	}
	r.sum.Addresses = r.addresses.count()
	if n := r.filled - r.framesFilled; n > 0 {
		r.sum.Filler["of no frame"] += n
	}
	return r.sum, r.out.err
}

// Call implements [pipeline.Sink].
func (r *Redactor) Call(*call.Call, bool) {}

// Carries implements [pipeline.Tap].
func (r *Redactor) Carries(packet.Endpoint, packet.Endpoint) {}

// Frame replaces the values of a message.
func (r *Redactor) Frame(row *pipeline.Row) {
	r.sum.Frames++
	m := row.Msg
	c, _ := row.Prepared.(*copied)
	k := r.conns[row.Conn.Key]
	if k == nil || !k.known[row.Side] || m.Extra != nil && m.Extra.More != nil && m.Pieces == nil {
		return // the tap was not given its bytes, or nobody knows where they are: they become filler
	}
	n := len(m.Head) + len(m.Body)
	both, result := []byte(nil), scrub.Result{}
	var memory *slab
	var job *batch
	if c != nil {
		both, memory, job = c.both, c.memory, c.batch
	} else {
		both, memory = r.original(m)
		both, result = r.scrubber.Message(both, m)
	}
	if len(both) != 2*n {
		panic(fmt.Sprintf("redact: a frame of %d bytes became one of %d", n, len(both)-n))
	}
	if job == nil {
		c = nil
	} else {
		c.number, c.last = row.Number, m.Last
		r.completing = append(r.completing, completing{job, len(job.jobs) - 1, m.Last})
	}
	pieces := m.Pieces
	if pieces == nil && m.Protocol.ScrubHead != nil { // both is not memory that is kept
		r.two = [2]rpc.Piece{{From: m.Span.From, Len: len(m.Head)}, {From: m.Span.From + int64(len(m.Head)), Len: len(m.Body), Body: true}}
		pieces = r.two[:]
	}
	if pieces != nil {
		r.split(k, row.Side, pieces, len(m.Head), both, c)
	}
	k.begun(r, row.Side) // from here on the copy may be awaited, and c be another message's
	if pieces != nil {
		r.claimRuns(k, row.Side, job)
		if memory != nil && job != nil {
			r.await(job)
		}
		r.release(memory)
	} else {
		r.claim(k.dirs[row.Side], k.start[row.Side]+uint32(m.Span.From), both[:n:n], both[n:], memory, job)
	}
	rest := ""
	if gap := m.Captured - len(m.Body); gap > 0 {
		cause := "behind a gap"
		if m.MissingAt > len(m.Body) {
			cause = "beyond the limit of bodies"
		}
		r.framesFilled += int64(gap)
		r.sum.Filler[cause] += int64(gap)
		rest = fmt.Sprintf("%d bytes %s replaced by filler", gap, cause)
	}
	r.note(row.Number, &m.Last, r.count(row.Number, &result, rest))
}

// count counts what of a message became filler, and returns what is to be reported of it, "" if that is nothing. rest is what is to be said of bytes
// that are not in the result.
func (r *Redactor) count(number int64, result *scrub.Result, rest string) string {
	if result.Refused != "" {
		r.sum.Refused = result.Refused
	}
	for _, x := range result.Filled {
		r.sum.Filler[x.Cause] += int64(x.Bytes)
	}
	result.Format = "" // the header says it
	text := result.String()
	if text != "" && rest != "" {
		text += "; "
	}
	if text += rest; text == "" {
		return ""
	}
	return fmt.Sprintf("frame %d: %s", number, text)
}

// note keeps a comment, if it is not empty, for the packet that completed a message.
func (r *Redactor) note(number int64, last *rpc.Origin, text string) {
	if text == "" {
		return
	}
	r.notes = append(r.notes, note{last.File, last.Packet, number, text})
	if len(r.notes) > maxNotes {
		r.comment(r.tail)
	}
}

// maxNotes bounds the comments that wait for their packets.
const maxNotes = 1 << 10

// Packet takes a packet, after the messages that it completed.
func (r *Redactor) Packet(p *capture.Packet, _ packet.Verdict, _ *packet.Segment) {
	r.ordinal++
	r.now = p.Time
	v := r.decoder.Decode(p, &r.segment)
	l := r.decoder.Layers
	if v != packet.TCP && v != packet.Held {
		r.omit(p, v)
		for i := range l.Parts {
			for _, part := range l.Parts[i] {
				if rec := r.fragments[part.Number]; rec != nil {
					r.omitFragment(rec, r.decoder.Protocol())
				}
			}
		}
		return
	}
	if r.firstTaken == 0 {
		if r.firstTaken = r.ordinal; r.before != nil {
			r.push(r.before)
			r.before = nil
		}
	}
	r.end = nil
	rec := r.record(p, len(p.Data))
	rec.data = r.memory(rec, len(p.Data))
	s := &r.segment
	from, to := 0, 0 // the payload
	if v == packet.TCP && l.All[len(l.All)-1].In == 0 {
		from = min(l.All[len(l.All)-1].To, len(rec.data))
		to = from + copy(rec.data[from:], s.Payload)
	}
	clear(rec.data[:from])
	clear(rec.data[to:])
	r.addresses.headers(rec.data, p.Data, p.Link, l.All, 0)
	r.push(rec)
	if v == packet.Held {
		rec.fragment = true
		r.addresses.checksums(rec.data, l.All, 0, false)
		r.holdFragment(rec)
	} else {
		r.takeSegment(rec)
	}
	if len(r.notes) > 0 {
		r.comment(rec)
	}
	if len(r.completing) > 0 {
		r.complete(rec)
	}
	r.flush(r.opt.Window)
}

// record returns a record for p, of n bytes.
func (r *Redactor) record(p *capture.Packet, n int) *record {
	rec := r.newRecord()
	rec.n, rec.ordinal, rec.number, rec.file, rec.time, rec.wireLen, rec.iface = n, r.ordinal, p.Number, p.File, p.Time, p.WireLen, r.ifaces.Of(p)
	return rec
}

// takeSegment takes the segment that was decoded last, which came with rec.
func (r *Redactor) takeSegment(rec *record) {
	s, l := &r.segment, r.decoder.Layers
	last := l.All[len(l.All)-1]
	u := &rec.own
	u.seq, u.in, u.layers = s.Seq, last.In, u.few[:0]
	for i := range l.All {
		x := &l.All[i]
		if x.In == last.In && x.Kind >= packet.LayerIPv4 && x.Kind != packet.LayerExtension && x.Kind != packet.LayerJumbo {
			u.keepLayer(x)
		}
	}
	if s.Flags&packet.SYN != 0 {
		u.seq++
	}
	u.rec, u.data = rec, rec.data
	if last.In > 0 {
		r.addresses.checksums(rec.data, l.All, 0, false) // of the fragment's own headers
		r.takeReassembled(u, rec)
	}
	u.from = min(last.To, len(u.data))
	u.to = u.from + len(s.Payload)
	if last.In > 0 {
		copy(u.payload(), s.Payload)
	} else {
		rec.plain = true
	}
	u.dir = r.direction(flow{s.Src, s.Dst})
	u.dir.units++
	if !u.dir.known {
		u.dir.seq = u.seq
	}
	if len(s.Payload) > 0 {
		u.one[0] = span{0, len(s.Payload)}
		u.open = u.one[:1]
	}
	rec.unit = u
}

// takeReassembled takes a segment in a packet that was reassembled from fragments.
func (r *Redactor) takeReassembled(u *unit, rec *record) {
	l := r.decoder.Layers
	pieces := new(fragments)
	u.pieces = pieces
	for in := 1; in <= len(l.Joined); in++ {
		src := l.Joined[in-1]
		dst := make([]byte, len(src))
		r.addresses.headers(dst, src, 0, l.All, in)
		if in == len(l.Joined) {
			u.data, pieces.parts = dst, append([]packet.Part(nil), l.Parts[in-1]...)
		} else { // only its headers are its own
			for _, part := range l.Parts[in-1] {
				for _, x := range l.All {
					if lo, hi := max(part.At, x.From), min(part.At+part.N, x.To); x.In == in && lo < hi {
						if o := r.source(part.Number, rec); o != nil && o.data != nil {
							copy(o.data[part.From+lo-part.At:], dst[lo:hi])
						}
					}
				}
			}
		}
	}
	kept := pieces.parts[:0]
	for _, part := range pieces.parts {
		o := r.source(part.Number, rec)
		if o == nil {
			continue // it was dropped
		}
		kept = append(kept, part)
		pieces.sources = append(pieces.sources, o)
	}
	pieces.parts = kept
	for _, o := range pieces.sources {
		if o.fragment {
			o.fragment = false
			delete(r.fragments, o.ordinal)
			o.unit = u
		}
	}
}

// source returns the record of a fragment, nil if it was dropped.
func (r *Redactor) source(ordinal int64, rec *record) *record {
	if ordinal == rec.ordinal {
		return rec
	}
	return r.fragments[ordinal]
}
