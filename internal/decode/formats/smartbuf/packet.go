package smartbuf

import (
	"fmt"
	"math"
	"slices"

	"dubbo-wire/internal/decode"
)

// The head byte of a packet (smartbuf's Const.VER…).
const (
	version    = 0x10
	hasStream  = 0x08
	hasData    = 0x04
	hasMeta    = 0x02
	hasSeq     = 0x01
	versionTop = 0xf0
)

// An area starts with count<<4 | type<<1 | more.
const (
	metaNameTmp        = 1
	metaNameAdded      = 2
	metaNameExpired    = 3
	metaStructTmp      = 4
	metaStructAdded    = 5
	metaStructExpired  = 6
	metaStructReferred = 7

	dataFloat         = 1
	dataDouble        = 2
	dataVarint        = 3
	dataString        = 4
	dataSymbolAdded   = 5
	dataSymbolExpired = 6
)

// entry is a string or number of a pool: its bytes, and whether a node owns them already.
type entry struct {
	off, end int32
	used     bool
	text     string // set by the first call of text
}

// structure is a list of n field names, from index first of the list of its kind on. bytes is their total size.
type structure struct {
	first, n int32
	bytes    int
	used     bool // nodes own all of its names; set where bytes are counted
}

// context is what stays valid from packet to packet.
type context struct {
	names   []entry
	structs []structure
	fields  []int32 // of structs, as indexes into names
	symbols []entry
	// Values without bytes and repeated texts cost the sender next to nothing, so they are counted and limited.
	empty, repeated int
}

// pools are the areas of one packet.
type pools struct {
	lists      [4][]entry // by kind: numbers, floats, doubles, strings
	tmpNames   []entry
	tmpStructs []structure
	tmpFields  []int32
	newSymbols int  // index of the first symbol that this packet adds
	stream     bool // symbols have a pool of their own
	loose      []entry
}

// Limits of one body's tables.
const (
	maxEntries  = decode.DefaultMaxNodes
	maxEmpty    = 1 << 16
	maxRepeated = 64 << 20 // bytes
	kept        = 1 << 13
)

func (c *context) reset() {
	c.names, c.structs, c.fields, c.symbols = reuse(c.names), reuse(c.structs), reuse(c.fields), reuse(c.symbols)
	c.empty, c.repeated = 0, 0
}

func (p *pools) reset() {
	for i := range p.lists {
		p.lists[i] = reuse(p.lists[i])
	}
	p.tmpNames, p.tmpStructs, p.tmpFields = reuse(p.tmpNames), reuse(p.tmpStructs), reuse(p.tmpFields)
}

func reuse[T any](s []T) []T {
	if cap(s) > kept {
		return nil
	}
	return s[:0]
}

// areas takes the bytes before the value of a packet.
func (r *Reader) areas() {
	r.pools.reset()
	r.newSymbols = len(r.symbols)
	head := r.Byte("the head of a packet")
	if r.OK() && head&versionTop != version {
		r.FailAt(r.Off-1, decode.Malformed, "the head of a packet, 10 to 1f", fmt.Sprintf("%02x", head))
		return
	}
	r.stream = head&hasStream != 0
	if head&hasSeq != 0 {
		r.Byte("the number of a packet")
	}
	if head&hasMeta != 0 {
		r.group(r.metaArea)
	}
	if head&hasData != 0 {
		r.group(r.dataArea)
	}
	r.Role("packet")
}

// group takes areas until one tells that it is the last.
func (r *Reader) group(area func(typ byte, count uint64)) {
	for more := true; more && r.OK(); {
		head := r.uvarint("the head of an area")
		more = head&1 != 0
		r.Role("packet")
		if r.OK() {
			area(byte(head>>1&7), head>>4)
		}
	}
}

func (r *Reader) metaArea(typ byte, count uint64) {
	switch typ {
	case metaNameTmp:
		r.tmpNames = r.entries(r.tmpNames, count, -1)
		r.Pass()
	case metaNameAdded:
		from := len(r.names)
		r.names = r.entries(r.names, count, -1)
		for i := from; i < len(r.names); i++ {
			r.names[i].used = true
		}
		r.Role("field")
	case metaStructTmp:
		r.tmpStructs, r.tmpFields = r.structures(r.tmpStructs, r.tmpFields, count, r.tmpNames)
		r.Role("class")
	case metaStructAdded:
		r.structs, r.fields = r.structures(r.structs, r.fields, count, r.names)
		r.Role("class")
	case metaStructReferred:
		for i := uint64(0); i < count && r.OK(); i++ {
			r.uvarint("a struct in use")
			r.uvarint("the size of a struct in use")
		}
		r.Role("class")
	case metaNameExpired, metaStructExpired:
		r.Fail(decode.Unsupported, "a context that fits", "expired names")
	default:
		r.Fail(decode.Malformed, "a meta area of type 1 to 7", fmt.Sprint(typ))
	}
}

func (r *Reader) dataArea(typ byte, count uint64) {
	switch typ {
	case dataFloat:
		r.lists[kindFloat] = r.entries(r.lists[kindFloat], count, 4)
	case dataDouble:
		r.lists[kindDouble] = r.entries(r.lists[kindDouble], count, 8)
	case dataVarint:
		r.lists[kindVarint] = r.entries(r.lists[kindVarint], count, 0)
	case dataString:
		r.lists[kindString] = r.entries(r.lists[kindString], count, -1)
	case dataSymbolAdded:
		r.symbols = r.entries(r.symbols, count, -1)
	case dataSymbolExpired:
		r.Fail(decode.Unsupported, "a context that fits", "expired symbols")
	default:
		r.Fail(decode.Malformed, "a data area of type 1 to 6", fmt.Sprint(typ))
	}
	r.Pass() // the values that refer to entries own them
}

// entries appends the offsets of count entries to list. n is the size of an entry, 0 for a number and -1 for a string. The
// caller records who owns their bytes.
func (r *Reader) entries(list []entry, count uint64, n int) []entry {
	for i := uint64(0); i < count && r.OK(); i++ {
		if n <= 0 {
			var taken int
			list, taken = r.commonEntries(list, count-i, n < 0)
			if i += uint64(taken); i == count {
				break
			}
		}
		if len(list) >= maxEntries {
			r.Fail(decode.Limit, fmt.Sprintf("at most %d strings or numbers in a packet", maxEntries), "more")
			break
		}
		off := r.Off
		switch {
		case n > 0:
			r.Skip(n, "a float or double")
		case n == 0:
			r.uvarint("a number")
		default:
			r.Skip(r.size("the length of a string"), "the characters of a string")
		}
		if r.OK() {
			list = append(list, entry{off: int32(off), end: int32(r.Off)})
		}
	}
	return list
}

// commonEntries appends up to count numbers of at most 8 bytes, or texts of less than 128, that are not at the end of the body, and
// returns how many it took.
func (r *Reader) commonEntries(list []entry, count uint64, texts bool) (_ []entry, taken int) {
	b, at := r.Buf, r.Off
	n := int(min(count, uint64(maxEntries-len(list))))
	for ; taken < n; taken++ {
		size := math.MaxInt
		if !texts {
			size = decode.VarintSize(b, at)
		} else if at < len(b) && b[at] < 0x80 {
			size = 1 + int(b[at])
		}
		if !texts && size > 8 || size > len(b)-at {
			break
		}
		list = append(list, entry{off: int32(at), end: int32(at + size)})
		at += size
	}
	r.Off = at
	return list, taken
}

// structures takes structs: the number of their fields and the index of each name.
func (r *Reader) structures(list []structure, fields []int32, count uint64, names []entry) ([]structure, []int32) {
	for i := uint64(0); i < count && r.OK(); i++ {
		s := structure{first: int32(len(fields))}
		n := r.size("the number of fields of a struct")
		if r.OK() && n > r.Left() {
			r.Fail(decode.Malformed, fmt.Sprintf("%d names of a struct", n), fmt.Sprintf("%d bytes to the end of the body", r.Left()))
		}
		for range n {
			id := r.uvarint("a name of a struct")
			if r.OK() && id >= uint64(len(names)) {
				r.Fail(decode.Malformed, fmt.Sprintf("a name of a struct, below %d", len(names)), fmt.Sprint(id))
			}
			if !r.OK() {
				return list, fields
			}
			fields = append(fields, int32(id))
			s.bytes += int(names[id].end - names[id].off)
		}
		s.n = int32(n)
		if r.OK() && len(list) >= maxEntries {
			r.Fail(decode.Limit, fmt.Sprintf("at most %d structs", maxEntries), "more")
		}
		list = append(list, s)
	}
	return list, fields
}

// unused records the entries that no value refers to.
func (r *Reader) unused() {
	r.loose = r.loose[:0]
	for _, list := range [...][]entry{r.lists[0], r.lists[1], r.lists[2], r.lists[3], r.tmpNames, r.symbols[r.newSymbols:]} {
		for i := range list {
			if !list[i].used {
				list[i].used = true
				r.loose = append(r.loose, list[i])
			}
		}
	}
	slices.SortFunc(r.loose, func(a, b entry) int { return int(a.off - b.off) })
	for i := 0; i < len(r.loose); {
		e := r.loose[i]
		for i++; i < len(r.loose) && r.loose[i].off == e.end; i++ {
			e.end = r.loose[i].end
		}
		r.LeafAt(decode.Overhead, decode.ByRole, "pool", 0, int(e.off), int(e.end))
	}
}

// claim marks the symbols that this packet adds as owned.
func (r *Reader) claim() {
	for i := r.newSymbols; i < len(r.symbols); i++ {
		r.symbols[i].used = true
	}
}

// maxVarint is the largest size of a number, in bytes.
const maxVarint = 10

// uvarint takes an unsigned number of 7 bits a byte, lowest first, in at most 10 bytes.
func (r *Reader) uvarint(what string) (v uint64) {
	if r.OK() && r.Off < len(r.Buf) && r.Buf[r.Off] < 0x80 {
		r.Off++
		return uint64(r.Buf[r.Off-1])
	}
	if r.OK() && len(r.Buf)-r.Off >= maxVarint {
		for i, b := range r.Buf[r.Off : r.Off+maxVarint] {
			v |= uint64(b&0x7f) << min(7*i, 63)
			if b&0x80 == 0 {
				r.Off += i + 1
				return v
			}
		}
		v = 0
	}
	start := r.Off
	for shift := 0; r.OK(); shift += 7 {
		b := r.Byte(what)
		v |= uint64(b&0x7f) << min(shift, 63)
		if b&0x80 == 0 {
			return v
		}
		if shift >= 63 {
			r.FailAt(start, decode.Malformed, what+" in at most 10 bytes", "more")
		}
	}
	return 0
}

// size takes a number of bytes, or of items of at least one byte each.
func (r *Reader) size(what string) int {
	start := r.Off
	v := r.uvarint(what)
	if v > 1<<31 {
		r.FailAt(start, decode.Malformed, what, fmt.Sprint(v))
		return 0
	}
	return int(v)
}

// lookup returns the entry with an id: 1 is the zero value, which has no entry, and 2 the first entry. It returns nil for 1
// and after an error.
func (r *Reader) lookup(list []entry, id uint64, what string) *entry {
	switch {
	case !r.OK() || id == 1:
		return nil
	case id == 0 || id-2 >= uint64(len(list)):
		r.Fail(decode.Malformed, fmt.Sprintf("%s 1 to %d of the packet", what, len(list)+1), fmt.Sprint(id))
		return nil
	}
	return &list[id-2]
}

// content returns the characters of a string.
func (r *Reader) content(e *entry) []byte {
	b := r.Buf[e.off:e.end]
	for i := range b {
		if b[i]&0x80 == 0 {
			return b[i+1:]
		}
	}
	return nil
}

// text returns the text of a string or name, which is made once however many values refer to it.
func (r *Reader) text(e *entry) string {
	if e.text == "" {
		e.text = r.Name(r.content(e))
	}
	return e.text
}

// countRepeat counts the bytes of a text that is referred to again.
func (r *Reader) countRepeat(e *entry) {
	if r.repeated += int(e.end - e.off); r.repeated > maxRepeated {
		r.Fail(decode.Limit, fmt.Sprintf("at most %d bytes of repeated texts", maxRepeated), "more")
	}
}

// number returns the value of a varint in zigzag form.
func (r *Reader) number(e *entry) int64 {
	var v uint64
	for i, b := range r.Buf[e.off:e.end] {
		v |= uint64(b&0x7f) << min(7*i, 63)
	}
	return int64(v>>1) ^ -int64(v&1)
}
