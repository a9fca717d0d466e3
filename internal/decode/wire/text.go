package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// isText reports whether a node is a text, or has its value as one.
func isText(n *decode.Node) bool {
	switch n.Kind {
	case decode.String, decode.Char, decode.Decimal, decode.Date:
		return n.Text != ""
	}
	return false
}

// maxHead bounds what stands before a text: a mark, its length, marks of its encoding.
const maxHead = 16

// UTF8 is a text in UTF-8, or as Java writes UTF: characters beyond U+FFFF may be two of three bytes, NUL two bytes. One byte
// may stand behind it.
func UTF8(b []byte, n *decode.Node, m decode.Mapper) bool {
	if !isText(n) {
		return false
	}
	for head := max(0, len(b)-len(n.Text)-len(n.Text)/2-1); head <= min(maxHead, len(b)); head++ {
		for tail := range 2 {
			if head+tail <= len(b) && reads(b[head:len(b)-tail], n.Text) {
				MapUTF8(b[head:len(b)-tail], n.Kind, m)
				return true
			}
		}
	}
	// Behind it, but not around it, may be more.
	if at := bytes.Index(b, []byte(n.Text)); at >= 0 && at <= maxHead && (len(n.Text) >= 4 || at > 0 && int(b[at-1]) == len(n.Text)) {
		MapUTF8(b[at:at+len(n.Text)], n.Kind, m)
		return true
	}
	return false
}

// reads reports whether b is text.
func reads(b []byte, text string) bool {
	for len(b) > 0 {
		r, size := rune3(b)
		if len(text) == 0 {
			return false
		}
		t, width := utf8.DecodeRuneInString(text)
		if r != t && (t != utf8.RuneError || !utf16.IsSurrogate(r)) {
			return false
		}
		b, text = b[size:], text[width:]
	}
	return text == ""
}

// rune3 decodes the first character of b; what is not UTF-8 is as many bytes as Java takes, or one.
func rune3(b []byte) (r rune, size int) {
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

// MapUTF8 replaces b, which is a text as [UTF8] says; of a number, a date or a time only digits.
func MapUTF8(b []byte, k decode.Kind, m decode.Mapper) {
	if k == decode.Decimal || k == decode.Date {
		m.Digits(b)
		if from, to := bytes.IndexByte(b, '['), bytes.IndexByte(b, ']'); k == decode.Date && from >= 0 && from < to {
			MapUTF8(b[from+1:to], decode.String, m) // the name of a zone
		}
		return
	}
	if a, ok := m.(interface{ ASCII(b []byte) bool }); ok && a.ASCII(b) {
		return
	}
	runes := m.Runes()
	for at := 0; at < len(b); {
		r, size := rune3(b[at:])
		runes = append(runes, r)
		at += size
	}
	m.Text(runes)
	PutUTF8(b, runes)
}

// PutUTF8 writes runes over the characters of b, each of which is as long. What is no character stays.
func PutUTF8(b []byte, runes []rune) {
	at := 0
	for _, r := range runes {
		_, size := rune3(b[at:])
		at += put(b[at:at+size], r)
	}
}

// put writes r over the character that b is and returns its length.
func put(b []byte, r rune) int {
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
	return len(b)
}

func put3(b []byte, r rune) {
	b[0], b[1], b[2] = 0xe0|byte(r>>12), 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f)
}

// Latin1 is a text with a byte for each character.
func Latin1(b []byte, n *decode.Node, m decode.Mapper) bool {
	if !isText(n) {
		return false
	}
	length := utf8.RuneCountInString(n.Text)
	for tail := range 2 {
		head := len(b) - length - tail
		if head < 0 || head > maxHead || !readsLatin1(b[head:head+length], n.Text) {
			continue
		}
		MapLatin1(b[head:head+length], n.Kind, m)
		return true
	}
	if length < 4 || len(n.Text) == length {
		return false
	}
	for head := 0; head <= maxHead && head+length <= len(b); head++ { // behind it may be more
		if readsLatin1(b[head:head+length], n.Text) {
			MapLatin1(b[head:head+length], n.Kind, m)
			return true
		}
	}
	return false
}

func readsLatin1(b []byte, text string) bool {
	i := 0
	for _, r := range text {
		if r != rune(b[i]) {
			return false
		}
		i++
	}
	return true
}

// MapLatin1 replaces b, a text with a byte for each character.
func MapLatin1(b []byte, k decode.Kind, m decode.Mapper) {
	if k == decode.Decimal || k == decode.Date {
		m.Digits(b)
		return
	}
	runes := m.Runes()
	for _, c := range b {
		runes = append(runes, rune(c))
	}
	m.Text(runes)
	for i, r := range runes {
		b[i] = byte(r)
	}
}

// UTF16 is a text with two bytes for each unit, in either order.
func UTF16(b []byte, n *decode.Node, m decode.Mapper) bool {
	if !isText(n) {
		return false
	}
	length := 2 * decode.TextLength(n.Text)
	for tail := range 2 {
		head := len(b) - length - tail
		if head < 0 || head > maxHead {
			continue
		}
		for big := range 2 {
			if units := b[head : head+length]; readsUTF16(units, 1-big, n.Text) {
				MapUTF16(units, 1-big, n.Kind, m)
				return true
			}
		}
	}
	for head := 0; head <= maxHead && head+length <= len(b) && length >= 4; head++ { // behind it may be more
		for high := range 2 {
			if units := b[head : head+length]; readsUTF16(units, high, n.Text) {
				MapUTF16(units, high, n.Kind, m)
				return true
			}
		}
	}
	return false
}

// readsUTF16 reports whether b is text; high is the place of a unit's higher byte, 0 or 1.
func readsUTF16(b []byte, high int, text string) bool {
	for _, r := range text {
		c, size := unit(b, high)
		if c != r && (r != utf8.RuneError || size > 2) {
			return false
		}
		b = b[size:]
	}
	return len(b) == 0
}

// unit decodes the first character of b.
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

// MapUTF16 replaces b, a text of two bytes for each unit; high is the place of a unit's higher byte, 0 or 1.
func MapUTF16(b []byte, high int, k decode.Kind, m decode.Mapper) {
	runes := m.Runes()
	for at := 0; at+1 < len(b); {
		r, size := unit(b[at:], high)
		runes = append(runes, r)
		at += size
	}
	MapRunes(runes, k, m)
	at := 0
	for _, r := range runes {
		units := [2]rune{r}
		size := 2
		if r > 0xffff {
			units[0], units[1] = utf16.EncodeRune(r)
			size = 4
		}
		for i := 0; i < size; i += 2 {
			b[at+i+high], b[at+i+1-high] = byte(units[i/2]>>8), byte(units[i/2])
		}
		at += size
	}
}

// MapRunes replaces a text; of a number, a date or a time only digits.
func MapRunes(runes []rune, k decode.Kind, m decode.Mapper) {
	if k != decode.Decimal && k != decode.Date {
		m.Text(runes)
		return
	}
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

// Raw is an array of bytes as it is.
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
