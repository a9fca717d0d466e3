package java

import "dubbo-wire/internal/decode"

// entries takes the keys and values of a map. A null key ends a ConcurrentHashMap, with a null value.
//
// Of a map that a list is a view of, only the keys or the values are elements.
func (r *Reader) entries(i int, s shape) {
	half := shapeMap
	if r.viewOf == i {
		half, r.viewOf = r.view, noNode
	}
	size, bare, items := r.beginElements()
	if s != shapeCollSer {
		size *= 2
	}
	for k := 0; r.more(); k++ {
		if tc, _ := r.Peek(); tc == tcNull && s == shapeNullEnds {
			r.Off++
			if tc, _ := r.Peek(); tc == tcNull {
				r.Off++
			}
			r.Role("end")
			continue
		}
		items += r.entry(k, half)
	}
	r.endElements(size, items, bare)
}

// entry takes a key and a value and returns how many of the two there are. half says which one is an element of a view.
func (r *Reader) entry(k int, half shape) int {
	name := ""
	switch half {
	case shapeKeys:
		r.item(decode.ByIndex, "", k)
	case shapeMapValues:
		r.hidden("key")
	default:
		name = r.mapKey(k)
	}
	if !r.more() {
		return 1
	}
	switch half {
	case shapeKeys:
		r.hidden("value")
	case shapeMapValues:
		r.item(decode.ByIndex, "", k)
	default:
		r.item(decode.ByEntry, name, k)
	}
	return 2
}

// mapKey takes key number k of a map and returns its text, "" when it is not a string.
func (r *Reader) mapKey(k int) (name string) {
	isNew := false
	switch tc, _ := r.Peek(); tc {
	case tcString, tcLongString:
		isNew = true
		r.Off++
		str := r.newString(tc)
		if r.OK() && r.Tree != nil {
			name = r.utf(r.chars(str))
		}
	case tcReference:
		at := r.Off
		r.Off++
		h, ok := r.refer()
		if !r.OK() {
			return ""
		}
		if ok && r.handles[h].kind == toString && r.repeats(int(r.handles[h].b)) {
			if r.Tree != nil {
				name = r.text(h)
			}
			break
		}
		r.Off = at
		r.item(decode.ByKey, "", k)
		return ""
	default:
		r.item(decode.ByKey, "", k)
		return ""
	}
	if n := r.Leaf(decode.String, decode.ByKey, name, k); n != nil {
		n.Text = name
		if isNew {
			r.located()
		}
	}
	return name
}
