package kryo

import (
	"fmt"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
)

// javaTime takes a class of java.time.
func (r *Reader) javaTime(cl *class, p place) {
	switch cl.layout {
	case localDate:
		d := r.date()
		r.words(p, decode.Date, d.String)
	case localTime:
		t := r.clock()
		r.words(p, decode.Date, t.String)
	case localDateTime:
		d, t := r.date(), r.clock()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() })
	case instant:
		s, nano := int64(r.varlong("seconds")), r.varint("nanoseconds")
		r.words(p, decode.Date, func() string { return instantText(time.Unix(s, int64(nano%1e9))) })
	case offsetTime:
		t, z := r.clock(), r.offset()
		r.words(p, decode.Date, func() string { return t.String() + z.String() })
	case offsetDateTime:
		d, t, z := r.date(), r.clock(), r.offset()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() + z.String() })
	case zonedDateTime:
		d, t, id := r.date(), r.clock(), r.text()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() + zoneText(id.decode()) })
	case duration:
		r.container(p, decode.Object, cl, func() {
			r.part("seconds", func() int64 { return int64(r.fixed64("seconds")) })
			r.part("nanos", func() int64 { return int64(int32(r.varint("nanoseconds"))) })
		})
	case year:
		r.parts(cl, p, "year", "")
	case yearMonth:
		r.parts(cl, p, "year", "", "month", "byte")
	case monthDay:
		r.parts(cl, p, "month", "byte", "day", "byte")
	case period:
		r.parts(cl, p, "years", "", "months", "", "days", "")
	default:
		r.fail(cl, p)
	}
}

// part takes one integer field of an object.
func (r *Reader) part(name string, take func() int64) {
	p := r.at(decode.ByField, name, 0)
	r.integer(p, take())
}

// parts takes an object of named ints, each a varint or a byte.
func (r *Reader) parts(cl *class, p place, namesAndForms ...string) {
	r.container(p, decode.Object, cl, func() {
		for i := 0; i < len(namesAndForms); i += 2 {
			r.part(namesAndForms[i], func() int64 {
				if namesAndForms[i+1] == "byte" {
					return int64(int8(r.Byte(namesAndForms[i])))
				}
				return int64(int32(r.varint(namesAndForms[i])))
			})
		}
	})
}

// instantText writes a point in time, as Java's Instant does.
func instantText(t time.Time) string {
	t = t.UTC()
	return day{int64(t.Year()), byte(t.Month()), byte(t.Day())}.String() + "T" +
		clock{int8(t.Hour()), int8(t.Minute()), int8(t.Second()), int32(t.Nanosecond())}.String() + "Z"
}

// A day is a date without zone.
type day struct {
	year       int64
	month, day byte
}

func (r *Reader) date() day {
	return day{int64(int32(r.varint("a year"))), r.Byte("a month"), r.Byte("a day")}
}

func (d day) String() string {
	sign, year := "", d.year
	switch {
	case year < 0:
		sign, year = "-", -year
	case year > 9999:
		sign = "+"
	}
	return fmt.Sprintf("%s%04d-%02d-%02d", sign, year, d.month, d.day)
}

// A clock is a time of day without zone.
type clock struct {
	hour, minute, second int8
	nano                 int32
}

// clock takes hour, minute, second and nanoseconds; the last part that is not zero ends it, written as its complement.
func (r *Reader) clock() (t clock) {
	for _, part := range []*int8{&t.hour, &t.minute, &t.second} {
		b := int8(r.Byte("a time of day"))
		if b < 0 {
			*part = ^b
			return t
		}
		*part = b
	}
	t.nano = int32(r.varint("nanoseconds"))
	return t
}

// String writes seconds always, and of their fraction three, six or nine digits.
func (t clock) String() string {
	s := fmt.Sprintf("%02d:%02d:%02d", t.hour, t.minute, t.second)
	switch n := t.nano; {
	case n == 0:
		return s
	case n%1e6 == 0:
		return s + fmt.Sprintf(".%03d", n/1e6)
	case n%1e3 == 0:
		return s + fmt.Sprintf(".%06d", n/1e3)
	default:
		return s + fmt.Sprintf(".%09d", n)
	}
}

// zoneText writes the zone of a ZonedDateTime: an offset as it is, a region in brackets.
func zoneText(id string) string {
	if id == "Z" || strings.HasPrefix(id, "+") || strings.HasPrefix(id, "-") {
		return id
	}
	return "[" + id + "]"
}

// A zone is an offset from UTC in seconds.
type zone int32

// offset takes quarter hours, or 7f and the seconds.
func (r *Reader) offset() zone {
	b := int8(r.Byte("a zone offset"))
	if b == 0x7f {
		return zone(r.fixed32("a zone offset"))
	}
	return zone(b) * 900
}

func (z zone) String() string {
	if z == 0 {
		return "Z"
	}
	sign, abs := '+', int64(z)
	if abs < 0 {
		sign, abs = '-', -abs
	}
	s := fmt.Sprintf("%c%02d:%02d", sign, abs/3600, abs/60%60)
	if abs%60 != 0 {
		s += fmt.Sprintf(":%02d", abs%60)
	}
	return s
}
