package jsonlines

import (
	"bytes"
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Unquote returns the text of a JSON string, given without its quotes, as UTF-8. Half a surrogate pair and bytes that
// are not UTF-8 become U+FFFD; an escape that JSON does not know stays as it is written.
func Unquote(token []byte) string {
	next := bytes.IndexByte(token, '\\')
	if next < 0 {
		return decode.UTF8(token)
	}
	dst := make([]byte, 0, len(token))
	for next >= 0 {
		dst = append(dst, token[:next]...)
		var n int
		dst, n = appendEscape(dst, token[next:])
		token = token[next+n:]
		next = bytes.IndexByte(token, '\\')
	}
	dst = append(dst, token...)
	if utf8.Valid(dst) {
		return string(dst)
	}
	return decode.UTF8(dst)
}

// escapes are the letters of two-character escapes; fastjson knows v and '.
var escapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\'': '\'',
}

// appendEscape appends the character that the escape at the start of s stands for and returns the escape's length.
func appendEscape(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	if c, ok := escapes[s[1]]; ok {
		return append(dst, c), 2
	}
	unit, ok := unicodeEscape(s)
	if !ok {
		return append(dst, s[:2]...), 2
	}
	if !utf16.IsSurrogate(unit) {
		return utf8.AppendRune(dst, unit), 6
	}
	if low, ok := unicodeEscape(s[6:]); ok {
		if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6
}

// unicodeEscape returns the UTF-16 unit that \uXXXX at the start of s stands for.
func unicodeEscape(s []byte) (unit rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var b [2]byte
	_, err := hex.Decode(b[:], s[2:6])
	return rune(b[0])<<8 | rune(b[1]), err == nil
}
