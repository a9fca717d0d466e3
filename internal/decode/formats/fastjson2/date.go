package fastjson2

import (
	"fmt"
	"strings"
	"time"
)

// The fields of dates and times lie one behind the other: year (two bytes), month, day, hour, minute, second (one each),
// nanoseconds (an integer).

type day struct {
	year       int
	month, day int
}

type clock struct{ hour, minute, second, nano int }

func (r *Reader) day() day {
	return day{int(int16(r.U16("a year"))), int(r.Byte("a month")), int(r.Byte("a day"))}
}

func (r *Reader) clock() clock {
	c := clock{hour: int(r.Byte("an hour")), minute: int(r.Byte("a minute")), second: int(r.Byte("a second"))}
	c.nano = int(r.int32("nanoseconds"))
	return c
}

// date takes a point in time, or a date or time of day without zone: a java.util.Date is the former, a
// java.sql.Timestamp the latter, in the sender's zone.
func (r *Reader) date(op byte, s *scalar) {
	var d day
	var c clock
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
	if !r.OK() || !r.Values() {
		return
	}
	switch {
	case op == opLocalTime:
		s.text = c.String()
	case op == opLocalDate:
		s.text = d.String()
	case op >= opMillis:
		s.text = instantText(at)
	default:
		s.text = d.String() + "T" + c.String() + zoneText(zone)
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

// instantText writes a point in time as RFC 3339 does.
func instantText(t time.Time) string {
	d := day{t.Year(), int(t.Month()), t.Day()}
	return d.String() + "T" + clock{t.Hour(), t.Minute(), t.Second(), t.Nanosecond()}.full() + "Z"
}

// zoneText writes an offset as it is, and the name of a region in brackets, behind its offset where the name tells it.
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

// String writes a sign before years beyond 0 to 9999, as Java does.
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

// String writes the time as java.time does: without seconds where there are none.
func (c clock) String() string {
	if c.second == 0 && c.nano == 0 {
		return fmt.Sprintf("%02d:%02d", c.hour, c.minute)
	}
	return c.full()
}

// full writes seconds always, and of their fraction three, six or nine digits, or none.
func (c clock) full() string {
	s := fmt.Sprintf("%02d:%02d:%02d", c.hour, c.minute, c.second)
	switch {
	case c.nano == 0:
		return s
	case c.nano%1e6 == 0:
		return s + fmt.Sprintf(".%03d", c.nano/1e6)
	case c.nano%1e3 == 0:
		return s + fmt.Sprintf(".%06d", c.nano/1e3)
	}
	return s + fmt.Sprintf(".%09d", c.nano)
}
