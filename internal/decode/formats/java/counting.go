package java

import (
	"encoding/binary"
	"math"

	"dubbo-wire/internal/decode"
)

// Most bodies are walked without a tree, to count their bytes by class, and most of their values are strings, boxes,
// references, lists, and objects that have only fields. These are counted here, with the same sums as in anyItem and in a
// fraction of its time. Everything else is left to anyItem, which also reports errors.

// common says how objects of a class are counted here.
type common uint8

const (
	uncommon     common = iota // they are not
	commonBox                  // a primitive
	commonObject               // primitives, then items
	commonList                 // primitives, a block, and items up to the end mark
	derived                    // as commonObject, with superclasses
)

// prepareCounting notes what counting needs to know of a class, after its descriptor was read, and again when its fields prove to be others.
func (r *Reader) prepareCounting(c *class) {
	c.prims, c.size = 0, 0
	for _, f := range r.fields[c.first : c.first+c.n] {
		if n := size(f.code); n > 0 {
			c.prims++
			c.size += int32(n)
		}
	}
	c.plain = c.shape == shapeObject && c.flags&(scWriteMethod|scExternalizable) == 0 && c.fieldsKnown && !c.guessed &&
		(c.super < 0 || r.classes[c.super].plain)
	switch {
	case c.plain && c.super >= 0:
		c.common = derived
	case c.plain:
		c.common = commonObject
	case c.super >= 0 || c.guessed:
	case c.shape == shapeBox && c.n == 1:
		c.common = commonBox
	case c.shape == shapeList && c.flags&(scWriteMethod|scExternalizable) == scWriteMethod && c.fieldsKnown && !c.checked && c.n == c.prims:
		c.common = commonList
	}
}

// untilEnd as a number of items: up to the end mark of a list. No object has more than maxFields.
const (
	untilEnd  = math.MaxInt
	maxFields = math.MaxUint16
)

// remaining is what is left of a container: a number of items. They are the values of the fields before index end, which is 0 where fields
// have no declared types.
type remaining struct{ n, end int }

// objects returns what follows the primitive fields of an object.
func (c *class) objects() remaining {
	left := remaining{n: int(c.n - c.prims)}
	if c.checked {
		left.end = int(c.first + c.n)
	}
	return left
}

// mayCount reports whether countItems may be called.
func (r *Reader) mayCount() bool {
	return r.block == 0 && r.Counting() && !r.unknownHandles && r.Level() < decode.MaxDepth
}

// countItems takes items, unless there is an error. What is left of the containers around is on a stack, for each object and list that
// begins here.
func (r *Reader) countItems(left remaining) {
	base := len(r.around)
	for left = r.countCommon(left, base); left.n > 0; left = r.countCommon(left, base) {
		switch isList := left.n > maxFields; {
		case isList && !r.more():
			if left.n = 0; r.OK() {
				r.Off++
				r.Role("end")
			}
		case left.end > 0 && !r.checkField(left.end-left.n):
		case r.Enter():
			r.anyItem(decode.ByIndex, "", 0)
			r.Leave()
			left.n--
		}
		if !r.OK() {
			break
		}
	}
	r.around = r.around[:base]
}

// countCommon takes items of common kinds, also those in the objects and lists that begin here and in the ones around, which are on the stack
// from index base on. It returns what is left of the innermost one when it meets something else, 0 items if it does not.
func (r *Reader) countCommon(left remaining, base int) remaining {
	buf, at := r.Buf, r.Off
	n := left.n
	r.fieldsEnd = left.end
	nodes, overhead := 0, 0 // not counted yet, of the bytes from the last node to at
	start := len(r.around)
	most := start + decode.MaxDepth - 1 - r.Level() // of the containers that may be open
loop:
	for {
		if n == 0 {
			k := len(r.around) - 1
			if k < base {
				break
			}
			n, r.fieldsEnd, r.around = r.around[k].n, r.around[k].end, r.around[:k]
			continue
		}
		if at < 0 || at > len(buf)-shortest || len(r.handles) >= maxHandles || r.unknownHandles {
			break
		}
		w := (*[shortest]byte)(buf[at:])
		switch w[0] {
		case tcNull:
			at++
		case tcReference:
			to := r.handleOf(be32(w[1:]))
			if to == nil {
				break loop
			}
			if r.fieldsEnd > 0 {
				f := &r.fields[r.fieldsEnd-n]
				if (f.accepted != to.a+1 || to.a < 0 || to.kind != toObject && to.kind != toEnum) && !r.acceptsReference(f, to) {
					break loop
				}
			}
			if !r.refersToCounted(to) {
				break loop
			}
			at += 5
		case tcString:
			size := int(binary.BigEndian.Uint16(w[1:]))
			if size > len(buf)-at-3 {
				break loop
			}
			if r.fieldsEnd > 0 {
				if f := &r.fields[r.fieldsEnd-n]; f.accepted != textClass+1 && !r.accepts(f, textClass) {
					break loop
				}
			}
			r.addHandle(toString, int32(at+3), int32(size), -1)
			at += 3 + size
		case tcObject:
			to := r.handleOf(be32(w[2:]))
			if w[1] != tcReference || to == nil || to.kind != toClass || len(r.around) >= most {
				break loop
			}
			i := to.a
			c := &r.classes[i]
			size := 6 + int(c.size)
			if size > len(buf)-at-shortest || !c.read {
				break loop
			}
			if r.fieldsEnd > 0 {
				if f := &r.fields[r.fieldsEnd-n]; f.accepted != i+1 && !r.accepts(f, i) {
					break loop
				}
			}
			if c.common == commonBox {
				run := n
				if r.fieldsEnd > 0 {
					run = 1 // the types of fields differ
				}
				k := r.countBoxes(at, size, i, run)
				at += k * size
				overhead += k * 6
				nodes += k * 3
				n -= k
				continue
			}
			items, own := c.objects(), 6
			switch c.common {
			case commonObject:
				nodes += 3 + int(c.prims)
			case commonList:
				block := int(buf[at+size+1])
				if r.assumeNoFields || buf[at+size] != tcBlockData || block == 0 || size+2+block > len(buf)-at {
					break loop
				}
				size += 2 + block
				items, own = remaining{n: untilEnd}, size
				nodes += 5 + int(c.prims)
			case derived:
				size, items.n = own, 0
				nodes += 3
			default:
				break loop
			}
			r.assignCounted(toObject, i, int32(at+6))
			at += size
			overhead += own
			n--
			if c.common == derived {
				r.Off = at
				r.Tally(overhead, nodes)
				nodes, overhead = 0, 0
				r.Nest(len(r.around) - start + 1)
				end := r.fieldsEnd
				r.countFields(i)
				r.fieldsEnd = end
				r.Nest(start - len(r.around) - 1)
				if at = r.Off; !r.OK() { // what follows the error is not counted
					r.Nest(len(r.around) - start)
					return remaining{n, r.fieldsEnd}
				}
			}
			if items.n > 0 {
				r.around = append(r.around, remaining{n, r.fieldsEnd})
				n, r.fieldsEnd = items.n, items.end
			}
			continue
		case tcEnum:
			if len(r.around) >= most || !r.countEnum(w, n) {
				break loop
			}
			at += 11
			overhead += 6
			nodes += 2
		case tcEndBlockData:
			if n <= maxFields {
				break loop
			}
			at++
			overhead++
			nodes++
			n = 0
			continue
		default:
			break loop
		}
		nodes++
		n--
	}
	r.Off = at
	r.Tally(overhead, nodes)
	r.Nest(len(r.around) - start)
	return remaining{n, r.fieldsEnd}
}

// textClass stands for the class of texts.
const textClass = -2

// accepts reports whether an object of a class can be the value of a field, which did not accept the same one last.
func (r *Reader) accepts(f *fieldDesc, class int32) bool {
	name, ok := "java.lang.String", true
	if class != textClass {
		name, ok = r.nameOf(class)
	}
	if !ok || f.declared == nil {
		return true
	}
	if !f.declared.accepts(name) {
		return false
	}
	f.accepted = class + 1
	return true
}

// acceptsReference is accepts for what a reference refers to.
func (r *Reader) acceptsReference(f *fieldDesc, to *handle) bool {
	switch {
	case to.kind == toClass || to.kind == toClassObject || to.a < 0:
		name, ok := r.classOf(to)
		return !ok || f.declared == nil || f.declared.accepts(name)
	case to.kind == toString:
		return f.accepted == textClass+1 || r.accepts(f, textClass)
	}
	return f.accepted == to.a+1 || r.accepts(f, to.a)
}

// countBoxes takes a box of a class, and others that follow it, up to most, each of size bytes. It returns how many it took.
func (r *Reader) countBoxes(at, size int, class int32, most int) (n int) {
	b := r.Buf
	head := binary.LittleEndian.Uint64(b[at:])
	for {
		r.assignCounted(toObject, class, int32(at+6))
		n++
		at += size
		if n == most || at > len(b)-size-shortest || len(r.handles) >= maxHandles || (binary.LittleEndian.Uint64(b[at:])^head)<<16 != 0 {
			return n
		}
	}
}

// shortest is the number of bytes from an item on that countCommon looks at at once.
const shortest = 11

// assignCounted assigns the next handle to an object that is counted.
func (r *Reader) assignCounted(k handleKind, a, b int32) {
	node := int32(0)
	if r.hiddenDepth > 0 {
		node = -1
	}
	r.addHandle(k, a, b, node)
}

// addHandle assigns the next handle. It sets the fields in place: a processor waits for them when they are copied at once.
func (r *Reader) addHandle(k handleKind, a, b, node int32) {
	n := len(r.handles)
	if n == cap(r.handles) {
		r.handles = append(r.handles, handle{})
	}
	r.handles = r.handles[:n+1]
	h := &r.handles[n]
	h.kind, h.hidden, h.a, h.b, h.node = k, false, a, b, node
}

// refersToCounted reports whether a reference is to something that has a place in a tree.
func (r *Reader) refersToCounted(to *handle) bool {
	if to.kind == toString {
		if !r.repeats(int(to.b)) {
			r.NeedTree()
		}
		return true
	}
	return to.kind != toClassObject && !to.hidden && (to.node >= 0 || to.kind == toClass)
}

// countEnum takes the handle of a constant whose class and name came before: TC_ENUM TC_REFERENCE handle newHandle TC_REFERENCE handle.
func (r *Reader) countEnum(b *[shortest]byte, n int) bool {
	class, name := r.handleOf(be32(b[2:])), r.handleOf(be32(b[7:]))
	if b[1] != tcReference || class == nil || class.kind != toClass || !r.classes[class.a].read ||
		b[6] != tcReference || name == nil || name.kind != toString {
		return false
	}
	if r.fieldsEnd > 0 {
		if f := &r.fields[r.fieldsEnd-n]; f.accepted != class.a+1 && !r.accepts(f, class.a) {
			return false
		}
	}
	r.assignCounted(toEnum, class.a, int32(be32(b[7:])-baseHandle))
	return true
}

// handleAt returns what the handle at the start of b refers to, nil for nothing.
func (r *Reader) handleAt(b []byte) *handle { return r.handleOf(be32(b)) }

// handleOf returns what a handle refers to, nil for nothing.
func (r *Reader) handleOf(v uint32) *handle {
	h := int64(int32(v)) - baseHandle
	if h < 0 || h >= int64(len(r.handles)) {
		return nil
	}
	return &r.handles[h]
}

// countFields takes the fields of an object of a plain class, those of the topmost class first.
func (r *Reader) countFields(at int32) {
	c := &r.classes[at]
	if c.super >= 0 {
		r.countFields(c.super)
		c = &r.classes[at]
	}
	if !r.OK() {
		return
	}
	if len(r.Buf)-r.Off < int(c.size) {
		one := *c
		r.fieldsOf(noNode, &one) // says at which field the body ends
		return
	}
	if c.size > 0 {
		r.Off += int(c.size)
		r.Tally(0, int(c.prims))
	}
	left := c.objects()
	if left.n > 0 && r.mayCount() {
		r.countItems(left)
		return
	}
	for end := int(c.first + c.n); left.n > 0 && r.checkField(end-left.n); left.n-- {
		r.item(decode.ByField, "", 0)
	}
}
