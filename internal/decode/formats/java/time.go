package java

import (
	"encoding/binary"
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

// offset: quarters of an hour, or 127 and the seconds.
func (p *packed) offset() int {
	if q := p.byte(); q != 127 {
		return q * 15 * 60
	}
	return p.int()
}

func (p *packed) zone() {
	switch p.byte() {
	case serZoneRegion:
		p.take(int(binary.BigEndian.Uint16(p.take(2))))
	case serZoneOffset:
		p.offset()
	default:
		p.bad = true
	}
}

const (
	layoutDate  = "2006-01-02"
	layoutClock = "15:04:05.999999999"
	layoutZone  = "Z07:00"
)

func local(d date, c clock) time.Time { return at(d, c, 0) }

func at(d date, c clock, offset int) time.Time {
	zone := time.UTC
	if offset != 0 {
		zone = time.FixedZone("", offset)
	}
	return time.Date(d.year, time.Month(d.month), d.day, c.hour, c.minute, c.second, c.nano, zone)
}

// timeOf fills n with the java.time value b: dates, times and instants. Others stay an object with what it wrote.
func timeOf(n *decode.Node, b []byte, _ bool) bool {
	p := packed{b: b}
	var text string
	switch p.byte() {
	case serInstant:
		seconds := int64(binary.BigEndian.Uint64(p.take(8)))
		text = instant(time.Unix(seconds, int64(p.int())))
	case serLocalDate:
		text = local(p.date(), clock{}).Format(layoutDate)
	case serLocalTime:
		text = local(date{1970, 1, 1}, p.clock()).Format(layoutClock)
	case serLocalDateTime:
		text = local(p.date(), p.clock()).Format(layoutDate + "T" + layoutClock)
	case serZonedDateTime:
		d, c, offset := p.date(), p.clock(), p.offset()
		p.zone()
		text = instant(at(d, c, offset))
	case serOffsetDateTime:
		text = instant(at(p.date(), p.clock(), p.offset()))
	case serOffsetTime:
		text = at(date{1970, 1, 1}, p.clock(), p.offset()).Format(layoutClock + layoutZone)
	default:
		return false
	}
	if p.bad || len(p.b) > 0 {
		return false
	}
	n.Kind, n.Text = decode.Date, text
	return true
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

func (a amount) len() (n int) {
	for _, f := range a.fields {
		n += size(f.code)
	}
	return n
}
