package decode

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// appendRunes is AppendString rune by rune.
func appendRunes(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			dst = append(dst, "\ufffd"...)
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// pieces are what random texts are made of: runs of letters, escapes and characters at the bounds of their lengths, and bytes that are not UTF-8.
var pieces = []string{
	"a", "quick brown", "0123456789abcdef", "\"", "\\", "\n", "\r\t", "\x00", "\x1f", " ", "~", "\x7f", "\u0080", "\u009f", "\u00a0", "é", "\u07ff", "\u0800", "订单",
	"\u2027", "\u2028", "\u2029", "\u202a", "\ud7ff", "\ue000", "\ufffd", "\uffff", "😀", "\U0010ffff", "\x80", "\xbf", "\xc0\xaf", "\xc1", "\xc2", "\xe0\x9f\x80",
	"\xe4\xb8", "\xed\xa0\x80", "\xed\xb0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5", "\xff",
}

func checkString(t *testing.T, s string) {
	got := string(AppendString([]byte("x"), s))
	require.Equal(t, string(appendRunes([]byte("x"), s)), got, "%q", s)
	require.Equal(t, got, string(AppendString([]byte("x"), []byte(s))), "%q", s)
	size := -1 // of a text that is printed as it is
	if got == `x"`+s+`"` && utf8.ValidString(s) {
		size = len(s)
	}
	for _, after := range []string{"", "plain ASCII", "\xff"} {
		require.Equal(t, size, PlainUnits([]byte(s+after), len(utf16.Encode([]rune(s)))), "%q", s)
	}
	var back string
	require.NoError(t, json.Unmarshal([]byte(got[1:]), &back), "%q", s)
	require.Equal(t, string([]rune(s)), back, "%q", s)
}

func TestRandomStrings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		checkString(t, b.String())
	}
	for range 5000 { // of any bytes
		b := make([]byte, random.IntN(40))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		checkString(t, string(b))
	}
	for c := range 256 { // at each place of a word
		for at := range 20 {
			b := []byte("abcdefghijklmnopqrst")
			b[at] = byte(c)
			checkString(t, string(b))
			checkString(t, string(b[:at+1]))
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range pieces {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkString(t, s) })
}

func BenchmarkAppendString(b *testing.B) {
	for _, s := range []string{"name", "always part large mean night", strings.Repeat("word ", 1000), strings.Repeat("Genève 上海 ", 300)} {
		b.Run(s[:4], func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			var dst []byte
			for b.Loop() {
				dst = AppendString(dst[:0], s)
			}
		})
	}
}
