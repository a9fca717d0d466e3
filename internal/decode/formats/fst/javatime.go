package fst

import (
	"fmt"
	"time"

	"dubbo-wire/internal/decode"
)

// Types of java.time.Ser, the proxy of all classes of java.time.
const (
	timeDuration       = 1
	timeInstant        = 2
	timeLocalDate      = 3
	timeLocalTime      = 4
	timeLocalDateTime  = 5
	timeZonedDateTime  = 6
	timeZoneRegion     = 7
	timeZoneOffset     = 8
	timeOffsetTime     = 9
	timeOffsetDateTime = 10
	timeYear           = 11
	timeYearMonth      = 12
	timeMonthDay       = 13
	timePeriod         = 14
)

// javaTime takes a type and the parts of the class it stands for.
func (r *Reader) javaTime(cl *class, p place) {
	switch kind := r.Byte("a type of java.time"); kind {
	case timeInstant:
		s, nano := r.int64("seconds"), r.int32("nanoseconds")
		r.words(p, decode.Date, func() string { return instantText(time.Unix(s, int64(nano%1e9))) })
	case timeLocalDate:
		d := r.date()
		r.words(p, decode.Date, d.String)
	case timeLocalTime:
		t := r.clock()
		r.words(p, decode.Date, t.String)
	case timeLocalDateTime:
		d, t := r.date(), r.clock()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() })
	case timeOffsetTime:
		t, z := r.clock(), r.offset()
		r.words(p, decode.Date, func() string { return t.String() + z.String() })
	case timeOffsetDateTime:
		d, t, z := r.date(), r.clock(), r.offset()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() + z.String() })
	case timeZonedDateTime:
		d, t, z := r.date(), r.clock(), r.offset()
		kind := r.Byte("a type of zone")
		region := r.region(kind)
		r.words(p, decode.Date, func() string {
			s := d.String() + "T" + t.String() + z.String()
			if kind == timeZoneRegion {
				s += "[" + region() + "]"
			}
			return s
		})
	case timeZoneRegion, timeZoneOffset:
		class := "java.time.ZoneRegion"
		if kind == timeZoneOffset {
			class = "java.time.ZoneOffset"
		}
		r.open(p, decode.Object, classOf(class))
		r.Role("type")
		q := r.at(decode.ByField, "value", 0)
		r.words(q, decode.String, r.region(kind))
		r.Close()
	case timeDuration:
		r.parts(p, "java.time.Duration", "seconds", r.long, "nanos", r.int)
	case timeYear:
		r.parts(p, "java.time.Year", "year", r.int)
	case timeYearMonth:
		r.parts(p, "java.time.YearMonth", "year", r.int, "month", r.octet)
	case timeMonthDay:
		r.parts(p, "java.time.MonthDay", "month", r.octet, "day", r.octet)
	case timePeriod:
		r.parts(p, "java.time.Period", "years", r.int, "months", r.int, "days", r.int)
	default:
		if r.OK() {
			r.fail(cl, p)
		}
	}
}

// Forms of parts.

func (r *Reader) long(what string) int64  { return r.int64(what) }
func (r *Reader) int(what string) int64   { return int64(r.int32(what)) }
func (r *Reader) octet(what string) int64 { return int64(int8(r.Byte(what))) }

// parts takes an object of named integers: name, form, name, form …
func (r *Reader) parts(p place, class string, namesAndForms ...any) {
	r.open(p, decode.Object, classOf(class))
	r.Role("type")
	for i := 0; i < len(namesAndForms); i += 2 {
		name := namesAndForms[i].(string)
		q := r.at(decode.ByField, name, 0)
		r.integer(q, namesAndForms[i+1].(func(string) int64)(name))
	}
	r.Close()
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
	return day{r.int("a year"), r.Byte("a month"), r.Byte("a day")}
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
	t.nano = r.int32("nanoseconds")
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

// A zone is an offset from UTC in seconds.
type zone int32

// offset takes quarter hours, or 7f and the seconds.
func (r *Reader) offset() zone {
	b := int8(r.Byte("a zone offset"))
	if b == 0x7f {
		return zone(r.int32("a zone offset"))
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

// region takes a zone: a name, or an offset.
func (r *Reader) region(kind byte) func() string {
	switch kind {
	case timeZoneRegion:
		x := r.text()
		return x.decode
	case timeZoneOffset:
		return r.offset().String
	}
	r.Fail(decode.Malformed, "a zone", decode.HexByte(kind))
	return func() string { return "" }
}
