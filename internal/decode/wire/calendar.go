package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
)

// Calendar replaces a date, a time of day, both, or an instant. A date is a year in some encoding, then a byte each for month
// and day. A time is a byte each for hour, minute and second, of which the last one that is not zero may be complemented and
// end the time, then nanoseconds in some encoding. An instant is seconds since 1970 and nanoseconds. The name of a zone may
// follow.
func Calendar(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.Date || len(n.Text) < 8 {
		return false
	}
	text, zone := n.Text, ""
	if i := strings.IndexByte(text, '['); i >= 0 {
		text, zone = text[:i], strings.TrimSuffix(text[i+1:], "]")
	}
	if zone != "" {
		zoneName(b, zone, m)
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && instant(b, t, m) {
		return true
	}
	c, ok := parseDateTime(text)
	if !ok {
		return false
	}
	at := 0
	if c.dated {
		if at = day(b, c, m); at < 0 {
			return false
		}
	}
	return !c.timed || clock(b, at, c, m) || c.dated
}

// zoneName replaces the name of a zone, which is in ASCII and may end with bit 7 set.
func zoneName(b []byte, zone string, m decode.Mapper) {
	at := bytes.Index(b, []byte(zone[:len(zone)-1]))
	if at < 0 || at+len(zone) > len(b) || b[at+len(zone)-1]&0x7f != zone[len(zone)-1] {
		return
	}
	name := b[at : at+len(zone)]
	last := &name[len(name)-1]
	high := *last & 0x80
	*last &= 0x7f
	MapUTF8(name, decode.String, m)
	*last |= high
}

// dateTime is a date, a time of day, or both.
type dateTime struct {
	year, month, day           int
	hour, minute, second, nano int
	dated, timed               bool
}

func parseDateTime(text string) (p dateTime, ok bool) {
	date, clock, both := strings.Cut(text, "T")
	switch {
	case !both && strings.Count(text, ":") >= 1:
		date, clock = "", text
	case !both:
		clock = ""
	}
	if date != "" {
		t, err := time.Parse("2006-01-02", date)
		if err != nil {
			return p, false
		}
		p.dated, p.year, p.month, p.day = true, t.Year(), int(t.Month()), t.Day()
	}
	if clock != "" {
		if i := strings.IndexAny(clock, "+-Z"); i >= 0 {
			clock = clock[:i]
		}
		t, err := time.Parse("15:04:05.999999999", clock)
		if err != nil {
			if t, err = time.Parse("15:04", clock); err != nil {
				return p, false
			}
		}
		p.timed, p.hour, p.minute, p.second, p.nano = true, t.Hour(), t.Minute(), t.Second(), t.Nanosecond()
	}
	return p, p.dated || p.timed
}

// encodings returns the encodings that a number of 32 or 64 bits may have.
func encodings(v int64) [][]byte {
	var all [][]byte
	all = append(all, binary.BigEndian.AppendUint64(nil, uint64(v)), binary.LittleEndian.AppendUint64(nil, uint64(v)))
	if v == int64(int32(v)) {
		all = append(all, binary.BigEndian.AppendUint32(nil, uint32(v)), binary.LittleEndian.AppendUint32(nil, uint32(v)))
	}
	if v == int64(int16(v)) {
		all = append(all, binary.BigEndian.AppendUint16(nil, uint16(v)), binary.LittleEndian.AppendUint16(nil, uint16(v)))
	}
	return append(all, binary.AppendUvarint(nil, uint64(v)), binary.AppendVarint(nil, v))
}

// replaceNumber writes w over the first encoding of v in b, the widest first, where that of w is as long. It returns the
// offset after it, -1 if there is none.
func replaceNumber(b []byte, v, w int64) int {
	news := encodings(w)
	for i, f := range encodings(v) {
		if at := bytes.Index(b, f); at >= 0 && i < len(news) && len(news[i]) == len(f) {
			copy(b[at:], news[i])
			return at + len(f)
		}
	}
	return -1
}

// instant replaces the seconds or milliseconds since 1970, and the nanoseconds.
func instant(b []byte, t time.Time, m decode.Mapper) bool {
	for _, v := range [...]int64{t.UnixMilli(), t.Unix() * 1000, t.Unix()} {
		if v > -1<<14 && v < 1<<14 { // other numbers may look the same
			continue
		}
		end := replaceNumber(b, v, m.Int(v))
		if end < 0 {
			continue
		}
		if nano := int64(t.Nanosecond()); nano > 0 {
			replaceNumber(b[end:], nano, m.Int(nano))
		}
		return true
	}
	return false
}

// day replaces a date and returns the offset after it, -1 if it is not found.
func day(b []byte, p dateTime, m decode.Mapper) int {
	pair := []byte{byte(p.month), byte(p.day)}
	year := int64(p.year)
	to := m.Within(year, 1900, 2099)
	news := encodings(to)
	for i, f := range encodings(year) {
		at := bytes.Index(b, append(f, pair...))
		if at < 0 {
			continue
		}
		if len(news) == len(encodings(year)) && len(news[i]) == len(f) {
			copy(b[at:], news[i])
		}
		at += len(f)
		b[at] = byte(m.Within(int64(p.month), 1, 12))
		b[at+1] = byte(m.Within(int64(min(p.day, 28)), 1, 28))
		return at + 2
	}
	return -1
}

// clock replaces a time of day that starts in b at or after offset from.
func clock(b []byte, from int, p dateTime, m decode.Mapper) bool {
	values := [...]int{p.hour, p.minute, p.second}
	most := [...]int64{23, 59, 59}
	for at := from; at < len(b); at++ {
		k, ended := 0, false
		for k < 3 && at+k < len(b) && !ended {
			switch b[at+k] {
			case byte(values[k]):
			case ^byte(values[k]):
				ended = true
			default:
				k = 3
				continue
			}
			k++
			if k == 3 && !ended || ended {
				writeClock(b[at:at+k], values[:k], most[:k], ended, m)
				if !ended && p.nano > 0 {
					replaceNumber(b[at+k:], int64(p.nano), m.Int(int64(p.nano)))
				}
				return true
			}
		}
	}
	return false
}

func writeClock(b []byte, values []int, most []int64, ended bool, m decode.Mapper) {
	for i := range b {
		last := ended && i == len(b)-1
		switch {
		case last && values[i] > 0:
			b[i] = ^byte(m.Within(int64(values[i]), 1, most[i]))
		case last:
		default:
			b[i] = byte(m.Within(int64(values[i]), 0, most[i]))
		}
	}
}
