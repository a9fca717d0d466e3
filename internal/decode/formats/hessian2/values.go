package hessian2

import (
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
		if r.Tree != nil {
			t := &r.types[typ]
			e.float = t.floats
			if t.sorted {
				e.enum = max(e.enum, keyed)
			}
			if node := r.Tree.Node(node); node != nil {
				node.Class = t.name
			}
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
	if ok && r.bytesOnly() {
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
		if r.Tree != nil {
			name := r.types[typ].name
			if name == "java.util.EnumMap" {
				e = certain
			}
			if node := r.Tree.Node(node); node != nil {
				node.Class = name
			}
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
	if r.bytesOnly() {
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
		if r.Tree != nil || r.printing.to != nil {
			r.types = append(r.types, r.newListType(at, stop))
		}
		r.nTypes++
		return r.nTypes - 1, stop
	}
	if i, stop = r.int(at, what); stop >= 0 && (i < 0 || i >= r.nTypes) {
		return 0, r.failAt(at, decode.Malformed, fmt.Sprintf("an index below %d of the type table", r.nTypes), fmt.Sprint(i))
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
