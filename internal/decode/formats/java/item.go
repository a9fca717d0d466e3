package java

import (
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// First bytes of an item (specification, 6.4.2).
const (
	tcNull           = 0x70
	tcReference      = 0x71
	tcClassDesc      = 0x72
	tcObject         = 0x73
	tcString         = 0x74
	tcArray          = 0x75
	tcClass          = 0x76
	tcBlockData      = 0x77
	tcEndBlockData   = 0x78
	tcReset          = 0x79
	tcBlockDataLong  = 0x7a
	tcException      = 0x7b
	tcLongString     = 0x7c
	tcProxyClassDesc = 0x7d
	tcEnum           = 0x7e
)

// foundTag describes, for an error, a byte that was found and what it would begin.
func foundTag(tc byte) string {
	if tc < tcNull || tc > tcEnum {
		return decode.HexByte(tc)
	}
	return fmt.Sprintf("byte %02x, %s", tc, tags[tc-tcNull])
}

var tags = [...]string{
	"null", "a reference", "the descriptor of a class", "an object", "a string", "an array", "a Class", "a block of data",
	"the end of what a class wrote", "a reset of the stream", "a long block of data", "an exception with which the sender gave up",
	"a long string", "the descriptor of a proxy", "an enum constant",
}

// item takes one object, array, string, enum constant, class, reference or null.
func (r *Reader) item(l decode.Label, name string, index int) {
	if r.mayCount() {
		r.countItems(remaining{n: 1})
		return
	}
	if !r.Enter() {
		return
	}
	r.anyItem(l, name, index)
	r.Leave()
}

func (r *Reader) anyItem(l decode.Label, name string, index int) {
	if r.block > 0 {
		r.Fail(decode.Malformed, "an object", fmt.Sprintf("%d bytes of block data", r.block))
		return
	}
	switch tc := r.Byte("an object"); {
	case !r.OK():
	case tc == tcNull:
		r.Leaf(decode.Null, l, name, index)
	case tc == tcReference:
		r.reference(l, name, index)
	case tc == tcString || tc == tcLongString:
		s := r.newString(tc)
		if n := r.Leaf(decode.String, l, name, index); n != nil {
			if r.Values() {
				n.Text = jdk.UTF(r.chars(s))
			}
			r.located()
		}
	case tc == tcArray:
		i := r.Open(decode.List, l, name, index)
		r.array(i, whole)
		r.Close()
	case tc == tcObject || tc == tcEnum || tc == tcClass:
		i := r.Open(decode.Object, l, name, index)
		r.content(i, tc)
		r.Close()
	case tc == tcClassDesc || tc == tcProxyClassDesc:
		r.Off--
		i := r.Open(decode.Object, l, name, index)
		if c := r.classDesc(); r.OK() {
			r.nameClass(i, c)
		}
		r.Close()
	case tc == tcException:
		r.FailAt(r.Off-1, decode.Unsupported, "an object", foundTag(tc))
	default:
		r.FailAt(r.Off-1, decode.Malformed, "an object", foundTag(tc))
	}
}

// content takes the rest of an object, a constant or a Class that starts with tc, into node i, which is open.
func (r *Reader) content(i int, tc byte) {
	switch tc {
	case tcObject:
		r.object(i)
	case tcEnum:
		r.enum(i)
	case tcClass:
		r.Role("type")
		if c := r.classDesc(); r.OK() {
			r.assign(handle{kind: toClassObject, a: c, node: int32(i)})
			r.nameClass(i, c)
		}
	}
}

// nameClass makes the open node i a Class object of class c. The name has no bytes of its own.
func (r *Reader) nameClass(i int, c int32) {
	if n := r.Tree.Node(i); n != nil {
		n.Class = "java.lang.Class"
	}
	if c < 0 {
		return
	}
	if n := r.Leaf(decode.String, decode.ByField, "name", 0); n != nil && r.Values() {
		n.Text = r.classes[c].name
	}
}

// newString: TC_STRING newHandle (utf) | TC_LONGSTRING newHandle (long-utf).
func (r *Reader) newString(tc byte) (s handle) {
	n := uint64(0)
	if tc == tcString {
		n = uint64(r.U16("the length of a string"))
	} else {
		n = r.U64("the length of a string")
	}
	if n > math.MaxInt32 {
		r.FailAt(r.Off-8, decode.Malformed, "the length of a string", fmt.Sprintf("%d", n))
	}
	s = handle{kind: toString, a: int32(r.Off), b: int32(n), node: -1}
	r.Skip(int(n), "the characters of a string")
	if r.OK() {
		r.assign(s)
	}
	return s
}

// located notes that the node added last is that of the string read last.
func (r *Reader) located() {
	if !r.unknownHandles {
		r.handles[len(r.handles)-1].node = int32(len(r.Tree.Nodes) - 1)
	}
}

// reference: TC_REFERENCE (int)handle. A value without identity is copied: a string, a number, a constant, a date.
func (r *Reader) reference(l decode.Label, name string, index int) {
	h, ok := r.refer()
	if !r.OK() {
		return
	}
	if !ok {
		r.Leaf(decode.Opaque, l, name, index)
		return
	}
	to := r.handles[h]
	if r.referenceToHidden(to, l, name, index) {
		return
	}
	if r.Tree == nil {
		r.countReference(to, l, name, index)
		return
	}
	n := r.Leaf(decode.Ref, l, name, index)
	if n == nil {
		return
	}
	switch {
	case to.kind == toClass:
		n.Kind = decode.String
		if r.Values() {
			n.Text = sourceName(r.classes[to.a].name)
		}
	case to.kind == toString && r.repeats(int(to.b)):
		n.Kind, n.Same = decode.String, to.node+1
		if r.Values() {
			n.Text = r.text(h)
		}
	case to.node < 0: // the target lies in a hidden item
		n.Kind = decode.Opaque
	default:
		r.repeat(n, h)
	}
}

// countReference is what reference does without a tree.
func (r *Reader) countReference(to handle, l decode.Label, name string, index int) {
	kind := decode.Ref
	switch {
	case to.kind == toClass:
	case to.kind == toString:
		if !r.repeats(int(to.b)) {
			r.NeedTree()
		}
	case to.node < 0:
		kind = decode.Opaque
	}
	r.Leaf(kind, l, name, index)
}

// repeat makes n a reference to an object, or a copy of a value without identity.
func (r *Reader) repeat(n *decode.Node, h int32) {
	to := r.handles[h]
	target := &r.Tree.Nodes[to.node]
	switch target.Kind {
	case decode.Bool, decode.Int, decode.Float32, decode.Float64, decode.Char, decode.Bytes, decode.Enum, decode.Date, decode.Decimal:
		if !r.repeats(len(target.Raw) + len(target.Text)) {
			break
		}
		n.Kind, n.Same = target.Kind, to.node+1
		n.Num, n.Float, n.Class, n.Text, n.Raw = target.Num, target.Float, target.Class, target.Text, target.Raw
		if to.kind == toInteger && r.Values() && target.Class != bigInteger {
			n.Text = r.integerText(h, target)
		}
		return
	}
	n.Kind = decode.Ref
	n.Num = int64(to.node)
}

// enum: TC_ENUM classDesc newHandle enumConstantName, the last a string item.
func (r *Reader) enum(i int) {
	r.Role("type")
	c := r.classDesc()
	if !r.OK() {
		return
	}
	if c < 0 {
		r.Fail(decode.Malformed, "the class of an enum", "null")
		return
	}
	self := len(r.handles)
	r.assign(handle{kind: toEnum, a: c, b: -1, node: int32(i)})
	if n := r.Tree.Node(i); n != nil {
		n.Class = r.classes[c].name
	}
	constant, h := r.constant()
	r.Fill(i)
	if !r.OK() {
		return
	}
	if !r.unknownHandles {
		r.handles[self].b = h
	}
	if n := r.Tree.Node(i); n != nil {
		n.Kind = decode.Enum
		switch {
		case !r.Values():
		case h >= 0:
			n.Text = r.text(h)
		default:
			n.Text = r.utf(r.chars(constant))
		}
	}
}

// constant takes the name of an enum constant, a string item, and returns its place and its handle, -1 if the handle is
// unknown.
func (r *Reader) constant() (s handle, h int32) {
	switch tc := r.Byte("the name of an enum constant"); {
	case !r.OK():
	case tc == tcString || tc == tcLongString:
		h = int32(len(r.handles))
		if s = r.newString(tc); !r.unknownHandles {
			return s, h
		}
	case tc == tcReference:
		h, ok := r.refer()
		if ok && r.handles[h].kind != toString {
			r.FailAt(r.Off-4, decode.Malformed, "the name of an enum constant", "a handle of something else")
		}
		if ok {
			return r.handles[h], h
		}
	default:
		r.FailAt(r.Off-1, decode.Malformed, "the name of an enum constant", foundTag(tc))
	}
	return s, -1
}

// array: TC_ARRAY classDesc newHandle (int)size values[size], into the list that is node i. Elements outside of the part
// are not values.
func (r *Reader) array(i int, p part) {
	r.Role("type")
	c := r.classDesc()
	if !r.OK() {
		return
	}
	if c < 0 || len(r.classes[c].name) < 2 || r.classes[c].name[0] != '[' {
		r.Fail(decode.Malformed, "the class of an array", "another")
		return
	}
	r.assign(handle{kind: toObject, a: -1, node: int32(i)})
	if node := r.Tree.Node(i); node != nil && node.Class == "" { // else the array is within the object that is shown
		node.Class = sourceName(r.classes[c].name)
	}
	element := r.classes[c].name[1]
	width := max(1, size(element))
	n := r.arraySize(width)
	r.Role("length")
	switch {
	case !r.OK():
	case element == 'B':
		b := r.Bytes(n, "a byte array")
		r.Fill(i)
		if node := r.Tree.Node(i); node != nil && r.OK() {
			node.Kind = decode.Bytes
			if r.Values() {
				node.Raw = b
			}
		}
	case size(element) == 0:
		for k := 0; k < n && r.OK(); k++ {
			if k < p.from || k >= p.to {
				r.hidden("unused")
				continue
			}
			r.item(decode.ByIndex, "", k-p.from)
		}
	case r.Tree == nil:
		r.Skip(n*width, "an array")
		r.Run(decode.Int, n)
	default:
		for k := 0; k < n && r.OK(); k++ {
			r.primitive(element, decode.ByIndex, "", k)
		}
	}
}

// arraySize takes the number of elements of an array, of at least width bytes each.
func (r *Reader) arraySize(width int) int {
	n := int(int32(r.U32("the size of an array")))
	if r.OK() && (n < 0 || n > r.Left()/width && r.Short == decode.Malformed) {
		r.FailAt(r.Off-4, decode.Malformed, "the size of an array", fmt.Sprintf("%d, with %d bytes to the end of the body", n, r.Left()))
	}
	return n
}

// primitive takes the raw bytes of a primitive of that type code.
func (r *Reader) primitive(code byte, l decode.Label, name string, index int) {
	if r.Left() < size(code) {
		what := "an element"
		if l == decode.ByField {
			what = "field " + excerpt(name)
		}
		r.Need(size(code), what)
		return
	}
	b := r.Bytes(size(code), "a primitive")
	n := r.Leaf(decode.Int, l, name, index)
	if n != nil {
		setPrimitive(n, code, b)
	}
}

// setPrimitive fills n with the primitive of that type code whose bytes are b.
func setPrimitive(n *decode.Node, code byte, b []byte) {
	n.Kind = decode.Int
	switch code {
	case 'B':
		n.Num = int64(int8(b[0]))
	case 'S':
		n.Num = int64(int16(binary.BigEndian.Uint16(b)))
	case 'I':
		n.Num = int64(int32(binary.BigEndian.Uint32(b)))
	case 'J':
		n.Num = int64(binary.BigEndian.Uint64(b))
	case 'Z':
		n.Kind, n.Num = decode.Bool, 0
		if b[0] != 0 {
			n.Num = 1
		}
	case 'C':
		n.Kind, n.Text = decode.Char, string(rune(binary.BigEndian.Uint16(b))) // half a surrogate pair is U+FFFD
	case 'F':
		n.Kind, n.Float = decode.Float32, float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 'D':
		n.Kind, n.Float = decode.Float64, math.Float64frombits(binary.BigEndian.Uint64(b))
	}
}
