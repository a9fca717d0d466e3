package kryo

import (
	"encoding/binary"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/scrub/wire"
)

// Scrub replaces a value behind what says its class. Texts of ASCII end with bit 7, the others and the numbers are as
// everybody writes them, longs of nine bytes and times of day aside.
func Scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.String:
		return scrubASCII(b, n, m) || wire.Shared(b, n, m)
	case decode.Int:
		return wire.Zigzag(b, n, m) || scrubLong(b, n, m) || wire.Shared(b, n, m)
	case decode.Date:
		return scrubDate(b, n, m)
	}
	return wire.Shared(b, n, m)
}

// scrubASCII replaces a text whose last byte has bit 7 set.
func scrubASCII(b []byte, n *decode.Node, m decode.Mapper) bool {
	at := len(b) - len(n.Text)
	if at < 0 || len(n.Text) == 0 || b[len(b)-1] < moreASCII {
		return false
	}
	text := b[at:]
	text[len(text)-1] &^= moreASCII
	is := string(text) == n.Text
	if is {
		wire.MapUTF8(text, n.Kind, m)
	}
	text[len(text)-1] |= moreASCII
	return is
}

// scrubLong replaces a signed long of nine bytes, the last of which is all data.
func scrubLong(b []byte, n *decode.Node, m decode.Mapper) bool {
	const size = 9
	if len(b) < size {
		return false
	}
	b = b[len(b)-size:]
	v := uint64(b[size-1])
	for i := size - 2; i >= 0; i-- {
		if b[i] < 0x80 {
			return false
		}
		v = v<<7 | uint64(b[i]&0x7f)
	}
	if int64(v>>1)^-int64(v&1) != n.Num {
		return false
	}
	num := m.Int(n.Num)
	v = uint64(num<<1) ^ uint64(num>>63)
	for i := range size - 1 {
		b[i] = byte(v) | 0x80
		v >>= 7
	}
	b[size-1] = byte(v)
	return true
}

// scrubDate replaces milliseconds, or the parts of a date, a time of day, or both; a zone behind them stays.
func scrubDate(b []byte, n *decode.Node, m decode.Mapper) bool {
	text := n.Text
	instant := strings.HasSuffix(text, "Z") && strings.Contains(text, "T")
	dated := len(text) > 4 && strings.Contains(text[1:], "-") && !strings.HasPrefix(text[2:], ":")
	timed := strings.Contains(text, ":")
	if wire.Varint(b, n, m) || wire.Fixed(b, n, m) {
		return true
	}
	for at := range b {
		was := append([]byte(nil), b...)
		p := wire.Parts{B: b, At: at, M: m}
		if dated {
			p.Varint()
			p.Byte(1, 12)
			p.Byte(1, 28)
		}
		if timed {
			scrubClock(&p)
		}
		if !p.Bad && (dated || timed) && matches(was[at:], text, dated) {
			return true
		}
		copy(b, was)
	}
	return instant && scrubInstant(b, m)
}

// matches reports whether a date or a time of day starts b.
func matches(b []byte, text string, dated bool) bool {
	var r Reader
	r.Cursor.Reset(b, decode.Malformed)
	if dated {
		return strings.HasPrefix(text, r.date().String())
	}
	return strings.HasPrefix(text, r.clock().String())
}

// scrubClock replaces a time of day: the last part that is not zero is written as its complement, and ends it.
func scrubClock(p *wire.Parts) {
	for i, most := range [...]int64{23, 59, 59} {
		if p.At >= len(p.B) {
			p.Bad = true
			return
		}
		c := int8(p.B[p.At])
		if c < 0 {
			v := ^c
			if v > 0 || i > 0 {
				v = int8(p.M.Within(int64(v), 1, most))
			}
			p.B[p.At] = byte(^v)
			p.At++
			return
		}
		p.Byte(0, most)
	}
	p.Varint()
}

// scrubInstant replaces seconds and nanoseconds, two varints.
func scrubInstant(b []byte, m decode.Mapper) bool {
	for at := range b {
		_, size := binary.Uvarint(b[at:])
		if size <= 0 {
			continue
		}
		if _, rest := binary.Uvarint(b[at+size:]); rest > 0 && at+size+rest == len(b) && size >= 4 {
			p := wire.Parts{B: b, At: at, M: m}
			p.Varint()
			p.Varint()
			return p.Done()
		}
	}
	return false
}
