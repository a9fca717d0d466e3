package fury

import (
	"fmt"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
)

// javaTime takes a class of java.time.
func (r *Reader) javaTime(cl *class, p place) {
	switch strings.TrimPrefix(cl.name, "java.time.") {
	case "LocalDate":
		d := r.date()
		r.words(p, decode.Date, d.String)
	case "LocalTime":
		t := r.clock()
		r.words(p, decode.Date, t.String)
	case "LocalDateTime":
		d, t := r.date(), r.clock()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() })
	case "Instant":
		s, nano := int64(r.fixed(8, "seconds")), int64(int32(r.fixed(4, "nanoseconds")))
		r.words(p, decode.Date, func() string { return instantText(time.Unix(s, nano%1e9)) })
	case "OffsetTime":
		t, z := r.clock(), r.offset()
		r.words(p, decode.Date, func() string { return t.String() + z.String() })
	case "OffsetDateTime":
		d, t, z := r.date(), r.clock(), r.offset()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() + z.String() })
	case "ZonedDateTime":
		d, t, id := r.date(), r.clock(), r.text()
		r.words(p, decode.Date, func() string { return d.String() + "T" + t.String() + zoneText(id.decode()) })
	case "ZoneOffset":
		r.container(p, decode.Object, cl.name, func() {
			z := r.offset()
			r.words(place{label: decode.ByField, name: "value"}, decode.String, z.String)
		})
	case "Duration":
		r.parts(cl, p, "seconds", 8, "nanos", 4)
	case "Year":
		r.parts(cl, p, "year", 4)
	case "YearMonth":
		r.parts(cl, p, "year", 4, "month", 1)
	case "MonthDay":
		r.parts(cl, p, "month", 1, "day", 1)
	case "Period":
		r.parts(cl, p, "years", 4, "months", 4, "days", 4)
	}
}

// parts takes an object of named numbers of some bytes each.
func (r *Reader) parts(cl *class, p place, namesAndSizes ...any) {
	r.container(p, decode.Object, cl.name, func() {
		for i := 0; i < len(namesAndSizes); i += 2 {
			name, size := namesAndSizes[i].(string), namesAndSizes[i+1].(int)
			v := int64(r.fixed(size, name))
			if size == 4 {
				v = int64(int32(v))
			}
			r.integer(place{label: decode.ByField, name: name}, v)
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
	return day{int64(int32(r.fixed(4, "a year"))), r.Byte("a month"), r.Byte("a day")}
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
	t.nano = int32(r.fixed(4, "nanoseconds"))
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
		return zone(r.fixed(4, "a zone offset"))
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
