package scrub

import (
	"math"
	"math/rand/v2"
	"strconv"
	"unicode/utf8"
)

// Texts are replaced character by character. Letters become rare letters. At least one of four bytes in a row is a rare letter
// or a rare character beyond ASCII, and no character repeats the one before. So an original text does not come up again by
// chance, in a capture of any size: a text of four bytes or more that has another letter, or no letter, is not among the
// replacements.
const (
	lowerMarks = "ghjkpqvwxz"
	upperMarks = "GHJKPQVWXZ"
	digitChars = "0123456789"
	// shortEscapes are characters of texts that JSON writes as a backslash and a letter.
	shortEscapes = "\t\n\r\"\\"
)

// lowerRing and upperRing are the marks of letters, after the last one the first ones again: at most two are passed over.
var lowerRing, upperRing = [16]byte([]byte(lowerMarks + lowerMarks[:6])), [16]byte([]byte(upperMarks + upperMarks[:6]))

// block is a range of characters that replace others.
type block struct{ first, size rune }

// blocks are the ranges that replace characters beyond ASCII. Each is for those below a limit, from that of the one before on.
var blocks = []struct {
	limit rune
	block
}{
	{0x100, block{0xc0, 0x3f}},         // one byte in Latin-1, two in UTF-8
	{0x800, block{0x180, 0xd0}},        // two bytes in UTF-8
	{0xd800, ideograms},                //
	{0xdc00, block{0xd800, 0x400}},     // halves of surrogate pairs
	{0xe000, block{0xdc00, 0x400}},     //
	{0x10000, ideograms},               //
	{0x20000, block{0x14400, 0x240}},   // four, and two units of UTF-16: signs that nobody writes
	{0x30000, block{0x28000, 0x2000}},  // the same, ideograms
	{1 << 30, block{0x100000, 0x8000}}, // private
}

// ideograms have three bytes in UTF-8, and two in GBK.
var ideograms = block{0x9b00, 0x4a6}

// pick returns the character of the range that r chooses, or the next one that is neither not nor before.
func (b block) pick(r uint64, not, before rune) rune {
	c := rune(r % uint64(b.size))
	for b.first+c == not || b.first+c == before {
		c = (c + 1) % b.size
	}
	return b.first + c
}

// pickFrom is [block.pick] for the characters of a text.
func pickFrom(of string, r uint64, not, before rune) rune {
	i := 0
	if len(of) == 10 { // as nearly always: a constant needs no division
		i = int(r % 10)
	} else {
		i = int(r % uint64(len(of)))
	}
	for rune(of[i]) == not || rune(of[i]) == before {
		if i++; i == len(of) {
			i = 0
		}
	}
	return rune(of[i])
}

// markEvery says that one of so many bytes in a row is a mark, a character that texts seldom have.
const markEvery = 4

// Text implements [decode.Mapper].
func (s *mapper) Text(runes []rune) {
	s.key = s.key[:0]
	for _, r := range runes {
		s.key = appendRune(s.key, r)
	}
	if !s.UTF8(s.key) { // which has halves of surrogate pairs
		s.replace(s.key)
	}
	for i, at := 0, 0; at < len(s.key); i++ {
		r, size := decodeRune(s.key[at:])
		runes[i] = r
		at += size
	}
}

// UTF8 implements [decode.Mapper].
func (s *mapper) UTF8(b []byte) bool {
	switch {
	case len(b) == 0:
	case !s.caches() || len(b) > maxCachedLen:
		if !utf8.Valid(b) {
			return false
		}
		s.replace(b)
	case len(b) <= maxShortText:
		text := shortTextOf(b)
		return s.replaceShort(b, text, s.shortTexts.hash(text))
	default:
		return s.replaceLong(b, s.texts.hash(b))
	}
	return true
}

// caches reports whether the replacements of texts follow from the texts and the key alone, and nobody records them.
func (s *mapper) caches() bool {
	return !s.plain && s.salt == 0 && s.prf.even == 0 && s.record == nil
}

// replaceShort is UTF8 of the text b, which t is as well, with its hash. If it is known it is UTF-8.
func (s *mapper) replaceShort(b []byte, t shortText, hash uint64) bool {
	if known := s.shortTexts.find(t, hash); known != nil {
		known.put(b)
		return true
	}
	if !utf8.Valid(b) {
		return false
	}
	s.replace(b)
	s.shortTexts.add(t, shortTextOf(b), hash)
	return true
}

// replaceLong is UTF8 of a text with its hash in the cache of texts. If it is known it is UTF-8.
func (s *mapper) replaceLong(b []byte, hash uint64) bool {
	known := s.texts.find(b, hash)
	if known == nil {
		if !utf8.Valid(b) {
			return false
		}
		known = s.texts.add(b, hash)
		s.replace(known)
	}
	copy(b, known)
	return true
}

// appendRune is utf8.AppendRune that keeps halves of surrogate pairs.
func appendRune(b []byte, r rune) []byte {
	if r >= 0xd800 && r < 0xe000 {
		return append(b, 0xed, byte(0x80|r>>6&0x3f), byte(0x80|r&0x3f))
	}
	return utf8.AppendRune(b, r)
}

// decodeRune decodes what appendRune has written.
func decodeRune(b []byte) (r rune, size int) {
	if b[0] < utf8.RuneSelf {
		return rune(b[0]), 1
	}
	if r, size = utf8.DecodeRune(b); size > 1 || len(b) < 3 {
		return r, size
	}
	return rune(b[0]&0xf)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
}

// replace replaces a text of at least one byte that comes for the first time. It is in UTF-8, in which halves of surrogate pairs have three
// bytes, as any other character of 16 bits.
func (s *mapper) replace(b []byte) {
	if s.record != nil && len(b) >= markEvery {
		s.record(string(b))
	}
	stream := s.prf.seed('s', s.salt, b)
	switch {
	case s.plain:
		eachRune(b, func(_ int, r rune) rune { return replacePlain(stream, r) })
		return
	case s.name != "":
		eachRune(b, func(i int, r rune) rune { return s.replaceByName(stream, i, r) })
		return
	}
	bare := 0 // bytes since the last mark
	before := rune(-1)
	changed := false
	for at := 0; at < len(b); {
		if s.prf.even > 0 {
			before, bare = -1, 0
		} else {
			n, now, replaced := replaceASCII(stream.source, b[at:], bare, before)
			if n > 0 {
				before, bare, changed = rune(b[at+n-1]), now, changed || replaced
			}
			if at += n; at == len(b) {
				break
			}
		}
		r, size := decodeRune(b[at:])
		before = replacement(stream, r, before, bare >= markEvery-1)
		switch {
		case before == r && r < utf8.RuneSelf, before < 'A':
			bare++
		default:
			bare = 0
		}
		if before != r {
			changed = true
			putRune(b[at:], before)
		}
		at += size
	}
	if !changed { // a few signs
		eachRune(b, func(_ int, r rune) rune { return replacement(stream, r, -1, true) })
	}
}

// replaceASCII replaces the ASCII characters that b begins with as replacement does, up to one that must become a mark and is not a letter. It
// returns how many these are, how many of them follow the last mark and whether one was replaced. bare and before are those before b.
func replaceASCII(source *rand.ChaCha8, b []byte, bare int, before rune) (n, now int, changed bool) {
	for i, c := range b {
		ring := &lowerRing
		switch {
		case c-'a' < 26:
		case c-'A' < 26:
			ring = &upperRing
		case c >= utf8.RuneSelf || bare >= markEvery-1:
			return i, bare, changed
		case c-'0' < 10:
			b[i] = byte(pickFrom(digitChars, source.Uint64(), rune(c), -1))
			before, changed = rune(b[i]), true
			bare++
			continue
		default:
			before = rune(c)
			bare++
			continue
		}
		k := source.Uint64() % 10
		for ring[k&15] == c || rune(ring[k&15]) == before {
			k++
		}
		b[i] = ring[k&15]
		before, bare, changed = rune(b[i]), 0, true
	}
	return len(b), bare, changed
}

// eachRune replaces the characters of b one by one; f gets the number of each, from 0.
func eachRune(b []byte, f func(i int, r rune) rune) {
	for i, at := 0, 0; at < len(b); i++ {
		r, size := decodeRune(b[at:])
		putRune(b[at:], f(i, r))
		at += size
	}
}

// putRune writes r over the character that b starts with, which has as many bytes.
func putRune(b []byte, r rune) {
	if r < utf8.RuneSelf {
		b[0] = byte(r)
		return
	}
	appendRune(b[:0], r)
}

// replacement returns another character for r; mark says that it must be a mark.
func replacement(stream *stream, r, before rune, mark bool) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return pickFrom(lowerMarks, stream.Uint64(), r, before)
	case r >= 'A' && r <= 'Z':
		return pickFrom(upperMarks, stream.Uint64(), r, before)
	case r >= '0' && r <= '9' && !mark:
		return pickFrom(digitChars, stream.Uint64(), r, -1)
	case r == '"' || r == '\\' || r == '\b' || r >= '\t' && r <= '\r' && r != '\v':
		if mark {
			return pickFrom(shortEscapes, stream.Uint64(), r, before)
		}
	case r == '/' && before >= 0: // JSON may write it in two bytes
	case r < utf8.RuneSelf: // but NUL, which Java writes in two bytes
		if mark && r > 0 {
			return pickFrom(lowerMarks, stream.Uint64(), r, before)
		}
	default:
		return replaceNonASCII(stream, r, before)
	}
	return r
}

// replacePlain is replacement for letters and digits only, for texts that the application parses.
func replacePlain(stream *stream, r rune) rune {
	switch {
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= utf8.RuneSelf:
		return replacement(stream, r, -1, false)
	}
	return r
}

// replaceNonASCII returns another character for one that is not ASCII.
func replaceNonASCII(stream *stream, r, before rune) rune {
	i := 0
	for r >= blocks[i].limit {
		i++
	}
	return blocks[i].pick(stream.Uint64(), r, before)
}

// Runes implements [decode.Mapper].
func (s *mapper) Runes() []rune { return s.runes[:0] }

// Digits implements [decode.Mapper].
func (s *mapper) Digits(text []byte) {
	if d, ok := parseDecimal(text); ok {
		s.number(text, &d)
		return
	}
	stream := s.prf.seed('d', s.salt, text)
	if date(stream, text) {
		return
	}
	first := true
	for i, c := range text {
		if c < '0' || c > '9' {
			continue
		}
		if c != '0' || !first { // a number does not begin with 0 where it did not
			text[i] = byte(pickFrom("123456789", stream.Uint64(), rune(c), -1))
		}
		first = false
	}
}

// number replaces the digits of a number; zero stays.
func (s *mapper) number(text []byte, d *decimal) {
	f, err := strconv.ParseFloat(string(text), 64)
	f = math.Abs(f)
	switch {
	case d.n == 0:
		return
	case err == nil && f > 1e37 && f < 3.41e38, f > 0 && f < 1e-36 && f >= math.SmallestNonzeroFloat32:
		s.inRange(d, 32)
	case err == nil && (f > 1e307 || f > 0 && f < 1e-306):
		s.inRange(d, 64)
	default:
		d.n = s.digits(d.n)
	}
	s.writeDigits(text, d.n)
}

// writeDigits writes the digits of n over those of a number with as many digits; zeros around them stay.
func (s *mapper) writeDigits(text []byte, n uint64) {
	end := len(text)
	for i, c := range text {
		if c == 'e' || c == 'E' {
			end = i
			break
		}
	}
	last := end - 1
	for last >= 0 && (text[last] == '0' || text[last] == '.') {
		last--
	}
	for i := last; i >= 0 && n > 0; i-- {
		if text[i] >= '0' && text[i] <= '9' {
			text[i] = byte('0' + n%10)
			n /= 10
		}
	}
}

// date replaces the digits of a date, a time or both, as 2024-05-06T07:08:09.123Z, and reports whether text is one.
func date(stream *stream, text []byte) bool {
	at := 0
	if matches(text, "0000-00-00") {
		replaceTwoDigits(stream, text[2:4], 0, 99)
		replaceTwoDigits(stream, text[5:7], 1, 12)
		replaceTwoDigits(stream, text[8:10], 1, 28)
		at = 10
		if len(text) > 10 && (text[10] == 'T' || text[10] == ' ') {
			at++
		}
	}
	if !matches(text[at:], "00:00") {
		return at > 0
	}
	replaceTwoDigits(stream, text[at:at+2], 0, 23)
	replaceTwoDigits(stream, text[at+3:at+5], 0, 59)
	at += 5
	if matches(text[at:], ":00") {
		replaceTwoDigits(stream, text[at+1:at+3], 0, 59)
		at += 3
		if at < len(text) && text[at] == '.' {
			for at++; at < len(text) && text[at] >= '0' && text[at] <= '9'; at++ {
				text[at] = byte(pickFrom("123456789", stream.Uint64(), rune(text[at]), -1))
			}
		}
	}
	return true
}

// replaceTwoDigits writes another number from lo to hi over two digits.
func replaceTwoDigits(stream *stream, text []byte, lo, hi int) {
	was := int(text[0]-'0')*10 + int(text[1]-'0')
	n := lo + int(stream.Uint64()%uint64(hi-lo+1))
	if n == was {
		if n++; n > hi {
			n = lo
		}
	}
	text[0], text[1] = byte('0'+n/10), byte('0'+n%10)
}

// matches reports whether text starts with a pattern, in which 0 stands for any digit.
func matches(text []byte, pattern string) bool {
	if len(text) < len(pattern) {
		return false
	}
	for i := range pattern {
		if pattern[i] == '0' && (text[i] < '0' || text[i] > '9') || pattern[i] != '0' && text[i] != pattern[i] {
			return false
		}
	}
	return true
}

// Alike implements [decode.Mapper].
func (s *mapper) Alike(text []byte, alike func(i int, c byte) string) {
	if s.record != nil && len(text) >= markEvery {
		s.record(string(text))
	}
	stream := s.prf.seed('a', s.salt, text)
	for i, c := range text {
		n := stream.Uint64()
		if of := alike(i, c); of != "" {
			k := int(n % uint64(len(of)))
			if of[k] == c {
				k = (k + 1) % len(of)
			}
			text[i] = of[k]
		}
	}
}

// Bytes implements [decode.Mapper].
func (s *mapper) Bytes(b []byte) {
	if s.record != nil && len(b) >= markEvery {
		s.record(string(b))
	}
	stream := s.prf.seed('b', s.salt, b)
	for i, c := range b {
		// Bytes from 80 to 9f make neither a text nor the magic of a protocol.
		v := byte(0x80 | stream.Uint64()&0x1f)
		if v == c {
			v ^= 1
		}
		b[i] = v
	}
}
