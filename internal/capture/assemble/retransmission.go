package assemble

import (
	"bytes"
	"encoding/binary"

	"dubbo-wire/internal/capture/packet"
)

// Bytes that were seen before were sent again, or captured again (a port mirror, all interfaces of a machine, both ends).
// They were captured again when
//   - their first copy came from another source: another file, another interface, another direction of a cooked capture;
//     but not from a file that had ended when this one began (a rotated set), unless both have the same SYN, or
//   - the packet is the same as one of the last [recentLen] with payload: sequence and acknowledgement number, length,
//     window, flags, checksum, and the IPv4 identification. That is unique for a second; without it (0, IPv6) the copy
//     must come within 2 ms, which is sooner than any sender repeats itself.
//
// The source of the first copy is that of the packet with the same start, while that is one of the last; else that of
// the newest bytes of the stream.

// kind says what a packet's bytes that were seen before are.
type kind uint8

const (
	unclassified  kind = iota
	retransmitted      // sent again
	duplicate          // captured again
)

const (
	// recentLen is how many packets with payload are remembered; there is one assembler for each of several lanes.
	recentLen  = 256
	bucketBits = 9
	// sameIDTime and noIDTime are how long a packet may be captured behind itself, with and without an identification.
	sameIDTime = int64(1e9)
	noIDTime   = int64(2e6)
	// maxCopies is how many packets with the same start are looked at.
	maxCopies = 16
)

// source is where a packet was captured; the zero value is nowhere.
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
	fingerprint            uint32 // of its payload
	older                  uint32 // 1 + number of the packet before it in its bucket; 0: none
	window, checksum, ipid uint16
	flags                  uint8
	side                   uint8
	first                  bool // it brought new bytes
}

// recent is the last packets with payload, found by connection, side and sequence number.
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

// remember keeps the packet that was taken.
func (a *Assembler) remember(c *Connection, i int) {
	r, s, o := &a.recent, a.seg, a.origin
	conn := uint32(c.First)
	b := r.bucket(conn, s.Seq, i)
	e := &r.entries[r.n%recentLen]
	e.time, e.conn, e.seq, e.ack, e.n = o.Time, conn, s.Seq, s.Ack, uint32(s.PayloadLen)
	e.source = sourceOf(s, o)
	e.fingerprint = fingerprint(s.Payload)
	e.older = *b
	e.window, e.checksum, e.ipid = s.Window, s.Checksum, s.IPID
	e.flags, e.side, e.first = s.Flags, uint8(i), a.isNew
	r.n++
	*b = r.n
}

// printOf samples a payload: its first bytes, which lie beside its headers. Bytes further on would have to come from
// memory for this alone, a sixth of the time of all that is done with a packet where another processor has read it.
func fingerprint(b []byte) uint32 {
	if len(b) < 16 {
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

// repeated books n bytes of the packet that were seen before: those of a duplicate are done with. other is set when they
// were compared with the first copy and are not the same.
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

// repeat books n bytes of the packet that were seen before at a place of the stream, and hands them on if they were sent
// again.
func (a *Assembler) repeat(c *Connection, i, n int, pos int64) {
	a.repeated(c, i, n, false)
	if a.kind == retransmitted {
		a.meta.Pos = pos
		a.overhead()
		c.sides[i].stream.Repeat(n, &a.meta)
		a.meta.Overhead = 0
	}
}

// classify says what the packet's bytes are that were seen before, and whether they differ from the first copy.
func (a *Assembler) classify(c *Connection, i int) (_ kind, other bool) {
	r, s := &a.recent, a.seg
	conn, from := uint32(c.First), sourceOf(a.seg, a.origin)
	first := c.sides[i].source
	k := *r.bucket(conn, s.Seq, i)
	for step := 0; k != 0 && r.n-k < recentLen && step < maxCopies; step++ {
		e := &r.entries[(k-1)%recentLen]
		k = e.older
		if e.conn != conn || e.seq != s.Seq || e.side != uint8(i) {
			continue
		}
		if e.first && e.n == uint32(s.PayloadLen) && e.n > 1 {
			other = e.fingerprint != fingerprint(s.Payload)
		}
		if e.same(s, a.origin.Time) {
			return duplicate, other
		}
		if e.first {
			first = e.source // the oldest of them has it in the end
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

// equal reports whether two copies of bytes are the same, as far as both were captured. A single byte is not compared: a
// keep-alive may carry any.
func equal(x, y []byte) bool {
	n := min(len(x), len(y))
	return n < 2 || bytes.Equal(x[:n], y[:n])
}

// files remembers which inputs were read at the same time.
type files struct {
	last  int
	spans []span
	// mixed: packets of different files alternate. skewed: they are known to be of the same time, whatever their clocks say.
	mixed, skewed bool
}

// span is the first and the last packet of an input, by their places in the capture.
type span struct{ first, last int64 }

func (f *files) observe(o *Origin) {
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

// together reports whether neither file ended before the other one began, as far as that is known by now.
func (f *files) overlap(x, y int32) bool {
	s, t := f.spans[x], f.spans[y]
	return x == y || f.skewed || s.first < t.last && t.first < s.last
}
