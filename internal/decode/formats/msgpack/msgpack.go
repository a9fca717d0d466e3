// Package msgpack reads bodies of serialization 27, in which every write is one MessagePack value, without separators.
//
// The format describes itself, so the reader turns every value into nodes of a tree. Objects are maps of their properties
// and have no class on the wire: objects and maps look alike, and both are maps in the tree, except exceptions and objects
// whose class Jackson annotates. Names in comments are those of the specification.
//
// The body is borrowed until the next Reset; the tree gets copies of names and texts.
//
// Sources: https://github.com/msgpack/msgpack/blob/master/spec.md; Dubbo's MsgpackObjectOutput (2.7.12 to 2.7.23, then the
// extension), with jackson-dataformat-msgpack 0.8.22 and 0.9.9.
package msgpack

import (
	"bytes"
	"math"
	"strconv"

	"dubbo-wire/internal/decode"
)

// Format is the serialization as Dubbo users configure it.
var Format = decode.Format{
	ID:         27,
	Name:       "msgpack",
	Depth:      decode.DepthFull,
	Releases:   "2.7.12 to 2.7.23, later by extension",
	Capture:    "msgpack.pcap.zst",
	Heartbeats: [][]byte{{nilByte}},
	Scrub:      scrub,
	Starts:     decode.Starts{Request: startsRequest, Result: decode.IsKindByte},
	New:        func() decode.Reader { return new(Reader) },
	Counts:     true,
}

// First bytes of a value. Those not listed are a range: positive fixint 00-7f, fixmap 80-8f, fixarray 90-9f,
// fixstr a0-bf, negative fixint e0-ff.
const (
	nilByte     = 0xc0
	neverUsed   = 0xc1
	falseByte   = 0xc2
	trueByte    = 0xc3
	bin8        = 0xc4
	bin32       = 0xc6
	ext8        = 0xc7
	ext32       = 0xc9
	float32Byte = 0xca
	float64Byte = 0xcb
	uint8Byte   = 0xcc
	uint64Byte  = 0xcf
	int8Byte    = 0xd0
	int64Byte   = 0xd3
	fixext1     = 0xd4
	fixext16    = 0xd8
	str8        = 0xd9
	str32       = 0xdb
	array16     = 0xdc
	array32     = 0xdd
	map16       = 0xde
	map32       = 0xdf
)

// startsRequest accepts a short text.
func startsRequest(b []byte) bool { return b[0] > 0xa0 && b[0] < 0xc0 && decode.VersionAt(b, 1) }

// Reader reads one body; it borrows the body and keeps nothing of it.
type Reader struct {
	decode.Recorder
	keys   decode.Label // the label of the keys of the next map; maps inside it may be objects
	around []container  // see countCommon
}

// SkipText takes a string.
func (r *Reader) SkipText() {
	r.text()
	r.EndText()
}

// Text takes a string or nil.
func (r *Reader) Text(name string) (s string, null bool) {
	b, null := r.text()
	return r.TextField(name, decode.UTF8(b), null)
}

func (r *Reader) text() (b []byte, null bool) {
	c := r.Byte("a string")
	if c == nilByte && r.OK() {
		return nil, true
	}
	return r.Bytes(r.strLen(c), "the characters of a string"), false
}

// strLen takes the length of the string that c starts.
func (r *Reader) strLen(c byte) int {
	switch {
	case !r.OK():
	case c&0xe0 == 0xa0:
		return int(c & 0x1f)
	case c >= str8 && c <= str32:
		return r.length(c-str8, "the length of a string")
	default:
		r.FailAt(r.Off-1, decode.Malformed, "a string", found(c))
	}
	return 0
}

// unsigned takes a number of 1, 2, 4 or 8 bytes for size 0 to 3.
func (r *Reader) unsigned(size byte, what string) uint64 {
	switch size {
	case 0:
		return uint64(r.Byte(what))
	case 1:
		return uint64(r.U16(what))
	case 2:
		return uint64(r.U32(what))
	}
	return r.U64(what)
}

// length is unsigned for a length.
func (r *Reader) length(size byte, what string) int { return int(r.unsigned(size, what)) }

// ResultKind takes a small integer.
func (r *Reader) ResultKind() byte {
	b := r.Byte("a result kind")
	if b > 0x7f {
		r.FailAt(r.Off-1, decode.Malformed, "a result kind, 00 to 05", found(b))
	}
	return r.KindField(int64(b))
}

// Value takes one value of any type.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	open := r.Tree.Depth()
	r.keys = decode.ByMember
	if decode.IsMapType(typ) {
		r.keys = decode.ByKey
	}
	r.value(l, name, index)
	r.Settle(open)
}

// Throwable takes the name of the exception's class and a map of its properties. In Triple, which writes exceptions as values, the
// name is missing.
func (r *Reader) Throwable() {
	open := r.Tree.Depth()
	r.keys = decode.ByMember
	i := r.Open(decode.Object, decode.ByField, "exception", 0)
	if c, ok := r.Peek(); !ok || !isMap(c) {
		class, _ := r.text()
		if n := r.Tree.Node(i); n != nil && r.OK() {
			n.Class = r.Name(class)
		}
		r.Role("class")
	}
	r.properties()
	r.Close()
	r.Settle(open)
}

// isMap reports whether a map starts with c.
func isMap(c byte) bool { return c&0xf0 == 0x80 || c == map16 || c == map32 }

// properties takes a map as the fields of the open object.
func (r *Reader) properties() {
	c := r.Byte("the properties of an exception")
	if r.OK() && !isMap(c) {
		r.FailAt(r.Off-1, decode.Malformed, "a map of properties", found(c))
	}
	n := r.mapLen(c)
	r.Role("length")
	for i := 0; i < n && r.OK(); i++ {
		r.member()
	}
}

// Attachments takes a map.
func (r *Reader) Attachments() {
	open := r.Tree.Depth()
	r.keys = decode.ByKey
	r.value(decode.ByField, "attachments", 0)
	r.Settle(open)
}

// value takes one value. Its first byte tells the type, and with it the bytes that follow.
func (r *Reader) value(l decode.Label, name string, index int) {
	c := r.Byte("a value")
	if !r.OK() {
		return
	}
	switch {
	case c <= 0x7f:
		r.int(l, name, index, int64(c))
	case c >= 0xe0:
		r.int(l, name, index, int64(int8(c)))
	case isMap(c):
		r.mapOf(l, name, index, r.mapLen(c))
	case c&0xf0 == 0x90, c == array16, c == array32:
		r.arrayOf(l, name, index, r.arrayLen(c))
	case c&0xe0 == 0xa0, c >= str8 && c <= str32:
		b := r.Bytes(r.strLen(c), "the characters of a string")
		if n := r.Leaf(decode.String, l, name, index); n != nil && r.Values() {
			n.Text = decode.UTF8(b)
		}
	case c == nilByte:
		r.Leaf(decode.Null, l, name, index)
	case c == falseByte, c == trueByte:
		r.Leaf(decode.Bool, l, name, index).SetNum(int64(c - falseByte))
	case c >= bin8 && c <= bin32:
		b := r.Bytes(r.length(c-bin8, "the length of a byte array"), "the bytes of a byte array")
		r.FillRaw(r.Leaf(decode.Bytes, l, name, index), b)
	case c == float32Byte:
		f := math.Float32frombits(r.U32("a float"))
		r.Leaf(decode.Float32, l, name, index).SetFloat(float64(f))
	case c == float64Byte:
		f := math.Float64frombits(r.U64("a double"))
		r.Leaf(decode.Float64, l, name, index).SetFloat(f)
	case c >= uint8Byte && c <= uint64Byte:
		r.uint(l, name, index, c)
	case c >= int8Byte && c <= int64Byte:
		r.int(l, name, index, r.signed(c))
	case c >= ext8 && c <= ext32:
		r.extension(l, name, index, r.length(c-ext8, "the length of an extension"))
	case c >= fixext1 && c <= fixext16:
		r.extension(l, name, index, 1<<(c-fixext1))
	default: // neverUsed
		r.FailAt(r.Off-1, decode.Malformed, "a value", found(c))
	}
}

func (r *Reader) int(l decode.Label, name string, index int, v int64) {
	r.Leaf(decode.Int, l, name, index).SetNum(v)
}

func (r *Reader) signed(c byte) int64 {
	size := c - int8Byte
	unused := 64 - 8<<size
	return int64(r.unsigned(size, "an integer")<<unused) >> unused
}

func (r *Reader) uint(l decode.Label, name string, index int, c byte) {
	v := r.unsigned(c-uint8Byte, "an integer")
	if v <= math.MaxInt64 {
		r.int(l, name, index, int64(v))
		return
	}
	if n := r.Leaf(decode.Decimal, l, name, index); n != nil && r.Values() {
		n.Text = strconv.FormatUint(v, 10)
	}
}

// mapLen takes the number of entries. It is only a claim: nothing is allocated for it.
func (r *Reader) mapLen(c byte) int {
	if c >= map16 {
		return r.length(1+c-map16, "the size of a map")
	}
	return int(c & 0x0f)
}

// arrayLen takes the number of elements, which is a claim as well.
func (r *Reader) arrayLen(c byte) int {
	if c >= array16 {
		return r.length(1+c-array16, "the size of an array")
	}
	return int(c & 0x0f)
}

func (r *Reader) arrayOf(l decode.Label, name string, index, n int) {
	if !r.Enter() {
		return
	}
	r.keys = decode.ByMember
	r.Open(decode.List, l, name, index)
	r.Role("length")
	if r.Counting() {
		r.countValues(container{left: n})
		n = 0
	}
	for i := 0; i < n && r.OK(); i++ {
		r.value(decode.ByIndex, "", i)
	}
	r.Close()
	r.Leave()
}

// mapOf takes the entries of a map. An object of an annotated class (JsonTypeInfo of Jackson) has its class as the first
// entry.
func (r *Reader) mapOf(l decode.Label, name string, index, n int) {
	if !r.Enter() {
		return
	}
	keys := r.keys
	r.keys = decode.ByMember
	node := r.Open(decode.Map, l, name, index)
	r.Role("length")
	i := 0
	if class, end := classAt(r.Buf, r.Off); n > 0 && end > 0 && keys == decode.ByMember && r.OK() {
		r.Off = end
		r.Role("class")
		if o := r.Tree.Node(node); o != nil {
			o.Kind, o.Class = decode.Object, r.Name(class)
		}
		for i = 1; i < n && r.OK(); i++ {
			r.member()
		}
	}
	if i == 0 && keys == decode.ByMember && r.Counting() {
		r.countValues(container{left: 2 * n, isMap: true})
		i = n
	}
	for ; i < n && r.OK(); i++ {
		key := r.key(i, keys)
		r.value(decode.ByEntry, key, i)
	}
	r.Close()
	r.Leave()
}

// member takes a name and a value as a field of the open object.
func (r *Reader) member() {
	key, _ := r.text()
	if !r.OK() {
		return
	}
	r.Role("field")
	r.value(decode.ByField, r.Name(key), 0)
}

// classAt returns the class that the member at offset i names, "@class" or "@type" with a string, and the offset after the
// member. end is 0 for any other member.
func classAt(b []byte, i int) (class []byte, end int) {
	if i < len(b) && (b[i] == 0xa6 && bytes.HasPrefix(b[i+1:], []byte("@class")) || b[i] == 0xa5 && bytes.HasPrefix(b[i+1:], []byte("@type"))) {
		i += 1 + int(b[i]&0x1f)
		n := 0
		switch {
		case i < len(b) && b[i]&0xe0 == 0xa0:
			n = int(b[i] & 0x1f)
			i++
		case i+1 < len(b) && b[i] == str8:
			n = int(b[i+1])
			i += 2
		default:
			return nil, 0
		}
		if n <= len(b)-i {
			return b[i : i+n], i + n
		}
	}
	return nil, 0
}

// key takes a key and returns its text, "" if it is not a string. A string gets the label l.
func (r *Reader) key(i int, l decode.Label) string {
	c, _ := r.Peek()
	if c&0xe0 != 0xa0 && (c < str8 || c > str32) {
		r.value(decode.ByKey, "", i)
		return ""
	}
	b, _ := r.text()
	if !r.OK() {
		return ""
	}
	if r.Tree == nil { // without a tree its name is not used
		r.Leaf(decode.String, l, "", i)
		return ""
	}
	name := r.Name(b)
	r.Leaf(decode.String, l, name, i).SetText(name)
	return name
}

func found(c byte) string {
	switch {
	case c == neverUsed:
		return "c1, which is never used"
	case c == nilByte:
		return "c0 (nil)"
	}
	return decode.HexByte(c)
}
