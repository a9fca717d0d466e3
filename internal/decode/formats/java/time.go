package java

import (
	"encoding/binary"
	"fmt"
	"time"

	"dubbo-wire/internal/decode"
)

// java.time.Ser writes a type byte and packed fields.
const (
	serDuration       = 1
	serInstant        = 2
	serLocalDate      = 3
	serLocalTime      = 4
	serLocalDateTime  = 5
	serZonedDateTime  = 6
	serZoneRegion     = 7
	serZoneOffset     = 8
	serOffsetTime     = 9
	serOffsetDateTime = 10
	serYear           = 11
	serYearMonth      = 12
	serMonthDay       = 13
	serPeriod         = 14
)

// packed reads the fields of one java.time value; bad when they are not as expected.
type packed struct {
	b   []byte
	bad bool
}

func (p *packed) take(n int) []byte {
	if n > len(p.b) {
		p.bad = true
		return make([]byte, n)
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *packed) byte() int  { return int(int8(p.take(1)[0])) }
func (p *packed) int() int   { return int(int32(be32(p.take(4)))) }
func (p *packed) date() date { return date{p.int(), p.byte(), p.byte()} }

type date struct{ year, month, day int }

// clock: hour, minute, second, nano; zero parts at the end are left out and the last byte written is complemented.
type clock struct{ hour, minute, second, nano int }

func (p *packed) clock() (c clock) {
	if c.hour = p.byte(); c.hour < 0 {
		c.hour = ^c.hour
		return c
	}
	if c.minute = p.byte(); c.minute < 0 {
		c.minute = ^c.minute
		return c
	}
	if c.second = p.byte(); c.second < 0 {
		c.second = ^c.second
		return c
	}
	c.nano = p.int()
	return c
}

// offsetInSeconds stands for an offset that is no number of quarters of an hour.
const offsetInSeconds = 127

// offset: quarters of an hour, or 127 and the seconds.
func (p *packed) offset() int {
	if q := p.byte(); q != offsetInSeconds {
		return q * 15 * 60
	}
	return p.int()
}

// zone: a ZoneOffset, which the offset before it has told, or a region, which is written in brackets as RFC 9557 does.
func (p *packed) zone(dst []byte) []byte {
	switch p.byte() {
	case serZoneRegion:
		id := p.take(int(binary.BigEndian.Uint16(p.take(2))))
		dst = append(append(dst, '['), decodeUTF(id)...)
		return append(dst, ']')
	case serZoneOffset:
		p.offset()
	default:
		p.bad = true
	}
	return dst
}

// timeOf fills n with the java.time value b: dates, times and instants. Others stay an object with what it wrote.
func timeOf(n *decode.Node, b []byte, _ bool) bool {
	p := packed{b: b}
	var text []byte
	switch p.byte() {
	case serInstant:
		seconds := int64(binary.BigEndian.Uint64(p.take(8)))
		text = append(text, instant(time.Unix(seconds, int64(p.int())))...)
	case serLocalDate:
		text = p.date().append(text)
	case serLocalTime:
		text = p.clock().local(text)
	case serLocalDateTime:
		text = p.dateTime(text)
	case serOffsetDateTime:
		text = appendOffset(p.dateTime(text), p.offset())
	case serOffsetTime:
		text = appendOffset(p.clock().local(text), p.offset())
	case serZonedDateTime:
		text = appendOffset(p.dateTime(text), p.offset())
		text = p.zone(text)
	default:
		return false
	}
	if p.bad || len(p.b) > 0 {
		return false
	}
	n.Kind, n.Text = decode.Date, string(text)
	return true
}

func (p *packed) dateTime(dst []byte) []byte {
	d := p.date()
	return p.clock().local(append(d.append(dst), 'T'))
}

// instant writes a point in time: RFC 3339, UTC, with no, 3, 6 or 9 digits of a second's fraction, and a sign before a
// year beyond 0000 to 9999, as java.time does.
func instant(t time.Time) string {
	t = t.UTC()
	b := date{t.Year(), int(t.Month()), t.Day()}.append(nil)
	b = clock{t.Hour(), t.Minute(), t.Second(), t.Nanosecond()}.append(append(b, 'T'))
	return string(append(b, 'Z'))
}

func (d date) append(dst []byte) []byte {
	year := d.year
	switch {
	case year < 0:
		dst, year = append(dst, '-'), -year
	case year > 9999:
		dst = append(dst, '+')
	}
	return fmt.Appendf(dst, "%04d-%02d-%02d", year, d.month, d.day)
}

// local writes seconds where there are any, as java.time does of what is no instant.
func (c clock) local(dst []byte) []byte {
	if c.second == 0 && c.nano == 0 {
		return fmt.Appendf(dst, "%02d:%02d", c.hour, c.minute)
	}
	return c.append(dst)
}

// append writes seconds always.
func (c clock) append(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", c.hour, c.minute, c.second)
	switch {
	case c.nano == 0:
		return dst
	case c.nano%1e6 == 0:
		return fmt.Appendf(dst, ".%03d", c.nano/1e6)
	case c.nano%1e3 == 0:
		return fmt.Appendf(dst, ".%06d", c.nano/1e3)
	}
	return fmt.Appendf(dst, ".%09d", c.nano)
}

func appendOffset(dst []byte, seconds int) []byte {
	switch {
	case seconds == 0:
		return append(dst, 'Z')
	case seconds < 0:
		dst, seconds = append(dst, '-'), -seconds
	default:
		dst = append(dst, '+')
	}
	dst = fmt.Appendf(dst, "%02d:%02d", seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		dst = fmt.Appendf(dst, ":%02d", seconds%60)
	}
	return dst
}

// amount is a java.time value that is no date or time: an object with fields.
type amount struct {
	class  string
	fields []fieldDesc
}

var amounts = map[byte]amount{
	serDuration:  {"java.time.Duration", []fieldDesc{{'J', "seconds"}, {'I', "nanos"}}},
	serYear:      {"java.time.Year", []fieldDesc{{'I', "year"}}},
	serYearMonth: {"java.time.YearMonth", []fieldDesc{{'I', "year"}, {'B', "month"}}},
	serMonthDay:  {"java.time.MonthDay", []fieldDesc{{'B', "month"}, {'B', "day"}}},
	serPeriod:    {"java.time.Period", []fieldDesc{{'I', "years"}, {'I', "months"}, {'I', "days"}}},
}

// A ZoneOffset is a number of quarters of an hour, or of seconds.
var (
	zoneOffset          = amount{"java.time.ZoneOffset", []fieldDesc{{'B', "totalSeconds"}}}
	zoneOffsetInSeconds = amount{"java.time.ZoneOffset", []fieldDesc{{'I', "totalSeconds"}}}
)

func (a amount) len() (n int) {
	for _, f := range a.fields {
		n += size(f.code)
	}
	return n
}
