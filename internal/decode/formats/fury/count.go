package fury

import (
	"math"
	"sync/atomic"

	"dubbo-wire/internal/decode"
)

// Where bytes of 0.2.0 are only counted, most values need no more than their length. The functions of this file take a value in one pass
// and add up what the functions of object.go, value.go and collection.go would record of it. They take nothing, and return false, if the
// value is not one of the common ones or if anything is wrong with its first bytes; then those functions take it. So no error comes from here.

// tally is what was counted and not yet given to the Recorder: nodes, and the bytes of them that are overhead or names.
type tally struct {
	nodes, overhead, names int
	fields                 uint64 // other nodes and, in the upper half, bytes of them that are names
}

// pair is a class of the document by the numbers of the two parts of its name.
type pair struct {
	parts [2]uint16
	class *class
}

// startCounting decides whether values of the document that begins may be counted by the functions of this file.
func (r *Reader) startCounting() {
	r.quick = r.Tree == nil && r.library != nil && !r.v010 && r.distrust == nil && r.variation == nil
	r.pairs = r.pairs[:0]
	for i := range r.lists {
		r.lists[i].of = nil
	}
}

// mayCount reports whether values of the open container may be counted.
func (r *Reader) mayCount() bool { return r.quick && r.Counting() && !r.Hiding() }

// endTally gives to the Recorder what was counted. Then other functions may go on.
func (r *Reader) endTally() {
	t := &r.tally
	if nodes := t.nodes + int(uint32(t.fields)); nodes > 0 {
		r.Tally(t.overhead, nodes)
		r.Recount(decode.ClassNames, t.names+int(t.fields>>32))
		*t = tally{}
	}
}

// countLeaf takes n bytes that are a node; a negative n is not known.
func (r *Reader) countLeaf(n int) bool {
	if n < 0 || n > len(r.Buf)-r.Off {
		return false
	}
	r.Off += n
	r.tally.nodes++
	return true
}

// countValue is value. If it returns false, r is where it was.
func (r *Reader) countValue(d *declared) bool {
	start, objects := r.Off, len(r.objects)
	switch {
	case d == nil:
		if r.countFlagged(start) {
			return true
		}
	case d.class == nil:
		return r.countLeaf(r.scalarSize(d.prim, start))
	default:
		follows, done := r.countRef(d.tracked)
		if done {
			return true
		}
		if !follows {
			break
		}
		head := countedHead{start: start}
		cl := d.class
		if !d.final {
			if cl = r.countClass(&head); cl == nil || !r.fitsDeclared(cl, d) {
				break
			}
		}
		if r.countData(cl, &head, d.elem, d.value) {
			return true
		}
	}
	r.Off, r.objects = start, r.objects[:objects]
	return false
}

// fitsDeclared is fits for the class of a declared type, which keeps the class that was there last.
func (r *Reader) fitsDeclared(cl *class, d *declared) bool {
	if cl == d.class || d.accepted != nil && d.accepted.Load() == cl {
		return true
	}
	if !r.fits(cl, d.class) {
		return false
	}
	if d.accepted != nil {
		d.accepted.Store(cl)
	}
	return true
}

// step is a field as skipUsual takes it: most fields are numbers, texts or constants.
type step struct {
	mask, tag uint64 // of the eight bytes at the tag: those that are the tag, and what they are
	sum       uint64 // nodes and, in the upper half, bytes of the tag
	size      uint8  // bytes of the tag
	kind      usualKind
	flagged   bool   // a flag says whether they are null
	constants uint8  // how many ordinals have one byte
	model     *model // of constants
	field     *field
	list      uint8 // the place of the head of its lists in Reader.lists
	head      *step // before the first of the fields
	// then is the field that follows or, if they have tags, that came last after this one; readers share it.
	then atomic.Pointer[step]
}

type usualKind uint8

const (
	unusual  usualKind = iota
	referred           // only null and references to earlier objects
	integer            // zigzag
	chars              // a text
	fixed1
	fixed2
	fixed4
	fixed8
	ordinal // of a constant
	long    // tagged64
	flag    // a boolean
	passed
)

// addSteps makes the steps of fields, which stay in this order.
func addSteps(fields []field) {
	steps := make([]step, len(fields)+1)
	for i := range fields {
		s := &steps[i+1]
		steps[i].then.Store(s)
		s.field, s.list, s.head = &fields[i], uint8(i%heads), &steps[0]
		s.usual(&fields[i])
		fields[i].step = s
	}
}

// firstOf returns the step of the first of the fields, nil if they have none.
func firstOf(fields []field) *step {
	if len(fields) == 0 {
		return nil
	}
	return fields[0].step
}

// usual finds out whether the values of a field are usual.
func (s *step) usual(f *field) {
	s.sum = 1
	switch s.tag = f.tag; {
	case f.tag == 0:
	case f.tag&3 == tag4:
		s.mask, s.size, s.sum = math.MaxUint32, 4, 4<<32+2
	default:
		s.mask, s.size, s.sum = math.MaxUint64, 8, 8<<32+2
	}
	of := f.is.prim
	switch id := typeOf(f.tag); {
	case f.tag == tagEnd || f.own == "size":
		return
	case f.tag != 0 && f.tag&3 == tagObject:
		of, s.flagged, s.kind = unknown, true, referred
	case f.tag == 0 && f.is.class != nil:
		if of, s.flagged = f.is.class.layout, true; f.is.tracked {
			of, s.kind = unknown, referred
		} else if !f.is.final {
			of = unknown
		}
	case f.tag == 0:
	case id >= firstPrimitive && id < firstPrimitive+len(primitiveLayouts):
		of = primitiveLayouts[id-firstPrimitive]
	case id < len(classes) && classes[id] != nil && !classes[id].isTracked():
		of, s.flagged = classes[id].layout, true
	}
	switch of {
	case boolean:
		s.kind = flag
	case int8s:
		s.kind = fixed1
	case char, int16s:
		s.kind = fixed2
	case int32s, float:
		s.kind = fixed4
	case int64s, double, date:
		s.kind = fixed8
	case zigzag:
		s.kind = integer
	case tagged64:
		s.kind = long
	case str:
		s.kind = chars
	case constant:
		if f.tag == 0 && f.is.class.model != nil {
			s.kind, s.model = ordinal, f.is.class.model
			s.constants = uint8(min(len(s.model.constants), 0x80))
		}
	}
}

// typeOf returns the number of the type that the tag of a field says.
func typeOf(tag uint64) int {
	if tag&3 == tag4 {
		return int(tag >> 2 & 0x3f)
	}
	return int(tag >> 3 & 0x7f)
}

// isScalar reports whether scalarSize has the length of values.
func (l layout) isScalar() bool { return l >= boolean && l <= int64s || l == date }

// window is how many bytes are looked at at once: more than those of a tag, a flag and a number, and than the head of a list that countList
// takes.
const window = 24

// skipUsual takes the fields from f on as long as their values are usual, from offset at of b on, in a document with some objects before. It
// returns the offset after them, the last one, nil if that is none, the one that is expected next, and the sum of their steps. It calls
// nothing, so that its state is in registers. The branches for numbers let a processor go on with what follows before it knows the length,
// which mostly is that of the last value of a field.
func skipUsual(b []byte, at int, f *step, objects int) (end int, last, next *step, sum uint64) {
loop:
	for f != nil && at >= 0 && at <= len(b)-window {
		w := (*[window]byte)(b[at:])
		if le.Uint64(w[:])&f.mask != f.tag {
			break
		}
		size := int(f.size)
		v := le.Uint64(w[size&15:])
		kind := f.kind
		if f.flagged {
			size++
			switch byte(v) {
			case notNull, refNew:
				v >>= 8
			case refNull:
				kind = passed
			case refSeen:
				if v&0x8000 != 0 || kind != referred || int(byte(v>>8)) >= objects {
					break loop
				}
				size++
				kind = passed
			default:
				break loop
			}
		}
		switch kind {
		case integer:
			switch {
			case v&0x80 == 0:
				size++
			case v&0x8000 == 0:
				size += 2
			case v&0x80_0000 == 0:
				size += 3
			case v&0x8000_0000 == 0:
				size += 4
			case byte(v>>32) < 0x10:
				size += 5
			default:
				break loop
			}
		case chars:
			n := int(byte(v >> 8))
			size += 2
			if v&0x80ff != 0 { // not latin1, or longer
				if n >= 0x80 {
					n = n&0x7f | int(byte(v>>16))<<7
					size++
				}
				if v&0xfe != 0 || n >= 1<<14 || int(v)&n&1 != 0 {
					break loop
				}
			}
			if size += n; size > len(b)-at {
				break loop
			}
		case fixed1:
			size++
		case fixed2:
			size += 2
		case fixed4:
			size += 4
		case fixed8:
			size += 8
		case ordinal:
			if byte(v) >= f.constants || !f.model.asked.Load() {
				break loop
			}
			size++
		case long:
			switch {
			case v&1 == 0:
				size += 4
			case byte(v) == 1:
				size += 9
			default:
				break loop
			}
		case flag:
			if byte(v) > 1 {
				break loop
			}
			size++
		case passed:
		default:
			break loop
		}
		at += size
		sum += f.sum
		last, f = f, f.then.Load()
	}
	return at, last, f, sum
}

// countFlagged is flagged, for a value from offset start on. If it returns false, r may be anywhere.
func (r *Reader) countFlagged(start int) bool {
	follows, done := r.countRef(true)
	if !follows {
		return done
	}
	head := countedHead{start: start}
	cl := r.countClass(&head)
	return cl != nil && r.countData(cl, &head, nil, nil)
}

// countRef is ref: data follow, or the value is done; else something is wrong.
func (r *Reader) countRef(tracked bool) (follows, done bool) {
	if r.Off == len(r.Buf) {
		return false, false
	}
	switch b := r.Buf[r.Off]; {
	case b == refNew:
		if tracked {
			r.objects = append(r.objects, -1)
		}
		r.Off++
		return true, false
	case b == notNull:
		r.Off++
		return true, false
	case b == refNull:
		return false, r.countLeaf(1)
	case b == refSeen && tracked:
		r.Off++
		if k, ok := r.ShortVarint(); ok && k < len(r.objects) {
			r.tally.nodes++
			return false, true
		}
	}
	return false, false
}

// countedHead is where a value starts, and where the name of its class ends, 0 if it has none.
type countedHead struct{ start, named int }

// countClass is class for one that has a number or that was there before; nil for others.
func (r *Reader) countClass(h *countedHead) *class {
	id, ok := r.ShortVarint()
	switch {
	case !ok:
		return nil
	case id&1 == 0:
		if id>>1 < len(classes) && classes[id>>1] != nil && classes[id>>1].layout != unknown {
			return classes[id>>1]
		}
		return nil
	case id != 1 || len(r.Buf)-r.Off < 6 || r.Buf[r.Off] != 1 || r.Buf[r.Off+3] != 1:
		return nil
	}
	parts := [2]uint16{le.Uint16(r.Buf[r.Off+1:]), le.Uint16(r.Buf[r.Off+4:])}
	if int(max(parts[0], parts[1])) >= len(r.strings) {
		return nil
	}
	r.Off += 6
	h.named = r.Off
	for i := range r.pairs {
		if r.pairs[i].parts == parts {
			return r.pairs[i].class
		}
	}
	r.key = append(append(append(r.key[:0], r.strings[parts[0]]...), '.'), r.strings[parts[1]]...)
	c := r.named[string(r.key)]
	if c != nil && len(r.pairs) < maxPairs {
		r.pairs = append(r.pairs, pair{parts, c})
	}
	return c
}

// maxPairs bounds the classes of a document that are found by the numbers of the parts of their names.
const maxPairs = 64

// scalarSize returns the length of a number or a text at an offset, -1 for others and for data with an error.
func (r *Reader) scalarSize(l layout, off int) int {
	b := r.Buf[min(off, len(r.Buf)):]
	if len(b) == 0 {
		return -1
	}
	switch l {
	case boolean:
		if b[0] <= 1 {
			return 1
		}
	case int8s:
		return 1
	case char, int16s:
		return 2
	case int32s, float:
		return 4
	case int64s, double, date:
		return 8
	case zigzag:
		for i, c := range b[:min(len(b), 5)] {
			if c < 0x80 && (i < 4 || c < 0x10) {
				return i + 1
			}
		}
	case tagged64:
		switch {
		case b[0]&1 == 0:
			return 4
		case b[0] == 1:
			return 9
		}
	case str:
		n, size := 0, 0
		switch {
		case len(b) > 1 && b[1] < 0x80:
			n, size = int(b[1]), 2
		case len(b) > 2 && b[2] < 0x80:
			n, size = int(b[1]&0x7f)|int(b[2])<<7, 3
		}
		if size > 0 && (b[0] == latin1 || b[0] == utf16le && n%2 == 0) {
			return size + n
		}
	}
	return -1
}

// countData is dataAs, for a value whose head ends here. elem and value are what the declared type says. Once it has counted the head of a
// container, it returns true.
func (r *Reader) countData(cl *class, h *countedHead, elem, value *declared) bool {
	if cl.layout.isScalar() {
		return h.named == 0 && r.countLeaf(r.scalarSize(cl.layout, r.Off))
	}
	switch cl.layout {
	case constant:
		return r.countConstant(cl, h)
	case object:
		return cl.model != nil && r.countOwn(cl, h)
	case list:
		return cl.model == nil && r.countCollection(h, elem)
	case mapping:
		return cl.model == nil && r.countEntries(h, elem, value)
	}
	return false
}

// countHead counts a container: its node and its head, up to here.
func (r *Reader) countHead(h *countedHead) {
	r.tally.nodes++
	from := h.start
	if h.named > 0 {
		r.tally.nodes++
		r.tally.names += h.named - from
		from = h.named
	}
	if r.Off > from {
		r.tally.nodes++
		r.tally.overhead += r.Off - from
	}
}

// countConstant is constant.
func (r *Reader) countConstant(cl *class, h *countedHead) bool {
	if v, ok := r.ShortVarint(); !ok || cl.model == nil || v >= len(cl.model.constants) {
		return false
	}
	r.ask(cl)
	r.tally.nodes++
	if h.named > 0 {
		r.tally.nodes++
		r.tally.names += h.named - h.start
	}
	return true
}

// isCounted reports whether countFields counts the fields.
func (p *plan) isCounted() bool { return p.missing == "" && !p.numbered && p.wraps == "" }

// countOwn takes an object that is written by its fields.
func (r *Reader) countOwn(cl *class, h *countedHead) bool {
	plan := cl.fieldsOf()
	if !plan.isCounted() || r.Level() == decode.MaxDepth {
		return false
	}
	r.use(cl)
	outer := r.within
	r.within = place{class: cl}
	r.countHead(h)
	r.Enter()
	r.countFields(plan.fields, cl)
	r.Leave()
	if r.OK() {
		r.within = outer
	}
	return true
}

// countFields is fields.
func (r *Reader) countFields(fields []field, cl *class) {
	if r.library.tags {
		r.countByTag(fields, cl)
	} else {
		r.countInOrder(fields, cl)
	}
}

// countInOrder is inOrder.
func (r *Reader) countInOrder(fields []field, cl *class) {
	for s := firstOf(fields); s != nil && r.OK(); s = s.then.Load() {
		if s.kind != referred || r.Off == len(r.Buf) || r.Buf[r.Off] != refNew {
			var sum uint64
			r.Off, _, s, sum = skipUsual(r.Buf, r.Off, s, len(r.objects))
			r.tally.fields += sum
			if s == nil {
				return
			}
		}
		if f := s.field; !r.countList(s, false) && !r.countValue(f.is) {
			r.endTally()
			r.within = place{cl, f.name}
			r.value(f.is, r.At(decode.ByField, f.name, f.index))
		}
	}
}

// countByTag is fieldsByTag. Objects of a class mostly have the same order of fields, which is not that of their tags.
func (r *Reader) countByTag(fields []field, cl *class) {
	at, last := (*step)(nil), uint64(0)
	if s := firstOf(fields); s != nil {
		at = s.head
	}
	for r.OK() {
		var s, next *step
		if at != nil {
			var sum uint64
			r.Off, s, next, sum = skipUsual(r.Buf, r.Off, at.then.Load(), len(r.objects))
			r.tally.fields += sum
		}
		if s != nil {
			r.within.class, r.within.field = cl, s.field.name
			at, last = s, s.tag
		}
		tag, size := r.peekTag()
		if tag == tagEnd {
			r.Off += size
			r.tally.nodes++
			r.tally.overhead += size
			return
		}
		if next == nil || next.tag != tag {
			next = nil
			if i := fieldOf(fields, tag); i >= 0 && at != nil && tag != last {
				if next = fields[i].step; next != at {
					at.then.Store(next)
				}
			}
		}
		if next == nil || size == 0 || tag == last || !r.countTagged(next, tag, size) {
			r.endTally()
			r.taggedField(fields, cl, &last)
		} else if last = tag; r.OK() {
			r.within.class, r.within.field = cl, next.field.name
		}
		if next != nil {
			at = next
		}
	}
}

// peekTag returns the tag that follows and its length, 0 if there is none.
func (r *Reader) peekTag() (tag uint64, size int) {
	b := r.Buf[r.Off:]
	switch {
	case len(b) >= 4 && b[0]&3 == tag4:
		return uint64(le.Uint32(b)), 4
	case len(b) >= 8:
		return le.Uint64(b), 8
	}
	return 0, 0
}

// countTagged is taggedValue for a field of the class path, after its tag of size bytes. If it returns false, r is where it was.
func (r *Reader) countTagged(s *step, tag uint64, size int) bool {
	start, objects, before := r.Off, len(r.objects), r.tally
	r.Off += size
	r.tally.nodes++
	r.tally.names += size
	if tag&3 == tagObject && r.countList(s, true) || r.countTaggedValue(s.field, tag, r.Off) {
		return true
	}
	r.Off, r.objects, r.tally = start, r.objects[:objects], before
	return false
}

func (r *Reader) countTaggedValue(f *field, tag uint64, start int) bool {
	head := countedHead{start: start}
	if tag&3 != tagObject {
		id := typeOf(tag)
		switch {
		case f.own == "size":
			return false
		case id >= firstPrimitive && id < firstPrimitive+len(primitiveLayouts):
			return r.countLeaf(r.scalarSize(primitiveLayouts[id-firstPrimitive], start))
		case id >= len(classes) || classes[id] == nil || classes[id].layout == unknown:
			return false
		}
		follows, done := r.countRef(classes[id].isTracked())
		return done || follows && r.countData(classes[id], &head, nil, nil)
	}
	follows, done := r.countRef(true)
	if !follows {
		return done
	}
	if f.is.class == nil || r.Off == len(r.Buf) {
		return false
	}
	kind := r.Buf[r.Off]
	r.Off++
	var elem, value *declared
	switch kind {
	case fieldObject:
	case fieldElements:
		if elem = r.countFinal(); elem == nil {
			return false
		}
	default:
		return false
	}
	if kind == fieldElements {
		value = f.is.value
	}
	cl := r.countClass(&head)
	return cl != nil && r.fitsDeclared(cl, f.is) && r.countData(cl, &head, elem, value)
}

// countFinal is finalClass for one that was there before; nil for others.
func (r *Reader) countFinal() *declared {
	cl := r.countClass(&countedHead{})
	if cl == nil {
		return nil
	}
	if r.final == nil || r.final.class != cl { // mostly the last one
		d := r.finals[cl]
		if d == nil {
			return nil
		}
		r.final = d
	}
	return r.final
}

// countCollection is collection, for one that is not sorted and has no fields of its own.
func (r *Reader) countCollection(h *countedHead, elem *declared) bool {
	from := r.Off
	n, ok := r.ShortVarint()
	if !ok || n > len(r.Buf)-r.Off || r.Level() == decode.MaxDepth {
		return false
	}
	after := r.Off
	var flags byte
	var each *class
	if n > 0 {
		if r.Off == len(r.Buf) {
			return false
		}
		flags = r.Buf[r.Off]
		r.Off++
		switch {
		case flags >= 2*mixed, flags&(undecided|mixed) == mixed:
			return false
		case flags&(undecided|mixed) == 0:
			if elem == nil || elem.class == nil || elem.class.unsure {
				return false
			}
			each = elem.class
		case flags&mixed == 0:
			if each = r.countClass(&countedHead{}); each == nil || elem != nil && !r.fits(each, elem.class) {
				return false
			}
		}
	}
	here := r.Off
	r.Off = from
	r.countHead(h)
	r.Off = here
	r.tally.nodes++ // the length
	if here > after {
		r.tally.nodes++
	}
	r.tally.overhead += here - from
	r.Enter()
	if n > 0 {
		r.countElements(0, n, each, elem, flags)
	}
	r.Leave()
	return true
}

// listHead is how a list began that was there before in the document, with less than 128 elements: up to their flags and, if that follows,
// their class.
type listHead struct {
	of          *step     // nil: it cannot be compared
	words, mask [2]uint64 // the bytes, without the number of elements, and which these are
	size        int
	count       uint8 // where the number of elements is
	flags       byte  // those that hold
	each        *class
	elem        *declared
}

// heads is how many of them are kept.
const heads = 8

// countList is countValue, or countTaggedValue, for a field that has a new list whose elements are of one class. Such a list has elements
// that are numbers or references to objects mostly, so that this function takes it without others.
func (r *Reader) countList(f *step, tagged bool) bool {
	b, at := r.Buf, r.Off
	if at < 0 || at > len(b)-window || b[at] != refNew || r.Level() == decode.MaxDepth {
		return false
	}
	w := (*[window]byte)(b[at:])
	m := &r.lists[f.list%heads]
	n := int(w[m.count%window])
	if m.of == f && le.Uint64(w[:])&m.mask[0] == m.words[0] && le.Uint64(w[8:])&m.mask[1] == m.words[1] &&
		n > 0 && n < 0x80 && n < len(b)-at-int(m.count) {
		r.Off = at + m.size
	} else if n = r.newList(f, tagged, m); n == 0 {
		r.Off = at
		return false
	}
	each, elem, flags := m.each, m.elem, m.flags
	r.tally.nodes += 4
	r.tally.overhead += r.Off - at
	if tagged || f.field.is.tracked {
		r.objects = append(r.objects, -1)
	}
	i := 0
	switch {
	case flags&hasNull != 0:
	case flags&counted == 0 && each.layout == zigzag:
		i = r.countIntegers(n)
	case flags&counted != 0:
		for at = r.Off; i < n && at >= 0 && at <= len(b)-window && b[at] == refSeen; i++ {
			k, size := int(b[at+1]), 2
			if k >= 0x80 {
				k, size = k&0x7f|int(b[at+2])<<7, 3
			}
			if size == 3 && b[at+2] >= 0x80 || k >= len(r.objects) {
				break
			}
			at += size
		}
		r.Off = at
		r.tally.nodes += i
	}
	if i < n {
		r.Enter()
		r.countElements(i, n, each, elem, flags)
		r.Leave()
	}
	return true
}

// newList takes the head of a list, and notes it. It returns how many elements follow, 0 for a list that countList does not take.
func (r *Reader) newList(f *step, tagged bool, m *listHead) (n int) {
	b, start, d := r.Buf, r.Off, f.field.is
	elem := d.elem
	if d.class == nil || d.final || elem == nil {
		return 0
	}
	*m = listHead{}
	r.Off++
	if tagged {
		r.Off++
		switch b[start+1] {
		case fieldObject:
			elem = nil
		case fieldElements:
			elem = r.countFinal()
		}
		if elem == nil && b[start+1] != fieldObject || b[start+1] > fieldElements {
			return 0
		}
	}
	id := int(r.Buf[r.Off])
	r.Off++
	if id&0x81 != 0 || id>>1 >= len(classes) {
		return 0
	}
	if cl := classes[id>>1]; cl == nil || cl.layout != list || cl != d.class && (d.accepted == nil || d.accepted.Load() != cl) {
		return 0
	}
	count := r.Off - start
	n, ok := r.ShortVarint()
	if !ok || n == 0 || n > len(b)-r.Off {
		return 0
	}
	flags := b[r.Off]
	r.Off++
	var each *class
	switch {
	case flags >= mixed:
	case flags&undecided != 0:
		if each = r.countClass(&countedHead{}); each != nil && elem != nil && !r.fits(each, elem.class) {
			each = nil
		}
	case elem != nil && elem.class != nil && !elem.class.unsure:
		each = elem.class
	}
	if each == nil {
		return 0
	}
	*m = listHead{size: r.Off - start, count: uint8(count), flags: elem.elementFlags(flags), each: each, elem: elem}
	if m.size <= 16 && n < 0x80 {
		m.of = f
		var mask [16]byte
		for i := range m.size {
			mask[i] = 0xff
		}
		mask[count] = 0
		for i := range m.mask {
			m.mask[i] = le.Uint64(mask[8*i:])
			m.words[i] = le.Uint64(b[start+8*i:]) & m.mask[i]
		}
	}
	return n
}

// elementFlags returns the flags of a list whose elements are declared so.
func (d *declared) elementFlags(flags byte) byte {
	if d != nil && d.generated && d.tracked && !d.final {
		flags |= counted // the generated code does not look at it
	}
	return flags
}

// countElements takes elements after their flags, from number i on.
func (r *Reader) countElements(i, n int, each *class, elem *declared, flags byte) {
	flags = elem.elementFlags(flags)
	quick := r.mayCount()
	if quick && each != nil && flags&(counted|hasNull) == 0 && each.layout.isScalar() {
		if each.layout == zigzag {
			i += r.countIntegers(n - i)
		}
		for i < n && r.countLeaf(r.scalarSize(each.layout, r.Off)) {
			i++
		}
	}
	if quick && each != nil && each.layout == object && flags&(counted|hasNull) != 0 {
		i += r.countObjects(n-i, each, flags)
	}
	for ; i < n && r.OK(); i++ {
		start := r.Off
		if !quick || !r.countElement(each, elem, flags) {
			r.endTally()
			r.element(i, each, elem, flags)
		}
		if each != nil && r.Off == start && r.OK() {
			r.endTally()
			r.Fail(decode.Unsupported, "elements of some bytes", "elements of none") // a few bytes could stand for billions
		}
	}
}

// countObjects takes the next elements, n at most, that are new objects of a class, and returns how many there are.
func (r *Reader) countObjects(n int, each *class, flags byte) (i int) {
	if each.model == nil || !each.fieldsOf().isCounted() || r.Level() == decode.MaxDepth {
		return 0
	}
	outer, fields := r.within, each.fieldsOf().fields
	r.Enter()
	for ; i < n && r.OK() && r.Off < len(r.Buf); i++ {
		if b := r.Buf[r.Off]; b == refNew && flags&counted != 0 {
			r.objects = append(r.objects, -1)
		} else if b != refNew && b != notNull {
			break
		}
		r.Off++
		r.tally.nodes += 2 // the object and its flag
		r.tally.overhead++
		if i == 0 {
			r.use(each)
		}
		r.within = place{class: each}
		r.countFields(fields, each)
	}
	r.Leave()
	if r.OK() {
		r.within = outer
	}
	return i
}

// countIntegers takes the next numbers of 32 bits, n at most, and returns how many there are. Its branches are those of skipUsual.
func (r *Reader) countIntegers(n int) (i int) {
	b, at := r.Buf, r.Off
loop:
	for ; i < n && at >= 0 && at <= len(b)-8; i++ {
		switch w := le.Uint64(b[at:]); {
		case w&0x80 == 0:
			at++
		case w&0x8000 == 0:
			at += 2
		case w&0x80_0000 == 0:
			at += 3
		case w&0x8000_0000 == 0:
			at += 4
		case byte(w>>32) < 0x10:
			at += 5
		default:
			break loop
		}
	}
	r.Off = at
	r.tally.nodes += i
	return i
}

// countElement is element. If it returns false, r is where it was.
func (r *Reader) countElement(each *class, elem *declared, flags byte) bool {
	start, objects := r.Off, len(r.objects)
	if r.countElementAt(start, each, elem, flags) {
		return true
	}
	r.Off, r.objects = start, r.objects[:objects]
	return false
}

func (r *Reader) countElementAt(start int, each *class, elem *declared, flags byte) bool {
	if flags&(counted|hasNull) != 0 {
		if follows, done := r.countRef(flags&counted != 0); !follows {
			return done
		}
	}
	head := countedHead{start: start}
	if each == nil {
		if each = r.countClass(&head); each == nil || elem != nil && !r.fits(each, elem.class) {
			return false
		}
	}
	if elem == nil {
		return r.countData(each, &head, nil, nil)
	}
	return r.countData(each, &head, elem.elem, elem.value)
}

// countEntries is entries, for a map that is not sorted and has no fields of its own.
func (r *Reader) countEntries(h *countedHead, k, v *declared) bool {
	from := r.Off
	n, ok := r.ShortVarint()
	if !ok || 2*n > len(r.Buf)-r.Off || r.Level() == decode.MaxDepth {
		return false
	}
	here := r.Off
	r.Off = from
	r.countHead(h)
	r.Off = here
	r.tally.nodes++
	r.tally.overhead += here - from
	r.Enter()
	for i := 0; i < n && r.OK(); i++ {
		if !r.countValue(k) {
			r.endTally()
			r.value(k, r.At(decode.ByKey, "", i))
		}
		if r.OK() && !r.countValue(v) {
			r.endTally()
			r.value(v, r.At(decode.ByEntry, "", i))
		}
	}
	r.Leave()
	return true
}

// fieldOf returns the index of the field with a tag, -1 if the class path does not have it. It is called for every field:
// with slices.BinarySearchFunc the search took a fifth of the time.
func fieldOf(fields []field, tag uint64) int {
	low, high := 0, len(fields)
	for low < high {
		if m := int(uint(low+high) >> 1); fields[m].tag < tag {
			low = m + 1
		} else {
			high = m
		}
	}
	if low < len(fields) && fields[low].tag == tag {
		return low
	}
	return -1
}
