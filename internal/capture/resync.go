package capture

import (
	"fmt"

	"dubbo-wire/internal/capture/pcapng"
)

// Behind damage the place of the next record is not known: it is searched, byte by byte, as far as maxSearch. A record
// is believed when the one behind it can be one too, or the file ends there.

const (
	// maxSearch is how far behind damage the next record is searched, in bytes: more than a lost piece of a disk or of a
	// transfer.
	maxSearch = 16 << 20
	// maxFound is the largest packet, and the largest block, that is believed of a place found by searching: with two
	// more of them it fits into a buffer.
	maxFound = minPacketLimit
	// maxApart is how far apart in time records around damage are, in seconds.
	maxApart = 24 * 60 * 60
)

// search moves the window to the next place that is believed, one byte behind its own at least, and returns how many
// bytes it passed over. can is asked with what stands there, of which the file has more only if it is shorter than
// ahead bytes and the stream has not ended.
func (w *window) search(can func(b []byte, ended bool) bool) (passed int64, found bool) {
	const ahead = 3 * (maxFound + pcapRecordLen + kuznetzovExtra)
	for passed < maxSearch {
		if w.end-w.pos <= ahead && w.err == nil {
			w.fill(bufferSize) // so that what is left is moved once for many places
		}
		if w.pos == w.end {
			return passed, false
		}
		w.pos++
		passed++
		if b := w.rest(); can(b[:min(len(b), ahead)], w.err != nil && len(b) <= ahead) {
			return passed, true
		}
	}
	return passed, false
}

// resync searches the next record behind the window's place.
func (r *pcapReader) resync() (passed int64, found bool) {
	return r.win.search(func(b []byte, ended bool) bool { return r.startsRecords(b, ended, 3) })
}

// chain reports whether b starts with so many records, or with some that reach to the end of the file.
func (r *pcapReader) startsRecords(b []byte, ended bool, n int) bool {
	near, known := r.second, r.known
	for i := range n {
		if len(b) < r.header {
			return ended && i > 0
		}
		size, sec, ok := r.record(b)
		apart := int64(sec) - int64(near)
		if !ok || known && (apart > maxApart || apart < -maxApart) {
			return false
		}
		if size > len(b) {
			return ended && i > 0
		}
		near, known = sec, true
		b = b[size:]
	}
	return true
}

// record reports whether b starts with the header of a usual record, and how long the record is.
func (r *pcapReader) record(b []byte) (size int, sec uint32, ok bool) {
	sec, frac, capLen, wireLen := r.fields(b)
	ok = capLen > 0 && capLen <= min(r.limit, maxFound) && wireLen >= capLen && wireLen <= 4*maxFound &&
		int64(frac)*r.perTick < nanosPerSecond
	return r.header + int(capLen), sec, ok
}

// follows reports whether the record of that size at the window's place has one behind it, or reaches to the end of the
// file.
func (r *pcapReader) follows(size int) bool {
	if !r.win.fill(size + r.header) {
		return true
	}
	_, _, ok := r.record(r.win.rest()[size:])
	return ok
}

// outcome words what became of the file behind damage.
func searchResult(passed int64, found bool) string {
	if !found {
		return "the file is damaged from here on and was read up to this place: copy or record it again"
	}
	return fmt.Sprintf("%d bytes were passed over, and reading went on behind them: copy or record it again", passed)
}

// resync searches the next block behind the window's place.
func (r *pcapngReader) resync() (passed int64, found bool) {
	return r.win.search(func(b []byte, _ bool) bool { return r.block(b) })
}

// block reports whether b starts with a whole block of a known type.
func (r *pcapngReader) block(b []byte) bool {
	if len(b) < ngBlockMin {
		return false
	}
	section := pcapngReader{big: r.big}
	kind := section.u32(b)
	if kind == pcapng.Section && !section.byteOrder(b) {
		return false
	}
	smallest, ok := smallestBody(kind)
	size := section.u32(b[4:])
	return ok && int(size) >= smallest+ngBlockMin && size%4 == 0 && size <= maxFound && int(size) <= len(b) && section.u32(b[size-4:]) == size
}
