package protostuff

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// Ids of the members of a message that is a collection or a map, where Collections made it (PolymorphicCollectionSchema,
// PolymorphicMapSchema). Others have the ids of dynamic messages.
const (
	emptySet      = 1
	emptyList     = 2
	singletonSet  = 3
	singletonList = 4
	setFromMap    = 5
	copies        = 6
	firstView     = 7 // unmodifiable, synchronized
	firstChecked  = 17
	lastChecked   = 21

	emptyMap        = 1
	singletonMap    = 2
	firstMapView    = 3
	firstCheckedMap = 7
	lastCheckedMap  = 8
)

// viewed takes a message that is a collection or a map, and its end. A view of a collection is shown as the collection.
func (r *Reader) viewed(p decode.Place, m nested, h header, isMap bool) {
	views := []nested{m}
	checked := []int{0} // how many classes a view has
	var id uint64
	var wire byte
	for r.OK() {
		id, wire = r.tag()
		first, types := uint64(firstView), uint64(firstChecked)
		if isMap {
			first, types = firstMapView, firstCheckedMap
		}
		last := uint64(lastChecked)
		if isMap {
			last = lastCheckedMap
		}
		if id < first || id > last || wire == varintWire {
			break
		}
		n := 0
		switch {
		case id >= types && isMap:
			n = 2
		case id >= types:
			n = 1
		}
		if wire == reference {
			k := r.objectNumber()
			r.hidden(n)
			r.leave(views, checked)
			if r.OK() {
				r.refer(p, k)
			}
			return
		}
		if len(views) > decode.MaxDepth {
			r.Fail(decode.Limit, fmt.Sprintf("views nested at most %d deep", decode.MaxDepth), "deeper nesting")
			return
		}
		views, checked = append(views, r.start(id, wire)), append(checked, n)
	}
	inner := views[len(views)-1]
	class := ""
	if wire == delimited && r.OK() {
		class = r.text(r.delimited("a class name"))
	}
	kind := decode.List
	if isMap {
		kind = decode.Map
	}
	r.openMember(kind, p, h)
	r.typed(class)
	if !r.Enter() {
		return
	}
	done := false // the end of inner was taken
	switch {
	case isMap:
		done = r.viewedMap(id, wire, class, inner)
	default:
		done = r.viewedCollection(id, wire, class, inner)
	}
	if !done {
		r.finish(inner)
	}
	n := checked[len(checked)-1]
	r.hidden(n)
	r.leave(views[:len(views)-1], checked[:len(checked)-1])
	r.Role("end")
	r.Leave()
	r.Close()
}

// leave takes the ends of views, the inner ones first.
func (r *Reader) leave(views []nested, checked []int) {
	for i := len(views) - 1; i >= 0 && r.OK(); i-- {
		r.finish(views[i])
		r.hidden(checked[i])
	}
}

// hidden takes the classes that a checked collection or map allows.
func (r *Reader) hidden(n int) {
	for i := range n {
		if !r.OK() {
			return
		}
		f, w := r.tag()
		switch {
		case f != uint64(i+1):
			r.Fail(decode.Unsupported, fmt.Sprintf("field %d", i+1), fmt.Sprintf("field %d", f))
		case w == reference:
			r.objectNumber()
		default:
			m := r.start(f, w)
			r.noObject(w)
			r.skip(m)
		}
	}
}

func (r *Reader) viewedCollection(id uint64, wire byte, class string, m nested) (done bool) {
	switch {
	case class != "" && (id == idCollection || id == idEnumSet):
		r.elements(anyObject, m)
		return true
	case wire == varintWire && (id == emptySet || id == emptyList):
		r.varint("nothing")
	case wire == varintWire && (id == singletonSet || id == singletonList):
		r.varint("nothing")
		return r.elements(anyObject, m) >= 0
	case wire == varintWire && id == copies:
		r.varint("nothing")
		n := r.field(1)
		r.Role("length")
		return r.copies(n, m)
	case id == setFromMap && (wire == startGroup || wire == delimited && m.outer != nil):
		r.Fail(decode.Unsupported, "a collection", "a set from a map")
	default:
		r.Fail(decode.Unsupported, "a collection", fmt.Sprintf("member %d of wire type %d", id, wire))
	}
	return false
}

// copies takes the element of a list of n times the same one, and the end of its message.
func (r *Reader) copies(n uint64, m nested) bool {
	first := r.NextNode()
	f, w, more := r.next(m)
	switch {
	case !more:
		if n > 0 {
			r.missing(n, 0)
		}
		return true
	case f != 2:
		r.Fail(decode.Unsupported, "an element", fmt.Sprintf("field %d", f))
	case n > decode.MaxRepeated:
		r.Fail(decode.Limit, fmt.Sprintf("%d elements without bytes", decode.MaxRepeated), fmt.Sprint(n))
	}
	r.value(decode.Place{Label: decode.ByIndex}, anyObject, f, w)
	r.Repeat(first, int(n), func(bytes int) bool {
		r.copied += bytes
		return r.copied <= maxCopied*len(r.Buf)
	})
	return false
}

func (r *Reader) viewedMap(id uint64, wire byte, class string, m nested) (done bool) {
	switch {
	case class != "" && (id == idMap || id == idEnumMap):
		r.mapping(anyObject, anyObject, m)
		return true
	case wire == varintWire && id == emptyMap:
		r.varint("nothing")
	case wire == varintWire && id == singletonMap:
		r.varint("nothing")
		f, w, more := r.next(m)
		name := ""
		if more && f == 1 {
			key := r.NextNode()
			r.value(decode.Place{Label: decode.ByKey}, anyObject, f, w)
			name = r.NameKey(key)
			f, w, more = r.next(m)
		} else {
			r.Leaf(decode.Null, decode.ByKey, "", 0)
		}
		if !more {
			r.Leaf(decode.Null, decode.ByEntry, name, 0)
			return true
		}
		if f != 3 {
			r.Fail(decode.Unsupported, "a value", fmt.Sprintf("field %d", f))
		}
		r.value(decode.Place{Label: decode.ByEntry, Name: name}, anyObject, f, w)
	default:
		r.Fail(decode.Unsupported, "a map", fmt.Sprintf("member %d of wire type %d", id, wire))
	}
	return false
}
