package java

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// Most bodies are walked without a tree, to count their bytes by class, and most of their values are strings, boxes,
// references, and objects that have only fields. These are counted here, with the same sums as in item and in a third of
// its time. Everything else is left to item, which also reports errors.

// prepareCounting notes what counting needs to know of a class, after its descriptor was read.
func (r *Reader) prepareCounting(c *class) {
	for _, f := range r.fields[c.first : c.first+c.n] {
		if n := size(f.code); n > 0 {
			c.prims++
			c.size += int32(n)
		}
	}
	c.plain = c.shape == shapeObject && c.flags&(scWriteMethod|scExternalizable) == 0 && c.fieldsKnown && !c.guessed &&
		(c.super < 0 || r.classes[c.super].plain)
}

// countItem takes an item of a common kind. For others it takes nothing and returns false.
func (r *Reader) countItem() bool {
	b := r.Buf[r.Off:]
	if len(b) == 0 || r.unknownHandles || !r.Enter() {
		return false
	}
	r.Leave()
	switch b[0] {
	case tcNull:
		r.Off++
	case tcReference:
		if len(b) < 5 {
			return false
		}
		switch to := r.handleAt(b[1:]); {
		case to == nil:
			return false
		case to.kind == toString:
			if !r.repeats(int(to.b)) {
				r.NeedTree()
			}
		case to.kind == toClassObject || to.hidden || to.node < 0 && to.kind != toClass:
			return false
		}
		r.Off += 5
	case tcString:
		if len(b) < 3 {
			return false
		}
		n := int(binary.BigEndian.Uint16(b[1:]))
		if len(b) < 3+n || len(r.handles) >= maxHandles {
			return false
		}
		r.handles = append(r.handles, handle{kind: toString, a: int32(r.Off + 3), b: int32(n), node: -1})
		r.Off += 3 + n
	case tcObject:
		return r.countObject(b)
	case tcEnum:
		return r.countEnum(b)
	default:
		return false
	}
	r.Tally(0, 1)
	return true
}

// countObject takes an object of a class that came before: TC_OBJECT TC_REFERENCE handle newHandle classdata[].
func (r *Reader) countObject(b []byte) bool {
	at := r.referredClass(b)
	if at < 0 {
		return false
	}
	c := &r.classes[at]
	isBox := c.shape == shapeBox && c.n == 1 && c.super < 0 && !c.guessed
	if !c.plain && !isBox || isBox && len(b) < 6+int(c.size) {
		return false
	}
	self := handle{kind: toObject, a: at, b: int32(r.Off + 6)}
	if r.hiddenDepth > 0 {
		self.node = -1
	}
	r.handles = append(r.handles, self)
	r.Off += 6
	if isBox {
		r.Off += int(c.size)
	}
	r.Tally(6, 3)
	if isBox {
		return true
	}
	r.Enter()
	r.countFields(at)
	r.Leave()
	return true
}

// countEnum takes a constant whose class and name came before: TC_ENUM TC_REFERENCE handle newHandle TC_REFERENCE handle.
func (r *Reader) countEnum(b []byte) bool {
	at := r.referredClass(b)
	if at < 0 || len(b) < 11 || b[6] != tcReference {
		return false
	}
	if to := r.handleAt(b[7:]); to == nil || to.kind != toString {
		return false
	}
	self := handle{kind: toEnum, a: at, b: int32(be32(b[7:]) - baseHandle)}
	if r.hiddenDepth > 0 {
		self.node = -1
	}
	r.handles = append(r.handles, self)
	r.Off += 11
	r.Tally(6, 3)
	return true
}

// referredClass returns the class that the reference after the first byte of b refers to, -1 for anything else.
func (r *Reader) referredClass(b []byte) int32 {
	if len(b) < 6 || b[1] != tcReference || len(r.handles) >= maxHandles {
		return -1
	}
	to := r.handleAt(b[2:])
	if to == nil || to.kind != toClass || !r.classes[to.a].read {
		return -1
	}
	return to.a
}

// handleAt returns what the handle at the start of b refers to, nil for nothing.
func (r *Reader) handleAt(b []byte) *handle {
	h := int64(int32(be32(b))) - baseHandle
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
	if !c.checked {
		for n := c.n - c.prims; n > 0 && r.OK(); n-- {
			if !r.countItem() {
				r.item(decode.ByField, "", 0)
			}
		}
		return
	}
	one := *c
	for k := one.first + one.prims; k < one.first+one.n && r.OK() && r.checkField(&one, &r.fields[k]); k++ {
		if !r.countItem() {
			r.item(decode.ByField, "", 0)
		}
	}
}
