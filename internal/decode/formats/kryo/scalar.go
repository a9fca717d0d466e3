package kryo

import (
	"fmt"
	"math"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// scalar takes the data of a class that becomes one node. With the application's classes, which have these as fields, atomic
// numbers become objects as they are in Java.
func (r *Reader) scalar(cl *class, p decode.Place) {
	node := r.NextNode()
	r.oneNode(cl, p)
	r.ClassOf(node, cl.name)
}

func (r *Reader) oneNode(cl *class, p decode.Place) {
	switch cl.layout {
	case zigzagInt, zigzagLong, boolInt:
		if r.library != nil {
			r.container(p, decode.Object, cl, func() {
				q := r.At(decode.ByField, "value", 0)
				if cl.layout == zigzagLong {
					r.Integer(q, r.zigzagLong("a long"))
				} else {
					r.Integer(q, int64(r.zigzag("an int")))
				}
			})
			return
		}
	}
	switch cl.layout {
	case boxInt, zigzagInt:
		r.Integer(p, int64(r.zigzag("an int")))
	case boxLong, zigzagLong:
		r.Integer(p, r.zigzagLong("a long"))
	case boxShort:
		r.Integer(p, int64(int16(r.fixed(2, "a short"))))
	case boxByte:
		r.Integer(p, int64(int8(r.Byte("a byte"))))
	case boxBool:
		b := r.Byte("a boolean")
		if b > 1 && r.strict() {
			r.FailAt(r.Off-1, decode.Malformed, "a boolean, 00 or 01", decode.HexByte(b))
		}
		r.Boolean(p, b != 0)
	case boxChar:
		u := rune(r.fixed(2, "a char"))
		r.Words(p, decode.Char, func() string { return string(u) }) // a surrogate becomes U+FFFD
	case boxFloat:
		r.Real(p, decode.Float32, float64(math.Float32frombits(uint32(r.fixed(4, "a float")))))
	case boxDouble:
		r.Real(p, decode.Float64, math.Float64frombits(r.fixed(8, "a double")))
	case boolInt:
		r.Boolean(p, r.zigzag("an int") != 0)
	case optionalOf:
		r.optionalNumber(cl, p)
	case stringText:
		r.stringValue(p)
	case epochMilli:
		ms := int64(r.Varint9("milliseconds"))
		r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
	case bigInteger, bigDecimal:
		r.decimal(cl, p)
	case enum:
		r.ordinal(cl, p)
	case enumName:
		r.namedConstant(cl, p)
	default:
		r.javaTime(cl, p)
	}
}

// namedConstant takes the name of a constant of an enum, in Kryo 4 as an object.
func (r *Reader) namedConstant(cl *class, p decode.Place) {
	var name string
	k := uint32(0)
	if !r.d.isKryo5 {
		k = r.varint("a reference byte")
	}
	switch {
	case !r.OK():
		return
	case r.d.isKryo5, k == refNew:
		if k == refNew {
			r.number()
		}
		off := r.Off
		x := r.text()
		if k == refNew {
			r.keep(off, x)
		}
		if r.Tree != nil {
			name = x.decode()
		}
	case k < refFirst || int64(k-refFirst) >= int64(r.objects):
		r.Fail(decode.Malformed, "the name of a constant", fmt.Sprintf("reference %d", k))
	case r.Tree != nil:
		name = r.textOf(&r.seen[k-refFirst])
	}
	if n := r.Scalar(p, decode.Enum); n != nil {
		n.Class, n.Text = decode.JavaName(cl.name), name
		if cl.model != nil && cl.model.declares != "" {
			n.Class = cl.model.declares
		}
	}
}

// stringValue takes a string.
func (r *Reader) stringValue(p decode.Place) {
	off := r.Off
	x := r.text()
	switch {
	case !r.OK():
		return
	case x.null:
		r.Scalar(p, decode.Null)
		return
	}
	r.keep(off, x)
	r.Words(p, decode.String, x.decode)
}

// asText takes an object of a JDK class that is written as a text, or shown as one: its field "value".
func (r *Reader) asText(cl *class, p decode.Place) {
	r.container(p, decode.Object, cl, func() {
		q := r.At(decode.ByField, "value", 0)
		switch cl.layout {
		case calendar:
			ms := int64(r.Varint9("milliseconds"))
			r.Skip(1, "lenient")
			r.varint("the first day of the week")
			r.varint("the minimal days of a week")
			r.text()
			r.Words(q, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
		case uuid:
			hi, lo := r.fixed(8, "a UUID"), r.fixed(8, "a UUID")
			r.Words(q, decode.String, func() string { return jdk.UUID(hi, lo) })
		case pattern:
			x := r.text()
			if r.pattern = true; !r.d.isKryo224 {
				r.varint("flags")
			}
			r.Words(q, decode.String, x.decode)
		case classRef:
			described := r.class(&decode.Place{})
			if !r.d.isKryo5 || described != nil && (described.box() || described.name == "void") {
				r.Skip(1, "whether the class is primitive")
			}
			r.Words(q, decode.String, func() string {
				if described == nil {
					return ""
				}
				return described.name
			})
		case locale:
			language, country, variant := r.text(), r.text(), r.text()
			r.Words(q, decode.String, func() string {
				return jdk.Locale(language.decode(), country.decode(), variant.decode())
			})
		case zoneOffset:
			z := jdk.ReadOffset(times{r})
			r.Words(q, decode.String, z.String)
		default:
			x := r.text()
			r.Words(q, decode.String, x.decode)
		}
	})
}

// keep notes the text at an offset as that of the object that was numbered last.
func (r *Reader) keep(off int, x text) {
	switch k := len(r.seen) - 1; {
	case k < 0:
	case r.buffer == 0:
		r.seen[k].text = int32(off)
	default:
		r.seen[k].text, r.seen[k].copy = inText, x.decode()
	}
}

// maxDigits bounds the numbers that are printed, in bytes: conversion to decimal is not linear.
const maxDigits = 4096

// decimal takes a BigInteger, length + 1 and two's complement bytes, or a BigDecimal, the same and its scale.
func (r *Reader) decimal(cl *class, p decode.Place) {
	n, null := r.count("the length of "+cl.name, 1, 1)
	raw := r.Bytes(n, "a number")
	scale := int32(0)
	if cl.layout == bigDecimal && !null {
		scale = r.zigzag("a scale")
	}
	switch {
	case !r.OK():
	case null:
		r.Scalar(p, decode.Null)
	case len(raw) == 0 || len(raw) > maxDigits:
		r.Scalar(p, decode.Opaque)
	default:
		r.Words(p, decode.Decimal, func() string { return jdk.Decimal(jdk.Signed(raw).String(), scale) })
	}
}

// optionalNumber takes OptionalInt, OptionalLong or OptionalDouble: a boolean, and a number of fixed width.
func (r *Reader) optionalNumber(cl *class, p decode.Place) {
	if r.library != nil {
		r.container(p, decode.Object, cl, func() {
			r.scalar(elements['Z'], r.At(decode.ByField, "isPresent", 0))
			if r.OK() && r.Buf[r.Off-1] != 0 {
				r.presentNumber(cl, r.At(decode.ByField, "value", 0))
			}
		})
		return
	}
	present := r.Byte("whether a value is present")
	switch {
	case !r.OK():
	case present == 0:
		r.Scalar(p, decode.Null)
	default:
		r.presentNumber(cl, p)
	}
}

// presentNumber takes the number of an OptionalInt, OptionalLong or OptionalDouble.
func (r *Reader) presentNumber(cl *class, p decode.Place) {
	switch cl.elem.layout {
	case boxInt:
		r.Integer(p, int64(int32(r.fixed(4, "an int"))))
	case boxLong:
		r.Integer(p, int64(r.fixed(8, "a long")))
	default:
		r.Real(p, decode.Float64, math.Float64frombits(r.fixed(8, "a double")))
	}
}
