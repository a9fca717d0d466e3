package fury

import (
	"sync/atomic"

	"dubbo-wire/internal/decode"
)

// Where bytes of 0.2.0 are only counted, most values need no more than their length. The functions of this file take a value in one pass
// and add up what the functions of object.go, value.go and collection.go would record of it. They take nothing, and return false, if the
// value is not one of the common ones or if anything is wrong with its first bytes; then those functions take it. So no error comes from here.

// tally is what was counted and not yet given to the Recorder: nodes, and the bytes of them that are overhead or names.
type tally struct{ nodes, overhead, names int }

// pair is a class of the document by the numbers of the two parts of its name.
type pair struct {
	parts [2]uint16
	class *class
}

// startCounting decides whether values of the document that begins may be counted by the functions of this file.
func (r *Reader) startCounting() {
	r.quick = r.Tree == nil && r.library != nil && !r.v010 && r.distrust == nil && r.variation == nil
	r.pairs = r.pairs[:0]
}

// mayCount reports whether values of the open container may be counted.
func (r *Reader) mayCount() bool { return r.quick && r.Counting() && !r.Hiding() }

// endTally gives to the Recorder what was counted. Then other functions may go on.
func (r *Reader) endTally() {
	if r.tally.nodes > 0 {
		r.Tally(r.tally.overhead, r.tally.nodes)
		r.Recount(decode.ClassNames, r.tally.names)
		r.tally = tally{}
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

// usual says which bytes the values of a field are, if they are numbers, texts or constants, as those of most fields are.
type usual struct {
	layout layout // unknown for other fields
	// flagged: a flag says whether they are null. tracked: they have numbers.
	flagged, tracked bool
}

// usualValues finds out whether the values of the field are usual.
func (f *field) usualValues() usual {
	u := usual{layout: f.is.prim}
	switch id := typeOf(f.tag); {
	case f.tag != 0 && (f.tag&3 == tagObject || f.tag == tagEnd || f.own == "size"):
		return usual{}
	case f.tag == 0 && f.is.class != nil && f.is.final:
		u = usual{f.is.class.layout, true, f.is.tracked}
	case f.tag == 0:
	case id >= firstPrimitive && id < firstPrimitive+len(primitiveLayouts):
		u = usual{layout: primitiveLayouts[id-firstPrimitive]}
	case id < len(classes) && classes[id] != nil:
		u = usual{classes[id].layout, true, classes[id].isTracked()}
	}
	if !u.layout.isScalar() && (u.layout != constant || f.tag != 0 || f.is.class.model == nil) {
		return usual{}
	}
	return u
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

// countUsual takes the values that the first of the fields have, as long as they are usual, and returns how many there are.
func (r *Reader) countUsual(fields []field) (i int) {
	b, at := r.Buf, r.Off
loop:
	for ; i < len(fields); i++ {
		u := &fields[i].usual
		if u.layout == unknown || at >= len(b) {
			break
		}
		next := at
		tracked := false
		if u.flagged {
			switch b[at] {
			case refNull:
				at++
				continue
			case refNew:
				tracked = u.tracked
			case notNull:
			default:
				break loop
			}
			if next++; next == len(b) {
				break
			}
		}
		switch u.layout {
		case int8s:
			next++
		case boolean:
			if b[next] > 1 {
				break loop
			}
			next++
		case char, int16s:
			next += 2
		case int32s, float:
			next += 4
		case int64s, double, date:
			next += 8
		case zigzag:
			size := zigzagSize(b[next:])
			if size < 0 {
				break loop
			}
			next += size
		case constant:
			if m := fields[i].is.class.model; int(b[next]) >= min(len(m.constants), 0x80) || !m.asked.Load() {
				break loop
			}
			next++
		case str:
			if len(b)-next > 1 && b[next] == latin1 && b[next+1] < 0x80 {
				next += 2 + int(b[next+1])
				break
			}
			fallthrough
		default:
			size := r.scalarSize(u.layout, next)
			if size < 0 {
				break loop
			}
			next += size
		}
		if next > len(b) {
			break
		}
		if tracked {
			r.objects = append(r.objects, -1)
		}
		at = next
	}
	r.Off = at
	r.tally.nodes += i
	return i
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
		return zigzagSize(b)
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

// zigzagSize returns the length of a number of 32 bits at the start of b, -1 if it has more. Its branches let a processor go on with what
// follows before it knows the length, which mostly is that of the last value of a field.
func zigzagSize(b []byte) int {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return 1
	case len(b) > 1 && b[1] < 0x80:
		return 2
	case len(b) > 2 && b[2] < 0x80:
		return 3
	case len(b) > 3 && b[3] < 0x80:
		return 4
	case len(b) > 4 && b[4] <= 0xf:
		return 5
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

// countOwn takes an object that is written by its fields.
func (r *Reader) countOwn(cl *class, h *countedHead) bool {
	plan := cl.fieldsOf()
	if plan.missing != "" || plan.numbered || plan.wraps != "" || r.Level() == decode.MaxDepth {
		return false
	}
	r.use(cl)
	outer := r.within
	r.within = place{class: cl}
	r.countHead(h)
	r.Enter()
	if r.library.tags {
		r.countByTag(plan.fields, plan.order, cl)
	} else {
		r.countInOrder(plan.fields, cl)
	}
	r.Leave()
	if r.OK() {
		r.within = outer
	}
	return true
}

// countInOrder is inOrder.
func (r *Reader) countInOrder(fields []field, cl *class) {
	for i := 0; i < len(fields) && r.OK(); i++ {
		if i += r.countUsual(fields[i:]); i == len(fields) {
			break
		}
		if f := &fields[i]; !r.countList(f.is) && !r.countValue(f.is) {
			r.endTally()
			r.within = place{cl, f.name}
			r.value(f.is, r.At(decode.ByField, f.name, f.index))
		}
	}
	if last := len(fields) - 1; last >= 0 && r.OK() {
		r.within = place{cl, fields[last].name}
	}
}

// countByTag is fieldsByTag. Objects of a class mostly have the same order of fields, which is not that of their tags: order, unless it is
// nil, has the number of the field that came last at first, and after each.
func (r *Reader) countByTag(fields []field, order []atomic.Int32, cl *class) {
	at, last := 0, uint64(0)
	for r.OK() {
		next := at
		if order != nil {
			next = int(order[at].Load())
		}
		tag, size := r.peekTag()
		if next < len(fields) && fields[next].tag == tag && fields[next].usual.layout != unknown && size > 0 && tag != last {
			if r.Off += size; r.countUsual(fields[next:next+1]) == 1 {
				r.tally.nodes++
				r.tally.names += size
				r.within.class, r.within.field = cl, fields[next].name
				last, at = tag, next+1
				continue
			}
			r.Off -= size
		}
		if tag == tagEnd {
			r.Off += size
			r.tally.nodes++
			r.tally.overhead += size
			return
		}
		if next >= len(fields) || fields[next].tag != tag {
			if next = fieldOf(fields, tag); next >= 0 && order != nil {
				order[at].Store(int32(next))
			}
		}
		if next >= 0 && size > 0 && tag != last && r.countTagged(&fields[next], tag, size) {
			if r.OK() {
				r.within = place{cl, fields[next].name}
			}
			last = tag
		} else {
			r.endTally()
			r.taggedField(fields, cl, &last)
		}
		at = max(next, 0) + 1
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
func (r *Reader) countTagged(f *field, tag uint64, size int) bool {
	start, objects, before := r.Off, len(r.objects), r.tally
	r.Off += size
	r.tally.nodes++
	r.tally.names += size
	if r.countTaggedValue(f, tag, r.Off) {
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

// window is how many bytes countList looks at at once: more than the head of a list that it takes has.
const window = 16

// countList is countValue for a field that has a new list whose elements are of one class. Such a list has elements that are numbers or
// references to objects mostly, so that this function takes it without others.
func (r *Reader) countList(d *declared) bool {
	b, at := r.Buf, r.Off
	if d.class == nil || d.final || d.elem == nil || at < 0 || at > len(b)-window || r.Level() == decode.MaxDepth {
		return false
	}
	w := (*[window]byte)(b[at:])
	id, size := int(w[1])>>1, 4
	n, flags := int(w[2]), w[3]
	if n >= 0x80 {
		n, flags, size = n&0x7f|int(w[3])<<7, w[4], 5
	}
	if w[0] != refNew || w[1]&0x81 != 0 || id >= len(classes) || n == 0 || size == 5 && w[3] >= 0x80 || n > len(b)-at-size+1 {
		return false
	}
	if cl := classes[id]; cl == nil || cl.layout != list || cl != d.class && (d.accepted == nil || d.accepted.Load() != cl) {
		return false
	}
	elem := d.elem
	each := elem.class
	switch {
	case each == nil || each.unsure || flags >= mixed:
		return false
	case flags&undecided != 0:
		r.Off += size
		if each = r.countClass(&countedHead{}); each == nil || !r.fits(each, elem.class) {
			r.Off = at
			return false
		}
		size = r.Off - at
	}
	flags = elem.elementFlags(flags)
	r.tally.nodes += 4
	r.tally.overhead += size
	if d.tracked {
		r.objects = append(r.objects, -1)
	}
	at += size
	i := 0
	switch {
	case flags&hasNull != 0:
	case flags&counted == 0 && each.layout == zigzag:
		for ; i < n; i++ {
			size := zigzagSize(b[at:])
			if size < 0 {
				break
			}
			at += size
		}
	case flags&counted != 0:
		for ; i < n && at >= 0 && at <= len(b)-window && b[at] == refSeen; i++ {
			k, size := int(b[at+1]), 2
			if k >= 0x80 {
				k, size = k&0x7f|int(b[at+2])<<7, 3
			}
			if size == 3 && b[at+2] >= 0x80 || k >= len(r.objects) {
				break
			}
			at += size
		}
	}
	r.Off = at
	r.tally.nodes += i
	if i < n {
		r.Enter()
		r.countElements(i, n, each, elem, flags)
		r.Leave()
	}
	return true
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

// countIntegers takes the next numbers of 32 bits, n at most, and returns how many there are.
func (r *Reader) countIntegers(n int) (i int) {
	b, at := r.Buf, r.Off
	for ; i < n; i++ {
		size := zigzagSize(b[at:])
		if size < 0 {
			break
		}
		at += size
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
