package jdk

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// Texts are what toString returned in Java 17.
func TestTexts(t *testing.T) {
	for want, d := range map[string]Date{
		"2020-01-02": {2020, 1, 2}, "-0044-03-15": {-44, 3, 15}, "0000-12-31": {0, 12, 31}, "+10000-01-01": {10000, 1, 1},
		"+999999999-12-31": {999999999, 12, 31},
	} {
		assert.Equal(t, want, d.String())
	}
	for want, c := range map[string]Clock{
		"00:00": {}, "23:59": {Hour: 23, Minute: 59}, "23:59:01": {Hour: 23, Minute: 59, Second: 1}, "00:00:00.120": {Nano: 12e7},
		"00:00:00.000006": {Nano: 6000}, "00:00:00.000000006": {Nano: 6},
	} {
		assert.Equal(t, want, string(c.AppendShort(nil)))
	}
	assert.Equal(t, "23:59:00", Clock{Hour: 23, Minute: 59}.String())
	for want, o := range map[string]Offset{"Z": 0, "+08:00": 28800, "-02:30:15": -9015, "+18:00": 64800, "-00:01": -60} {
		assert.Equal(t, want, o.String())
		assert.Equal(t, want, Zone(want))
	}
	assert.Equal(t, "[Europe/Paris]", Zone("Europe/Paris"))
	assert.Equal(t, "1969-12-31T23:59:59.500Z", Instant(time.Unix(-1, 5e8)))
	assert.Equal(t, "00000000-0000-0001-ffff-ffffffffffff", UUID(1, ^uint64(0)))
	for _, c := range []struct {
		unscaled string
		scale    int32
		want     string
	}{
		{"15", 0, "15"},
		{"15", 1, "1.5"},
		{"-15", 2, "-0.15"},
		{"0", 2, "0.00"},
		{"1", 6, "0.000001"},
		{"1", 7, "1E-7"},
		{"0", -3, "0E+3"},
		{"15", -3, "1.5E+4"},
		{"-123456", 12, "-1.23456E-7"},
		{"12", 7, "0.0000012"},
		{"1", 2147483647, "1E-2147483647"},
		{"1", -2147483648, "1E+2147483648"},
	} {
		assert.Equal(t, c.want, Decimal(c.unscaled, c.scale))
	}
	assert.Equal(t, "-1", Signed([]byte{0xff}).String())
	assert.Equal(t, "255", Signed([]byte{0, 0xff}).String())
	assert.Equal(t, "0", Signed(nil).String())
}

// source reads what java.time.Ser writes.
type source struct{ b []byte }

func (s *source) take(n int) []byte {
	b := s.b[:n]
	s.b = s.b[n:]
	return b
}

func (s *source) Byte(string) byte { return s.take(1)[0] }
func (s *source) Int(string) int32 { return int32(binary.BigEndian.Uint32(s.take(4))) }

func (s *source) Long(string) int64               { return int64(binary.BigEndian.Uint64(s.take(8))) }
func (s *source) OffsetSeconds(what string) int32 { return s.Int(what) }
func (s *source) Zone() string                    { return ReadOffset(s).String() + "[Europe/Paris]" }

func TestTimes(t *testing.T) {
	date, clock := "\x00\x00\x07\xe4\x01\x02", "\x03\xfb" // 03:04
	for _, c := range []struct {
		kind              Kind
		bytes, full, want string
	}{
		{InstantTime, "\x00\x00\x00\x00\x00\x00\x00\x3c\x00\x00\x00\x00", "1970-01-01T00:01:00Z", "1970-01-01T00:01:00Z"},
		{LocalDate, date, "2020-01-02", "2020-01-02"},
		{LocalTime, clock, "03:04:00", "03:04"},
		{LocalTime, "\xfc", "03:00:00", "03:00"},
		{LocalTime, "\x03\x04\xfa", "03:04:05", "03:04:05"},
		{LocalTime, "\x03\x04\x05\x00\x00\x00\x01", "03:04:05.000000001", "03:04:05.000000001"},
		{LocalDateTime, date + clock, "2020-01-02T03:04:00", "2020-01-02T03:04"},
		{OffsetTime, clock + "\x04", "03:04:00+01:00", "03:04+01:00"},
		{OffsetDateTime, date + clock + "\x7f\x00\x00\x00\x01", "2020-01-02T03:04:00+00:00:01", "2020-01-02T03:04+00:00:01"},
		{ZonedDateTime, date + clock + "\x04", "2020-01-02T03:04:00+01:00[Europe/Paris]", "2020-01-02T03:04+01:00[Europe/Paris]"},
	} {
		assert.True(t, c.kind.IsTime())
		s := &source{[]byte(c.bytes)}
		got := c.kind.Read(s)
		assert.Equal(t, c.full, got.String())
		assert.Equal(t, c.want, got.Short())
		assert.Empty(t, s.b)
	}
	for k := range 256 {
		class, fields := Kind(k).Amount()
		assert.Equal(t, class == "", len(fields) == 0)
		assert.False(t, class != "" && Kind(k).IsTime())
	}
}
