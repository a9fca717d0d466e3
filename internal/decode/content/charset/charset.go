// Package charset decodes texts in the encodings that content types and XML declare: UTF-8, those of one byte a character that Java's peers
// write, and UTF-16. It keeps nothing.
//
// Sources: RFC 9110, section 8.3.2; IANA's registry of character sets; Unicode's mapping of windows-1252.
package charset

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"dubbo-wire/internal/decode"
)

// Charset is an encoding of texts.
type Charset struct {
	// Text decodes bytes. What stands for no character becomes U+FFFD.
	Text func(b []byte) string
	// ASCII is set if each byte below 0x80 is the character of ASCII, wherever it stands, so that marks between texts are found.
	ASCII bool
}

// UTF8 is the charset of bodies that name none.
var UTF8 = Charset{decode.UTF8, true}

// all are the charsets by their names in lower case.
var all = map[string]Charset{
	"utf-8": UTF8, "utf8": UTF8, "us-ascii": UTF8, "ascii": UTF8,
	"iso-8859-1": {latin1, true}, "iso8859-1": {latin1, true}, "iso8859_1": {latin1, true}, "latin1": {latin1, true}, "l1": {latin1, true},
	"windows-1252": {windows1252, true}, "cp1252": {windows1252, true},
	"utf-16": {utf16Marked, false}, "utf16": {utf16Marked, false}, "utf-16be": {utf16Big, false}, "utf-16le": {utf16Little, false},
}

// Find returns the charset with a name, and false if it is not known. No name is that of UTF-8.
func Find(name string) (Charset, bool) {
	if name == "" {
		return UTF8, true
	}
	c, ok := all[strings.ToLower(name)]
	return c, ok
}

// Name returns the charset in the parameters of a media type, "" if there is none.
func Name(mediaType string) string {
	_, rest, _ := strings.Cut(mediaType, ";")
	for parameter := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

func latin1(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

// from0x80 are the characters of windows-1252 from 0x80 to 0x9f, of which five are not assigned.
var from0x80 = []rune("€�‚ƒ„…†‡ˆ‰Š‹Œ�Ž��‘’“”•–—˜™š›œ�žŸ")

func windows1252(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for _, c := range b {
		if c >= 0x80 && c < 0xa0 {
			s.WriteRune(from0x80[c-0x80])
		} else {
			s.WriteRune(rune(c))
		}
	}
	return s.String()
}

// utf16Marked decodes UTF-16 after the mark of its byte order; without one it is big-endian (RFC 2781, section 4.3).
func utf16Marked(b []byte) string {
	if len(b) > 1 {
		switch binary.BigEndian.Uint16(b) {
		case 0xfeff:
			return utf16Big(b[2:])
		case 0xfffe:
			return utf16Little(b[2:])
		}
	}
	return utf16Big(b)
}

func utf16Big(b []byte) string { return ofUnits(b, binary.BigEndian) }

func utf16Little(b []byte) string { return ofUnits(b, binary.LittleEndian) }

func ofUnits(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(b)/2+1)
	for ; len(b) > 1; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	if len(b) > 0 {
		units = append(units, 0xfffd)
	}
	return string(utf16.Decode(units))
}
