package hessian2

import (
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// hessian-lite 4.0.4 has a mode for java.time, off unless the system property
// com.caucho.hessian.io.java.time.serializer.compactMode is set on both sides. A LocalDateTime is then an object of its
// own class with the fields date and time, two longs. A LocalDate and a LocalTime are objects of their classes without
// fields; a long follows each object, which the definition of the class does not mention: days since 1970, and nanoseconds
// since midnight. The other classes of java.time are handles as ever, with these in them.

// compactOf returns the name of the long that follows the fields of a class, "" for a class without. The wire has no name
// for it. class is an encoded string.
func compactOf(class []byte, fields int) string {
	if fields == 0 {
		switch string(plain(class)) {
		case "java.time.LocalDate":
			return "epochDay"
		case "java.time.LocalTime":
			return "nanoOfDay"
		}
	}
	return ""
}

// compact takes the long that follows the fields.
func (r *Reader) compact(name string) bool {
	const what = "the long that stands for a date or time"
	if r.Off >= len(r.Buf) {
		r.failShort(what)
		return false
	}
	b := r.Buf[r.Off]
	g := grammar[b]
	if g.rule != long {
		r.fail(decode.Malformed, what, describe(b))
		return false
	}
	stop := r.Off + int(g.size)
	if stop > len(r.Buf) {
		r.failShort(what)
		return false
	}
	return r.scalar(long, &place{label: decode.ByField, name: name}, stop)
}

const (
	maxEpochDay = 365241780471  // java.time.LocalDate.MAX
	minEpochDay = -365243219162 // java.time.LocalDate.MIN
	dayNanos    = 24 * 3600 * 1e9
)

// epochDay returns the date of a field that counts days since 1970.
func (o fieldsOf) epochDay(name string) string {
	days, ok := o.num(name, minEpochDay, maxEpochDay)
	if !ok {
		return ""
	}
	t := time.Unix(days*24*3600, 0).UTC()
	return jdk.Date{Year: t.Year(), Month: int(t.Month()), Day: t.Day()}.String()
}

// nanoOfDay returns the time of a field that counts nanoseconds since midnight.
func (o fieldsOf) nanoOfDay(name string) string {
	n, ok := o.num(name, 0, dayNanos-1)
	if !ok {
		return ""
	}
	seconds := int(n / 1e9)
	return string(jdk.Clock{Hour: seconds / 3600, Minute: seconds / 60 % 60, Second: seconds % 60, Nano: int(n % 1e9)}.AppendShort(nil))
}
