package dubboserialization

import (
	"math"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces a number of any width; floating point numbers, characters and dates are written as such numbers, too. Texts
// and bytes have a form that formats share.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.String || n.Kind == decode.Bytes {
		return wire.Shared(b, n, m)
	}
	for at := range b {
		v, size := varintAt(b[at:])
		if size == 0 || size != len(b)-at {
			continue
		}
		w := v
		switch n.Kind {
		case decode.Int:
			if v != n.Num {
				continue
			}
			w = m.Int(v)
		case decode.Date:
			if t, err := time.Parse(time.RFC3339Nano, n.Text); err == nil && t.UnixMilli() != v {
				continue
			}
			w = m.Int(v)
		case decode.Float64:
			w = int64(math.Float64bits(m.Float(math.Float64frombits(uint64(v)), 64)))
		case decode.Float32:
			w = int64(int32(math.Float32bits(float32(m.Float(float64(math.Float32frombits(uint32(v))), 32)))))
		case decode.Char:
			runes := append(m.Runes(), rune(uint16(v)))
			m.Text(runes)
			w = int64(runes[0])
		default:
			return false
		}
		return putVarint(b[at:], w)
	}
	return wire.Shared(b, n, m)
}

// putVarint writes v over a number of the same width; it returns false if v is wider.
func putVarint(b []byte, v int64) bool {
	if len(b) == 1 {
		if v < tagFirstSmall-tagZero || v > tagLastSmall-tagZero {
			return false
		}
		b[0] = byte(v + tagZero)
		return true
	}
	unused := 64 - 8*(len(b)-1)
	if v<<unused>>unused != v {
		return false
	}
	for i := range b[1:] {
		b[1+i] = byte(v >> (8 * i))
	}
	return true
}
