package assemble

import (
	"bytes"
	"encoding/binary"

	"dubbo-wire/internal/capture/packet"
)

// Bytes that were seen before were retransmitted, or captured twice (a port mirror, all interfaces of a machine, both
// ends). They are duplicates if
//   - their first copy came from another source: another file, another interface, another direction of a cooked capture;
//     but not from a file that had ended when this one started (a rotated set), unless both have the same SYN, or
//   - the packet equals one of the last [recentLen] packets with payload in sequence and acknowledgement number, length,
//     window, flags, checksum and IPv4 identification. The identification is unique for a second. Without it (0, IPv6) the
//     copy must come within 2 ms, which is sooner than any sender retransmits.
//
// The source of the first copy is the one of the packet with the same start, if that is one of the last packets; else
// the one of the newest bytes of the stream.

// kind classifies the bytes of a packet that were seen before.
type kind uint8

const (
	unclassified  kind = iota
	retransmitted      // sent again
	duplicate          // captured twice
)

const (
	// recentLen is how many packets with payload are remembered, for each of several assemblers.
	recentLen  = 256
	bucketBits = 9
	// sameIDTime and noIDTime are the largest times in nanoseconds between two copies of a packet, with and without an
	// identification.
	sameIDTime = int64(1e9)
	noIDTime   = int64(2e6)
	// maxCopies is how many packets with the same start are compared.
	maxCopies = 16
	// sampleLen is how many bytes of a payload are compared after they were handed on.
	sampleLen = 16
)

// source identifies the place where a packet was captured; the zero value is none.
type source struct {
	file  int32 // from 1
	place uint32
}

func sourceOf(s *packet.Segment, o *Origin) source {
	return source{file: int32(o.File) + 1, place: uint32(o.Interface)*0x9e3779b1 ^ s.Source}
}

// entry is a packet with payload.
type entry struct {
	time                   int64
	conn, seq, ack, n      uint32
	source                 source
	fingerprint            uint32 // of the first bytes of its payload
	older                  uint32 // 1 + number of the previous packet in its bucket; 0: none
	window, checksum, ipid uint16
	flags                  uint8
	side                   uint8
	sampled                uint8 // how many bytes have the fingerprint
	first                  bool  // it brought new bytes
}

// recent holds the last packets with payload, by connection, side and sequence number.
type recent struct {
	*recentTables
	n uint32
}

type recentTables struct {
	entries [recentLen]entry
	buckets [1 << bucketBits]uint32 // 1 + number of the newest packet
}

func (r *recent) init() { r.recentTables = new(recentTables) }

func (r *recent) bucket(conn, seq uint32, i int) *uint32 {
	h := (seq ^ conn*0x85ebca6b + uint32(i)) * 0x9e3779b1
	return &r.buckets[h>>(32-bucketBits)]
}

// remember stores a packet with payload of a side; isNew is set if it brought new bytes.
func (a *Assembler) remember(c *Connection, i int, s *packet.Segment, o *Origin, from source, isNew bool) {
	r := &a.recent
	conn := uint32(c.First)
	b := r.bucket(conn, s.Seq, i)
	e := &r.entries[r.n%recentLen]
	e.time, e.conn, e.seq, e.ack, e.n = o.Time, conn, s.Seq, s.Ack, uint32(s.PayloadLen)
	e.source = from
	e.fingerprint, e.sampled = fingerprint(s.Payload), uint8(min(len(s.Payload), sampleLen))
	e.older = *b
	e.window, e.checksum, e.ipid = s.Window, s.Checksum, s.IPID
	e.flags, e.side, e.first = s.Flags, uint8(i), isNew
	r.n++
	*b = r.n
}

// fingerprint samples a payload: its first bytes, which are beside its headers in memory. Bytes further on would have
// to be loaded for this alone, which costs a sixth of all the time for a packet if another processor has read it.
func fingerprint(b []byte) uint32 {
	if len(b) < sampleLen {
		h := uint32(len(b))
		for _, x := range b {
			h = h*31 + uint32(x)
		}
		return h
	}
	le := binary.LittleEndian
	h := (le.Uint64(b)*0x9e3779b97f4a7c15 ^ le.Uint64(b[8:])) * 0xe7037ed1a0b428db
	return uint32(h >> 32)
}

// repeated counts n bytes of the packet that were seen before; those of a duplicate are done. other is set if they were
// compared with the first copy and differ.
func (a *Assembler) repeated(c *Connection, i, n int, other bool) {
	if a.kind == unclassified {
		a.kind, a.differs = a.classify(c, i)
		if a.kind == duplicate {
			a.Ledger.Duplicates++
		}
		if a.differs {
			a.Ledger.Differing++
		}
	}
	if other && !a.differs {
		a.differs = true
		a.Ledger.Differing++
	}
	if a.differs {
		a.Ledger.DifferingBytes += int64(n)
	}
	if a.kind == retransmitted {
		a.Ledger.Repeated += int64(n)
		return
	}
	a.Ledger.Duplicate += int64(n)
	a.Ledger.DuplicateLink += int64(a.meta.Overhead)
	a.meta.Overhead = 0
}

// repeat counts n bytes of the packet that were seen before at a position of the stream, and hands them on if they were
// retransmitted.
func (a *Assembler) repeat(c *Connection, i, n int, pos int64) {
	a.repeated(c, i, n, false)
	if a.kind == retransmitted {
		a.meta.Pos = pos
		a.overhead()
		c.flow.ways[i].stream.Repeat(n, &a.meta)
		a.meta.Overhead = 0
	}
}

// classify returns the kind of the packet's bytes that were seen before, and whether they differ from the first copy.
func (a *Assembler) classify(c *Connection, i int) (_ kind, other bool) {
	r, s := &a.recent, a.seg
	conn, from := uint32(c.First), sourceOf(a.seg, a.origin)
	first := c.flow.ways[i].source
	k := *r.bucket(conn, s.Seq, i)
	for step := 0; k != 0 && r.n-k < recentLen && step < maxCopies; step++ {
		e := &r.entries[(k-1)%recentLen]
		k = e.older
		if e.conn != conn || e.seq != s.Seq || e.side != uint8(i) {
			continue
		}
		if e.first && e.n == uint32(s.PayloadLen) && e.n > 1 {
			// A snap length may have cut one of the two within the sample.
			other = e.fingerprint != fingerprint(s.Payload) && int(e.sampled) == min(len(s.Payload), sampleLen)
		}
		if e.same(s, a.origin.Time) {
			return duplicate, other
		}
		if e.first {
			first = e.source // the last assignment is from the oldest entry
		}
	}
	if first != from && first.file != 0 && a.files.overlap(first.file-1, from.file-1) {
		return duplicate, other
	}
	return retransmitted, other
}

// same reports whether s, captured at that time, is the packet of the entry.
func (e *entry) same(s *packet.Segment, at int64) bool {
	limit := noIDTime
	if s.IPID != 0 {
		limit = sameIDTime
	}
	return e.n == uint32(s.PayloadLen) && e.ack == s.Ack && e.window == s.Window && e.flags == s.Flags &&
		e.checksum == s.Checksum && e.ipid == s.IPID && at-e.time <= limit && e.time-at <= limit
}

// equal reports whether two copies of bytes are equal, as far as both were captured. A single byte is not compared,
// because a keep-alive may contain any.
func equal(x, y []byte) bool {
	n := min(len(x), len(y))
	return n < 2 || bytes.Equal(x[:n], y[:n])
}

// files remembers which inputs were captured at the same time.
type files struct {
	last  int
	spans []span
	// mixed is set if packets of different files alternate. skewed is set if the files are known to be of the same
	// time, whatever their clocks say.
	mixed, skewed bool
	// several is set if there are packets of several interfaces, which were perhaps captured by several machines.
	several bool
	place   int // the interface of the last packet
}

// span is the first and the last packet of an input, by their places in the capture.
type span struct{ first, last int64 }

func (f *files) observe(o *Origin) {
	if o.File == f.last && o.Interface == f.place && o.File < len(f.spans) { // the usual packet
		f.spans[o.File].last = o.Ordinal
		return
	}
	f.changed(o)
}

// changed is observe for a packet of another file or interface than the one before.
func (f *files) changed(o *Origin) {
	if o.Interface != f.place {
		f.several = f.several || len(f.spans) > 0
		f.place = o.Interface
	}
	if o.File == f.last && len(f.spans) > 0 {
		f.spans[f.last].last = o.Ordinal
		return
	}
	for o.File >= len(f.spans) {
		f.spans = append(f.spans, span{})
	}
	f.last = o.File
	if s := &f.spans[o.File]; s.first == 0 {
		s.first = o.Ordinal
	} else {
		f.mixed = true
	}
	f.spans[o.File].last = o.Ordinal
}

// overlap reports whether neither file ended before the other one started, as far as is known now.
func (f *files) overlap(x, y int32) bool {
	s, t := f.spans[x], f.spans[y]
	return x == y || f.skewed || s.first < t.last && t.first < s.last
}

// apart reports whether packets may come from machines whose clocks differ.
func (f *files) apart() bool { return f.mixed || f.skewed || f.several }
