package protobuf

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/protoschema"
)

// maxNested limits the nesting of messages and groups, as protobuf's own readers do. Deeper ones are left as bytes.
const maxNested = 100

// message takes the fields up to end as an object of type m, which is nil if it is not known. Bytes that are not fields are opaque, with
// those that are pending.
func (r *Reader) message(p place, end int, m *protoschema.Message) {
	switch {
	case r.nested >= maxNested:
		r.opaque(p, end, decode.Limit, "messages nested at most "+strconv.Itoa(maxNested)+" deep")
	case !r.fields(end):
		r.opaque(p, end, decode.Malformed, "the fields of a message")
	default:
		r.object(p, end, m)
	}
}

// object is message for bytes that fields has checked.
func (r *Reader) object(p place, end int, m *protoschema.Message) {
	r.nested++
	if m == nil || m.Form == protoschema.Plain || !r.known(p, end, m) {
		node := r.Open(decode.Object, p.label, p.name, p.index)
		r.Role("length")
		r.members(node, end, m)
		r.Close()
	}
	r.nested--
}

// members takes fields up to end, which fields has checked, into the object at node.
func (r *Reader) members(node, end int, m *protoschema.Message) {
	if m == nil && r.countUnknown(end) {
		return
	}
	start := r.Off
	if m != nil {
		r.Tree.SetType(node, m.Declared)
	}
	slots := r.openSlots(m)
	for r.OK() && r.Off < end {
		if m != nil && r.Tree == nil {
			if r.countFields(m, end); r.Off == end {
				break
			}
		}
		at := r.Off
		num, wire := r.tag()
		f := m.Field(num)
		switch {
		case f != nil && f.Kind != protoschema.Unknown:
			r.field(m, f, node, at, end, num, wire)
			continue
		case m != nil && f == nil:
			r.notDeclared(m, num, wire, at, start, end)
		}
		p := place{label: decode.ByField}
		if f != nil {
			p.name = f.Name
		} else {
			if p.name = r.number(num); m != nil && !m.Own {
				p.index = decode.Undeclared
			}
		}
		if r.repeats(num, wire, end) {
			r.list(p, end, num, wire)
		} else {
			r.Role("field")
			r.element(p, wire, decode.Overhead)
		}
	}
	r.closeSlots(m, slots, end)
}

// list takes the field whose tag was taken and those with the same number after it.
func (r *Reader) list(p place, end int, num protowire.Number, wire protowire.Type) {
	r.Open(decode.List, p.label, p.name, p.index)
	empty := decode.Overhead
	for i := 0; ; i++ {
		r.Role("field")
		if r.element(place{label: decode.ByIndex, index: i}, wire, empty) == decode.Object {
			empty = decode.Object
		}
		if wire, _ = r.next(num, end); wire < 0 {
			break
		}
	}
	r.Close()
}

// next takes the tag of the next field up to end if that has the same number, and returns its wire type and its offset; else -1.
func (r *Reader) next(num protowire.Number, end int) (wire protowire.Type, at int) {
	if !r.OK() || r.Off >= end {
		return -1, 0
	}
	next, wire, n := tagOf(r.Buf[r.Off:end])
	if next != num {
		return -1, 0
	}
	at = r.Off
	r.Off += n
	return wire, at
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
	next, _, _ := tagOf(r.Buf[r.after(r.Off, num, wire, end):end])
	return next == num
}

// after returns the offset after the value at an offset, whose tag was taken.
func (r *Reader) after(at int, num protowire.Number, wire protowire.Type, end int) int {
	if wire != protowire.StartGroupType {
		return at + sizeOf(num, wire, r.Buf[at:end])
	}
	at = r.groups[at]
	_, _, n := tagOf(r.Buf[at:end])
	return at + n
}

// element takes the value of a field whose tag was taken and whose type is not known, and returns what it is. empty is Object if it follows
// one in a list: then a value without bytes is one, too.
func (r *Reader) element(p place, wire protowire.Type, empty decode.Kind) decode.Kind {
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
		r.group(p, nil)
		return decode.Object
	default:
		end := r.length()
		if r.Off == end && empty == decode.Object {
			r.message(p, end, nil)
			return decode.Object
		}
		v.kind = r.delimited(end)
		if v.kind == decode.Object {
			r.object(p, end, nil)
			return decode.Object
		}
		v.raw = r.Buf[r.Off:end]
		n = len(v.raw)
	}
	r.Off += n
	v.fill(r.Leaf(v.kind, p.label, p.name, p.index), r.Values())
	return v.kind
}

// length takes the length of what lies within a message that fields has checked, and returns the offset of its end.
func (r *Reader) length() (end int) {
	size, n := varint(r.Buf[r.Off:])
	r.Off += n
	return r.Off + int(size)
}

// group takes a message between two tags; the first one was taken.
func (r *Reader) group(p place, m *protoschema.Message) {
	end := r.groups[r.Off]
	r.nested++
	known := m != nil && m.Form != protoschema.Plain && r.known(p, end, m)
	if !known {
		node := r.Open(decode.Object, p.label, p.name, p.index)
		r.members(node, end, m)
	}
	if r.OK() {
		r.tag()
	}
	r.Role("field")
	if !known {
		r.Close()
	}
	r.nested--
}

// fields reports whether the bytes from Off to end are whole fields. It does not look into the bytes after a length, so
// that a byte is passed once however deep messages are nested. It records the ends of groups.
func (r *Reader) fields(end int) bool {
	type group struct {
		num   protowire.Number
		start int
	}
	var open []group
	b := r.Buf[:end]
	for at := r.Off; at < end; {
		if at+1 < end && b[at] >= 8 && b[at] < 0x80 && b[at+1] < 0x80 { // nearly all are so
			switch next := at + 2 + int(b[at+1]); protowire.Type(b[at] & 7) {
			case protowire.VarintType:
				at += 2
				continue
			case protowire.BytesType:
				if next <= end {
					at = next
					continue
				}
			}
		}
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
	if len(b) > 1 && b[1] < 0x80 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	return protowire.ConsumeVarint(b)
}
