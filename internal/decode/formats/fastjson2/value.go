package fastjson2

import (
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// First bytes of a value (JSONB.Constants). Those not listed are a range: integers 00-48 and f0-ff, longs bf-ef, strings
// 49-7e, arrays 94-a4. 80 to 8f are not assigned.
const (
	opASCII0        = 0x49
	opASCII         = 0x79
	opUTF8          = 0x7a
	opUTF16         = 0x7b
	opUTF16LE       = 0x7c
	opUTF16BE       = 0x7d
	opGB18030       = 0x7e
	opSymbol        = 0x7f
	opChar          = 0x90
	opBinary        = 0x91
	opTyped         = 0x92
	opReference     = 0x93
	opArray0        = 0x94
	opArray         = 0xa4
	opObjectEnd     = 0xa5
	opObject        = 0xa6
	opLocalTime     = 0xa7
	opLocalDateTime = 0xa8
	opLocalDate     = 0xa9
	opZoned         = 0xaa
	opMillis        = 0xab
	opSeconds       = 0xac
	opMinutes       = 0xad
	opTimestamp     = 0xae
	opNull          = 0xaf
	opFalse         = 0xb0
	opTrue          = 0xb1
	opDouble0       = 0xb2
	opDouble1       = 0xb3
	opDoubleLong    = 0xb4
	opDouble        = 0xb5
	opFloatInt      = 0xb6
	opFloat         = 0xb7
	opDecimalLong   = 0xb8
	opDecimal       = 0xb9
	opBigIntLong    = 0xba
	opBigInt        = 0xbb
	firstUndefined  = 0x80
	lastUndefined   = 0x8f
)

// noSize is the entry of sizes for a value whose first byte does not tell its size.
const noSize = 0xff

// sizes has the number of bytes after the first byte of a value, by that byte.
var sizes = func() (t [256]uint8) {
	for op := range t {
		switch {
		case op <= opIntMax, op >= opIntMin, op >= opLong, op == opNull, op == opFalse, op == opTrue, op == opDouble0, op == opDouble1:
		case op < opInt19, op >= opLong12, op == opInt8:
			t[op] = 1
		case op < opInt32, op >= opLong19, op == opInt16:
			t[op] = 2
		case op == opInt32, op == opInt64Int, op == opFloat, op == opSeconds, op == opMinutes, op == opLocalDate:
			t[op] = 4
		case op == opInt64, op == opDouble, op == opMillis:
			t[op] = 8
		default:
			t[op] = noSize
		}
		if op >= opASCII0 && op < opASCII {
			t[op] = uint8(op - opASCII0)
		} else if op >= opASCII && op < opNull && op != opMillis && op != opSeconds && op != opMinutes && op != opLocalDate {
			t[op] = noSize
		}
	}
	for _, op := range []byte{opDoubleLong, opFloatInt, opDecimalLong, opDecimal, opBigIntLong, opBigInt} {
		t[op] = noSize
	}
	return t
}()

// scalar is a value without parts.
type scalar struct {
	kind  decode.Kind
	num   int64
	float float64
	text  string
	raw   []byte
	class string // of a number, if its first byte tells
}

func (s *scalar) fill(n *decode.Node) {
	n.Kind, n.Num, n.Float, n.Text, n.Raw = s.kind, s.num, s.float, s.text, s.raw
	if n.Class == "" {
		n.Class = s.class
	}
}

// value takes one value. Its first byte tells the type, and with it the bytes that follow.
func (r *Reader) value(l decode.Label, name string, index int) {
	if r.Tree == nil && !r.prints() && r.skipSized() {
		r.Leaf(decode.Int, l, name, index) // of any kind: its bytes are a value
		return
	}
	op, _ := r.Peek()
	switch {
	case op == opTyped, op == opObject, isArray(op):
		r.compound(l, name, index)
	case op == opReference && r.prints():
		r.unusual()
	case op == opReference:
		r.reference(l, name, index)
	case isText(op) && r.prints():
		r.Off++
		if t := r.text(op); r.OK() {
			r.leaf(decode.String, l, name, index)
			r.printText(t)
		}
	default:
		s := r.scalar()
		if n := r.leaf(s.kind, l, name, index); n != nil {
			s.fill(n)
		}
		r.printScalar(&s, "")
	}
}

// skipSized takes a value whose first byte tells its size, and returns false for any other value.
func (r *Reader) skipSized() bool {
	if !r.OK() || r.Off >= len(r.Buf) {
		return false
	}
	n := int(sizes[r.Buf[r.Off]])
	if n == noSize || n >= len(r.Buf)-r.Off {
		return false
	}
	r.Off += 1 + n
	return true
}

func isArray(op byte) bool { return op >= opArray0 && op <= opArray }

func (r *Reader) scalar() (s scalar) {
	op := r.Byte("a value")
	switch {
	case !r.OK():
	case isInteger(op):
		s.kind, s.num, s.class = decode.Int, integerOf(&r.Cursor, op, "an integer"), integerClass(op)
	case isText(op):
		s.kind = decode.String
		if t := r.text(op); r.OK() && r.wanted() {
			s.text = t.string()
		}
	case op == opSymbol:
		s.kind, s.text = decode.String, r.symbol("a string").text
	case op == opChar:
		s.kind = decode.Char
		if c := r.int32("a character"); r.OK() {
			s.text = string(rune(uint16(c))) // half of a surrogate pair becomes U+FFFD
		}
	case op == opBinary:
		s.kind, s.raw = decode.Bytes, r.Bytes(r.size("the length of a byte array"), "the bytes of a byte array")
	case op >= opLocalTime && op <= opTimestamp:
		s.kind = decode.Date
		r.date(op, &s)
	case op == opNull:
		s.kind = decode.Null
	case op == opFalse, op == opTrue:
		s.kind, s.num = decode.Bool, int64(op-opFalse)
	case op >= opDouble0 && op <= opFloat:
		r.float(op, &s)
	case op >= opDecimalLong && op <= opBigInt:
		s.kind = decode.Decimal
		r.decimal(op, &s)
	case op >= firstUndefined && op <= lastUndefined:
		r.FailAt(r.Off-1, decode.Unsupported, "a value", found(op))
	default: // opObjectEnd
		r.FailAt(r.Off-1, decode.Malformed, "a value", found(op))
	}
	if !r.wanted() {
		s.text, s.raw = "", nil
	}
	return s
}

func (r *Reader) float(op byte, s *scalar) {
	s.kind = decode.Float64
	switch op {
	case opDouble0:
	case opDouble1:
		s.float = 1
	case opDoubleLong:
		s.float = float64(r.integer("a double"))
	case opDouble:
		s.float = math.Float64frombits(r.U64("a double"))
	case opFloatInt:
		s.kind, s.float = decode.Float32, float64(float32(r.int32("a float")))
	case opFloat:
		s.kind, s.float = decode.Float32, float64(math.Float32frombits(r.U32("a float")))
	}
}

// compound takes an array, an object, or a value with its class.
func (r *Reader) compound(l decode.Label, name string, index int) {
	if !r.Enter() {
		return
	}
	node := r.Open(decode.Object, l, name, index)
	if r.printsParts() {
		r.printing.parts.Open(l, name, index)
		defer r.printing.parts.Close()
	}
	r.role("length")
	outer := r.inside
	r.inside = node
	op := r.Byte("a value")
	var class *symbol
	if op == opTyped && r.OK() {
		class = r.symbol("a class")
		r.role("class")
		if n := r.Tree.Node(node); n != nil {
			n.Class = r.javaName(class)
		}
		op = r.Byte("a value of a class")
	}
	switch {
	case !r.OK():
	case isArray(op):
		r.array(node, op, class)
	case op == opObject:
		r.object(node, class)
	case op == opTyped, op == opReference:
		r.FailAt(r.Off-1, decode.Malformed, "a value of a class", found(op))
	default:
		r.Off--
		r.typed(node, class)
	}
	r.inside = outer
	r.Close()
	r.Leave()
}

// typed takes a value without parts whose class was taken.
func (r *Reader) typed(node int, class *symbol) {
	name := r.printedName(class) // which the value may change
	s := r.scalar()
	if !r.OK() {
		return
	}
	switch field := singles[class.text]; {
	case field != "": // an object that is written as one text
		if f := r.leaf(s.kind, decode.ByField, field, 0); f != nil {
			s.fill(f)
		}
		r.printBegin('{', name)
		r.printName(field)
		r.printScalar(&s, "")
		r.printEnd('}')
		return
	case s.kind == decode.String && class.text[:min(len(class.text), 1)] != "[", s.kind == decode.Int && !isJDK(class.text):
		s.kind = decode.Enum
	}
	if n := r.Tree.Node(node); n != nil {
		s.fill(n)
	}
	r.fill(node)
	r.printScalar(&s, name)
}

// array takes a count and elements.
func (r *Reader) array(node int, op byte, class *symbol) {
	count := int(op - opArray0)
	if op == opArray {
		if count = r.size("the length of an array"); r.OK() && count > r.Left() && r.Short == decode.Malformed {
			r.Fail(decode.Malformed, fmt.Sprintf("%d elements of an array", count), fmt.Sprintf("%d bytes to the end of the value", r.Left()))
		}
	}
	r.role("type")
	if n := r.Tree.Node(node); n != nil && r.OK() {
		n.Kind, n.Num = decode.List, listKind(class, count)
	}
	if r.Counting() && !r.prints() {
		r.countValues(container{left: count})
		return
	}
	r.printBegin('[', "")
	for i := 0; i < count && r.OK(); i++ {
		r.separate()
		r.value(decode.ByIndex, "", i)
	}
	r.printEnd(']')
}

// object takes the fields of a bean, whose names are symbols, or the entries of a map. Only the symbols distinguish them: an
// empty object without a class is a map.
func (r *Reader) object(node int, class *symbol) {
	first, _ := r.Peek()
	r.role("type")
	if !r.OK() {
		return
	}
	bean := first == opSymbol || first == opObjectEnd && class != nil && !isMap(class.text)
	if n := r.Tree.Node(node); n != nil && !bean {
		n.Kind = decode.Map
	}
	if bean && r.Counting() && !r.prints() {
		r.countValues(beanFields)
		return
	}
	if bean {
		r.printBegin('{', r.printedName(class))
	} else {
		r.printBegin('{', "")
	}
	defer r.printEnd('}')
	referred := ""
	for i, end := 0, false; r.OK() && !end; i++ {
		if bean {
			end, referred = r.member(referred)
			continue
		}
		if op, _ := r.Peek(); op == opObjectEnd {
			r.Off++
			r.role("end")
			return
		}
		r.value(decode.ByEntry, r.key(i), i)
	}
}

// member takes a field of a bean, or what else stands between its fields, and reports whether that is its end. referred is what field
// returned for the field before it, and next is that for the one after it.
func (r *Reader) member(referred string) (end bool, next string) {
	switch op, _ := r.Peek(); op {
	case opObjectEnd:
		r.Off++
		r.role("end")
		return true, ""
	case opNull: // an AtomicReference without value is two nulls
		r.Off++
		r.role("trailing")
		return false, referred
	}
	return false, r.field(referred)
}

// field takes a field and returns its name if its value is a reference. fastjson2 writes such a field a second time, as null,
// which its reader ignores; that null is not a value.
func (r *Reader) field(referred string) string {
	name := r.name("the name of a field")
	op, _ := r.Peek()
	if op == opNull && referred != "" && referred == name {
		r.Off++
		r.role("field")
		return ""
	}
	r.role("field")
	r.printName(name)
	r.value(decode.ByField, name, 0)
	if op == opReference {
		return name
	}
	return ""
}

// name takes a symbol or a string.
func (r *Reader) name(what string) string {
	op := r.Byte(what)
	switch {
	case !r.OK():
	case op == opSymbol:
		return r.symbol(what).text
	case isText(op):
		if s := r.text(op); r.OK() {
			return r.share(s)
		}
	default:
		r.FailAt(r.Off-1, decode.Malformed, what, found(op))
	}
	return ""
}

// key takes a key and returns its text, "" if it is not a string.
func (r *Reader) key(i int) string {
	if op, _ := r.Peek(); op != opSymbol && !isText(op) {
		if r.prints() {
			r.unusual()
		}
		r.value(decode.ByKey, "", i)
		return ""
	}
	name := r.name("a key")
	r.leaf(decode.String, decode.ByKey, name, i).SetText(name)
	r.printKey(name)
	return name
}

func found(op byte) string {
	switch op {
	case opObjectEnd:
		return "a5, the end of an object"
	case opNull:
		return "af (null)"
	}
	return decode.HexByte(op)
}
