package kryo

import (
	"math"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// scalar takes the data of a class that becomes one node.
func (r *Reader) scalar(cl *class, p place) {
	c := &r.Cursor
	switch cl.layout {
	case boxInt:
		r.integer(p, int64(r.zigzag("an int")))
	case boxLong:
		r.integer(p, r.zigzagLong("a long"))
	case boxShort:
		r.integer(p, int64(int16(r.fixed16("a short"))))
	case boxByte:
		r.integer(p, int64(int8(c.Byte("a byte"))))
	case boxBool:
		r.boolean(p, int64(c.Byte("a boolean")))
	case boxChar:
		u := rune(r.fixed16("a char"))
		r.words(p, decode.Char, func() string { return string(u) }) // a surrogate becomes U+FFFD
	case boxFloat:
		f := math.Float32frombits(r.fixed32("a float"))
		r.real(p, decode.Float32, float64(f))
	case boxDouble:
		r.real(p, decode.Float64, math.Float64frombits(r.fixed64("a double")))
	case zigzagInt:
		r.integer(p, int64(r.zigzag("an int")))
	case zigzagLong:
		r.integer(p, r.zigzagLong("a long"))
	case boolInt:
		r.boolean(p, int64(r.zigzag("an int")))
	case optionalOf:
		r.optionalNumber(cl, p)
	case stringText:
		r.stringValue(p)
	case epochMilli:
		ms := int64(r.varlong("milliseconds"))
		r.words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
	case bigInteger, bigDecimal:
		r.decimal(cl, p)
	case enum:
		r.ordinal(cl, p)
	default:
		r.javaTime(cl, p)
	}
}

// words records a scalar with a text, made only where values are wanted.
func (r *Reader) words(p place, k decode.Kind, text func() string) {
	if !r.OK() {
		return
	}
	if n := r.leaf(p, k); n != nil && (r.Values() || p.label == decode.ByKey) {
		n.Text = text()
	}
}

func (r *Reader) integer(p place, v int64) {
	if !r.OK() {
		return
	}
	if n := r.leaf(p, decode.Int); n != nil {
		n.Num = v
	}
}

func (r *Reader) boolean(p place, v int64) {
	if !r.OK() {
		return
	}
	if n := r.leaf(p, decode.Bool); n != nil && v != 0 {
		n.Num = 1
	}
}

func (r *Reader) real(p place, k decode.Kind, v float64) {
	if !r.OK() {
		return
	}
	if n := r.leaf(p, k); n != nil {
		n.Float = v
	}
}

// stringValue takes a string.
func (r *Reader) stringValue(p place) {
	off := r.Off
	x := r.text()
	switch {
	case !r.OK():
		return
	case x.null:
		r.leaf(p, decode.Null)
		return
	}
	if k := len(r.seen) - 1; k >= 0 {
		r.seen[k].text = int32(off)
	}
	r.words(p, decode.String, x.decode)
}

// asText takes an object of a JDK class that is written as a text, or shown as one: its field "value".
func (r *Reader) asText(cl *class, p place) {
	r.container(p, decode.Object, cl, func() {
		q := r.at(decode.ByField, "value", 0)
		switch cl.layout {
		case calendar:
			ms := int64(r.varlong("milliseconds"))
			r.Skip(1, "lenient")
			r.varint("the first day of the week")
			r.varint("the minimal days of a week")
			r.text()
			r.words(q, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
		case uuid:
			hi, lo := r.fixed64("a UUID"), r.fixed64("a UUID")
			r.words(q, decode.String, func() string { return jdk.UUID(hi, lo) })
		case pattern:
			x := r.text()
			r.varint("flags")
			r.words(q, decode.String, x.decode)
		case classRef:
			described := r.class(&place{})
			if !r.d.five || described != nil && described.box() {
				r.Skip(1, "whether the class is primitive")
			}
			r.words(q, decode.String, func() string {
				if described == nil {
					return ""
				}
				return described.name
			})
		case locale:
			language, country, variant := r.text(), r.text(), r.text()
			r.words(q, decode.String, func() string {
				s := language.decode()
				if len(country.raw)+len(variant.raw) > 0 {
					s += "_" + country.decode()
				}
				if len(variant.raw) > 0 {
					s += "_" + variant.decode()
				}
				return s
			})
		case zoneOffset:
			z := jdk.ReadOffset(times{r})
			r.words(q, decode.String, z.String)
		default:
			x := r.text()
			r.words(q, decode.String, x.decode)
		}
	})
}

// maxDigits bounds the numbers that are printed, in bytes: conversion to decimal is not linear.
const maxDigits = 4096

// decimal takes a BigInteger, length + 1 and two's complement bytes, or a BigDecimal, the same and its scale.
func (r *Reader) decimal(cl *class, p place) {
	n, null := r.count("the length of "+cl.name, 1, 1)
	raw := r.Bytes(n, "a number")
	scale := int32(0)
	if cl.layout == bigDecimal && !null {
		scale = r.zigzag("a scale")
	}
	switch {
	case !r.OK():
	case null:
		r.leaf(p, decode.Null)
	case len(raw) == 0 || len(raw) > maxDigits:
		r.leaf(p, decode.Opaque)
	case cl.layout == bigInteger:
		r.words(p, decode.Decimal, func() string { return jdk.Signed(raw).String() })
	default:
		r.words(p, decode.Decimal, func() string { return jdk.Decimal(jdk.Signed(raw).String(), scale) })
	}
}

// optionalNumber takes OptionalInt, OptionalLong or OptionalDouble: a boolean, and a number of fixed width.
func (r *Reader) optionalNumber(cl *class, p place) {
	present := r.Byte("whether a value is present")
	switch {
	case !r.OK():
	case present == 0:
		r.leaf(p, decode.Null)
	case cl.elem.layout == boxInt:
		r.integer(p, int64(int32(r.fixed32("an int"))))
	case cl.elem.layout == boxLong:
		r.integer(p, int64(r.fixed64("a long")))
	default:
		r.real(p, decode.Float64, math.Float64frombits(r.fixed64("a double")))
	}
}
