package jdk

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
)

// Date is a java.time.LocalDate.
type Date struct{ Year, Month, Day int }

// Append appends ISO 8601, with a sign before a year outside of 0000 to 9999.
func (d Date) Append(b []byte) []byte {
	year := d.Year
	if uint(year) <= 9999 && uint(d.Month) < 100 && uint(d.Day) < 100 { // most
		b = append(b, "yyyy-mm-dd"...)
		last := (*[10]byte)(b[len(b)-10:])
		putTwo(last[0:], year/100)
		putTwo(last[2:], year%100)
		putTwo(last[5:], d.Month)
		putTwo(last[8:], d.Day)
		return b
	}
	switch {
	case year < 0:
		b, year = append(b, '-'), -year
	case year > 9999:
		b = append(b, '+')
	}
	b = appendPadded(b, year, 4)
	b = appendPadded(append(b, '-'), d.Month, 2)
	return appendPadded(append(b, '-'), d.Day, 2)
}

// String is Append as a string.
func (d Date) String() string { return string(d.Append(nil)) }

// Clock is a java.time.LocalTime.
type Clock struct{ Hour, Minute, Second, Nano int }

// Append appends hour, minute, second, and the fraction of the second in no, 3, 6 or 9 digits.
func (c Clock) Append(b []byte) []byte {
	if uint(c.Hour) < 100 && uint(c.Minute) < 100 && uint(c.Second) < 100 { // all that are valid
		b = append(b, "hh:mm:ss"...)
		last := (*[8]byte)(b[len(b)-8:])
		putTwo(last[0:], c.Hour)
		putTwo(last[3:], c.Minute)
		putTwo(last[6:], c.Second)
	} else {
		b = appendPadded(c.appendMinutes(b), c.Second, 2)
	}
	switch {
	case c.Nano == 0:
		return b
	case c.Nano%1e6 == 0:
		return appendPadded(append(b, '.'), c.Nano/1e6, 3)
	case c.Nano%1e3 == 0:
		return appendPadded(append(b, '.'), c.Nano/1e3, 6)
	}
	return appendPadded(append(b, '.'), c.Nano, 9)
}

// putTwo writes a number below 100 in two digits.
func putTwo(b []byte, n int) { b[1], b[0] = byte('0'+n%10), byte('0'+n/10) }

// String is Append as a string.
func (c Clock) String() string { return string(c.Append(nil)) }

func (c Clock) appendMinutes(b []byte) []byte {
	b = appendPadded(b, c.Hour, 2)
	return append(appendPadded(append(b, ':'), c.Minute, 2), ':')
}

// AppendShort is Append without seconds where they are zero, as LocalTime.toString writes it.
func (c Clock) AppendShort(b []byte) []byte {
	if c.Second == 0 && c.Nano == 0 {
		b = c.appendMinutes(b)
		return b[:len(b)-1]
	}
	return c.Append(b)
}

// Instant returns a point in time in RFC 3339, UTC, as Instant.toString writes it.
func Instant(t time.Time) string { return string(AppendInstant(make([]byte, 0, 40), t)) }

// AppendInstant is Instant that appends.
func AppendInstant(b []byte, t time.Time) []byte {
	date, clock := at(t.Unix())
	clock.Nano = t.Nanosecond()
	return append(clock.Append(append(date.Append(b), 'T')), 'Z')
}

// AppendNanos appends a point in time, in nanoseconds since 1970, as AppendInstant does, with nine digits of the fraction.
func AppendNanos(b []byte, ns int64) []byte {
	const second = int64(time.Second)
	fraction := ns % second
	if fraction < 0 {
		fraction += second
	}
	date, clock := at((ns - fraction) / second)
	b = append(clock.Append(append(date.Append(b), 'T')), '.')
	return append(appendPadded(b, int(fraction), 9), 'Z')
}

// at returns the date and the time of day, both in UTC, of a number of seconds since 1970.
func at(seconds int64) (Date, Clock) {
	day := seconds / secondsOfDay
	if seconds %= secondsOfDay; seconds < 0 {
		seconds += secondsOfDay
		day--
	}
	second := int(seconds)
	return dateOf(day), Clock{Hour: second / 3600, Minute: second / 60 % 60, Second: second % 60}
}

const secondsOfDay = 24 * 60 * 60

// dateOf returns the date of a day since 1970. It counts years from March on, so that the day that only some have is the last one, and 400 of them,
// which have the same number of days each time.
func dateOf(day int64) Date {
	const daysOf400Years, daysTo1970 = 146097, 719468 // from March of year 0 on
	day += daysTo1970
	era := day / daysOf400Years
	if day %= daysOf400Years; day < 0 {
		day += daysOf400Years
		era--
	}
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	d := Date{Year: int(era*400 + year), Month: int(month + 3), Day: int(day - (153*month+2)/5 + 1)}
	if d.Month > 12 {
		d.Year, d.Month = d.Year+1, d.Month-12
	}
	return d
}

// Offset is a java.time.ZoneOffset, in seconds.
type Offset int32

// Append appends Z, +08:00 or -02:30:15.
func (o Offset) Append(b []byte) []byte {
	seconds := int(o)
	switch {
	case seconds == 0:
		return append(b, 'Z')
	case seconds < 0:
		b, seconds = append(b, '-'), -seconds
	default:
		b = append(b, '+')
	}
	b = appendPadded(b, seconds/3600, 2)
	b = appendPadded(append(b, ':'), seconds/60%60, 2)
	if seconds%60 != 0 {
		b = appendPadded(append(b, ':'), seconds%60, 2)
	}
	return b
}

// String is Append as a string.
func (o Offset) String() string { return string(o.Append(nil)) }

// Zone returns the id of a zone as it stands after a date and time: an offset as it is, a region in brackets (RFC 9557).
func Zone(id string) string {
	if id == "Z" || strings.HasPrefix(id, "+") || strings.HasPrefix(id, "-") {
		return id
	}
	return "[" + id + "]"
}

// appendPadded appends n with at least width digits.
func appendPadded(b []byte, n, width int) []byte {
	if n < 0 {
		b, n, width = append(b, '-'), -n, width-1
	}
	from, rest := len(b), n
	b = append(b, "000000000"[:max(0, width)]...)
	for i := len(b) - 1; i >= from && rest > 0; i-- {
		b[i] = byte('0' + rest%10)
		rest /= 10
	}
	if rest > 0 { // it has more digits
		return decode.AppendInt(b[:from], int64(n))
	}
	return b
}

// Signed returns the number of two's complement bytes, the most significant first, as BigInteger.toByteArray returns
// them.
func Signed(raw []byte) *big.Int {
	v := new(big.Int).SetBytes(raw)
	if len(raw) > 0 && raw[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
	}
	return v
}

// Integer returns the number of a magnitude, the most significant byte first, and a sign, as BigInteger keeps it.
func Integer(magnitude []byte, negative bool) *big.Int {
	v := new(big.Int).SetBytes(magnitude)
	if negative {
		v.Neg(v)
	}
	return v
}

// Decimal returns unscaled × 10^-scale as BigDecimal.toString does. unscaled is an integer in decimal digits.
func Decimal(unscaled string, scale int32) string {
	digits := strings.TrimPrefix(unscaled, "-")
	sign := unscaled[:len(unscaled)-len(digits)]
	exponent := int64(len(digits)) - 1 - int64(scale)
	switch {
	case scale == 0:
		return unscaled
	case scale > 0 && exponent >= 0:
		return sign + digits[:exponent+1] + "." + digits[exponent+1:]
	case scale > 0 && exponent >= -6:
		return sign + "0." + "000000"[:-exponent-1] + digits
	}
	s := sign + digits[:1]
	if len(digits) > 1 {
		s += "." + digits[1:]
	}
	switch {
	case exponent > 0:
		s += "E+" + strconv.FormatInt(exponent, 10)
	case exponent < 0:
		s += "E" + strconv.FormatInt(exponent, 10)
	}
	return s
}

// UUID returns the text of a java.util.UUID of these bits.
func UUID(most, least uint64) string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", most>>32, most>>16&0xffff, most&0xffff, least>>48, least&0xffffffffffff)
}

// Locale returns the text of a java.util.Locale of these parts.
func Locale(language, country, variant string) string {
	if country+variant != "" {
		language += "_" + country
	}
	if variant != "" {
		language += "_" + variant
	}
	return language
}
