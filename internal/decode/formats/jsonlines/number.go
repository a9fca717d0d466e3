package jsonlines

import (
	"math"
	"strconv"

	"dubbo-wire/internal/decode"
)

// maxExact is how many digits a number may have to be a double: more were written for a decimal's sake.
const maxExact = 17

// A token is a number as it is written.
type token struct {
	end      int // behind it, with its letter; 0 where it is none
	digits   int
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
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	if n.digits = i - start; n.digits == 0 {
		return token{}
	}
	n.integral = true
	if i < len(text) && text[i] == '.' {
		i++
		n.integral = false
		start = i
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
		n.digits += i - start
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
	integral := n.integral && n.suffix != 'F' && n.suffix != 'D' && string(digits) != "-0"
	switch {
	case n.whole:
	case integral && n.digits <= 19:
		if v, ok := parseInt(digits); ok {
			if leaf := r.Leaf(decode.Int, l, name, index); leaf != nil {
				leaf.Num = v
			}
			return
		}
	case !integral && n.digits <= maxExact:
		bits, kind := 64, decode.Float64
		if n.suffix == 'F' {
			bits, kind = 32, decode.Float32
		}
		if f, err := strconv.ParseFloat(string(digits), bits); err == nil && !math.IsInf(f, 0) {
			if leaf := r.Leaf(kind, l, name, index); leaf != nil {
				leaf.Float = f
			}
			return
		}
	}
	if leaf := r.Leaf(decode.Decimal, l, name, index); leaf != nil && r.Values() {
		leaf.Text = string(digits)
	}
}

// parseInt returns the value of up to 19 digits with or without a sign; ok is false where a long has no room for it.
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
