// Package jdk has what classes of the JDK are in every serialization of Java: the parts in which java.time writes its
// values, and the texts of dates, times, decimal numbers and UUIDs.
//
// A serialization hands in a [Source], which reads an int or a long in its own form, and gets the text of a date or time,
// or the fields of an amount such as a Duration. Nothing that is handed in is kept, and nothing is recorded here.
//
// Source: java.time.Ser and the writeExternal methods of java.time; Instant, LocalTime, ZoneOffset and BigDecimal,
// toString.
package jdk

import (
	"slices"
	"strings"
	"time"
)

// Kind is a class of java.time, by the number that java.time.Ser writes for it; 0 is none.
type Kind byte

// The classes of java.time.
const (
	Duration Kind = 1 + iota
	InstantTime
	LocalDate
	LocalTime
	LocalDateTime
	ZonedDateTime
	ZoneRegion
	ZoneOffset
	OffsetTime
	OffsetDateTime
	Year
	YearMonth
	MonthDay
	Period
)

// kindNames are the classes of java.time by their kinds.
var kindNames = [...]string{
	"", "Duration", "Instant", "LocalDate", "LocalTime", "LocalDateTime", "ZonedDateTime", "ZoneRegion", "ZoneOffset", "OffsetTime",
	"OffsetDateTime", "Year", "YearMonth", "MonthDay", "Period",
}

// KindOf returns the kind of a class, 0 if it is not one of java.time.
func KindOf(class string) Kind {
	name, _ := strings.CutPrefix(class, "java.time.")
	return Kind(max(0, slices.Index(kindNames[:], name)))
}

// Field is an integer of an amount: its name, and its type code as in a JVM descriptor, J, I or B.
type Field struct {
	Name string
	Code byte
}

// Amount returns the class and the fields of a kind that is neither a date nor a time; class is "" for others.
func (k Kind) Amount() (class string, fields []Field) {
	if int(k) >= len(amounts) {
		return "", nil
	}
	return amounts[k].class, amounts[k].fields
}

var amounts = [...]struct {
	class  string
	fields []Field
}{
	Duration:  {"java.time.Duration", []Field{{"seconds", 'J'}, {"nanos", 'I'}}},
	Year:      {"java.time.Year", []Field{{"year", 'I'}}},
	YearMonth: {"java.time.YearMonth", []Field{{"year", 'I'}, {"month", 'B'}}},
	MonthDay:  {"java.time.MonthDay", []Field{{"month", 'B'}, {"day", 'B'}}},
	Period:    {"java.time.Period", []Field{{"years", 'I'}, {"months", 'I'}, {"days", 'I'}}},
}

// Read reads the field in the form of a serialization.
func (f Field) Read(s Source) int64 {
	switch f.Code {
	case 'J':
		return s.Long(f.Name)
	case 'I':
		return int64(s.Int(f.Name))
	}
	return int64(int8(s.Byte(f.Name)))
}

// Source reads the parts of a value in the forms of one serialization; what names a part in errors.
type Source interface {
	Byte(what string) byte
	Int(what string) int32
	Long(what string) int64
	// OffsetSeconds reads a zone offset that is not a number of quarters of an hour.
	OffsetSeconds(what string) int32
	// Zone reads the zone of a ZonedDateTime and returns the text of it. It may be "" where texts are not wanted.
	Zone() string
}

// Time is a date, a time, or both, with or without a zone.
type Time struct {
	date    Date
	clock   Clock
	zone    string
	offset  Offset
	has     parts
	instant time.Time
}

// parts says what a Time consists of.
type parts uint8

const (
	hasDate parts = 1 << iota
	hasClock
	hasOffset
	hasZone
	isInstant
)

var partsOf = [...]parts{
	InstantTime:    isInstant,
	LocalDate:      hasDate,
	LocalTime:      hasClock,
	LocalDateTime:  hasDate | hasClock,
	ZonedDateTime:  hasDate | hasClock | hasZone,
	OffsetTime:     hasClock | hasOffset,
	OffsetDateTime: hasDate | hasClock | hasOffset,
}

// IsTime reports whether values of a kind are a Time.
func (k Kind) IsTime() bool { return int(k) < len(partsOf) && partsOf[k] != 0 }

// Read reads a Time of a kind for which IsTime is true.
func (k Kind) Read(s Source) (t Time) {
	t.has = partsOf[k]
	if t.has&isInstant != 0 {
		seconds := s.Long("seconds")
		t.instant = time.Unix(seconds, int64(s.Int("nanoseconds")))
	}
	if t.has&hasDate != 0 {
		t.date = Date{int(s.Int("a year")), int(int8(s.Byte("a month"))), int(int8(s.Byte("a day")))}
	}
	if t.has&hasClock != 0 {
		t.clock = readClock(s)
	}
	if t.has&hasOffset != 0 {
		t.offset = ReadOffset(s)
	}
	if t.has&hasZone != 0 {
		t.zone = s.Zone()
	}
	return t
}

// readClock reads hour, minute, second and nanoseconds; the last part that is not zero ends it, written as its complement.
func readClock(s Source) (c Clock) {
	for _, part := range []*int{&c.Hour, &c.Minute, &c.Second} {
		b := int8(s.Byte("a time of day"))
		if b < 0 {
			*part = int(^b)
			return c
		}
		*part = int(b)
	}
	c.Nano = int(s.Int("nanoseconds"))
	return c
}

// offsetInSeconds stands for an offset that is not a number of quarters of an hour.
const offsetInSeconds = 0x7f

// ReadOffset reads a zone offset: quarters of an hour, or 7f and the seconds.
func ReadOffset(s Source) Offset {
	const what = "a zone offset"
	if b := int8(s.Byte(what)); b != offsetInSeconds {
		return Offset(b) * 15 * 60
	}
	return Offset(s.OffsetSeconds(what))
}

// String returns the text, with seconds always.
func (t Time) String() string { return t.text(Clock.Append) }

// Short returns the text, without seconds where they are zero; an Instant has them.
func (t Time) Short() string { return t.text(Clock.AppendShort) }

func (t Time) text(appendClock func(Clock, []byte) []byte) string {
	if t.has&isInstant != 0 {
		return Instant(t.instant)
	}
	b := make([]byte, 0, 64)
	if t.has&hasDate != 0 {
		b = t.date.Append(b)
	}
	if t.has&(hasDate|hasClock) == hasDate|hasClock {
		b = append(b, 'T')
	}
	if t.has&hasClock != 0 {
		b = appendClock(t.clock, b)
	}
	if t.has&hasOffset != 0 {
		b = t.offset.Append(b)
	}
	return string(append(b, t.zone...))
}
