package fastjson2

import (
	"strings"
	"time"

	"dubbo-wire/internal/decode/jdk"
)

// Dates and times are written as consecutive fields: year (two bytes), month, day, hour, minute, second (one each),
// nanoseconds (an integer).

func (r *Reader) day() jdk.Date {
	return jdk.Date{Year: int(int16(r.U16("a year"))), Month: int(r.Byte("a month")), Day: int(r.Byte("a day"))}
}

func (r *Reader) clock() jdk.Clock {
	c := jdk.Clock{Hour: int(r.Byte("an hour")), Minute: int(r.Byte("a minute")), Second: int(r.Byte("a second"))}
	c.Nano = int(r.int32("nanoseconds"))
	return c
}

// date takes a point in time, or a date or time of day without zone: a java.util.Date is the former, a
// java.sql.Timestamp the latter, in the sender's zone.
func (r *Reader) date(op byte, s *scalar) {
	var d jdk.Date
	var c jdk.Clock
	var at time.Time
	zone := ""
	if op == opLocalDate || op == opLocalDateTime || op == opZoned {
		d = r.day()
	}
	if op == opLocalTime || op == opLocalDateTime || op == opZoned {
		c = r.clock()
	}
	if op == opZoned {
		zone = r.name("a zone")
	}
	if op >= opMillis {
		at = r.instant(op).UTC()
	}
	if !r.OK() || !r.wanted() {
		return
	}
	switch {
	case op == opLocalTime:
		s.text = string(c.AppendShort(nil))
	case op == opLocalDate:
		s.text = d.String()
	case op >= opMillis:
		s.text = jdk.Instant(at)
	default:
		s.text = string(c.AppendShort(append(d.Append(nil), 'T'))) + zoneText(zone)
	}
}

// instant takes a point in time in milliseconds, seconds or minutes, or in seconds and nanoseconds.
func (r *Reader) instant(op byte) time.Time {
	switch op {
	case opMillis:
		return time.UnixMilli(int64(r.U64("milliseconds")))
	case opSeconds:
		return time.Unix(int64(int32(r.U32("seconds"))), 0)
	case opMinutes:
		return time.Unix(60*int64(int32(r.U32("minutes"))), 0)
	}
	s := r.integer("seconds")
	return time.Unix(s, int64(r.int32("nanoseconds")))
}

// zoneText returns an offset unchanged, and the name of a region in brackets, after its offset if the name tells that.
func zoneText(zone string) string {
	switch {
	case zone == "" || zone[0] == '+' || zone[0] == '-' || zone == "Z":
		return zone
	}
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		switch offset, ok := strings.CutPrefix(zone, prefix); {
		case ok && offset == "":
			return "Z[" + zone + "]"
		case ok && (offset[0] == '+' || offset[0] == '-') && len(offset) >= len("+01:00"):
			return offset + "[" + zone + "]"
		}
	}
	return "[" + zone + "]"
}
