package fastjson2

import (
	"encoding/binary"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces a value after its first byte, which tells the type and the length of short values. The first value of a
// document has the document's length before it.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	for _, at := range [...]int{0, lengthSize} {
		if at < len(b) && scrubAt(b[at:], n, m) {
			return true
		}
	}
	switch n.Kind {
	case decode.String, decode.Bytes:
		return wire.Shared(b, n, m)
	}
	return false
}

func scrubAt(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.Int:
		return scrubInt(b, n.Num, m)
	case decode.Float64, decode.Float32:
		return scrubFloat(b, m)
	case decode.Decimal:
		return scrubDecimal(b, n, m)
	case decode.Date:
		return scrubDate(b, m)
	case decode.Char:
		if b[0] != opChar || len(b) < 2 {
			return false
		}
		v, ok := integerAt(b[1:])
		if !ok {
			return false
		}
		runes := append(m.Runes(), rune(uint16(v)))
		m.Text(runes)
		return putInteger(b[1:], int64(runes[0])-v)
	}
	return false
}

// integerAt returns the integer that b is, as a whole.
func integerAt(b []byte) (v int64, ok bool) {
	var r decode.Cursor
	r.Reset(b, decode.Malformed)
	op := r.Byte("")
	if !r.OK() || !isInteger(op) {
		return 0, false
	}
	v = integerOf(&r, op, "")
	return v, r.OK() && r.Off == len(b)
}

// isIntegerOf reports whether b is the integer v.
func isIntegerOf(b []byte, v int64) bool {
	is, ok := integerAt(b)
	return ok && is == v
}

// scrubInt replaces the integer that b is, if it is num.
func scrubInt(b []byte, num int64, m decode.Mapper) bool {
	return isIntegerOf(b, num) && putInteger(b, m.Int(num)-num)
}

// putInteger adds delta to the integer that b is. The first byte of a short integer has its highest bits.
func putInteger(b []byte, delta int64) bool {
	from := 1
	switch op := b[0]; op {
	case opInt32, opInt16, opInt8, opInt64, opInt64Int:
	default:
		from = 0
	}
	v := uint64(0)
	for _, c := range b[from:] {
		v = v<<8 | uint64(c)
	}
	was, _ := integerAt(b)
	put := func(v uint64) {
		for i := len(b) - 1; i >= from; i-- {
			b[i] = byte(v)
			v >>= 8
		}
	}
	if put(v + uint64(delta)); !isIntegerOf(b, was+delta) {
		put(v) // the first byte would have another meaning
		return false
	}
	return true
}

func scrubFloat(b []byte, m decode.Mapper) bool {
	switch op := b[0]; {
	case len(b) == 1:
		return op == opDouble0 || op == opDouble1
	case op == opDouble && len(b) == 9:
		f := m.Float(math.Float64frombits(binary.BigEndian.Uint64(b[1:])), 64)
		binary.BigEndian.PutUint64(b[1:], math.Float64bits(f))
	case op == opFloat && len(b) == 5:
		f := m.Float(float64(math.Float32frombits(binary.BigEndian.Uint32(b[1:]))), 32)
		binary.BigEndian.PutUint32(b[1:], math.Float32bits(float32(f)))
	case op == opDoubleLong || op == opFloatInt:
		v, ok := integerAt(b[1:])
		if !ok {
			return false
		}
		w := m.Float(float64(v), 64)
		if w != math.Trunc(w) || math.Abs(w) >= 1<<62 {
			return false
		}
		return putInteger(b[1:], int64(w)-v)
	default:
		return false
	}
	return true
}

// scrubDecimal replaces the digits of a decimal; its scale stays.
func scrubDecimal(b []byte, n *decode.Node, m decode.Mapper) bool {
	if b[0] < opDecimalLong || b[0] > opBigInt {
		return wire.Quoted(b, n, m)
	}
	v, ok := wire.UnscaledOf(n.Text)
	if ok && v.IsInt64() {
		for at := 1; at < len(b); at++ {
			if scrubInt(b[at:], v.Int64(), m) {
				return true
			}
		}
	}
	return wire.Unscaled(b, n, m)
}

func scrubDate(b []byte, m decode.Mapper) bool {
	p := wire.Parts{B: b, At: 1, M: m}
	switch b[0] {
	case opLocalDate:
		day16(&p)
	case opLocalTime:
		clock8(&p)
	case opLocalDateTime:
		day16(&p)
		clock8(&p)
	case opZoned:
		day16(&p)
		clock8(&p)
		if p.Bad || p.At >= len(b) {
			return false
		}
		zone := &decode.Node{Kind: decode.String, Text: string(b[p.At+1:])}
		wire.UTF8(b[p.At:], zone, m)
		return true
	case opMillis:
		if len(b) != 9 {
			return false
		}
		binary.BigEndian.PutUint64(b[1:], uint64(m.Int(int64(binary.BigEndian.Uint64(b[1:])))))
		return true
	case opSeconds, opMinutes:
		if len(b) != 5 {
			return false
		}
		binary.BigEndian.PutUint32(b[1:], uint32(m.Int(int64(int32(binary.BigEndian.Uint32(b[1:]))))))
		return true
	case opTimestamp:
		for end := 2; end <= len(b); end++ {
			if v, ok := integerAt(b[1:end]); ok {
				return putInteger(b[1:end], m.Int(v)-v) && nanos(b[end:], m)
			}
		}
		return false
	default:
		return false
	}
	return p.Done()
}

// day16 replaces a year of two bytes, except the higher one, a month and a day.
func day16(p *wire.Parts) {
	p.At++
	p.Byte(0, 255)
	p.Byte(1, 12)
	p.Byte(1, 28)
}

func clock8(p *wire.Parts) {
	p.Byte(0, 23)
	p.Byte(0, 59)
	p.Byte(0, 59)
	for end := p.At + 1; end <= len(p.B); end++ {
		if _, ok := integerAt(p.B[p.At:end]); ok {
			p.Bad = p.Bad || !nanos(p.B[p.At:end], p.M)
			p.At = end
			return
		}
	}
	p.Bad = true
}

// nanos replaces the nanoseconds that b is, unless they are 0.
func nanos(b []byte, m decode.Mapper) bool {
	v, ok := integerAt(b)
	return ok && (v == 0 || putInteger(b, m.Int(v)-v))
}
