package jsonlines

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"time"

	"dubbo-wire/internal/decode"
)

// fastjson (SerializeWriter, ListSerializer, DateCodec …) has its own forms for classes without a JSON form.

// beyondJSON takes such a value and reports whether there is one.
func (r *Reader) beyondJSON(l decode.Label, name string, index int) bool {
	start := r.Off
	switch {
	case r.word("Set["):
		r.Off = start
		r.array(l, name, index, len("Set["))
	case r.word("TreeSet["):
		r.Off = start
		r.array(l, name, index, len("TreeSet["))
	case r.word("new Date("):
		n := bytes.IndexByte(r.Buf[r.Off:r.end], ')')
		ms, err := strconv.ParseInt(string(r.Buf[r.Off:r.Off+max(n, 0)]), 10, 64)
		if err != nil {
			r.Off = start
			r.failAt(min(start+len("new Date("), r.end), "milliseconds and )")
			return true
		}
		r.Off += n + 1
		if n := r.Leaf(decode.Date, l, name, index); n != nil && r.Values() {
			n.Text = instant(ms)
		}
	case r.word("x'"):
		n := bytes.IndexByte(r.Buf[r.Off:r.end], '\'')
		digits := r.Buf[r.Off : r.Off+max(n, 0)]
		if n < 0 || n%2 != 0 || !isHex(digits) {
			r.Off = start
			r.failAt(min(start+len("x'"), r.end), "pairs of hexadecimal digits and '")
			return true
		}
		r.Off += n + 1
		if n := r.Leaf(decode.Bytes, l, name, index); n != nil && r.Values() {
			n.Raw, _ = hex.AppendDecode(nil, digits)
		}
	default:
		return false
	}
	return true
}

func isHex(digits []byte) bool {
	for _, c := range digits {
		if c-'0' > 9 && (c|0x20)-'a' > 5 {
			return false
		}
	}
	return true
}

// instant writes milliseconds since 1970 as a time.
func instant(ms int64) string {
	layout := "2006-01-02T15:04:05.000Z"
	if ms%1000 == 0 {
		layout = "2006-01-02T15:04:05Z"
	}
	return time.UnixMilli(ms).UTC().Format(layout)
}

// sqlDate turns an object of a class of dates whose only member is "val", its milliseconds, into a date.
func (r *Reader) sqlDate(node int) {
	n := r.Tree.Node(node)
	if n == nil || !r.Values() {
		return
	}
	switch n.Class {
	case "java.sql.Date", "java.sql.Time", "java.sql.Timestamp", "java.util.Date":
	default:
		return
	}
	for c := node + 1; c < len(r.Tree.Nodes); c++ {
		if v := &r.Tree.Nodes[c]; v.Label == decode.ByField && v.Kind == decode.Int {
			n.Kind, n.Text = decode.Date, instant(v.Num)
		}
	}
}

// asMap turns an object into a map because it has a key that is not a string: its class is a map of the application.
func (r *Reader) asMap(m *members) {
	if m.kind == decode.Map {
		return
	}
	m.kind, m.entry = decode.Map, decode.ByEntry
	t := r.Tree
	n := t.Node(m.node)
	if n == nil {
		return
	}
	n.Kind = decode.Map
	k := int32(0)
	name := -1 // the node of the name before a value
	for c := m.node + 1; c < len(t.Nodes); c = int(t.Nodes[c].End) {
		switch f := &t.Nodes[c]; {
		case f.Label == decode.ByRole && f.Name == "field":
			name = c
		case f.Label == decode.ByField && name >= 0:
			key := &t.Nodes[name]
			key.Kind, key.Label, key.Name, key.Text, key.Index = decode.String, m.label, f.Name, f.Name, k
			f.Label, f.Index = decode.ByEntry, k
			k++
		}
	}
}
