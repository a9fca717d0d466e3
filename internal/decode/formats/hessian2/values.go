package hessian2

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// value takes the value at the cursor. It returns false after failing; containers that are open then stay open.
func (r *Reader) value(p *place) bool {
	at := r.Off
	if at >= len(r.Buf) {
		r.failShort("a value")
		return false
	}
	g := grammar[r.Buf[at]]
	if g.size != 0 {
		stop := at + int(g.size)
		if stop > len(r.Buf) {
			r.failShort(fmt.Sprintf("%s of %d bytes", g.rule, g.size))
			return false
		}
		return r.scalar(g.rule, p, stop)
	}
	switch g.rule {
	case text:
		stop := r.textEnd(at, expectText)
		if stop < 0 {
			return false
		}
		r.Off = stop
		n := r.Leaf(decode.String, p.label, p.name, p.index)
		if n != nil && r.Values() {
			r.fillText(n, at, stop)
		}
		return r.OK()
	case blob:
		stop, chunks := r.bytesEnd(at)
		if stop < 0 {
			return false
		}
		n, ok := r.leaf(decode.Bytes, p, stop)
		if n != nil && r.Values() {
			n.Raw = r.content(at, stop, chunks)
		}
		return ok
	case definition, object:
		return r.object(p)
	case list:
		return r.list(p)
	case dict:
		return r.dict(p)
	case reference:
		return r.reference(p)
	}
	r.fail(decode.Malformed, "a value", describe(r.Buf[at]))
	return false
}

// scalarKinds are the kinds of values of fixed size.
var scalarKinds = [end + 1]decode.Kind{
	null: decode.Null, boolean: decode.Bool, integer: decode.Int, long: decode.Int, double: decode.Float64, date: decode.Date,
}

// scalar records a value of fixed size, which ends at stop.
func (r *Reader) scalar(rule rule, p *place, stop int) bool {
	b := r.Buf[r.Off:stop]
	k := scalarKinds[rule]
	if p.float && rule == double {
		k = decode.Float32
	}
	r.Off = stop
	n := r.Leaf(k, p.label, p.name, p.index)
	if n == nil || !r.Values() {
		return r.OK()
	}
	switch k {
	case decode.Bool, decode.Int:
		if n.Num = number(b); rule == long {
			n.Class = "java.lang.Long"
		}
	case decode.Float64, decode.Float32:
		n.Float = float(b)
	case decode.Date:
		n.Text = jdk.Instant(instant(b))
	}
	return true
}

// list takes
//
//	55 type value* 5a · 56 type int value* · 57 value* 5a · 58 int value* · 70-77 type value* · 78-7f value*
func (r *Reader) list(p *place) bool {
	node, ok := r.open(decode.List, p)
	if !ok {
		return false
	}
	op := r.Buf[r.Off]
	stop := r.Off + 1
	n, typ := untilEnd, -1
	e := place{label: decode.ByIndex, enum: p.elements}
	if op == 'U' || op == 'V' || op >= 0x70 && op <= 0x77 {
		if typ, stop = r.listType(stop); stop < 0 || !r.role("type", stop) {
			return false
		}
		t := &r.types[typ]
		e.float = t.floats
		if t.sorted {
			e.enum = max(e.enum, keyed)
		}
		if node := r.Tree.Node(node); node != nil {
			node.Class = t.name
		}
	}
	if op != 'W' { // an Iterator or Enumeration
		r.table.add(target{int32(node), aList})
		if r.observer != nil {
			e.slot = r.observer.list(typ, p.slot)
		}
	}
	switch {
	case op == 'W':
		ok = r.role("type", stop)
	case op == 'V' || op == 'X':
		n, stop = r.count(stop, "the length of a list")
		ok = stop >= 0 && r.role("length", stop)
	case op >= 0x70:
		n = int(op & 7)
		ok = op < 0x78 || r.role("length", stop)
	}
	i := 0
	if ok && r.Counting() && r.observer == nil {
		i = r.values(n)
		ok = i >= 0
	}
	for ; ok; i++ {
		if i == n {
			return r.close(node)
		}
		if n == untilEnd && r.atEnd() {
			return r.role("end", r.Off+1) && r.close(node)
		}
		e.index = i
		ok = r.value(&e)
	}
	return false
}

// untilEnd as a number of values: up to the end mark.
const untilEnd = math.MaxInt

// dict takes a map:
//
//	48 (value value)* 5a · 4d type (value value)* 5a
func (r *Reader) dict(p *place) bool {
	node, ok := r.open(decode.Map, p)
	if !ok {
		return false
	}
	stop := r.Off + 1
	e := keyed
	if r.Buf[r.Off] == 'M' {
		var typ int
		if typ, stop = r.listType(stop); stop < 0 {
			return false
		}
		name := r.types[typ].name
		if name == "java.util.EnumMap" {
			e = certain
		}
		if node := r.Tree.Node(node); node != nil {
			node.Class = name
		}
	}
	if !r.role("type", stop) {
		return false
	}
	r.table.add(target{int32(node), aMap})
	if r.observer != nil {
		r.observer.hold(p.slot, aMap)
	}
	key, i := "", 0 // i counts keys and values
	if r.Counting() && r.observer == nil {
		i = r.values(untilEnd)
		ok = i >= 0
	}
	for ; ok; i++ {
		switch isKey := i%2 == 0; {
		case isKey && r.atEnd():
			return r.role("end", r.Off+1) && r.close(node)
		case isKey:
			key, ok = r.key(i/2, e)
		default:
			ok = r.value(&place{label: decode.ByEntry, name: key, index: i / 2})
		}
	}
	return false
}

// key takes the key of entry i and returns its text if it is a string and there is a tree. e is the evidence that keys of
// this map are enum constants.
func (r *Reader) key(i int, e evidence) (name string, ok bool) {
	at := r.Off
	if at >= len(r.Buf) || grammar[r.Buf[at]].rule != text {
		return "", r.value(&place{label: decode.ByKey, index: i, enum: e})
	}
	stop := r.textEnd(at, "a key")
	if stop < 0 {
		return "", false
	}
	if r.Tree != nil {
		name = r.text(at, stop, true)
	}
	n, ok := r.leaf(decode.String, &place{label: decode.ByKey, name: name, index: i}, stop)
	if n != nil && r.Values() {
		n.Text = name
	}
	return name, ok
}

// maxStep is the most bytes after its opcode that a value in steps has.
const maxStep = 32

// steps has, by opcode, the size of a scalar or of a text of at most 31 ASCII characters, and how many of its bytes are
// text. One rule for both leaves no branch that the processor could mispredict.
var steps = func() (s [256]struct{ bytes, text uint8 }) {
	for op := range s {
		s[op].bytes = grammar[op].size
		if op <= 0x1f {
			s[op].bytes, s[op].text = uint8(1+op), uint8(op)
		}
	}
	return s
}()

// values takes n values, or those up to the end mark, where bytes are counted within a container: there their places do
// not matter. It returns how many it took, -1 after failing.
//
// Objects of a class that was met before and lists of known length, the containers that most bodies consist of, and
// references are taken here, too, with a stack of the numbers of values that are left in the containers around. Everything
// else, what is near the end of the body, and every error is left to value.
func (r *Reader) values(n int) (taken int) {
	b, at, left := r.Buf, r.Off, n
	base := len(r.lefts)
	nodes, overhead := 0, 0 // not counted yet, of the bytes from the last node to at
	for {
		if left == 0 {
			k := len(r.lefts) - 1
			if k < base {
				break
			}
			left, r.lefts = r.lefts[k], r.lefts[:k]
			r.Leave()
			continue
		}
		if at >= len(b) {
			break
		}
		op := b[at]
		if step := int(steps[op].bytes); step != 0 && len(b)-at > maxStep {
			// The next 32 bytes: none of those that belong to the text may have its highest bit set.
			m, text := &asciiMasks[steps[op].text&31], b[at+1:at+1+maxStep]
			if m[0]&binary.LittleEndian.Uint64(text)|m[1]&binary.LittleEndian.Uint64(text[8:])|
				m[2]&binary.LittleEndian.Uint64(text[16:])|m[3]&binary.LittleEndian.Uint64(text[24:]) == 0 {
				at += step
				left--
				nodes++
				continue
			}
		}
		stop := r.common(at, op)
		if stop > at {
			at = stop
			left--
			nodes++
			continue
		}
		if head, inner, more := r.start(at, op); head > 0 {
			at += head
			overhead += head
			nodes += more
			if left--; inner > 0 {
				r.Enter()
				r.lefts = append(r.lefts, left)
				left = inner
			}
			continue
		}
		if op == 'Z' && n == untilEnd && len(r.lefts) == base {
			break
		}
		r.Off = at
		r.Tally(overhead, nodes)
		if !r.value(&anywhere) {
			return -1
		}
		at = r.Off
		left--
		nodes, overhead = 0, 0
	}
	r.Off = at
	r.Tally(overhead, nodes)
	if left > 0 && (n != untilEnd || len(r.lefts) > base) {
		r.failShort("a value")
		return -1
	}
	return n - left
}

// common returns the offset after a value at offset at that has no parts: a text, a scalar near the end of the body, or a
// reference if the object table has one numbering. It returns at for anything else and before an error.
func (r *Reader) common(at int, op byte) (stop int) {
	b := r.Buf
	switch {
	case op <= 0x1f:
		if stop, left := skipUnits(b, at+1, int(op)); left == 0 {
			return stop
		}
	case op&^3 == 0x30 || op == 'S':
		head, _, _ := asText(op)
		if len(b)-at < head {
			return at
		}
		if stop, left := skipUnits(b, at+head, chunkLen(b[at:at+head])); left == 0 {
			return stop
		}
	case op == 'Q':
		if t := &r.table; len(b)-at >= 3 && len(t.irregular) == 0 {
			switch c := b[at+1]; {
			case c >= 0x90 && c <= 0xbf && int32(c)-0x90 < t.n:
				return at + 2
			case c >= 0xc8 && c <= 0xcf && int32(c-0xc8)<<8+int32(b[at+2]) < t.n:
				return at + 3
			}
		}
	default:
		if stop := at + int(grammar[op].size); stop <= len(b) {
			return stop
		}
	}
	return at
}

// start takes the start of an object of a class that was met before or of a list of known length. It returns its size, the
// number of values in it, and the nodes that it would have. The size is 0 before anything else, and before an error.
func (r *Reader) start(at int, op byte) (head, n, nodes int) {
	b := r.Buf
	n = int(op & 7)
	switch {
	case r.Level() >= decode.MaxDepth:
		return 0, 0, 0
	case op&0xf0 == 0x60: // object
		if n = int(r.plain[op&15]) - 1; n < 0 {
			return 0, 0, 0
		}
		head, nodes = 1, 2
	case op&0xf8 == 0x78: // list without type
		head, nodes = 1, 2
	case op&0xf8 == 0x70 || op == 'V': // list with a type that was met before
		if len(b)-at < 3 || uint(b[at+1])-0x90 >= uint(len(r.types)) {
			return 0, 0, 0
		}
		head, nodes = 2, 2
		if op == 'V' {
			if n = int(b[at+2]) - 0x90; n < 0 || n >= 0x30 || n > len(b)-at-3 {
				return 0, 0, 0
			}
			head, nodes = 3, 3
		}
	default:
		return 0, 0, 0
	}
	r.table.n++
	return head, n, nodes
}

var anywhere place

// atEnd reports whether the end mark of a list or map is next.
func (r *Reader) atEnd() bool {
	return r.Off < len(r.Buf) && r.Buf[r.Off] == 'Z'
}

// listType reads a type, which is written as a string the first time and as its index afterwards. It returns the index
// in the type table and the offset after it, -1 after failing.
func (r *Reader) listType(at int) (i, stop int) {
	const what = "a type, a string or an index of the type table"
	if at < len(r.Buf) && grammar[r.Buf[at]].rule == text {
		if stop = r.textEnd(at, what); stop < 0 {
			return 0, -1
		}
		if r.observer != nil {
			r.observer.listType(r.Buf[at:stop])
		}
		t := listType{}
		if r.Tree != nil || r.printing.to != nil {
			t = r.newListType(at, stop)
		}
		r.types = append(r.types, t)
		return len(r.types) - 1, stop
	}
	if i, stop = r.int(at, what); stop >= 0 && (i < 0 || i >= len(r.types)) {
		return 0, r.failAt(at, decode.Malformed, fmt.Sprintf("an index below %d of the type table", len(r.types)), fmt.Sprint(i))
	}
	return i, stop
}

// newListType returns the type that is written between two offsets. Bodies have few types, and some writers write them each time.
func (r *Reader) newListType(at, stop int) listType {
	wire := r.Buf[at:stop]
	t, ok := r.listTypes[string(wire)]
	if !ok {
		t = newListType(r.text(at, stop, true))
		if r.listTypes == nil || len(r.listTypes) >= maxListTypes {
			r.listTypes = make(map[string]listType)
		}
		if len(wire) <= maxListTypeLen {
			r.listTypes[string(wire)] = t
		}
	}
	return t
}

// What is kept of the types of earlier bodies: their number, and their length in bytes.
const (
	maxListTypes   = 1 << 10
	maxListTypeLen = 1 << 10
)

// newListType returns the source form of a type: hessian-lite writes an array as "[" and the name of its elements,
// with short names for a few.
func newListType(wire string) listType {
	element := strings.TrimLeft(wire, "[")
	dims := len(wire) - len(element)
	t := listType{name: wire, sorted: wire == "java.util.TreeSet" || wire == "java.util.concurrent.ConcurrentSkipListSet"}
	if dims == 0 {
		return t
	}
	t.floats = dims == 1 && (element == "float" || element == "java.lang.Float")
	switch element {
	case "string":
		element = "java.lang.String"
	case "object":
		element = "java.lang.Object"
	case "date":
		element = "java.util.Date"
	}
	if dims > 255 { // no array of Java
		return t
	}
	t.name = element + strings.Repeat("[]", dims)
	return t
}
