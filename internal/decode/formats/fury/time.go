package fury

import (
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// timeKinds are the classes of java.time by their names within the package.
var timeKinds = map[string]jdk.Kind{
	"LocalDate": jdk.LocalDate, "LocalTime": jdk.LocalTime, "LocalDateTime": jdk.LocalDateTime, "Instant": jdk.InstantTime,
	"OffsetTime": jdk.OffsetTime, "OffsetDateTime": jdk.OffsetDateTime, "ZonedDateTime": jdk.ZonedDateTime, "ZoneOffset": jdk.ZoneOffset,
	"Duration": jdk.Duration, "Year": jdk.Year, "YearMonth": jdk.YearMonth, "MonthDay": jdk.MonthDay, "Period": jdk.Period,
}

// times reads the parts of java.time, which have fixed sizes.
type times struct{ *Reader }

func (r times) Int(what string) int32           { return int32(r.fixed(4, what)) }
func (r times) Long(what string) int64          { return int64(r.fixed(8, what)) }
func (r times) OffsetSeconds(what string) int32 { return r.Int(what) }

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
	kind := timeKinds[strings.TrimPrefix(cl.name, "java.time.")]
	if kind.IsTime() {
		t := kind.Read(times{r})
		r.Words(p, decode.Date, t.String)
		return
	}
	r.container(p, decode.Object, cl.name, func() {
		if kind == jdk.ZoneOffset {
			z := jdk.ReadOffset(times{r})
			r.Words(decode.Place{Label: decode.ByField, Name: "value"}, decode.String, z.String)
		}
		_, fields := kind.Amount()
		for _, f := range fields {
			q := decode.Place{Label: decode.ByField, Name: f.Name}
			switch f.Code {
			case 'J':
				r.Integer(q, int64(r.fixed(8, f.Name)))
			case 'I':
				r.Integer(q, int64(int32(r.fixed(4, f.Name))))
			default:
				r.Integer(q, int64(r.fixed(1, f.Name)))
			}
		}
	})
}
