package hessian2

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// object takes an object, after the definitions of classes that were not defined before:
//
//	(43 name int name*)* (60-6f | 4f int) value*
func (r *Reader) object(p *place) bool {
	node, ok := r.open(decode.Object, p)
	if !ok {
		return false
	}
	for r.Off < len(r.Buf) && r.Buf[r.Off] == 'C' {
		if !r.definition() {
			return false
		}
	}
	i, stop := r.classIndex()
	if stop < 0 || !r.role("type", stop) {
		return false
	}
	c := &r.classes[i]
	if n := r.Tree.Node(node); n != nil {
		n.Class = c.name
	}
	owner := r.table.add(target{int32(node), ofClass(i)})
	if c.counted != once {
		r.table.counts(c.counted)
	}
	first, n, compact := c.first, c.n, c.compact
	if r.bytesOnly() {
		ok = r.values(n) == n
	} else {
		ok = r.objectFields(p, i, first, n, owner)
	}
	if !ok {
		return false
	}
	if compact != "" && !r.compact(compact) {
		return false
	}
	r.close(node)
	if r.classes[i].means != nothing && r.Values() {
		r.interpret(node, i, p.enum)
	}
	return true
}

// objectFields takes the n fields of an object of class i, an entry of the table, at p.
func (r *Reader) objectFields(p *place, i, first, n int, owner int32) bool {
	f := place{label: decode.ByField}
	if r.classes[i].means == enumSet {
		f.elements = certain
	}
	if r.observer != nil {
		r.observer.hold(p.slot, ofClass(i))
	}
	for k := range n {
		if r.Tree != nil {
			f.name = r.fields[first+k]
		}
		f.index = k
		if r.observer != nil {
			f.slot, r.observer.owner = r.observer.first[i]+int32(k), owner
		}
		if !r.value(&f) {
			return false
		}
	}
	return true
}

// classIndex reads the opcode of an object and returns the index of its class and the offset after it, -1 after
// failing.
func (r *Reader) classIndex() (i, stop int) {
	if r.Off >= len(r.Buf) {
		return 0, r.failShort("an object")
	}
	switch op := r.Buf[r.Off]; {
	case op >= 0x60 && op <= 0x6f:
		i, stop = int(op-0x60), r.Off+1
	case op == 'O':
		if i, stop = r.int(r.Off+1, "the index of a class"); stop < 0 {
			return 0, -1
		}
	default:
		return 0, r.fail(decode.Malformed, "an object after its class definition", describe(op))
	}
	if i < 0 || i >= len(r.classes) {
		at := r.Off
		if r.Buf[at] == 'O' {
			at++
		}
		return 0, r.failAt(at, decode.Malformed, fmt.Sprintf("an index below %d of the class table", len(r.classes)), fmt.Sprint(i))
	}
	return i, stop
}

// definition takes the definition of a class.
func (r *Reader) definition() bool {
	var known *repeated
	start := r.Off
	if r.bytesOnly() {
		if known = r.definitionSlot(); known.at(r.Buf[start:]) {
			r.Off += len(known.raw)
			r.Tally(known.length, known.nodes)
			r.Recount(decode.ClassNames, len(known.raw)-known.length)
			r.addClass(class{n: known.n, counted: known.counted, compact: known.compact})
			return true
		}
	}
	at := r.Off + 1
	stop := r.textEnd(at, "the name of a class")
	if stop < 0 {
		return false
	}
	c := class{first: len(r.fields)}
	wire, field := r.Buf[at:stop], []byte(nil)
	if r.Tree != nil {
		c.name = r.text(at, stop, true)
	}
	if !r.role("class", stop) {
		return false
	}
	n, stop := r.count(stop, "the number of a class's fields")
	length := stop - r.Off
	if stop < 0 || !r.role("length", stop) {
		return false
	}
	c.n = n
	for k := range n {
		at = r.Off
		if stop = r.textEnd(at, "the name of a field"); stop < 0 {
			return false
		}
		if r.Tree != nil {
			r.fields = append(r.fields, r.text(at, stop, true))
		}
		if k == 0 {
			field = r.Buf[at:stop]
		}
		if r.observer != nil {
			r.observer.field(r.Buf[at:stop])
		}
		if !r.role("field", stop) {
			return false
		}
	}
	c.counted, c.compact = countedAs(wire, field), compactOf(wire, n)
	if r.observer != nil {
		r.observer.class(wire, field, n)
	}
	if r.Tree != nil {
		if c.means = meaningOf(c.name, r.fields[c.first:]); c.means == enumConstant {
			c.kind = calledEnum(c.name)
		}
	}
	if known.keep(r.Buf[start:r.Off]) {
		known.nodes, known.n, known.length, known.counted, known.compact = 2+n, n, length, c.counted, c.compact
	}
	r.addClass(c)
	return true
}

func (r *Reader) addClass(c class) {
	if i := len(r.classes); i < len(r.plain) && c.counted == once && c.compact == "" {
		r.plain[i] = int32(c.n) + 1
	}
	r.classes = append(r.classes, c)
}

// reference takes 51 int.
func (r *Reader) reference(p *place) bool {
	i, stop := r.int(r.Off+1, "the index of an object")
	if stop < 0 {
		return false
	}
	return r.refer(p, i, stop)
}

// refer takes a reference to object i, which ends at stop. If the target stands for a short scalar, the scalar is recorded again, since
// Java's reader returns it; otherwise the node refers to the target.
func (r *Reader) refer(p *place, i, stop int) bool {
	if i == noIndex {
		_, ok := r.leaf(decode.Opaque, p, stop)
		return ok
	}
	if r.observer != nil {
		r.observer.reference(i, p.slot)
		_, ok := r.leaf(decode.Ref, p, stop)
		return ok
	}
	t := &r.table
	if t.varied && !t.decided {
		r.decide()
	}
	at, _ := t.find(t.used, i)
	if at < 0 {
		r.failAt(r.Off+1, decode.Malformed, fmt.Sprintf("an index below %d of the object table", t.size(t.used)), fmt.Sprint(i))
		return false
	}
	if t.unsure {
		if rival, _ := t.find(t.rival, i); rival != at {
			_, ok := r.leaf(decode.Opaque, p, stop)
			return ok
		}
	}
	n, ok := r.leaf(decode.Ref, p, stop)
	if n == nil {
		return ok
	}
	to := t.entries[at]
	n.Num = int64(to.node)
	if r.Values() && !r.copyHidden(to) {
		r.copyScalar(n, to, p.enum)
	}
	return true
}
