package assemble

import (
	"fmt"
	"reflect"
)

// Ledger counts what passed, in bytes unless said otherwise.
type Ledger struct {
	// Packets with payload, and without.
	Data, Empty int64

	// Payload is TCP payload on the wire, and where it went:
	// Payload = Stream + Repeated + Duplicate + BeyondSnap + Stray + Held.
	Payload    int64
	Stream     int64 // captured bytes delivered, each once; Late among them
	Repeated   int64 // seen before, and sent again
	Duplicate  int64 // seen before, and captured again
	BeyondSnap int64 // new bytes that the snap length cut off
	Stray      int64 // of packets that are of no generation of their connection, and of resets
	Held       int64 // waiting; 0 at the end

	// Link is link bytes of all segments, and where they went:
	// Link = Payload + Overhead + DuplicateLink + EmptyLink + StrayLink + HeldLink.
	Link          int64
	Overhead      int64 // given to streams, as Meta.Overhead
	DuplicateLink int64 // of packets whose first byte is a duplicate, without their payload
	EmptyLink     int64 // of packets without payload
	StrayLink     int64 // of strays, without their payload
	HeldLink      int64 // waiting; 0 at the end

	// Late is captured bytes before the start of streams joined midway that came when what follows them had been delivered.
	Late int64

	// Duplicates and Strays are packets.
	Duplicates, Strays int64
	// Differing is packets that brought other bytes than the first copy, as far as that could be compared; DifferingBytes
	// is how many bytes they repeat. Compared is with bytes that are still held, and, for a segment with the start and
	// length of one of the last packets, with samples taken of that.
	Differing, DifferingBytes int64
	// Gaps of known length: holes (never seen), and their bytes.
	Gaps, GapBytes int64

	// Connections by generation; Reused are those that took the 4-tuple of one before them that had not been forgotten.
	Connections, WithoutData, Joined, Reused int64
	// Expired connections were ended because there were too many, or idle; Forgotten ones likewise, but had no payload.
	// Idle is those of the expired that were idle.
	Expired, Forgotten, Idle int64
}

// Balance says what is wrong with the books, nil if nothing is.
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
