package protobuf

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
)

// Attachments are a message with map fields, in which each attachment is an entry { 1: key, 2: value }.
//
//	map<string, string> attachments = 1;
//	map<string, google.protobuf.Any> attachmentsV2 = 2; // the extension for Dubbo 3
//
// The extension writes every attachment twice: as text for older readers, and with its type. The second one is the value,
// and the first one is overhead, "#text".

const (
	textField  = 1
	typedField = 2
)

// Attachments takes the message. A null map takes no bytes.
func (r *Reader) Attachments() {
	if r.Left() == 0 && r.Short == decode.Malformed {
		return
	}
	open := r.Tree.Depth()
	p := place{label: decode.ByField, name: "attachments"}
	end := r.write("attachments")
	switch {
	case !r.OK():
	case !r.fields(end):
		r.opaque(p, end, decode.Malformed, "the fields of a message")
	default:
		r.Open(decode.Map, p.label, p.name, p.index)
		r.Role("length")
		r.attachments(end)
		r.Close()
	}
	r.Settle(open)
}

func (r *Reader) attachments(end int) {
	typed := r.typedKeys(end)
	for i := 0; r.OK() && r.Off < end; {
		e, after, ok := r.entry(end)
		_, twice := typed[string(r.Buf[e.key.from:e.key.to])]
		switch {
		case !ok: // an unknown field, or an entry that Java does not write
			key := r.number(e.field)
			r.Leaf(decode.String, decode.ByKey, key, i).SetText(key)
			r.opaque(place{decode.ByEntry, key, i}, after, decode.Unsupported, "an attachment as Dubbo writes it")
			i++
		case e.field == textField && twice:
			r.Off = after
			r.Role("text")
		default:
			r.attachment(e, i)
			r.Off = after
			r.Role("type")
			i++
		}
	}
}

// typedKeys returns the keys of the entries of field 2.
func (r *Reader) typedKeys(end int) map[string]struct{} {
	var keys map[string]struct{}
	start := r.Off
	for r.Off < end {
		e, after, ok := r.entry(end)
		if ok && e.field == typedField {
			if keys == nil {
				keys = make(map[string]struct{})
			}
			keys[string(r.Buf[e.key.from:e.key.to])] = struct{}{}
		}
		r.Off = after
	}
	r.Off = start
	return keys
}

// span is the bytes after a length; the length starts at lead.
type span struct{ lead, from, to int }

// entry is an entry of one of the two maps.
type entry struct {
	field      protowire.Number
	key, value span
}

// entry returns the parts of the entry at Off and the offset after the field, without moving Off. ok is false if the field
// is not an entry.
func (r *Reader) entry(end int) (e entry, after int, ok bool) {
	num, wire, n := tagOf(r.Buf[r.Off:end])
	e.field = num
	at := r.Off + n
	if wire == protowire.StartGroupType {
		_, _, n := tagOf(r.Buf[r.groups[at]:end])
		return e, r.groups[at] + n, false
	}
	after = at + sizeOf(num, wire, r.Buf[at:end])
	if wire != protowire.BytesType || num != textField && num != typedField {
		return e, after, false
	}
	e.key, e.value, ok = r.pair(r.span(at))
	return e, after, ok
}

// span returns the bytes after the length at offset at, which are within the body.
func (r *Reader) span(at int) span {
	size, n := varint(r.Buf[at:])
	return span{at, at + n, at + n + int(size)}
}

// pair returns field 1 and field 2 of a message that has at most these, in this order and both after lengths. A missing
// field is empty.
func (r *Reader) pair(s span) (first, second span, ok bool) {
	at := s.from
	take := func(field protowire.Number) span {
		num, wire, n := tagOf(r.Buf[at:s.to])
		if n < 0 || num != field || wire != protowire.BytesType || sizeOf(num, wire, r.Buf[at+n:s.to]) < 0 {
			return span{at, at, at}
		}
		part := r.span(at + n)
		at = part.to
		return part
	}
	first, second = take(1), take(2)
	return first, second, at == s.to
}

// attachment records the key and the value of entry number i.
func (r *Reader) attachment(e entry, i int) {
	r.Off = e.key.lead
	r.Role("field")
	raw := r.Buf[e.key.from:e.key.to]
	key := r.Name(raw)
	r.Off = e.key.to
	r.Leaf(decode.String, decode.ByKey, key, i).SetText(key)
	kind, v, at := decode.String, scalar{kind: decode.String, raw: r.Buf[e.value.from:e.value.to]}, e.value
	if e.field == typedField {
		kind, v, at = r.typedValue(e.value)
		r.Off = at.from
		r.Role("type")
	} else {
		r.Off = at.lead
		r.Role("field")
	}
	if kind == decode.Opaque {
		r.opaque(place{decode.ByEntry, key, i}, at.to, decode.Unsupported, "an attachment of a type that Dubbo writes")
		return
	}
	r.Off = at.to
	v.fill(r.Leaf(kind, decode.ByEntry, key, i), r.Values())
}

// Types of the two Any around a typed value.
var (
	attachmentType = []byte("type.googleapis.com/org.apache.dubbo.common.serialize.protobuf.support.wrapper.Attachment")
	wrapperPrefix  = []byte("type.googleapis.com/google.protobuf.")
)

// typedValue returns the value in Any { 1: type, 2: Attachment { 1: Java class, 2: Any { 1: type, 2: wrapper } } } and its bytes.
// Any other message is opaque.
func (r *Reader) typedValue(s span) (kind decode.Kind, v scalar, at span) {
	outer, inside, ok := r.pair(s)
	if ok && bytes.Equal(r.Buf[outer.from:outer.to], attachmentType) {
		_, data, ok1 := r.pair(inside)
		class, value, ok2 := r.pair(data)
		name, ok3 := bytes.CutPrefix(r.Buf[class.from:class.to], wrapperPrefix)
		w, ok4 := wrappers[string(name)]
		if v, ok = w.read(r.Buf[value.from:value.to]); ok && ok1 && ok2 && ok3 && ok4 {
			return w.kind, v, value
		}
	}
	return decode.Opaque, scalar{}, s
}
