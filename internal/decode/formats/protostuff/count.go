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
	fields := s.fields
	if r.variation != nil && r.variation.Class == s.name {
		fields = r.vary(s)
	}
	i := 0
	for {
		i = r.countSimple(fields, i, m.outer == nil)
		off := r.Off
		var n uint64
		var w byte
		more := true
		if r.OK() && off < len(r.Buf) && r.Buf[off] < 0x80 && (r.Buf[off]&7 != endGroup || m.outer != nil) { // mostly
			r.Off++
			n, w = uint64(r.Buf[off]>>3), r.Buf[off]&7
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
	tag  byte // of a field up to number 15, else 0
	form form
	size uint8 // of a fixed number; bytes that any number of the type may have
}

type form uint8

const (
	otherForm form = iota
	textForm
	fixedForm
	numberForm
	boolForm
	ordinalForm // of an enum
)

// simplify finds out whether the values of the field are simple.
func (f *field) simplify() {
	var x simple
	wire := byte(varintWire)
	switch id := f.shape.id; {
	case f.shape.kind == enumKind:
		x.form = ordinalForm
	case f.shape.kind != scalarKind || f.number > 15:
	case id == idString:
		x.form, wire = textForm, delimited
	case id == idBool:
		x.form = boolForm
	case id == idFloat:
		x.form, x.size, wire = fixedForm, 4, fixed32Wire
	case id == idDouble || id == idDate:
		x.form, x.size, wire = fixedForm, 8, fixed64Wire
	case id < idFloat:
		x.form, x.size = numberForm, anyNumber[id]
	}
	if x.form != otherForm && f.number <= 15 {
		x.tag = byte(tagOf(f.number, wire))
		f.simple = x
	}
}

// countSimple takes the next fields from number i on as long as they are usual ones with simple values, and returns how many fields of the
// class are passed then. group says whether the object ends with a tag.
func (r *Reader) countSimple(fields []field, i int, group bool) int {
	if !r.OK() {
		return i
	}
	b, at, nodes := r.Buf, r.Off, 0
fields:
	for at < len(b) {
		tag, k := b[at], i
		for k < len(fields) && fields[k].number < uint64(tag>>3) && !fields[k].always {
			k++
		}
		if k == len(fields) || tag == 0 || fields[k].simple.tag != tag {
			break
		}
		f := &fields[k]
		next, values := at+1, 0
		for {
			if next == len(b) {
				break fields
			}
			switch f.simple.form {
			case numberForm:
				last := min(next+int(f.simple.size), len(b))
				for next < last && b[next] >= 0x80 {
					next++
				}
				if next == last {
					break fields
				}
				next++
			case textForm:
				size := int(b[next])
				if next++; size >= 0x80 {
					if next == len(b) || b[next] >= 0x80 {
						break fields
					}
					size = size&0x7f | int(b[next])<<7
					next++
				}
				if size > len(b)-next {
					break fields
				}
				if text := b[next : next+size]; !decode.IsASCII(text) && !utf8.Valid(text) {
					break fields
				}
				next += size
			case fixedForm:
				if next += int(f.simple.size); next > len(b) {
					break fields
				}
			case boolForm:
				if b[next] > 1 {
					break fields
				}
				next++
			default:
				if of := f.shape.of.built(); b[next] >= 0x80 || int(b[next]) >= len(of.ordinals) || !of.untagged {
					break fields
				}
				next++
			}
			values++
			if !f.repeated {
				break
			}
			if next == len(b) || b[next]>>3 != tag>>3 && b[next] < 0x80 || group && b[next]&7 == endGroup && b[next] < 0x80 {
				values++ // the list
				break
			}
			if b[next] != tag {
				break fields
			}
			next++
		}
		nodes += k - i + values
		i, at = k+1, next
	}
	r.Off = at
	r.tally.nodes += nodes
	return i
}

// sameClass says how elements of the class that the last one of a list had begin, in the current value.
type sameClass struct {
	schema *schema // nil: no such element was read
	name   int     // length of the name of the class
	head   []byte
}

// expectMore notes the class of an object that is being read, whose messages are m, if countElements can take objects of the class.
func (r *Reader) expectMore(s *schema, class string, m nested) {
	if s == nil || s == r.more.schema || !s.plain || m.field != 1 || m.outer != nil || len(class) >= 0x80 || r.isTimePart(class) || class == "java.util.UUID" {
		return
	}
	pojo := tagOf(idPojo, delimited)
	head := append(r.more.head[:0], byte(tagOf(1, startGroup)), byte(pojo)|0x80, byte(pojo>>7), byte(len(class)))
	r.more = sameClass{s, len(class), append(head, class...)}
}

// countElements takes the next elements of a list as long as they begin like the last one, and returns how many there are. It does nothing
// with a tree.
func (r *Reader) countElements() (n int) {
	s, head := r.more.schema, r.more.head
	if s == nil || !r.Counting() || r.form != startGroup || r.again || r.Hiding() || r.Pending() > 0 || r.Level() == decode.MaxDepth {
		return 0
	}
	outer := r.within
	r.tally = tally{}
	for ; r.OK() && r.Off < len(r.Buf) && bytes.HasPrefix(r.Buf[r.Off:], head); n++ {
		r.Off++
		r.number()
		r.Off += len(head) - 1
		r.tally.nodes += 3 // the object, its tags and its class
		r.tally.overhead += len(head) - r.more.name
		r.Recount(decode.ClassNames, r.more.name)
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
