package http2

import (
	"hash/maphash"

	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode/triple"
)

// The length of the static table, and the size of the dynamic table before the first change (RFC 7541, appendix A; RFC
// 9113, section 6.5.2).
const (
	staticLen        = 61
	defaultTableSize = 4096
)

// headerName is the name of fields, "" if the capture lacks it.
type headerName struct {
	text string
	hash uint64
	role triple.Role
}

func newName(text string) *headerName {
	return &headerName{text: text, hash: maphash.String(seed, text), role: triple.RoleOf(text)}
}

// field is a field, an entry of tables. Tables share equal ones.
type field struct {
	name  *headerName
	value string
	hash  uint64 // of name and value
	// order and role are those of the name, plain is the number of bytes of name and value.
	order   uint64
	plain   int32
	role    triple.Role
	unknown bool // the name is not known
}

func newField(name *headerName, value string) *field {
	return &field{
		name: name, value: value, hash: name.hash*mixing ^ maphash.String(seed, value),
		order: name.hash, plain: int32(len(name.text) + len(value)), role: name.role, unknown: name == unknownName,
	}
}

// mixing mixes the bits of hashes.
const mixing = 0x9e3779b97f4a7c15

var seed = maphash.MakeSeed()

// unknownName is the name of entries made from an entry that is not known, unknownField an entry of which nothing is known.
var (
	unknownName  = &headerName{hash: ^maphash.String(seed, ""), role: triple.RoleOf("")}
	unknownField = newField(unknownName, "")
)

func (f *field) size() uint32 { return uint32(f.plain) + 32 }

// static is the static table, from index 1 on.
var static = staticTable()

func staticTable() (table [staticLen + 1]*field) {
	at := 1
	d := hpack.NewDecoder(0, func(f hpack.HeaderField) { table[at] = newField(newName(f.Name), f.Value) })
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
	entries []*field
	start   int
	size    uint32 // of the known entries
	max     uint32 // bytes of all entries; with older set an upper bound
	// older is set if the table may have entries that are older than the known ones.
	older bool
	// version is a hash of what happened to the table since it was empty. Tables with equal ones have equal entries.
	version uint64
	// doubted are the entries from before a gap that may have hidden insertions; see known.
	doubted []*field
}

func newTable(joined bool) table {
	if joined {
		return table{max: maxTable, older: true, version: versionUnknown}
	}
	return table{max: defaultTableSize, version: versionEmpty}
}

// The versions of tables to which nothing has happened.
const (
	versionEmpty = 1 + iota
	versionUnknown
)

// happened changes the version by what happened to the table.
func (t *table) happened(what uint64) { t.version = (t.version ^ what) * mixing }

// forget makes all present entries unknown.
func (t *table) forget() {
	t.entries, t.start, t.size, t.older, t.version = nil, 0, 0, true, versionUnknown
	t.max = maxTable
}

// resize changes the size of the table.
func (t *table) resize(max uint32) {
	t.happened(uint64(max))
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
		t.entries[t.start] = nil
		t.start++
	}
	if t.start == len(t.entries) {
		t.entries, t.start = t.entries[:0], 0
	} else if len(t.entries) == cap(t.entries) && t.start > len(t.entries)/4 { // instead of growing
		k := copy(t.entries, t.entries[t.start:])
		clear(t.entries[k:])
		t.entries, t.start = t.entries[:k], 0
	}
}

func (t *table) insert(f *field) {
	n := f.size()
	t.happened(f.hash)
	t.evict(n)
	switch {
	case n <= min(t.max, maxTable):
		t.entries = append(t.entries, f)
		t.size += n
	case n <= t.max: // the peers have it
		t.older = true
	default:
		t.older = false // it evicted all others
	}
}

// at returns the entry at an index: unknownField if the capture lacks it, nil if there is no such entry.
func (t *table) at(index uint64) *field {
	if index <= staticLen {
		return static[index]
	}
	index -= staticLen
	if n := uint64(len(t.entries) - t.start); index <= n {
		return t.entries[uint64(len(t.entries))-index]
	}
	if t.older && index <= maxTable {
		return unknownField
	}
	return nil
}
