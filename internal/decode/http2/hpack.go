package http2

import (
	"bytes"
	"hash/maphash"

	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/rpc"
)

// The length of the static table, and the size of the dynamic table before the first change (RFC 7541, appendix A; RFC
// 9113, section 6.5.2).
const (
	staticLen        = 61
	defaultTableSize = 4096
)

// Bounds of what is kept for hostile input: the memory of a table, in the sizes of RFC 7541; the fields of a block, those
// beyond it still change the table; the length of an announced text.
const (
	maxTable  = 256 << 10
	maxFields = 512
)

// entry is an entry of a table.
type entry struct {
	name, value string
	// unknown is set if the name is not known, because it came from an entry that is not known.
	unknown bool
}

func (e *entry) size() uint32 { return uint32(len(e.name) + len(e.value) + 32) }

// static is the static table, from index 1 on.
var static = staticTable()

func staticTable() (table [staticLen + 1]entry) {
	at := 1
	d := hpack.NewDecoder(0, func(f hpack.HeaderField) { table[at] = entry{name: f.Name, value: f.Value} })
	for ; at < len(table); at++ {
		_, _ = d.Write([]byte{0x80 | byte(at)})
	}
	return table
}

// table is the dynamic table of one direction, as its receiver has it. After joining a connection, and after a gap that may
// have hidden insertions, the older entries are not known. Since indexes count from the newest entry, those that are
// inserted later are.
type table struct {
	// entries are the known ones, the oldest first; the first start of them were evicted.
	entries []entry
	start   int
	size    uint32 // of the known entries
	max     uint32 // bytes of all entries; with older set an upper bound
	// older is set if the table may have entries that are older than the known ones.
	older bool
	// version is a number that no other table and no other state of this one has, 0 if it has none yet.
	version uint64
	// doubted are the entries from before a gap that may have hidden insertions; see known.
	doubted []entry
}

func newTable(joined bool) table {
	if joined {
		return table{max: maxTable, older: true}
	}
	return table{max: defaultTableSize}
}

// forget makes all present entries unknown.
func (t *table) forget() {
	t.entries, t.start, t.size, t.older, t.version = nil, 0, 0, true, 0
	t.max = maxTable
}

// resize changes the size of the table.
func (t *table) resize(max uint32) {
	t.version = 0
	t.max = max
	if max == 0 {
		t.older = false // now it is empty for sure
	}
	t.evict(0)
}

// evict removes the oldest entries until n more bytes fit.
func (t *table) evict(n uint32) {
	limit := t.max
	if limit > maxTable {
		limit = maxTable
	}
	for t.start < len(t.entries) && uint64(t.size)+uint64(n) > uint64(limit) {
		if uint64(t.size)+uint64(n) <= uint64(t.max) {
			t.older = true // the peers still have it
		}
		t.size -= t.entries[t.start].size()
		t.entries[t.start] = entry{}
		t.start++
	}
	if t.start == len(t.entries) {
		t.entries, t.start = t.entries[:0], 0
	} else if t.start > 64 && t.start > len(t.entries)/2 {
		k := copy(t.entries, t.entries[t.start:])
		clear(t.entries[k:])
		t.entries, t.start = t.entries[:k], 0
	}
}

func (t *table) insert(e entry) {
	n := e.size()
	t.version = 0
	t.evict(n)
	switch {
	case n <= min(t.max, maxTable):
		t.entries = append(t.entries, e)
		t.size += n
	case n <= t.max: // the peers have it
		t.older = true
	default:
		t.older = false // it evicted all others
	}
}

// at returns the entry with an index, and whether it is known. ok is false if there is no such entry.
func (t *table) at(index uint64) (e *entry, known, ok bool) {
	switch {
	case index == 0:
		return nil, false, false
	case index <= staticLen:
		return &static[index], true, true
	}
	index -= staticLen
	if n := uint64(len(t.entries) - t.start); index <= n {
		e = &t.entries[uint64(len(t.entries))-index]
		return e, !e.unknown, true
	}
	return nil, false, t.older && index <= maxTable
}

// blockDecoder decodes header blocks. It is shared by the connections of a lane.
type blockDecoder struct {
	fields   []rpc.Header // of the last block
	plain    int          // bytes of its names and values
	over     bool         // it has more fields than are kept
	cache    [cachedBlocks]cachedBlock
	versions uint64 // of tables
	text     bytes.Buffer
	texts    map[string]string
}

// cachedBlock is a header block that did not change the table: with the same state of the table it means the same again.
type cachedBlock struct {
	version uint64
	block   []byte
	fields  []rpc.Header
	plain   int
}

// cachedBlocks is the number of such blocks, a power of two. The others bound the bytes of a block, its fields, and the bytes of
// their names and values.
const (
	cachedBlocks    = 1024
	maxCachedBlock  = 64
	maxCachedFields = 32
	maxCachedPlain  = 2 << 10
)

// decodeCached is decode for a table without doubted entries. It remembers blocks that do not change the table.
func (d *blockDecoder) decodeCached(b []byte, t *table, limit uint32) (ok, again bool) {
	if t.version == 0 {
		d.versions++
		t.version = d.versions
	}
	if len(b) > maxCachedBlock {
		return d.decode(b, t, limit), false
	}
	e := &d.cache[(maphash.Bytes(seed, b)^t.version*0x9e3779b97f4a7c15)%cachedBlocks]
	if e.version == t.version && bytes.Equal(e.block, b) {
		d.fields, d.plain, d.over = append(d.fields[:0], e.fields...), e.plain, false
		return true, true
	}
	ok = d.decode(b, t, limit)
	if ok && t.version != 0 && len(d.fields) <= maxCachedFields && d.plain <= maxCachedPlain {
		e.version, e.block, e.fields, e.plain = t.version, append(e.block[:0], b...), append(e.fields[:0], d.fields...), d.plain
	}
	return ok, false
}

// Bounds of the texts that are kept because they will come again.
const (
	maxTexts   = 4096
	maxTextLen = 256
)

// decode decodes a whole block and updates the table. It returns false if the block is malformed; the table then is not the
// one of the peers any more. limit is the largest size that the receiver allows the table.
func (d *blockDecoder) decode(b []byte, t *table, limit uint32) bool {
	d.fields, d.plain, d.over = d.fields[:0], 0, false
	begun := false
	for at := 0; at < len(b); {
		from := at
		c := b[at]
		if c&0xe0 == 0x20 { // a new size of the table
			size, n := integer(b[at:], 5)
			if n == 0 || begun || size > uint64(limit) {
				return false
			}
			t.resize(uint32(size))
			at += n
			continue
		}
		begun = true
		f := rpc.Header{Off: int32(from)}
		bits := uint(4)
		switch {
		case c&0x80 != 0:
			bits = 7
		case c&0x40 != 0:
			bits = 6
		}
		index, n := integer(b[at:], bits)
		if n == 0 {
			return false
		}
		at += n
		e, known, ok := t.at(index)
		if index > 0 || bits == 7 {
			if !ok {
				return false
			}
			f.Entry, f.Unknown = int32(index), !known
			if e != nil {
				f.Name = e.name
			}
		}
		if bits == 7 {
			if e != nil {
				f.Value = e.value
			}
		} else {
			if index == 0 {
				if f.Name, n = d.string(b[at:]); n == 0 {
					return false
				}
				at += n
			}
			if f.Value, n = d.string(b[at:]); n == 0 {
				return false
			}
			at += n
			if bits == 6 {
				f.Indexed = true
				t.insert(entry{name: f.Name, value: f.Value, unknown: f.Unknown})
			}
		}
		f.Len = int32(at - from)
		f.PlainLen = int32(len(f.Name) + len(f.Value))
		d.plain += int(f.PlainLen)
		if len(d.fields) < maxFields {
			d.fields = append(d.fields, f)
		} else {
			d.over = true
		}
	}
	return true
}

// string reads a string and returns it with its length in bytes, 0 if it is malformed.
func (d *blockDecoder) string(b []byte) (string, int) {
	size, n := integer(b, 7)
	if n == 0 || size > uint64(len(b)-n) {
		return "", 0
	}
	raw := b[n : n+int(size)]
	n += int(size)
	if b[0]&0x80 != 0 {
		d.text.Reset()
		if _, err := hpack.HuffmanDecode(&d.text, raw); err != nil {
			return "", 0
		}
		raw = d.text.Bytes()
	}
	return d.intern(raw), n
}

// intern returns b as a string, which texts that come again share.
func (d *blockDecoder) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > maxTextLen {
		return string(b)
	}
	s, ok := d.texts[string(b)]
	if !ok {
		if d.texts == nil {
			d.texts = make(map[string]string)
		}
		if len(d.texts) >= maxTexts {
			clear(d.texts)
		}
		s = string(b)
		d.texts[s] = s
	}
	return s
}

// integer reads an integer with a prefix of bits and returns its length in bytes, 0 if it is malformed or cut short.
func integer(b []byte, bits uint) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	mask := uint64(1)<<bits - 1
	if v = uint64(b[0]) & mask; v < mask {
		return v, 1
	}
	for n = 1; n < len(b) && n < 10; n++ {
		v += uint64(b[n]&0x7f) << (7 * (n - 1))
		if b[n]&0x80 == 0 {
			return v, n + 1
		}
	}
	return 0, 0
}

// parses reports whether b has the structure of a header block. It does not know the table.
func parses(b []byte) bool {
	begun := false
	for at := 0; at < len(b); {
		c := b[at]
		bits := uint(4)
		switch {
		case c&0x80 != 0:
			bits = 7
		case c&0x40 != 0:
			bits = 6
		case c&0x20 != 0:
			bits = 5
		}
		index, n := integer(b[at:], bits)
		if n == 0 || bits == 7 && index == 0 || bits == 5 && begun || index > 1<<16 && bits != 5 {
			return false
		}
		at += n
		if bits == 7 || bits == 5 {
			begun = begun || bits == 7
			continue
		}
		begun = true
		texts := 1
		if index == 0 {
			texts = 2
		}
		for range texts {
			size, n := integer(b[at:], 7)
			if n == 0 || size > uint64(len(b)-at-n) {
				return false
			}
			at += n + int(size)
		}
	}
	return true
}
