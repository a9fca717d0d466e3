package fst

import (
	"math"
	"math/big"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// scalar takes the data of a class that becomes one node.
func (r *Reader) scalar(cl *class, p decode.Place) {
	node := r.NextNode()
	r.oneNode(cl, p)
	r.ClassOf(node, cl.name)
}

func (r *Reader) oneNode(cl *class, p decode.Place) {
	switch cl.layout {
	case box:
		r.primitive(cl.elem, p)
	case date:
		ms := r.milliseconds()
		r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
	case sqlDate, timestamp:
		r.sqlTime(cl, p)
	case bigInteger:
		raw, negative := r.bigInteger()
		r.decimal(p, raw, negative, 0)
	case bigDecimal:
		r.bigDecimal(p)
	case javaTime:
		r.javaTime(cl, p)
	case numberInt:
		v := r.int32("an int")
		r.mark(fieldsEnd, "the end of the fields")
		r.Integer(p, int64(v))
	case numberLong:
		v := r.int64("a long")
		r.mark(fieldsEnd, "the end of the fields")
		r.Integer(p, v)
	case boolInt:
		v := r.int32("an int")
		r.mark(fieldsEnd, "the end of the fields")
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

// milliseconds takes the time of a java.util.Date.
func (r *Reader) milliseconds() int64 {
	if r.d.one {
		return int64(r.Little(8, "milliseconds"))
	}
	return r.int64("milliseconds")
}

// sqlTime takes the section of java.util.Date, milliseconds, and that of its subclass: nothing, or nanoseconds.
func (r *Reader) sqlTime(cl *class, p decode.Place) {
	r.mark(sectionOwn, "a section")
	r.mark(sectionDefault, "the fields of a section")
	r.mark(fieldsEnd, "the end of the fields")
	ms := r.milliseconds()
	r.mark(sectionFields, "a section")
	nanos := int64(0)
	if cl.layout == timestamp {
		nanos = int64(r.int32("nanoseconds"))
	}
	r.mark(fieldsEnd, "the end of the fields")
	r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms).Add(time.Duration(nanos))) })
}

// maxDigits bounds the numbers that are printed, in bytes: conversion to decimal is not linear.
const maxDigits = 4096

// decimal records a number: two's complement bytes in FST 2, a sign and the bytes of the magnitude in FST 1.
func (r *Reader) decimal(p decode.Place, raw []byte, negative bool, scale int32) {
	if len(raw) == 0 && !r.d.one || len(raw) > maxDigits {
		r.Scalar(p, decode.Opaque)
		return
	}
	r.Words(p, decode.Decimal, func() string {
		if !r.d.one {
			return jdk.Decimal(jdk.Signed(raw).String(), scale)
		}
		v := new(big.Int).SetBytes(raw)
		if negative {
			v.Neg(v)
		}
		return jdk.Decimal(v.String(), scale)
	})
}

// bigInteger takes the data of a BigInteger: a count and bytes, or in FST 1 what its writeFields writes.
func (r *Reader) bigInteger() (raw []byte, negative bool) {
	if !r.d.one {
		return r.Bytes(r.count("the length of a number", 1), "a number"), false
	}
	outer := r.predicted
	r.predicted = prediction{set: true, one: hashMap}
	r.expect(1, "a HashMap")
	for n := r.count("the number of fields", 2); n > 0 && r.OK(); n-- {
		at := r.Off
		name := r.fieldText().raw
		switch tag := r.Byte("a field of a BigInteger"); tag {
		case tagInteger:
			v := r.int32("an int")
			negative = negative || string(name) == "signum" && v < 0
		case tagArray:
			if cl := r.class(&decode.Place{}); r.OK() && (cl.layout != array || cl.elem != bytes1) {
				r.FailAt(at, decode.Unsupported, "the bytes of a BigInteger", cl.name)
			}
			raw = r.Bytes(r.count("the length of a number", 1), "a number")
		default:
			if r.OK() {
				r.FailAt(r.Off-1, decode.Unsupported, "a field of a BigInteger", decode.HexByte(tag))
			}
		}
	}
	r.predicted = outer
	return raw, negative
}

// bigDecimal takes the sections of Number, without fields, and of BigDecimal: scale, a tagged BigInteger. Small
// BigIntegers are shared, so that it may be a handle.
func (r *Reader) bigDecimal(p decode.Place) {
	r.mark(sectionFields, "a section")
	r.mark(fieldsEnd, "the end of the fields")
	r.mark(sectionOwn, "a section")
	r.mark(sectionDefault, "the fields of a section")
	scale := r.int32("a scale")
	var raw []byte
	negative := false
	at := r.Off
	if b, _ := r.Peek(); b == tagHandle {
		r.Off++
		raw, negative = r.integerAt(int(r.int32("a handle")))
		if raw == nil {
			raw = unknownDigits
		}
	} else {
		r.expect(tagObject, "a BigInteger")
		r.expect(bigIntegerID, "a BigInteger")
		r.note(at, r.d.own[bigIntegerID-firstKnown])
		raw, negative = r.bigInteger()
	}
	r.mark(fieldsEnd, "the end of the fields")
	r.decimal(p, raw, negative, scale)
}

const bigIntegerID = 11

// unknownDigits stands for a number that was not read.
var unknownDigits = make([]byte, maxDigits+1)

// integerAt returns the bytes of the BigInteger whose tag is at off, nil when there is none.
func (r *Reader) integerAt(off int) (raw []byte, negative bool) {
	x := Reader{application: application{d: r.d}, objects: r.objects}
	switch cl, _ := r.objectAt(off); {
	case off < 0 || off+2 > r.Off:
		return nil, false
	case r.Buf[off] == tagObject && r.Buf[off+1] == bigIntegerID:
		x.Off = off + 2
	case r.d.one && cl.layout == bigInteger && cl.plan == nil && r.Buf[off] != tagObject:
		x.Off = off + 1
	default:
		return nil, false
	}
	at := x.Off
	x.Cursor.Reset(r.Buf[:r.Off], decode.Malformed)
	x.Off = at
	if raw, negative = x.bigInteger(); raw == nil && x.OK() {
		raw = []byte{} // zero
	}
	return raw, negative
}
