package capture

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"dubbo-wire/internal/prefetch"
)

// lookahead loads packets that no cache of the processor has, one for each packet that is handled. The waits for memory then overlap with the work: where a record
// begins is known only when the one before it is there.
type lookahead struct {
	at      int // start of the record that was loaded last
	owed    int // records that were not loaded in their turn
	largest int // bytes of the largest record so far
}

// preloaded is the number of bytes of a record that are loaded: its header, those of its packet, and the first ones of the payload.
const preloaded = 256

// preload begins to load the next record in b, and one more if some are owed; if whole is set, the rest of the last one, too. The next record that is
// delivered, or the last one that was, begins at pos. The length of a record, without the first extra bytes of it, is a number of 32 bits at a place in it.
func (a *lookahead) preload(b []byte, pos int, whole bool, lengthAt, extra int, big bool) {
	if a.at < pos {
		a.at, a.owed = pos, 0
	}
	for range 2 {
		next := len(b)
		if h := b[a.at:]; len(h) >= lengthAt+4 {
			n := binary.LittleEndian.Uint32(h[lengthAt:])
			if big {
				n = bits.ReverseBytes32(n)
			}
			next = a.at + extra + int(n)
		}
		if next > len(b)-preloaded {
			a.owed++
			return
		}
		if rest := a.at + preloaded; whole && rest < next {
			prefetch.Bytes(b[rest:next])
		}
		// Which records follow is not known yet, but large packets come in rows.
		a.largest = max(a.largest, next-a.at)
		prefetch.Packet(unsafe.Pointer(&b[next]), a.largest)
		a.at = next
		if a.owed == 0 {
			return
		}
		a.owed--
	}
}
