package capture

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"dubbo-wire/internal/prefetch"
)

// lookahead loads packets that no cache of the processor has, one for each packet that is handled. The waits for memory then overlap with the work: where a record
// begins is known only when the one before it is there. Other bytes need a new one.
type lookahead struct {
	at      int // start of the record that was loaded last
	skipped int // records that were not loaded in their turn
	largest int // bytes of the largest record so far
}

// lengths says where the length of a record is: a number of 32 bits at a place in it, without the first extra bytes of the record.
type lengths struct {
	at, extra int
	big       bool // the highest byte is the first one
}

// preloaded is the number of bytes of a record that are loaded: its header, those of its packet, and the first ones of the payload.
const preloaded = 256

// preload begins to load the next record in b, and one more if some were skipped. If whole is set, it also loads the rest of the last one. The next record that is
// delivered, or the last one that was, begins at pos.
func (a *lookahead) preload(b []byte, pos int, whole bool, l *lengths) {
	if a.at < pos {
		a.at, a.skipped = pos, 0
	}
	for range 2 {
		next := len(b)
		if h := b[a.at:]; len(h) >= l.at+4 {
			n := binary.LittleEndian.Uint32(h[l.at:])
			if l.big {
				n = bits.ReverseBytes32(n)
			}
			next = a.at + l.extra + int(n)
		}
		if next < a.at || next > len(b)-preloaded { // less than that: a length that int cannot hold
			a.skipped++
			return
		}
		if rest := a.at + preloaded; whole && rest < next {
			prefetch.Bytes(b[rest:next])
		}
		// Which records follow is not known yet, but large packets come in rows.
		a.largest = max(a.largest, next-a.at)
		prefetch.Packet(unsafe.Pointer(&b[next]), a.largest)
		a.at = next
		if a.skipped == 0 {
			return
		}
		a.skipped--
	}
}
