package http2

import (
	"hash/maphash"
	"slices"
)

// After a gap that hid frames, the number of insertions in it is not known, so the older entries may have other indexes. They
// are not used until a header block proves their place: with one number of insertions, and no other, the block has the same
// names in the same order as blocks before the gap, and refers to an older entry whose name no other older entry has. All
// entries that were inserted since have certain indexes.

// Bounds of the proof: the number of insertions in a gap, the blocks that are tried and their length, the orders of names that are
// remembered.
const (
	maxShift  = 64
	maxTries  = 32
	maxOrders = 8
	maxProof  = 4 << 10 // bytes of a block
)

// known is what a side remembers of its header blocks.
type known struct {
	orders [maxOrders]uint32 // hashes of the names of complete blocks
	next   uint8
	tries  uint8 // blocks that proved nothing since the last gap
}

var seed = maphash.MakeSeed()

// doubt makes the present entries unknown until a block proves their place.
func (t *table) doubt() {
	entries := t.doubted
	if n := len(t.entries) - t.start; n > 0 {
		entries = slices.Clone(t.entries[t.start:])
	}
	t.forget()
	t.doubted = entries
}

// decode decodes a header block of the side.
func (s *side) decode(b []byte) bool {
	d, t := s.conn.blocks, &s.table
	if t.doubted != nil {
		if s.known.tries++; s.known.tries > maxTries || len(b) > maxProof || !s.prove(b) {
			if s.known.tries > maxTries {
				t.doubted = nil
			}
		} else {
			s.known.tries = 0
		}
	}
	ok, again := d.decodeCached(b, t, s.tableLimit)
	if ok && !again && !d.over {
		s.known.note(d)
	}
	return ok
}

// note remembers the names of the last block, if all are known.
func (k *known) note(d *blockDecoder) {
	h, ok := d.order()
	if ok && !slices.Contains(k.orders[:], h) {
		k.orders[k.next%maxOrders] = h
		k.next++
	}
}

// order returns a hash of the names of the last block, and whether all of them are known.
func (d *blockDecoder) order() (uint32, bool) {
	h := uint64(len(d.fields))
	for i := range d.fields {
		if d.fields[i].Unknown {
			return 0, false
		}
		h = (h ^ maphash.String(seed, d.fields[i].Name)) * 0x9e3779b97f4a7c15
	}
	return uint32(h>>32) | 1, len(d.fields) > 0
}

// prove finds the place of the doubted entries by a block, and restores them.
func (s *side) prove(b []byte) bool {
	t, d := &s.table, s.conn.blocks
	since := t.entries[t.start:]
	found := -1
	for shift := range maxShift {
		trial := table{max: maxTable, older: true}
		trial.entries = make([]entry, 0, len(t.doubted)+shift+len(since)+1)
		trial.entries = append(trial.entries, t.doubted...)
		for range shift {
			trial.entries = append(trial.entries, entry{unknown: true})
		}
		trial.entries = append(trial.entries, since...)
		last := len(trial.entries)
		if !d.decode(b, &trial, s.tableLimit) {
			continue
		}
		if h, ok := d.order(); !ok || !slices.Contains(s.known.orders[:], h) || !t.anchored(d, last) {
			continue
		}
		if found >= 0 {
			return false
		}
		found = shift
	}
	if found < 0 {
		return false
	}
	entries := slices.Clone(t.doubted)
	for range found {
		entries = append(entries, entry{unknown: true})
	}
	entries = append(entries, since...)
	t.entries, t.start, t.size, t.doubted, t.version = entries, 0, 0, nil, 0
	for i := range entries {
		t.size += entries[i].size()
	}
	t.evict(0)
	return true
}

// anchored reports whether the last block, decoded with a table of n entries of which the doubted ones are the oldest,
// refers to a doubted entry whose name is unique among them.
func (t *table) anchored(d *blockDecoder, n int) bool {
	inserted := 0
	for i := range d.fields {
		f := &d.fields[i]
		if f.Entry > staticLen {
			if at := n + inserted - (int(f.Entry) - staticLen); at >= 0 && at < len(t.doubted) && t.unique(at) {
				return true
			}
		}
		if f.Indexed {
			inserted++
		}
	}
	return false
}

// unique reports whether no other doubted entry has the name of entry at.
func (t *table) unique(at int) bool {
	for i := range t.doubted {
		if i != at && t.doubted[i].name == t.doubted[at].name {
			return false
		}
	}
	return true
}
