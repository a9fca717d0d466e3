package protobuf

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
)

// maxNested limits the nesting of messages and groups, as protobuf's own readers do. Deeper ones are left as bytes.
const maxNested = 100

// schema is the type of a message.
type schema uint8

const (
	unknown schema = iota
	throwable
	stackFrame
)

// member describes a field of a schema.
type member struct {
	name  string
	kind  decode.Kind // Object, String or Int; Overhead if not known
	of    schema
	list  bool
	class bool        // it names the class of the object
	empty decode.Kind // what an element without bytes is: Object after an element that is one
}

// schemas are the fields of Dubbo's messages by number: those of ThrowablePB.proto, with the names of its JSON.
var schemas = [...][]member{
	unknown: nil,
	throwable: {
		1: {name: "originalClassName", kind: decode.String, class: true},
		2: {name: "originalMessage", kind: decode.String},
		3: {name: "stackTrace", kind: decode.Object, of: stackFrame, list: true},
		4: {name: "cause", kind: decode.Object, of: throwable},
	},
	stackFrame: {
		1: {name: "className", kind: decode.String},
		2: {name: "methodName", kind: decode.String},
		3: {name: "fileName", kind: decode.String},
		4: {name: "lineNumber", kind: decode.Int},
	},
}

// message takes the fields up to end as an object. Bytes that are not fields are opaque, with those that are pending.
func (r *Reader) message(p place, end int, s schema) {
	switch {
	case r.nested >= maxNested:
		r.opaque(p, end, decode.Limit, "messages nested at most "+strconv.Itoa(maxNested)+" deep")
	case !r.fields(end):
		r.opaque(p, end, decode.Malformed, "the fields of a message")
	default:
		r.object(p, end, s)
	}
}

// object is message for bytes that fields has checked.
func (r *Reader) object(p place, end int, s schema) {
	r.nested++
	node := r.Open(decode.Object, p.label, p.name, p.index)
	r.Role("length")
	r.members(node, end, s)
	r.Close()
	r.nested--
}

// members takes fields up to end, which fields has checked, into the object at node.
func (r *Reader) members(node, end int, s schema) {
	for r.OK() && r.Off < end {
		num, wire := r.tag()
		var m member
		if fields := schemas[s]; int(num) < len(fields) {
			m = fields[num]
		}
		if m.name == "" {
			m.name = r.number(num)
		}
		p := place{label: decode.ByField, name: m.name}
		if !m.list && !r.repeats(num, wire, end) {
			r.Role("field")
			r.element(p, node, wire, m)
			continue
		}
		r.list(p, end, num, wire, m)
	}
}

// list takes the field whose tag was taken and those with the same number after it.
func (r *Reader) list(p place, end int, num protowire.Number, wire protowire.Type, m member) {
	r.Open(decode.List, p.label, p.name, p.index)
	for i := 0; ; i++ {
		r.Role("field")
		if r.element(place{label: decode.ByIndex, index: i}, -1, wire, m) == decode.Object {
			m.empty = decode.Object
		}
		if !r.OK() || r.Off >= end {
			break
		}
		next, nextWire, n := tagOf(r.Buf[r.Off:end])
		if next != num {
			break
		}
		r.Off += n
		wire = nextWire
	}
	r.Close()
}

// numbers has the names of the first fields.
var numbers = func() (t [64]string) {
	for i := range t {
		t[i] = "#" + strconv.Itoa(i)
	}
	return t
}()

// number returns the name of a field without a schema, made from its number.
func (r *Reader) number(num protowire.Number) string {
	if int(num) < len(numbers) {
		return numbers[num]
	}
	if r.Tree == nil {
		return "" // without a tree it is not used
	}
	var buf [12]byte
	return r.Name(strconv.AppendInt(append(buf[:0], '#'), int64(num), 10))
}

// tag takes a field's number and wire type.
func (r *Reader) tag() (protowire.Number, protowire.Type) {
	num, wire, n := tagOf(r.Buf[r.Off:])
	r.Off += n
	return num, wire
}

// repeats reports whether the field after the one whose tag was just taken has the same number.
func (r *Reader) repeats(num protowire.Number, wire protowire.Type, end int) bool {
	at := r.Off
	if wire == protowire.StartGroupType {
		at = r.groups[at]
		_, _, n := tagOf(r.Buf[at:end])
		at += n
	} else {
		at += sizeOf(num, wire, r.Buf[at:end])
	}
	next, _, _ := tagOf(r.Buf[at:end])
	return next == num
}

// element takes the value of a field whose tag was taken, and returns what it is.
func (r *Reader) element(p place, node int, wire protowire.Type, m member) decode.Kind {
	var v scalar
	n := 0
	b := r.Buf[r.Off:]
	switch wire {
	case protowire.VarintType:
		v.kind = decode.Int
		v.num, n = varint(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, n = protowire.ConsumeFixed32(b)
		if v = (scalar{kind: fixed32(bits), num: uint64(bits)}); v.kind == decode.Int {
			v.num = uint64(int32(bits))
		}
	case protowire.Fixed64Type:
		v.num, n = protowire.ConsumeFixed64(b)
		v.kind = fixed64(v.num)
	case protowire.StartGroupType:
		r.group(p)
		return decode.Object
	default:
		size, n := varint(b)
		r.Off += n
		return r.content(p, node, r.Off+int(size), m)
	}
	r.Off += n
	v.fill(r.Leaf(v.kind, p.label, p.name, p.index), r.Values())
	return v.kind
}

// group takes a message between two tags; the first one was taken.
func (r *Reader) group(p place) {
	end := r.groups[r.Off]
	r.nested++
	node := r.Open(decode.Object, p.label, p.name, p.index)
	r.members(node, end, unknown)
	if r.OK() {
		r.tag()
	}
	r.Role("field")
	r.Close()
	r.nested--
}

// content takes the bytes up to end, whose length was taken. node is the object that contains them if they may name its
// class.
func (r *Reader) content(p place, node, end int, m member) decode.Kind {
	kind := m.kind
	if r.Off == end && m.empty == decode.Object {
		kind = decode.Object
	}
	switch kind {
	case decode.Object:
		r.message(p, end, m.of)
		return decode.Object
	case decode.String:
	default:
		if kind = r.delimited(end); kind == decode.Object {
			r.object(p, end, unknown)
			return kind
		}
	}
	v := scalar{kind: kind, raw: r.Buf[r.Off:end]}
	r.Off = end
	if m.class && node >= 0 {
		r.Role("class")
		if n := r.Tree.Node(node); n != nil {
			n.Class = r.Name(v.raw)
		}
		return kind
	}
	v.fill(r.Leaf(kind, p.label, p.name, p.index), r.Values())
	return kind
}

// fields reports whether the bytes from Off to end are whole fields. It does not look into the bytes after a length, so
// that a byte is passed once however deep messages are nested. It records the ends of groups.
func (r *Reader) fields(end int) bool {
	type group struct {
		num   protowire.Number
		start int
	}
	var open []group
	for at := r.Off; at < end; {
		num, wire, n := tagOf(r.Buf[at:end])
		if n < 0 {
			return false
		}
		switch wire {
		case protowire.StartGroupType:
			if len(open)+r.nested >= maxNested {
				return false
			}
			open = append(open, group{num, at + n})
		case protowire.EndGroupType:
			k := len(open) - 1
			if k < 0 || open[k].num != num {
				return false
			}
			if r.groups == nil {
				r.groups = make(map[int]int)
			}
			r.groups[open[k].start] = at
			open = open[:k]
		default:
			size := sizeOf(num, wire, r.Buf[at+n:end])
			if size < 0 {
				return false
			}
			n += size
		}
		at += n
	}
	return len(open) == 0
}

// completeFields returns the end of the fields from Off on that are complete. A group without its end is not.
func (r *Reader) completeFields() int {
	end, groups := r.Off, 0
	for at := r.Off; at < len(r.Buf); {
		num, wire, n := tagOf(r.Buf[at:])
		if n < 0 {
			break
		}
		switch wire {
		case protowire.StartGroupType:
			groups++
		case protowire.EndGroupType:
			groups--
		default:
			size := sizeOf(num, wire, r.Buf[at+n:])
			if size < 0 {
				return end
			}
			n += size
		}
		if at += n; groups == 0 {
			end = at
		}
	}
	return end
}

// tagOf is protowire.ConsumeTag, sizeOf protowire.ConsumeFieldValue and varint protowire.ConsumeVarint, with fast paths for
// tags, lengths and numbers of one byte, which nearly all are.

func tagOf(b []byte) (protowire.Number, protowire.Type, int) {
	if len(b) > 0 && b[0] >= 8 && b[0] < 0x80 {
		return protowire.Number(b[0] >> 3), protowire.Type(b[0] & 7), 1
	}
	return protowire.ConsumeTag(b)
}

func sizeOf(num protowire.Number, wire protowire.Type, b []byte) int {
	if len(b) > 0 && b[0] < 0x80 {
		if wire == protowire.VarintType {
			return 1
		}
		if wire == protowire.BytesType && int(b[0]) < len(b) {
			return 1 + int(b[0])
		}
	}
	return protowire.ConsumeFieldValue(num, wire, b)
}

func varint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}
