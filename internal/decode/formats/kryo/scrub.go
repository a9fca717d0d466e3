package kryo

import (
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// Scrub replaces the value after its class. Texts of ASCII end with bit 7 and longs may have nine bytes; other texts and
// numbers have a form that formats share.
func Scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.String:
		return scrubASCII(b, n, m) || wire.Shared(b, n, m)
	case decode.Int:
		return wire.Zigzag(b, n, m) || scrubLong(b, n, m) || wire.Shared(b, n, m)
	case decode.Date:
		return wire.Varint(b, n, m) || scrubLong(b, n, m) || wire.Shared(b, n, m)
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

// scrubLong replaces a long of nine bytes, a number with its sign in bit 0 or milliseconds. The last byte has eight bits of
// data.
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
	switch signed := int64(v>>1) ^ -int64(v&1); {
	case n.Kind == decode.Date:
		if t, err := time.Parse(time.RFC3339Nano, n.Text); err != nil || t.UnixMilli() != int64(v) {
			return false
		}
		v = uint64(m.Int(int64(v)))
	case signed != n.Num:
		return false
	default:
		num := m.Int(signed)
		v = uint64(num<<1) ^ uint64(num>>63)
	}
	for i := range size - 1 {
		b[i] = byte(v) | 0x80
		v >>= 7
	}
	b[size-1] = byte(v)
	return true
}
