package protostuff

import (
	"bytes"
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
)

// isCollection reports whether ownCollection reads a class: collections and maps of the JDK that keep what is in them in fields that are
// written.
func isCollection(class string) bool {
	name, ok := strings.CutPrefix(class, "java.util.ImmutableCollections$")
	if ok {
		switch name {
		case "List12", "ListN", "Set12", "SetN", "Map1", "MapN":
			return true
		}
		return false
	}
	name, ok = strings.CutPrefix(class, "java.util.Collections$")
	if !ok {
		return false
	}
	switch name {
	case "SingletonList", "SingletonSet", "SingletonMap":
		return true
	}
	for _, prefix := range []string{"Unmodifiable", "Synchronized", "Checked"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ownCollection takes a collection or a map that is a value of its own. Its class is none of those that Dubbo wraps, so that its private
// fields are written.
func (r *Reader) ownCollection(s *schema, p decode.Place, h header) {
	r.use(s)
	kind := decode.List
	if strings.Contains(s.name, "Map") {
		kind = decode.Map
	}
	r.head(kind, p, h, wrapper)
	if !r.Enter() {
		return
	}
	n, name := 0, ""
	for r.OK() && r.Left() > 0 {
		f := r.fieldAhead(s)
		off := r.Off
		_, w := r.tag()
		switch {
		case !r.OK():
		case f == nil:
			r.misfits(off, s.numbersText()+" of class "+s.name, "another one")
		case f.name == "e1" && w == startGroup && bytes.HasPrefix(r.Buf[r.Off:], []byte{0x80, 0x01, 0x00}): // an Object: there is one element
			r.skip(r.start(f.number, w))
			r.Role("end")
		case f.name == "element" || f.name == "e0" || f.name == "e1" || f.name == "c" && f.repeated:
			r.value(decode.Place{Label: decode.ByIndex, Index: n}, anyObject, f.number, w)
			n++
		case f.name == "k" || f.name == "k0":
			key := r.NextNode()
			r.value(decode.Place{Label: decode.ByKey}, anyObject, f.number, w)
			name = r.NameKey(key)
			n++
		case f.name == "v" || f.name == "v0":
			if n == 0 {
				r.Leaf(decode.Null, decode.ByKey, "", 0)
			}
			r.value(decode.Place{Label: decode.ByEntry, Name: name}, anyObject, f.number, w)
			n = 2
		case f.name == "elements" || f.name == "table":
			r.slots(kind, r.start(f.number, w))
			n = 2
		case f.name == "m" && w != reference:
			r.mapping(anyObject, anyObject, r.start(f.number, w))
			r.Role("end")
			n = 2
		default: // the number of elements, the same collection again, the view itself
			r.skipValue(f.number, w)
			r.Role("field")
		}
	}
	switch {
	case kind == decode.List && n == 0 && strings.HasPrefix(s.name, "java.util.Collections$Singleton"):
		r.Leaf(decode.Null, decode.ByIndex, "", 0)
	case kind == decode.Map && n < 2 && !strings.HasSuffix(s.name, "$MapN"):
		if n == 0 {
			r.Leaf(decode.Null, decode.ByKey, "", 0)
		}
		r.Leaf(decode.Null, decode.ByEntry, name, 0)
	}
	r.Leave()
	r.Close()
}

// skipValue takes the value of a field that is not shown.
func (r *Reader) skipValue(number uint64, w byte) {
	switch w {
	case startGroup:
		r.unseen(r.start(number, w))
	case delimited:
		r.delimited("a value")
	case reference:
		r.objectNumber()
	case endGroup:
		r.misfits(r.Off, "a value", wireName(w))
	default:
		r.raw(w)
	}
}

// fieldAhead returns the field whose tag comes next, nil if the class has none with that number.
func (r *Reader) fieldAhead(s *schema) *field {
	off := r.Off
	n, _ := r.tag()
	if r.OK() {
		r.Off = off
	}
	for i := range s.fields {
		if s.fields[i].number == n {
			return &s.fields[i]
		}
	}
	return nil
}

// slots takes the array that holds the elements, or keys and values in turn. Free slots are null, and so are not written.
func (r *Reader) slots(kind decode.Kind, m nested) {
	r.expect(tagOf(idArray, delimited))
	r.delimited("a class name")
	r.field(3)
	r.field(2)
	r.Role("length")
	if kind == decode.List {
		r.elements(anyObject, m)
		r.Role("end")
		return
	}
	key, name := -1, ""
	for i := 0; r.OK(); i++ {
		f, w, more := r.next(m)
		switch {
		case !more && i%2 == 1:
			r.misfits(r.Off, "the value of a key", "the end of a map")
		case !more:
			r.Role("end")
			return
		case f != 1:
			r.misfits(r.Off, "an element", fmt.Sprintf("field %d", f))
		case i%2 == 0:
			key = r.NextNode()
			r.value(decode.Place{Label: decode.ByKey, Index: i / 2}, anyObject, f, w)
			name = r.NameKey(key)
		default:
			r.value(decode.Place{Label: decode.ByEntry, Name: name, Index: i / 2}, anyObject, f, w)
		}
	}
}
