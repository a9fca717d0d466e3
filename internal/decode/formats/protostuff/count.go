package protostuff

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// tally is what countFields has counted since the recorder was told: nodes, and the bytes of overhead among theirs.
type tally struct{ nodes, overhead int }

// countFields is fields without a tree: most values are only checked and counted.
func (r *Reader) countFields(s *schema, m nested) {
	r.use(s)
	fields, simple := s.fields, s.simple
	if r.variation != nil && r.variation.Class == s.name {
		fields = r.vary(s)
		simple = r.variedSimple
	}
	i := 0
	for {
		i = r.countSimple(fields, simple, i, m.outer == nil)
		off := r.Off
		var n uint64
		var w byte
		var more bool
		if r.OK() && off < len(r.Buf) && r.Buf[off] < 0x80 { // mostly
			r.Off++
			n, w = uint64(r.Buf[off]>>3), r.Buf[off]&7
			more = m.outer != nil || tagOf(n, w) != tagOf(m.field, endGroup)
		} else {
			n, w, more = r.next(m)
		}
		if !more {
			if end := r.Off - off; end > 0 {
				r.tally.nodes++
				r.tally.overhead += end
			}
			break
		}
		for i < len(fields) && fields[i].number < n && !fields[i].always {
			i++
			r.tally.nodes++
		}
		if i == len(fields) || fields[i].number != n {
			r.misplaced(s, fields, i, n, off)
			return
		}
		f := &fields[i]
		i++
		if !r.countField(s, f, m, n, w, off) {
			if !r.stopped {
				r.within, r.stopped = place{s, f}, true
			}
			return
		}
	}
	for ; i < len(fields); i++ {
		if fields[i].always {
			r.misplaced(s, fields, i, math.MaxUint64, r.Off)
			return
		}
		r.tally.nodes++
	}
}

// simple says which bytes the values of a field, or its elements, are: nearly all fields of most classes have one of these.
type simple struct {
	form   form
	tag    byte  // of a field up to number 15 that has a form, else 0
	number uint8 // of the field, math.MaxUint8 for larger ones
	size   uint8 // of a fixed number; bytes that any number of the type may have, of those that are counted here
	always bool
}

type form uint8

const (
	otherForm form = iota
	textForm
	fixedForm
	numberForm
	boolForm
	ordinalForm // of an enum

	repeated form = 1 << 7 // it is there once for each element of a collection
)

// appendSimple appends what is known of the values of fields.
func appendSimple(to []simple, fields []field) []simple {
	for i := range fields {
		to = append(to, fields[i].simple())
	}
	return to
}

// simple finds out whether the values of the field are simple.
func (f *field) simple() simple {
	x := simple{number: uint8(min(f.number, math.MaxUint8)), always: f.always}
	wire := byte(varintWire)
	switch id := f.shape.id; {
	case f.number > 15:
	case f.shape.kind == enumKind:
		x.form = ordinalForm
	case f.shape.kind != scalarKind:
	case id == idString:
		x.form, wire = textForm, delimited
	case id == idBool:
		x.form = boolForm
	case id == idFloat:
		x.form, x.size, wire = fixedForm, 4, fixed32Wire
	case id == idDouble || id == idDate:
		x.form, x.size, wire = fixedForm, 8, fixed64Wire
	case id < idFloat:
		x.form, x.size = numberForm, min(8, anyNumber[id])
	}
	if x.form != otherForm {
		x.tag = byte(tagOf(f.number, wire))
	}
	if f.repeated {
		x.form |= repeated
	}
	return x
}

// countSimple takes the next fields from number i on as long as they are usual ones with simple values, and returns how many fields of the
// class are passed then. group says whether the object ends with a tag.
func (r *Reader) countSimple(fields []field, simple []simple, i int, group bool) int {
	if !r.OK() {
		return i
	}
	b, at, nodes := r.Buf, r.Off, -i
fields:
	for i < len(simple) && at < len(b)-1 {
		x := &simple[i]
		if tag := b[at]; x.tag != tag {
			if x.always || tag >= 0x80 || x.number >= tag>>3 {
				break
			}
			i++ // it is not there
			continue
		}
		switch x.form {
		case numberForm:
			n := decode.VarintSize(b, at+1)
			if n > int(x.size) {
				break fields
			}
			at += 1 + n
		case textForm:
			next := afterText(b, at+1)
			if next < 0 {
				break fields
			}
			at = next
		case fixedForm:
			if int(x.size) >= len(b)-at {
				break fields
			}
			at += 1 + int(x.size)
		case boolForm:
			if b[at+1] > 1 {
				break fields
			}
			at += 2
		case ordinalForm:
			if !fields[i].shape.isOrdinal(b[at+1]) {
				break fields
			}
			at += 2
		default:
			next, values := countRepeated(&fields[i], x, b, at, group)
			if next < 0 {
				break fields
			}
			at = next
			nodes += values
		}
		i++
	}
	r.Off = at
	r.tally.nodes += nodes + i
	return i
}

// afterText returns the offset after the text of less than 16 KB whose length is at an offset of b, -1 for anything else.
func afterText(b []byte, at int) int {
	size := int(b[at])
	if at++; size >= 0x80 {
		if at == len(b) || b[at] >= 0x80 {
			return -1
		}
		size = size&0x7f | int(b[at])<<7
		at++
	}
	if size > len(b)-at {
		return -1
	}
	if text := b[at : at+size]; !decode.IsASCII(text) && !utf8.Valid(text) {
		return -1
	}
	return at + size
}

// isOrdinal reports whether a byte is the number of a constant of the enum, which are numbered in their order.
func (x *shape) isOrdinal(c byte) bool {
	of := x.of.built()
	return c < 0x80 && int(c) < len(of.ordinals) && of.untagged
}

// countRepeated takes the elements of a collection, a field each, from offset at on. It returns the offset after them and how many there
// are, -1 if one is not usual.
func countRepeated(f *field, x *simple, b []byte, at int, group bool) (next, values int) {
	tag := b[at]
	for at < len(b)-1 {
		switch at++; x.form {
		case repeated | numberForm:
			n := decode.VarintSize(b, at)
			if n > int(x.size) {
				return -1, 0
			}
			at += n
		case repeated | textForm:
			if at = afterText(b, at); at < 0 {
				return -1, 0
			}
		case repeated | fixedForm:
			if at += int(x.size); at > len(b) {
				return -1, 0
			}
		case repeated | boolForm:
			if b[at] > 1 {
				return -1, 0
			}
			at++
		case repeated | ordinalForm:
			if !f.shape.isOrdinal(b[at]) {
				return -1, 0
			}
			at++
		default:
			return -1, 0
		}
		values++
		if at < len(b) && b[at] == tag {
			continue
		}
		if at < len(b) && (b[at] >= 0x80 || b[at]>>3 == tag>>3 && !(group && b[at]&7 == endGroup)) {
			break
		}
		return at, values
	}
	return -1, 0
}

// sameClass says how elements of the class that the last one of a list had begin, in the current value.
type sameClass struct {
	class  string  // empty: no such element was read
	schema *schema // nil: they are not read
	head   []byte
}

// expectMore notes the class of an object that is being read, whose messages are m, if countElements can take objects of the class.
func (r *Reader) expectMore(s *schema, class string, m nested) {
	if !r.OK() || class == r.more.class || s != nil && !s.plain || m.field != 1 || m.outer != nil || len(class) >= 0x80 || r.isTimePart(class) || class == "java.util.UUID" {
		return
	}
	pojo := tagOf(idPojo, delimited)
	head := append(r.more.head[:0], byte(tagOf(1, startGroup)), byte(pojo)|0x80, byte(pojo>>7), byte(len(class)))
	r.more = sameClass{class, s, append(head, class...)}
}

// countElements takes the next elements of a list as long as they begin like the last one, and returns how many there are. It does nothing
// with a tree.
func (r *Reader) countElements() (n int) {
	s, head, name := r.more.schema, r.more.head, len(r.more.class)
	if name == 0 || !r.Counting() || r.form != startGroup || r.again || r.Hiding() || r.Pending() > 0 || r.Level() == decode.MaxDepth {
		return 0
	}
	outer := r.within
	r.tally = tally{}
	for ; r.OK() && r.Off < len(r.Buf) && bytes.HasPrefix(r.Buf[r.Off:], head); n++ {
		r.Off++
		r.number()
		r.Off += len(head) - 1
		r.tally.nodes += 3 // the object, its tags and its class
		r.tally.overhead += len(head) - name
		r.Recount(decode.ClassNames, name)
		if s == nil {
			r.flush(r.Off)
			r.opaqueRest(nested{field: 1})
			continue
		}
		r.Enter()
		r.countFields(s, nested{field: 1})
		r.Leave()
	}
	r.flush(r.Off)
	r.settled(outer)
	return n
}

// misplaced fails at field n, which is not that after field i or one that may be absent; math.MaxUint64 is the end of the message.
func (r *Reader) misplaced(s *schema, fields []field, i int, n uint64, off int) {
	within := place{of: s}
	if i < len(fields) && fields[i].always && fields[i].number < n {
		within.field = &fields[i]
		r.missingField(s, &fields[i], off)
	} else {
		r.misfits(off, s.numbersText()+" of class "+decode.JavaName(s.name), fmt.Sprintf("field %d", n))
	}
	if !r.stopped {
		r.within, r.stopped = within, true
	}
}

// countField takes a field, with all elements of a collection, after its first tag, which is at off. It reports whether nothing failed.
func (r *Reader) countField(of *schema, f *field, m nested, n uint64, w byte, off int) bool {
	x := f.shape
	if f.repeated {
		r.tally.nodes++
	}
	for {
		switch {
		case x.kind == scalarKind && x.id == idString && w == delimited: // mostly
			r.checkText(r.delimited("a text"))
			r.tally.nodes++
		case x.kind == scalarKind:
			r.countScalar(x, w)
			r.tally.nodes++
		case x.kind == enumKind:
			r.wires(w, varintWire)
			r.ordinal(x.name, x.of.built())
			r.tally.nodes++
		case x.kind == pojoKind && w != reference && x.of.isPlain():
			s := x.of
			if r.distrust != nil || s.missing != "" || s.refused != "" || w != startGroup && w != delimited || !r.Enter() {
				r.other(of, f, n, w, off)
				break
			}
			if inner := r.start(n, w); r.OK() {
				r.tally.nodes += 2
				r.tally.overhead += r.Off - off
				r.countFields(s, inner)
			}
			r.Leave()
		case w == reference:
			k := r.objectNumber()
			if r.OK() && r.seen[k].node == noNode {
				r.flush(off)
				r.refer(decode.Place{Label: decode.ByField, Name: f.name}, k)
				break
			}
			r.tally.nodes++
		default:
			r.other(of, f, n, w, off)
		}
		if !r.OK() || !f.repeated {
			return r.OK()
		}
		off = r.Off
		more := false
		if w, more = r.oneMore(m, n); !more {
			return true
		}
	}
}

// other takes a value that is not counted here.
func (r *Reader) other(of *schema, f *field, n uint64, w byte, off int) {
	r.flush(off)
	r.within = place{of, f}
	r.value(decode.Place{Label: decode.ByField, Name: f.name}, f.shape, n, w)
	r.stopped = !r.OK()
}

// flush tells the recorder what was counted of the bytes before off.
func (r *Reader) flush(off int) {
	if r.tally.nodes > 0 && r.OK() {
		at := r.Off
		r.Off = off
		r.Tally(r.tally.overhead, r.tally.nodes)
		r.Off = at
	}
	r.tally = tally{}
}

// countScalar takes a scalar whose type is declared.
func (r *Reader) countScalar(x *shape, w byte) {
	switch id := x.id; {
	case id <= idDouble:
		s := &primitive[id]
		switch {
		case s.wire != w:
			r.misfits(r.Off, typeNames[id], wireName(w))
		case w == fixed64Wire:
			r.Skip(8, "a number of 64 bits")
		case w == fixed32Wire:
			r.Skip(4, "a number of 32 bits")
		case !r.passNumber(int(anyNumber[id])):
			r.numeral(s, w)
		}
	case id == idDate && w == fixed64Wire:
		r.Skip(8, "a number of 64 bits")
	case id == idDate || w != delimited:
		r.misfits(r.Off, typeNames[id], wireName(w))
	default:
		raw := r.delimited("a text")
		switch id {
		case idString:
			r.checkText(raw)
		case idBigDecimal:
			r.checkDecimal(raw)
		case idBigInteger:
			if len(raw) > 4*maxWords {
				r.NeedTree()
			}
		}
	}
}

// anyNumber has, by id, how many bytes a number may have so that the type holds it, whatever it is.
var anyNumber = [...]uint8{idByte: 1, idChar: 2, idShort: 2, idInt: 4, idLong: 9, idFloat: 0, idDouble: 0}

// passNumber takes the next number if it has at most that many bytes.
func (r *Reader) passNumber(most int) bool {
	if !r.OK() {
		return false
	}
	b := r.Buf[r.Off:]
	for i := 0; i < len(b) && i < most; i++ {
		if b[i] < 0x80 {
			r.Off += i + 1
			return true
		}
	}
	return false
}

// isPlain reports whether objects are shown by their fields.
func (s *schema) isPlain() bool { return s.built().plain }
