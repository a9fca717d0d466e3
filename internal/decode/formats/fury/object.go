package fury

import (
	"fmt"
	"slices"
	"strconv"

	"dubbo-wire/internal/decode"
)

// place is where reading is in an object of the application.
type place struct {
	class *class
	field string
}

// at returns the place of a value that starts here.
func (r *Reader) value(d *declared, p decode.Place) {
	switch {
	case d == nil:
		r.flagged(p)
		return
	case d.class == nil:
		r.scalar(d.prim, p)
		return
	}
	if !r.ref(&p, d.tracked) {
		return
	}
	cl := d.class
	if !d.final {
		cl = r.class(&p)
		if r.OK() && !r.fits(cl, d.class) {
			r.FailAt(p.Start, decode.Malformed, "an object of "+d.class.name, "one of "+cl.name)
		}
	}
	if r.OK() {
		r.dataAs(cl, p, d)
	}
}

// fits reports whether a declared type allows a class, as far as that is known.
func (r *Reader) fits(cl, declared *class) bool {
	if cl == declared || r.library == nil || cl.layout == replaced || cl.layout == lambda || cl.layout == proxy {
		return true
	}
	key := [2]*class{cl, declared}
	is, ok := r.allowed[key]
	if !ok {
		if len(r.allowed) >= maxClasses || r.allowed == nil {
			r.allowed = map[[2]*class]bool{}
		}
		is = r.library.is(cl.name, declared.name)
		r.allowed[key] = is
	}
	return is
}

// plannedData takes the data of a class that the class path tells.
func (r *Reader) plannedData(cl *class, p decode.Place, of *declared) {
	if r.library == nil {
		r.other(cl, p)
		return
	}
	if d := r.definitionOf(cl); d != nil {
		r.byDefinition(d, p)
		return
	}
	switch cl.layout {
	case setFromMap:
		r.container(p, decode.List, cl.name, func() { r.setFromMap(of) })
	case keySetView:
		i := r.NextNode()
		r.container(p, decode.Object, cl.name, func() {
			r.flagged(r.At(decode.ByField, "map", 0))
			r.flagged(r.At(decode.ByField, "value", 0))
		})
		r.ShowWrapped(i, "map", true)
	case naturalOrder:
		r.Varint9("an ordinal")
		r.container(p, decode.Object, cl.name, func() {})
	case constant:
		r.constant(cl, p)
	case enumSet:
		r.container(p, decode.List, cl.name, func() { r.constants() })
	case enumMap:
		r.container(p, decode.Map, cl.name, func() { r.entries(cl, of) })
	case arrayOf:
		r.arrayOf(cl, p)
	case lambda:
		r.lambda(r.library.class("java.lang.invoke.SerializedLambda"), p)
	case proxy:
		r.container(p, decode.Object, cl.name, func() {
			names := [...]string{"h", "interfaces"}
			if r.v010 {
				slices.Reverse(names[:])
			}
			for _, name := range names {
				r.flagged(r.At(decode.ByField, name, 0))
			}
		})
	case replaced, replaceable:
		r.replacement(cl, p)
	default:
		r.applicationData(cl, p, of)
	}
}

// applicationData takes the data of an object of the class path.
func (r *Reader) applicationData(cl *class, p decode.Place, of *declared) {
	switch {
	case cl.layout == abstract:
		if r.distrusted(cl, p) {
			return
		}
		r.open(p, decode.Object, decode.JavaName(cl.name))
		r.misread = true
		r.Fail(decode.Malformed, "an object", cl.name+", which is abstract")
		return
	case r.distrusted(cl, p):
		return
	}
	plan := cl.fieldsOf()
	if plan.missing != "" {
		r.failMissing(cl, plan.missing, p)
		return
	}
	r.use(cl)
	outer := r.within
	r.within = place{class: cl}
	r.written(cl, cl.layout, p, of)
	if r.OK() {
		r.within = outer
	}
}

// written takes the data of an object that is written in a layout.
func (r *Reader) written(cl *class, as layout, p decode.Place, of *declared) {
	plan := cl.fieldsOf()
	i := r.NextNode()
	switch as {
	case object:
		r.container(p, decode.Object, cl.name, func() {
			if plan.numbered && cl.layout == object { // it is not defined
				r.untagged(plan.untagged, cl)
				return
			}
			r.fields(plan.fields, cl)
		})
	case streamed:
		if cl.name == copiesList && r.copies(p) {
			break
		}
		kind := [...]decode.Kind{decode.Object, decode.List, decode.Map}[cl.model.form]
		r.container(p, kind, cl.name, func() { r.sections(cl, plan) })
	case childList:
		r.container(p, decode.List, cl.name, func() { r.collection(cl, of) })
	case childMap:
		r.container(p, decode.Map, cl.name, func() { r.entries(cl, of) })
	case external:
		r.container(p, decode.Object, cl.name, func() { r.steps(cl, "writeExternal", plan.writes, nil) })
	default:
		r.open(p, decode.Object, decode.JavaName(cl.name))
		r.FailClass("the fields of class", cl.name)
	}
	if plan.wraps != "" {
		r.ShowWrapped(i, plan.wraps, plan.wrapsKeys)
	}
}

// lambda takes the fields of a SerializedLambda, which have tags in neither mode.
func (r *Reader) lambda(cl *class, p decode.Place) {
	fury, fory := r.library.lambdaFields(cl)
	if fury == nil {
		r.other(cl, p)
		return
	}
	fields, read := fury, r.untagged
	if r.meta && r.foryDefs {
		fields, read = fory, r.inOrder
	}
	r.container(p, decode.Object, cl.name, func() { read(fields, cl) })
}

// failMissing stops at an object of which a class is not known.
func (r *Reader) failMissing(cl *class, missing string, p decode.Place) {
	r.open(p, decode.Object, decode.JavaName(cl.name))
	r.ask(r.library.class(missing))
	r.incomplete = true
	if missing == cl.name {
		r.FailClass("the fields of class", cl.name)
		return
	}
	r.FailClass("the fields of class "+cl.name+", which needs class", missing)
}

// fields takes fields in their order, or with tags.
func (r *Reader) fields(fields []field, cl *class) {
	if r.library.tags {
		r.fieldsByTag(fields, cl)
		return
	}
	r.untagged(fields, cl)
}

func (r *Reader) untagged(fields []field, cl *class) {
	if r.v010 {
		if sorted := r.library.foryOrder(fields); sorted != nil {
			r.ambiguous = true
			if r.fory {
				fields = sorted
			}
		}
	}
	r.inOrder(fields, cl)
}

// inOrder takes fields in this order.
func (r *Reader) inOrder(fields []field, cl *class) {
	if r.variation != nil && r.variation.Class == cl.name {
		fields = r.vary(fields)
	}
	if r.mayCount() {
		r.countInOrder(fields, cl)
		r.endTally()
		if last := len(fields) - 1; last >= 0 && r.OK() {
			r.within = place{cl, fields[last].name}
		}
		return
	}
	for i := range fields {
		f := &fields[i]
		r.within = place{cl, f.name}
		r.value(f.is, r.At(decode.ByField, f.name, f.index))
		if !r.OK() {
			return
		}
	}
}

// fieldsByTag takes fields, each after its tag, up to the end tag. In the class path may be other fields.
func (r *Reader) fieldsByTag(fields []field, cl *class) {
	if r.mayCount() {
		r.countByTag(fields, cl)
		r.endTally()
		return
	}
	r.restByTag(fields, cl, 0)
}

// restByTag takes the fields after the one with tag last.
func (r *Reader) restByTag(fields []field, cl *class, last uint64) {
	for r.taggedField(fields, cl, &last) {
	}
}

// taggedField takes a field with its tag, or the end tag, and reports whether there may be more. last is the tag of the field before it.
func (r *Reader) taggedField(fields []field, cl *class, last *uint64) bool {
	tag := r.tag()
	if !r.OK() {
		return false
	}
	if tag == tagEnd {
		r.Role("end")
		return false
	}
	var f *field
	name, index := "", 0
	if i := fieldOf(fields, tag); i >= 0 {
		f = &fields[i]
		name = f.name
	} else if name = nameOf(tag); cl.model != nil && cl.model.file != nil {
		index = decode.Undeclared
	}
	r.within = place{cl, name}
	r.Role("field")
	if tag == *last {
		r.FailAt(r.Off, decode.Malformed, "another field", "field "+name+" again")
		return false
	}
	*last = tag
	r.taggedValue(f, tag, r.At(decode.ByField, name, index))
	return r.OK()
}

// tag takes the tag of a field.
func (r *Reader) tag() uint64 {
	off := r.Off
	tag := r.Little(4, "the tag of a field")
	if tag&3 != tag4 {
		tag |= r.Little(4, "the tag of a field") << 32
	}
	if r.OK() && tag != tagEnd && tag&3 == tagEnd&3 {
		r.FailAt(off, decode.Malformed, "the tag of a field", fmt.Sprintf("%016x", tag))
	}
	return tag
}

// How a field whose tag has no class is written.
const (
	fieldObject   = iota // class, data
	fieldElements        // the class of the elements, class, data
	fieldKeys            // the class of the keys, class, data
	fieldValues          // the class of the values, class, data
	fieldEntries         // both, class, data
)

// taggedValue takes the value of a field with a tag. f is nil if the class path does not have it.
func (r *Reader) taggedValue(f *field, tag uint64, p decode.Place) {
	off := p.Start
	if tag&3 != tagObject {
		id := int(tag >> 3 & 0x7f)
		if tag&3 == tag4 {
			id = int(tag >> 2 & 0x3f)
		}
		switch {
		case id >= firstPrimitive && id < firstPrimitive+len(primitiveLayouts):
			r.scalar(primitiveLayouts[id-firstPrimitive], p)
			if f != nil && f.own == "size" {
				r.sized = r.lastInt
			}
		case id < len(r.table()) && r.table()[id] != nil:
			cl := r.table()[id]
			if cl.layout == unknown {
				cl = r.library.class(cl.name)
			}
			if r.ref(&p, cl.isTracked()) { // no class: it is final
				r.data(cl, p)
			}
		default:
			r.FailAt(off, decode.Malformed, "the tag of a field", fmt.Sprintf("class number %d", id))
		}
		return
	}
	if !r.ref(&p, true) {
		return
	}
	kind := r.Byte("how a field is written")
	var of declared
	if f != nil {
		of = *f.is
	}
	switch {
	case !r.OK():
		return
	case kind == fieldObject:
		of.elem, of.value = nil, nil
	case kind == fieldElements:
		of.elem = r.finalClass()
	case kind == fieldKeys || kind == fieldEntries || kind == fieldValues:
		key, value := of.elem, of.value
		if kind != fieldValues {
			key = r.finalClass()
		}
		if kind != fieldKeys {
			value = r.finalClass()
		}
		of.elem, of.value = key.plain(), value.plain()
	default:
		r.FailAt(r.Off-1, decode.Malformed, "how a field is written", decode.HexByte(kind))
		return
	}
	cl := r.class(&p)
	if r.OK() && f != nil && !r.fits(cl, f.is.class) {
		r.FailAt(p.Start, decode.Malformed, "an object of "+f.is.class.name, "one of "+cl.name)
	}
	if r.OK() {
		r.dataAs(cl, p, &of)
	}
}

var primitiveLayouts = [...]layout{boolean, int8s, char, int16s, zigzag, float, tagged64, double}

// plain returns what holds for keys and values in compatible mode, which drops their type arguments. For the code that is generated a
// List of something is then one of objects, all of which it counts.
func (d *declared) plain() *declared {
	switch {
	case d == nil:
		return nil
	case d.raw != nil:
		return d.raw
	}
	c := *d
	c.elem, c.value = nil, nil
	return &c
}

// finalClass takes the class of elements, keys or values.
func (r *Reader) finalClass() *declared {
	cl := r.class(&decode.Place{})
	if !r.OK() {
		return nil
	}
	d := r.finals[cl]
	if d == nil {
		if d = (&declared{class: cl, final: true, tracked: cl.isTracked()}); r.finals == nil || len(r.finals) >= maxClasses {
			r.finals = map[*class]*declared{}
		}
		r.finals[cl] = d
	}
	return d
}

// constant takes an ordinal.
func (r *Reader) constant(cl *class, p decode.Place) {
	off := r.Off
	v := r.Varint9("an ordinal")
	names := cl.model.constants
	switch {
	case !r.OK() || r.distrusted(cl, p):
	case v >= uint64(len(names)):
		if !isJDK(cl.name) {
			r.misread = true
		}
		r.FailAt(off, decode.Malformed, fmt.Sprintf("an ordinal up to %d, since %s has %d constants", len(names)-1, cl.name, len(names)), fmt.Sprint(v))
	default:
		r.ask(cl)
		if n := r.Scalar(p, decode.Enum); n != nil {
			n.Class, n.Num, n.Text = cl.model.declares, int64(v), names[v]
		}
	}
}

// constants takes the elements of an EnumSet.
func (r *Reader) constants() {
	cl := r.class(&decode.Place{})
	r.Role("class")
	n := 0
	if r.v010 {
		n = r.count("the number of elements", 1)
	} else {
		n = r.fits64(r.aligned("the number of elements"))
	}
	r.Role("length")
	for i := 0; i < n && r.OK(); i++ {
		p := r.At(decode.ByIndex, "", i)
		if cl.layout != constant {
			r.other(cl, p)
			return
		}
		r.constant(cl, p)
	}
}

// aligned takes a number of 6 bits in a byte. Of its last byte, and of those that align what follows, one bit says whether more come.
func (r *Reader) aligned(what string) (v uint64) {
	b := byte(0x80)
	for shift := 0; b&0x80 != 0 && r.OK(); shift += 6 {
		if shift > 30 {
			r.Fail(decode.Malformed, what, "a longer number")
		}
		b = r.Byte(what)
		v |= uint64(b&0x3f) << shift
	}
	for i := 0; b&0x40 == 0 && r.OK(); i++ {
		if b = r.Byte(what); i == 4 || b&^0x40 != 0 {
			r.Fail(decode.Malformed, what, decode.HexByte(b))
		}
	}
	return v
}

// arrayOf takes an array: a count in four bytes, and elements with a reference flag and, unless it is certain, their class.
func (r *Reader) arrayOf(cl *class, p decode.Place) {
	if len(component(cl.name)) < 2 { // those of primitive types have numbers
		r.FailAt(p.Start, decode.Malformed, "a class that has no number", "class "+strconv.Quote(cl.name))
		return
	}
	n, final := r.arrayLength(cl)
	if !r.OK() {
		return
	}
	of := r.library.componentOf(cl)
	if of.final != final {
		other := *of
		other.final = final
		of = &other
	}
	r.container(p, decode.List, cl.name, func() {
		for i := 0; i < n && r.OK(); i++ {
			q := r.At(decode.ByIndex, "", i)
			if of.class.unsure {
				if b, ok := r.Peek(); ok && b == refNew {
					r.ref(&q, true)
					r.ask(of.class)
					r.incomplete = true
					r.FailClass("whether it is final and the fields of class", of.class.name)
					return
				}
			}
			r.value(of, q)
		}
	})
}

// arrayLength takes the number of elements of an array of objects, and whether the array tells the class of them. In 0.10 the lowest bit of
// the number says that.
func (r *Reader) arrayLength(cl *class) (n int, final bool) {
	final = cl.layout == finals || cl.layout == arrayOf && r.library.componentOf(cl).final
	if !r.v010 {
		return r.fits64(r.Little(4, "the length of an array")), final
	}
	off := r.Off
	v := r.Varint9("the length of an array")
	if said := v&1 != 0; said != final && r.OK() {
		if !r.meta || cl.layout == objects { // registered arrays are made before classes are known to be registered
			r.FailAt(off, decode.Malformed, "the length of an array of "+cl.name, fmt.Sprint(v))
		}
		final = said
	}
	return r.fits64(v >> 1), final
}

// fits64 checks a number of elements of at least a byte each.
func (r *Reader) fits64(n uint64) int { return r.fitsLeft(n, 1) }

// What stands for an object of a class with writeReplace or readResolve.
const (
	original = iota // itself
	newType         // an object of another class
	sameType        // another object of the class
)

// replacement takes what stands for an object.
func (r *Reader) replacement(cl *class, p decode.Place) {
	off := r.Off
	what := r.Byte("what stands for an object")
	p.Head = r.Off
	switch {
	case !r.OK():
	case what > sameType:
		r.FailAt(off, decode.Malformed, "what stands for an object", decode.HexByte(what))
	case what == newType:
		if r.Enter() {
			r.flagged(p)
			r.Leave()
		}
	case what == sameType && !r.ref(&p, true):
	default:
		self := r.classByName(&p)
		if !r.OK() {
			return
		}
		if self.model == nil || self.layout != replaceable {
			r.unreplaced(self, p)
			return
		}
		if r.distrusted(self, p) {
			return
		}
		plan := self.fieldsOf()
		if plan.missing != "" {
			r.failMissing(self, plan.missing, p)
			return
		}
		r.use(self)
		outer := r.within
		r.within = place{class: self}
		r.written(self, plan.again, p, nil)
		if r.OK() {
			r.within = outer
		}
	}
}

// unreplaced takes an object that the class path says has no writeReplace.
func (r *Reader) unreplaced(cl *class, p decode.Place) {
	if cl.layout == replaceable { // of the JDK, without fields
		r.container(p, decode.Object, cl.name, func() { r.fields(nil, cl) })
		return
	}
	if cl.model != nil && cl.model.file != nil && (cl.layout == object || cl.layout == streamed) {
		r.dataAs(cl, p, nil)
		return
	}
	r.other(cl, p)
}
