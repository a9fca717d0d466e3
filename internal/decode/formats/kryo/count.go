package kryo

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"dubbo-wire/internal/decode"
)

// Where bytes are only counted, most values need no more than their length. The functions of this file take a value in one pass and
// add up what the functions of object.go, value.go and data.go would record of it. They take nothing, and return false, if the value
// is not one of the common ones or if anything is wrong with its first bytes; then those functions take it. So no error comes from here.

// tally is what was counted and not yet given to the Recorder: nodes, and the bytes of them that are overhead.
type tally struct{ nodes, overhead int }

// startCounting decides whether values of the top-level object that begins may be counted by the functions of this file.
func (r *Reader) startCounting() {
	r.quick = r.Tree == nil && r.library != nil && r.distrust == nil && r.variation == nil && !r.d.isKryo224
}

// counts reports whether values of the open container may be counted.
func (r *Reader) counts() bool { return r.quick && r.Counting() }

// endTally gives to the Recorder what was counted. Then other functions may go on.
func (r *Reader) endTally() {
	if r.tally.nodes > 0 {
		r.Tally(r.tally.overhead, r.tally.nodes)
		r.tally = tally{}
	}
}

// countFields is planned for an object of FieldSerializer or a record.
func (r *Reader) countFields(cl *class, plan *plan) {
	r.countNested(frame{class: cl, plan: plan, n: len(plan.fields)})
}

// usual says which bytes the values of a field are, if they are of one of the types that most fields have.
type usual struct {
	form     form
	size     uint8 // the bytes of a fixed number; the constants of an enum, 127 at most; a list with as many elements has a longer head
	numbered uint8 // 1: so is a reference, or the object has a number
	objects  bool  // an open field: objects look at no types that Kryo 5 keeps for the field
	field    *field
}

type form uint8

const (
	notUsual form = iota
	usualInt
	usualLong
	usualFixed
	usualBool
	nullableInt
	nullableLong
	nullableFixed
	nullableBool
	usualText
	usualEnum
	usualObject // of a final class
	usualOpen   // an object or a collection with its class
	usualList
	usualNull
)

// forms are those of the layouts that have one.
var forms = [...]usual{
	boxInt: {form: usualInt}, boxLong: {form: usualLong}, boxShort: {form: usualFixed, size: 2}, boxByte: {form: usualFixed, size: 1},
	boxBool: {form: usualBool}, boxChar: {form: usualFixed, size: 2}, boxFloat: {form: usualFixed, size: 4}, boxDouble: {form: usualFixed, size: 8},
	stringText: {form: usualText}, enum: {form: usualEnum}, collection: {form: usualList},
}

// usual finds out whether the values of a field are usual.
func (d *dialect) usual(f *field) (u usual) {
	hasArgs := d.isKryo5 && (f.generic == nil || f.generic.class != f.class || f.generic.dims != 0 || len(f.generic.args) > 0)
	switch {
	case f.counted == countedNumber:
		return forms[f.class.layout]
	case f.counted == countedNullable && int(f.class.layout) < len(forms):
		switch u = forms[f.class.layout]; u.form {
		case notUsual, usualList:
			return usual{}
		case usualInt, usualLong, usualFixed, usualBool:
			u.form += nullableInt - usualInt
		case usualEnum:
			if f.class.model == nil {
				return usual{}
			}
			u.size = uint8(min(len(f.class.model.constants), 0x7f))
		}
	case f.counted < countedNullable || f.notNull:
		return u
	case f.kind == finalField && f.class.layout == object && !hasArgs:
		u.form = usualObject
	case f.kind == openField && (f.list.is || !hasArgs):
		u = usual{form: usualOpen, objects: !hasArgs}
		switch {
		case !d.isKryo5:
			u.size = 0x80
		case f.list.of != nil:
			u.size = 0x3f
		}
		return u
	default:
		return u
	}
	if !d.plain(f.class) {
		u.numbered = 1
	}
	return u
}

// listField says of a field of an interface what its declared type says of the elements of a collection in it. Only fields whose type has no
// variables, and no arguments with arguments of their own, have one: in them no object looks at the types that Kryo 5 keeps for the field.
type listField struct {
	is    bool
	of    *class // Kryo 5: of which all elements are, nil if each says its own
	bound *class // Kryo 5: of which they must be, if of is nil
}

func (d *dialect) list(f *field) (l listField) {
	if f.kind != openField || f.counted < countedDeclared {
		return l
	}
	if !d.isKryo5 {
		return listField{is: true}
	}
	g := f.generic
	if g == nil || g.class != f.class || g.dims != 0 || len(g.args) != 1 || g.args[0].class == nil || len(g.args[0].args) > 0 {
		return l
	}
	switch c := g.args[0].class; c.kind() {
	case openField:
		if !g.args[0].loose {
			l.bound = c
		}
	case unsureField:
		return l
	default:
		l.of = c
	}
	l.is = true
	return l
}

func (r *Reader) countField(f *field) bool {
	switch f.counted {
	case countedSlowly:
		return false
	case countedNumber:
		return r.countLeaf(r.leafSize(f.class, r.Off))
	case countedNullable:
		return r.countNullable(f.class)
	case countedDeclared:
		return r.countDeclared(f.class, f.kind, f)
	}
	cl, kind := r.genericClass(f)
	r.generics.push(f.generic)
	done := r.countDeclared(cl, kind, f)
	r.generics.pop()
	return done
}

// fieldCount is how a field is counted.
type fieldCount uint8

const (
	countedSlowly   fieldCount = iota // not here
	countedNumber                     // a primitive type
	countedNullable                   // an object of the declared class, or null
	countedDeclared                   // by countDeclared
	countedGeneric                    // the same, with type arguments
)

// count decides how the field is counted.
func (f *field) count() fieldCount {
	switch scalar := f.class.layout < primitives; {
	case f.problem != "" || f.by != nil || f.fixed || f.kind == unsureField:
		return countedSlowly
	case f.kind == primitiveField:
		return countedNumber
	case f.generic != nil && !(f.kind == finalField && scalar):
		return countedGeneric
	case f.kind == finalField && !f.notNull:
		return countedNullable
	}
	return countedDeclared
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

// countDeclared is declared.
func (r *Reader) countDeclared(cl *class, kind fieldKind, f *field) bool {
	switch {
	case kind == openField:
		return r.countAssignable(cl, f)
	case kind == unsureField:
		return false
	case f.notNull:
		start := r.Off
		if !r.countPresent(cl, start, start) {
			r.Off = start
			return false
		}
		return true
	}
	return r.countNullable(cl)
}

// countAssignable is assignable.
func (r *Reader) countAssignable(declared *class, f *field) bool {
	start := r.Off
	cl, ok := r.countClass()
	switch {
	case ok && cl == nil:
		r.tally.nodes++
		return true
	case ok && r.fitsField(cl, declared, f) && r.countPresent(cl, start, r.Off):
		if b := r.Buf[start]; f.list.is && r.d.elementForms[b] == usualList && f.accepted.lists() != b {
			f.accepted.head.Store(uint32(b))
		}
		return true
	}
	r.Off = start
	return false
}

// fitsField is fits for a field, which keeps the class that was there last.
func (r *Reader) fitsField(cl, declared *class, f *field) bool {
	if cl == declared {
		return true
	}
	if f.accepted == nil || declared != f.class {
		return r.fits(cl, declared)
	}
	if f.accepted.class.Load() == cl {
		return true
	}
	if !r.fits(cl, declared) {
		return false
	}
	f.accepted.class.Store(cl)
	return true
}

// countObject is object.
func (r *Reader) countObject() bool {
	start := r.Off
	cl, ok := r.countClass()
	switch {
	case ok && cl == nil:
		r.tally.nodes++
		return true
	case ok && r.countPresent(cl, start, r.Off):
		return true
	}
	r.Off = start
	return false
}

// countClass is class for one that was there before, or null; else ok is false, and r is somewhere after its first byte.
func (r *Reader) countClass() (cl *class, ok bool) {
	id, ok := r.ShortVarint()
	switch {
	case !ok, id == idNull:
		return nil, ok
	case id == idNamed:
		n, ok := r.ShortVarint()
		if !ok || n >= len(r.names) {
			return nil, false
		}
		return r.names[n], true
	case id-idOffset < len(r.d.classes):
		cl = r.d.classes[id-idOffset]
		return cl, cl.layout != unknown
	}
	return nil, false
}

// countPresent is nonNull for a value from offset start on, whose head ends at head. If it returns false, r may be after the reference
// byte.
func (r *Reader) countPresent(cl *class, start, head int) bool {
	switch {
	case r.d.plain(cl):
		return r.countLeaf(r.leafSize(cl, r.Off))
	case r.d.isKryo5 && cl.layout == unknown:
		return false
	}
	n, ok := r.ShortVarint()
	switch {
	case !ok, r.lost.objects, n == refNull:
		return false
	case n == refNew:
		return r.countNumbered(cl, start, head)
	case n-refFirst >= r.objects:
		return false
	}
	r.tally.nodes++
	return true
}

// countNullable is nullable. If it returns false, r is where it was.
func (r *Reader) countNullable(cl *class) bool {
	start := r.Off
	switch {
	case start == len(r.Buf):
		return false
	case r.Buf[start] == refNull:
		if r.d.isKryo5 && cl.layout == unknown {
			return false
		}
		r.Off++
		r.tally.nodes++
		return true
	case r.d.plain(cl):
		if r.Buf[start] != refNew {
			return false
		}
		if r.Off++; r.countLeaf(r.leafSize(cl, r.Off)) {
			return true
		}
	case r.countPresent(cl, start, start):
		return true
	}
	r.Off = start
	return false
}

// countNumbered takes the data of an object that gets a number.
func (r *Reader) countNumbered(cl *class, start, head int) bool {
	b := r.Buf[r.Off:]
	if len(r.streams) > 0 || len(b) > 0 && b[0] == javaStream[0] && bytes.HasPrefix(b, javaStream) {
		return false
	}
	r.objects++
	if cl.layout <= primitives {
		if n := r.leafSize(cl, r.Off); n >= 0 && n <= len(b) {
			r.Off += n
			r.tally.nodes++
			return true
		}
	}
	if cl.layout >= primitives && r.countContainer(cl, start, head) {
		return true
	}
	r.objects--
	return false
}

// leafSize returns the length of the data of an object that is one node, at an offset; -1 for others, and for data with an error.
func (r *Reader) leafSize(cl *class, off int) int {
	b := r.Buf[min(off, len(r.Buf)):]
	switch cl.layout {
	case boxInt:
		return varintSize(b, 5)
	case boxLong, epochMilli:
		return varintSize(b, 9)
	case boxShort, boxChar:
		return 2
	case boxByte:
		return 1
	case boxBool:
		if len(b) > 0 && b[0] <= 1 {
			return 1
		}
	case boxFloat:
		return 4
	case boxDouble:
		return 8
	case stringText:
		return textSize(b)
	case enum:
		if m := cl.model; m != nil && len(b) > 0 && b[0] < 0x80 && (b[0] == 0 || int(b[0]) <= len(m.constants)) {
			if b[0] > 0 {
				r.ask(cl)
			}
			return 1
		}
	case enumName:
		if r.d.isKryo5 {
			return textSize(b)
		}
	case bigDecimal, bigInteger:
		if len(b) == 0 || b[0] < 2 || b[0] >= 0x80 {
			break
		}
		n := int(b[0])
		if cl.layout == bigInteger {
			return n
		}
		if scale := varintSize(b[min(n, len(b)):], 5); scale > 0 {
			return n + scale
		}
	case primitives:
		if cl.elem.layout == boxByte && len(b) > 0 && b[0] > 0 && b[0] < 0x80 {
			return int(b[0])
		}
	}
	return -1
}

// varintSize returns the length of the number of up to most bytes at the start of b, the last of which has no flag; -1 if b ends in it.
func varintSize(b []byte, most int) int {
	if len(b) >= 8 {
		if last := ^binary.LittleEndian.Uint64(b) & highBits; last != 0 {
			return min(bits.TrailingZeros64(last)/8+1, most)
		}
	}
	for i := range min(len(b), most) {
		if b[i] < 0x80 || i == most-1 {
			return i + 1
		}
	}
	return -1
}

// textSize returns the length of the text at the start of b, -1 if something is wrong with it.
func textSize(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	if b[0]&moreASCII == 0 {
		if end := asciiEnd(b); end > 0 {
			return end
		}
		return -1
	}
	n, head := int(b[0]&0x3f), 1
	if b[0]&moreUnits != 0 {
		if len(b) < 3 || b[1] >= 0x80 && b[2] >= 0x80 {
			return -1
		}
		n, head = n|int(b[1]&0x7f)<<6, 2
		if b[1] >= 0x80 {
			n, head = n|int(b[2])<<13, 3
		}
	}
	if n == 0 {
		return head
	}
	if n--; n <= len(b)-head && decode.IsASCII(b[head:head+n]) {
		return head + n
	}
	if end, left := unitsEnd(b[head:], n); left == 0 && end <= len(b)-head {
		return head + end
	}
	return -1
}

// highBits are those of eight bytes.
const highBits = 0x8080808080808080

// asciiEnd returns the offset after the first byte of b from 80 on, 0 if there is none.
func asciiEnd(b []byte) int {
	all := len(b)
	for ; len(b) >= 8; b = b[8:] {
		if high := binary.LittleEndian.Uint64(b) & highBits; high != 0 {
			return all - len(b) + bits.TrailingZeros64(high)/8 + 1
		}
	}
	for i, c := range b {
		if c >= 0x80 {
			return all - len(b) + i + 1
		}
	}
	return 0
}

// unitsEnd returns the offset after n UTF-16 units at the start of b, which is beyond b if that ends in the last one. If b ends before, or
// a unit is not one, left is how many there are from that offset on.
func unitsEnd(b []byte, n int) (off, left int) {
	for n > 0 && off < len(b) {
		switch c := b[off]; {
		case c < 0x80:
			off++
			for n--; n >= 8 && off+8 <= len(b) && binary.LittleEndian.Uint64(b[off:])&highBits == 0; n -= 8 {
				off += 8
			}
			continue
		case c>>5 == 0x6:
			off += 2
		case c>>4 == 0xe:
			off += 3
		default:
			return off, n
		}
		n--
	}
	return off, n
}

// countContainer takes the data of an object with values in it. Once it has taken their number, it returns true.
func (r *Reader) countContainer(cl *class, start, head int) bool {
	if r.Level() == decode.MaxDepth {
		return false
	}
	switch cl.layout {
	case object:
		return r.countOwn(cl, start, head)
	case collection, noNulls:
		return cl.elements == nil && r.countCollection(cl, start, head)
	case mapping:
		return cl.elements == nil && r.countMapping(start, head)
	case array:
		return r.countArray(cl, start, head)
	case primitives:
		return r.countPrimitives(cl, start, head)
	}
	return false
}

// countHead counts a container: its node, its class and its reference byte, from start to here.
func (r *Reader) countHead(start, head int) {
	r.tally.nodes++
	if head > start {
		r.tally.nodes++
	}
	if r.Off > head {
		r.tally.nodes++
	}
	r.tally.overhead += r.Off - start
}

// countLength counts the length in the head of a container, from offset from to here.
func (r *Reader) countLength(from int) {
	r.tally.nodes++
	r.tally.overhead += r.Off - from
}

// countOwn is fields.
func (r *Reader) countOwn(cl *class, start, head int) bool {
	plan := cl.fieldsOf()
	if plan.missing != "" {
		return false
	}
	r.use(cl)
	r.countHead(start, head)
	r.Enter()
	r.generics.depth++
	if len(r.generics.types) == 0 { // mostly, and with Kryo 4
		r.countFields(cl, plan)
	} else {
		if args := r.generics.next(); args != nil {
			before := r.generics.pushVariables(&plan.variables, args)
			r.countFields(cl, plan)
			r.generics.variables = r.generics.variables[:before]
		} else {
			r.countFields(cl, plan)
		}
		r.generics.pop()
	}
	r.generics.depth--
	r.Leave()
	return true
}

// countCollection is collection, for one without a comparator.
func (r *Reader) countCollection(cl *class, start, head int) bool {
	if r.d.isKryo5 {
		return r.countCollection5(cl, start, head)
	}
	from := r.Off
	n, ok := r.ShortVarint()
	if !ok || n > len(r.Buf)-r.Off {
		return false
	}
	r.countOpened(start, head, from)
	r.Enter()
	r.countElements(n)
	r.Leave()
	return true
}

// countOpened counts the head of a container that ends with a length, which was read from offset from to here.
func (r *Reader) countOpened(start, head, from int) {
	here := r.Off
	r.Off = from
	r.countHead(start, head)
	r.Off = here
	r.countLength(from)
}

// countElements is elements.
func (r *Reader) countElements(n int) { r.countNested(frame{n: n}) }

// countElementsOfClass is elementsOfClass.
func (r *Reader) countElementsOfClass(n int, cl *class, nulls bool) {
	r.countNested(frame{class: cl, n: n, nulls: nulls})
}

// countPlain takes elements of a class without reference bytes, from number i of n on, as long as they are usual. at is their offset in b.
// It returns the offset and the number of the first that is not.
func (r *Reader) countPlain(b []byte, at int, cl *class, nulls bool, i, n int) (end, next int) {
	if cl.layout == boxInt && !nulls {
		for ; i < n && at >= 0 && at <= len(b)-window; i++ {
			at += intEnd(binary.LittleEndian.Uint64(b[at:]))
		}
	}
	for ; i < n && at < len(b); i++ {
		from := at
		if nulls {
			if from++; b[at] == refNull {
				at = from
				continue
			}
			if b[at] != refNew {
				break
			}
		}
		size := r.leafSize(cl, from)
		if size < 0 || size > len(b)-from {
			break
		}
		at = from + size
	}
	return at, i
}

// countCollection5 is collection5, for one without a comparator.
func (r *Reader) countCollection5(cl *class, start, head int) bool {
	r.generics.depth++
	args := r.generics.next()
	var of, bound *class
	if args != nil {
		of, bound = r.elementClass(args)
	}
	done := (of == nil || of.kind() != unsureField) && r.countSized(cl, of, bound, start, head)
	if args != nil {
		r.generics.pop()
	}
	r.generics.depth--
	return done
}

// countSized takes the number of elements and the elements of a collection.
func (r *Reader) countSized(cl, of, bound *class, start, head int) bool {
	from := r.Off
	b := r.Buf[from:]
	if len(b) < 2 || b[0]&moreUnits != 0 && b[1] >= 0x80 {
		return false
	}
	same, n := b[0]&0x80 != 0, int(b[0]&0x3f)
	if r.Off++; b[0]&moreUnits != 0 {
		n |= int(b[1]) << 6
		r.Off++
	}
	if n--; n < 0 {
		return false
	}
	return r.countElements5(cl, of, bound, same, n, start, head, from)
}

// countElements5 takes the elements of a collection after their number.
func (r *Reader) countElements5(cl, of, bound *class, same bool, n, start, head, from int) bool {
	after := r.Off
	var elem *class
	nulls := false
	if same && of == nil && n > 0 {
		var ok bool
		if elem, ok = r.countClass(); !ok || elem == nil || bound != nil && !r.fits(elem, bound) {
			return false
		}
		if cl.layout != noNulls {
			if r.Off == len(r.Buf) {
				return false
			}
			nulls = r.Buf[r.Off] != 0
			r.Off++
		}
	}
	here := r.Off
	r.Off = after
	r.countOpened(start, head, from)
	r.Off = here
	if elem != nil { // the class, and whether there are nulls
		r.countLength(after)
		if cl.layout != noNulls {
			r.tally.nodes++
		}
	}
	r.Enter()
	switch {
	case of != nil:
		r.countElementsOfClass(n, of, same)
	case elem != nil:
		r.countElementsOfClass(n, elem, nulls)
	default:
		r.countNested(frame{bound: bound, n: n})
	}
	r.Leave()
	return true
}

// countMapping is mapping, for one without a comparator.
func (r *Reader) countMapping(start, head int) bool {
	from := r.Off
	n, ok := r.ShortVarint()
	if n -= r.d.sizeOffset; !ok || n < 0 || n > len(r.Buf)-r.Off {
		return false
	}
	r.countOpened(start, head, from)
	r.Enter()
	if r.d.isKryo5 {
		r.generics.depth++
		r.countEntries5(n)
		r.generics.depth--
	} else {
		r.countEntries(n)
	}
	r.Leave()
	return true
}

func (r *Reader) countEntries(n int) {
	for i := 0; i < n && r.OK(); i++ {
		if !r.countObject() {
			r.endTally()
			r.object(r.At(decode.ByKey, "", i))
		}
		if r.OK() && !r.countObject() {
			r.endTally()
			r.object(r.At(decode.ByEntry, "", i))
		}
	}
}

// countEntries5 takes the entries of a map whose declared type may have type arguments.
func (r *Reader) countEntries5(n int) {
	if n == 0 {
		return
	}
	args := r.generics.next()
	if args == nil {
		r.countEntries(n)
		return
	}
	key, value := r.entryClasses(args)
	for i := 0; i < n && r.OK(); i++ {
		r.generics.push(args[0])
		if !r.countElement(key) {
			r.endTally()
			r.element(key, false, r.At(decode.ByKey, "", i))
		}
		r.generics.pop()
		if r.OK() && !r.countElement(value) {
			r.endTally()
			r.element(value, false, r.At(decode.ByEntry, "", i))
		}
	}
	r.generics.pop()
}

// countElement is element for one that may be null.
func (r *Reader) countElement(cl *class) bool {
	if cl == nil {
		return r.countObject()
	}
	return r.countDeclared(cl, cl.kind(), &anyElement)
}

// countArray is array.
func (r *Reader) countArray(cl *class, start, head int) bool {
	from := r.Off
	n, ok := r.ShortVarint()
	if n--; !ok || n < 0 || n > len(r.Buf)-r.Off || n > 0 && !cl.elem.final && !cl.elem.isOpen() {
		return false
	}
	r.countOpened(start, head, from)
	r.Enter()
	r.generics.depth++
	if cl.elem.final {
		r.countElementsOfClass(n, cl.elem, true)
	} else {
		r.countElements(n)
	}
	r.generics.depth--
	r.Leave()
	return true
}

// countPrimitives is primitives, for an array that is a list.
func (r *Reader) countPrimitives(cl *class, start, head int) bool {
	from := r.Off
	n, ok := r.ShortVarint()
	if n--; !ok || n < 0 || cl.elem.layout == boxByte || n*boxSizes[cl.elem.layout] > len(r.Buf)-r.Off {
		return false
	}
	begin := r.Off
	for range n {
		size := r.leafSize(cl.elem, r.Off)
		if size < 0 || size > len(r.Buf)-r.Off {
			return false
		}
		r.Off += size
	}
	end := r.Off
	r.Off = begin
	r.countOpened(start, head, from)
	r.Off = end
	r.tally.nodes += n
	return true
}
