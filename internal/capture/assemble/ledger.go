package assemble

import (
	"fmt"
	"reflect"
)

// Ledger counts all segments, in bytes unless stated otherwise.
type Ledger struct {
	// Packets with and without payload.
	Data, Empty int64

	// Payload is TCP payload on the wire: Payload = Stream + Repeated + Duplicate + BeyondSnap + Stray + Held.
	Payload    int64
	Stream     int64 // captured bytes that were delivered, each once, including Late
	Repeated   int64 // seen before, retransmitted
	Duplicate  int64 // seen before, captured twice
	BeyondSnap int64 // not seen before, cut by the snap length
	Stray      int64 // of resets
	Held       int64 // waiting; 0 at the end

	// Link is the link bytes of all segments: Link = Payload + Overhead + DuplicateLink + EmptyLink + StrayLink +
	// HeldLink.
	Link          int64
	Overhead      int64 // given to streams as Meta.Overhead
	DuplicateLink int64 // of packets whose first byte is a duplicate, without their payload
	EmptyLink     int64 // of packets without payload
	StrayLink     int64 // of strays, without their payload
	HeldLink      int64 // waiting; 0 at the end

	// Unplaced is captured bytes, within Stream, of packets whose numbers fit no generation of their connection.
	Unplaced int64

	// Late is captured bytes before the start of streams joined midway that came after the bytes that follow them had
	// been delivered.
	Late int64

	// Duplicates and Strays are packets.
	Duplicates, Strays int64
	// Differing is the number of packets with other bytes than the first copy, as far as they could be compared;
	// DifferingBytes is how many bytes they repeat. Compared are bytes that are still held, and samples of a segment
	// with the start and length of one of the last packets.
	Differing, DifferingBytes int64
	// Gaps of known length: holes (never seen), and their bytes.
	Gaps, GapBytes int64

	// Connections counts generations. Reused are the ones whose 4-tuple an earlier generation had that was still known.
	Connections, WithoutData, Joined, Reused int64
	// Expired connections were ended because there were too many, or because they were idle; Forgotten ones likewise,
	// but had no payload. Idle counts the expired ones that were idle.
	Expired, Forgotten, Idle int64
}

// Balance returns an error if the counts do not add up.
func (l *Ledger) Balance() error {
	if sum := l.Stream + l.Repeated + l.Duplicate + l.BeyondSnap + l.Stray + l.Held; l.Payload != sum {
		return fmt.Errorf("TCP payload of %d bytes, but %d of stream, repeated, duplicate, beyond the snap length, stray and held", l.Payload, sum)
	}
	if sum := l.Payload + l.Overhead + l.DuplicateLink + l.EmptyLink + l.StrayLink + l.HeldLink; l.Link != sum {
		return fmt.Errorf("%d link bytes of TCP packets, but %d of payload and headers", l.Link, sum)
	}
	return nil
}

// Add adds the counts of another assembler.
func (l *Ledger) Add(o *Ledger) {
	sum, more := reflect.ValueOf(l).Elem(), reflect.ValueOf(o).Elem()
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}
