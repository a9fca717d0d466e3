package fury

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/steps"
)

// sections takes an object that ObjectStreamSerializer wrote: the number of its classes, and a section for each. The writer's version of
// the class may have other superclasses.
func (r *Reader) sections(cl *class, plan *plan) {
	at := r.Off
	n := int(r.Little(2, "a number of classes"))
	if n > maxSections && r.OK() && len(plan.sections) > 0 {
		// When Fury prepares for a subclass, it takes what it makes of the fields of this class for all of its serializer.
		r.Off = at
		s := plan.sections[len(plan.sections)-1]
		s.custom = false
		r.section(cl, &s)
		return
	}
	r.Role("type")
	known := plan.sections
	for i := 0; i < n && r.OK(); i++ {
		off := r.Off
		c := r.classByName(&decode.Place{})
		r.Role("class")
		if !r.OK() {
			return
		}
		k := slices.IndexFunc(known, func(s section) bool { return s.class.name == c.name })
		if k >= 0 {
			r.section(cl, &known[k])
			known = known[k+1:]
			continue
		}
		s := r.otherSection(c)
		if s == nil {
			r.FailAt(off, decode.Malformed, "a superclass of "+cl.name, "class "+c.name)
			return
		}
		r.section(cl, s)
	}
	if len(known) > 0 && r.OK() && known[len(known)-1].class == cl {
		r.Fail(decode.Malformed, "the fields of class "+cl.name, "the end of its superclasses")
	}
}

// copiesList is the class of a list of n times the same element.
const copiesList = "java.util.Collections$CopiesList"

// copies takes such a list, with its number of classes, its class, and its fields n and element. It returns false, and has taken nothing, if
// the list is too long to be written out.
func (r *Reader) copies(p decode.Place) bool {
	start := r.Mark()
	q := p
	tags := [2]bool{}
	r.Little(2, "a number of classes")
	r.classByName(&decode.Place{})
	tags[0] = nameOf(r.tag()) == "n"
	n := r.Varint9("the number of elements")
	tags[1] = r.tag()&3 == tagObject
	n = n>>1 ^ -(n & 1)
	if !r.OK() || !tags[0] || !tags[1] || n == 0 || n > uint64(decode.MaxRepeated-r.repeated) {
		if r.OK() {
			r.Rewind(start)
		}
		return !r.OK()
	}
	r.container(q, decode.List, copiesList, func() {
		first := r.NextNode()
		r.taggedValue(nil, tagObject, r.At(decode.ByIndex, "", 0))
		r.repeated += int(n) - 1
		r.Repeat(first, int(n), r.mayCopy)
		if r.OK() && r.tag() != tagEnd {
			r.Fail(decode.Malformed, "the end of the fields", "another field")
		}
		r.Role("end")
	})
	return true
}

// mayCopy reports whether a text of that many bytes may be shown again.
func (r *Reader) mayCopy(bytes int) bool {
	r.copied += bytes
	return r.copied <= maxCopied*len(r.Buf)
}

// maxSections is more than the classes that an object has.
const maxSections = 64

// otherSection returns the section of a class that the class path does not have among the superclasses of an object, nil if it is not known.
// In Dubbo 3 the exceptions of com.alibaba.dubbo extend those of org.apache.dubbo.
func (r *Reader) otherSection(c *class) *section {
	if c.model == nil {
		return nil
	}
	if c.model.file == nil && strings.HasPrefix(c.name, "org.apache.dubbo.") {
		return &section{class: c}
	}
	if c.layout == streamed {
		if all := c.fieldsOf().sections; len(all) > 0 {
			return &all[len(all)-1]
		}
	}
	return nil
}

func (r *Reader) section(cl *class, s *section) {
	switch {
	case s.custom:
		r.steps(cl, "writeObject", s.steps, s)
	case cl.model.form != ofFields:
		r.hiddenFields(s)
	default:
		r.fieldsByTag(s.fields, s.class)
	}
}

// slots takes what the classes between an object and a class of the JDK write.
func (r *Reader) slots(cl *class) {
	if cl.model == nil {
		return
	}
	for i := range cl.fieldsOf().sections {
		s := &cl.fieldsOf().sections[i]
		if len(s.fields) == 0 && !r.library.tags {
			continue
		}
		r.Hidden("fields", func() { r.fields(s.fields, s.class) })
	}
}

// hiddenFields takes fields of a collection, which are its inner affairs.
func (r *Reader) hiddenFields(s *section) {
	r.Hidden("length", func() { r.fieldsByTag(s.fields, s.class) })
}

// steps takes what a method of a class wrote; s is its section, nil for writeExternal.
func (r *Reader) steps(cl *class, method string, all []steps.Step, s *section) {
	by := cl.name
	if s != nil {
		by = s.class.name
	}
	if all == nil {
		r.incomplete = true
		r.Fail(decode.Unsupported, "what "+method+" of class "+by+" wrote", decode.EndsByCode)
		return
	}
	w := stepReader{r: r, cl: cl, s: s}
	w.run(all)
	w.values.End(&r.Recorder)
}

// stepReader follows the steps of one method.
type stepReader struct {
	r      *Reader
	cl     *class
	s      *section
	values decode.Written
}

func (w *stepReader) run(all []steps.Step) {
	r := w.r
	for i := range all {
		if !r.OK() {
			return
		}
		switch st := &all[i]; st.Op {
		case steps.OwnFields:
			w.fields(w.s.fields)
		case steps.PutFields:
			if w.s.listed != nil {
				w.fields(w.s.listed)
			} else {
				w.fields(w.s.fields)
			}
		case steps.CountedLoop:
			n := r.fits64(uint64(uint32(w.int("the number of elements"))))
			if w.collection() {
				r.Role("length")
			} else {
				r.Integer(w.place(""), int64(n))
			}
			w.repeat(n, st.Body)
		case steps.SomeBytes:
			n := r.fits64(uint64(uint32(w.int("the number of bytes"))))
			r.Role("length")
			p := w.place(st.Field)
			raw := r.Bytes(n, "bytes")
			r.FillRaw(r.Scalar(p, decode.Bytes), raw)
		case steps.SizedLoop:
			w.repeat(r.fits64(uint64(uint32(r.sized))), st.Body)
		case steps.LoopUntilNull:
			w.untilNull()
		case steps.MarkedObject, steps.PlainObject:
			if w.collection() {
				r.Hidden("comparator", func() { r.flagged(r.At(decode.ByRole, "", 0)) })
			} else {
				r.flagged(w.place(st.Field))
			}
		default:
			w.scalar(st)
		}
	}
}

// collection reports whether the object is shown as a list or a map.
func (w *stepReader) collection() bool { return w.cl.model.form != ofFields }

// place returns the place of a value.
func (w *stepReader) place(field string) decode.Place { return w.values.Place(&w.r.Recorder, field) }

// fields takes the fields of the class, which have tags in each mode.
func (w *stepReader) fields(fields []field) {
	if w.collection() {
		w.r.Hidden("length", func() { w.r.fieldsByTag(fields, w.s.class) })
	} else {
		w.r.fieldsByTag(fields, w.s.class)
	}
}

// repeat takes the body of a loop n times.
func (w *stepReader) repeat(n int, body []steps.Step) {
	r := w.r
	for i := 0; i < n && r.OK(); i++ {
		switch {
		case w.cl.model.form == ofElements && len(body) == 1:
			r.flagged(r.At(decode.ByIndex, "", i))
		case w.cl.model.form == ofEntries && len(body) == 2:
			r.entry(i, nil)
		default:
			w.run(body)
		}
	}
}

// untilNull takes objects until one is null.
func (w *stepReader) untilNull() {
	r := w.r
	for i := 0; r.OK(); i++ {
		if b, ok := r.Peek(); ok && b == refNull {
			r.Skip(1, "the end of the elements")
			r.Role("end")
			return
		}
		if w.cl.model.form == ofEntries {
			r.entry(i, nil)
		} else {
			r.flagged(r.At(decode.ByIndex, "", i))
		}
	}
}

// int takes an int: four bytes, in 0.10 a number of any length.
func (w *stepReader) int(what string) int32 {
	r := w.r
	if !r.v010 {
		return int32(r.Little(4, what))
	}
	v := r.varint5(what)
	return int32(v>>1) ^ -int32(v&1)
}

// scalar takes a value that is not an object. Numbers have a fixed size, but for int and long in 0.10.
func (w *stepReader) scalar(st *steps.Step) {
	r := w.r
	if w.collection() { // capacities and load factors
		switch st.Op {
		case steps.AnInt:
			w.int("a capacity")
		case steps.AFloat:
			r.Skip(4, "a load factor")
		default:
			r.Fail(decode.Unsupported, "a capacity", "another number")
		}
		r.Role("length")
		return
	}
	p := w.place(st.Field)
	ints, longs := int32s, int64s
	if r.v010 {
		ints, longs = zigzag, tagged64
	}
	switch st.Op {
	case steps.AnInt:
		r.scalar(ints, p)
	case steps.ALong:
		r.scalar(longs, p)
	case steps.AByte:
		r.scalar(int8s, p)
	case steps.ABoolean:
		r.scalar(boolean, p)
	case steps.AShort:
		r.scalar(int16s, p)
	case steps.AChar:
		r.scalar(char, p)
	case steps.AFloat:
		r.scalar(float, p)
	case steps.ADouble:
		r.scalar(double, p)
	case steps.AText:
		r.scalar(str, p)
	default:
		r.Fail(decode.Unsupported, "a number or a text", fmt.Sprintf("%q", st.Op))
	}
}

// noSize is the field "size" of an object that has none.
const noSize = math.MaxInt32
