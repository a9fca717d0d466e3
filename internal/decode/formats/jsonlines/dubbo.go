package jsonlines

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Dubbo's own JSON (GenericJSONConverter, JSONWriter) writes the class of a bean as its last member, and floating point
// numbers as Java prints them.

// lastClass turns the open node into an object if its last member, which starts at node last, is "class". Its members were
// recorded as those of a map, because only the last one tells a bean.
func (r *Reader) lastClass(node, last int) {
	t := r.Tree
	n := t.Node(node)
	if n == nil || !r.OK() {
		return
	}
	key, value := -1, -1 // punctuation lies between them
	for c := last; c < len(t.Nodes); c = int(t.Nodes[c].End) {
		switch m := &t.Nodes[c]; {
		case m.Label == decode.ByKey || m.Label == decode.ByMember || m.Label == decode.ByRole && m.Name == "field":
			key = c
		case m.Label == decode.ByEntry || m.Label == decode.ByField:
			value = c
		}
	}
	if key < 0 || value < 0 || t.Nodes[value].Kind != decode.String {
		return
	}
	v := &t.Nodes[value]
	class := r.Buf[v.Off+1 : v.Off+v.Len-1] // between its quotes
	if !className(class) {
		return
	}
	n.Kind, n.Class = decode.Object, r.Name(class)
	for c := node + 1; c < key; c = int(t.Nodes[c].End) {
		switch m := &t.Nodes[c]; m.Label {
		case decode.ByKey, decode.ByMember:
			m.Kind, m.Label, m.Name, m.Text, m.Index = decode.Overhead, decode.ByRole, "field", "", 0
		case decode.ByEntry:
			m.Label, m.Index = decode.ByField, 0
		}
	}
	for _, c := range [...]int{key, value} {
		m := &t.Nodes[c]
		m.Kind, m.Label, m.Name, m.Text, m.Index = decode.Overhead, decode.ByRole, "class", "", 0
	}
}

// countLastClass is lastClass without a tree, where the last value starts at offset value. Keys are names already.
func (r *Reader) countLastClass(value int) {
	if r.Tree != nil || !r.OK() {
		return
	}
	text := bytes.TrimLeft(r.Buf[value:r.end], " \t\r\n")
	if n := stringEnd(text, 0); n > 0 && className(text[1:n-1]) {
		r.Recount(decode.ClassNames, n)
	}
}

// className reports whether s can be what Class.getName returns for the class of a bean, since a map may have an entry
// "class". The name has a package or is that of a nested class.
func className(s []byte) bool {
	start, joints := true, 0
	for len(s) > 0 {
		c, n := rune(s[0]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(s)
		}
		s = s[n:]
		switch {
		case c == '.':
			if start {
				return false
			}
			start = true
			joints++
			continue
		case c == '$':
			joints++
		case c == '_' || unicode.IsLetter(c):
		case start || !unicode.IsDigit(c):
			return false
		}
		start = false
	}
	return !start && joints > 0
}

// beyondNumbers takes the floating point values that JSON has no number for, as String.valueOf prints them.
func (r *Reader) beyondNumbers(l decode.Label, name string, index int) bool {
	var f float64
	switch {
	case r.word("NaN"):
		f = math.NaN()
	case r.word("Infinity"):
		f = math.Inf(1)
	case r.word("-Infinity"):
		f = math.Inf(-1)
	default:
		return false
	}
	r.Leaf(decode.Float64, l, name, index).SetFloat(f)
	return true
}
