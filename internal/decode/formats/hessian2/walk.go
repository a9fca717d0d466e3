package hessian2

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
)

// value takes the value at the cursor. depth is the nesting it would have as a container. It returns false after
// failing; containers that are open then stay open.
func (r *Reader) value(p place, depth int) bool {
	at := r.c.Off
	if at >= len(r.c.Buf) {
		r.short("a value")
		return false
	}
	g := grammar[r.c.Buf[at]]
	if g.size != 0 {
		stop := at + int(g.size)
		if stop > len(r.c.Buf) {
			r.short(fmt.Sprintf("%s of %d bytes", g.rule, g.size))
			return false
		}
		if r.t == nil {
			r.c.Off = stop
			return true
		}
		return r.scalar(g.rule, p, stop)
	}
	switch g.rule {
	case text:
		stop := r.textEnd(at, expectText)
		if stop < 0 {
			return false
		}
		n, ok := r.leaf(decode.String, p, stop)
		if n != nil && r.values {
			n.Text = r.text(at, stop, false)
		}
		return ok
	case blob:
		stop, chunks := r.bytesEnd(at)
		if stop < 0 {
			return false
		}
		n, ok := r.leaf(decode.Bytes, p, stop)
		if n != nil && r.values {
			n.Raw = r.content(at, stop, chunks)
		}
		return ok
	case definition, object:
		return r.object(p, depth)
	case list:
		return r.list(p, depth)
	case dict:
		return r.dict(p, depth)
	case reference:
		return r.reference(p)
	}
	r.fail(decode.Malformed, "a value", describe(r.c.Buf[at]))
	return false
}

// scalar records a value of fixed size, which ends at stop.
func (r *Reader) scalar(rule rule, p place, stop int) bool {
	b := r.c.Buf[r.c.Off:stop]
	k := decode.Null
	switch rule {
	case boolean:
		k = decode.Bool
	case integer, long:
		k = decode.Int
	case double:
		k = decode.Float64
		if p.float {
			k = decode.Float32
		}
	case date:
		k = decode.Date
	}
	n, ok := r.leaf(k, p, stop)
	if n == nil || !r.values {
		return ok
	}
	switch k {
	case decode.Bool, decode.Int:
		n.Num = number(b)
	case decode.Float64, decode.Float32:
		n.Float = float(b)
	case decode.Date:
		n.Text = formatInstant(instant(b))
	}
	return true
}

// list takes
//
//	55 type value* 5a · 56 type int value* · 57 value* 5a · 58 int value* · 70-77 type value* · 78-7f value*
func (r *Reader) list(p place, depth int) bool {
	if _, ok := r.open(decode.List, p, depth); !ok {
		return false
	}
	op := r.c.Buf[r.c.Off]
	stop := r.c.Off + 1
	n, counted, typ := 0, true, -1
	e := place{label: decode.ByIndex, enum: p.elements}
	if op == 'U' || op == 'V' || op >= 0x70 && op <= 0x77 {
		var t listType
		if t, typ, stop = r.listType(stop); stop < 0 || !r.role("type", stop) {
			return false
		}
		e.float = t.floats
		if t.sorted {
			e.enum = max(e.enum, keyed)
		}
		if node := r.top(); node != nil {
			node.Class = t.name
		}
	}
	switch {
	case op == 'W': // an Iterator or Enumeration
		r.table.drop(r.t != nil)
		if r.log != nil {
			r.log.drop()
		}
	case r.log != nil:
		e.slot = r.log.list(typ, p.slot)
	}
	switch op {
	case 'U', 'W':
		counted = false
		if op == 'W' && !r.role("type", stop) {
			return false
		}
	case 'V', 'X':
		if n, stop = r.count(stop, "the length of a list"); stop < 0 || !r.role("length", stop) {
			return false
		}
	default:
		if n = int(op & 7); op >= 0x78 && !r.role("length", stop) {
			return false
		}
	}
	for i := 0; !counted || i < n; i++ {
		if !counted && r.atEnd() {
			if !r.role("end", r.c.Off+1) {
				return false
			}
			break
		}
		e.index = i
		if !r.value(e, depth+1) {
			return false
		}
	}
	r.t.Close()
	return true
}

// dict takes a map:
//
//	48 (value value)* 5a · 4d type (value value)* 5a
func (r *Reader) dict(p place, depth int) bool {
	if _, ok := r.open(decode.Map, p, depth); !ok {
		return false
	}
	stop := r.c.Off + 1
	var t listType
	if r.c.Buf[r.c.Off] == 'M' {
		if t, _, stop = r.listType(stop); stop < 0 {
			return false
		}
	}
	if !r.role("type", stop) {
		return false
	}
	if node := r.top(); node != nil {
		node.Class = t.name
	}
	e := keyed
	if t.name == "java.util.EnumMap" {
		e = certain
	}
	for i := 0; !r.atEnd(); i++ {
		key, ok := r.key(i, depth+1, e)
		if !ok || !r.value(place{label: decode.ByEntry, name: key, index: i}, depth+1) {
			return false
		}
	}
	if !r.role("end", r.c.Off+1) {
		return false
	}
	r.t.Close()
	return true
}

// key takes the key of entry i and returns its text if it is a string and there is a tree. e is what being a key of
// this map says of it.
func (r *Reader) key(i, depth int, e evidence) (name string, ok bool) {
	at := r.c.Off
	if at < len(r.c.Buf) && grammar[r.c.Buf[at]].rule == text {
		stop := r.textEnd(at, "a key")
		if stop < 0 {
			return "", false
		}
		if r.t == nil {
			r.c.Off = stop
			return "", true
		}
		name = r.text(at, stop, true)
		n, ok := r.leaf(decode.String, place{label: decode.ByKey, name: name, index: i}, stop)
		if n != nil && r.values {
			n.Text = name
		}
		return name, ok
	}
	return "", r.value(place{label: decode.ByKey, index: i, enum: e}, depth)
}

// atEnd reports whether the end mark of a list or map is next.
func (r *Reader) atEnd() bool {
	return r.c.Off < len(r.c.Buf) && r.c.Buf[r.c.Off] == 'Z'
}

// listType reads a type, which is written as a string the first time and as its index afterwards. It returns the index
// and the offset behind it, -1 after failing.
func (r *Reader) listType(at int) (t listType, i, stop int) {
	const what = "a type, a string or an index of the type table"
	if at < len(r.c.Buf) && grammar[r.c.Buf[at]].rule == text {
		if stop = r.textEnd(at, what); stop < 0 {
			return t, 0, -1
		}
		r.typeCount++
		if r.log != nil {
			r.log.listType(r.c.Buf[at:stop])
		}
		if r.t != nil {
			t = newListType(r.text(at, stop, true))
			r.types = append(r.types, t)
		}
		return t, r.typeCount - 1, stop
	}
	i, stop = r.int(at, what)
	switch {
	case stop < 0:
		return t, 0, -1
	case i < 0 || i >= r.typeCount:
		return t, 0, r.failAt(at, decode.Malformed, fmt.Sprintf("an index below %d of the type table", r.typeCount), fmt.Sprint(i))
	case r.t != nil:
		t = r.types[i]
	}
	return t, i, stop
}

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

// top returns the node of the container opened last, nil without a tree.
func (r *Reader) top() *decode.Node {
	if r.t == nil {
		return nil
	}
	return r.t.Node(r.table.last())
}
