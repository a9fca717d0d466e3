package kryo

import (
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// collection5 takes what Kryo 5 writes for a collection after its reference byte: the number of elements + 1 with a flag
// that all elements have one class. That class is written once, before the elements; it is null if all elements are null.
// Elements of one class have no class id. A byte says whether one of them is null, and then each is marked as null or not;
// collections that never hold null have no such byte.
func (r *Reader) collection5(cl *class) {
	e := cl.elements
	var of, bound *class // that elements have, or are said to be
	switch {
	case e != nil && e.value != nil:
		of = e.value
	default:
		args := r.generics.next()
		if args == nil {
			break
		}
		defer r.generics.pop()
		of, bound = r.elementClass(args)
	}
	present := e != nil && e.valuesPresent
	same, n := false, 0
	if of != nil && present {
		n = r.size(1)
	} else {
		same, n = r.flaggedSize()
	}
	if cl.layout == treeSet || cl.layout == queue {
		r.comparator()
	}
	switch {
	case n == 0:
		return
	case of != nil && e != nil && e.value != nil:
		r.ofClass(n, of, !same)
		return
	case of != nil:
		r.genericElements(n, of, same)
		return
	}
	if !same && bound != nil {
		for i := 0; i < n && r.OK(); i++ {
			r.assignable(bound, &anyElement, r.At(decode.ByIndex, "", i))
		}
		return
	}
	if !same {
		r.elements(n)
		return
	}
	elem := r.classRole()
	if elem == nil {
		r.nullElements(n)
		return
	}
	if bound != nil && !r.fits(elem, bound) {
		r.Fail(decode.Malformed, "elements of "+bound.name, elem.name)
		return
	}
	nulls := false
	if cl.layout != noNulls && !present {
		nulls = r.Byte("whether elements are null") != 0
		r.Role("type")
	}
	r.elementsOfClass(n, elem, nulls)
}

// elementClass returns the class that elements have, or the one that they are said to be, of a collection with type arguments.
func (r *Reader) elementClass(args []*generic) (of, bound *class) {
	switch c := r.generics.resolve(args[0]); {
	case c != nil && c.kind() != openField:
		return c, nil
	case r.probing && !args[0].loose:
		return nil, c
	}
	return nil, nil
}

// elementsOfClass takes elements of a class that is not written; if there are nulls, each is marked as null or not.
func (r *Reader) elementsOfClass(n int, cl *class, nulls bool) {
	if r.counts() {
		r.countElementsOfClass(n, cl, nulls)
		r.endTally()
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		r.presentOrNull(cl, !nulls, r.At(decode.ByIndex, "", i))
	}
}

// Elements that are null where all of them are take no byte, so a few bytes could stand for billions: maxNulls bounds
// them, per body byte beyond a first few thousand.
const (
	maxNulls   = 16
	freelyNull = 1 << 12
)

func (r *Reader) nullElements(n int) {
	if !r.OK() {
		return
	}
	if r.nulls += n; r.nulls > freelyNull+maxNulls*len(r.whole) {
		r.Fail(decode.Limit, fmt.Sprintf("at most %d null elements in this body", freelyNull+maxNulls*len(r.whole)), "more")
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		r.Scalar(r.At(decode.ByIndex, "", i), decode.Null)
	}
}

// flaggedSize takes a number of elements + 1, whose first byte has a flag in bit 7.
func (r *Reader) flaggedSize() (flag bool, n int) {
	flag, v := r.flaggedNumber("the number of elements")
	switch {
	case !r.OK():
		return false, 0
	case v == 0 || v > math.MaxInt32:
		r.Fail(decode.Malformed, "the number of elements", fmt.Sprint(int64(v)-1))
		return false, 0
	}
	r.Role("length")
	return flag, int(v - 1)
}
