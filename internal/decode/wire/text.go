package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// isText reports whether a node has its value as text.
func isText(n *decode.Node) bool {
	switch n.Kind {
	case decode.String, decode.Char, decode.Decimal, decode.Date:
		return n.Text != ""
	}
	return false
}

// maxHead bounds the bytes before a value: its type, its length, its encoding.
const maxHead = 16

// UTF8 replaces a text in UTF-8 or in Java's modified UTF-8: characters beyond U+FFFF may be two units of three bytes each, NUL
// two bytes. One byte may follow.
func UTF8(b []byte, n *decode.Node, m decode.Mapper) bool {
	if !isText(n) {
		return false
	}
	if head := len(b) - len(n.Text); head >= 0 && head <= maxHead && string(b[head:]) == n.Text && (head == 0 || b[head-1] < utf8.RuneSelf && b[head-1] != n.Text[0]) &&
		utf8.ValidString(n.Text) { // as mostly: the text does not begin earlier
		MapUTF8(b[head:], n.Kind, m)
		return true
	}
	for head := max(0, len(b)-len(n.Text)-len(n.Text)/2-1); head <= min(maxHead, len(b)); head++ {
		for tail := range 2 {
			if head+tail <= len(b) && inUTF8.holds(b[head:len(b)-tail], n.Text) {
				MapUTF8(b[head:len(b)-tail], n.Kind, m)
				return true
			}
		}
	}
	// More bytes may follow the text.
	if at := bytes.Index(b, []byte(n.Text)); at >= 0 && at <= maxHead && (len(n.Text) >= 4 || at > 0 && int(b[at-1]) == len(n.Text)) {
		MapUTF8(b[at:at+len(n.Text)], n.Kind, m)
		return true
	}
	return false
}

// coding is how the characters of a text are written: next decodes the first character of bytes, put writes another one over a character.
type coding struct {
	next func(b []byte) (r rune, size int)
	put  func(b []byte, r rune)
	// ascii says that an ASCII character but the backslash is one byte.
	ascii bool
}

var (
	inUTF8   = coding{utf8Next, putUTF8, true}
	inLatin1 = coding{latin1Next, putLatin1, true}
	inQuotes = coding{quoted, putQuoted, true}
)

// run returns how many bytes at the start of b are characters of which nothing else need be known.
func (c coding) run(b []byte) int {
	if !c.ascii {
		return 0
	}
	for i, x := range b {
		if x >= utf8.RuneSelf || x == '\\' {
			return i
		}
	}
	return len(b)
}

// holds reports whether b is text. Half of a surrogate pair is U+FFFD in text.
func (c coding) holds(b []byte, text string) bool {
	for {
		n := c.run(b)
		if n > len(text) || string(b[:n]) != text[:n] {
			return false
		}
		b, text = b[n:], text[n:]
		if len(b) == 0 || len(text) == 0 {
			return len(b) == len(text)
		}
		r, size := c.next(b)
		t, width := utf8.DecodeRuneInString(text)
		if r != t && (t != utf8.RuneError || !utf16.IsSurrogate(r)) {
			return false
		}
		b, text = b[size:], text[width:]
	}
}

// utf8Next decodes the first character of b in UTF-8 or modified UTF-8; any other byte is one character.
func utf8Next(b []byte) (r rune, size int) {
	if b[0] < utf8.RuneSelf {
		return rune(b[0]), 1
	}
	if r, size = utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
		return r, size
	}
	if len(b) >= 2 && b[0]&0xe0 == 0xc0 && b[1]&0xc0 == 0x80 {
		return rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f), 2
	}
	high, ok := unit3(b)
	if !ok {
		return utf8.RuneError, 1
	}
	if low, ok := unit3(b[3:]); ok {
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			return r, 6
		}
	}
	return high, 3
}

// unit3 decodes a UTF-16 unit of three bytes.
func unit3(b []byte) (r rune, ok bool) {
	if len(b) < 3 || b[0]&0xf0 != 0xe0 || b[1]&0xc0 != 0x80 || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return rune(b[0]&0xf)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}

// MapUTF8 replaces the text b as [UTF8] does; of numbers, dates and times only digits.
func MapUTF8(b []byte, k decode.Kind, m decode.Mapper) {
	if k == decode.Decimal || k == decode.Date {
		m.Digits(b)
		if from, to := bytes.IndexByte(b, '['), bytes.IndexByte(b, ']'); k == decode.Date && from >= 0 && from < to {
			MapUTF8(b[from+1:to], decode.String, m) // the name of a zone
		}
		return
	}
	if m.UTF8(b) {
		return
	}
	inUTF8.replace(b, m)
}

// replace replaces the text b.
func (c coding) replace(b []byte, m decode.Mapper) {
	if c.ascii && c.replaceRuns(b, m) {
		return
	}
	runes := m.Runes()
	for at := 0; at < len(b); {
		r, size := c.next(b[at:])
		runes = append(runes, r)
		at += size
	}
	m.Text(runes)
	at := 0
	for _, r := range runes {
		_, size := c.next(b[at:])
		c.put(b[at:at+size], r)
		at += size
	}
}

// replaceRuns is replace by way of the text in UTF-8, most of which is runs. It changes nothing and returns false if that cannot be.
func (c coding) replaceRuns(b []byte, m decode.Mapper) bool {
	text := make([]byte, 0, len(b))
	for at := 0; ; {
		n := c.run(b[at:])
		text = append(text, b[at:at+n]...)
		if at += n; at == len(b) {
			break
		}
		r, size := c.next(b[at:])
		if utf16.IsSurrogate(r) {
			return false
		}
		text = utf8.AppendRune(text, r)
		at += size
	}
	if !m.UTF8(text) {
		return false
	}
	for {
		n := c.run(b)
		copy(b, text[:n])
		if b, text = b[n:], text[n:]; len(b) == 0 {
			return true
		}
		_, size := c.next(b)
		r, width := utf8.DecodeRune(text)
		c.put(b[:size], r)
		b, text = b[size:], text[width:]
	}
}

// putUTF8 writes r over the character that b is. What is not a character stays.
func putUTF8(b []byte, r rune) {
	switch len(b) {
	case 1:
		if b[0] < utf8.RuneSelf && r < utf8.RuneSelf {
			b[0] = byte(r)
		}
	case 2:
		if r >= 0x80 && r < 0x800 {
			b[0], b[1] = 0xc0|byte(r>>6), 0x80|byte(r&0x3f)
		}
	case 3:
		put3(b, r)
	case 4:
		utf8.EncodeRune(b, r)
	case 6:
		high, low := utf16.EncodeRune(r)
		put3(b, high)
		put3(b[3:], low)
	}
}

func put3(b []byte, r rune) {
	b[0], b[1], b[2] = 0xe0|byte(r>>12), 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f)
}

// Latin1 replaces a text with one byte for each character.
func Latin1(b []byte, n *decode.Node, m decode.Mapper) bool {
	if !isText(n) {
		return false
	}
	length := utf8.RuneCountInString(n.Text)
	return findText(b, length, length >= 4 && length < len(n.Text), func(text []byte) bool {
		switch own := mapperFor(n, m); {
		case string(text) == n.Text && decode.IsASCII(text) && own.UTF8(text): // as mostly
		case inLatin1.holds(text, n.Text):
			inLatin1.replace(text, own)
		default:
			return false
		}
		return true
	})
}

// findText calls replace for the places where a text of so many bytes may be, until it returns true: at the end of b, one
// byte before it and, if inside is set, anywhere.
func findText(b []byte, length int, inside bool, replace func(text []byte) bool) bool {
	for tail := range 2 {
		if head := len(b) - length - tail; head >= 0 && head <= maxHead && replace(b[head:head+length]) {
			return true
		}
	}
	for head := 0; inside && head <= maxHead && head+length <= len(b); head++ {
		if replace(b[head : head+length]) {
			return true
		}
	}
	return false
}

func latin1Next(b []byte) (r rune, size int) { return rune(b[0]), 1 }

func putLatin1(b []byte, r rune) { b[0] = byte(r) }

// UTF16 replaces a text with two bytes for each unit, in either byte order.
func UTF16(b []byte, n *decode.Node, m decode.Mapper) bool {
	if !isText(n) {
		return false
	}
	length := 2 * decode.TextLength(n.Text)
	return findText(b, length, length >= 4, func(text []byte) bool {
		for _, high := range [...]int{1, 0} { // the place of a unit's higher byte
			units := coding{
				next: func(b []byte) (r rune, size int) { return unit(b, high) },
				put:  func(b []byte, r rune) { putUnits(b, high, r) },
			}
			if !units.holds(text, n.Text) {
				continue
			}
			units.replace(text, mapperFor(n, m))
			return true
		}
		return false
	})
}

// digitsMapper is a Mapper whose Text replaces digits only.
type digitsMapper struct{ decode.Mapper }

// mapperFor returns the Mapper for the text of a node: of numbers, dates and times only digits are replaced.
func mapperFor(n *decode.Node, m decode.Mapper) decode.Mapper {
	if n.Kind == decode.Decimal || n.Kind == decode.Date {
		return digitsMapper{m}
	}
	return m
}

func (m digitsMapper) UTF8([]byte) bool { return false }

func (m digitsMapper) Text(runes []rune) {
	text := make([]byte, len(runes))
	for i, r := range runes {
		text[i] = byte(min(r, 0x7f))
	}
	m.Digits(text)
	for i, r := range runes {
		if r < 0x7f {
			runes[i] = rune(text[i])
		}
	}
}

// putUnits writes r over the one or two units that b is.
func putUnits(b []byte, high int, r rune) {
	low := r
	if len(b) == 4 {
		r, low = utf16.EncodeRune(r)
		b[2+high], b[3-high] = byte(low>>8), byte(low)
	}
	b[high], b[1-high] = byte(r>>8), byte(r)
}

// unit decodes the first character of b in UTF-16. high is the offset of the higher byte within a unit, 0 or 1.
func unit(b []byte, high int) (r rune, size int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	r = rune(b[high])<<8 | rune(b[1-high])
	if utf16.IsSurrogate(r) && len(b) >= 4 {
		if c := utf16.DecodeRune(r, rune(b[2+high])<<8|rune(b[3-high])); c != utf8.RuneError {
			return c, 4
		}
	}
	return r, 2
}

// Raw replaces an array of bytes at the end of b.
func Raw(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.Bytes || len(n.Raw) == 0 || len(n.Raw) > len(b) {
		return false
	}
	if at := len(b) - len(n.Raw); string(b[at:]) == string(n.Raw) {
		m.Bytes(b[at:])
		return true
	}
	return false
}
