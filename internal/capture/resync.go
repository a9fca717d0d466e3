package capture

import "dubbo-wire/internal/capture/pcapng"

// After damage the position of the next record is not known. It is searched byte by byte, up to maxSearch bytes. A
// position is accepted if the records that follow it are plausible too, or if the file ends there.

const (
	// maxSearch is how many bytes after damage the next record is searched: more than a lost piece of a disk or of a
	// transfer.
	maxSearch = 16 << 20
	// maxFound is the size in bytes of the largest packet, and of the largest block, that a search accepts. Three of
	// them fit into a buffer.
	maxFound = minPacketLimit
	// searchBuffer is how many bytes a search reads at once, of which it looks at those that no three packets reach beyond.
	searchBuffer = 1 << 20
	// maxApart is the largest time in seconds between the records before and after damage.
	maxApart = 24 * 60 * 60
)

// search moves the window to the next position that accepts accepts, at least one byte further, and returns how many
// bytes it skipped. It calls accepts with the bytes at a position; ended reports that the file has no more bytes than
// those.
func (w *window) search(accepts func(b []byte, ended bool) bool) (passed int64, found bool) {
	const ahead = 3 * (maxFound + pcapRecordLen + kuznetzovExtra)
	for passed < maxSearch {
		if w.end-w.pos <= ahead && w.err == nil {
			w.fill(searchBuffer) // once for many positions
		}
		if w.pos == w.end {
			return passed, false
		}
		w.pos++
		passed++
		if b := w.rest(); accepts(b[:min(len(b), ahead)], w.err != nil && len(b) <= ahead) {
			return passed, true
		}
	}
	return passed, false
}

// startsRecords reports whether b starts with three plausible records, or with fewer that reach to the end of the file.
func (r *pcapReader) startsRecords(b []byte, ended bool) bool {
	near, known := r.second, r.known
	for i := range 3 {
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

// record reports whether b starts with the header of a plausible record, and returns the size of the record in bytes.
func (r *pcapReader) record(b []byte) (size int, sec uint32, ok bool) {
	sec, frac, capLen, wireLen := r.fields(b)
	ok = capLen > 0 && capLen <= min(r.limit, maxFound) && wireLen >= capLen && wireLen <= 4*maxFound &&
		int64(frac)*r.perTick < nanosPerSecond
	return r.header + int(capLen), sec, ok
}

// follows reports whether another record follows the record of that size at the window's position, or the file ends
// there.
func (r *pcapReader) follows(size int) bool {
	if !r.win.fill(size + r.header) {
		return true
	}
	_, _, ok := r.record(r.win.rest()[size:])
	return ok
}

// startsBlock reports whether b starts with a complete block of a known type.
func (r *pcapngReader) startsBlock(b []byte, _ bool) bool {
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
