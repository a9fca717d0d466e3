package wire

import (
	"bytes"
	hexadecimal "encoding/hex"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Quoted replaces a text in quotes as in JSON: an escape becomes an escape of the same length.
func Quoted(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.String, decode.Char, decode.Bytes, decode.Decimal, decode.Date, decode.Int, decode.Float32, decode.Float64:
	default:
		return false
	}
	if n.Float-n.Float != 0 {
		return true // NaN and Infinity by name
	}
	from := bytes.IndexAny(b, `"'`)
	if from < 0 {
		return false
	}
	to := bytes.LastIndexByte(b, b[from])
	if to <= from+1 || from > maxHead || len(b)-to > maxHead {
		return false
	}
	if n.Kind == decode.Bytes && from > 0 && b[from-1] == 'x' {
		return mapHex(b[from+1:to], m)
	}
	if (n.Kind == decode.String || n.Kind == decode.Char) && !holdsQuoted(b[from+1:to], n.Text) {
		return false
	}
	return MapQuoted(b[from+1:to], n.Kind, m)
}

// holdsQuoted reports whether b, in quotes, is text. Nearly all texts have no escapes.
func holdsQuoted(b []byte, text string) bool {
	if string(b) == text && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return true
	}
	return inQuotes.holds(b, text)
}

// mapHex replaces bytes that are written as pairs of hexadecimal digits.
func mapHex(b []byte, m decode.Mapper) bool {
	raw := make([]byte, len(b)/2)
	if _, err := hexadecimal.Decode(raw, b); err != nil {
		return false
	}
	upper := bytes.ContainsAny(b, "ABCDEF")
	m.Bytes(raw)
	hexadecimal.Encode(b, raw)
	if upper {
		copy(b, bytes.ToUpper(b))
	}
	return true
}

// MapQuoted replaces b, the text between quotes.
func MapQuoted(b []byte, k decode.Kind, m decode.Mapper) bool {
	switch k {
	case decode.Decimal, decode.Date, decode.Int, decode.Float32, decode.Float64:
		if k != decode.Date {
			k = decode.Decimal
		}
		if bytes.IndexByte(b, '\\') >= 0 {
			return false
		}
		MapUTF8(b, k, m)
		return true
	case decode.Bytes:
		b = bytes.TrimRight(b, "=")
		if last := len(b) % 4; last > 1 { // the bits of the last character are not all used
			b = b[:len(b)-1]
		}
	}
	if bytes.IndexByte(b, '\\') >= 0 || !m.UTF8(b) {
		inQuotes.replace(b, m)
	}
	return true
}

// escapes are the characters after a backslash, meant what they stand for.
const escapes, meant = `"\/bfnrt'v0`, "\"\\/\b\f\n\r\t'\v\x00"

// quoted decodes the first character of a text in quotes. A backslash without a valid escape is a character.
func quoted(b []byte) (r rune, size int) {
	if b[0] != '\\' || len(b) < 2 {
		return utf8Next(b)
	}
	switch b[1] {
	case 'u':
		high, ok := hex(b, 'u', 4)
		if !ok {
			return '\\', 1
		}
		if low, ok := hex(b[6:], 'u', 4); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 12
			}
		}
		return high, 6
	case 'x':
		if r, ok := hex(b, 'x', 2); ok {
			return r, 4
		}
	}
	if i := bytes.IndexByte([]byte(escapes), b[1]); i >= 0 {
		return rune(meant[i]), 2
	}
	return '\\', 1
}

// hex decodes a backslash, the letter and a number of hexadecimal digits.
func hex(b []byte, letter byte, digits int) (r rune, ok bool) {
	if len(b) < 2+digits || b[0] != '\\' || b[1] != letter {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:2+digits]), 16, 16)
	return rune(v), err == nil
}

// putQuoted writes r over the character that b is. The character stays if r has no encoding of that form.
func putQuoted(b []byte, r rune) {
	switch {
	case b[0] != '\\':
		putUTF8(b, r)
	case len(b) == 2:
		if i := bytes.IndexByte([]byte(meant[:8]), byte(r)); r < utf8.RuneSelf && i >= 0 {
			b[1] = escapes[i]
		}
	case len(b) == 4:
		if r < 0x100 {
			putHex(b[2:], r)
		}
	case len(b) == 6:
		putHex(b[2:], r)
	case len(b) == 12:
		high, low := utf16.EncodeRune(r)
		putHex(b[2:6], high)
		putHex(b[8:], low)
	}
}

// putHex writes r over hexadecimal digits, in their case.
func putHex(b []byte, r rune) {
	upper := bytes.ContainsAny(b, "ABCDEF")
	for i := len(b) - 1; i >= 0; i-- {
		c := "0123456789abcdef"[r&15]
		if upper && c >= 'a' {
			c -= 'a' - 'A'
		}
		b[i] = c
		r >>= 4
	}
}

// Decimal replaces a number in decimal digits, which may have other characters around it.
func Decimal(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.Int, decode.Float32, decode.Float64, decode.Decimal, decode.Date:
	default:
		return false
	}
	if k := n.Kind; (k == decode.Float32 || k == decode.Float64) && (n.Float != n.Float || n.Float-n.Float != 0) &&
		bytes.ContainsAny(b, "NI") {
		return true // NaN and Infinity by name
	}
	from := 0
	for from < len(b) && !(b[from] >= '0' && b[from] <= '9' || b[from] == '-' || b[from] == '.') {
		from++
	}
	to := from
	for to < len(b) && (b[to] >= '0' && b[to] <= '9' || bytes.IndexByte([]byte("-+.eE"), b[to]) >= 0) {
		to++
	}
	if from > maxHead || to == from || len(b)-to > maxHead {
		return false
	}
	number := b[from:to]
	if n.Kind == decode.Int || n.Kind == decode.Date {
		num, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil || n.Kind == decode.Int && num != n.Num || n.Kind == decode.Date && !isTime(num, n.Text) {
			return false
		}
		out := strconv.AppendInt(nil, m.Int(num), 10)
		if len(out) != len(number) {
			return false
		}
		copy(number, out)
		return true
	}
	if !isNumber(number, n) {
		return false
	}
	m.Digits(number)
	return true
}

// isNumber reports whether b is the number of node n.
func isNumber(b []byte, n *decode.Node) bool {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return false
	}
	switch n.Kind {
	case decode.Decimal:
		g, err := strconv.ParseFloat(n.Text, 64)
		return string(b) == n.Text || err == nil && f == g
	case decode.Float32:
		return float32(f) == float32(n.Float)
	}
	return f == n.Float
}
