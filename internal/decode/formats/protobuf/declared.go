package protobuf

import (
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/protoschema"
)

// Messages of Dubbo's ThrowablePB.proto, with the names of its JSON.
var (
	stackFrame = protoschema.Made(&protoschema.Message{Name: "StackTraceElementProto", Own: true, Fields: []protoschema.Field{
		{Number: 1, Name: "className", Kind: protoschema.String},
		{Number: 2, Name: "methodName", Kind: protoschema.String},
		{Number: 3, Name: "fileName", Kind: protoschema.String},
		{Number: 4, Name: "lineNumber", Kind: protoschema.Int32},
	}})
	throwable = func() *protoschema.Message {
		m := &protoschema.Message{Name: "ThrowableProto", Own: true}
		m.Fields = []protoschema.Field{
			{Number: 1, Name: "originalClassName", Kind: protoschema.String, Class: true},
			{Number: 2, Name: "originalMessage", Kind: protoschema.String},
			{Number: 3, Name: "stackTrace", Kind: protoschema.Nested, Of: stackFrame, List: true},
			{Number: 4, Name: "cause", Kind: protoschema.Nested, Of: m},
		}
		return protoschema.Made(m)
	}()
)

// A message that does not fit its schema is read again without it, as a whole: what fits by chance is not printed as a fact. It is one of
// another version of the schema, whose fields have other types. A field that the schema does not have tells nothing about the others.

// typed takes the message up to end, which has the type m, or none that is known.
func (r *Reader) typed(p place, end int, m *protoschema.Message) {
	if m == nil {
		r.message(p, end, nil)
		return
	}
	mark, nested, fault := r.Mark(), r.nested, r.fault
	r.message(p, end, m)
	if r.doubt == nil {
		return
	}
	r.Resume(r.Off)
	r.Rewind(mark)
	r.nested, r.fault, r.slots = nested, fault, r.slots[:0]
	r.plain.forget()
	r.lines.forget()
	doubt := r.doubt
	r.doubt = nil
	r.message(p, end, nil)
	if r.fault != nil || !r.OK() {
		return
	}
	if r.fault = doubt.Error(); m.Own {
		r.fault = &decode.Error{Cause: decode.Malformed, At: doubt.At, Expected: doubt.Expected, Found: doubt.Found}
	}
}

// misfit notes that the bytes at an offset do not fit a field, and stops reading.
func (r *Reader) misfit(m *protoschema.Message, field string, at int, expected, found string) {
	if r.OK() {
		r.doubt = &decode.Misfit{Class: m.Name, Field: field, Writer: r.writer, At: at, Expected: expected, Found: found, Schema: true}
		r.Fail(decode.Unsupported, expected, found)
	}
}

// notDeclared notes that a message has a field that its type does not have. A text, whose bytes happen to be fields, is not a message of that
// type.
func (r *Reader) notDeclared(m *protoschema.Message, num protowire.Number, wire protowire.Type, at, start, end int) {
	if m.Own || !r.OK() {
		return
	}
	if at == start && r.plain.covers(r.Buf, start, end) && !r.hasDeclared(m, num, wire, end) {
		r.misfit(m, "", at, "its fields", "a text")
		return
	}
	if r.fault == nil {
		name := "#" + strconv.Itoa(int(num))
		d := decode.Misfit{Class: m.Name, Field: name, Writer: r.writer, At: at, Expected: "a field of message " + m.Name, Found: "field " + name, Schema: true, NotDeclared: true}
		r.fault = d.Error()
	}
}

// hasDeclared reports whether m has one of the fields up to end. The tag of the first one, which it does not have, was taken.
func (r *Reader) hasDeclared(m *protoschema.Message, num protowire.Number, wire protowire.Type, end int) bool {
	for at := r.Off; ; {
		at = r.after(at, num, wire, end)
		if at >= end {
			return false
		}
		var n int
		if num, wire, n = tagOf(r.Buf[at:end]); m.Field(num) != nil {
			return true
		}
		at += n
	}
}

// openSlots makes room for the slots of a message and returns what was there before.
func (r *Reader) openSlots(m *protoschema.Message) (before int) {
	before = len(r.slots)
	if m != nil {
		for n := m.Slots; n > 0; n -= 64 {
			r.slots = append(r.slots, 0)
		}
	}
	return before
}

// closeSlots checks that a message has the fields that it must have.
func (r *Reader) closeSlots(m *protoschema.Message, before, end int) {
	if m == nil {
		return
	}
	own := r.slots[before:]
	for i := 0; i < m.Required && r.OK() && !r.partial; i++ {
		if own[i/64]>>(i%64)&1 != 0 {
			continue
		}
		for k := range m.Fields {
			if f := &m.Fields[k]; f.Required && int(f.Slot) == i {
				r.misfit(m, f.Name, end, "field "+f.Name+", which is required", "the end of the message")
			}
		}
	}
	if r.OK() {
		r.slots = r.slots[:before]
	}
}

// fill marks the slot of a field; it returns false if that or another field of its oneof was set.
func (r *Reader) fill(m *protoschema.Message, f *protoschema.Field) bool {
	if f.Slot == protoschema.NoSlot {
		return true
	}
	words := (m.Slots + 63) / 64
	word := &r.slots[len(r.slots)-words+int(f.Slot)/64]
	bit := uint64(1) << (f.Slot % 64)
	was := *word&bit != 0
	*word |= bit
	return !was
}

// takes reports whether the value of a field may have a wire type.
func takes(f *protoschema.Field, wire protowire.Type) bool {
	return wire == f.Kind.Wire() || wire == protowire.BytesType && f.Packs()
}

// field takes a field whose type is known; its tag, at an offset, was taken.
func (r *Reader) field(m *protoschema.Message, f *protoschema.Field, node, at, end int, num protowire.Number, wire protowire.Type) {
	if !takes(f, wire) {
		r.misfit(m, f.Name, at, f.Kind.String(), wireText(wire))
		return
	}
	p := place{label: decode.ByField, name: f.Name}
	switch {
	case f.Map:
		r.Open(decode.Map, p.label, p.name, p.index)
		r.entries(m, f, end)
		r.Close()
	case f.List:
		r.Open(decode.List, p.label, p.name, p.index)
		r.elements(m, f, wire, end)
		r.Close()
	case !r.fill(m, f):
		r.misfit(m, f.Name, at, "one value", "another one, or one of another field of its oneof, before it")
	case f.Class:
		r.Role("field")
		end := r.length()
		raw := r.Buf[r.Off:end]
		r.Off = end
		r.Role("class")
		if n := r.Tree.Node(node); n != nil {
			n.Class = r.Name(raw)
		}
	default:
		r.Role("field")
		r.one(p, m, f)
	}
}

// wireText names a wire type.
func wireText(wire protowire.Type) string {
	switch wire {
	case protowire.VarintType:
		return "a varint"
	case protowire.Fixed32Type:
		return "four bytes"
	case protowire.Fixed64Type:
		return "eight bytes"
	case protowire.StartGroupType:
		return "a group"
	}
	return "bytes after a length"
}

// elements takes the values of a repeated field, packed or not; the tag of the first one was taken.
func (r *Reader) elements(m *protoschema.Message, f *protoschema.Field, wire protowire.Type, end int) {
	i := 0
	for {
		r.Role("field")
		if wire == protowire.BytesType && f.Packs() {
			to := r.length()
			r.Role("length")
			i += r.countPacked(f.Kind, to)
			for r.OK() && r.Off < to {
				r.scalar(place{label: decode.ByIndex, index: i}, m, f, to)
				i++
			}
		} else {
			r.one(place{label: decode.ByIndex, index: i}, m, f)
			i++
		}
		at := 0
		if wire, at = r.next(f.Number, end); wire < 0 {
			return
		}
		if !takes(f, wire) {
			r.misfit(m, f.Name, at, f.Kind.String(), wireText(wire))
			return
		}
	}
}

// one takes one value of a field, whose tag was taken.
func (r *Reader) one(p place, m *protoschema.Message, f *protoschema.Field) {
	switch f.Kind {
	case protoschema.Nested:
		switch to := r.length(); {
		case r.nested >= maxNested:
			r.message(p, to, f.Of) // is left as bytes
		case r.fields(to):
			r.object(p, to, f.Of)
		default:
			r.misfit(m, f.Name, r.Off, "the fields of a message", "other bytes")
		}
	case protoschema.Group:
		r.group(p, f.Of)
	case protoschema.String, protoschema.Bytes:
		to := r.length()
		r.text(p, m, f, to)
	default:
		r.scalar(p, m, f, len(r.Buf))
	}
}

// text takes the bytes up to end as a text or as bytes. Texts that nobody checked may be bytes.
func (r *Reader) text(p place, m *protoschema.Message, f *protoschema.Field, end int) {
	v := scalar{kind: decode.Bytes, raw: r.Buf[r.Off:end]}
	if f.Kind == protoschema.String {
		switch {
		case m.Own:
			v.kind = decode.String
		case utf8.Valid(v.raw):
			if v.kind = decode.String; !r.isText(end) {
				r.misfit(m, f.Name, r.Off, "a text", "the fields of a message")
				return
			}
		case f.UTF8:
			r.misfit(m, f.Name, r.Off, "a text in UTF-8", "other bytes")
			return
		}
	}
	r.Off = end
	v.fill(r.Leaf(v.kind, p.label, p.name, p.index), r.Values())
}

// isText reports whether the bytes up to end, which are UTF-8, are rather a text than a message: hardly any text has control characters
// and is a message to its last byte.
func (r *Reader) isText(end int) bool {
	return r.Off == end || r.lines.covers(r.Buf, r.Off, end) || r.nested >= maxNested || !r.fields(end)
}

// scalar takes a number, a boolean or a constant of an enum, which ends before end.
func (r *Reader) scalar(p place, m *protoschema.Message, f *protoschema.Field, end int) {
	var v uint64
	n := 0
	switch b := r.Buf[r.Off:end]; f.Kind.Wire() {
	case protowire.VarintType:
		v, n = varint(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, n = protowire.ConsumeFixed32(b)
		v = uint64(bits)
	default:
		v, n = protowire.ConsumeFixed64(b)
	}
	if n < 0 {
		r.misfit(m, f.Name, r.Off, "packed values of type "+f.Kind.String(), "a part of one")
		return
	}
	at := r.Off
	r.Off += n
	kind, num, fits := decode.Int, int64(v), true
	float := 0.0
	switch f.Kind {
	case protoschema.Bool:
		kind, fits = decode.Bool, v <= 1
	case protoschema.Int32, protoschema.EnumValue:
		fits = num == int64(int32(num))
	case protoschema.Uint32:
		fits = v <= math.MaxUint32
	case protoschema.Sint32:
		fits = v <= math.MaxUint32
		num = protowire.DecodeZigZag(v)
	case protoschema.Sint64:
		num = protowire.DecodeZigZag(v)
	case protoschema.Sfixed32:
		num = int64(int32(v))
	case protoschema.Float:
		kind, float = decode.Float32, float64(math.Float32frombits(uint32(v)))
	case protoschema.Double:
		kind, float = decode.Float64, math.Float64frombits(v)
	}
	if !fits {
		r.Off = at
		r.misfit(m, f.Name, at, f.Kind.String(), "the number "+strconv.FormatInt(num, 10))
		return
	}
	name := ""
	if f.Kind == protoschema.EnumValue && f.Enum != nil {
		if name = f.Enum.Of(int32(num)); name != "" {
			kind = decode.Enum
		}
	}
	leaf := r.Leaf(kind, p.label, p.name, p.index)
	if leaf == nil {
		return
	}
	switch kind {
	case decode.Enum:
		leaf.Class, leaf.Text, leaf.Num = f.Enum.Name, name, num
	case decode.Float32, decode.Float64:
		leaf.Float = float
	default:
		leaf.Num = num
		if num < 0 && (f.Kind == protoschema.Uint64 || f.Kind == protoschema.Fixed64) && r.Values() {
			leaf.Text = strconv.FormatUint(v, 10)
		}
	}
}

// entries takes the entries of a map into the open one; the tag of the first one was taken. An entry is a message with the key as field 1
// and the value as field 2; either is missing if it is the default.
func (r *Reader) entries(m *protoschema.Message, f *protoschema.Field, end int) {
	key, value := f.Of.Field(1), f.Of.Field(2)
	for i := 0; ; i++ {
		r.Role("field")
		to := r.length()
		if !r.fields(to) {
			r.misfit(m, f.Name, r.Off, "an entry of a map", "other bytes")
			return
		}
		r.nested++
		r.Role("length")
		name := r.key(m, key, i, to)
		r.entryValue(place{decode.ByEntry, name, i}, m, f, value, to)
		r.nested--
		wire, at := r.next(f.Number, end)
		if wire < 0 {
			return
		}
		if wire != protowire.BytesType {
			r.misfit(m, f.Name, at, "an entry of a map", wireText(wire))
			return
		}
	}
}

// part takes the tag of a field of an entry if it is the next one.
func (r *Reader) part(m *protoschema.Message, f *protoschema.Field, to int) bool {
	wire, at := r.next(f.Number, to)
	if wire < 0 {
		return false
	}
	r.Role("field")
	if wire != f.Kind.Wire() && f.Kind != protoschema.Unknown {
		r.misfit(m, f.Name, at, f.Kind.String(), wireText(wire))
	}
	return r.OK()
}

// key takes the key of entry i, and returns its text if it is one.
func (r *Reader) key(m *protoschema.Message, f *protoschema.Field, i, to int) (name string) {
	p := place{label: decode.ByKey, index: i}
	there := r.part(m, f, to)
	switch {
	case !r.OK():
	case f.Kind == protoschema.String:
		end := r.Off
		if there {
			end = r.length()
		}
		raw := r.Buf[r.Off:end]
		if f.UTF8 && !utf8.Valid(raw) {
			r.misfit(m, f.Name, r.Off, "a text in UTF-8", "other bytes")
			return ""
		}
		r.Off = end
		if r.Tree != nil {
			name = r.Name(raw)
		}
		r.Leaf(decode.String, p.label, name, i).SetText(name)
	case there:
		r.scalar(p, m, f, to)
	default:
		r.zero(p, f)
	}
	return name
}

// entryValue takes the value of an entry, which ends at to.
func (r *Reader) entryValue(p place, m *protoschema.Message, f, value *protoschema.Field, to int) {
	at := r.Off
	wire, _ := r.next(value.Number, to)
	switch {
	case !r.OK():
	case wire < 0 && r.Off < to:
		r.misfit(m, f.Name, at, "an entry of a map", "another message")
	case wire < 0:
		r.zero(p, value)
	case value.Kind == protoschema.Unknown:
		r.Role("field")
		r.element(p, wire, decode.Overhead)
	case wire != value.Kind.Wire():
		r.misfit(m, f.Name, at, value.Kind.String(), wireText(wire))
	default:
		r.Role("field")
		r.one(p, m, value)
	}
	if r.OK() && r.Off < to {
		r.misfit(m, f.Name, r.Off, "the end of an entry", "another field")
	}
}

// zero adds the default of a type, which takes no bytes.
func (r *Reader) zero(p place, f *protoschema.Field) {
	if f.Kind == protoschema.Nested {
		r.message(p, r.Off, f.Of)
		return
	}
	kind, name := f.Zero(), ""
	if kind == decode.Enum {
		if name = f.Enum.Of(0); name == "" {
			kind = decode.Int
		}
	}
	if n := r.Leaf(kind, p.label, p.name, p.index); n != nil && kind == decode.Enum {
		n.Class, n.Text = f.Enum.Name, name
	}
}
