package fst

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// The annotations Thin and Compress of FST 1 write arrays and texts in forms of their own.

// nibbles are the characters that a compressed text packs into half a byte.
const nibbles = "e itsanhurdmwgvl"

// packed stands before characters in half bytes: their number and the bytes follow, the first character in the low half.
const packed = 0xfe

// compressedText takes a text of a field marked Compress.
func (r *Reader) compressedText() text {
	n := r.count("the length of a string", 0)
	from := r.Off
	for n > 0 && r.OK() {
		switch r.Byte("the characters of a string") {
		case escape:
			r.Skip(2, "a character")
			n--
		case packed:
			k := int(r.Byte("a number of characters"))
			r.Skip((k+1)/2, "characters")
			n -= k
		default:
			n--
		}
	}
	if n < 0 {
		r.Fail(decode.Malformed, "the end of a string", "more characters")
	}
	if !r.OK() {
		return text{}
	}
	return text{raw: r.Buf[from:r.Off], wide: true, packed: true, order: r.d.order()}
}

// dense takes the elements of an array of a field that is marked Thin or Compress. It returns false if these make no difference.
func (r *Reader) dense(e elem, n int, f *field) bool {
	switch {
	case e == int4 && f.thin:
		r.thinInts(n)
	case e == tagged && f.thin:
		r.thin(n, func(p decode.Place) { r.value(p, f.element()) }, func(p decode.Place) { r.Scalar(p, decode.Null) })
	case e == int4 && f.compressed && n > 0:
		r.compressedInts(n)
	default:
		return false
	}
	return true
}

// thin takes the elements that are not 0 or null, with their index before each; the length of the array ends them.
func (r *Reader) thin(n int, element, missing func(p decode.Place)) {
	for next := 0; r.OK(); next++ {
		i := int(r.int32("an index"))
		r.Role("length")
		switch r.repeated += i - next; {
		case !r.OK():
			return
		case i < next || i > n:
			r.Fail(decode.Malformed, "the index of an element", fmt.Sprint(i))
			return
		case r.repeated > decode.MaxRepeated:
			r.Fail(decode.Limit, fmt.Sprintf("%d elements without bytes", decode.MaxRepeated), fmt.Sprint(r.repeated))
			return
		}
		for ; next < i; next++ {
			missing(r.At(decode.ByIndex, "", next))
		}
		if i == n {
			return
		}
		element(r.At(decode.ByIndex, "", i))
	}
}

func (r *Reader) thinInts(n int) {
	r.thin(n, func(p decode.Place) { r.Integer(p, int64(r.int32("an int"))) }, func(p decode.Place) { r.Integer(p, 0) })
}

// compressedInts takes ints in the shortest of four forms.
func (r *Reader) compressedInts(n int) {
	form := r.Byte("a form")
	r.Role("type")
	switch form {
	case 0, 1: // differences to the int before; the ints
		v := int32(0)
		for i := 0; i < n && r.OK(); i++ {
			if d := r.int32("an int"); form == 0 {
				v += d
			} else {
				v = d
			}
			r.Integer(r.At(decode.ByIndex, "", i), int64(v))
		}
	case 2:
		r.thinInts(n)
	case 3: // differences to the least one, of two bytes
		least := r.int32("an int")
		for i := 0; i < n && r.OK(); i++ {
			r.Integer(r.At(decode.ByIndex, "", i), int64(least+int32(int16(r.U16("a short")))))
		}
	default:
		if r.OK() {
			r.FailAt(r.Off-1, decode.Malformed, "a form of ints", decode.HexByte(form))
		}
	}
}
