package fst

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
)

// planned takes the data of an object of a class of the class path.
func (r *Reader) planned(cl *class, p decode.Place) {
	if r.distrusted != nil && p.Throwable {
		r.exception(cl, p)
		return
	}
	if r.distrusted != nil {
		r.Begin(p, decode.Object, cl.name)
		r.FailWith(r.distrusted)
		return
	}
	pl := cl.plan
	r.use(cl)
	switch pl.form {
	case ofElements:
		r.container(p, decode.List, cl, func() { r.sections(cl) })
	case ofEntries:
		r.container(p, decode.Map, cl, func() { r.sections(cl) })
	case external:
		r.container(p, decode.Object, cl, func() { r.written(cl, "writeExternal", pl.written, nil) })
	case notKnown:
		r.Begin(p, decode.Object, cl.name)
		r.incomplete = true
		r.ask(pl.missing)
		r.FailClass("the fields of class", pl.missing)
	case constant, abstract:
		r.Begin(p, decode.Object, cl.name)
		r.Fail(decode.Malformed, "an object of a class that can have some", cl.name)
	default:
		i := r.Begin(p, decode.Object, cl.name)
		r.Content(func() {
			if pl.emulated {
				r.sections(cl)
			} else {
				r.fields(cl, pl.fields)
			}
		})
		if pl.wraps != "" {
			r.showWrapped(i, pl.wraps, pl.wrapsKeys)
		}
	}
}

// vectorElements is the field of java.util.Vector with its elements, and vectorCount the one with their number.
const (
	vectorElements = "elementData"
	vectorCount    = "elementCount"
)

// showWrapped shows node i as the collection or map in its field of that name, or as the list of that map's keys.
func (r *Reader) showWrapped(i int, name string, keys bool) {
	if name == vectorElements {
		r.NeedTree() // values become overhead
	}
	wrapped := r.ShowWrapped(i, name, keys)
	if wrapped < 0 || name != vectorElements {
		return
	}
	count := int64(-1)
	for c := i + 1; c < int(r.Tree.Nodes[i].End); c = int(r.Tree.Nodes[c].End) {
		if f := &r.Tree.Nodes[c]; f.Label == decode.ByField && f.Name == vectorCount && f.Kind == decode.Int {
			count = f.Num
		}
	}
	if count < 0 {
		return
	}
	for c := wrapped + 1; c < int(r.Tree.Nodes[wrapped].End); c = int(r.Tree.Nodes[c].End) {
		if f := &r.Tree.Nodes[c]; f.Kind == decode.Null && int64(f.Index) >= count { // room for more elements
			f.Kind, f.Label, f.Name = decode.Overhead, decode.ByRole, "length"
		}
	}
}

// fields takes fields in their order, and the end after them.
func (r *Reader) fields(cl *class, fields []field) {
	if r.mayCount() {
		r.countFields(cl, fields)
		r.endTally()
		return
	}
	version := byte(0)
	for i := 0; r.OK(); {
		for i < len(fields) && fields[i].version == version && r.OK() {
			if fields[i].kind == booleanField {
				i = r.booleans(cl, fields, i)
				continue
			}
			if r.field(&fields[i]); !r.OK() {
				r.stop(cl, &fields[i])
				return
			}
			i++
		}
		want := byte(fieldsEnd)
		if r.d.one {
			return
		}
		if i < len(fields) {
			want = fields[i].version
		}
		r.endOfFields(cl, want)
		if version = want; version == fieldsEnd {
			return
		}
	}
}

// endOfFields takes the byte after the fields of a version.
func (r *Reader) endOfFields(cl *class, want byte) {
	if b := r.Byte("the end of the fields"); b != want && r.OK() {
		r.FailAt(r.Off-1, decode.Malformed, "the end of the fields of class "+cl.name, decode.HexByte(b))
	}
	r.Role("end")
	if !r.OK() {
		r.stop(cl, nil)
	}
}

// field takes a field that is not a boolean.
func (r *Reader) field(f *field) {
	if f.kind == reference {
		r.referenceField(f)
	} else {
		r.primitiveField(f)
	}
}

// booleans takes the booleans of a version from number i on, eight in a byte, and returns the number of the field after them.
func (r *Reader) booleans(cl *class, fields []field, i int) int {
	end := i
	for end < len(fields) && fields[end].kind == booleanField && fields[end].version == fields[i].version {
		end++
	}
	for i < end && r.OK() {
		n := min(end-i, 8)
		b := r.Byte("booleans")
		if b&(0xff>>n) != 0 && r.OK() {
			r.FailAt(r.Off-1, decode.Malformed, fmt.Sprintf("%d booleans", n), decode.HexByte(b))
		}
		for ; n > 0; n-- {
			r.Boolean(r.At(decode.ByField, fields[i].name, 0), b&0x80 != 0)
			b <<= 1
			if !r.OK() {
				r.stop(cl, &fields[i])
			}
			i++
		}
	}
	return end
}

func (r *Reader) primitiveField(f *field) {
	p := r.At(decode.ByField, f.name, 0)
	switch f.kind {
	case byteField:
		r.primitive(bytes1, p)
	case charField:
		r.primitive(char2, p)
	case shortField:
		r.primitive(short2, p)
	case intField:
		v := r.int32("an int")
		if f.own == "size" {
			r.sizeField = int(v)
		}
		r.Integer(p, int64(v))
	case longField:
		v := r.int64("a long")
		r.Integer(p, v)
	case floatField:
		r.primitive(float4, p)
	case doubleField:
		r.primitive(double8, p)
	}
}

// referenceField takes a field that refers to an object. A conditional one has the offset of its end in front.
func (r *Reader) referenceField(f *field) {
	end := -1
	flushed := r.flushed
	if f.conditional {
		at := r.Off
		if r.d.one {
			end = flushed + int(int32(r.U32("the end of a field")))
		} else {
			end = int(int32(r.Little(4, "the end of a field")))
		}
		r.Role("length")
		if r.skipped && r.d.one {
			end = -1
		} else if r.OK() && (end < r.Off || end > len(r.Buf)) {
			r.FailAt(at, decode.Malformed, "the end of a field in the body", fmt.Sprint(end))
		}
	}
	p := r.At(decode.ByField, f.name, 0)
	p.Throwable = f.throwable
	r.value(p, f)
	if end >= 0 && r.OK() && r.Off != end && r.flushed == flushed {
		r.Fail(decode.Malformed, fmt.Sprintf("the end of a field at %d", end), fmt.Sprint(r.Off))
	}
}

// sections takes the sections of an object that is written as ObjectOutputStream would.
func (r *Reader) sections(cl *class) {
	for i := range cl.plan.sections {
		s := &cl.plan.sections[i]
		mark := byte(sectionFields)
		if s.custom {
			mark = sectionOwn
		}
		if !r.d.one {
			if b := r.Byte("a section"); b != mark && r.OK() {
				r.FailAt(r.Off-1, decode.Malformed, "the section of class "+s.class, decode.HexByte(b))
			}
			r.Role("type")
		}
		if s.custom {
			r.written(cl, "writeObject", s.steps, s)
		} else {
			r.fields(cl, s.fields)
		}
		if !r.OK() {
			r.stop(cl, nil)
			return
		}
	}
	// In Dubbo 3 the exceptions of com.alibaba.dubbo extend those of org.apache.dubbo, which have their fields.
	if b := r.Buf[r.Off:]; !r.d.one && len(b) > 1 && b[0] == sectionFields && b[1] == fieldsEnd && strings.HasPrefix(cl.name, "com.alibaba.dubbo.") {
		r.emptySection()
		r.Role("type")
	}
}

// stop notes where in the application's classes reading stopped: in the innermost field.
func (r *Reader) stop(cl *class, f *field) {
	if r.stoppedIn == nil {
		r.stoppedIn, r.stoppedAt = cl, f
	}
}
