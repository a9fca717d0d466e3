package jsonlines

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// The reader follows RFC 8259, sections 2 to 7, up to r.end. If it fails, all bytes before the failure have owners.

// value = object / array / string / number / "null" / "true" / "false", with the white space before it.
func (r *Reader) value(l decode.Label, name string, index int) {
	r.space()
	r.Role("punct")
	if !r.OK() {
		return
	}
	if r.Off >= r.end {
		r.fail("a value")
		return
	}
	switch c := r.Buf[r.Off]; {
	case c == '{':
		r.object(l, name, index)
	case c == '[':
		r.array(l, name, index, 1)
	case c == '"':
		if token, ok := r.string("the quote at the end of a text"); ok {
			if n := r.Leaf(decode.String, l, name, index); n != nil && r.Values() {
				n.Text = Unquote(token)
			}
		}
	case r.notFinite && r.beyondNumbers(l, name, index):
	case c == '-' || c >= '0' && c <= '9':
		r.number(l, name, index)
	case r.word("null"):
		r.Leaf(decode.Null, l, name, index)
	case r.word("true"):
		r.Leaf(decode.Bool, l, name, index).SetNum(1)
	case r.word("false"):
		r.Leaf(decode.Bool, l, name, index)
	case r.fastjson && r.beyondJSON(l, name, index):
	case r.cut && r.end-r.Off < len("-Infinity"): // the start of a word
		r.failAt(r.end, "the rest of a value")
	default:
		r.fail("a value")
	}
}

// members is the state of an object whose members are being read.
type members struct {
	node         int
	kind         decode.Kind
	label, entry decode.Label // of keys and values
	n            int          // members other than the class
}

// object = "{" [ member *( "," member ) ] "}"; member = key ":" value. It is a map, except an exception and what names
// its class: first, or last in Dubbo's own JSON. Its keys are names unless it is certainly a map.
func (r *Reader) object(l decode.Label, name string, index int) {
	outer := r.outer
	r.outer = aValue
	if r.fastjson && r.reference(l, name, index) {
		return
	}
	if !r.Enter() {
		return
	}
	m := members{kind: decode.Map, label: decode.ByMember, entry: decode.ByEntry}
	switch outer {
	case theAttachments:
		if r.proto {
			r.holder(l, name, index)
			r.Leave()
			return
		}
		m.label = decode.ByKey
	case aMap:
		m.label = decode.ByKey
	case theException:
		m.kind, m.entry = decode.Object, decode.ByField
	}
	around := r.refs.inside
	m.node = r.Open(m.kind, l, name, index)
	r.refs.inside = m.node
	r.Off++
	key := ""
	last, value := -1, 0 // the node of the last member's key, and the offset of its value
	for first := true; !r.next('}', first); first = false {
		if !r.OK() || first && r.classFirst && r.ownClass(&m) {
			if !r.OK() {
				return
			}
			continue
		}
		last = r.NextNode()
		start := r.Off
		key = r.key(&m)
		if r.classLast && r.Off > start && r.Buf[start] != '"' {
			r.NeedTree()
		}
		if r.colon(); !r.OK() {
			return
		}
		if outer == theException && (key == "clazz" || r.proto && key == "originalClassName") { // clazz: of gson, around the exception
			r.nameClass(m.node)
		}
		value = r.Off
		r.value(m.entry, key, m.n)
		m.n++
	}
	if !r.OK() {
		return
	}
	switch {
	case r.classLast && key == "class" && outer != theAttachments && outer != aMap:
		r.lastClass(m.node, last)
		r.countLastClass(value)
	case r.fastjson && m.kind == decode.Object && m.n == 1 && key == "val":
		r.sqlDate(m.node)
	}
	r.refs.inside = around
	r.Close()
	r.Leave()
}

// The first member of an object that names its class: of fastjson and of Jackson.
const (
	typeMember  = `"@type":"`
	classMember = `"@class":"`
)

// ownClass takes that member if it comes next, and turns the open container into an object unless the class is a map of the
// JDK.
func (r *Reader) ownClass(m *members) bool {
	n := 0
	switch text := r.Buf[r.Off:r.end]; {
	case bytes.HasPrefix(text, []byte(typeMember)):
		n = len(typeMember) - 1
	case !r.fastjson && !r.proto && bytes.HasPrefix(text, []byte(classMember)):
		n = len(classMember) - 1
	default:
		return false
	}
	r.Role("punct")
	start := r.Off
	r.Off += n
	token, ok := r.string("the quote at the end of a class")
	if !ok {
		return true
	}
	class := ""
	if bytes.IndexByte(token, '\\') < 0 {
		class = r.Name(token)
	} else {
		class = Unquote(token)
	}
	if m.label == decode.ByKey && !isMap(token) && !r.fastjson { // an entry of a map
		r.Off = start
		return false
	}
	r.Role("class")
	if isMap(token) {
		m.kind, m.label, m.entry = decode.Map, decode.ByKey, decode.ByEntry
	} else {
		m.kind, m.entry = decode.Object, decode.ByField
	}
	if n := r.Tree.Node(m.node); n != nil {
		n.Kind, n.Class = m.kind, class
	}
	return true
}

// nameClass names the node after the string that follows.
func (r *Reader) nameClass(node int) {
	text := r.Buf[r.Off:r.end]
	if n, k := r.Tree.Node(node), stringEnd(text, 0); n != nil && k > 0 {
		n.Class = r.Name(text[1 : k-1])
	}
}

// isMap reports whether the class is a map of the JDK.
func isMap(class []byte) bool {
	name, ok := bytes.CutPrefix(class, []byte("java.util."))
	return ok && (bytes.HasSuffix(name, []byte("Map")) || string(name) == "Hashtable" || string(name) == "Properties" ||
		bytes.HasPrefix(name, []byte("ImmutableCollections$Map")))
}

// array = "[" [ value *( "," value ) ] "]"; head is the length of the opening.
func (r *Reader) array(l decode.Label, name string, index, head int) {
	r.outer = aValue
	if !r.Enter() {
		return
	}
	around := r.refs.inside
	r.refs.inside = r.Open(decode.List, l, name, index)
	r.Off += head
	for i := 0; !r.next(']', i == 0); i++ {
		if !r.OK() {
			return
		}
		r.value(decode.ByIndex, "", i)
	}
	if r.OK() {
		r.refs.inside = around
		r.Close()
		r.Leave()
	}
}

// next moves to the next member or element, past the comma unless it is the first. It returns true at the end and after a
// failure.
func (r *Reader) next(closing byte, first bool) (end bool) {
	if !r.OK() {
		return true
	}
	r.space()
	switch {
	case r.at(closing):
		r.Off++
		r.Role("punct")
		return true
	case first:
	case closing == ']' && r.fastjson && !r.prefixed && r.bracketLost():
		return true
	case r.at(','):
		r.Off++
		r.space()
	case r.fastjson && !r.prefixed && r.Off < r.end && r.begins(closing):
	default:
		r.fail("a comma or " + string(closing))
		return true
	}
	return false
}

// begins reports whether another element or member follows without a comma: fastjson 1.1.18 overwrites the comma before a
// negative short, and writes none after some nulls.
func (r *Reader) begins(closing byte) bool {
	c := r.Buf[r.Off]
	if r.Off > 0 && isSpace(r.Buf[r.Off-1]) {
		return false
	}
	return c == '"' || closing == ']' && (c == '-' || c-'0' <= 9 || c == '{' || c == '[' || c|0x20 >= 'a' && c|0x20 <= 'z')
}

// bracketLost reports whether the closing bracket of the open list is missing, as fastjson 1.1.18 may leave it out after a
// null: then the object around the list ends or goes on.
func (r *Reader) bracketLost() bool {
	if r.Off < len("null") || string(r.Buf[r.Off-len("null"):r.Off]) != "null" {
		return false
	}
	i := r.Off
	if i < r.end && r.Buf[i] == ',' {
		i++
	}
	end := stringEnd(r.Buf[:r.end], i)
	return r.at('}') || end > 0 && end < r.end && r.Buf[end] == ':'
}

// key takes a key. fastjson writes keys that are not strings without quotes.
func (r *Reader) key(m *members) (name string) {
	r.Role("punct")
	if !r.at('"') {
		if r.fastjson && r.Off < r.end {
			r.asMap(m)
			r.value(decode.ByKey, "", m.n)
		} else {
			r.fail("a name in quotes")
		}
		return ""
	}
	token, ok := r.string("the quote at the end of a name")
	if !ok {
		return ""
	}
	if bytes.IndexByte(token, '\\') < 0 {
		name = r.Name(token)
	} else {
		name = Unquote(token)
	}
	if m.kind == decode.Object {
		r.Role("field")
	} else if n := r.Leaf(decode.String, m.label, name, m.n); n != nil {
		n.Text = name
	}
	return name
}

// colon takes the bytes between a key and its value.
func (r *Reader) colon() {
	r.space()
	if !r.OK() {
		return
	}
	if !r.at(':') {
		r.fail("a colon")
		return
	}
	r.Off++
}

// string takes a string and returns the bytes between its quotes.
func (r *Reader) string(what string) (token []byte, ok bool) {
	text := r.Buf[r.Off:r.end]
	n := stringEnd(text, 0)
	if n == 0 {
		r.failAt(r.end, what)
		return nil, false
	}
	r.Off += n
	return text[1 : n-1], true
}

func (r *Reader) space() {
	for r.Off < r.end {
		switch r.Buf[r.Off] {
		case ' ', '\t', '\r', '\n':
			r.Off++
		default:
			return
		}
	}
}

func (r *Reader) at(c byte) bool { return r.Off < r.end && r.Buf[r.Off] == c }

// word takes s if it comes next.
func (r *Reader) word(s string) bool {
	if r.end-r.Off < len(s) || string(r.Buf[r.Off:r.Off+len(s)]) != s {
		return false
	}
	r.Off += len(s)
	return true
}

// fail stops reading because something else was expected at the offset of the reader.
func (r *Reader) fail(expected string) { r.failAt(r.Off, expected) }

// failAt is fail for an offset ahead of the reader. The error shows the character there.
func (r *Reader) failAt(at int, expected string) {
	r.Role("punct")
	switch {
	case at < r.end:
		c, _ := utf8.DecodeRune(r.Buf[at:r.end])
		r.Fail(decode.Malformed, expected, fmt.Sprintf("%q", c))
	case r.cut:
		r.Fail(r.Short, expected, fmt.Sprintf("%d captured bytes", r.end-r.Off))
	default:
		r.Fail(decode.Malformed, expected, "the end of the text")
	}
}
