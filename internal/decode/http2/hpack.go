package http2

import (
	"bytes"
	"hash/maphash"

	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// The length of the static table, and the size of the dynamic table before the first change (RFC 7541, appendix A; RFC
// 9113, section 6.5.2).
const (
	staticLen        = 61
	defaultTableSize = 4096
)

// Bounds of what is kept for hostile input: the memory of a table, in the sizes of RFC 7541; the fields of a block, those
// beyond it still change the table.
const (
	maxTable  = 256 << 10
	maxFields = 512
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

// at returns the entry with an index, unknownField if it is not known, nil if there is no such entry.
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

// blockDecoder decodes header blocks. It is shared by the connections of a lane.
type blockDecoder struct {
	block // the last one
	// keys are the hashes of the blocks in cache, seen those of blocks that are not there yet.
	keys, seen [cachedBlocks]uint64
	cache      [cachedBlocks]cachedBlock
	free       []*head
	decoded    bytes.Buffer // a literal
	// unread is a field whose value does not matter.
	unread field
	names  map[nameKey]*headerName
	known  map[fieldKey]*field
}

// block is what a header block says.
type block struct {
	head   *head
	fields []rpc.Header // if they are listed
	listed bool
	count  int    // of its fields
	plain  int    // bytes of their names and values
	order  uint32 // a hash of the names, 0 if there are none or not all are known
}

// head is a [triple.Head] that rows, the last block and the cache share.
type head struct {
	triple.Head
	users int
}

func (h *head) keep() *head {
	h.users++
	return h
}

// maxFreeHeads bounds the heads that are kept for later blocks.
const maxFreeHeads = 256

// release ends a use of a head, which may be nil.
func (d *blockDecoder) release(h *head) {
	if h == nil {
		return
	}
	if h.users--; h.users == 0 && len(d.free) < maxFreeHeads {
		h.Head = triple.Head{}
		d.free = append(d.free, h)
	}
}

// begin begins a block without fields.
func (d *blockDecoder) begin(listed bool) {
	d.release(d.head)
	d.block = block{fields: d.fields[:0], listed: listed}
	if len(d.free) == 0 {
		some := make([]head, 16)
		for i := range some {
			d.free = append(d.free, &some[i])
		}
	}
	n := len(d.free) - 1
	d.head, d.free = d.free[n], d.free[:n]
	d.head.users = 1
}

// cachedBlock is a header block that did not change the table: with the same state of the table it means the same again.
type cachedBlock struct {
	version uint64
	bytes   [maxCachedBlock]byte
	len     int
	block
}

// cachedBlocks is the number of such blocks, a power of two. The others bound the bytes of a block, its fields, and the bytes of
// their names and values.
const (
	cachedBlocks    = 512
	maxCachedBlock  = 64
	maxCachedFields = 32
	maxCachedPlain  = 2 << 10
)

// decodeCached is decode for a table without doubted entries. It remembers blocks that come twice and do not change the table.
func (d *blockDecoder) decodeCached(b []byte, t *table, limit uint32, listed bool) (ok, again bool) {
	if len(b) > maxCachedBlock {
		return d.decode(b, t, limit, listed), false
	}
	version := t.version
	key := maphash.Bytes(seed, b) ^ version*mixing | 1
	at := key >> 32 % cachedBlocks
	e := &d.cache[at]
	if d.keys[at] == key && e.version == version && string(e.bytes[:e.len]) == string(b) && (e.listed || !listed) {
		d.release(d.head)
		fields := d.fields[:0]
		d.block = e.block
		d.head.keep()
		if d.fields = fields; listed {
			d.fields = append(fields, e.fields...)
		}
		return true, true
	}
	ok = d.decode(b, t, limit, listed)
	switch {
	case !ok || t.version != version || d.count > maxCachedFields || d.plain > maxCachedPlain:
	case d.seen[at] != key:
		d.seen[at] = key
	default:
		d.release(e.head)
		d.keys[at] = key
		e.version, e.len = version, copy(e.bytes[:], b)
		fields := append(e.fields[:0], d.fields...)
		e.block = d.block
		e.head.keep()
		e.fields = fields
	}
	return ok, false
}

// decode decodes a whole block and updates the table. It returns false if the block is malformed; the table then is not the
// one of the peers any more. limit is the largest size that the receiver allows the table. listed is set if the fields are to be listed.
func (d *blockDecoder) decode(b []byte, t *table, limit uint32, listed bool) bool {
	d.begin(listed)
	order, unknown := uint64(0), false
	for at := 0; at < len(b); {
		from, c := at, b[at]
		f, index, n := (*field)(nil), uint64(c&0x7f), 1
		switch {
		case c > 0x80 && c < 0xff: // most fields
			f = t.at(index)
		case c&0xe0 == 0x20: // a new size of the table
			size, n := integer(b[at:], 5)
			if n == 0 || d.count > 0 || size > uint64(limit) {
				return false
			}
			t.resize(uint32(size))
			at += n
			continue
		default:
			f, index, n = d.longField(b[at:], t, listed)
		}
		if f == nil {
			return false
		}
		at += n
		order = (order ^ f.order) * mixing
		unknown = unknown || f.unknown
		d.plain += int(f.plain)
		if d.count++; d.count > maxFields {
			continue
		}
		if f.role != 0 || unknown { // else it tells nothing
			d.head.Add(f.role, f.value, f.hash, f.unknown)
		}
		if listed {
			d.fields = append(d.fields, rpc.Header{
				Name: f.name.text, Value: f.value, Off: int32(from), Len: int32(at - from), PlainLen: f.plain,
				Entry: int32(index), Unknown: f.unknown, Indexed: c&0xc0 == 0x40,
			})
		}
	}
	d.head.Fields = d.count > 0
	if d.count > 0 && d.count <= maxFields && !unknown {
		d.order = uint32(order>>32) | 1
	}
	return true
}

// longField reads a field that takes more than a byte, and returns it with the index that it refers to and its length in bytes. It is
// nil if it is malformed. listed is as in decode.
func (d *blockDecoder) longField(b []byte, t *table, listed bool) (f *field, index uint64, n int) {
	bits := uint(4)
	switch {
	case b[0]&0x80 != 0:
		bits = 7
	case b[0]&0x40 != 0:
		bits = 6
	}
	index, n = integer(b, bits)
	if n == 0 {
		return nil, 0, 0
	}
	if index > 0 || bits == 7 {
		if f = t.at(index); f == nil || bits == 7 {
			return f, index, n
		}
	}
	var name *headerName
	if index > 0 {
		name = f.name
	} else {
		text, k := literalAt(b[n:])
		if k == 0 {
			return nil, 0, 0
		}
		if name = d.name(text); name == nil {
			return nil, 0, 0
		}
		n += k
	}
	value, k := literalAt(b[n:])
	if k == 0 {
		return nil, 0, 0
	}
	f = d.field(name, value, bits == 6 || listed || name.role.Matters())
	if f != nil && bits == 6 {
		t.insert(f)
	}
	return f, index, n + k
}

// literal is a text of a header block.
type literal struct {
	bytes []byte
	coded bool // with the Huffman code
}

// literalAt returns the literal at the start of b with its length in bytes, 0 if it is malformed.
func literalAt(b []byte) (l literal, n int) {
	size, n := integer(b, 7)
	if n == 0 || size > uint64(len(b)-n) {
		return l, 0
	}
	return literal{b[n : n+int(size)], b[0]&0x80 != 0}, n + int(size)
}

// text returns the bytes of a literal, which are valid until the next call. ok is false if they are malformed.
func (d *blockDecoder) text(l literal) (b []byte, ok bool) {
	if !l.coded {
		return l.bytes, true
	}
	d.decoded.Reset()
	_, err := hpack.HuffmanDecode(&d.decoded, l.bytes)
	return d.decoded.Bytes(), err == nil
}

// Bounds of the names and fields that are kept because they will come again: their number, and the bytes of a literal.
const (
	maxKnown    = 4096
	maxKnownLen = 256
)

// nameKey and fieldKey are names and fields as they are in header blocks, so that a literal that comes again is not decoded again.
type (
	nameKey struct {
		literal string
		coded   bool
	}
	fieldKey struct {
		name    *headerName
		literal string
		coded   bool
	}
)

// name returns the name with that text, nil if it is malformed. Names that come again are shared.
func (d *blockDecoder) name(l literal) *headerName {
	name, ok := d.names[nameKey{string(l.bytes), l.coded}]
	if ok {
		return name
	}
	text, ok := d.text(l)
	if !ok {
		return nil
	}
	name = newName(string(text))
	if len(l.bytes) <= maxKnownLen {
		d.names = roomFor(d.names)
		d.names[nameKey{string(l.bytes), l.coded}] = name
	}
	return name
}

// field returns the field with that name and value, nil if the value is malformed. Fields that come again are shared. Unless the value
// is wanted it may be missing, and the field is valid until the next call.
func (d *blockDecoder) field(name *headerName, l literal, wanted bool) *field {
	if !wanted {
		text, ok := d.text(l)
		if !ok {
			return nil
		}
		d.unread = field{name: name, order: name.hash, plain: int32(len(name.text) + len(text)), role: name.role, unknown: name == unknownName}
		return &d.unread
	}
	f, ok := d.known[fieldKey{name, string(l.bytes), l.coded}]
	if ok {
		return f
	}
	value, ok := d.text(l)
	if !ok {
		return nil
	}
	f = newField(name, string(value))
	if len(l.bytes) <= maxKnownLen {
		d.known = roomFor(d.known)
		d.known[fieldKey{name, string(l.bytes), l.coded}] = f
	}
	return f
}

// roomFor returns a map with room for one entry more.
func roomFor[K comparable, V any](known map[K]V) map[K]V {
	if known == nil {
		return make(map[K]V)
	}
	if len(known) >= maxKnown {
		clear(known)
	}
	return known
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
