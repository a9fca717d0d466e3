package jsonlines

import (
	"bytes"
	"math"
	"strconv"

	"dubbo-wire/internal/decode"
)

const (
	// maxExact is the largest number of digits of a double; a number with more is a decimal.
	maxExact = 17
	// maxCommon is the number of digits up to which a decimal survives a conversion to double.
	maxCommon = 15
)

// A token is a number as it is written.
type token struct {
	end      int // the offset after it, with its letter; 0 if there is no number
	digits   int // number of digits from the first one that is not 0
	integral bool
	whole    bool // fastjson marks a BigDecimal that is whole: the point ends it
	suffix   byte // fastjson's letter for the Java type
}

// scanNumber finds the number that starts at offset i of text.
//
//	number = [ "-" ] int [ frac ] [ exp ] ; and with fastjson the letter of its Java type.
func (w *writer) scanNumber(text []byte, i int) (n token) {
	if text[i] == '-' {
		i++
	}
	start := i
	for i < len(text) && text[i] == '0' {
		i++
	}
	zeros := i - start
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return token{}
	}
	n.digits = i - start - zeros
	n.integral = true
	if i < len(text) && text[i] == '.' {
		i++
		n.integral = false
		start = i
		for n.digits == 0 && i < len(text) && text[i] == '0' {
			i++
		}
		zeros = i - start
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		if i == start {
			if !w.prefixed {
				return token{}
			}
			n.whole, n.end = true, i
			return n
		}
		n.digits += i - start - zeros
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		n.integral = false
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		start = i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		if i == start {
			return token{}
		}
	}
	if w.fastjson && i < len(text) {
		switch text[i] {
		case 'B', 'S', 'L', 'F', 'D':
			n.suffix = text[i]
			i++
		}
	}
	n.end = i
	return n
}

func (r *Reader) number(l decode.Label, name string, index int) {
	start := r.Off
	n := r.scanNumber(r.Buf[:r.end], start)
	if n.end == 0 || n.end == r.end && r.cut {
		if r.cut {
			r.failAt(r.end, "the rest of a number")
		} else {
			r.fail("a number")
		}
		return
	}
	r.Off = n.end
	digits := r.Buf[start:n.end]
	if n.whole || n.suffix != 0 {
		digits = digits[:len(digits)-1]
	}
	v := n.value(digits)
	switch v.kind {
	case decode.Int:
		r.Leaf(decode.Int, l, name, index).SetNum(v.num)
	case decode.Decimal:
		if leaf := r.Leaf(decode.Decimal, l, name, index); leaf != nil && r.Values() {
			leaf.Text = string(digits)
		}
	default:
		if leaf := r.Leaf(v.kind, l, name, index); leaf != nil {
			if leaf.Float = v.float; r.Values() && v.isExact(digits, &n) {
				leaf.Text = string(digits)
			}
		}
	}
}

// value is the value of a number: an Int, a Float32 or Float64, or a Decimal, which is its digits.
type value struct {
	kind  decode.Kind
	num   int64
	float float64
}

// value returns the value of n, whose digits these are without a letter after them.
func (n *token) value(digits []byte) value {
	integral := n.integral && n.suffix != 'F' && n.suffix != 'D' && string(digits) != "-0"
	switch {
	case n.whole:
	case integral && n.digits <= 19:
		if v, ok := parseInt(digits); ok {
			return value{kind: decode.Int, num: v}
		}
	case !integral && n.digits <= maxExact:
		bits, kind := 64, decode.Float64
		if n.suffix == 'F' {
			bits, kind = 32, decode.Float32
		}
		if f, err := strconv.ParseFloat(string(digits), bits); err == nil && !math.IsInf(f, 0) {
			return value{kind: kind, float: f}
		}
	}
	return value{kind: decode.Decimal}
}

// isExact reports whether the digits say more than the floating point number v that they are read as.
func (v *value) isExact(digits []byte, n *token) bool {
	return n.digits > maxCommon && v.kind == decode.Float64 && !shortest(digits, v.float)
}

// shortest reports whether a number is written with the digits that are printed for f. A decimal may have other digits, and
// so may a double of a JDK before 19. Numbers with leading zeros are not valid JSON and are not printed as they are.
func shortest(number []byte, f float64) bool {
	if number[0] == '-' {
		number = number[1:]
	}
	if number[0] == '0' && number[1]-'0' <= 9 {
		return true
	}
	var own, wire [32]byte
	return bytes.Equal(mantissa(own[:0], strconv.AppendFloat(make([]byte, 0, 32), f, 'e', -1, 64)), mantissa(wire[:0], number))
}

// mantissa appends the digits of a number without leading and trailing zeros.
func mantissa(dst, number []byte) []byte {
	end := 0
	for _, c := range number {
		switch {
		case c|0x20 == 'e':
			return dst[:end]
		case c-'0' > 9 || c == '0' && len(dst) == 0:
			continue
		}
		if dst = append(dst, c); c != '0' {
			end = len(dst)
		}
	}
	return dst[:end]
}

// parseInt returns the value of up to 19 digits with or without a sign; ok is false if it does not fit a long.
func parseInt(digits []byte) (v int64, ok bool) {
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	var u uint64
	for _, c := range digits {
		u = u*10 + uint64(c-'0')
	}
	switch {
	case negative && u <= 1<<63:
		return -int64(u), true
	case !negative && u <= math.MaxInt64:
		return int64(u), true
	}
	return 0, false
}
