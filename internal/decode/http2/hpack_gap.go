package http2

import (
	"slices"

	"dubbo-wire/internal/rpc"
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
		k := s.remembered()
		if k.tries++; k.tries > maxTries || len(b) > maxProof || !s.prove(b) {
			if k.tries > maxTries {
				t.doubted = nil
			}
		} else {
			k.tries = 0
		}
	}
	ok, again := d.decodeCached(b, t, s.largestTable(), s.conn.listed())
	if ok && !again && d.order != 0 && (s.known == nil || !slices.Contains(s.known.orders[:], d.order)) {
		k := s.remembered()
		k.orders[k.next%maxOrders] = d.order
		k.next++
	}
	return ok
}

// remembered returns what the side remembers of its header blocks.
func (s *side) remembered() *known {
	if s.known == nil {
		s.known = new(known)
	}
	return s.known
}

// listed reports whether the fields of messages are needed, besides what their heads tell.
func (l *lane) listed() bool {
	e := l.env
	return e.Detail > rpc.Envelope || e.WholeBodies || e.Framing || e.Sampling
}

// prove finds the place of the doubted entries by a block, and restores them.
func (s *side) prove(b []byte) bool {
	t, d := &s.table, s.conn.blocks
	since := t.entries[t.start:]
	found := -1
	from, to := shifts(b, len(t.doubted), len(since))
	for shift := from; shift < to; shift++ {
		trial := table{max: maxTable, older: true}
		trial.entries = append(d.trial[:0], t.doubted...)
		for range shift {
			trial.entries = append(trial.entries, unknownField)
		}
		trial.entries = append(trial.entries, since...)
		d.trial = trial.entries
		last := len(trial.entries)
		if !d.decode(b, &trial, s.largestTable(), true) || d.order == 0 || !slices.Contains(s.known.orders[:], d.order) || !t.anchored(d, last) {
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
		entries = append(entries, unknownField)
	}
	entries = append(entries, since...)
	t.entries, t.start, t.size, t.doubted = entries, 0, 0, nil
	t.version = versionUnknown
	t.happened(uint64(t.max))
	for _, f := range entries {
		t.size += f.size()
		t.happened(f.hash)
	}
	t.evict(0)
	return true
}

// shifts returns the range of the numbers of insertions in a gap that a block may prove: with others it refers to an entry that is not
// known, or to none of the doubted ones. The table has so many doubted entries, and so many since the gap.
func shifts(b []byte, doubted, since int) (from, to int) {
	to = maxShift
	refers := false
	for at := 0; at < len(b); {
		c, bits, texts := b[at], uint(4), 1
		switch {
		case c&0x80 != 0:
			bits, texts = 7, 0
		case c&0x40 != 0:
			bits = 6
		case c&0x20 != 0: // a new size of the table may drop entries
			return 0, maxShift
		}
		index, n := integer(b[at:], bits)
		if n == 0 {
			return 0, 0
		}
		at += n
		if index > uint64(staticLen+since) {
			older := int(min(index-uint64(staticLen+since), maxTable)) // 1 is the newest entry before those since the gap
			from, to, refers = max(from, older-doubted), min(to, older), true
		}
		if index == 0 {
			texts *= 2
		}
		for range texts {
			_, n := literalAt(b[at:])
			if n == 0 {
				return 0, 0
			}
			at += n
		}
		if bits == 6 {
			since++
		}
	}
	if !refers {
		return 0, 0
	}
	return from, to
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
		if i != at && t.doubted[i].name.text == t.doubted[at].name.text {
			return false
		}
	}
	return true
}
