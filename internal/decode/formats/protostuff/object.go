package protostuff

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// place is where reading is in an object.
type place struct {
	of    *schema
	field *field
}

// members takes the fields of an object in the container that was opened last, to the end of its message.
func (r *Reader) members(s *schema, m nested) {
	if !r.Enter() {
		return
	}
	r.fields(s, m)
	r.Leave()
}

// fields takes the fields of an object. They are in the order of their numbers, and primitive ones are always there.
func (r *Reader) fields(s *schema, m nested) {
	if r.Counting() && s.plain {
		outer := r.within
		r.tally = tally{}
		r.countFields(s, m)
		r.flush(r.Off)
		r.settled(outer)
		return
	}
	r.use(s)
	fields := s.fields
	if r.variation != nil && r.variation.Class == s.name {
		fields = r.vary(s)
	}
	outer := r.within
	r.within = place{of: s}
	switch s.name {
	case "java.lang.StringBuilder", "java.lang.StringBuffer":
		if len(fields) == 3 && fields[0].shape.id == idBytes { // since Java 9
			r.builder(s, m)
			r.settled(outer)
			return
		}
	}
	i := 0
	for r.OK() {
		off := r.Off
		n, w, more := r.next(m)
		if !more {
			break
		}
		for i < len(fields) && fields[i].number < n {
			r.absent(s, &fields[i], off)
			i++
		}
		if !r.OK() {
			return
		}
		if i == len(fields) || fields[i].number != n {
			r.within.field = nil
			r.misfits(off, s.numbersText()+" of class "+decode.JavaName(s.name), fmt.Sprintf("field %d", n))
			return
		}
		f := &fields[i]
		r.within.field = f
		i++
		p := decode.Place{Label: decode.ByField, Name: f.name}
		if f.repeated {
			r.list(p, f, m, w)
		} else {
			r.value(p, f.shape, n, w)
		}
	}
	for ; i < len(fields) && r.OK(); i++ {
		r.absent(s, &fields[i], r.Off)
	}
	r.settled(outer)
}

// settled says that reading is in another object again.
func (r *Reader) settled(outer place) {
	if r.OK() {
		r.within = outer
	}
}

// absent takes a field that is not there: it is null, or a collection that may also be empty; readers get null. It fails if each message
// has the field.
func (r *Reader) absent(s *schema, f *field, off int) {
	switch {
	case !r.OK():
	case f.always:
		r.within.field = f
		r.missingField(s, f, off)
	default:
		if r.nulls++; r.nulls > decode.DefaultMaxNodes {
			r.Fail(decode.Limit, fmt.Sprintf("%d fields without bytes", decode.DefaultMaxNodes), "more")
			return
		}
		// It stands before the tag that was taken.
		at := r.Off
		r.Off -= r.Pending()
		r.Leaf(decode.Null, decode.ByField, f.name, 0)
		r.Off = at
	}
}

// missingField fails because a field is not there that each message has.
func (r *Reader) missingField(s *schema, f *field, off int) {
	r.misfits(off, fmt.Sprintf("field %d, %s of class %s, which has a value in each message", f.number, f.name, decode.JavaName(s.name)), "none")
}

// list takes the elements of a collection, a field each.
func (r *Reader) list(p decode.Place, f *field, m nested, w byte) {
	r.Open(decode.List, p.Label, p.Name, p.Index)
	for i, more := 0, true; more && r.OK(); i++ {
		r.value(decode.Place{Label: decode.ByIndex, Index: i}, f.shape, f.number, w)
		w, more = r.oneMore(m, f.number)
	}
	r.Close()
}

// oneMore takes the tag of a field if it is the next one.
func (r *Reader) oneMore(m nested, number uint64) (w byte, ok bool) {
	if r.Left() == 0 {
		return 0, false
	}
	v, n := uint64(r.Buf[r.Off]), 1
	if v >= 0x80 {
		v, n = binary.Uvarint(r.Buf[r.Off:])
	}
	if w = byte(v & 7); n <= 0 || v>>3 != number || m.outer == nil && w == endGroup {
		return 0, false
	}
	r.Off += n
	return w, true
}

// value takes a value of a shape, whose tag has been taken.
func (r *Reader) value(p decode.Place, x *shape, f uint64, w byte) {
	if w == reference && x.kind != scalarKind && x.kind != enumKind {
		if k := r.objectNumber(); r.OK() {
			r.refer(p, k)
		}
		return
	}
	switch x.kind {
	case scalarKind:
		r.scalarElement(p, x.id, w)
	case delegateKind:
		if w == fixed64Wire {
			r.time(p, w)
		} else {
			r.nestedValue(p, &shape{kind: pojoKind, of: r.library.schema(x.name)}, f, w) // Dubbo 2.7.0 and 2.7.1
		}
	case enumKind:
		r.wires(w, varintWire)
		v, name := r.ordinal(x.name, x.of.built())
		if n := r.Scalar(p, decode.Enum); n != nil {
			n.Class, n.Num, n.Text = x.name, int64(int32(v)), name
		}
	case dynamicKind:
		r.element(p, x, f, w)
	case unknownKind:
		r.unknown(p, x, f, w)
	default:
		r.nestedValue(p, x, f, w)
	}
}

// nestedValue takes a nested message.
func (r *Reader) nestedValue(p decode.Place, x *shape, f uint64, w byte) {
	if w != startGroup && w != delimited {
		r.misfits(r.Off, "a message", wireName(w))
		return
	}
	m := r.start(f, w)
	switch x.kind {
	case pojoKind:
		r.pojo(p, x.of.name, m)
	case derivedKind:
		off := r.Off
		r.expect(tagOf(idPojo, delimited))
		raw := r.delimited("a class name")
		if r.OK() {
			class := r.text(raw)
			r.checkClass(x, class, off)
			r.pojo(p, class, m)
		}
	case anyMap, anyCollection:
		r.viewed(p, m, header{}, x.kind == anyMap)
	case mapKind:
		r.inside(p, decode.Map, func() { r.mapping(x.key, x.value, m) })
	case elementsKind:
		r.inside(p, decode.List, func() { r.elements(x.value, m) })
	case scalarArray:
		r.inside(p, decode.List, func() { r.array(x, m) })
	case delegateArray:
		r.inside(p, decode.List, func() { r.times(x.name, m) })
	case enumArray:
		r.inside(p, decode.List, func() {
			n := r.field(1)
			r.Role("length")
			r.missing(n, r.ordinals(decode.JavaName(x.name), m))
		})
	case pojoArray:
		r.inside(p, decode.List, func() { r.messages(x.name, r.usable(x.name), m) })
	case objectArray:
		r.inside(p, decode.List, func() {
			r.expect(tagOf(idArray, delimited))
			class := r.delimited("a class name") // of the array, which may be one of a subclass
			r.UpTo(r.Off-len(class), "type")
			r.Role("class")
			r.objects(m)
		})
	}
}

// inside opens a container, whose content and end read takes.
func (r *Reader) inside(p decode.Place, k decode.Kind, read func()) {
	r.Open(k, p.Label, p.Name, p.Index)
	r.Role("type")
	if r.Enter() {
		read()
		r.Role("end")
		r.Leave()
	}
	r.Close()
}

// pojo takes an object of a class after its start, and its end.
func (r *Reader) pojo(p decode.Place, class string, m nested) {
	r.notePart(class, len(r.seen)-1, m)
	if r.inParts(class) {
		text := r.parts(class)
		r.finish(m)
		if n := r.Scalar(p, decode.Date); n != nil && (r.Values() || p.Label == decode.ByKey) {
			n.Text = text()
		}
		return
	}
	s := r.usable(class)
	i := r.Open(decode.Object, p.Label, p.Name, p.Index)
	if n := r.Tree.Node(i); n != nil {
		n.Class = decode.JavaName(class)
	}
	r.Role("type")
	if !r.Enter() {
		return
	}
	switch {
	case class == "java.util.UUID":
		r.uuid()
		r.finish(m)
	case s == nil:
		r.opaqueRest(m)
	default:
		r.fields(s, m)
	}
	r.Role("end")
	r.Leave()
	r.Close()
}

// messages takes an array of objects of one class after its start, and its end.
func (r *Reader) messages(class string, s *schema, m nested) {
	n := r.field(1)
	r.Role("length")
	i := 0
	for ; r.OK(); i++ {
		f, w, more := r.next(m)
		if !more {
			r.missing(n, i)
			return
		}
		p := decode.Place{Label: decode.ByIndex, Index: i}
		switch {
		case f != 2:
			r.misfits(r.Off, "an element", fmt.Sprintf("field %d", f))
		case w == reference:
			if k := r.objectNumber(); r.OK() {
				r.refer(p, k)
			}
		default:
			r.pojo(p, class, r.start(f, w))
		}
	}
}

// array takes an array of scalars whose type is declared.
func (r *Reader) array(x *shape, m nested) {
	n := r.field(1)
	if v := int64(n); x.boxable && v < 0 {
		n = uint64(-v - 1)
	}
	r.Role("length")
	for i := 0; r.OK(); i++ {
		f, w, more := r.next(m)
		switch {
		case !more:
			if i > 0 && uint64(i) > n {
				r.misfits(r.Off, fmt.Sprintf("%d elements", n), fmt.Sprint(i))
			}
			r.missing(n, i)
			return
		case f != 2:
			r.misfits(r.Off, "an element", fmt.Sprintf("field %d", f))
			return
		}
		r.scalarElement(decode.Place{Label: decode.ByIndex, Index: i}, x.id, w)
	}
}

// times takes an array of times of java.sql.
func (r *Reader) times(class string, m nested) {
	n := r.field(1)
	r.Role("length")
	for i := 0; r.OK(); i++ {
		f, w, more := r.next(m)
		switch {
		case !more:
			r.missing(n, i)
			return
		case f != 2:
			r.misfits(r.Off, "an element", fmt.Sprintf("field %d", f))
			return
		}
		r.value(decode.Place{Label: decode.ByIndex, Index: i}, &shape{kind: delegateKind, name: class}, f, w)
	}
}

// time takes a time of java.sql.
func (r *Reader) time(p decode.Place, w byte) {
	r.wires(w, fixed64Wire)
	v := int64(r.raw(fixed64Wire))
	if n := r.Scalar(p, decode.Date); n != nil && r.Values() {
		n.Text = jdk.Instant(time.UnixMilli(v))
	}
}

// builder takes the characters that a StringBuilder has room for, and how many of them there are.
func (r *Reader) builder(s *schema, m nested) {
	r.expect(tagOf(1, delimited))
	raw := r.delimited("characters")
	at := r.Off
	coder, n := r.field(2), r.field(3)
	if coder > 1 || n > uint64(len(raw))>>coder {
		r.misfits(r.Off, "the number of characters of class "+s.name, fmt.Sprint(n))
	}
	end := r.Off
	if !r.OK() {
		return
	}
	r.Off = at
	x := r.Leaf(decode.String, decode.ByField, "value", 0)
	switch {
	case x == nil || !r.Values():
	case coder == 1:
		x.Text = decode.UTF16(raw[:2*n], binary.LittleEndian)
	default:
		x.Text = decode.Latin1(raw[:n])
	}
	r.Off = end
	r.Role("length")
	r.finish(m)
}

// unknown takes a value that cannot be read.
func (r *Reader) unknown(p decode.Place, x *shape, f uint64, w byte) {
	if x.missing != "" {
		r.library.path.Asked(x.missing, false)
	}
	err := &decode.Error{Cause: decode.Unsupported, At: r.Off, Expected: "objects of class " + decode.JavaName(x.name), Found: x.problem, Class: x.missing}
	switch w {
	case startGroup:
		r.note(err)
		i := r.Open(decode.Object, p.Label, p.Name, p.Index)
		if n := r.Tree.Node(i); n != nil {
			n.Class = decode.JavaName(x.name)
		}
		r.opaqueRest(r.start(f, w))
		r.Close()
		return
	case delimited:
		r.delimited("a value")
	case reference:
		if k := r.objectNumber(); r.OK() {
			r.refer(p, k)
		}
		return
	case endGroup:
		r.misfits(r.Off, "a value", "the end of a message")
		return
	default:
		r.raw(w)
	}
	r.note(err)
	r.Scalar(p, decode.Opaque)
}

// wires fails if the wire type is not the one that the declared type has.
func (r *Reader) wires(w, want byte) {
	if w != want {
		r.misfits(r.Off, wireName(want), wireName(w))
	}
}

// numeral takes a number, which must be one of its type.
func (r *Reader) numeral(s *scalarType, wire byte) uint64 {
	off := r.Off
	v := r.raw(wire)
	if r.entered && r.OK() && !s.holds(v) {
		r.misfits(off, s.text(), fmt.Sprint(int64(v)))
	}
	return v
}

// holds reports whether the writer writes a number as v.
func (s *scalarType) holds(v uint64) bool {
	switch {
	case s.kind == decode.Bool:
		return v <= 1
	case s.kind == decode.Char:
		return v <= math.MaxUint16
	case s.kind != decode.Int:
		return true
	case s.bits == 32:
		return int64(v) == int64(int32(v))
	case s.bits == 16:
		return v == uint64(uint32(int16(v)))
	case s.bits == 8:
		return v == uint64(uint32(int8(v)))
	}
	return true
}

func (s *scalarType) text() string {
	switch s.kind {
	case decode.Bool:
		return "a boolean"
	case decode.Char:
		return "a char"
	}
	return fmt.Sprintf("a number of at most %d bits", s.bits)
}

// checkText fails if bytes cannot be a text of the writer, which encodes half surrogate pairs like other characters.
func (r *Reader) checkText(raw []byte) {
	if !r.entered || !r.OK() || utf8.Valid(raw) {
		return
	}
	for i := 0; i < len(raw); {
		c, n := utf8.DecodeRune(raw[i:])
		if c == utf8.RuneError && n == 1 {
			if b := raw[i:]; len(b) < 3 || b[0] != 0xed || b[1]&0xc0 != 0x80 || b[2]&0xc0 != 0x80 {
				r.misfits(r.Off-len(raw)+i, "a text", "bytes that are not UTF-8")
				return
			}
			n = 3
		}
		i += n
	}
}

// checkDecimal fails if bytes cannot be the text of a BigDecimal.
func (r *Reader) checkDecimal(raw []byte) {
	if !r.entered || !r.OK() {
		return
	}
	digits := 0
	for i, c := range raw {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case (c == '-' || c == '+') && (i == 0 || raw[i-1] == 'E'), c == '.', c == 'E' && digits > 0:
		default:
			digits = 0
			r.misfits(r.Off-len(raw)+i, "a decimal number", "another text")
			return
		}
	}
	if digits == 0 {
		r.misfits(r.Off-len(raw), "a decimal number", "another text")
	}
}
