package dubboserialization

import (
	"fmt"
	"slices"
	"strconv"

	"dubbo-wire/internal/decode"
)

// tagged takes a value whose form is given by its tag: an object of a class of the application, or any value in a field,
// where c is the zero class.
func (r *Reader) tagged(c class, p place) {
	r.work += workPerObject
	at := r.Off
	tag, ok := r.Peek()
	if !ok {
		r.Need(1, "a value")
		return
	}
	field := len(c.desc) == 0
	switch {
	case isNumber(tag) && field:
		v := r.varint("a number")
		r.scalar(p, func(n *decode.Node) { n.Kind, n.Num = decode.Int, v })
	case tag == tagNull:
		r.Off++
		r.scalar(p, func(n *decode.Node) { n.Kind = decode.Null })
	case tag == tagNothing && field:
		r.Off++
		r.scalar(p, func(n *decode.Node) { n.Kind = decode.String })
	case tag == tagRef:
		r.Off++
		r.ref(p)
	case tag == tagStream:
		r.Off++
		r.stream(c, p)
	case tag == tagBytes && field:
		r.Off++
		r.textOrBytes(p)
	case tag == tagBytes:
		x := r.text()
		r.scalar(p, func(n *decode.Node) {
			n.Kind = decode.Enum
			n.Class = r.className(c.desc)
			n.Text = x.decode()
		})
	case tag == tagValue && field:
		r.Off++
		v := r.varint("the value of a box")
		r.scalar(p, func(n *decode.Node) { n.Kind, n.Num = decode.Int, v })
	case tag == tagValues && (field || c.form == array):
		r.values(class{form: array}, p)
	case tag == tagMap && field:
		r.mapping(class{}, p)
	case (tag == tagDesc || tag == tagDescID) && field:
		r.object(p)
	case tag == tagObject:
		r.fieldsOrElements(c, p)
	default:
		r.FailAt(at, decode.Malformed, "a value", decode.HexByte(tag))
	}
}

// fieldsOrElements takes 80 and what follows: a number of fields and the fields, or the elements of an array.
func (r *Reader) fieldsOrElements(c class, p place) {
	r.Off++
	isArray := c.form == array
	if len(c.desc) == 0 {
		// A number of fields never starts with a byte from 80 up, a length below 128 always does.
		if b, ok := r.Peek(); ok && b >= 0x80 {
			isArray = true
		} else if r.OK() && longArray(r.Buf[r.Off:]) {
			isArray = r.choose(2) == 1
		}
	}
	if isArray {
		r.container(decode.List, c, p, func(node int) {
			r.refer(node)
			n := r.elements("the length of an array")
			r.Role("length")
			r.list(n, p)
		})
		return
	}
	r.container(decode.Object, c, p, func(node int) {
		r.refer(node)
		at := r.Off
		n := r.fits(at, r.int32("the number of fields"), "the number of fields")
		r.Role("length")
		f := fields{node: node, n: n, from: r.Off}
		if l := r.layout(c); r.fitsLayout(l, at, n) {
			c.form = l.form
			r.knownMembers(l, p)
		} else {
			r.members(n, c, p)
		}
		if r.OK() {
			r.tail(f, c, p)
		}
	})
}

// int32 takes a number that must not be negative.
func (r *Reader) int32(what string) int {
	at := r.Off
	v := r.varint(what)
	if r.OK() && (v < 0 || v > 1<<31-1) {
		r.FailAt(at, decode.Malformed, what, fmt.Sprint(v))
	}
	if !r.OK() {
		return 0
	}
	return int(v)
}

// longArray reports whether the bytes after 80 can be the length of an array of 128 elements or more, and the start of its
// first element.
func longArray(b []byte) bool {
	v, n := uintAt(b)
	return v >= 128 && v <= len(b)-n && startsObject(b[n])
}

// startsObject reports whether a value written by writeObject can start with that byte.
func startsObject(b byte) bool {
	return b == tagDesc || b == tagDescID || b == tagNull || b == tagNothing
}

// list takes n elements with descriptors, of the list at p.
func (r *Reader) list(n int, p place) {
	if r.counts() {
		r.countValues(frame{left: n, last: p.follow})
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		q := r.at(decode.ByIndex, "", i)
		q.follow = p.last(i, n)
		r.object(q)
	}
}

// members takes n fields.
func (r *Reader) members(n int, c class, p place) {
	last := c.lastField(len(c.desc) > 0 && suffixed(c.desc, byTag) != byTag, p.follow)
	if r.counts() {
		r.countValues(frame{left: n, isFields: true, other: aNumber, last: last})
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		q := r.at(decode.ByField, memberName(i), 0)
		if q.follow = aNumber; i == n-1 {
			q.follow = last
		}
		r.tagged(class{}, q)
	}
}

// lastField returns what may follow the last field of an object of class c that f may follow. isCollection says whether the
// class is called as collections are.
func (c class) lastField(isCollection bool, f follow) follow {
	switch {
	case c.form == tailed || c.form == tailedMap || c.form == byTag && isCollection:
		return aNumber
	case c.form == byTag:
		return max(f, seldomNumber)
	}
	return f
}

// memberName names the field that is number i on the wire.
func memberName(i int) string {
	if i < len(memberNames) {
		return memberNames[i]
	}
	return "#" + strconv.Itoa(i)
}

var memberNames = func() (names [64]string) {
	for i := range names {
		names[i] = "#" + strconv.Itoa(i)
	}
	return names
}()

// refer assigns the next number to an object, by which later bytes may refer to it.
func (r *Reader) refer(node int) {
	if !r.OK() {
		return
	}
	r.count++
	if r.Tree == nil {
		return
	}
	for len(r.nodes) < r.count-1 { // objects in skipped bytes have no node
		r.nodes = append(r.nodes, -1)
	}
	r.nodes = append(r.nodes, int32(node))
}

// ref takes the number of an earlier object.
func (r *Reader) ref(p place) {
	at := r.Off
	v := r.uint("a reference")
	if r.OK() && v >= r.count && !r.unknownObjects {
		r.FailAt(at, decode.Malformed, fmt.Sprintf("a reference to one of %d objects", r.count), fmt.Sprint(v))
	}
	if r.unknownObjects {
		r.NeedTree()
	}
	r.scalar(p, func(n *decode.Node) {
		if r.unknownObjects || v >= len(r.nodes) || r.nodes[v] < 0 {
			n.Kind = decode.Opaque // the object was not recorded
			return
		}
		n.Kind, n.Num = decode.Ref, int64(r.nodes[v])
	})
}

// hasControls reports whether b has control characters, which texts rarely have: then it is more likely a byte array.
func hasControls(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f })
}

// textOrBytes takes the rest of a field that starts with 83: a length and so many characters, or so many bytes if they are
// not characters. For ASCII both are the same; otherwise only the class could decide.
func (r *Reader) textOrBytes(p place) {
	n := r.elements("the length of a string")
	if !r.OK() {
		return
	}
	rest := r.Buf[r.Off:]
	size, taken := measure(rest, n)
	isText := taken == n || r.Short != decode.Malformed && taken < n && cutUnit(rest[size:])
	if isText && size > n && len(rest) >= n {
		isText = r.choose(2) == 0 != hasControls(rest[:size])
	}
	if !r.OK() {
		return
	}
	if isText {
		x := text{raw: rest[:size], wide: size > n}
		if taken == n {
			r.Off += size
		} else {
			x = r.chars(n)
		}
		r.scalar(p, func(n *decode.Node) {
			n.Kind = decode.String
			if r.Values() {
				n.Text = x.decode()
			}
		})
		return
	}
	raw := r.Bytes(n, "a byte array")
	r.FillRaw(r.Scalar(p.Place, decode.Bytes), raw)
}
