package avro

import (
	"fmt"
	"slices"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Values of schemas that are made of others, or that only the application has.

// place is the innermost object of the application that is being read, and its field.
type place struct {
	of    *schema
	field string
}

// Bounds of the values that are visited, as those without bytes may contain others without an end.
const (
	visitsPerByte = 16
	smallVisits   = 1 << 16
)

func (r *Reader) composite(s *schema, l decode.Label, name string, index int) {
	if !r.visit() {
		return
	}
	switch s.kind {
	case nothing:
		r.absent(l, name, index)
	case null:
		r.Leaf(decode.Null, l, name, index)
	case date:
		v := r.long("a date")
		if n := r.Leaf(decode.Date, l, name, index); n != nil && r.Values() {
			n.Text = jdk.Instant(time.UnixMilli(v))
		}
	case fixed:
		b := r.Bytes(s.size, "bytes")
		r.FillRaw(r.Leaf(decode.Bytes, l, name, index), b)
	case enum:
		r.constant(s, l, name, index)
	case union:
		r.branch(s, l, name, index)
	case array:
		r.array(s.elem, "", l, name, index)
	case mapping, pairs:
		r.entries(s, l, name, index)
	case record:
		r.object(s, l, name, index)
	default:
		expected, found := s.lack()
		r.FailWithout(s.class, expected, found)
	}
}

// lack says what a schema that is unknown would have to say, and why it does not.
func (s *schema) lack() (expected, found string) {
	if s.class != "" {
		return "the fields of class " + s.class, withoutClass
	}
	return s.why, decode.EndsByCode
}

// absent records a value that takes no bytes. Without classes it is one of those that are not known.
func (r *Reader) absent(l decode.Label, name string, index int) {
	if r.source != nil || r.strict {
		r.Absent(l, name, index)
	} else {
		r.Leaf(decode.Opaque, l, name, index)
	}
}

// visit counts a value that may have no bytes.
func (r *Reader) visit() bool {
	if r.visits++; r.visits > smallVisits+visitsPerByte*len(r.Buf) {
		r.Fail(decode.Limit, "values that take bytes", "many that take none")
	}
	return r.OK()
}

// namedText takes the text of an object of a class.
func (r *Reader) namedText(s *schema, l decode.Label, name string, index int) {
	i := r.Open(decode.Object, l, name, index)
	if n := r.Tree.Node(i); n != nil {
		n.Class = decode.JavaName(s.class)
	}
	b := r.text("a string")
	r.FillUTF8(r.Leaf(decode.String, decode.ByField, "value", 0), b)
	r.Close()
}

// constant takes the ordinal of a constant.
func (r *Reader) constant(s *schema, l decode.Label, name string, index int) {
	at := r.Off
	v := r.long("a constant")
	switch {
	case !r.OK():
		return
	case v < 0 || v >= int64(len(s.symbols)):
		r.FailAt(at, decode.Malformed, fmt.Sprintf("an ordinal up to %d, since %s has %d constants", len(s.symbols)-1, s.class, len(s.symbols)), fmt.Sprint(v))
		return
	}
	r.use(s)
	if n := r.Leaf(decode.Enum, l, name, index); n != nil {
		n.Class, n.Num, n.Text = s.class, v, s.symbols[v]
	}
}

// branch takes the number of a branch, and its value.
func (r *Reader) branch(s *schema, l decode.Label, name string, index int) {
	at := r.Off
	v := r.long("a branch of a union")
	switch {
	case !r.OK():
	case v < 0 || v >= int64(len(s.branches)):
		r.FailAt(at, decode.Malformed, fmt.Sprintf("a branch of a union from 0 to %d", len(s.branches)-1), fmt.Sprint(v))
	case r.Enter():
		r.value(s.branches[v], l, name, index)
		r.Leave()
	}
}

// entries takes a map, whose keys are texts if it is not an array of pairs.
func (r *Reader) entries(s *schema, l decode.Label, name string, index int) {
	r.Open(decode.Map, l, name, index)
	r.Role("type")
	if r.Enter() {
		least := max(s.key.least(), s.elem.least())
		for b := (blocks{}); r.next(&b, least); {
			node := r.NextNode()
			r.value(s.key, decode.ByKey, "", b.index)
			r.value(s.elem, decode.ByEntry, r.NameKey(node), b.index)
		}
		r.Leave()
	}
	r.Close()
}

// object takes the fields of a record.
func (r *Reader) object(s *schema, l decode.Label, name string, index int) {
	r.use(s)
	i := r.Open(decode.Object, l, name, index)
	if n := r.Tree.Node(i); n != nil {
		n.Class = decode.JavaName(s.class)
	}
	r.Role("type")
	if r.Enter() {
		outer := r.within
		fields := s.fields
		if v := r.variation; v != nil && v.class == s.class {
			fields = v.fields
		}
		for k := range fields {
			if !r.OK() {
				break
			}
			r.within = place{s, fields[k].name}
			r.value(fields[k].schema, decode.ByField, fields[k].name, 0)
		}
		if r.OK() {
			r.within = outer
		}
		r.Leave()
	}
	r.Close()
}

// use notes that the body has values of a class of the application.
func (r *Reader) use(s *schema) {
	if s.own && !slices.Contains(r.used, s) {
		r.used = append(r.used, s)
	}
}
