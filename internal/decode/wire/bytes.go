package wire

import (
	"bytes"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
)

// Unscaled replaces the unscaled value of a decimal number: bytes with the most significant first, in two's complement or
// without a sign.
func Unscaled(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.Decimal {
		return false
	}
	v, ok := UnscaledOf(n.Text)
	if !ok {
		return false
	}
	raw := twos(v)
	if at := bytes.LastIndex(b, raw); at >= 0 && at <= maxHead {
		MapTwos(b[at:at+len(raw)], m)
		return true
	}
	raw = v.Abs(v).Bytes()
	if at := bytes.LastIndex(b, raw); at >= 0 && at <= maxHead && len(raw) > 0 {
		MapMagnitude(b[at:at+len(raw)], m)
		return true
	}
	return false
}

// MapMagnitude replaces an unsigned number, most significant byte first, by one with as many bits.
func MapMagnitude(b []byte, m decode.Mapper) {
	top := int64(1) << (bits.Len8(b[0]) - 1)
	b[0] = byte(m.Within(int64(b[0]), top, 2*top-1))
	m.Bytes(b[1:])
}

// maxUnscaled bounds the digits that are converted: the time is not linear in them.
const maxUnscaled = 1 << 12

// UnscaledOf returns the digits of a decimal number as an integer.
func UnscaledOf(text string) (v *big.Int, ok bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text = text[:i]
	}
	text = strings.Replace(text, ".", "", 1)
	if len(text) == 0 || len(text) > maxUnscaled {
		return nil, false
	}
	return new(big.Int).SetString(text, 10)
}

// twos returns a number in the fewest bytes of two's complement, as Java's BigInteger.toByteArray does.
func twos(v *big.Int) []byte {
	negative := v.Sign() < 0
	if negative {
		v = new(big.Int).Not(v) // -1-v
	}
	b := v.Bytes()
	if len(b) == 0 || b[0] >= 0x80 {
		b = append([]byte{0}, b...)
	}
	for i := range b {
		if negative {
			b[i] = ^b[i]
		}
	}
	return b
}

// MapTwos replaces a number in two's complement, most significant byte first, by one with the same sign and as many bytes.
func MapTwos(b []byte, m decode.Mapper) {
	if len(b) == 0 {
		return
	}
	if len(b) <= 8 {
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		v = m.Int(v)
		for i := len(b) - 1; i >= 0; i-- {
			b[i] = byte(v)
			v >>= 8
		}
		return
	}
	m.Bytes(b[2:]) // the first two decide how many bytes it needs
}

// UUID replaces a UUID of 16 bytes at the end of b.
func UUID(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.String || len(b) < 16 || len(n.Text) != 36 || strings.Count(n.Text, "-") != 4 {
		return false
	}
	raw := b[len(b)-16:]
	low, err := strconv.ParseUint(n.Text[24:], 16, 64)
	if err != nil {
		return false
	}
	for i := range 6 { // the last 6 bytes, in some order
		if bytes.IndexByte(raw, byte(low>>(8*i))) < 0 {
			return false
		}
	}
	m.Bytes(raw)
	return true
}

// Parts replaces the parts of a value, such as a date, one after the other. Bad is set when bytes are missing.
type Parts struct {
	B   []byte
	At  int
	M   decode.Mapper
	Bad bool
}

// Byte replaces the next byte if it is from lo to hi, and returns the original.
func (p *Parts) Byte(lo, hi int64) byte {
	if p.At >= len(p.B) {
		p.Bad = true
	}
	if p.Bad {
		return 0
	}
	was := p.B[p.At]
	p.B[p.At] = byte(p.M.Within(int64(was), lo, hi))
	p.At++
	return was
}

// Done reports whether the parts were the whole value.
func (p *Parts) Done() bool { return !p.Bad && p.At == len(p.B) }
