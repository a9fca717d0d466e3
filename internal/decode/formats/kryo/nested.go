package kryo

import (
	"encoding/binary"
	"math/bits"

	"dubbo-wire/internal/decode"
)

// Objects and collections of the usual kinds are counted by one loop, countCommon, which has a stack of its own: calls for each of them
// took half of the time.

// frame is a container that is open in the loop: an object, which has a plan, or a collection.
type frame struct {
	class *class // of the object, or of all elements, nil if each says its own
	bound *class // if not nil, each element must be of this class
	plan  *plan
	at    int  // the number of the next field or element
	n     int  // how many there are
	nulls bool // of a collection: whether each element is marked as null or not
}

// countNested takes the fields or elements of an open container, which begins here.
func (r *Reader) countNested(f frame) {
	if !r.OK() {
		return
	}
	base := len(r.frames)
	r.frames = append(r.frames, f)
	for !r.countCommon(base) {
		inner := &r.frames[len(r.frames)-1]
		i := inner.at
		inner.at++
		if r.countOther(*inner, i); !r.OK() {
			break
		}
	}
	open := len(r.frames) - 1 - base
	r.Nest(-open)
	r.generics.depth -= open
	r.frames = r.frames[:base]
}

// countOther takes field or element i of f, which countCommon did not.
func (r *Reader) countOther(f frame, i int) {
	switch {
	case f.plan != nil:
		if x := &f.plan.fields[i]; !r.countField(x) {
			r.endTally()
			outer := r.within
			r.within = place{f.class, f.plan.fields, i}
			if r.field(x, nil); r.OK() {
				r.within = outer
			}
		}
	case f.bound != nil:
		if !r.countAssignable(f.bound, &anyElement) {
			r.endTally()
			r.assignable(f.bound, &anyElement, r.At(decode.ByIndex, "", i))
		}
	case f.class == nil:
		if !r.countObject() {
			r.endTally()
			r.object(r.At(decode.ByIndex, "", i))
		}
	default:
		at := r.Off
		if f.nulls && r.countNullable(f.class) || !f.nulls && r.countPresent(f.class, at, at) {
			return
		}
		r.Off = at
		r.endTally()
		r.presentOrNull(f.class, !f.nulls, r.At(decode.ByIndex, "", i))
	}
}

// window is how many bytes countCommon looks at at once: more than the longest number and the longest head of a container have.
const window = 16

// countCommon takes fields and elements of the usual kinds: those of the innermost container, and of those in it. The containers are on the
// stack from index base on, except objects and lists that countScalars takes to their end. It reports whether they all are finished; else the
// next field or element of the innermost one is another one.
func (r *Reader) countCommon(base int) (done bool) {
	if len(r.streams) > 0 || r.lost.objects || r.Level() == decode.MaxDepth {
		return r.leaveFinished(base)
	}
	b, at, objects := r.Buf, r.Off, r.objects
	outside := len(r.frames)
	most := outside + decode.MaxDepth - 1 - r.Level() // containers on the stack: one more may be open in the innermost one
	settled := r.generics.settled()
	f := &r.frames[outside-1]
	var known *class // of the object before
loop:
	for {
		var of *class // of the object that begins
		head := 0     // the length of its head
		if f.plan != nil {
			i := f.at
			at, f.at, objects = r.countScalars(b, at, f.plan.usual, i, objects)
			if r.tally.nodes += f.at - i; f.at == f.n {
				if f = r.popFrame(base); f == nil {
					done = true
					break
				}
				continue
			}
			if at > len(b)-window {
				break
			}
			w := (*[window]byte)(b[at:])
			switch u := &f.plan.usual[f.at]; {
			case u.form == usualOpen && w[0] != idNamed:
				cl, n, nulls, size, parts := r.listHead(u.field, w)
				if size == 0 || cl == nil && n > len(b)-at-size || len(r.frames) >= most {
					break loop
				}
				at += size
				r.tally.overhead += size
				r.tally.nodes += parts
				objects++
				f.at++
				var bound *class
				if cl == nil && r.probing {
					bound = u.field.list.bound
				}
				f = r.pushFrame()
				f.class, f.bound, f.plan, f.at, f.n, f.nulls = cl, bound, nil, 0, n, nulls
				continue
			case u.form == usualOpen:
				if of = r.newNamed(w); of == nil || !u.objects || !u.field.accepts(of) {
					break loop
				}
				head = namedHead
			case !isNew(w[:]):
				break loop
			case u.form == usualObject:
				of, head = u.field.class, 1
			case u.form == usualText:
				size := textSize(b[at+1:])
				if size < 0 {
					break loop
				}
				at += 1 + size
				objects++
				r.tally.nodes++
				f.at++
				continue
			default:
				break loop
			}
		} else {
			if f.at < f.n && at <= len(b)-window {
				switch w := (*[window]byte)(b[at:]); {
				case f.class == nil && w[0] == idNamed:
					if of = r.newNamed(w); of != nil && f.bound != nil && of != f.bound {
						break loop
					}
					head = namedHead
				case f.class != nil && f.class.layout == object && isNew(w[:]):
					of, head = f.class, 1
				}
			}
			if of == nil {
				i := f.at
				switch {
				case f.class == nil && f.bound == nil:
					at, f.at, objects = r.countOpen(b, at, i, f.n, objects)
				case f.class != nil && r.d.plain(f.class):
					at, f.at = r.countPlain(b, at, f.class, f.nulls, i, f.n)
				}
				if r.tally.nodes += f.at - i; f.at == f.n {
					if f = r.popFrame(base); f == nil {
						done = true
						break
					}
					continue
				}
				if at > len(b)-window {
					break
				}
				w := (*[window]byte)(b[at:])
				size := 0
				switch {
				case f.class == nil && f.bound == nil && w[0] == idNamed && f.at > i:
					continue // with the object after the elements that countOpen took
				case f.class == nil && f.bound == nil && r.d.elementForms[w[0]] == usualText && isNew(w[1:]):
					if size = textSize(b[at+2:]); size > 0 {
						size += 2
						objects++
					}
				case f.class == nil && f.bound != nil && w[0] == idNamed:
					if size = r.namedReference(w, objects); size > 0 && r.names[w[1]] != f.bound {
						size = 0
					}
				case f.class == nil, !r.d.refers(f.class):
				case f.nulls && w[0] == refNull:
					size = 1
				default:
					size = reference(w[0], w[1], objects)
				}
				if size <= 0 {
					break
				}
				at += size
				r.tally.nodes++
				f.at++
				continue
			}
		}
		if len(r.frames) >= most || of != known && (!settled || !r.knows(of)) {
			break
		}
		known = of
		at += head
		r.tally.overhead += head
		r.tally.nodes += 2
		if head == namedHead {
			r.tally.nodes++
		}
		f.at++
		fields := of.model.plan.usual
		i := 0
		at, i, objects = r.countScalars(b, at, fields, 0, objects+1)
		if r.tally.nodes += i; i < len(fields) {
			f = r.pushFrame()
			f.class, f.bound, f.plan, f.at, f.n = of, nil, &of.model.plan, i, len(fields)
		}
	}
	r.Off, r.objects = at, objects
	inside := len(r.frames) - outside
	r.Nest(inside)
	r.generics.depth += inside
	return done
}

// popFrame takes the innermost container from the stack and returns the one around it. The one at index base stays there, and the result is nil.
func (r *Reader) popFrame(base int) *frame {
	k := len(r.frames) - 1
	if k <= base {
		return nil
	}
	r.frames = r.frames[:k]
	return &r.frames[k-1]
}

// leaveFinished leaves containers that are finished, and reports whether they all are.
func (r *Reader) leaveFinished(base int) bool {
	for {
		k := len(r.frames) - 1
		if f := &r.frames[k]; f.at < f.n {
			return false
		}
		if k == base {
			return true
		}
		r.frames = r.frames[:k]
		r.Leave()
		r.generics.depth--
	}
}

// pushFrame returns a frame on the stack, whose fields are to be set.
func (r *Reader) pushFrame() *frame {
	k := len(r.frames)
	if k == cap(r.frames) {
		r.frames = append(r.frames, frame{})
	}
	r.frames = r.frames[:k+1]
	return &r.frames[k]
}

// countScalars takes the fields of an object from number i on, as long as their values are usual numbers, texts, constants, or lists of ints and
// references. at is their offset in b. It returns the offset and the number of the first that is not, and how many objects have a number then.
// It counts what is in lists; the fields are for the caller to count.
func (r *Reader) countScalars(b []byte, at int, fields []usual, i, objects int) (end, next, numbered int) {
	of := &r.d.elementForms
	for ; i < len(fields) && at >= 0 && at <= len(b)-window; i++ {
		u := &fields[i]
		w := (*[window]byte)(b[at:])
		switch u.form {
		case usualInt:
			at += intEnd(binary.LittleEndian.Uint64(w[:]))
			continue
		case usualLong:
			at += longEnd(binary.LittleEndian.Uint64(w[:]))
			continue
		case usualFixed:
			at += int(u.size)
			continue
		case usualBool:
			if w[0] <= 1 {
				at++
				continue
			}
			return at, i, objects
		case nullableInt:
			if w[0] == refNew {
				at += 1 + intEnd(binary.LittleEndian.Uint64(w[1:]))
				continue
			}
		case nullableLong:
			if w[0] == refNew {
				at += 1 + longEnd(binary.LittleEndian.Uint64(w[1:]))
				continue
			}
		case nullableFixed:
			if w[0] == refNew {
				at += 1 + int(u.size)
				continue
			}
		case nullableBool:
			if w[0] == refNew && w[1] <= 1 {
				at += 2
				continue
			}
		case usualEnum:
			if v := w[1]; w[0] == refNew && (v == 0 || v <= u.size && u.field.class.model.asked.Load()) {
				at += 2
				objects += int(u.numbered)
				continue
			}
		case usualText:
			if w[0] != refNew {
				break
			}
			p := at + 1
			if c := int(w[1]); c&moreASCII != 0 {
				n := c & 0x3f
				p++
				if c&moreUnits != 0 {
					if w[2] >= 0x80 {
						return at, i, objects
					}
					n |= int(w[2]) << 6
					p++
				} else if c == javaStream0 && w[2] == javaStream1 {
					return at, i, objects
				}
				n--
				for ; n >= 16 && p >= 0 && p <= len(b)-16; n, p = n-16, p+16 {
					v := (*[16]byte)(b[p:])
					if (binary.LittleEndian.Uint64(v[:])|binary.LittleEndian.Uint64(v[8:]))&highBits != 0 {
						return at, i, objects
					}
				}
				for ; n >= 8 && p >= 0 && p <= len(b)-8; n, p = n-8, p+8 {
					if binary.LittleEndian.Uint64(b[p:])&highBits != 0 {
						return at, i, objects
					}
				}
				if n >= 8 || p > len(b)-8 || n > 0 && binary.LittleEndian.Uint64(b[p:])<<(64-8*n)&highBits != 0 {
					return at, i, objects
				}
				at = p + max(n, 0)
				objects++
				continue
			}
			for ; p >= 0 && p <= len(b)-16; p += 16 {
				v := (*[16]byte)(b[p:])
				if high := binary.LittleEndian.Uint64(v[:]) & highBits; high != 0 {
					p += bits.TrailingZeros64(high)/8 + 1
					goto text
				}
				if high := binary.LittleEndian.Uint64(v[8:]) & highBits; high != 0 {
					p += bits.TrailingZeros64(high)/8 + 9
					goto text
				}
			}
			return at, i, objects
		text:
			at = p
			objects++
			continue
		case usualOpen:
			if w[0] == idNull {
				at++
				continue
			}
			cl, n := u.field.list.of, int(w[2])
			size, parts, nulls := 3, 4, false
			if cl != nil {
				n--
			}
			if w[0] != u.field.accepted.lists() || w[1] != refNew || uint(n) >= uint(u.size) {
				if cl, n, nulls, size, parts = r.listHead(u.field, w); size == 0 {
					return at, i, objects
				}
			}
			p, k := at+size, 0
			switch {
			case n > len(b)-p, nulls, cl == nil && r.probing && u.field.list.bound != nil:
				return at, i, objects
			case cl == nil:
			elements:
				for ; k < n && p >= 0 && p <= len(b)-window; k++ {
					w := (*[window]byte)(b[p:])
					switch of[w[0]] {
					case usualInt:
						p += 1 + intEnd(binary.LittleEndian.Uint64(w[1:]))
					case usualOpen:
						size := reference(w[2], w[3], objects+1)
						if size == 0 || int(w[1]) >= min(0x80, len(r.names)) || r.names[w[1]].layout != object {
							break elements
						}
						p += namedHead - 1 + size
					default:
						break elements
					}
				}
			case cl.layout == boxInt:
				for ; k < n && p >= 0 && p <= len(b)-window; k++ {
					p += intEnd(binary.LittleEndian.Uint64(b[p:]))
				}
			case cl.layout == object:
				for ; k < n && p >= 0 && p <= len(b)-window; k++ {
					size := reference(b[p], b[p+1], objects+1)
					if size == 0 {
						break
					}
					p += size
				}
			}
			if k < n {
				return at, i, objects
			}
			r.tally.nodes += parts + n
			r.tally.overhead += size
			at = p
			objects++
			continue
		default:
			return at, i, objects
		}
		size := 1
		if w[0] != refNull {
			if u.numbered == 0 {
				break
			}
			if size = reference(w[0], w[1], objects); size == 0 {
				break
			}
		}
		at += size
	}
	return at, i, objects
}

// countOpen takes elements that say their class, from number i of n on, as long as they are null, usual numbers or references to an object.
// at is their offset in b. It returns the offset and the number of the first that is not, and how many objects have a number then.
func (r *Reader) countOpen(b []byte, at, i, n, objects int) (end, next, numbered int) {
	of := &r.d.elementForms
	for ; i < n && at >= 0 && at <= len(b)-window; i++ {
		w := (*[window]byte)(b[at:])
		switch of[w[0]] {
		case usualInt:
			at += 1 + intEnd(binary.LittleEndian.Uint64(w[1:]))
		case usualLong:
			at += 1 + longEnd(binary.LittleEndian.Uint64(w[1:]))
		case usualNull:
			at++
		case usualOpen:
			size := r.namedReference(w, objects)
			if size == 0 {
				return at, i, objects
			}
			at += size
		default:
			return at, i, objects
		}
	}
	return at, i, objects
}

// isNew reports whether w begins with the reference byte of a new object, whose data are not a Java serialization stream.
func isNew(w []byte) bool {
	return w[0] == refNew && (w[1] != javaStream0 || w[2] != javaStream1)
}

// namedHead is the length of the head of an object whose class was named before: its number, and that the object is new.
const namedHead = 3

// newNamed returns the class of an object with such a head at the start of w, nil for others. It is written by its fields.
func (r *Reader) newNamed(w *[window]byte) *class {
	if int(w[1]) >= min(0x80, len(r.names)) || !isNew(w[2:]) {
		return nil
	}
	if cl := r.names[w[1]]; cl.layout == object {
		return cl
	}
	return nil
}

// namedReference returns the length of a reference to one of some objects at the start of w, before which its class stands, one that was
// named before; 0 for others.
func (r *Reader) namedReference(w *[window]byte, objects int) int {
	size := reference(w[2], w[3], objects)
	if size == 0 || int(w[1]) >= min(0x80, len(r.names)) || !r.d.refers(r.names[w[1]]) {
		return 0
	}
	return size + namedHead - 1
}

// reference returns the length of a reference to one of some objects that begins with these bytes, 0 if it is not one of up to two bytes.
func reference(first, second byte, objects int) int {
	switch {
	case first < 0x80:
		if first >= refFirst && int(first)-refFirst < objects {
			return 1
		}
	case second < 0x80:
		if ref := int(first&0x7f) | int(second)<<7; ref >= refFirst && ref-refFirst < objects {
			return 2
		}
	}
	return 0
}

// refers reports whether references to objects of a class can be told from its objects.
func (d *dialect) refers(c *class) bool { return c.layout != unknown && !d.plain(c) }

// knows reports whether an object of a class was read by its fields before.
func (r *Reader) knows(cl *class) bool {
	for _, used := range r.used {
		if used == cl {
			return cl.model.plan.missing == ""
		}
	}
	return false
}

// accepts reports whether the field is known to allow a class.
func (f *field) accepts(cl *class) bool { return cl == f.class || cl == f.accepted.class.Load() }

// listHead returns what the head of a new collection of the usual kind in a field says, which is at the start of w: the class of which all
// elements are, nil if each says its own, how many there are and whether they may be null; and its length, 0 for another one, and the nodes
// of the collection and its head.
func (r *Reader) listHead(f *field, w *[window]byte) (of *class, n int, nulls bool, size, nodes int) {
	if w[0] != f.accepted.lists() || !isNew(w[1:]) {
		return nil, 0, false, 0, 0
	}
	if !r.d.isKryo5 {
		switch {
		case w[2] < 0x80:
			return nil, int(w[2]), false, 3, 4
		case w[3] < 0x80:
			return nil, int(w[2]&0x7f) | int(w[3])<<7, false, 4, 4
		}
		return nil, 0, false, 0, 0
	}
	same := w[2]&0x80 != 0
	size, n = 3, int(w[2]&0x3f)
	if w[2]&moreUnits != 0 {
		size, n = 4, n|int(w[3])<<6
	}
	n--
	switch {
	case w[2]&moreUnits != 0 && w[3] >= 0x80, n < 0:
	case f.list.of != nil:
		return f.list.of, n, same, size, 4
	case !same || n == 0:
		return nil, n, false, size, 4
	case w[size] == idNamed && int(w[size+1]) < min(0x80, len(r.names)):
		of = r.names[w[size+1]]
		size += 2
	case w[size] >= idOffset && int(w[size]) < min(0x80, len(r.d.classes)+idOffset):
		of = r.d.classes[w[size]-idOffset]
		size++
	}
	if of == nil || of.layout == unknown || r.probing && f.list.bound != nil && of != f.list.bound {
		return nil, 0, false, 0, 0
	}
	return of, n, w[size] != 0, size + 1, 6
}

// intEnd returns the length of the number of up to five bytes at the start of b, seven bits in each. Its branches let a processor go on
// with what follows before it knows the length, which mostly is that of the last value of a field.
func intEnd(b uint64) int {
	switch {
	case b&0x80 == 0:
		return 1
	case b&0x8000 == 0:
		return 2
	case b&0x800000 == 0:
		return 3
	case b&0x80000000 == 0:
		return 4
	}
	return 5
}

// longEnd is intEnd for a number of up to nine bytes.
func longEnd(b uint64) int {
	switch {
	case b&0x80808080 != 0x80808080:
		return intEnd(b)
	case b&0x8000000000 == 0:
		return 5
	case b&0x800000000000 == 0:
		return 6
	case b&0x80000000000000 == 0:
		return 7
	case b&0x8000000000000000 == 0:
		return 8
	}
	return 9
}
