package hessian2

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Hessian 1, which the original library still writes over HTTP unless told otherwise, has the same values in another grammar: lengths
// have two bytes and no short forms, a list ends with z even if its length is known, and an object is a map whose type is its class and
// whose keys are its fields. So an object's fields are written with each object.
//
//	N · T · F · I int32 · L int64 · D double · d int64, milliseconds since 1970 · (s|x) u16 text … (S|X) u16 text · b u16 bytes … B u16 bytes
//	V [t u16 type] [l int32 length] value* z · M [t u16 type] (value value)* z · R int32, a reference · r [t u16 type] text, a remote object
//
// Source: com.caucho:hessian 4.0.51, HessianOutput, HessianInput, JavaSerializer, MapSerializer.

// grammar1 is the values of fixed size of Hessian 1.
var grammar1 = [256]struct {
	rule rule
	size uint8
}{
	'N': {null, 1},
	'T': {boolean, 1},
	'F': {boolean, 1},
	'I': {integer, 5},
	'L': {long, 9},
	'D': {double, 9},
	'd': {date, 9},
}

// SetVersion implements [decode.VersionReader].
func (r *Reader) SetVersion(version int) { r.first = version == 1 }

// OpenMembers opens a map of members, field name of a body. In version 2 it begins with 48 and is an object, which references count.
func (r *Reader) OpenMembers(name string) {
	node := r.Open(decode.Map, decode.ByField, name, 0)
	if !r.first && r.OK() {
		r.Skip(1, "a map")
		r.Role("type")
		r.dirty = true
		r.table.add(target{int32(node), aMap})
	}
}

// Member takes a string that names the value after it, and records it as member number index of the open map. It returns the string, ""
// after failing.
func (r *Reader) Member(index int) string {
	if !r.OK() {
		return ""
	}
	const what = "a name, a string"
	at, stop := r.Off, 0
	if r.first {
		stop = r.textEnd1(at, what)
	} else {
		stop = r.textEnd(at, what)
	}
	if stop < 0 {
		return ""
	}
	name := ""
	switch {
	case r.Tree == nil:
	case r.first:
		name = r.text1(at, stop, true)
	default:
		name = r.text(at, stop, true)
	}
	r.dirty = true
	n, _ := r.leaf(decode.String, &place{label: decode.ByMember, name: name, index: index}, stop)
	n.SetText(name)
	return name
}

// value1 is value for Hessian 1.
func (r *Reader) value1(p *place) bool {
	at := r.Off
	if at >= len(r.Buf) {
		r.failShort("a value")
		return false
	}
	op := r.Buf[at]
	if g := grammar1[op]; g.size != 0 {
		stop := at + int(g.size)
		if stop > len(r.Buf) {
			r.failShort(fmt.Sprintf("%s of %d bytes", g.rule, g.size))
			return false
		}
		return r.scalar(g.rule, p, stop)
	}
	switch op {
	case 's', 'S', 'x', 'X':
		stop := r.textEnd1(at, expectText)
		if stop < 0 {
			return false
		}
		n, ok := r.leaf(decode.String, p, stop)
		if n != nil && r.Values() {
			n.Text = r.text1(at, stop, false)
		}
		return ok
	case 'b', 'B':
		stop := r.bytesEnd1(at)
		if stop < 0 {
			return false
		}
		n, ok := r.leaf(decode.Bytes, p, stop)
		if n != nil && r.Values() {
			n.Raw = r.content1(at, stop)
		}
		return ok
	case 'V':
		return r.list1(p)
	case 'M':
		return r.map1(p)
	case 'R':
		if len(r.Buf)-at < 5 {
			r.failShort("the index of an object")
			return false
		}
		return r.refer(p, int(int32(binary.BigEndian.Uint32(r.Buf[at+1:]))), at+5)
	case 'r':
		return r.remote1(p)
	}
	r.fail(decode.Malformed, "a value of Hessian 1", fmt.Sprintf("%02x", op))
	return false
}

// textEnd1 is textEnd for Hessian 1.
func (r *Reader) textEnd1(at int, what string) int {
	for {
		if at >= len(r.Buf) {
			return r.failShort(what)
		}
		op := r.Buf[at]
		if op|0x20 != 's' && op|0x20 != 'x' {
			return r.failAt(at, decode.Malformed, what, fmt.Sprintf("%02x", op))
		}
		if at = r.unitsEnd(at+1, what); at < 0 || op < 'a' {
			return at
		}
	}
}

// unitsEnd returns the offset after the text at offset at, whose length precedes it in two bytes, -1 after failing.
func (r *Reader) unitsEnd(at int, what string) int {
	if len(r.Buf)-at < 2 {
		return r.failShort(what)
	}
	units := int(binary.BigEndian.Uint16(r.Buf[at:]))
	stop, left := skipUnits(r.Buf, at+2, units)
	if left > 0 {
		return r.failText(what, units, stop, left)
	}
	return stop
}

// text1 is text for Hessian 1.
func (r *Reader) text1(at, stop int, name bool) string {
	content := r.Buf[at+3 : stop]
	if r.Buf[at] >= 'a' {
		r.join = r.join[:0]
		for at < stop {
			end, _ := skipUnits(r.Buf, at+3, int(binary.BigEndian.Uint16(r.Buf[at+1:])))
			r.join = append(r.join, r.Buf[at+3:end]...)
			at = end
		}
		content = r.join
	}
	return r.decoded(content, name)
}

// bytesEnd1 is bytesEnd for Hessian 1.
func (r *Reader) bytesEnd1(at int) int {
	for {
		if len(r.Buf)-at < 3 {
			return r.failShort("a chunk of a binary")
		}
		op, n := r.Buf[at], int(binary.BigEndian.Uint16(r.Buf[at+1:]))
		if op|0x20 != 'b' {
			return r.failAt(at, decode.Malformed, "a chunk of a binary", fmt.Sprintf("%02x", op))
		}
		if at += 3; n > len(r.Buf)-at {
			return r.failShort(fmt.Sprintf("a binary of %d bytes", n))
		}
		if at += n; op < 'a' {
			return at
		}
	}
}

// content1 is content for Hessian 1.
func (r *Reader) content1(at, stop int) []byte {
	if r.Buf[at] < 'a' {
		return r.Buf[at+3 : stop : stop]
	}
	joined := make([]byte, 0, stop-at)
	for at < stop {
		end := at + 3 + int(binary.BigEndian.Uint16(r.Buf[at+1:]))
		joined = append(joined, r.Buf[at+3:end]...)
		at = end
	}
	return joined
}

// type1 takes the type of a list, a map or a remote object, if there is one, from offset at on. It returns the bytes of its name and the
// offset after it, -1 after failing.
func (r *Reader) type1(at int) (name []byte, stop int) {
	if at >= len(r.Buf) || r.Buf[at] != 't' {
		return nil, at
	}
	if stop = r.unitsEnd(at+1, "a type"); stop < 0 {
		return nil, -1
	}
	return r.Buf[at+3 : stop], stop
}

// at1 reports whether the mark op is next.
func (r *Reader) at1(op byte) bool { return r.Off < len(r.Buf) && r.Buf[r.Off] == op }

// list1 takes a list.
func (r *Reader) list1(p *place) bool {
	node, ok := r.open(decode.List, p)
	if !ok {
		return false
	}
	name, stop := r.type1(r.Off + 1)
	if stop < 0 || !r.role("type", stop) {
		return false
	}
	e := place{label: decode.ByIndex, enum: p.elements}
	if len(name) > 0 && r.Tree != nil {
		t := newListType(r.decoded(name, true))
		e.float = t.floats
		if t.sorted {
			e.enum = max(e.enum, keyed)
		}
		if n := r.Tree.Node(node); n != nil {
			n.Class = t.name
		}
	}
	r.table.add(target{int32(node), aList})
	if r.at1('l') {
		if len(r.Buf)-r.Off < 5 {
			r.failShort("the length of a list")
			return false
		}
		if !r.role("length", r.Off+5) {
			return false
		}
	}
	for ; !r.at1('z'); e.index++ {
		if !r.value1(&e) {
			return false
		}
	}
	return r.role("end", r.Off+1) && r.close(node)
}

// map1 takes a map, or an object: a map with the type of a class other than a map, whose keys are names.
func (r *Reader) map1(p *place) bool {
	node, ok := r.open(decode.Map, p)
	if !ok {
		return false
	}
	name, stop := r.type1(r.Off + 1)
	if stop < 0 {
		return false
	}
	isObject := len(name) > 0 && !isMap(name) && r.mayBeField(stop)
	if !r.role("type", stop) {
		return false
	}
	class, e := -1, keyed
	what := aMap
	if len(name) > 0 && r.Tree != nil {
		text := r.decoded(name, true)
		if n := r.Tree.Node(node); n != nil {
			n.Class = text
			if isObject {
				n.Kind = decode.Object
			}
		}
		if text == "java.util.EnumMap" {
			e = certain
		}
		if isObject {
			class = r.class1(text)
			what = ofClass(class)
		}
	}
	r.table.add(target{int32(node), what})
	for i := 0; !r.at1('z'); i++ {
		if isObject && !r.mayBeField(r.Off) {
			isObject = false
			r.asMap(node)
		}
		if !r.entry1(i, isObject, e, name) {
			return false
		}
	}
	if !r.role("end", r.Off+1) || !r.close(node) {
		return false
	}
	if isObject && r.Values() {
		r.interpret1(node, class, p.enum)
	}
	return true
}

// entry1 takes entry i of a map, or a field of an object of the named class. e is the evidence that keys are constants of an enum.
func (r *Reader) entry1(i int, isField bool, e evidence, class []byte) bool {
	at := r.Off
	if at < len(r.Buf) && r.Buf[at]|0x20 != 's' {
		return r.value1(&place{label: decode.ByKey, index: i, enum: e}) && r.value1(&place{label: decode.ByEntry, index: i})
	}
	stop := r.textEnd1(at, "a key")
	if stop < 0 {
		return false
	}
	v := place{label: decode.ByEntry, index: i}
	if r.Tree != nil {
		v.name = r.text1(at, stop, true)
	}
	if isField {
		v.label = decode.ByField
		if string(class) == "java.util.EnumSet$SerializationProxy" {
			v.elements = certain
		}
		return r.role("field", stop) && r.value1(&v)
	}
	n, ok := r.leaf(decode.String, &place{label: decode.ByKey, name: v.name, index: i}, stop)
	if n != nil && r.Values() {
		n.Text = v.name
	}
	return ok && r.value1(&v)
}

// isMap reports whether a type is that of a map: nothing but its name tells.
func isMap(name []byte) bool {
	return hasSuffix(name, "Map") || string(name) == "java.util.Hashtable" || string(name) == "java.util.Properties"
}

func hasSuffix(b []byte, end string) bool {
	return len(b) >= len(end) && string(b[len(b)-len(end):]) == end
}

// mayBeField reports whether the key at offset at can be the name of a field; the end of a map counts as one.
func (r *Reader) mayBeField(at int) bool {
	b := r.Buf
	if at >= len(b) || b[at] == 'z' {
		return true
	}
	if b[at] != 'S' {
		return false
	}
	if len(b)-at < 4 {
		return true // the capture lacks the rest
	}
	n := int(binary.BigEndian.Uint16(b[at+1:]))
	if n == 0 || n > maxField {
		return false
	}
	stop, left := skipUnits(b, at+3, n)
	if left > 0 {
		return stop == len(b) // the capture lacks the rest
	}
	for i, c := range b[at+3 : stop] {
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= utf8.RuneSelf
		if !isLetter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// maxField is the length of the names of fields, in UTF-16 units; longer ones are keys of a map.
const maxField = 256

// asMap turns the open object at node into a map: one of its keys is not a name. Without a tree the bytes of its earlier keys count as names,
// so a tree must decide.
func (r *Reader) asMap(node int) {
	r.NeedTree()
	if r.Tree == nil || node < 0 {
		return
	}
	nodes := r.Tree.Nodes
	nodes[node].Kind = decode.Map
	i := int32(0)
	for c := node + 1; c < len(nodes); c = int(nodes[c].End) {
		switch n := &nodes[c]; {
		case n.Kind == decode.Overhead && n.Name == "field":
			name := nodes[c+1].Name // of the value that follows
			n.Kind, n.Label, n.Name, n.Index = decode.String, decode.ByKey, name, i
			if r.Values() {
				n.Text = name
			}
		case n.Label == decode.ByField:
			n.Label, n.Index = decode.ByEntry, i
			i++
		}
	}
}

// remote1 takes a remote object: the type of its interface and its address.
func (r *Reader) remote1(p *place) bool {
	node, ok := r.open(decode.Object, p)
	if !ok {
		return false
	}
	name, stop := r.type1(r.Off + 1)
	if stop < 0 || !r.role("type", stop) {
		return false
	}
	if n := r.Tree.Node(node); n != nil && len(name) > 0 {
		n.Class = r.decoded(name, true)
	}
	return r.value1(&place{label: decode.ByField, name: "url"}) && r.close(node)
}

// class1 returns the entry of the class table for a class, which is the same for all of its objects.
func (r *Reader) class1(name string) int {
	i, ok := r.named[name]
	if !ok {
		if r.named == nil {
			r.named = make(map[string]int)
		}
		i = len(r.classes)
		r.classes = append(r.classes, class{name: name, kind: calledEnum(name)})
		r.named[name] = i
	}
	return i
}

// maxMeaning is the number of fields up to which the objects of a class may stand for another value.
const maxMeaning = 8

// interpret1 is interpret for an object that tells its fields itself.
func (r *Reader) interpret1(node, class int, e evidence) {
	if node < 0 || class < 0 {
		return
	}
	fields := r.fields[:0]
	for c := node + 1; c < int(r.Tree.Nodes[node].End); c = int(r.Tree.Nodes[c].End) {
		if n := &r.Tree.Nodes[c]; n.Label == decode.ByField {
			if len(fields) == maxMeaning {
				return
			}
			fields = append(fields, n.Name)
		}
	}
	r.fields = fields
	if r.classes[class].means = meaningOf(r.classes[class].name, fields); r.classes[class].means != nothing {
		r.interpret(node, class, e)
	}
}
