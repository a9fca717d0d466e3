package scrub

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
)

var _ decode.Mapper = (*Scrubber)(nil)

func mapped(s *Scrubber, text string) string {
	runes := []rune(text)
	s.Text(runes)
	return string(runes)
}

// Every character keeps its length in every encoding; four bytes in a row are never those of a text without the letters
// that replacements are made of.
func TestText(t *testing.T) {
	s := New(nil, key)
	for _, text := range []string{
		"a", "abcd", "ABCD", "0000", "2024-05-06", "order 4711", "....", "      ", "-,-,-,-", "订单", "订单号一二", "😀😀", "éèê",
		"ñandú", "Привет", "0123456789_-.,:;/\\\"'<>&{}[]", "\"\"\"\"\"", "a\tb\nc\rd", "ｆｕｌｌ", strings.Repeat("x", 1000), "한국어",
	} {
		got := mapped(s, text)
		assert.NotEqual(t, text, got)
		assert.Equal(t, got, mapped(s, text), "equal texts become equal")
		assert.Equal(t, got, mapped(New(nil, key), text), "with one key")
		if len(text) > 4 && strings.ToUpper(text) != strings.ToLower(text) {
			assert.NotEqual(t, got, mapped(New(nil, [32]byte{9}), text), "and others with another")
		}
		from, to := []rune(text), []rune(got)
		assert.Len(t, to, len(from), text)
		for i := range from {
			assert.Equal(t, utf8.RuneLen(from[i]), utf8.RuneLen(to[i]), "%q %q", text, got)
			assert.Equal(t, utf16.RuneLen(from[i]), utf16.RuneLen(to[i]))
			assert.Equal(t, from[i] < 0x100, to[i] < 0x100)
			assert.True(t, !strings.ContainsRune("\b\f"+shortEscapes, from[i]) || from[i] == to[i] || strings.ContainsRune(shortEscapes, to[i]), "%q %q", text, got)
		}
		for i := 0; i+4 <= len(text); i++ {
			assert.NotContains(t, got, text[i:i+4], "%q", text)
		}
	}
}

// Replacements of four bytes are seldom equal, and equal originals are the only reason.
func TestTextsDiffer(t *testing.T) {
	s := New(nil, key)
	seen := map[string]string{}
	equal := 0
	for i := range 20000 {
		text := fmt.Sprintf("customer-%06d", i)
		got := mapped(s, text)
		if _, ok := seen[got]; ok {
			equal++
		}
		seen[got] = text
	}
	assert.Zero(t, equal)
}
