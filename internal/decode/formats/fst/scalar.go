package fst

import (
	"math"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// scalar takes the data of a class that becomes one node.
func (r *Reader) scalar(cl *class, p decode.Place) {
	switch cl.layout {
	case box:
		r.primitive(cl.elem, p)
	case date:
		ms := r.int64("milliseconds")
		r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
	case sqlDate, timestamp:
		r.sqlTime(cl, p)
	case bigInteger:
		raw := r.Bytes(r.count("the length of a number", 1), "a number")
		r.decimal(p, raw, 0)
	case bigDecimal:
		r.bigDecimal(p)
	case javaTime:
		r.javaTime(cl, p)
	case numberInt:
		v := r.int32("an int")
		r.expect(fieldsEnd, "the end of the fields")
		r.Integer(p, int64(v))
	case numberLong:
		v := r.int64("a long")
		r.expect(fieldsEnd, "the end of the fields")
		r.Integer(p, v)
	case boolInt:
		v := r.int32("an int")
		r.expect(fieldsEnd, "the end of the fields")
		r.Boolean(p, v != 0)
	default:
		r.failUnknown(cl, p)
	}
}

// asText takes an object of a JDK class that is shown as a text: its field "value".
func (r *Reader) asText(cl *class, p decode.Place) {
	r.container(p, decode.Object, cl, func() {
		q := r.At(decode.ByField, "value", 0)
		switch cl.layout {
		case classRef:
			r.Byte("whether the class is primitive")
			x := r.text()
			r.Words(q, decode.String, x.decode)
		case uuid:
			lo, hi := uint64(r.int64("a UUID")), uint64(r.int64("a UUID"))
			r.Words(q, decode.String, func() string { return jdk.UUID(hi, lo) })
			r.end()
		default:
			x := r.text()
			r.Words(q, decode.String, x.decode)
		}
	})
}

// primitive takes an element of a primitive array, or the data of a box.
func (r *Reader) primitive(e elem, p decode.Place) {
	switch e {
	case bytes1:
		r.Integer(p, int64(int8(r.Byte("a byte"))))
	case bool1:
		r.Boolean(p, r.Byte("a boolean") != 0)
	case char2:
		u := rune(r.short("a char"))
		r.Words(p, decode.Char, func() string { return string(u) }) // a surrogate becomes U+FFFD
	case short2:
		r.Integer(p, int64(int16(r.short("a short"))))
	case int4:
		r.Integer(p, int64(int32(r.Little(4, "an int"))))
	case long8:
		r.Integer(p, int64(r.Little(8, "a long")))
	case float4:
		r.Real(p, decode.Float32, float64(math.Float32frombits(uint32(r.Little(4, "a float")))))
	case double8:
		r.Real(p, decode.Float64, math.Float64frombits(r.Little(8, "a double")))
	}
}

// sqlTime takes the section of java.util.Date, milliseconds, and that of its subclass: nothing, or nanoseconds.
func (r *Reader) sqlTime(cl *class, p decode.Place) {
	r.expect(sectionOwn, "a section")
	r.expect(sectionDefault, "the fields of a section")
	r.expect(fieldsEnd, "the end of the fields")
	ms := r.int64("milliseconds")
	r.expect(sectionFields, "a section")
	nanos := int64(0)
	if cl.layout == timestamp {
		nanos = int64(r.int32("nanoseconds"))
	}
	r.expect(fieldsEnd, "the end of the fields")
	r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms).Add(time.Duration(nanos))) })
}

// maxDigits bounds the numbers that are printed, in bytes: conversion to decimal is not linear.
const maxDigits = 4096

// decimal records a number of two's complement bytes.
func (r *Reader) decimal(p decode.Place, raw []byte, scale int32) {
	if len(raw) == 0 || len(raw) > maxDigits {
		r.Scalar(p, decode.Opaque)
		return
	}
	r.Words(p, decode.Decimal, func() string { return jdk.Decimal(jdk.Signed(raw).String(), scale) })
}

// bigDecimal takes the sections of Number, without fields, and of BigDecimal: scale, a tagged BigInteger. Small
// BigIntegers are shared, so that it may be a handle.
func (r *Reader) bigDecimal(p decode.Place) {
	r.expect(sectionFields, "a section")
	r.expect(fieldsEnd, "the end of the fields")
	r.expect(sectionOwn, "a section")
	r.expect(sectionDefault, "the fields of a section")
	scale := r.int32("a scale")
	var raw []byte
	if b, _ := r.Peek(); b == tagHandle {
		r.Off++
		raw = r.integerAt(int(r.int32("a handle")))
	} else {
		r.expect(tagObject, "a BigInteger")
		r.expect(bigIntegerID, "a BigInteger")
		raw = r.Bytes(r.count("the length of a number", 1), "a number")
	}
	r.expect(fieldsEnd, "the end of the fields")
	r.decimal(p, raw, scale)
}

const bigIntegerID = 11

// integerAt returns the bytes of the BigInteger whose tag is at off, nil when there is none.
func (r *Reader) integerAt(off int) []byte {
	if off < 0 || off+2 > r.Off || r.Buf[off] != tagObject || r.Buf[off+1] != bigIntegerID {
		return nil
	}
	var x Reader
	x.Cursor.Reset(r.Buf[:r.Off], decode.Malformed)
	x.Off = off + 2
	return x.Bytes(x.count("", 1), "")
}
