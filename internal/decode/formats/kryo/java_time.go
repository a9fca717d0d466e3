package kryo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// timeKinds are the classes of java.time by their layout.
var timeKinds = [...]jdk.Kind{
	localDate: jdk.LocalDate, localTime: jdk.LocalTime, localDateTime: jdk.LocalDateTime, instant: jdk.InstantTime,
	duration: jdk.Duration, offsetTime: jdk.OffsetTime, offsetDateTime: jdk.OffsetDateTime, zonedDateTime: jdk.ZonedDateTime,
	year: jdk.Year, yearMonth: jdk.YearMonth, monthDay: jdk.MonthDay, period: jdk.Period,
}

// times reads the parts of java.time: ints and longs are varints, fixed are those of an offset.
type times struct{ *Reader }

func (r times) Int(what string) int32           { return int32(r.varint(what)) }
func (r times) Long(what string) int64          { return int64(r.varlong(what)) }
func (r times) OffsetSeconds(what string) int32 { return int32(r.fixed32(what)) }

// Zone reads a zone by its id, without its offset.
func (r times) Zone() string {
	x := r.text()
	if !r.Values() {
		return ""
	}
	return jdk.Zone(x.decode())
}

// javaTime takes a class of java.time.
func (r *Reader) javaTime(cl *class, p decode.Place) {
	kind := jdk.Kind(0)
	if int(cl.layout) < len(timeKinds) {
		kind = timeKinds[cl.layout]
	}
	switch class, fields := kind.Amount(); {
	case kind.IsTime():
		t := kind.Read(times{r})
		r.Words(p, decode.Date, t.String)
	case class != "":
		r.container(p, decode.Object, cl, func() {
			for _, f := range fields {
				q := r.At(decode.ByField, f.Name, 0)
				switch f.Code {
				case 'J':
					r.Integer(q, int64(r.fixed64(f.Name)))
				case 'I':
					r.Integer(q, int64(int32(r.varint(f.Name))))
				default:
					r.Integer(q, int64(int8(r.Byte(f.Name))))
				}
			}
		})
	default:
		r.failUnknown(cl, p)
	}
}
