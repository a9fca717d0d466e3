package protobuf

import (
	"bytes"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
	"dubbo-wire/internal/decode/protoschema"
)

// known takes a message of google/protobuf that has a form of its own, up to end. It returns false, without taking anything, if the message
// is shown as any other.
func (r *Reader) known(p place, end int, m *protoschema.Message) bool {
	switch m.Form {
	case protoschema.Wrapper:
		r.wrapped(p, end, m)
	case protoschema.Timestamp, protoschema.Duration:
		return r.time(p, end, m)
	case protoschema.FieldMask, protoschema.ListValue:
		r.Open(decode.List, p.label, p.name, p.index)
		r.Role("length")
		r.only(m, end, func(f *protoschema.Field, wire protowire.Type) { r.elements(m, f, wire, end) })
		r.Close()
	case protoschema.Struct:
		r.Open(decode.Map, p.label, p.name, p.index)
		r.Role("length")
		r.only(m, end, func(f *protoschema.Field, _ protowire.Type) { r.entries(m, f, end) })
		r.Close()
	case protoschema.Value:
		r.anyValue(p, end, m)
	case protoschema.Any:
		return r.any(p, end, m)
	}
	return true
}

// only takes a message that has one field, which read takes to its end.
func (r *Reader) only(m *protoschema.Message, end int, read func(f *protoschema.Field, wire protowire.Type)) {
	for r.OK() && r.Off < end {
		at := r.Off
		num, wire := r.tag()
		f := m.Field(num)
		switch {
		case f == nil:
			r.misfit(m, "", at, "its field", "field #"+strconv.Itoa(int(num)))
		case !takes(f, wire):
			r.misfit(m, f.Name, at, f.Kind.String(), wireText(wire))
		default:
			read(f, wire)
		}
	}
}

// wrapped takes a message with one field as the value of that field.
func (r *Reader) wrapped(p place, end int, m *protoschema.Message) {
	f := &m.Fields[0]
	if r.Off == end {
		r.zero(p, f)
		return
	}
	at := r.Off
	wire, _ := r.next(f.Number, end)
	switch {
	case wire != f.Kind.Wire():
		r.misfit(m, f.Name, at, f.Kind.String(), "another field")
	default:
		r.one(p, m, f)
		if r.OK() && r.Off != end {
			r.misfit(m, f.Name, r.Off, "the end of the message", "another field")
		}
	}
}

// time takes a Timestamp or a Duration: seconds and nanoseconds. Those that have no date, or no text, are shown as other messages are.
func (r *Reader) time(p place, end int, m *protoschema.Message) bool {
	var v [3]int64
	var set [3]bool
	for at := r.Off; at < end; {
		num, wire, n := tagOf(r.Buf[at:end])
		if num > 2 || set[num] || wire != protowire.VarintType {
			return false
		}
		bits, size := varint(r.Buf[at+n : end])
		v[num], set[num] = int64(bits), true
		at += n + size
	}
	seconds, nanos := v[1], v[2]
	const day, second = 86400, 1_000_000_000
	kind := decode.Date
	if m.Form == protoschema.Timestamp {
		if seconds < -719162*day || seconds >= 2932897*day || nanos < 0 || nanos >= second {
			return false
		}
	} else {
		kind = decode.String
		if most := int64(10000 * 365.25 * day); seconds < -most || seconds > most || nanos <= -second || nanos >= second || seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 {
			return false
		}
	}
	r.Off = end
	leaf := r.Leaf(kind, p.label, p.name, p.index)
	if leaf == nil || !r.Values() {
		return true
	}
	if kind == decode.Date {
		leaf.Text = jdk.Instant(time.Unix(seconds, nanos).UTC())
	} else {
		leaf.Text = durationText(seconds, nanos)
	}
	return true
}

// durationText returns a duration as in JSON: 1.500s.
func durationText(seconds, nanos int64) string {
	var b []byte
	if seconds < 0 || nanos < 0 {
		b, seconds, nanos = append(b, '-'), -seconds, -nanos
	}
	b = strconv.AppendInt(b, seconds, 10)
	for digits, unit := 9, int64(1); nanos > 0 && digits > 0; digits, unit = digits-3, unit*1000 {
		if part := nanos / unit; nanos%(unit*1000) != 0 {
			text := strconv.FormatInt(part, 10)
			b = append(b, '.')
			for range digits - len(text) {
				b = append(b, '0')
			}
			b = append(b, text...)
			break
		}
	}
	return string(append(b, 's'))
}

// anyValue takes a Value: null, a number, a text, a boolean, a map or a list.
func (r *Reader) anyValue(p place, end int, m *protoschema.Message) {
	at := r.Off
	if at == end { // nothing was set
		r.Leaf(decode.Null, p.label, p.name, p.index)
		return
	}
	num, wire := r.tag()
	f := m.Field(num)
	switch {
	case f == nil:
		r.misfit(m, "", at, "one of its fields", "field #"+strconv.Itoa(int(num)))
	case wire != f.Kind.Wire():
		r.misfit(m, f.Name, at, f.Kind.String(), wireText(wire))
	case f.Kind == protoschema.EnumValue:
		if v, n := varint(r.Buf[r.Off:end]); v != 0 {
			r.misfit(m, f.Name, r.Off, "null", "another number")
		} else {
			r.Off += n
			r.Leaf(decode.Null, p.label, p.name, p.index)
		}
	default:
		r.one(p, m, f)
	}
	if r.OK() && r.Off != end {
		r.misfit(m, f.Name, r.Off, "the end of the message", "another field")
	}
}

// any takes an Any as the message in it, if its type is known. A message that has a form of its own is its field "value", as in JSON.
func (r *Reader) any(p place, end int, m *protoschema.Message) bool {
	const url, value = 1, 2
	var parts [3]span
	var order [2]int
	n := 0
	for at := r.Off; at < end; n++ {
		num, wire, size := tagOf(r.Buf[at:end])
		if n == len(order) || wire != protowire.BytesType || num > value || n > 0 && order[0] == int(num) {
			return false
		}
		order[n] = int(num)
		parts[num] = r.span(at + size)
		at = parts[num].to
	}
	name := r.Buf[parts[url].from:parts[url].to]
	of := r.named(name[bytes.LastIndexByte(name, '/')+1:])
	if of == nil {
		return false
	}
	node := r.Open(decode.Object, p.label, p.name, p.index)
	r.Role("length")
	if n := r.Tree.Node(node); n != nil {
		n.Class = of.Name
	}
	for _, part := range order[:n] {
		to := parts[part].to
		if part == url {
			r.Off = to
			r.Role("class")
			continue
		}
		r.Off = parts[part].lead
		r.Role("field")
		r.Off = parts[part].from
		switch {
		case r.nested >= maxNested:
			r.opaque(place{label: decode.ByField, name: "value"}, to, decode.Limit, "messages nested at most "+strconv.Itoa(maxNested)+" deep")
		case !r.fields(to):
			r.misfit(m, "value", r.Off, "the fields of message "+of.Name, "other bytes")
		case of.Form == protoschema.Plain:
			r.Role("length")
			r.nested++
			r.members(-1, to, of)
			r.nested--
		default:
			r.object(place{label: decode.ByField, name: "value"}, to, of)
		}
	}
	if parts[value].from == 0 && of.Form != protoschema.Plain && r.OK() { // it is empty
		r.object(place{label: decode.ByField, name: "value"}, r.Off, of)
	}
	r.Close()
	return true
}
