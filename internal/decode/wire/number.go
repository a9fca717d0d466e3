package wire

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf16"

	"dubbo-wire/internal/decode"
)

// Fixed replaces an integer, a floating point number or a character of 1, 2, 4 or 8 bytes at the end of b, in either byte
// order, or a date in milliseconds or seconds.
func Fixed(b []byte, n *decode.Node, m decode.Mapper) bool {
	for _, size := range [...]int{8, 4, 2, 1} {
		if size > len(b) {
			continue
		}
		at := b[len(b)-size:]
		if FixedIn(at, binary.BigEndian, n, m) || size > 1 && FixedIn(at, binary.LittleEndian, n, m) {
			return true
		}
	}
	return false
}

// FixedIn is [Fixed] for all of b, 1, 2, 4 or 8 bytes, in one byte order.
func FixedIn(b []byte, order binary.ByteOrder, n *decode.Node, m decode.Mapper) bool {
	bits := uint(8 * len(b))
	raw := load(b, order)
	signed := int64(raw<<(64-bits)) >> (64 - bits)
	switch n.Kind {
	case decode.Int:
		if signed == n.Num || raw == uint64(n.Num) {
			store(b, order, uint64(m.Int(n.Num)))
			return true
		}
	case decode.Char:
		if c, ok := char(n.Text); ok && raw == uint64(c) && bits <= 16 {
			store(b, order, uint64(mapChar(c, m)))
			return true
		}
	case decode.Float64, decode.Float32:
		return fixedFloat(b, raw, order, n, m)
	case decode.Date:
		return fixedDate(b, signed, order, n, m)
	}
	return false
}

func fixedFloat(b []byte, raw uint64, order binary.ByteOrder, n *decode.Node, m decode.Mapper) bool {
	switch len(b) {
	case 8:
		if f := math.Float64frombits(raw); f == n.Float || f != f && n.Float != n.Float {
			store(b, order, math.Float64bits(m.Float(f, 64)))
			return true
		}
	case 4:
		if f := math.Float32frombits(uint32(raw)); float64(f) == n.Float || f != f && n.Float != n.Float {
			store(b, order, uint64(math.Float32bits(float32(m.Float(float64(f), 32)))))
			return true
		}
	}
	return false
}

func fixedDate(b []byte, num int64, order binary.ByteOrder, n *decode.Node, m decode.Mapper) bool {
	if len(b) < 4 || !isTime(num, n.Text) {
		return false
	}
	store(b, order, uint64(m.Int(num)))
	return true
}

// isTime reports whether a number is the instant in text, in milliseconds or seconds since 1970.
func isTime(num int64, text string) bool {
	t, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && (num == t.UnixMilli() || num == t.Unix())
}

func load(b []byte, order binary.ByteOrder) uint64 {
	switch len(b) {
	case 8:
		return order.Uint64(b)
	case 4:
		return uint64(order.Uint32(b))
	case 2:
		return uint64(order.Uint16(b))
	}
	return uint64(b[0])
}

func store(b []byte, order binary.ByteOrder, v uint64) {
	switch len(b) {
	case 8:
		order.PutUint64(b, v)
	case 4:
		order.PutUint32(b, uint32(v))
	case 2:
		order.PutUint16(b, uint16(v))
	default:
		b[0] = byte(v)
	}
}

// char returns the UTF-16 unit of a Java char.
func char(text string) (c uint16, ok bool) {
	units := utf16.Encode([]rune(text))
	if len(units) != 1 {
		return 0, false
	}
	return units[0], true
}

func mapChar(c uint16, m decode.Mapper) uint16 {
	runes := append(m.Runes(), rune(c))
	m.Text(runes)
	return uint16(runes[0])
}

// Varint replaces an integer at the end of b with seven bits in each byte, the lowest first.
func Varint(b []byte, n *decode.Node, m decode.Mapper) bool {
	return varint(b, n, m, func(u uint64) int64 { return int64(u) }, func(i int64) uint64 { return uint64(i) })
}

// Zigzag is [Varint] for integers with the sign in the lowest bit.
func Zigzag(b []byte, n *decode.Node, m decode.Mapper) bool {
	return varint(b, n, m, func(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) },
		func(i int64) uint64 { return uint64(i<<1) ^ uint64(i>>63) })
}

func varint(b []byte, n *decode.Node, m decode.Mapper, from func(uint64) int64, to func(int64) uint64) bool {
	num := n.Num
	switch n.Kind {
	case decode.Int:
	case decode.Char:
		c, ok := char(n.Text)
		if !ok {
			return false
		}
		num = int64(c)
	case decode.Date:
		t, err := time.Parse(time.RFC3339Nano, n.Text)
		if err != nil {
			return false
		}
		num = t.UnixMilli()
	default:
		return false
	}
	for at := range min(len(b), maxHead) {
		u, size := binary.Uvarint(b[at:])
		if size != len(b)-at {
			continue
		}
		if v := from(u); v != num && int64(int32(v)) != num {
			continue
		}
		width := 64
		if size <= 5 && num < 0 && from(u) != num {
			width = 32 // a negative number of 32 bits
		}
		to := to(replaced(num, n, m))
		if width == 32 {
			to &= 1<<32 - 1
		}
		if binary.PutUvarint(make([]byte, binary.MaxVarintLen64), to) != size {
			return false
		}
		binary.PutUvarint(b[at:], to)
		return true
	}
	return false
}

func replaced(num int64, n *decode.Node, m decode.Mapper) int64 {
	if n.Kind == decode.Char {
		return int64(mapChar(uint16(num), m))
	}
	return m.Int(num)
}
