package charset

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

func TestText(t *testing.T) {
	for _, row := range []struct{ mediaType, bytes, want string }{
		{"text/plain", "J\xc3\xb6rg", "Jörg"},
		{"text/plain;charset=UTF-8", "\xff", "�"},
		{`text/plain; a=b; Charset = "ISO-8859-1"`, "J\xf6rg \x80", "Jörg \u0080"},
		{"text/plain; charset=windows-1252", "\x80 \x8a \x9f \x81 \xfc", "€ Š Ÿ � ü"},
		{"text/plain; charset=utf-16", "\xff\xfeJ\x00\xf6\x00", "Jö"},
		{"text/plain; charset=utf-16", "\xfe\xff\x00J\xd8\x3d\xde\x00", "J😀"},
		{"text/plain; charset=utf-16", "\x00J\x00", "J�"},
		{"text/plain; charset=UTF-16LE", "J\x00\x00\xd8", "J�"},
		{"text/plain; charset=utf-16be", "", ""},
	} {
		c, ok := Find(Name(row.mediaType))
		assert.True(t, ok, row.mediaType)
		assert.Equal(t, row.want, c.Text([]byte(row.bytes)), row.mediaType)
	}
	_, ok := Find("gb2312")
	assert.False(t, ok)
	assert.Len(t, from0x80, 32)
}

// FuzzText: whatever the bytes are, the text is UTF-8.
func FuzzText(f *testing.F) {
	f.Add([]byte("\xff\xfeJ\x00\xf6"))
	f.Add([]byte("\xd8\x00\x80"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, c := range all {
			if text := c.Text(b); !utf8.ValidString(text) || len(text) > 3*len(b) {
				t.Fatalf("%s: %q of %q", name, text, b)
			}
		}
	})
}
