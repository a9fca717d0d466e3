package fury

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// data takes what follows the class.
func (r *Reader) data(cl *class, p decode.Place) { r.dataAs(cl, p, nil) }

// dataAs takes what follows the class. of, which may be nil, is what the declared type says of elements.
func (r *Reader) dataAs(cl *class, p decode.Place, of *declared) {
	switch cl.layout {
	case unknown:
		if d := r.definitionOf(cl); d != nil {
			r.byDefinition(d, p)
			return
		}
		r.other(cl, p)
	case date, timestamp, bigInteger, bigDecimal, javaTime:
		r.worded(cl, p)
	case asText, locale, pattern, uuid, classRef, calendar, zoneID:
		r.described(cl, p)
	case optionalOf:
		if r.library != nil {
			r.container(p, decode.Object, cl.name, func() {
				p := r.At(decode.ByField, "isPresent", 0)
				present := r.Byte("whether a value is present") != 0
				r.Boolean(p, present)
				if present {
					r.scalar(cl.elem, r.At(decode.ByField, "value", 0))
				}
			})
			return
		}
		if present := r.Byte("whether a value is present"); present != 0 || !r.OK() {
			r.scalar(cl.elem, p)
			return
		}
		r.Scalar(p, decode.Null)
	case boolean, int8s, char, int16s, zigzag, float, tagged64, double, str, int32s, int64s:
		r.scalar(cl.layout, p)
	default:
		r.containerData(cl, p, of)
	}
}

// detailMessageTag is a hash of the name and the type of Throwable's field with the message.
const detailMessageTag = "\xb7\x64\x1c\x0c\x00\x95\xaa\x76"

// other stops at a class whose fields are not read. The node stays open, since the opaque bytes are its content. The message
// of an exception is read first.
func (r *Reader) other(cl *class, p decode.Place) {
	if r.strict() && !isPlausible(cl) {
		r.FailAt(p.Start, decode.Malformed, "an object", "class "+strconv.Quote(cl.name[:min(len(cl.name), 64)]))
		return
	}
	r.open(p, decode.Object, decode.JavaName(cl.name))
	if p.Throwable {
		r.message()
	}
	if cl.name[0] != '#' {
		r.incomplete = true
		r.ask(cl)
	}
	r.FailClass("the fields of class", cl.name)
}

// isPlausible reports whether objects can have a class that is not known: those of applications are in packages.
func isPlausible(cl *class) bool {
	if cl.id >= firstPrimitive-1 && cl.id < firstBox {
		return false
	}
	name := strings.TrimLeft(cl.name, "[")
	return cl.name[0] == '#' || decode.IsClassName(name) && strings.Contains(name, ".")
}

// message takes the message of an exception if it is the first field, as in all subclasses of Throwable without a writeObject
// of their own: the number of classes with fields, the class Throwable, the field.
func (r *Reader) message() {
	start := r.Mark()
	r.Skip(2, "a number of classes")
	cl := r.class(&decode.Place{})
	if r.OK() && (cl.name == "java.lang.Throwable" || r.v010) {
		if string(r.Bytes(len(detailMessageTag), "a field")) == detailMessageTag {
			r.Role("field")
			if q := (decode.Place{Label: decode.ByField, Name: "detailMessage"}); r.flag(&q) {
				r.scalar(str, q)
			}
			return
		}
	}
	r.Rewind(start)
}

// scalar takes a number or a text.
func (r *Reader) scalar(l layout, p decode.Place) {
	switch l {
	case boolean:
		b := r.Byte("a boolean")
		if b > 1 && r.strict() && r.OK() {
			r.FailAt(r.Off-1, decode.Malformed, "a boolean", decode.HexByte(b))
		}
		r.Boolean(p, b != 0)
	case int8s:
		r.Integer(p, int64(int8(r.Byte("a byte"))))
	case int16s:
		r.Integer(p, int64(int16(r.Little(2, "a short"))))
	case int32s:
		r.Integer(p, int64(int32(r.Little(4, "an int"))))
	case int64s:
		r.Integer(p, int64(r.Little(8, "a long")))
	case zigzag:
		raw := r.Varint9("an int")
		if raw > math.MaxUint32 && r.OK() {
			r.Fail(decode.Malformed, "an int", fmt.Sprint(raw))
		}
		v := uint32(raw)
		r.lastInt = int64(int32(v>>1) ^ -int32(v&1))
		r.Integer(p, r.lastInt)
	case tagged64:
		r.Integer(p, r.tagged("a long"))
	case float:
		r.Real(p, decode.Float32, float64(math.Float32frombits(uint32(r.Little(4, "a float")))))
	case double:
		r.Real(p, decode.Float64, math.Float64frombits(r.Little(8, "a double")))
	case char:
		u := rune(r.Little(2, "a char"))
		r.Words(p, decode.Char, func() string { return string(u) }) // a surrogate becomes U+FFFD
	case str:
		x := r.text()
		r.Words(p, decode.String, x.decode)
	}
}

// described takes an object that is recorded as its field "value".
func (r *Reader) described(cl *class, p decode.Place) {
	r.container(p, decode.Object, cl.name, func() {
		q := r.At(decode.ByField, "value", 0)
		switch cl.layout {
		case asText, zoneID:
			x := r.text()
			r.Words(q, decode.String, x.decode)
		case calendar:
			r.text()
			ms := int64(r.Little(8, "milliseconds"))
			r.Skip(11, "a calendar")
			r.Words(q, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
		case pattern:
			x := r.text()
			r.Skip(4, "flags")
			r.Words(q, decode.String, x.decode)
		case uuid:
			hi, lo := r.Little(8, "a UUID"), r.Little(8, "a UUID")
			r.Words(q, decode.String, func() string { return jdk.UUID(hi, lo) })
		case classRef:
			if described := r.classByName(&decode.Place{}); r.OK() {
				r.Words(q, decode.String, func() string { return described.name })
			}
		case locale:
			language, country, variant := r.text(), r.text(), r.text()
			r.Words(q, decode.String, func() string {
				return jdk.Locale(language.decode(), country.decode(), variant.decode())
			})
		}
	})
}

// worded takes a value that is recorded as one text.
func (r *Reader) worded(cl *class, p decode.Place) {
	switch cl.layout {
	case date:
		ms := int64(r.Little(8, "milliseconds"))
		r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms)) })
	case timestamp:
		ms, nano := int64(r.Little(8, "milliseconds")), int64(int32(r.Little(4, "nanoseconds")))
		r.Words(p, decode.Date, func() string { return jdk.Instant(time.UnixMilli(ms).Truncate(time.Second).Add(time.Duration(nano))) })
	case bigInteger:
		raw := r.number()
		r.Words(p, decode.Decimal, func() string { return jdk.Signed(raw).String() })
	case bigDecimal:
		if r.v010 {
			scale := int32(r.varint5("a scale"))
			r.varint5("a precision")
			raw := r.Bytes(r.count("the length of a number", 1), "a number")
			r.Words(p, decode.Decimal, func() string { return jdk.Decimal(jdk.Signed(raw).String(), scale) })
			return
		}
		scale := int8(r.Byte("a scale"))
		raw := r.number()
		r.Words(p, decode.Decimal, func() string { return jdk.Decimal(jdk.Signed(raw).String(), int32(scale)) })
	default:
		r.javaTime(cl, p)
	}
}

// varint5 takes a number of up to five bytes. In the last one, bits of negative numbers are not what they seem.
func (r *Reader) varint5(what string) (v uint32) {
	for shift := 0; shift < 35; shift += 7 {
		b := r.Byte(what)
		v |= uint32(b&0x7f) << shift
		if b&0x80 == 0 {
			break
		}
	}
	return v
}

// number takes the bytes of a BigInteger, fewer than 128.
func (r *Reader) number() []byte {
	if r.v010 {
		return r.Bytes(r.count("the length of a number", 1), "a number")
	}
	n := r.Byte("the length of a number")
	if n > 127 && r.OK() {
		r.Fail(decode.Malformed, "the length of a number", fmt.Sprint(int8(n)))
	}
	return r.Bytes(int(n), "a number")
}
