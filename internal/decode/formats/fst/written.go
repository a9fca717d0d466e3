package fst

import (
	"bytes"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
	"dubbo-wire/internal/decode/steps"
)

// written takes what a method of a class wrote; s is its section, nil for writeExternal.
func (r *Reader) written(cl *class, method string, all []steps.Step, s *section) {
	by := cl.name
	if s != nil {
		by = s.class
	}
	if all == nil {
		r.incomplete = true
		r.Fail(decode.Unsupported, "what "+method+" of class "+by+" wrote", decode.EndsByCode)
		return
	}
	w := writer{r: r, cl: cl, s: s, form: cl.plan.form}
	w.run(all)
	w.values.End(&r.Recorder)
	if !r.OK() {
		r.stop(cl, nil)
	}
}

// writer follows the steps of one method.
type writer struct {
	r      *Reader
	cl     *class
	s      *section
	form   form
	values decode.Written
}

func (w *writer) run(all []steps.Step) {
	r := w.r
	for i := range all {
		if !r.OK() {
			return
		}
		switch st := &all[i]; st.Op {
		case steps.OwnFields:
			w.fields()
		case steps.PutFields:
			w.put()
		case steps.CountedLoop:
			n := w.count("the number of elements")
			if w.collection() {
				r.Role("length")
			} else {
				r.Integer(w.place(""), int64(n))
			}
			w.repeat(n, st.Body)
		case steps.SomeBytes:
			n := w.count("the number of bytes")
			r.Role("length")
			p := w.place(st.Field)
			raw := r.Bytes(n, "bytes")
			r.FillRaw(r.Scalar(p, decode.Bytes), raw)
		case steps.SizedLoop:
			w.repeat(r.sizeField, st.Body)
		case steps.LoopUntilNull:
			w.untilNull(st.Body)
		case steps.MarkedObject, steps.PlainObject:
			if w.collection() {
				r.Hidden("comparator", func() { w.object(st.Op, r.At(decode.ByRole, "", 0)) })
			} else {
				w.object(st.Op, w.place(st.Field))
			}
		default:
			w.scalar(st)
		}
	}
}

// collection reports whether the object is shown as a list or a map.
func (w *writer) collection() bool { return w.form == ofElements || w.form == ofEntries }

// place returns the place of a value.
func (w *writer) place(field string) decode.Place { return w.values.Place(&w.r.Recorder, field) }

// fields takes the fields that defaultWriteObject writes. Those of a JDK collection are its inner affairs.
func (w *writer) fields() {
	r := w.r
	if !r.d.one {
		r.expectClass(sectionDefault, "the fields of class "+w.s.class)
		r.Role("type")
	}
	if w.collection() {
		r.Hidden("length", func() { r.fields(w.cl, w.s.fields) })
	} else {
		r.fields(w.cl, w.s.fields)
	}
}

// put takes what writeFields writes: a map without tag and class.
func (w *writer) put() {
	r := w.r
	if w.s.asymmetric {
		w.fields()
		return
	}
	if !r.d.one {
		r.expectClass(sectionPut, "the fields of class "+w.s.class)
	}
	outer := r.predicted
	r.predicted = prediction{set: true, one: hashMap}
	r.expectClass(1, "a HashMap")
	n := r.count("the number of fields", 2)
	r.Role("length")
	for ; n > 0 && r.OK(); n-- {
		at := r.Off
		name := r.fieldName()
		if !decode.CanBeName(name) && r.OK() {
			r.FailAt(at, decode.Malformed, "the name of a field", "a text that no field has as its name")
		}
		r.Role("field")
		r.object(r.At(decode.ByField, name, 0))
	}
	r.predicted = outer
}

// fieldName takes the name of a field: a text or a handle to one.
func (r *Reader) fieldName() string {
	x := r.fieldText()
	if x.wide {
		return x.decode()
	}
	return r.Name(x.raw)
}

func (r *Reader) fieldText() text {
	at := r.Off
	if r.atText() {
		r.note(at, stringClass)
		return r.text()
	}
	if r.Byte("the name of a field") == tagHandle {
		off := int(r.int32("a handle"))
		if r.OK() && off >= 0 && off < at {
			if x, ok := r.writtenAt(off, at); ok {
				return x
			}
		}
	}
	if r.OK() {
		r.FailAt(at, decode.Malformed, "the name of a field", decode.HexByte(r.Buf[at]))
	}
	return text{}
}

// repeat takes the body of a loop n times.
func (w *writer) repeat(n int, body []steps.Step) {
	r := w.r
	for i := 0; i < n && r.OK(); i++ {
		switch {
		case w.form == ofElements && len(body) == 1:
			w.object(body[0].Op, r.At(decode.ByIndex, "", i))
		case w.form == ofEntries && len(body) == 2:
			w.entry(body[0].Op, i)
		default:
			r.work += workPerObject
			w.run(body)
		}
	}
}

func (w *writer) entry(op byte, i int) {
	r := w.r
	key := r.NextNode()
	w.object(op, r.At(decode.ByKey, "", i))
	w.object(op, r.At(decode.ByEntry, r.NameKey(key), i))
}

// nullElement is a mark and null.
var nullElement = []byte{sectionTagged, tagNull}

// untilNull takes objects until one is null.
func (w *writer) untilNull(body []steps.Step) {
	r := w.r
	end := nullElement
	if r.d.one {
		end = nullElement[1:]
	}
	for i := 0; r.OK(); i++ {
		if bytes.HasPrefix(r.Buf[r.Off:], end) {
			r.Skip(len(end), "the end of the elements")
			r.Role("end")
			return
		}
		if w.form == ofEntries {
			w.entry(steps.MarkedObject, i)
		} else {
			w.object(steps.MarkedObject, r.At(decode.ByIndex, "", i))
		}
	}
}

// object takes an object, with its mark in front in emulation.
func (w *writer) object(op byte, p decode.Place) {
	r := w.r
	if op == steps.MarkedObject && !r.d.one {
		r.expectClass(sectionTagged, "an object that class "+w.cl.name+" wrote")
		p.Start, p.Head = r.Off, r.Off
	}
	if op != steps.PlainObject || !r.d.one {
		r.object(p)
		return
	}
	outer := r.predicted
	r.predicted = prediction{}
	r.object(p)
	r.predicted, r.flushed = outer, r.Off
}

// The forms of numbers and texts that FST 1 writes: in a writeObject they have a fixed size, in a writeExternal the form of
// java.io.DataOutput.

// number takes n bytes.
func (w *writer) number(n int, what string) uint64 {
	r := w.r
	if w.s != nil && n != 2 {
		return r.Little(n, what)
	}
	switch n {
	case 2:
		return uint64(r.U16(what))
	case 4:
		return uint64(r.U32(what))
	}
	return r.U64(what)
}

// count takes a number of elements.
func (w *writer) count(what string) int {
	switch {
	case !w.r.d.one:
		return w.r.count(what, 1)
	case w.s != nil:
		return w.r.writtenCount(what, 1)
	}
	return w.r.counted(int32(w.r.U32(what)), what, 1)
}

// fixed takes a value of FST 1 that is not an object.
func (w *writer) fixed(op byte, p decode.Place) {
	switch r := w.r; op {
	case steps.AnInt:
		r.Integer(p, int64(int32(w.number(4, "an int"))))
	case steps.ALong:
		r.Integer(p, int64(w.number(8, "a long")))
	case steps.AShort:
		r.Integer(p, int64(int16(w.number(2, "a short"))))
	case steps.AChar:
		u := rune(0)
		if w.s != nil {
			u = rune(r.Little(2, "a char"))
		} else {
			u = rune(r.U16("a char"))
		}
		r.Words(p, decode.Char, func() string { return string(u) })
	case steps.AFloat:
		r.Real(p, decode.Float32, float64(math.Float32frombits(uint32(w.number(4, "a float")))))
	case steps.ADouble:
		r.Real(p, decode.Float64, math.Float64frombits(w.number(8, "a double")))
	case steps.AText:
		if w.s != nil {
			x := r.text()
			r.Words(p, decode.String, x.decode)
			return
		}
		raw := r.utf()
		r.Words(p, decode.String, func() string { return jdk.UTF(raw) })
	}
}

// scalar takes a value that is not an object.
func (w *writer) scalar(st *steps.Step) {
	r, op := w.r, st.Op
	if w.collection() { // capacities and load factors
		switch op {
		case steps.AnInt:
			r.writtenInt("a capacity")
		case steps.AFloat:
			r.Skip(4, "a load factor")
		}
		r.Role("length")
		return
	}
	p := w.place(st.Field)
	if r.d.one && op != steps.AByte && op != steps.ABoolean {
		w.fixed(op, p)
		return
	}
	switch op {
	case steps.AnInt:
		r.Integer(p, int64(r.int32("an int")))
	case steps.ALong:
		r.Integer(p, r.int64("a long"))
	case steps.AByte:
		r.primitive(bytes1, p)
	case steps.ABoolean:
		b := r.Byte("a boolean")
		if b > 1 && r.OK() {
			r.FailAt(p.Start, decode.Malformed, "a boolean", decode.HexByte(b))
		}
		r.Boolean(p, b != 0)
	case steps.AShort:
		r.primitive(short2, p)
	case steps.AChar:
		r.primitive(char2, p)
	case steps.AFloat:
		r.primitive(float4, p)
	case steps.ADouble:
		r.primitive(double8, p)
	case steps.AText:
		x := r.text()
		r.Words(p, decode.String, x.decode)
	}
}

// expectClass takes a byte that must stand here if the class is the one that was written.
func (r *Reader) expectClass(want byte, what string) {
	if b := r.Byte(what); b != want && r.OK() {
		r.FailAt(r.Off-1, decode.Malformed, fmt.Sprintf("%s (%s)", what, decode.HexByte(want)), decode.HexByte(b))
	}
}
