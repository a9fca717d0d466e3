package http2

import (
	"hash/maphash"

	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// Bounds of what is kept for hostile input: the memory of a table, in the sizes of RFC 7541; the fields of a block, those
// beyond it still change the table.
const (
	maxTable  = 256 << 10
	maxFields = 512
)

// blockDecoder decodes header blocks. It is shared by the connections of a lane.
type blockDecoder struct {
	block // the last one
	// keys are the hashes of the blocks in cache, seen those of blocks that are not there yet.
	keys, seen [cachedBlocks]uint64
	cache      [cachedBlocks]cachedBlock
	free       []*head
	decoded    []byte   // a literal
	trial      []*field // the entries of a table that is tried
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
			if n == 0 || d.count > 0 && (t.size > 0 || t.older) || size > uint64(limit) { // late is only harmless for an empty table
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
