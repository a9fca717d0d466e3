package java

import (
	"strconv"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// A stream embedded in another serialization ends with its object. So the fields of an unknown class have an end there, and
// simple fields can be separated: first the primitives, as bytes that cannot be separated without the class definition, then
// the objects; and so for each subclass. They have no names: members #0, #1, …. If an object among them is of an unknown
// class itself, nothing says where its fields end: they are opaque.

// unnamedWork bounds the attempts, in bytes read per byte of the stream.
const unnamedWork = 64

// unnamed takes the fields of class at of the object that ends with the stream. It reports whether it could.
func (r *Reader) unnamed(at int32) bool {
	classes := int(r.classes[r.root].level-r.classes[at].level) + 1
	from, before := r.Off, r.save()
	work, member := unnamedWork*r.Left()+1<<12, 0
	for r.Left() > 0 && r.Buf[r.Off] == tcNull {
		r.item(decode.ByField, memberName(member), 0)
		member++
	}
	if r.OK() && r.Left() == 0 {
		return true // primitives of nothing but this byte are less likely
	}
	r.restore(from, before)
	for member = 0; r.OK() && r.Left() > 0; classes-- {
		if classes == 0 || !r.primitivesThenObjects(&member, &work, classes == 1) {
			r.restore(from, before)
			return false
		}
	}
	return r.OK()
}

// unnamedBytes takes n bytes as a member.
func (r *Reader) unnamedBytes(n, member int) {
	b := r.Bytes(n, "fields")
	r.FillRaw(r.Leaf(decode.Bytes, decode.ByField, memberName(member), 0), b)
}

func memberName(n int) string { return "#" + strconv.Itoa(n) }

// primitivesThenObjects takes the fields of one class: bytes up to the first place from where objects lead to the end of the
// stream, or to the next class's primitives. Nulls before that place may be primitives, too. Objects of the last class must
// lead to the end of the stream.
func (r *Reader) primitivesThenObjects(member, work *int, last bool) bool {
	from, before := r.Off, r.save()
	for at := from; at < len(r.Buf); at++ {
		if !r.startsObject(at) {
			continue
		}
		if *work -= 64; *work < 0 {
			return false
		}
		n := *member
		if at > from {
			r.unnamedBytes(at-from, n)
			n++
		}
		read := r.objects(&n)
		*work -= r.Off - at
		if read && (!last || r.Left() == 0) {
			*member = n
			return true
		}
		r.restore(from, before)
		if r.startsUnknown(at) {
			return false // what follows may be its own, or that of the object around it
		}
	}
	r.unnamedBytes(len(r.Buf)-from, *member)
	*member++
	return true
}

// startsUnknown reports whether the object at offset at, which could not be read, has a class.
func (r *Reader) startsUnknown(at int) bool { return r.Buf[at] == tcObject || r.Buf[at] == tcArray }

// startsObject reports whether an object starts at offset at, with bytes that primitives rarely have.
func (r *Reader) startsObject(at int) bool {
	b := r.Buf[at:]
	switch {
	case len(b) < 3:
		return false
	case b[0] == tcString:
		n := int(be16(b[1:]))
		return n <= len(b)-3 && utf8.Valid(b[3:3+n])
	case b[0] == tcReference:
		return len(b) >= 5 && r.handleAt(b[1:]) != nil
	case b[0] == tcObject || b[0] == tcArray || b[0] == tcEnum || b[0] == tcClass:
		return b[1] == tcClassDesc || b[1] == tcReference && len(b) >= 6 && r.handleAt(b[2:]) != nil
	case b[0] == tcBlockData:
		return b[len(b)-1] == tcEndBlockData && 2+int(b[1]) < len(b)
	}
	return false
}

// objects takes objects and the data of writeObject methods as members, as long as there are some, and reports whether there
// were any.
func (r *Reader) objects(member *int) bool {
	first := *member
	for r.Left() > 0 {
		at, before := r.Off, r.save()
		switch tc, _ := r.Peek(); tc {
		case tcBlockData, tcBlockDataLong:
			r.Off++
			n := r.blockLen(tc)
			r.Role("block")
			r.unnamedBytes(n, *member)
		case tcEndBlockData:
			r.Off++
			r.Role("end")
			return true
		default:
			r.item(decode.ByField, memberName(*member), 0)
		}
		if !r.OK() {
			r.restore(at, before)
			break
		}
		*member++
	}
	return *member > first
}
